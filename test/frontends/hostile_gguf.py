# SPDX-License-Identifier: Apache-2.0
"""Damaged GGUF files, and metadata that talc must refuse: hostile_gguf.py TALC DIRECTORY."""
import math
import os
import random
import struct
import sys

import gguf_writer as gguf
import refusals
from gguf_writer import ARRAY, BOOL, F32, I32, STRING, U8, U16, U32, U64

WIDTH, VOCABULARY, POSITIONS = 4, 6, 4
METADATA = {
    'general.architecture': (STRING, 'gpt2'), 'gpt2.context_length': (U32, POSITIONS),
    'gpt2.embedding_length': (U32, WIDTH), 'gpt2.block_count': (U32, 1), 'gpt2.feed_forward_length': (U32, 16),
    'gpt2.attention.head_count': (U32, 2), 'gpt2.attention.layer_norm_epsilon': (F32, 1e-5),
}


def f32(*shape):
    count = 1
    for size in shape:
        count *= size
    return list(shape), 0, bytes(4 * count)


TENSORS = {'token_embd.weight': f32(VOCABULARY, WIDTH), 'position_embd.weight': f32(POSITIONS, WIDTH)}
for stem, *shape in (('attn_qkv', 12, 4), ('attn_output', 4, 4), ('ffn_up', 16, 4), ('ffn_down', 4, 16),
                     ('attn_norm', 4), ('ffn_norm', 4)):
    TENSORS[f'blk.0.{stem}.weight'], TENSORS[f'blk.0.{stem}.bias'] = f32(*shape), f32(shape[0])
TENSORS['output_norm.weight'] = TENSORS['output_norm.bias'] = f32(WIDTH)
GOOD = gguf.pack(METADATA, TENSORS)

TOKENS = ['<|endoftext|>', 'a', 'b', 'ab', 'c', 'd']
TOKENIZER = {'tokenizer.ggml.model': (STRING, 'gpt2'), 'tokenizer.ggml.pre': (STRING, 'gpt-2'),
             'tokenizer.ggml.tokens': (ARRAY, (STRING, TOKENS)), 'tokenizer.ggml.merges': (ARRAY, (STRING, ['a b'])),
             'tokenizer.ggml.token_type': (ARRAY, (I32, [3, 1, 1, 1, 1, 1])), 'tokenizer.ggml.eos_token_id': (U32, 0)}


def header(version=3, tensors=0, keys=0, rest=b''):
    return b'GGUF' + struct.pack('<IQQ', version, tensors, keys) + rest


def with_keys(changes, tensors=TENSORS):
    """None takes a key away."""
    keys = {**METADATA, **changes}
    return gguf.pack({key: value for key, value in keys.items() if value}, tensors)


def with_tensor(name='x', shape=(4,), kind=0, offset=0, data=16, count=1):
    """A file of one tensor that says of itself whatever it likes."""
    return gguf.pad(header(3, count, 0, gguf.info(name, shape, kind, offset)), 32) + bytes(data)


def raw_info(rank, dimensions, kind=0, offset=0):
    return gguf.text('x') + struct.pack(f'<I{len(dimensions)}QIQ', rank, *dimensions, kind, offset)


def key(kind, value, name='k'):
    """A file of one key: its type and the bytes of its value."""
    return header(3, 0, 1, gguf.text(name) + struct.pack('<I', kind) + value)


def one_list(kind, count, values=b''):
    return key(ARRAY, struct.pack('<IQ', kind, count) + values)


def two_tensors(second_offset, shape=(4,)):
    infos = gguf.info('a', shape, 0, 0) + gguf.info('b', (4,), 0, second_offset)
    return gguf.pad(header(3, 2, 0, infos), 32) + bytes(64)


# name, expected text, file
DAMAGED = [
    ('empty', "does not begin with 'GGUF'", b''),
    ('magic', "does not begin with 'GGUF'", b'GGML' + GOOD[4:]),
    ('lfs', 'is a pointer of Git LFS', b'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'),
    ('version-0', 'has version 0, expected 2 or 3', header(0)),
    ('version-1', 'has version 1, expected 2 or 3', header(1)),
    ('version-4', 'has version 4, expected 2 or 3', header(4)),
    ('big-endian', 'is big-endian', b'GGUF' + struct.pack('>IQQ', 3, 0, 0)),
    ('keys', 'keys, expected at most 65536', header(3, 0, 2**64 - 1)),
    ('tensors', 'tensors, expected at most 1000000', header(3, 2**63, 0)),
    ('missing-keys', 'it is truncated', header(3, 0, 3)),
    ('missing-tensors', 'it is truncated', header(3, 3, 0)),
    ('key-length', 'has a text of 18446744073709551615 bytes', header(3, 0, 1, struct.pack('<Q', 2**64 - 1))),
    ('key-empty', 'a key of 0 bytes', key(U8, b'\1', '')),
    ('key-long', 'a key of 65536 bytes', key(U8, b'\1', 65536 * 'k')),
    ('key-utf8', 'not UTF-8', key(U8, b'\1', b'\xff')),
    ('key-twice', "has the key 'k' twice", header(3, 0, 2, 2 * gguf.pair('k', U8, 1))),
    ('key-type', "key 'k' has the unknown type 13", key(13, bytes(8))),
    ('bool', "key 'k' is neither true nor false but 2", key(BOOL, b'\2')),
    ('value-missing', 'it is truncated', key(U64, b'\1')),
    ('text-length', 'has a text of 1099511627776 bytes', key(STRING, struct.pack('<Q', 2**40))),
    ('list-of-lists', "key 'k' is a list of lists", one_list(ARRAY, 0)),
    ('list-length', 'is a list of 1073741824 values', one_list(U8, 2**30)),
    ('list-overflow', 'is a list of 18446744073709551615 values', one_list(U64, 2**64 - 1)),
    ('list-limit', 'is a list of 16777217 values', one_list(U8, 2**24 + 1, bytes(2**24 + 1))),
    ('list-type', 'unknown type 99', one_list(99, 1, bytes(8))),
    ('alignment-type', 'is not a u32', with_keys({'general.alignment': (U64, 32)})),
    ('alignment-0', 'expected a power of two', with_keys({'general.alignment': (U32, 0)})),
    ('alignment-3', 'expected a power of two', with_keys({'general.alignment': (U32, 3)})),
    ('alignment-2-31', 'expected a power of two', with_keys({'general.alignment': (U32, 2**31)})),
    ('name-empty', 'whose name has 0 bytes', with_tensor('')),
    ('name-long', 'whose name has 64 bytes', with_tensor(64 * 'x')),
    ('name-utf8', 'not UTF-8', with_tensor(b'\xff')),
    ('name-twice', "has the tensor 'x' twice", gguf.pad(header(3, 2, 0, 2 * gguf.info('x', (4,), 0, 0)), 32) + bytes(64)),
    ('rank-5', 'has 5 dimensions', header(3, 1, 0, raw_info(5, 5 * [1])) + bytes(64)),
    ('rank-2-32', 'has 4294967295 dimensions', header(3, 1, 0, raw_info(2**32 - 1, [1])) + bytes(64)),
    ('dimension-0', 'impossible shape [0]', with_tensor(shape=(0,))),
    ('dimension-negative', 'impossible shape [-1]', with_tensor(shape=(2**64 - 1,))),
    ('product', 'impossible shape', with_tensor(shape=(2**32, 2**32))),
    ('bytes', 'whose bytes exceed 2^63', with_tensor(shape=(2**31, 2**31))),
    ('stride', 'whole blocks of 32', with_tensor(shape=(2**42 + 1,), kind=2)),
    ('type', 'has the unknown type 4', with_tensor(kind=4)),
    ('type-huge', 'has the unknown type 4294967295', with_tensor(kind=2**32 - 1)),
    ('block', 'has rows of 48 values, expected whole blocks of 32 (Q4_0)', with_tensor(shape=(2, 48), kind=2)),
    ('offset', 'begins at data byte 32, expected 0', with_tensor(offset=32, data=64)),
    ('offset-huge', 'begins at data byte 18446744073709551584', two_tensors(2**64 - 32)),
    ('overlap', 'begins at data byte 0, expected 32', two_tensors(0)),
    ('hole', 'begins at data byte 64, expected 32', two_tensors(64)),
    ('beyond', 'the file is truncated', with_tensor(data=15)),
    ('huge-tensor', 'the file is truncated', with_tensor(shape=(2**60,))),
    ('sum', 'the file is truncated', two_tensors(2**62, (2**60,))),
    ('cut', 'the file is truncated', GOOD[:-17]),
]


def scored(**changes):
    keys = {'model': (STRING, 'llama'), 'tokens': (ARRAY, (STRING, ['<unk>', 'a', 'b', 'ab', 'c', 'd'])),
            'scores': (ARRAY, (F32, 6 * [-1.0])), 'token_type': (ARRAY, (I32, [2, 1, 1, 1, 1, 1])), **changes}
    return with_keys({f'tokenizer.ggml.{name}': value for name, value in keys.items()})


def tokenizer(name, value):
    return with_keys({**TOKENIZER, f'tokenizer.ggml.{name}': value})


def rope_factors(pairs, factor, original, base=10000.0):
    """Llama 3's, as its converter stores them: by what the frequency of each pair of features is divided."""
    result = []
    for i in range(pairs):
        turns = original / (2 * math.pi * base ** (i / pairs))
        smooth = min(1.0, max(0.0, (turns - 1) / (4 - 1)))
        result.append(1 / ((1 - smooth) / factor + smooth))
    return [pairs], 0, struct.pack(f'<{pairs}f', *result)


# name, code, expected text, file
REFUSED = [
    ('no-architecture', 'T0102', "lacks the key 'general.architecture'", with_keys({'general.architecture': None})),
    ('architecture', 'T0102', 'is "mamba"; talc knows afmoe, arcee, bert', with_keys({'general.architecture': (STRING, 'mamba')})),
    ('architecture-type', 'T0102', 'is 7; talc knows', with_keys({'general.architecture': (U32, 7)})),
    ('no-layers', 'T0104', "lacks the key 'gpt2.block_count'", with_keys({'gpt2.block_count': None})),
    ('layers', 'T0104', "key 'gpt2.block_count' is 1000000000", with_keys({'gpt2.block_count': (U32, 10**9)})),
    ('layers-type', 'T0103', "key 'gpt2.block_count' is \"1\"", with_keys({'gpt2.block_count': (STRING, '1')})),
    ('heads-0', 'T0104', "key 'gpt2.attention.head_count' is 0", with_keys({'gpt2.attention.head_count': (U32, 0)})),
    ('heads-3', 'T0104', '3 heads do not divide', with_keys({'gpt2.attention.head_count': (U32, 3)})),
    ('unknown-key', 'T0105', "key 'gpt2.rope.scaling.yarn_log_multiplier' is",
     with_keys({'gpt2.rope.scaling.yarn_log_multiplier': (F32, 0.5)})),
    ('experts', 'T0105', "key 'gpt2.expert_count' is 8", with_keys({'gpt2.expert_count': (U32, 8)})),
    ('end-token', 'T0103', "key 'tokenizer.ggml.eos_token_id' is", with_keys({'tokenizer.ggml.eos_token_id': (I32, -2)})),
    ('shape', 'T0203', "tensor 'token_embd.weight' has shape [6, 5], expected [6, 4]",
     with_keys({}, {**TENSORS, 'token_embd.weight': f32(6, 5)})),
    ('shape-transposed', 'T0203', "tensor 'blk.0.attn_qkv.weight' has shape [4, 12], expected [12, 4]",
     with_keys({}, {**TENSORS, 'blk.0.attn_qkv.weight': f32(4, 12)})),
    ('missing', 'T0204', "tensor 'blk.0.ffn_up.weight' is in none",
     with_keys({}, {name: tensor for name, tensor in TENSORS.items() if name != 'blk.0.ffn_up.weight'})),
    ('factor', 'T0205', "tensor 'blk.0.ffn_up.weight' is to be multiplied by tensor 'blk.0.ffn_up.scale'",
     gguf.pack(METADATA, {**TENSORS, 'blk.0.ffn_up.scale': f32(1)})),
    ('integers', 'T0205', "tensor 'blk.0.ffn_up.bias' has type I32, expected F32, F16, BF16",
     with_keys({}, {**TENSORS, 'blk.0.ffn_up.bias': ([16], 26, bytes(64))})),
    ('rope-factors', 'T0105', "tensor 'rope_freqs.weight' does not hold the factors",
     with_keys({}, {**TENSORS, 'rope_freqs.weight': ([2], 0, struct.pack('<2f', 3, 2))})),
    ('scaled-twice', 'T0105', "tensor 'rope_freqs.weight' and key 'gpt2.rope.scaling' both",
     with_keys({'gpt2.rope.scaling.factor': (F32, 4)}, {**TENSORS, 'rope_freqs.weight': rope_factors(16, 8, 8192)})),
    ('turned-text', 'T0103', 'rope.dimension_count\' is "2"', with_keys({'gpt2.rope.dimension_count': (STRING, '2')})),
    ('value-nan', 'T0103', "value_length' is NaN", with_keys({'gpt2.attention.value_length': (F32, math.nan)})),
    ('experts-negative', 'T0103', "expert_count' is -8", with_keys({'gpt2.expert_count': (I32, -8)})),
    ('part', 'T0202', 'is part 0 of 2', with_keys({'split.no': (U16, 0), 'split.count': (U16, 2)})),
    ('tokens-type', 'T0313', 'tokenizer.ggml.tokens[0]: expected a text',
     tokenizer('tokens', (ARRAY, (I32, [1, 2, 3, 4, 5, 6])))),
    ('tokens-missing', 'T0313', 'tokenizer.ggml.tokens: expected a list of texts', tokenizer('tokens', None)),
    ('tokens-twice', 'T0315', "'a' occurs twice", tokenizer('tokens', (ARRAY, (STRING, TOKENS[:5] + ['a'])))),
    ('token-empty', 'T0313', 'expected a text that is not empty', tokenizer('tokens', (ARRAY, (STRING, TOKENS[:5] + [''])))),
    ('types-short', 'T0313', 'expected a list of 6 values', tokenizer('token_type', (ARRAY, (I32, [1])))),
    ('type', 'T0313', 'has type 9, expected 1 to 6', tokenizer('token_type', (ARRAY, (I32, [9, 1, 1, 1, 1, 1])))),
    ('end', 'T0313', 'expected the id of one of 6 tokens',
     with_keys({**TOKENIZER, 'tokenizer.ggml.eos_token_id': (U32, 99), 'tokenizer.ggml.add_eos_token': (BOOL, True)})),
    ('merge', 'T0316', "'x' is not in the vocabulary", tokenizer('merges', (ARRAY, (STRING, ['a x'])))),
    ('merges-type', 'T0313', 'expected ["a", "b"]', tokenizer('merges', (ARRAY, (I32, [1])))),
    ('merges-missing', 'T0313', 'tokenizer.ggml.merges', tokenizer('merges', None)),
    ('pre', 'T0314', "tokenizer.ggml.pre: 'mystery' is not known to talc; with --tokenizer=DIR", tokenizer('pre', (STRING, 'mystery'))),
    ('kind', 'T0314', "is 'rwkv', expected bert, gemma4, gpt2, llama, t5; with --tokenizer=DIR", tokenizer('model', (STRING, 'rwkv'))),
    ('flag', 'T0313', 'expected true or false', tokenizer('add_bos_token', (U32, 1))),
    ('json', 'T0312', 'is not JSON', with_keys({'tokenizer.huggingface.json': (STRING, '{')})),
    ('scores-missing', 'T0313', 'tokenizer.ggml.scores', scored(scores=None)),
    ('scores-type', 'T0313', 'not a finite number', scored(scores=(ARRAY, (STRING, list('abcdef'))))),
    ('scores-nan', 'T0313', 'not a finite number', scored(scores=(ARRAY, (F32, [float('nan')] + 5 * [0.0])))),
    ('scores-short', 'T0313', 'expected a list of 6 values', scored(scores=(ARRAY, (F32, [0.0])))),
    ('no-unknown', 'T0315', 'has no unknown token', scored(token_type=(ARRAY, (I32, 6 * [1])))),
    ('charsmap', 'T0319', '', scored(model=(STRING, 't5'), precompiled_charsmap=(ARRAY, (U8, [1, 2, 3])))),
]

# Unusual files that are allowed.
ALLOWED = [
    ('llama3', with_keys({}, {**TENSORS, 'rope_freqs.weight': rope_factors(16, 8, 8192)})),
    ('llama3-factor-32', with_keys({}, {**TENSORS, 'rope_freqs.weight': rope_factors(64, 32, 8192)})),
    ('llama3-none-between', with_keys({}, {**TENSORS, 'rope_freqs.weight': rope_factors(2, 8, 600)})),
    ('as-it-is', GOOD),
    ('version-2', gguf.pack(METADATA, TENSORS, version=2)),
    ('aligned', gguf.pack(METADATA, TENSORS, alignment=4096)),
    ('loose', gguf.pack(METADATA, TENSORS, alignment=1)),
    ('more-keys', with_keys({'general.tags': (ARRAY, (STRING, ['a', 'b'])), 'x': (U8, 1), 'y': (F32, float('nan'))})),
    ('neutral', with_keys({'gpt2.expert_count': (U32, 0)})),
    ('tokenizer', with_keys(TOKENIZER)),
    ('scored', scored()),
]


def writer(content):
    def write(directory):
        with open(os.path.join(directory, 'model.gguf'), 'wb') as file:
            file.write(content)
    return write


def mutated(seed):
    """The good file with some bytes of its header changed, or cut."""
    choose, content = random.Random(seed), bytearray(with_keys(TOKENIZER))
    if seed % 4 == 0:
        return bytes(content[:choose.randrange(len(content))])
    for _ in range(choose.randint(1, 4)):
        content[choose.randrange(1800)] = choose.choice([0, 1, 2, 8, 9, 0x7F, 0x80, 0xFF, choose.randrange(256)])
    return bytes(content)


def survives(talc, directory, content):
    writer(content)(directory)
    return refusals.run(talc, os.path.join(directory, 'model.gguf')).returncode in (0, 1)


def main(talc, directory):
    inside = 'model.gguf'
    failures = refusals.check(talc, directory, [(n, 'T0202', text, writer(c)) for n, text, c in DAMAGED], inside)
    failures += refusals.check(talc, directory, [(n, code, text, writer(c)) for n, code, text, c in REFUSED], inside)
    failures += refusals.check(talc, directory, [(n, None, '', writer(c)) for n, c in ALLOWED], inside)
    os.makedirs(directory + '/mutated', exist_ok=True)
    for seed in range(16):
        if not survives(talc, directory + '/mutated', mutated(seed)):
            failures += 1
            print(f'mutated file {seed}: talc did not exit properly')
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
