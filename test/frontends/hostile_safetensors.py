# SPDX-License-Identifier: Apache-2.0
"""Damaged safetensors files: hostile_safetensors.py TALC DIRECTORY."""
import json
import random
import struct
import sys

import refusals
from make_safetensors import header, pack, shapes, write_model

ENTRIES, BYTES = header(shapes())
GOOD = pack(ENTRIES, BYTES)
TEXT = json.dumps(ENTRIES)
LAST = json.dumps(ENTRIES['ln_f.bias'])


def changed(name='wte.weight', **fields):
    return {**ENTRIES, name: {**ENTRIES[name], **fields}}


def plus(name, entry):
    return {**ENTRIES, name: entry}


def empty(dtype, shape, size=0):
    return {'dtype': dtype, 'shape': shape, 'data_offsets': [BYTES, BYTES + size]}


# name, expected text, file
DAMAGED = [
    ('empty', 'fewer than 8 bytes', b''),
    ('seven-bytes', 'fewer than 8 bytes', GOOD[:7]),
    ('lfs-pointer', 'is a pointer of Git LFS, not the file itself; fetch it with `git lfs pull`',
     b'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'),
    ('header-length-0', "does not begin with '{'", struct.pack('<Q', 0) + GOOD[8:]),
    ('header-length-1', 'not valid JSON', struct.pack('<Q', 1) + GOOD[8:]),
    ('header-length-2-63', 'expected at most 100000000', struct.pack('<Q', 1 << 63) + GOOD[8:]),
    ('header-length-2-64-1', 'expected at most 100000000', b'\xff' * 8 + GOOD[8:]),
    ('header-length-limit', 'expected at most 100000000', struct.pack('<Q', 100000001) + GOOD[8:]),
    ('header-behind-file', 'truncated', struct.pack('<Q', len(GOOD) - 7) + GOOD[8:]),
    ('no-json', 'not valid JSON', pack('{' + 'x' * 20, 0)),
    ('byte-order-mark', "does not begin with '{'", pack(b'\xef\xbb\xbf' + TEXT.encode(), BYTES)),
    ('leading-space', "does not begin with '{'", pack(' ' + TEXT, BYTES)),
    ('text-behind-header', 'not valid JSON', pack(TEXT + ' x', BYTES)),
    ('list', "does not begin with '{'", pack('[]', 0)),
    ('invalid-utf-8', 'not valid JSON', pack(TEXT.encode().replace(b'wte', b'w\xff'), BYTES)),
    ('lone-surrogate', 'not valid JSON', pack(TEXT.replace('wte', r'\ud800'), BYTES)),
    ('deep', 'a list where the format has none', pack('{"a":' + '[' * 10000 + ']' * 10000 + '}', 0)),
    ('deep-objects', "unknown key 'a'", pack('{"a":' * 10000 + '1' + '}' * 10000, 0)),
    ('duplicate-name', "the key 'ln_f.bias' twice", pack('{"ln_f.bias":' + LAST + ',' + TEXT[1:], BYTES)),
    ('duplicate-metadata', "the key '__metadata__' twice",
     pack('{"__metadata__":{},"__metadata__":{},' + TEXT[1:], BYTES)),
    ('duplicate-field', "the key 'dtype' twice", pack(TEXT.replace('{"dtype"', '{"dtype": "F32", "dtype"', 1), BYTES)),
    ('unknown-field', "unknown key 'strides'", pack(changed(strides=[1]), BYTES)),
    ('metadata-number', 'a number where', pack(plus('__metadata__', {'a': 1}), BYTES)),
    ('metadata-duplicate', "the key 'a' twice", pack('{"__metadata__":{"a":"1","a":"2"},' + TEXT[1:], BYTES)),
    ('missing-field', 'lacks dtype, shape or data_offsets', pack(plus('x', {'dtype': 'F32', 'shape': []}), BYTES)),
    ('tensor-is-null', 'null where', pack(plus('x', None), BYTES)),
    ('end-before-begin', 'whose end lies before the begin', pack(changed(data_offsets=[96, 0]), BYTES)),
    ('overlap', 'no holes and no overlap', pack(changed('wpe.weight', data_offsets=[92, 156]), BYTES)),
    ('hole', 'no holes and no overlap', pack(changed('wpe.weight', data_offsets=[100, 164]), BYTES)),
    ('first-begin', 'no holes and no overlap', pack({'a': {'dtype': 'F32', 'shape': [1], 'data_offsets': [4, 8]}}, 8)),
    ('one-offset', 'lacks dtype, shape or data_offsets', pack(changed(data_offsets=[0]), BYTES)),
    ('three-offsets', 'more than two data_offsets', pack(changed(data_offsets=[0, 96, 96]), BYTES)),
    ('truncated', 'the file is truncated', GOOD[:-1]),
    ('trailing', 'has 1 bytes after the last tensor', GOOD + b'\0'),
    ('huge-offsets', 'has 18446744073709551615 bytes of data', pack(changed(data_offsets=[0, 2**64 - 1]), BYTES)),
    ('overflow-to-zero', 'exceeds 2^64', pack(plus('x', empty('F32', [2**32, 2**32])), BYTES)),
    ('overflow', 'exceeds 2^64', pack(plus('x', empty('F32', [2**62, 2**62, 2**62])), BYTES)),
    ('dimension-2-63', 'beyond 2^63', pack(plus('x', empty('F32', [2**63])), BYTES)),
    ('dimension-2-64', 'a fraction or too large', pack(plus('x', empty('F32', [2**64])), BYTES)),
    ('dimension-negative', 'a negative number', pack(plus('x', empty('F32', [-1])), BYTES)),
    ('dimension-fraction', 'a fraction', pack(plus('x', empty('F32', [1.5])), BYTES)),
    ('dimension-1e3', 'a fraction', pack(TEXT.replace('[6, 4]', '[6e0, 4]'), BYTES)),
    ('dimension-text', 'a string where', pack(plus('x', empty('F32', ['1'])), BYTES)),
    ('rank-17', 'more than 16 dimensions', pack(plus('x', empty('F32', [0] * 17)), BYTES)),
    ('zero-with-bytes', 'has 96 bytes of data, expected 0', pack(changed(shape=[0, 4]), BYTES)),
    ('unknown-dtype', "unknown dtype 'F23'", pack(changed(dtype='F23'), BYTES)),
    ('lowercase-dtype', "unknown dtype 'f32'", pack(changed(dtype='f32'), BYTES)),
    ('odd-bits', 'expected whole bytes', pack(plus('x', empty('F4', [3], 1)), BYTES + 1)),
    ('long-name', 'has a name of 65537 bytes', pack(plus('x' * 65537, empty('F32', [0])), BYTES)),
]

# Unusual files that are allowed.
ALLOWED = [
    ('as-it-is', GOOD),
    ('padded', pack(TEXT + ' ' * 7, BYTES)),
    ('metadata', pack(plus('__metadata__', {'format': 'pt'}), BYTES)),
    ('scalar', pack(plus('x.num_batches_tracked', empty('U8', [], 1)), BYTES + 1)),
    ('no-values', pack(plus('x.position_ids', empty('F64', [3, 0])), BYTES)),
    ('other-order', pack(dict(sorted(ENTRIES.items())), BYTES)),
    ('odd-names', pack(plus('../\0\n".position_ids', empty('F32', [0])), BYTES)),
]


def writer(content):
    return lambda directory: write_model(directory, files={'model.safetensors': content})


def mutated(seed):
    """The good file with some bytes of its header changed."""
    choose = random.Random(seed)
    content = bytearray(GOOD)
    for _ in range(choose.randint(1, 4)):
        content[choose.randrange(8 + len(TEXT))] = choose.choice(b'0123456789[]{},:"-e.\\ \0\xff' + TEXT[:40].encode())
    return bytes(content)


def survives(talc, directory, content):
    writer(content)(directory)
    return refusals.run(talc, directory).returncode in (0, 1)


def main(talc, directory):
    failures = refusals.check(talc, directory, [(n, 'T0202', text, writer(c)) for n, text, c in DAMAGED])
    failures += refusals.check(talc, directory, [(n, None, '', writer(c)) for n, c in ALLOWED])
    for seed in range(20):
        if not survives(talc, directory + '/mutated', mutated(seed)):
            failures += 1
            print(f'mutated file {seed}: talc did not exit properly')
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
