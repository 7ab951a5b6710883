# SPDX-License-Identifier: Apache-2.0
"""Finds weights wherever they lie: tied tables, shards, element types. checkpoint_layouts.py TALC DIRECTORY."""
import os
import sys

import refusals
from make_safetensors import CONFIG, header, pack, shapes, write_model

SHAPES = shapes()
HEAD = {**SHAPES, 'lm_head.weight': (6, 4)}
ONLY_HEAD = {name: shape for name, shape in HEAD.items() if name != 'wte.weight'}


def single(tensors, config=CONFIG, change=lambda entries, data: None):
    entries, size = header(tensors)
    data = bytearray(size)
    change(entries, data)
    return config, {'model.safetensors': pack(entries, bytes(data))}


def other_head(entries, data):
    data[entries['lm_head.weight']['data_offsets'][0]] = 1


def halves(entries, data):
    """The last tensor as bf16, which halves its bytes."""
    name = list(entries)[-1]
    begin, end = entries[name]['data_offsets']
    entries[name].update(dtype='BF16', data_offsets=[begin, (begin + end) // 2])
    del data[(begin + end) // 2:]


def shards():
    rest = {name: shape for name, shape in SHAPES.items() if name != 'wte.weight'}
    places = {**dict.fromkeys(rest, 'a.safetensors'), 'wte.weight': 'b.safetensors'}
    return CONFIG, {'model.safetensors.index.json': {'weight_map': places}, 'a.safetensors': pack(*header(rest)),
                    'b.safetensors': pack(*header({'wte.weight': (6, 4)}))}


UNTIED = {**CONFIG, 'tie_word_embeddings': False}
TABLE, LOGITS = '@transformer.wte.weight', '@lm_head.weight'
# name, model, what the program must name, what it must not
CASES = [
    ('tied', single(SHAPES), [TABLE], [LOGITS]),
    ('only-the-head', single(ONLY_HEAD), [LOGITS], [TABLE]),
    ('equal', single(HEAD), [TABLE], [LOGITS]),
    ('equal-though-untied', single(HEAD, UNTIED), [TABLE], [LOGITS]),
    ('different-though-tied', single(HEAD, CONFIG, other_head), [TABLE, LOGITS], []),
    ('different', single(HEAD, UNTIED, other_head), [TABLE, LOGITS], []),
    ('bf16', single(SHAPES, change=halves), [', bf16>'], [', f16>']),
    ('shards', shards(), ['#talc.file<"a.safetensors", ', '#talc.file<"b.safetensors", '], ['model.safetensors']),
]


def main(talc, root):
    failures = 0
    for name, (config, files), wanted, unwanted in CASES:
        directory = os.path.join(root, name)
        write_model(directory, config, files)
        result = refusals.run(talc, directory)
        text = result.stdout.decode()
        warns = b'which the configuration ties to it' in result.stderr
        if result.returncode or warns != (name == 'different-though-tied') or any(w not in text for w in wanted) or any(u in text for u in unwanted):
            failures += 1
            print(f'{name}: expected {wanted} without {unwanted}; found:\n{text}{result.stderr.decode()}')
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
