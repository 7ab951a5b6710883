# SPDX-License-Identifier: Apache-2.0
"""check_batches.py BIN MODEL_DIRECTORY LINES [--target=TARGET] [OPTION...]: results of many unseen texts, bit for bit the same one by
one, in ragged batches, and with several threads.

The texts are words of the model's golden.json in random order. BIN is the folder of talc.
"""
import json
import os
import random
import sys
import tempfile

from check_golden import expect, run

# Options by which the texts are evaluated, after one by one on one thread. Not by two: beside other tests they would wait for each other
# awake.
WAYS = [('--batch', '32', '-t', '1'), ('--batch', '32', '-t', '4'), ('--batch', '7', '-t', '3')]


def make_texts(model, count):
    with open(os.path.join(model, 'golden.json')) as file:
        examples = json.load(file)
    key = next(key for key in ('source', 'text', 'prompt') if key in examples[0])
    words = [word for example in examples for word in example[key].replace('.', '').split()]
    generator = random.Random(count)
    return [' '.join(generator.choices(words, k=generator.randint(1, 12))) + '.' for _ in range(count)]


def main():
    programs, model, count, *options = sys.argv[1:]
    target = [options.pop(0)] if options and options[0].startswith('--target=') else []
    with tempfile.TemporaryDirectory() as directory:
        app, lines = os.path.join(directory, 'app'), os.path.join(directory, 'lines')
        run(os.path.join(programs, 'talc'), 'compile', model, '-o', app, *target)
        with open(lines, 'w', encoding='utf-8') as file:
            file.write('\n'.join(make_texts(model, int(count))))
        alone = run(app, '--input', lines, '-q', '--batch', '1', '-t', '1', *options).split('\n')
        expect('results', len(alone), int(count) + 1)
        for way in WAYS:
            together = run(app, '--input', lines, '-q', *way, *options).split('\n')
            different = [i for i, (a, b) in enumerate(zip(alone, together)) if a != b]
            expect(f'{" ".join(way)}: lines that differ', (len(together), different[:5]), (len(alone), []))


if __name__ == '__main__':
    main()
