# SPDX-License-Identifier: Apache-2.0
"""check_row_generator.py BIN TARGET SEED KIND...: pieces by Halide and with other plans give the bits of talc's own loops, and Halide makes them.

Random models of odd widths with ops of these kinds, which are the first words of the names of op_models.CASES."""
import argparse
import filecmp
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../numerics/dialect'))
import check_programs
import op_models
import prompts

BIN, TARGET, SEED, *KINDS = sys.argv[1:]
PIECES = {'activation': 'generic', 'add': 'generic', 'mul': 'generic', 'scale': 'generic', 'clamp': 'generic',
          'cross': 'attention'}
VARIANTS = {'mlir': ['--generator=mlir'], 'unrolled': ['--generator=mlir', '--plan=*: unroll = 3'],
            'halide-unrolled': ['--generator=halide', '--plan=*: unroll = 3'], 'halide': ['--generator=halide']}


def groups():
    """Yields groups of cases, those of decoders first, then those of encoders."""
    kept = [name for name in op_models.CASES if name.split('-')[0] in KINDS and name not in op_models.OPTIMIZED]
    for names in [name for name in kept if name not in op_models.ENCODERS], [*filter(op_models.ENCODERS.__contains__, kept)]:
        for i in range(0, len(names), check_programs.CASES_PER_MODEL):
            yield names[i:i + check_programs.CASES_PER_MODEL]


def check(names, directory):
    """The kinds of pieces that Halide made."""
    generator = random.Random(f'{names} {SEED}')
    model = op_models.build(names, generator)
    checker = check_programs.Checker(argparse.Namespace(bin=BIN), directory)
    with open(checker.path('model.mlir'), 'w') as file:
        file.write(model.text())
    given = prompts.arguments(prompts.ragged_batch(generator, model, model.longest()))
    if model.rows:
        given.append(f'--rows={",".join(model.rows)}')
    for name, variant in VARIANTS.items():
        compile = ['compile', checker.path('model.mlir'), f'--target={TARGET}', *variant]
        checker.run('talc', *compile, '-o', checker.path(name))
        checker.run('talc-steps', checker.path(name), *given, '--logits', checker.path(name + '.logits'))
        if not filecmp.cmp(checker.path('mlir.logits'), checker.path(name + '.logits'), shallow=False):
            sys.exit(f'{names}: logits are others with {variant}')
    remarks = subprocess.run([os.path.join(BIN, 'talc'), *compile, '--remarks=schedule', '-o', checker.path('again')],
                             capture_output=True, text=True).stderr
    return set(re.findall(r'assign-generators: ([a-z]+)\w*: halide makes the loops', remarks))


with tempfile.TemporaryDirectory() as directory:
    made = set().union(*(check(names, directory) for names in groups()))
missing = {PIECES.get(kind, kind) for kind in KINDS} - made
if missing:
    sys.exit(f'Halide made no {missing}')
