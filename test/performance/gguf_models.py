# SPDX-License-Identifier: Apache-2.0
"""Writes models for llama.cpp with random weights and an invented vocabulary: gguf_models.py gpt2|tinyllama f32|f16 FILE.

The format: ggml-org/ggml, docs/gguf.md, version 3.
"""
import struct
import sys

import numpy

ALIGNMENT = 32
TYPES = {'f32': (0, numpy.float32), 'f16': (1, numpy.float16)}


def text(value):
    data = value.encode()
    return struct.pack('<Q', len(data)) + data


def value(item):
    """A value with its type in front."""
    if isinstance(item, str):
        return struct.pack('<I', 8) + text(item)
    if isinstance(item, float):
        return struct.pack('<If', 6, item)
    if isinstance(item, int):
        return struct.pack('<II', 4, item)
    kind = 8 if isinstance(item[0], str) else 5
    body = b''.join(text(one) if kind == 8 else struct.pack('<i', one) for one in item)
    return struct.pack('<IIQ', 9, kind, len(item)) + body


def vocabulary(size):
    """A byte-level vocabulary as GPT-2's, filled up with names that never occur."""
    visible = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    letters = {byte: chr(byte) for byte in visible} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
    tokens = [letters[byte] for byte in range(256)] + [f't{i}' for i in range(256, size - 1)] + ['<end>']
    return {'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'gpt-2', 'tokenizer.ggml.tokens': tokens,
            'tokenizer.ggml.token_type': [1] * (size - 1) + [3], 'tokenizer.ggml.merges': ['a b'],
            'tokenizer.ggml.bos_token_id': size - 1, 'tokenizer.ggml.eos_token_id': size - 1}


def facts(family, width, inner, layers, heads, context):
    return {'general.architecture': family, f'{family}.context_length': context, f'{family}.embedding_length': width,
            f'{family}.feed_forward_length': inner, f'{family}.block_count': layers,
            f'{family}.attention.head_count': heads}


def gpt2():
    width, inner, layers, size, context = 768, 3072, 12, 50257, 1024
    keys = facts('gpt2', width, inner, layers, 12, context) | {'gpt2.attention.layer_norm_epsilon': 1e-5}
    tensors = [('token_embd.weight', (size, width)), ('position_embd.weight', (context, width))]
    for i in range(layers):
        for name, *shape in [('attn_norm', width), ('attn_qkv', 3 * width, width), ('attn_output', width, width),
                             ('ffn_norm', width), ('ffn_up', inner, width), ('ffn_down', width, inner)]:
            tensors += [(f'blk.{i}.{name}.weight', shape), (f'blk.{i}.{name}.bias', shape[:1])]
    tensors += [('output_norm.weight', (width,)), ('output_norm.bias', (width,)), ('output.weight', (size, width))]
    return keys | vocabulary(size), tensors


def tinyllama():
    width, inner, layers, size, keys = 2048, 5632, 22, 32000, 4 * 64
    entries = facts('llama', width, inner, layers, 32, 2048) | {
        'llama.attention.head_count_kv': 4, 'llama.attention.layer_norm_rms_epsilon': 1e-5,
        'llama.rope.dimension_count': 64, 'llama.rope.freq_base': 10000.0}
    tensors = [('token_embd.weight', (size, width))]
    for i in range(layers):
        for name, *shape in [('attn_norm', width), ('attn_q', width, width), ('attn_k', keys, width),
                             ('attn_v', keys, width), ('attn_output', width, width), ('ffn_norm', width),
                             ('ffn_gate', inner, width), ('ffn_up', inner, width), ('ffn_down', width, inner)]:
            tensors.append((f'blk.{i}.{name}.weight', shape))
    tensors += [('output_norm.weight', (width,)), ('output.weight', (size, width))]
    return entries | vocabulary(size), tensors


def padding(size):
    return b'\0' * (-size % ALIGNMENT)


def write(path, keys, tensors, element):
    block = (numpy.random.default_rng(1).standard_normal(1 << 20) * 0.02).astype(numpy.float32)
    kinds = [TYPES[element if len(shape) > 1 and 'position' not in name else 'f32'] for name, shape in tensors]
    head = b'GGUF' + struct.pack('<IQQ', 3, len(tensors), len(keys))
    head += b''.join(text(key) + value(item) for key, item in keys.items())
    offset = 0
    for (name, shape), (kind, numbers) in zip(tensors, kinds):
        head += text(name) + struct.pack(f'<I{len(shape)}QIQ', len(shape), *reversed(shape), kind, offset)
        size = int(numpy.prod(shape)) * numpy.dtype(numbers).itemsize
        offset += size + len(padding(size))
    with open(path, 'wb') as file:
        file.write(head + padding(len(head)))
        for (_, shape), (_, numbers) in zip(tensors, kinds):
            data = numpy.resize(block, shape).astype(numbers).tobytes()
            file.write(data + padding(len(data)))


if __name__ == '__main__':
    model, element, output = sys.argv[1:]
    write(output, *{'gpt2': gpt2, 'tinyllama': tinyllama}[model](), element)
