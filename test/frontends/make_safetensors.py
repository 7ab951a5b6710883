# SPDX-License-Identifier: Apache-2.0
"""Writes small models for tests: a tiny GPT-2 whose files can be damaged in every way."""
import json
import os
import struct

CONFIG = {'model_type': 'gpt2', 'vocab_size': 6, 'n_positions': 4, 'n_embd': 4, 'n_layer': 1, 'n_head': 2}


def shapes(width=4, vocabulary=6, positions=4):
    inner = 4 * width
    matrices = {'attn.c_attn': (width, 3 * width), 'attn.c_proj': (width, width), 'mlp.c_fc': (width, inner),
                'mlp.c_proj': (inner, width)}
    result = {'wte.weight': (vocabulary, width), 'wpe.weight': (positions, width)}
    for name, (inputs, outputs) in matrices.items():
        result[f'h.0.{name}.weight'] = (inputs, outputs)
        result[f'h.0.{name}.bias'] = (outputs,)
    for name in 'h.0.ln_1', 'h.0.ln_2', 'ln_f':
        result[f'{name}.weight'] = result[f'{name}.bias'] = (width,)
    return result


def size(shape):
    result = 1
    for dimension in shape:
        result *= dimension
    return result


def header(tensors):
    """The header of f32 tensors {name: shape}, as a dictionary, and the number of bytes of their data."""
    entries, end = {}, 0
    for name, shape in tensors.items():
        begin, end = end, end + 4 * size(shape)
        entries[name] = {'dtype': 'F32', 'shape': list(shape), 'data_offsets': [begin, end]}
    return entries, end


def pack(entries, data):
    """A file: `entries` is a dictionary, text or bytes; `data` is bytes or a number of zero bytes."""
    text = json.dumps(entries) if isinstance(entries, dict) else entries
    text = text.encode() if isinstance(text, str) else text
    return struct.pack('<Q', len(text)) + text + (data if isinstance(data, bytes) else bytes(data))


def write_model(directory, config=CONFIG, files=None):
    """Writes config.json (`config` is a dictionary or text), and `files`: {name: bytes, text or dictionary}."""
    os.makedirs(directory, exist_ok=True)
    if files is None:
        files = {'model.safetensors': pack(*header(shapes()))}
    for name, content in {'config.json': config, **files}.items():
        content = json.dumps(content) if isinstance(content, dict) else content
        with open(os.path.join(directory, name), 'wb') as file:
            file.write(content.encode() if isinstance(content, str) else content)
