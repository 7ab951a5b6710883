# SPDX-License-Identifier: Apache-2.0
"""check_beams.py BIN MODEL_DIRECTORY [--target=TARGET --under=EMULATOR --state=FORMAT]: beam search of the compiled program against the
search in Python over the interpreter's logits, for examples of golden.json.

BIN is the folder of talc and of the programs of this folder. A program of another machine runs under an emulator.
"""
import argparse
import json
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'runtime', 'sampling'))
import beam_search
from check_golden import expect, joined, run

# The varied settings: beams, length penalty, early stopping, n-grams that do not repeat, new tokens.
SETTINGS = [(4, 1.0, beam_search.NO, 0, 16), (3, 0.6, beam_search.YES, 2, 12), (2, 2.0, beam_search.NEVER, 0, 6)]
STOPPING = ['no', 'yes', 'never']


def read_tensors(path):
    """The rows of a safetensors file of float32 matrices, by name."""
    with open(path, 'rb') as file:
        size, = struct.unpack('<Q', file.read(8))
        header, values = json.loads(file.read(size)), file.read()
    tensors = {}
    for name, facts in header.items():
        (begin, end), (rows, width) = facts['data_offsets'], facts['shape']
        numbers = struct.unpack(f'<{(end - begin) // 4}f', values[begin:end])
        tensors[name] = [numbers[i * width:(i + 1) * width] for i in range(rows)]
    return tensors


class Beams:

    def __init__(self, programs, model, directory, target, under, state='f32'):
        talc, self.interpret = (os.path.join(programs, name) for name in ('talc', 'talc-interpret'))
        self.module, self.app, self.found = (os.path.join(directory, name) for name in ('model.mlir', 'app', 'found'))
        run(talc, 'compile', model, f'--state={state}', '--stop-after=import', '-o', self.module)
        run(talc, 'compile', model, f'--state={state}', '-o', self.app, f'--target={target}')
        self.command = [under, self.app] if under else [self.app]
        with open(os.path.join(model, 'config.json')) as file:
            self.end = json.load(file)['eos_token_id']
        with open(os.path.join(model, 'golden.json')) as file:
            self.examples = json.load(file)
        self.known = {}

    def model(self, source, texts):
        """The logits of what follows each of the texts, most of which several settings have in common."""
        key = lambda text: (tuple(source or ()), tuple(text))
        missing = [text for text in texts if key(text) not in self.known]
        if missing:
            self.known.update(zip(map(key, missing), self.logits(source, missing)))
        return [self.known[key(text)] for text in texts]

    def logits(self, source, texts):
        """The same, as the interpreter computes them."""
        options = []
        for text in texts:
            options += ['--ids', joined(text)] + (['--source-ids', joined(source)] if source else [])
        run(self.interpret, self.module, *options, '--logits', self.found)
        tensors = read_tensors(self.found)
        return [tensors['logits' if len(texts) == 1 else f'logits.{i}'][-1] for i in range(len(texts))]

    def check(self, example, setting):
        beams, penalty, early, ngram, limit = setting
        source = example.get('source_ids')
        prompt = example['decoder_ids'][:1] if source else example['prompt_ids'][:6]
        found = run(*self.command, '--ids', joined(source or prompt), '--beams', str(beams), f'--length-penalty={penalty}',
                    '--early-stopping', STOPPING[early], '--no-repeat-ngram', str(ngram), '-n', str(limit), '-q')
        best = beam_search.search(lambda texts: self.model(source, texts), prompt, beams, penalty, early, [self.end],
                                  limit, {**beam_search.NO_RULES, 'ngram': ngram})[0]
        expect(f'{prompt} of {source}, {setting}', found.strip(), joined(best[1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('programs')
    parser.add_argument('model')
    parser.add_argument('--target', default='native')
    parser.add_argument('--under')
    parser.add_argument('--state', default='f32')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        beams = Beams(options.programs, options.model, directory, options.target, options.under, options.state)
        for example in beams.examples[:2]:
            for setting in SETTINGS:
                beams.check(example, setting)


if __name__ == '__main__':
    main()
