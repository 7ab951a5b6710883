# SPDX-License-Identifier: Apache-2.0
"""check_golden.py BIN MODEL_DIRECTORY [--target=TARGET --under=EMULATOR] [--examples=COUNT]: the interpreter and the compiled program against
golden.json and golden.safetensors, which were made elsewhere in double precision.

BIN is the folder of talc and of the programs of this folder. A program of another machine runs under an emulator, by
itself: what the interpreter says is left out then.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# Both sides are float64 rounded to f32.
INTERPRETER_TOLERANCE = 1e-6
# f32 sums of up to 512 products, four layers after one another: 1e-6 is typical.
PROGRAM_TOLERANCE = 2e-5


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f'{" ".join(command)}\n{result.stdout}{result.stderr}')
    return result.stdout


def expect(what, found, expected):
    if found != expected:
        sys.exit(f'{what}: {found}, expected {expected}')


def joined(ids):
    return ','.join(map(str, ids))


class Golden:

    def __init__(self, programs, model, directory, target, under):
        self.under = [under] if under else []
        for name in 'talc', 'talc-interpret', 'talc-compare', 'talc-steps':
            setattr(self, name.removeprefix('talc-'), os.path.join(programs, name))
        self.file = os.path.join(model, 'golden.safetensors')
        self.module, self.app, self.found = (os.path.join(directory, name) for name in ('model.mlir', 'app', 'found'))
        with open(os.path.join(model, 'golden.json')) as file:
            self.examples = json.load(file)
        run(self.talc, 'compile', model, '--stop-after=import', '-o', self.module)
        run(self.talc, 'compile', model, '-o', self.app, f'--target={target}')

    def run_app(self, *options):
        """On one thread and on two, which says the same."""
        outputs = [run(*self.under, self.app, *options, '-q', '-t', threads) for threads in ('1', '2')]
        expect('two threads', outputs[1], outputs[0])
        return outputs[0]

    def agrees(self, tolerance, *options):
        run(self.compare, self.file, self.found, f'--tolerance={tolerance}', *options)

    def check_rows(self, options):
        """All results of all examples at once, which the golden file has under the names of the results."""
        run(self.interpret, self.module, *options, '--logits', self.found)
        self.agrees(INTERPRETER_TOLERANCE)
        run(self.steps, self.app, *options, '--check', '--logits', self.found)
        self.agrees(PROGRAM_TOLERANCE)

    def check_decoder(self):
        for i, example in enumerate(self.examples):
            ids, greedy = ['--ids', joined(example['prompt_ids'])], joined(example['greedy_ids'])
            count = ['-n', str(len(example['greedy_ids']))]
            if not self.under:
                output = run(self.interpret, self.module, *ids, *count, '--logits', self.found)
                self.agrees(INTERPRETER_TOLERANCE, '--as', f'logits.{i}')
                expect(f'interpreter, prompt {i}', output.strip(), greedy)
            self.run_app(*ids, '--logits', self.found)
            self.agrees(PROGRAM_TOLERANCE, '--as', f'logits.{i}')
            output = self.run_app(*ids, *count, '--ignore-eos', '--temp', '0')
            expect(f'program, prompt {i}', output.strip(), greedy)

    def check_encoder(self):
        options = [word for example in self.examples for word in ('--ids', joined(example['ids']))]
        if self.under:
            self.run_app(*options, '--logits', self.found)
            self.agrees(PROGRAM_TOLERANCE)
        else:
            self.check_rows(options)
        for example in self.examples:
            if example['mask_top']:
                output = self.run_app('--text', example['text'], '--top', '3')
                places = [output.find(word) for word in example['mask_top']]
                if -1 in places:
                    sys.exit(f'{example["text"]}: {output}, expected the words {example["mask_top"]}')

    def check_encoder_decoder(self):
        options = []
        for i, example in enumerate(self.examples):
            source, ids = joined(example['source_ids']), joined(example['decoder_ids'][:-1])
            options += ['--ids', ids, '--source-ids', source]
            self.run_app('--ids', source, '--decoder-ids', ids, '--logits', self.found)
            self.agrees(PROGRAM_TOLERANCE, '--as', f'logits.{i}')
        if not self.under:
            self.check_rows(options)
        for example in self.examples:
            output = self.run_app('-p', example['source'])
            expect(example['source'], output.strip(), example['text'])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('programs')
    parser.add_argument('model')
    parser.add_argument('--target', default='native')
    parser.add_argument('--under')
    parser.add_argument('--examples', type=int, help='only so many, of decoders and encoder-decoders')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        golden = Golden(options.programs, options.model, directory, options.target, options.under)
        golden.examples = golden.examples[:options.examples]
        kind = golden.examples[0]
        check = (golden.check_encoder_decoder if 'source_ids' in kind else
                 golden.check_encoder if 'ids' in kind else golden.check_decoder)
        check()


if __name__ == '__main__':
    main()
