# SPDX-License-Identifier: Apache-2.0
"""check_integer_models.py BIN MODELS DIRECTORY: models of several layers, weights of small integers times rounded
activations, against the interpreter, and with the same bits for any threads, steps and company.
"""
import os
import subprocess
import sys

PROGRAMS, MODELS, DIRECTORY = sys.argv[1:]
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from random_checkpoint import read_tensors

# Kernels and the interpreter round the same numbers to 8 bits, but for the last bits of f32. Of the thousands of numbers
# of a short text, rarely one is so near the middle of two levels that it goes the other way. Where none does, results
# agree as those of f32 do; where one does, they differ by less than rounding itself changes.
EXACT, ROUNDED = 2e-6, 2e-2
MOST_ROUNDED = 0.2  # of texts
CASES = [('tales-llama', 'q8_0', 'f32'), ('tales-llama', 'q4_0; *.down_proj=q8_0; lm_head=q5_1', 'q8_0'),
         ('tales-gpt2', 'q4_k', 'f16'), ('tales-bert', 'q5_1', 'f32'), ('tales-bert', 'q4_1', 'f32')]
PROMPTS = [word for text in range(40) for word in
           ('--ids', ','.join(str(3 + (37 * i + 11 * text) % 500) for i in range(1 + text % 5)))]


def run(program, *arguments):
    result = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{program} {" ".join(arguments)[:300]}\n{result.stdout}{result.stderr}')


def difference(expected, found):
    a, b = ([value for row in rows for value in row] for rows in (expected, found))
    assert len(a) == len(b)
    return max(abs(p - q) for p, q in zip(a, b)) / max(map(abs, a))


def check(model, weights, state):
    module, app, expected, found = (os.path.join(DIRECTORY, name) for name in ('model.mlir', 'app', 'expected', 'found'))
    options = [os.path.join(MODELS, model), f'--weights={weights}', f'--state={state}']
    run('talc', 'compile', *options, '-o', app)
    run('talc', 'compile', *options, '--stop-after=optimize', '-o', module)
    run('talc-interpret', module, *PROMPTS, '--logits', expected)
    run('talc-steps', app, *PROMPTS, '--check', '--logits', found)
    expected, found = read_tensors(expected), read_tensors(found)
    errors = {name: difference(expected[name], found[name]) for name in expected}
    rounded = {name: error for name, error in errors.items() if not error <= EXACT}
    what = f'{model} {weights} {state}: {len(rounded)} of {len(errors)} results differ: {rounded}'
    assert all(error <= ROUNDED for error in rounded.values()), what
    assert len(rounded) <= MOST_ROUNDED * len(errors), what


def main():
    for case in CASES:
        check(*case)


main()
