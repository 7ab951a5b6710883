# SPDX-License-Identifier: Apache-2.0
"""Measures attention beside its unfused form: scores of all pairs into memory, softmax over their rows, values.

Both come from this compiler: the unfused form's products are kernel.matmul, whose packed weights have the layout of keys
and values. Its softmax is C++, since no compute op computes one alone; it works on what the mask leaves. Rounds are interleaved
in one process with one thread, and medians are compared.
"""
import argparse
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LLVM = '/usr/lib/llvm-22/bin/'
STEP = '(!kernel.step, '


def matmul(name, rows, depth, columns, row_stride):
    """x [rows, depth], whose rows lie row_stride apart, times a packed weight."""
    x = f'memref<{rows}x{depth}xf32, strided<[{row_stride}, 1]>>'
    weight, out = f'memref<{columns // 16}x{depth}x16xf32>', f'memref<{rows}x{columns}xf32>'
    return f'''
  func.func @{name}(%s: !kernel.step, %x: {x}, %w: {weight}, %out: {out}) attributes {{talc.entry}} {{
    kernel.matmul %s, %x, %w into %out {{
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    }} : {STEP}{x}, {weight}, {out}) -> ()
    return
  }}'''


def attention(name, tokens, heads, key_heads, width, mask):
    state, rows = f'!talc.kv_cache<{key_heads} x {width} x {tokens} in #kernel.kv_panels<16 x f32>>', f'memref<{tokens}x{heads * width}xf32>'
    return f'''
  func.func @{name}(%s: !kernel.step, %state: {state}, %q: {rows}, %out: {rows}) attributes {{talc.entry}} {{
    kernel.attention {mask} %s, %q, %state heads {heads} scale {width ** -0.5} window 0 into %out : {STEP}{rows}, {state}, {rows}) -> ()
    return
  }}'''


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def compare(options, tokens, heads, key_heads, folder):
    width = options.width
    program = folder / f'{tokens}-{heads}'
    slot = 2 * key_heads * tokens * width * 4
    program.with_suffix('.mlir').write_text(
        f'module attributes {{talc.plan = {{state_bytes_per_slot = {slot} : i64}}}} {{' +
        matmul('scores', tokens, width, tokens, heads * width) + matmul('values', tokens, tokens, width, tokens) +
        attention('causal', tokens, heads, key_heads, width, 'causal') +
        attention('full', tokens, heads, key_heads, width, 'full') + '\n}\n')
    lanes = f'lanes={options.lanes}'
    run(options.tools / 'talc-opt', program.with_suffix('.mlir'), '-divide-work', f'-assign-plans={lanes}', f'-expand-matmul={lanes}',
        f'-expand-attention={lanes}', '-distribute-tasks', '-expand-math', '-talc-codegen', '-o', folder / 'code.mlir')
    run(LLVM + 'mlir-translate', '-mlir-to-llvmir', folder / 'code.mlir', '-o', folder / 'code.ll')
    machine = ['-O3', '-march=native', '-ffast-math'] + (['-mprefer-vector-width=512'] if options.lanes == 16 else [])
    run(LLVM + 'clang++', *machine, '-std=c++17', '-Wno-override-module', f'-I{ROOT}', f'-DTOKENS={tokens}', f'-DHEADS={heads}',
        f'-DKEY_HEADS={key_heads}', f'-DWIDTH={width}', folder / 'code.ll', HERE / 'UnfusedAttention.cpp', '-o', program)
    run(*options.under.split(), program, options.rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('tools', type=pathlib.Path, help='folder of talc-opt')
    parser.add_argument('--tokens', default='128,256,512,1024,2048,4096', help='multiples of 16')
    parser.add_argument('--heads', default='12/12,32/4')
    parser.add_argument('--width', type=int, default=64)
    parser.add_argument('--lanes', type=int, default=16)
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--under', default='', help='a command that runs the measurements, such as taskset -c 1')
    options = parser.parse_args()
    print('| heads | tokens | mask | attention, ms | unfused, ms | attention is |\n| --- | ---: | --- | ---: | ---: | ---: |',
          flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for pair in options.heads.split(','):
            for tokens in options.tokens.split(','):
                compare(options, int(tokens), *(int(count) for count in pair.split('/')), pathlib.Path(folder))


main()
