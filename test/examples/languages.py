# SPDX-License-Identifier: Apache-2.0
"""languages.py MODEL TEXT NOTHING: talc.py says TEXT, and what fails is an exception."""
import sys

import talc

MODEL, TEXT, NOTHING = sys.argv[1:]
model = talc.Model(MODEL)
print(model.name, model.kind, model.widths)
with open(TEXT, encoding='utf-8') as file:
    expected = file.read().rstrip('\n')
pieces = list(model.stream('Once there was', new_tokens=30))
print('the same text, in several pieces' if ''.join(pieces) == expected and len(pieces) > 10 else pieces)
ids = model.tokenize('Once there was')
assert model.detokenize(ids) == 'Once there was'
row = model.evaluate(ids)[-1]
assert model.evaluate(ids, talc.ROWS_ALL)[-1] == row
print('likeliest:', repr(model.detokenize([max(range(len(row)), key=row.__getitem__)])))
print('stopped:', repr(model.generate('Once there was', stops=[','])))
drawn = [model.generate('Once', new_tokens=40, temperature=1.5, seed=seed) for seed in (7, 7, 8)]
print('twice the same, and another seed: another text' if drawn[0] == drawn[1] != drawn[2] else drawn)
try:
    talc.Model(NOTHING)
except talc.Error as error:
    print(error)
try:
    model.generate('Once', temperature=-5)
except talc.Error as error:
    print('a temperature that cannot be:', error.status)
