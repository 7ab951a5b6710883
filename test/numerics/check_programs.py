# SPDX-License-Identifier: Apache-2.0
"""Compiles random models and compares what the programs compute with the interpreter; see --help.

  check_programs.py BIN ops                every op of the dialect
  check_programs.py BIN blocks --seeds 3   random transformers 0, 1 and 2
  check_programs.py BIN encoders           random transformers with full attention

BIN is the folder of talc, talc-interpret, talc-compare and talc-steps. For every model:
 - the module after `optimize` means the same as before it,
 - the program agrees with the interpreter,
 - and computes the same bits with one and two threads, for a prompt alone and in a batch, all tokens at once, in steps,
   and token by token.
"""
import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile

import op_models
import prompts
import random_block

# Relative to the largest logit. Only the rounding of rotary tables to f32 changes values.
OPTIMIZE_TOLERANCE = 2e-6
# Sums of up to 200 products in f32 (unit roundoff 6e-8), several layers after one another: 2e-7 is typical.
PROGRAM_TOLERANCE = 2e-5
# Models of ops hold this many cases, because compiling takes longer than running.
CASES_PER_MODEL = 10


class Failure(Exception):
    pass


class Checker:

    def __init__(self, options, directory):
        self.options, self.directory = options, directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, program, *arguments):
        path = program if os.path.isabs(program) else os.path.join(self.options.bin, program)
        result = subprocess.run([path, *arguments], capture_output=True, text=True)
        if result.returncode != 0:
            raise Failure(f'{program} {" ".join(arguments)}\n{result.stdout}{result.stderr}')

    def compare(self, expected, found, *options):
        self.run('talc-compare', self.path(expected), self.path(found), *options)

    def interpret(self, module, batch, output):
        self.run('talc-interpret', self.path(module), *prompts.arguments(batch), '--logits', self.path(output))

    def steps(self, batch, output, threads, split=None):
        split = [f'--split={split}'] if split else []
        self.run('talc-steps', self.path('app'), *prompts.arguments(batch), '-t', str(threads), *split, '--logits',
                 self.path(output))

    def check_model(self, model, logits, batch, compiler_options):
        with open(self.path('model.mlir'), 'w') as file:
            file.write(model.text(logits))
        self.run('talc', 'compile', self.path('model.mlir'), *compiler_options, '--stop-after=optimize', '-o',
                 self.path('optimized.mlir'))
        self.run('talc', 'compile', self.path('model.mlir'), *compiler_options, '-o', self.path('app'))
        self.interpret('optimized.mlir', batch, 'optimized')
        if not any(option.startswith('--weights') for option in compiler_options):
            self.interpret('model.mlir', batch, 'imported')
            self.compare('imported', 'optimized', f'--tolerance={OPTIMIZE_TOLERANCE}')
        self.run(self.path('app'), *prompts.arguments(batch), '-q', '--logits', self.path('program'))
        self.compare('optimized', 'program', f'--tolerance={PROGRAM_TOLERANCE}')
        self.check_bits(batch, whole='attention full' in model.text(logits))

    def check_bits(self, batch, whole):
        """`whole`: the model wants whole sequences."""
        for threads in (1, 2):
            self.steps(batch, 'steps', threads)
            self.compare('program', 'steps', '--exact')
        for split in [] if whole else ['1', '3,1,2']:
            self.steps(batch, 'steps', 2, split)
            self.compare('program', 'steps', '--exact')
        for i, ids in enumerate(batch):
            self.steps([ids], 'steps', 1)
            self.compare('program', 'steps', '--exact', '--as', f'logits.{i}' if len(batch) > 1 else 'logits')

    def check(self, name, build, *compiler_options):
        """Prints what is wrong; returns whether all is right."""
        generator = random.Random(name)
        model, logits = build(generator)
        batch = prompts.ragged_batch(generator, model.vocabulary, model.max_sequence)
        try:
            self.check_model(model, logits, batch, compiler_options)
            return True
        except Failure as failure:
            print(f'{name} {" ".join(compiler_options)}: {failure}', flush=True)
            return False

    def check_ops(self, seed):
        names = [name for name in op_models.CASES if name not in op_models.OPTIMIZED and self.options.only in name]
        random.Random(seed).shuffle(names)
        for first in range(0, len(names), CASES_PER_MODEL):
            group = names[first:first + CASES_PER_MODEL]
            build = lambda generator, cases: op_models.build(cases, generator)
            agrees = self.check(f'{" ".join(group)} {seed}', lambda g: build(g, group))
            if not agrees:  # which of them?
                for name in group:
                    self.check(f'{name} {seed}', lambda g: build(g, [name]))
            yield agrees

    def check_blocks(self, seed, encoder):
        options = [[], ['--weights=bf16'], ['--weights=f16']][seed % 3]
        if platform.machine() == 'x86_64' and seed % 2:
            options = [*options, '--target=x86-64-v3']
        yield self.check(f'random-block {seed}', lambda generator: random_block.build(generator, encoder), *options)

    def results(self):
        for seed in range(self.options.first, self.options.first + self.options.seeds):
            if self.options.what == 'ops':
                yield from self.check_ops(seed)
            else:
                yield from self.check_blocks(seed, self.options.what == 'encoders')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bin')
    parser.add_argument('what', choices=['ops', 'blocks', 'encoders'])
    parser.add_argument('--seeds', type=int, default=1, help='how many (default 1)')
    parser.add_argument('--first', type=int, default=0, help='the first seed (default 0)')
    parser.add_argument('--only', default='', help='ops whose name contains this')
    parser.add_argument('--keep', help='write models and logits of the last check to this folder')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
        results = list(Checker(options, options.keep or directory).results())
    print(f'{sum(results)} of {len(results)} models agree')
    return not results or not all(results)


if __name__ == '__main__':
    sys.exit(main())
