# SPDX-License-Identifier: Apache-2.0
"""Compiles random models and compares what the programs compute with the interpreter; see --help.

  check_programs.py BIN ops                             every op of the dialect
  check_programs.py BIN ops --once                      one case of each kind of op
  check_programs.py BIN blocks                          200 random blocks: models 0 to 24, 8 blocks each
  check_programs.py BIN blocks --first 25 --models 1000  another 8000 blocks
  check_programs.py BIN blocks --first 31 --models 1 --blocks 1 --keep FOLDER

BIN is the folder of talc, talc-interpret, talc-compare and talc-steps. For every model:
 - the module after `optimize` means the same as before it,
 - the program agrees with the interpreter, for nvptx but for what rounding rows beside weights of 16 bits changes,
 - and computes the same bits with one, two and three threads, for a prompt alone and in a batch, for a source alone and
   in a batch, all tokens at once, in steps, and token by token (`talc-steps --check`).
Models are checked by as many processes as there are processors.
"""
import argparse
import concurrent.futures
import os
import platform
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import check_16_bit_floats
import op_models
import prompts
import random_block
from random_checkpoint import read_tensors

# Relative to the largest value. Only the rounding of tables to f32 changes values.
OPTIMIZE_TOLERANCE = 2e-6
# Sums of up to 200 products in f32 (unit roundoff 6e-8), several layers after one another: 2e-7 is typical.
PROGRAM_TOLERANCE = 2e-5
# A format of blocks for matrices that have whole ones; integers would be rounded otherwise where f32 and float64 differ.
BLOCKS_OF_WEIGHTS = ['--weights=q8_0', '--compute=f32']
# Models of ops hold this many cases, because compiling takes longer than running.
CASES_PER_MODEL = 12


class Failure(Exception):
    pass


class Checker:
    """Checks one model in a folder."""

    def __init__(self, options, directory):
        self.options, self.directory = options, directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, program, *arguments):
        path = os.path.join(self.options.bin, program)
        # Three threads, even if there are fewer processors; what is tested is compiled.
        environment = dict(os.environ, TALC_MAX_THREADS='3', TALC_CACHE='off')
        result = subprocess.run([path, *arguments], capture_output=True, text=True, env=environment)
        if result.returncode != 0:
            raise Failure(f'{program} {" ".join(arguments)}\n{result.stdout}{result.stderr}')

    def compare(self, expected, found, *options):
        self.run('talc-compare', self.path(expected), self.path(found), *options)

    def tolerance(self, given):
        """The tolerance against the interpreter: tensor cores round activations as well."""
        if self.options.target != 'nvptx':
            return PROGRAM_TOLERANCE
        self.run('talc-interpret', self.path('optimized.mlir'), *given, '--narrow-activations', '--logits', self.path('rounded'))
        exact, rounded = (read_tensors(self.path(name)) for name in ('optimized', 'rounded'))
        difference = max(check_16_bit_floats.largest_difference({name: exact[name]}, {name: rounded[name]}) for name in exact)
        return difference + check_16_bit_floats.MORE if difference > 0 else PROGRAM_TOLERANCE

    def check_model(self, model, batch, compiler_options):
        with open(self.path('model.mlir'), 'w') as file:
            file.write(model.text())
        compile = ['compile', self.path('model.mlir'), *compiler_options, '-o']
        self.run('talc', *compile, self.path('optimized.mlir'), '--stop-after=optimize')
        self.run('talc', *compile, self.path('app'))
        given = [*prompts.arguments(batch), *([f'--rows={",".join(model.rows)}'] if model.rows else [])]
        self.run('talc-interpret', self.path('optimized.mlir'), *given, '--logits', self.path('optimized'))
        if not any(option.startswith('--weights') for option in compiler_options):
            self.run('talc-interpret', self.path('model.mlir'), *given, '--logits', self.path('imported'))
            self.compare('imported', 'optimized', f'--tolerance={OPTIMIZE_TOLERANCE}')
        self.run('talc-steps', self.path('app'), *given, '--check', '--logits', self.path('program'))
        self.compare('optimized', 'program', f'--tolerance={self.tolerance(given)}')

    def check(self, name, build, *compiler_options):
        """Returns what is wrong, or an empty text."""
        generator = random.Random(name)
        model = build(generator)
        batch = prompts.ragged_batch(generator, model, model.longest())
        try:
            self.check_model(model, batch, compiler_options)
            return ''
        except Failure as failure:
            return f'{name} {" ".join(compiler_options)}: {failure}\n'


def check_ops(options, group, seed):
    with tempfile.TemporaryDirectory() as directory:
        checker = Checker(options, options.keep or directory)

        def check(names):
            target = f'--target={options.target}'
            return checker.check(f'{" ".join(names)} {seed}', lambda g: op_models.build(names, g), target)

        wrong = check(group)
        if wrong and len(group) > 1:  # which of them?
            wrong += ''.join(check([name]) for name in group)
        return wrong


def check_blocks(options, seed):
    lower = options.target == 'native' and platform.machine() == 'x86_64' and seed // 4 % 2
    compiler_options = [[], ['--weights=bf16'], ['--weights=f16'], BLOCKS_OF_WEIGHTS][seed % 4]
    compiler_options = [f'--target={"x86-64-v3" if lower else options.target}', *compiler_options]
    with tempfile.TemporaryDirectory() as directory:
        checker = Checker(options, options.keep or directory)
        return checker.check(f'random-blocks {seed}', lambda g: random_block.build(g, options.blocks), *compiler_options)


def op_groups(options, seed):
    """Decoders, encoders and models with segments with the cases that suit them; the others are distributed among them.
    A kind of op is the first word of the names of its cases."""
    names = [name for name in op_models.CASES if name not in op_models.OPTIMIZED and options.only in name]
    generator = random.Random(seed)
    generator.shuffle(names)
    kinds = {True: [], False: [], None: []}
    for name in names:
        if name in op_models.SEGMENTED:
            kinds[None].append(name)
            continue
        free = name not in op_models.ENCODERS and name not in op_models.DECODERS
        kinds[generator.random() < 0.5 if free else name in op_models.ENCODERS].append(name)
    if options.once:
        kinds = {kind: list({name.split('-')[0]: name for name in group}.values()) for kind, group in kinds.items()}
    return [group[i:i + CASES_PER_MODEL] for group in kinds.values() for i in range(0, len(group), CASES_PER_MODEL)]


def jobs(options):
    """Functions to be called, one for each model."""
    if options.what == 'ops':
        return [(check_ops, options, group, seed) for seed in range(options.first, options.first + options.models)
                for group in op_groups(options, seed)]
    return [(check_blocks, options, seed) for seed in range(options.first, options.first + options.models)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bin')
    parser.add_argument('what', choices=['ops', 'blocks'])
    parser.add_argument('--models', type=int, help='how many; of ops, how often each (default 25; ops 1)')
    parser.add_argument('--first', type=int, default=0, help='the seed of the first (default 0)')
    parser.add_argument('--blocks', type=int, default=random_block.BLOCKS, help='blocks of a model (default 8)')
    parser.add_argument('--once', action='store_true', help='one case of each kind of op')
    parser.add_argument('--only', default='', help='ops whose name contains this')
    parser.add_argument('--target', default='native', help='what programs are compiled for (default native)')
    parser.add_argument('--keep', help='write models and results to this folder, one model after another')
    options = parser.parse_args()
    options.models = options.models or (1 if options.what == 'ops' else random_block.MODELS)
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(1 if options.keep else len(os.sched_getaffinity(0))) as pool:
        futures = [pool.submit(*job) for job in jobs(options)]
        for future in futures:
            print(future.result(), end='', flush=True)
            wrong += future.result() != ''
    print(f'{len(futures) - wrong} of {len(futures)} models agree')
    return wrong > 0 or not futures


if __name__ == '__main__':
    sys.exit(main())
