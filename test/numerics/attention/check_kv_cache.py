# SPDX-License-Identifier: Apache-2.0
"""check_kv_cache.py BIN DIRECTORY KEYS,VALUES...: keys and values in every storage format of states, against the interpreter and with the
same bits for any threads, steps and company: queries that share keys, one key-value head, and a ring.
"""
import os
import random
import re
import subprocess
import sys

PROGRAMS, DIRECTORY, *PAIRS = sys.argv[1:]
# A value that rounds the other way in float64 moves a result by a step of the format, weighted.
TOLERANCE = {'f32': '2e-6', 'f16': '2e-4', 'bf16': '2e-3', 'q8_0': '2e-4'}
BYTES = {'f32': 4, 'f16': 2, 'bf16': 2, 'q8_0': 34 / 32}
VOCABULARY, LENGTH = 16, 1100


def run(program, *arguments):
    result = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{program} {" ".join(arguments)[:300]}\n{result.stdout}{result.stderr}')
    return result.stdout + result.stderr


def attention(name, state, heads, width, window=0):
    """One layer: x plus attention over what a state has of three projections of x."""
    shared = int(state.split()[0])
    rows, queries, keys = 'tensor<?x64xf32>', f'tensor<?x{heads * width}xf32>', f'tensor<?x{shared * width}xf32>'
    kind, weights, body = f'!talc.kv_cache<{state}>', [], []
    for part, outputs, inputs, to in (('q', heads * width, 64, queries), ('k', shared * width, 64, keys),
                                      ('v', shared * width, 64, keys), ('o', 64, heads * width, rows)):
        matrix = f'tensor<{outputs}x{inputs}xf32>'
        weights.append(f'talc.weight @{name}.{part} : {matrix} = '
                       f'#talc.random<seed = {len(name) * 7 + ord(part)}, mean = 0.0, deviation = 0.12>')
        body.append(f'%{name}w{part} = talc.get_weight @{name}.{part} : {matrix}')
    linear = lambda to, x, part, a, b, shape: body.append(
        f'%{name}{to} = talc.linear %{x}, %{name}w{part} : ({a}, tensor<{shape}xf32>) -> {b}')
    linear('q', 'x', 'q', rows, queries, f'{heads * width}x64')
    linear('k', 'x', 'k', rows, keys, f'{shared * width}x64')
    linear('v', 'x', 'v', rows, keys, f'{shared * width}x64')
    body.append(f'%{name}s = talc.get_kv_cache @{name}.state : {kind}')
    body.append(f'talc.kv_append %{name}s, %{name}k, %{name}v, %s : {kind}, {keys}')
    body.append(f'%{name}keys, %{name}values = talc.kv_read %{name}s, %s : {kind} -> {keys}, {keys}')
    limit = f' {{window = {window} : i64}}' if window else ''
    body.append(f'%{name}a = talc.attention causal %{name}q, %{name}keys, %{name}values, %s heads {heads}, {shared} '
                f'scale {width ** -0.5:.6f}{limit} : {queries}, {keys}')
    linear('o', f'{name}a', 'o', queries, rows, f'64x{heads * width}')
    return [*weights, f'talc.kv_cache @{name}.state : {kind}'], body


def model():
    table, rows, result = f'tensor<{VOCABULARY}x64xf32>', 'tensor<?x64xf32>', f'tensor<?x{VOCABULARY}xf32>'
    top = [f'talc.weight @table : {table} = #talc.random<seed = 1, mean = 0.0, deviation = 0.8>']
    body = [f'%w = talc.get_weight @table : {table}', f'%x = talc.embedding %ids, %w : (tensor<?xi32>, {table}) -> {rows}']
    y = 'x'
    for number, layer in enumerate((('g', f'2 x 32 x {LENGTH}', 4, 32), ('wide', f'1 x 96 x {LENGTH}', 8, 96),
                                    ('ring', '1 x 64 x 300 window 9', 2, 64, 9))):
        above, inside = attention(*layer)
        top += above
        body += inside + [f'%y{number} = talc.add %{y}, %{layer[0]}o : {rows}']
        y = f'y{number}'
    body += [f'%z = talc.select %{y}, %s : {rows} -> {rows}', f'%r = talc.linear %z, %w : ({rows}, {table}) -> {result}']
    return '\n'.join([f'module attributes {{talc.max_sequence = {LENGTH} : i64}} {{', *top,
                      f'func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> {result} '
                      'attributes {talc.entry} {', *body, f'return %r : {result}', '}', '}'])


def options_of(keys, values):
    if keys == values:
        return [] if keys == 'f32' else [f'--state={keys}']
    return ['-ctk', keys] + ([] if values == 'f32' else [f'-ctv={values}'])


def check(source, keys, values):
    module, app, expected, found = (os.path.join(DIRECTORY, file) for file in ('import.mlir', 'app', 'expected', 'found'))
    state, name = options_of(keys, values), f'{keys} and {values}'
    run('talc', 'compile', source, *state, '-o', app)
    run('talc', 'compile', source, *state, '--stop-after=optimize', '-o', module)
    choose = random.Random(5)
    prompts = [word for count in (1, 5, 23, 70) for word in
               ('--ids', ','.join(str(choose.randrange(VOCABULARY)) for _ in range(count)))]
    run('talc-interpret', module, *prompts, '--logits', expected)
    run('talc-steps', app, *prompts, '--check', '--logits', found)
    run('talc-compare', expected, found, f'--tolerance={max(TOLERANCE[keys], TOLERANCE[values], key=float)}')
    # Several blocks of keys, and one token after another from there on.
    ids = ','.join(str(choose.randrange(VOCABULARY)) for _ in range(LENGTH - 60))
    texts = {run(app, '--ids', ids, '-n', '40', '-q', '--ignore-eos', '-t', threads) for threads in '12'}
    assert len(texts) == 1, f'{name}: two threads make other tokens'
    beams = {run(app, '--ids', ids, '--beams', '3', '-n', '12', '-q', '-t', threads) for threads in '12'}
    assert len(beams) == 1, f'{name}: beams differ between one thread and two'
    # Values are filled up to whole lines of 16 features, of which all widths here are multiples.
    tokens = (LENGTH + 15) // 16 * 16
    stored = (2 * 32 * tokens + 96 * tokens + 64 * 512) * (BYTES[keys] + BYTES[values])
    memory = re.search(r'KV cache of a sequence, all tokens +(\d+)', run(app, '--memory'))
    assert int(memory.group(1)) == stored, f'{name}: {memory.group(0)}, expected {stored}'


def main():
    source = os.path.join(DIRECTORY, 'model.mlir')
    with open(source, 'w') as file:
        file.write(model())
    for pair in PAIRS:
        check(source, *pair.split(','))


main()
