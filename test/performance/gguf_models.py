# SPDX-License-Identifier: Apache-2.0
"""Writes models for llama.cpp with random weights and an invented vocabulary: gguf_models.py MODEL TYPE FILE.

MODEL: gpt2, tinyllama or qwen3; TYPE: f32, f16, q8_0, q4_0, q4_k or mxfp4. The format: ggml-org/ggml, docs/gguf.md, version 3;
of the types of blocks, ggml-common.h. Values are rounded plainly: these files are for measuring speed.
"""
import struct
import sys

import numpy

ALIGNMENT = 32


def as_bytes(array):
    """By rows."""
    return numpy.ascontiguousarray(array).view(numpy.uint8).reshape(len(array), -1)


def divided(values, by):
    return numpy.divide(values, by, out=numpy.zeros_like(values), where=by != 0)


def q8_0(values):
    scale = (abs(values).max(1, keepdims=True) / 127).astype('<f2')
    levels = numpy.rint(divided(values, scale.astype(numpy.float32))).clip(-127, 127).astype(numpy.int8)
    return numpy.hstack([as_bytes(scale), as_bytes(levels)])


def q4_0(values):
    largest = numpy.take_along_axis(values, abs(values).argmax(1)[:, None], 1)
    scale = (largest / -8).astype('<f2')
    levels = numpy.rint(divided(values, scale.astype(numpy.float32)) + 8).clip(0, 15).astype(numpy.uint8)
    return numpy.hstack([as_bytes(scale), levels[:, :16] | levels[:, 16:] << 4])


def q4_k(values):
    """Eight parts of 32, each with a scale and a minimum of 6 bits."""
    parts = values.reshape(-1, 8, 32)
    least = numpy.minimum(parts.min(2), 0)
    steps = numpy.stack([(parts.max(2) - least) / 15, -least])
    unit = (steps.max(2, keepdims=True) / 63).astype('<f2')
    scales, minima = levels = numpy.rint(divided(steps, unit.astype(numpy.float32))).clip(0, 63).astype(numpy.uint8)
    step, offset = (levels * unit.astype(numpy.float32))[..., None]
    numbers = numpy.rint(divided(parts + offset, step)).clip(0, 15).astype(numpy.uint8)
    packed = numpy.hstack([scales[:, :4] | scales[:, 4:] >> 4 << 6, minima[:, :4] | minima[:, 4:] >> 4 << 6,
                           scales[:, 4:] & 15 | (minima[:, 4:] & 15) << 4])
    nibbles = numbers[:, 0::2] | numbers[:, 1::2] << 4
    return numpy.hstack([as_bytes(unit[0]), as_bytes(unit[1]), packed, nibbles.reshape(len(parts), -1)])


def mxfp4(values):
    """E2M1 times a power of two, of OCP's MX specification: floor(log2(largest)) - 2. What is above 6 times that is 6."""
    largest = abs(values).max(1, keepdims=True)
    exponent = numpy.frexp(largest)[1] - 3
    magnitudes = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], numpy.float32)
    levels = abs(numpy.ldexp(abs(values), -exponent)[..., None] - magnitudes).argmin(2).astype(numpy.uint8)
    levels |= (values < 0).astype(numpy.uint8) << 3
    return numpy.hstack([(exponent + 127).astype(numpy.uint8), levels[:, :16] | levels[:, 16:] << 4])


# The number of each type, the values of a block, and the bytes of blocks.
TYPES = {'f32': (0, 1, lambda values: as_bytes(values.astype('<f4'))),
         'f16': (1, 1, lambda values: as_bytes(values.astype('<f2'))),
         'q4_0': (2, 32, q4_0), 'q8_0': (8, 32, q8_0), 'q4_k': (12, 256, q4_k), 'mxfp4': (39, 32, mxfp4)}


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
    tokens = [letters[byte] for byte in range(256)] + ['ab'] + [f't{i}' for i in range(257, size - 1)] + ['<end>']
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


def qwen3():
    """A model of the size of Qwen3-0.6B, whose LM head is its embedding."""
    width, inner, layers, size, head = 1024, 3072, 28, 151936, 128
    entries = facts('qwen3', width, inner, layers, 16, 2048) | {
        'qwen3.attention.head_count_kv': 8, 'qwen3.attention.layer_norm_rms_epsilon': 1e-6,
        'qwen3.attention.key_length': head, 'qwen3.attention.value_length': head, 'qwen3.rope.freq_base': 1e6}
    tensors = [('token_embd.weight', (size, width))]
    for i in range(layers):
        for name, *shape in [('attn_norm', width), ('attn_q', 16 * head, width), ('attn_k', 8 * head, width),
                             ('attn_v', 8 * head, width), ('attn_q_norm', head), ('attn_k_norm', head),
                             ('attn_output', width, 16 * head), ('ffn_norm', width), ('ffn_gate', inner, width),
                             ('ffn_up', inner, width), ('ffn_down', width, inner)]:
            tensors.append((f'blk.{i}.{name}.weight', shape))
    return entries | vocabulary(size), tensors + [('output_norm.weight', (width,))]


MODELS = {'gpt2': gpt2, 'tinyllama': tinyllama, 'qwen3': qwen3}


def padding(size):
    return b'\0' * (-size % ALIGNMENT)


def write(path, keys, tensors, element):
    """All tensors have the same million numbers, over and over."""
    numbers = (numpy.random.default_rng(1).standard_normal(1 << 20) * 0.02).astype(numpy.float32)
    blocks = {name: make(numbers.reshape(-1, values)).ravel() for name, (_, values, make) in TYPES.items()}
    types = [element if len(shape) > 1 and 'position' not in name else 'f32' for name, shape in tensors]
    sizes = [int(numpy.prod(shape)) * len(blocks[name]) // len(numbers) for name, (_, shape) in zip(types, tensors)]
    head = b'GGUF' + struct.pack('<IQQ', 3, len(tensors), len(keys))
    head += b''.join(text(key) + value(item) for key, item in keys.items())
    offset = 0
    for (name, shape), kind, size in zip(tensors, types, sizes):
        head += text(name) + struct.pack(f'<I{len(shape)}QIQ', len(shape), *reversed(shape), TYPES[kind][0], offset)
        offset += size + len(padding(size))
    with open(path, 'wb') as file:
        file.write(head + padding(len(head)))
        for kind, size in zip(types, sizes):
            file.write(numpy.resize(blocks[kind], size).tobytes() + padding(size))


if __name__ == '__main__':
    model, element, output = sys.argv[1:]
    write(output, *MODELS[model](), element)
