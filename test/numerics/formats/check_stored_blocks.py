# SPDX-License-Identifier: Apache-2.0
"""check_stored_blocks.py BIN WRITER FORMATS [--file|--formats] [TARGET@EMULATOR]: programs whose weights are stored in blocks and dequantized
against the interpreter, on this machine or on another that is emulated; of values alone the bits.

One model has tables and matrices in every format, chosen by name; another is a GGUF file of mixed formats whose blocks
are taken as they are. The values of a format are those of a table of its own. WRITER and FORMATS are the folders of
gguf_writer.py and block_formats.py.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

PROGRAMS = sys.argv[1]
sys.path += sys.argv[2:4]
PARTS = [word for word in sys.argv[4:] if word.startswith('--')]
TARGET, _, EMULATOR = next((word for word in sys.argv[4:] if word not in PARTS), 'native').partition('@')
import block_formats
import gguf_writer as gguf
from artifact import read_weights

# f32 sums of 256 products against float64.
TOLERANCE = '2e-5'
FORMATS = list(block_formats.VALUES)
# Few outputs: code for one panel is soon made; ffn_down of the GGUF file has many panels.
WIDTH, VOCABULARY, INNER, HEADS, HEAD_WIDTH = 256, 16, 32, 2, 8


def run(program, *arguments):
    path = program if program == EMULATOR else os.path.join(PROGRAMS, program)
    result = subprocess.run([path, *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{program} {" ".join(arguments)}\n{result.stdout}{result.stderr}')
    return result.stdout


def compile(model, app, *options):
    run('talc', 'compile', model, f'--target={TARGET}', '--compute=f32', *options, '-o', app)


def compute(app, prompts, found):
    """All prompts, splits and threads agree with each other bit for bit; under an emulator one thread and two."""
    if not EMULATOR:
        return run('talc-steps', app, *prompts, '--check', '--logits', found)
    for threads, place in (('1', found), ('2', found + '.2')):
        run(EMULATOR, app, *prompts, '--logits', place, '-q', '-t', threads)
    return run('talc-compare', found, found + '.2', '--tolerance=0')


def check(directory, model, module, app, *options):
    """The program computes what the interpreter does."""
    expected, found = (os.path.join(directory, name) for name in ('expected', 'found'))
    choose = random.Random(3)
    prompts = [word for count in (1, 7, 30) for word in
               ('--ids', ','.join(str(choose.randrange(VOCABULARY)) for _ in range(count)))]
    run('talc-interpret', module, *prompts, '--logits', expected)
    compute(app, prompts, found)
    run('talc-compare', expected, found, f'--tolerance={TOLERANCE}')


# Every format.


def every_format():
    """A sum of tables, attention, and a sum of linears, of which one has a table for its matrix."""
    weights, body = [], []
    matrix, rows = f'tensor<{VOCABULARY}x{WIDTH}xf32>', f'tensor<?x{WIDTH}xf32>'
    result = f'tensor<?x{VOCABULARY}xf32>'

    def add(name, x, y, kind):
        body.append(f'%{name} = talc.add %{x}, %{y} : {kind}')
        return name

    x = None
    for seed, name in enumerate(FORMATS):
        weights.append(f'talc.weight @table.{name} : {matrix} = #talc.random<seed = {seed}, mean = 0.0, deviation = 0.3>')
        weights.append(f'talc.weight @matrix.{name} : {matrix} = '
                       f'#talc.random<seed = {seed + 99}, mean = 0.01, deviation = 0.03>')
        body.append(f'%t{seed} = talc.get_weight @table.{name} : {matrix}')
        body.append(f'%e{seed} = talc.embedding %ids, %t{seed} : (tensor<?xi32>, {matrix}) -> {rows}')
        x = add(f'x{seed}', x, f'e{seed}', rows) if x else f'e{seed}'
    state = f'!talc.kv_cache<1 x {WIDTH} x 64>'
    body.append(f'%state = talc.get_kv_cache @state : {state}')
    body.append(f'talc.kv_append %state, %{x}, %{x}, %s : {state}, {rows}')
    body.append(f'%keys, %values = talc.kv_read %state, %s : {state} -> {rows}, {rows}')
    body.append(f'%a = talc.attention causal %{x}, %keys, %values, %s heads 1, 1 scale 0.01 : {rows}, {rows}')
    body.append(f'%z = talc.select %a, %s : {rows} -> {rows}')
    body.append(f'%y = talc.linear %z, %t1 : ({rows}, {matrix}) -> {result}')
    y = 'y'
    for seed, name in enumerate(FORMATS):
        body.append(f'%m{seed} = talc.get_weight @matrix.{name} : {matrix}')
        body.append(f'%l{seed} = talc.linear %z, %m{seed} : ({rows}, {matrix}) -> {result}')
        y = add(f'y{seed}', y, f'l{seed}', result)
    return '\n'.join(['module attributes {talc.max_sequence = 64 : i64} {', *weights,
                      f'talc.kv_cache @state : {state}',
                      'func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> '
                      f'{result} attributes {{talc.entry}} {{', *body, f'return %{y} : {result}', '}', '}'])


def check_every_format(directory):
    model, module, app = (os.path.join(directory, name) for name in ('model.mlir', 'optimized.mlir', 'app'))
    with open(model, 'w') as file:
        file.write(every_format())
    weights = '--weights=f32; ' + '; '.join(f'*.{name}={name}' for name in FORMATS)
    compile(model, app, weights)
    run('talc', 'compile', model, weights, '--compute=f32', '--stop-after=optimize', '-o', module)
    check(directory, model, module, app)


def check_values(directory):
    """Rows of a table are its values, bit for bit: 65536 of every format."""
    model, module, app, expected, found = (
        os.path.join(directory, name) for name in ('table.mlir', 'table-optimized.mlir', 'app', 'expected', 'found'))
    table, rows = f'tensor<{WIDTH}x{WIDTH}xf32>', f'tensor<?x{WIDTH}xf32>'
    with open(model, 'w') as file:
        file.write(f"""module attributes {{talc.max_sequence = {WIDTH} : i64}} {{
talc.weight @table : {table} = #talc.random<seed = 5, mean = 0.0, deviation = 0.3>
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> {rows} attributes {{talc.entry}} {{
%t = talc.get_weight @table : {table}
%x = talc.embedding %ids, %t : (tensor<?xi32>, {table}) -> {rows}
return %x : {rows}
}}
}}""")
    prompt = '--ids', ','.join(str(row) for row in range(WIDTH))
    for name in FORMATS:
        compile(model, app, f'--weights={name}')
        run('talc', 'compile', model, f'--weights={name}', '--compute=f32', '--stop-after=optimize', '-o', module)
        run('talc-interpret', module, *prompt, '--logits', expected)
        run(EMULATOR or 'talc-steps', app, *prompt, '--logits', found, *(['-q'] if EMULATOR else []))
        run('talc-compare', expected, found, '--exact')


# A GGUF file.

NUMBERS = {'q4_0': 2, 'q4_1': 3, 'q5_0': 6, 'q5_1': 7, 'q8_0': 8, 'q4_k': 12, 'q5_k': 13, 'q6_k': 14, 'q2_k': 10,
           'q3_k': 11, 'iq4_nl': 20, 'iq4_xs': 23}


def blocks(name, rows, columns):
    """Any levels and scales, and halves that make values of about 0.1."""
    choose, result = random.Random(f'{name}{rows}{columns}'), bytearray()
    most = {'q8_0': 127, 'q6_k': 64 * 32, 'q4_k': 63 * 15, 'q5_k': 63 * 31, 'q2_k': 15 * 3, 'q3_k': 32 * 4, 'iq4_nl': 127,
            'iq4_xs': 32 * 127}.get(name, 16)
    first, *second = block_formats.HALVES.get(name, [0, 2])
    for _ in range(rows * columns // block_formats.VALUES[name]):
        block = bytearray(choose.randbytes(block_formats.BYTES[name]))
        struct.pack_into('<e', block, first, choose.uniform(0.05, 0.15) / most)
        for at in second:
            struct.pack_into('<e', block, at, choose.uniform(0.02, 0.06) * (-1 if name[3] == '1' else 1 / 63))
        result += block
    return [rows, columns], NUMBERS[name], bytes(result)


def quantized_model():
    """Formats by tensor and by layer, as llama.cpp mixes them."""
    metadata = {'general.architecture': (gguf.STRING, 'llama'), 'llama.context_length': (gguf.U32, 64),
                'llama.embedding_length': (gguf.U32, WIDTH), 'llama.block_count': (gguf.U32, 3),
                'llama.feed_forward_length': (gguf.U32, INNER), 'llama.attention.head_count': (gguf.U32, HEADS),
                'llama.attention.head_count_kv': (gguf.U32, 1), 'llama.rope.dimension_count': (gguf.U32, HEAD_WIDTH),
                'llama.attention.key_length': (gguf.U32, HEAD_WIDTH), 'llama.attention.value_length': (gguf.U32, HEAD_WIDTH),
                'llama.attention.layer_norm_rms_epsilon': (gguf.F32, 1e-5)}
    ones = [WIDTH], 0, struct.pack(f'<{WIDTH}f', *WIDTH * [1.0])
    tensors = {'token_embd.weight': blocks('q4_k', VOCABULARY, WIDTH), 'output_norm.weight': ones,
               'output.weight': blocks('q6_k', VOCABULARY, WIDTH)}
    output = [WIDTH, HEADS * HEAD_WIDTH]  # whose rows are not whole blocks
    for layer in range(3):
        usual, better, small, inner = [('q5_0', 'q5_1', 'q8_0', 'q5_k'), ('q4_k', 'q6_k', 'q5_0', 'q2_k'),
                                       ('q3_k', 'iq4_xs', 'iq4_nl', 'iq4_xs')][layer]
        tensors[f'blk.{layer}.attn_output.weight'] = output, 0, struct.pack(
            f'<{WIDTH * output[1]}f', *(i % 7 / 50 for i in range(WIDTH * output[1])))
        for name, kind, rows, columns in (('attn_q', usual, HEADS * HEAD_WIDTH, WIDTH), ('attn_k', usual, HEAD_WIDTH, WIDTH),
                                          ('attn_v', better, HEAD_WIDTH, WIDTH), ('ffn_gate', inner, INNER, WIDTH),
                                          ('ffn_up', inner, INNER, WIDTH), ('ffn_down', small, WIDTH, INNER)):
            tensors[f'blk.{layer}.{name}.weight'] = blocks(kind, rows, columns)
        tensors[f'blk.{layer}.attn_norm.weight'] = tensors[f'blk.{layer}.ffn_norm.weight'] = ones
    return metadata, tensors


def check_gguf(directory):
    model, module, app = (os.path.join(directory, name) for name in ('model.gguf', 'import.mlir', 'app'))
    metadata, tensors = quantized_model()
    with open(model, 'wb') as file:
        file.write(gguf.pack(metadata, tensors))
    compile(model, app)
    run('talc', 'compile', model, '--stop-after=import', '-o', module)
    check(directory, model, module, app)
    # Stored are the file's bytes, and zeros where a panel is not full.
    stored = [content for kind, _, content in read_weights(app).values() if kind in block_formats.VALUES]
    taken = sorted(byte for shape, number, content in tensors.values() if number for byte in content)
    found = sorted(byte for content in stored for byte in content)
    zeros = len(found) - len(taken)
    if not 0 <= zeros <= 2 * 64 * max(block_formats.BYTES.values()) or sorted(taken + zeros * [0]) != found:
        sys.exit(f'{len(taken)} bytes of blocks became {len(found)}, or others')


def main():
    with tempfile.TemporaryDirectory() as directory:
        if '--file' not in PARTS:
            check_every_format(directory)
            check_values(directory)
        if '--formats' not in PARTS:
            check_gguf(directory)


if __name__ == "__main__":
    main()
