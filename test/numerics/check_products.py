# SPDX-License-Identifier: Apache-2.0
"""check_products.py BIN FORMAT...: products of rounded rows against the interpreter, and the same bits however a step is made up.

Rounding is defined in f32. Of rows that come straight from a table a program and the interpreter see the same values, so
that both round alike, and what is left is the error of f32 sums. Each format has a program with a linear layer of several
panels, the last of which is not full, one whose k is divided, and a gated one.
"""
import os
import random
import subprocess
import sys
import tempfile

PROGRAMS = sys.argv[1]
FORMATS = sys.argv[2:]
# f32 chains of 1024 / 32 products against float64.
TOLERANCE = '2e-6'


def run(program, *arguments):
    result = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{program} {" ".join(arguments)}\n{result.stdout}{result.stderr}')
    return result.stdout


def program(width, outputs, gated):
    rows = f'tensor<?x{width}xf32>'
    table = matrix = f'tensor<{outputs}x{width}xf32>'
    result = f'tensor<?x{outputs}xf32>'
    layer = (f'%u = talc.get_weight @up : {matrix}\n'
             f'%y = talc.gated_linear silu %z, %w, %u : ({rows}, {matrix}, {matrix}) -> {result}' if gated else
             f'%y = talc.linear %z, %w : ({rows}, {matrix}) -> {result}')
    return f"""module attributes {{talc.max_sequence = 64 : i64}} {{
talc.weight @table : {table} = #talc.random<seed = 1, mean = 0.1, deviation = 1.0>
talc.weight @matrix : {matrix} = #talc.random<seed = 2, mean = 0.001, deviation = 0.03>
talc.weight @up : {matrix} = #talc.random<seed = 3, mean = 0.001, deviation = 0.03>
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> {result} attributes {{talc.entry}} {{
%t = talc.get_weight @table : {table}
%z = talc.embedding %ids, %t : (tensor<?xi32>, {table}) -> {rows}
%w = talc.get_weight @matrix : {matrix}
{layer}
return %y : {result}
}}
}}"""


def check(directory, format, level, shape, counts):
    model, module, app, expected, found = (os.path.join(directory, name) for name in
                                           ('model.mlir', 'optimized.mlir', 'app', 'expected', 'found'))
    with open(model, 'w') as file:
        file.write(program(*shape))
    options = [f'--target={level}', f'--weights={format}; table=f32']
    if format == 'bf16':
        options.append('--compute=bf16')
    run('talc', 'compile', model, *options, '-o', app)
    optimized = run('talc', 'compile', model, *options, '--stop-after=optimize')
    if 'talc.quantize' not in optimized:
        sys.exit(f'{format} is not multiplied by rounded rows')
    with open(module, 'w') as file:
        file.write(optimized)
    choose = random.Random(5)
    prompts = [word for count in counts for word in
               ('--ids', ','.join(str(choose.randrange(shape[1])) for _ in range(count)))]
    run('talc-interpret', module, *prompts, '--logits', expected)
    run('talc-steps', app, *prompts, '--check', '--logits', found)
    run('talc-compare', expected, found, f'--tolerance={TOLERANCE}')


def check_levels(directory, shape):
    """Pairs of bf16 have the same bits by two multiply-adds as by one instruction."""
    model = os.path.join(directory, 'model.mlir')
    with open(model, 'w') as file:
        file.write(program(*shape))
    found = []
    for level in ('native', 'x86-64-v4', 'x86-64-v3'):
        app, logits = (os.path.join(directory, name) for name in ('app', f'{level}.logits'))
        run('talc', 'compile', model, f'--target={level}', '--weights=bf16; table=f32', '--compute=bf16', '-o', app)
        run('talc-steps', app, '--ids', '3,17,4,9,11', '--ids', '2', '--logits', logits)
        found.append(logits)
    for logits in found[1:]:
        run('talc-compare', found[0], logits, '--tolerance=0')


def main():
    with tempfile.TemporaryDirectory() as directory:
        for format in FORMATS:
            check(directory, format, 'native', (1024, 200, False), (1, 2, 3, 5, 12, 31))
            check(directory, format, 'x86-64-v3', (256, 72, True), (1, 7, 24))
            check(directory, format, 'x86-64-v4', (256, 72, False), (1, 7, 24))
        if 'bf16' in FORMATS:
            check(directory, 'bf16', 'native', (202, 72, False), (1, 5))
            check_levels(directory, (1024, 200, False))


if __name__ == '__main__':
    main()
