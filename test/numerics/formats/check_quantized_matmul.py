# SPDX-License-Identifier: Apache-2.0
"""check_quantized_matmul.py BIN FORMAT... [--under=EMULATOR]: matmuls of quantized activations against the interpreter, and the same bits however a
step is made up. Under an emulator of 64-bit ARM prompts alone and together, one thread and two, and one level as the other. Under
amx-run the level with AMX, integers with the bits of those without.

Rounding is defined in f32. Of rows that come straight from a table a program and the interpreter see the same values, so
that both round alike, and what is left is the error of f32 sums. Each format has a program with a linear layer of several
panels, the last of which is not full, one whose k is divided, and a gated one; and one with experts, which round between
their halves what is not a value of a table: texts are short, so that nothing lies in the middle of two integers, and shorter
with bf16, in which small numbers have a middle as near as large ones.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

PARSER = argparse.ArgumentParser()
PARSER.add_argument('programs')
PARSER.add_argument('formats', nargs='+')
PARSER.add_argument('--under')
OPTIONS = PARSER.parse_args()
PROGRAMS, FORMATS, EMULATOR = OPTIONS.programs, OPTIONS.formats, OPTIONS.under
AMX_RUN = 'amx-run'
# Beside these 256 values of a row share a scale where rows are a multiple of 256 wide, else 32.
JOINT = ('q4_0', 'q4_1', 'q5_0', 'q5_1', 'iq4_nl', 'mxfp4', 'nvfp4')
# Rows of 127 alone, and weights that in these formats have their greatest code everywhere: no sum is larger, and words
# of 16 bits hold those of some dot products only.
EXTREME_ROWS, EXTREME_LEVELS = 'mean = 1.0, deviation = 0.0001', 'mean = 1.49, deviation = 0.0001'
EXTREME = ('q5_k', 'mxfp4')
# f32 chains of 1024 / 32 products against float64.
TOLERANCE = '2e-6'
with open('/proc/cpuinfo') as cpuinfo:
    FLAGS = set(cpuinfo.read().split())
# The levels of x86-64 that this machine has.
LEVELS = ['x86-64-v3'] + ['x86-64-v4'] * ({'avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'} <= FLAGS)
# Levels that add products of bf16 in the same order. The level with AMX, if the machine has it, uses another order.
BF16_LEVELS = LEVELS + ['x86-64-v4+bf16'] * (len(LEVELS) == 2 and 'avx512_bf16' in FLAGS)


def run(program, *arguments):
    path = program if program == EMULATOR != AMX_RUN else os.path.join(PROGRAMS, program)
    result = subprocess.run([path, *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{program} {" ".join(arguments)}\n{result.stdout}{result.stderr}')
    return result.stdout


def experts(rows, width, result, outputs, count=5, inner=256):
    router, routes = f'tensor<{count}x{width}xf32>', f'tensor<?x{count}xf32>'
    gate, down = f'tensor<{count * inner}x{width}xf32>', f'tensor<{count * outputs}x{inner}xf32>'
    weights = (f'talc.weight @router : {router} = #talc.random<seed = 4, mean = 0.0, deviation = 0.2>\n'
               f'talc.weight @down : {down} = #talc.random<seed = 5, mean = 0.001, deviation = 0.03>\n')
    return gate, weights, (f'%u = talc.get_weight @up : {gate}\n%d = talc.get_weight @down : {down}\n'
                           f'%o = talc.get_weight @router : {router}\n'
                           f'%l = talc.linear %z, %o : ({rows}, {router}) -> {routes}\n'
                           f'%p = talc.softmax %l : {routes}\n%r = talc.route %p to 2 normalized : {routes}\n'
                           f'%y = talc.experts silu %z, %r, %w, %u down %d chosen 2 : '
                           f'({rows}, {routes}, {gate}, {gate}, {down}) -> {result}')


def program(width, outputs, kind):
    rows = f'tensor<?x{width}xf32>'
    table = matrix = f'tensor<{outputs}x{width}xf32>'
    result, others = f'tensor<?x{outputs}xf32>', ''
    rows_like, matrix_like = (EXTREME_ROWS, EXTREME_LEVELS) if kind == 'extreme' else (
        'mean = 0.1, deviation = 1.0', 'mean = 0.001, deviation = 0.03')
    if kind in ('linear', 'extreme'):
        layer = f'%y = talc.linear %z, %w : ({rows}, {matrix}) -> {result}'
    elif kind == 'gated':
        layer = (f'%u = talc.get_weight @up : {matrix}\n'
                 f'%y = talc.gated_linear silu %z, %w, %u : ({rows}, {matrix}, {matrix}) -> {result}')
    else:
        matrix, others, layer = experts(rows, width, result, outputs)
    return f"""module attributes {{talc.max_sequence = 64 : i64}} {{
talc.weight @table : {table} = #talc.random<seed = 1, {rows_like}>
talc.weight @matrix : {matrix} = #talc.random<seed = 2, {matrix_like}>
talc.weight @up : {matrix} = #talc.random<seed = 3, mean = 0.001, deviation = 0.03>
{others}func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> {result} attributes {{talc.entry}} {{
%t = talc.get_weight @table : {table}
%z = talc.embedding %ids, %t : (tensor<?xi32>, {table}) -> {rows}
%w = talc.get_weight @matrix : {matrix}
{layer}
return %y : {result}
}}
}}"""


def compute(app, prompts, found):
    """The same bits however a step is made up."""
    steps = ['talc-steps', app, *prompts, '--check', '--logits', found]
    if EMULATOR in (None, AMX_RUN):
        return run(*steps) if not EMULATOR else run(AMX_RUN, os.path.join(PROGRAMS, steps[0]), *steps[1:])
    other = found + '.other'
    run(EMULATOR, app, *prompts, '--logits', found, '-q', '-t', '1')
    run(EMULATOR, app, *prompts, '--logits', other, '-q', '-t', '2')
    run('talc-compare', found, other, '--tolerance=0')
    for i in range(0, len(prompts), 2):
        run(EMULATOR, app, *prompts[i:i + 2], '--logits', other, '-q')
        run('talc-compare', found, other, '--tolerance=0', '--as', f'logits.{i // 2}')


def check(directory, format, level, shape, counts):
    """Returns the file of the program's logits."""
    model, module, app, expected, found = (os.path.join(directory, name) for name in
                                           ('model.mlir', 'optimized.mlir', 'app', 'expected', f'{level}.found'))
    with open(model, 'w') as file:
        file.write(program(*shape))
    options = [f'--target={level}', f'--weights={format}; table=f32' + ('; router=f32' if shape[2] == 'experts' else '')]
    if format == 'bf16':
        options.append('--compute=bf16')
    run('talc', 'compile', model, *options, '-o', app)
    optimized = run('talc', 'compile', model, *options, '--stop-after=optimize')
    if 'talc.quantize' not in optimized or ('talc.experts' in optimized and 'rounding' not in optimized):
        sys.exit(f'{format} is not multiplied by quantized activations')
    with open(module, 'w') as file:
        file.write(optimized)
    choose = random.Random(5)
    prompts = [word for count in counts for word in
               ('--ids', ','.join(str(choose.randrange(shape[1])) for _ in range(count)))]
    run('talc-interpret', module, *prompts, '--logits', expected)
    compute(app, prompts, found)
    run('talc-compare', expected, found, f'--tolerance={TOLERANCE}')
    return found


def check_levels(directory, shape):
    """Pairs of bf16 have the same bits by two multiply-adds as by one instruction."""
    model = os.path.join(directory, 'model.mlir')
    with open(model, 'w') as file:
        file.write(program(*shape))
    found = []
    for level in BF16_LEVELS:
        app, logits = (os.path.join(directory, name) for name in ('app', f'{level}.logits'))
        run('talc', 'compile', model, f'--target={level}', '--weights=bf16; table=f32', '--compute=bf16', '-o', app)
        run('talc-steps', app, '--ids', '3,17,4,9,11', '--ids', '2', '--logits', logits)
        found.append(logits)
    for logits in found[1:]:
        run('talc-compare', found[0], logits, '--tolerance=0')


def check_matrices(directory, format):
    """Depths of whole blocks, and of the last format one that is not; gates, and rows that fill no tile, one and several."""
    narrow = ['x86-64-v3'] + ['x86-64-v3+vnni'] * ('avx_vnni' in FLAGS)
    depth = 1152 if format == 'bf16' or format == FORMATS[-1] else 1280
    for shape, counts, others in (((depth, 200, 'linear'), (1, 2, 17, 31, 40), ['x86-64-v4+vnni']),
                                  ((256, 72, 'gated'), (1, 7, 24), narrow)):
        found = check(directory, format, 'x86-64-v4+amx', shape, counts)
        for level in others if format != 'bf16' else []:
            run('talc-compare', found, check(directory, format, level, shape, counts), '--tolerance=0')


def main():
    if EMULATOR == AMX_RUN:
        with tempfile.TemporaryDirectory() as directory:
            for format in FORMATS:
                check_matrices(directory, format)
        return
    with tempfile.TemporaryDirectory() as directory:
        for format in FORMATS if EMULATOR else []:
            shape, counts = ((1024, 200, 'linear'), (1, 2, 3, 5, 12)) if format == FORMATS[0] else ((256, 72, 'gated'), (1, 7))
            found = [check(directory, format, level, shape, counts) for level in ('aarch64', 'aarch64+dotprod')]
            run('talc-compare', *found, '--tolerance=0')
        for format in [] if EMULATOR else FORMATS:
            check(directory, format, 'native', (1024, 200, 'linear'), (1, 2, 3, 5, 12, 53))
            check(directory, format, LEVELS[0], (256, 72, 'gated'), (1, 7, 24))
            check(directory, format, LEVELS[-1], (256, 72, 'linear'), (1, 7, 24))
            if format in EXTREME:
                check(directory, format, LEVELS[0], (256, 72, 'extreme'), (1, 7, 63))
            if format in JOINT:
                check(directory, format, 'native', (320, 72, 'linear'), (1, 7, 24))
            level, counts = (BF16_LEVELS[-1], (1, 2)) if format == 'bf16' else ('native', (1, 7, 24))
            check(directory, format, level, (256, 72, 'experts'), counts)
        if 'bf16' in FORMATS and not EMULATOR:
            check(directory, 'bf16', 'native', (202, 72, 'linear'), (1, 5))
            check_levels(directory, (1024, 200, 'linear'))


if __name__ == '__main__':
    main()
