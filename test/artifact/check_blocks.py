# SPDX-License-Identifier: Apache-2.0
"""check_blocks.py TALC DIRECTORY: weights in formats of blocks, in rows and in panels, byte for byte as block_formats.py
has them: encoded from numbers, taken from files as they are, and decoded. What a format cannot hold is refused.
"""
import math
import os
import random
import struct
import subprocess
import sys
import zlib

import block_formats
from artifact import read_weights

ROWS, COLUMNS, LANES = 5, 512, 3
# CRC-32 of the blocks of V32, V64 or V256 and of their values, as llama.cpp makes them.
GOLDEN = {'q8_0': (0x4DB69886, 0x0AE18149), 'q4_0': (0x39E99CBB, 0x98868F88), 'q4_1': (0x3645A049, 0x4413CA45),
          'q5_0': (0xAD5E0D29, 0x7AED75E7), 'q5_1': (0x85FBDBE1, 0x6FF969D6), 'q4_k': (0xD825CB72, 0x4FCDFFCD),
          'q5_k': (0xF964D27D, 0x0B3E95CE), 'q6_k': (0xD45A489B, 0xEF0B93E4), 'mxfp4': (0xC2F50423, 0x2088169D),
          'nvfp4': (0x99A03C76, 0xE154E472), 'q2_k': (0xCE785CAE, 0xA3FBC0B3), 'q3_k': (0xDBA82216, 0xCB2BD0DC),
          'iq4_nl': (0x3B82709C, 0xFE5068C0), 'iq4_xs': (0x6BE2FDA6, 0x2FA0FC53)}
# The same of the blocks of numbers so small that most scales have no inverse; their values are zero.
TINY = {'q8_0': 0x41716C2A, 'q4_0': 0xDD9704A5, 'q4_1': 0xB5595065, 'q5_0': 0x9A9A2C43, 'q5_1': 0x91725783, 'q4_k': 0xF4C59A74,
        'q5_k': 0xFD8E967F, 'q6_k': 0x7EDEF60B, 'nvfp4': 0x6AB6B2D5,
        'q2_k': 0x9F501B23, 'q3_k': 0xBD44215C, 'iq4_nl': 0x9FAE3AA3, 'iq4_xs': 0x58047650}
# The same of blocks that were rounded by the importance W of columns.
WEIGHED = {'q4_0': 0x85E43993, 'q4_1': 0x5DC5BA61, 'q5_0': 0xAD5E0D29, 'q5_1': 0x85FBDBE1, 'q4_k': 0xB29CF94B,
           'q5_k': 0x7FA1CA5F, 'q6_k': 0x2C142B91, 'q2_k': 0xA7D20EB4, 'q3_k': 0x74B3B427,
           'iq4_nl': 0x1CCBEC06, 'iq4_xs': 0xF7020FE4}
W = [1 + 11 * i % 7 for i in range(256)]
V32 = [((7 * i + 3) % 32 - 15) / 8 for i in range(32)]
V64 = [((7 * i + 3) % 32 - 15) / 8 * (1 + i // 16) for i in range(64)]
V256 = [((53 * i) % 101 - 45) * (1 + i // 32) / 64 for i in range(256)]
T256 = [block_formats.f(((53 * i) % 101 - 45) * math.ldexp(1, -128 - i // 16)) for i in range(256)]

HEAD = '''module attributes {talc.name = "blocks", talc.max_sequence = 64 : i64,
                   talc.interface = {kind = "decoder", outputs = [{kind = "logits", width = 10 : i64}],
                                     vocabulary = 10 : i64, source_vocabulary = 0 : i64, token_types = 0 : i64,
                                     uses_prefix = false},
                   talc.plan = {weight_bytes = %d : i64, state_bytes_per_slot = 0 : i64,
                                state_bytes_per_token = 0 : i64, source_bytes_per_token = 0 : i64,
                                state_token_group = 1 : i64, arena_bytes_per_token = 64 : i64,
                                arena_bytes_fixed = 0 : i64, arena_bytes_per_thread = 0 : i64}} {
%s
  llvm.func @talc_prefill(%%context: !llvm.ptr) { llvm.return }
  llvm.func @talc_decode(%%context: !llvm.ptr) { llvm.return }
}
'''


class Program:
    """Weights one after the other; those with a size are stored."""

    def __init__(self, directory):
        self.directory, self.lines, self.end = directory, [], 0
        os.makedirs(directory, exist_ok=True)

    def add(self, name, shape, element, source, size=0):
        offset = f' {{offset = {self.end} : i64}}' if size else ''
        self.lines.append(f'  talc.weight @{name} : tensor<{"x".join(map(str, shape))}x{element}> = {source}{offset}')
        self.end += -(-size // 64) * 64

    def file(self, name, content):
        with open(os.path.join(self.directory, name), 'wb') as file:
            file.write(content)

    def compile(self, talc):
        path = os.path.join(self.directory, 'model.mlir')
        with open(path, 'w') as file:
            file.write(HEAD % (self.end, '\n'.join(self.lines)))
        app = os.path.join(self.directory, 'app')
        result = subprocess.run([talc, 'compile', path, '--start-from=package', '-o', app], capture_output=True, text=True)
        return app, result


def edges():
    """Rows of patterns, of zeros beside others, of tiny and large numbers, of random ones, and of none but tiny ones."""
    choose = random.Random(5)
    tiny = [math.ldexp(choose.uniform(-1, 1), -choose.randrange(10, 150)) for _ in range(COLUMNS // 2)]
    large = [choose.uniform(-6e4, 6e4) * choose.choice([1, 1e-3, 1e-6]) for _ in range(COLUMNS // 2)]
    zeros = [0.0] * (COLUMNS // 2) + [-0.0, 1.0, 1.0] + [1.0] * (COLUMNS // 2 - 3)
    rows = [V256 + 8 * V32, zeros, tiny + large, [choose.gauss(0, 0.02) for _ in range(COLUMNS)], T256 + 256 * [1e-38]]
    return [[block_formats.f(x) for x in row] for row in rows]


def foreign_of_checkpoint(name, block, choose):
    """Puts a scale into random bytes, and numbers for codes that stand for none."""
    kind, at = name.split('_')[0], 0
    if kind == 'mxfp4':
        block[0] = choose.randrange(90, 150)
    elif kind.startswith('int'):
        block[0:2] = block_formats.scale_word(name, choose.uniform(1e-4, 1))
    elif kind == 'fp8' or name != 'nvfp4':
        block[0:4], at = struct.pack('<f', choose.uniform(1e-5, 0.1)), 4
    small = range(at, len(block)) if kind == 'fp8' else range(at, at + len(block) // 9) if kind == 'nvfp4' else ()
    for i in small:
        if kind == 'nvfp4' or block[i] & 127 == 127:
            block[i] &= 126


def foreign(name):
    """Blocks that no quantizer makes: all levels and scales, and any finite halves."""
    choose = random.Random(name)
    count = ROWS * COLUMNS // block_formats.VALUES[name]
    blocks = [bytearray(choose.randbytes(block_formats.BYTES[name])) for _ in range(count)]
    halves = block_formats.HALVES.get(name, [0, 2])
    for block in blocks:
        if block_formats.is_of_checkpoints(name):
            foreign_of_checkpoint(name, block, choose)
            continue
        for at in halves:
            block[at:at + 2] = struct.pack('<e', choose.choice([1e-7, 0.01, 1, 300]) * choose.uniform(-1, 1))
    return b''.join(blocks)


def rows_of(name, data):
    size = len(data) // ROWS
    return [data[i:i + size] for i in range(0, len(data), size)]


def panels(name, rows):
    """Rows that are missing in the last panel are those of zeros: encoded, or zero bytes."""
    return b''.join(block_formats.in_lanes(name, rows[i:i + LANES]) for i in range(0, len(rows), LANES))


def floats(values):
    return struct.pack(f'<{len(values)}f', *values)


def check_golden():
    for name, sums in GOLDEN.items():
        blocks = block_formats.encode(name, {32: V32, 64: V64, 256: V256}[block_formats.VALUES[name]])
        assert (zlib.crc32(blocks), zlib.crc32(floats(block_formats.decode(name, blocks)))) == sums, name
    for name, crc in TINY.items():
        count = block_formats.VALUES[name]
        assert zlib.crc32(block_formats.encode(name, T256 if count == 256 else T256[64:64 + count])) == crc, f'{name}, tiny'


def check_values(talc, directory):
    program, all_rows, expected = Program(directory), edges(), {}
    small_rows = [[x / 32 for x in row] for row in all_rows]  # those of nvfp4 have no large scales
    for kind, rows in ('values', all_rows), ('small', small_rows):
        program.file(f'{kind}.bin', floats([x for row in rows for x in row]))
        program.add(kind, [ROWS, COLUMNS], 'f32', f'#talc.file<"{kind}.bin", 0, f32>')
    panel_shape, missing = [-(-ROWS // LANES), COLUMNS, LANES], -ROWS % LANES
    for name in block_formats.VALUES:
        source, rows = ('small', small_rows) if name.startswith('nvfp4') else ('values', all_rows)
        rows = [[block_formats.f(x) for x in row] for row in rows]
        element, taken = f'!talc.stored<{name}>', foreign(name)
        size = COLUMNS // block_formats.VALUES[name] * block_formats.BYTES[name]
        encoded = [block_formats.encode(name, row) for row in rows]
        program.file(f'{name}.bin', taken)
        program.add(f'{name}.file', [ROWS, COLUMNS], 'f32', f'#talc.file<"{name}.bin", 0, {element}>')
        zeros = [block_formats.encode(name, COLUMNS * [0.0])] * missing
        cases = {
            'rows': ([ROWS, COLUMNS], element, f'#talc.convert of [@{source}]', b''.join(encoded)),
            'panels': (panel_shape, element, f'#talc.pack of [@{source}]', panels(name, encoded + zeros)),
            'taken': ([ROWS, COLUMNS], element, f'#talc.convert of [@{name}.file]', taken),
            'packed': (panel_shape, element, f'#talc.pack of [@{name}.file]',
                       panels(name, rows_of(name, taken) + [bytes(size)] * missing)),
            'decoded': ([ROWS, COLUMNS], 'f32', f'#talc.convert of [@{name}.file]',
                        floats(block_formats.decode(name, taken))),
        }
        for case, (shape, kind, recipe, content) in cases.items():
            program.add(f'{name}.{case}', shape, kind, recipe, len(content))
            expected[f'{name}.{case}'] = content
    app, result = program.compile(talc)
    assert result.returncode == 0, result.stderr
    found = read_weights(app)
    assert found.keys() == expected.keys()
    for name, content in expected.items():
        assert found[name][2] == content, f'{name} differs'


def weighed(program, name, importance, columns):
    """A matrix of two rows, rounded so, in rows and in panels."""
    element, shape = f'!talc.stored<{name}>', [2, columns]
    row = V256 if columns == 256 else V32
    program.file(f'{columns}.bin', floats(2 * row))
    program.add(name, shape, 'f32', f'#talc.file<"{columns}.bin", 0, f32>')
    numbers = ', '.join(map(repr, map(float, importance)))
    program.lines[-1] += f' {{quantize_to = {element}, importance = array<f32: {numbers}>}}'
    size = 2 * block_formats.BYTES[name]
    program.add(f'{name}.rows', shape, element, f'#talc.convert of [@{name}]', size)
    program.add(f'{name}.panels', [1, columns, 2], element, f'#talc.pack of [@{name}]', size)


def check_importance(talc, directory):
    """Rows of two experts, whose columns count in one proportion."""
    program = Program(directory)
    for name in WEIGHED:
        columns = block_formats.VALUES[name]
        weighed(program, name, W[:columns] + [2 * w for w in W[:columns]], columns)
    app, result = program.compile(talc)
    assert result.returncode == 0, result.stderr
    found = read_weights(app)
    for name, crc in WEIGHED.items():
        rows = found[f'{name}.rows'][2]
        first, second = rows[:len(rows) // 2], rows[len(rows) // 2:]
        assert first == second and zlib.crc32(first) == crc, f'{name}: {zlib.crc32(first):08x}, expected {crc:08x}'
        assert found[f'{name}.panels'][2] == block_formats.in_lanes(name, [first, second]), f'{name}: panels'


def check_refused_importance(talc, directory):
    for case, name, importance, text in (
            ('short', 'q4_0', W[:31], 'importance of 31 features, expected 32'),
            ('parts', 'q4_0', W[:96], 'importance of 96 features, expected 32'),
            ('below', 'q4_0', [-1.0] + W[:31], 'importance -1, expected a number >= 0')):
        program = Program(os.path.join(directory, case))
        weighed(program, name, importance, 32)
        _, result = program.compile(talc)
        assert result.returncode == 1 and 'error[T0503]' in result.stderr and text in result.stderr, result.stderr
    program = Program(os.path.join(directory, 'block'))
    program.file('values.bin', floats(V32))
    program.add('w', [1, 32], 'f32', '#talc.file<"values.bin", 0, f32>')
    program.lines[-1] += ' {quantize_to = !talc.stored<q4_k>}'
    program.add('stored', [1, 32], 'f32', '#talc.convert of [@w]', 128)
    _, result = program.compile(talc)
    assert 'error[T0503]' in result.stderr and 'cannot be rounded to !talc.stored<q4_k>' in result.stderr, result.stderr


def check_refusals(talc, directory):
    def refused(case, element, content, stored='f32'):
        program = Program(os.path.join(directory, case))
        program.file('values.bin', content)
        program.add('file', [1, 256], 'f32', f'#talc.file<"values.bin", 0, {stored}>')
        program.add('w', [1, 256], f'!talc.stored<{element}>', '#talc.convert of [@file]', 1024)
        app, result = program.compile(talc)
        assert result.returncode == 1 and result.stderr.startswith("error[T0504]"), f'{case}: {result.stderr}'
        assert not os.path.exists(app), case

    for name in GOLDEN:
        for case, value in ('nan', math.nan), ('infinite', math.inf), ('huge', 1e38):
            if (name, case) == ('mxfp4', 'huge'):
                continue  # whose scales go as far
            refused(f'{name}-{case}', name, floats(255 * [1.0] + [value]))
    refused('block', 'q4_0', struct.pack('<H', 0x7C00) + bytes(8 * 18 - 2), '!talc.stored<q4_0>')


def main(talc, directory):
    check_golden()
    check_values(talc, directory)
    check_importance(talc, os.path.join(directory, 'importance'))
    check_refused_importance(talc, directory)
    check_refusals(talc, directory)


if __name__ == "__main__":
    main(*sys.argv[1:])
