# SPDX-License-Identifier: Apache-2.0
"""Wrong model directories: missing, misshaped and misplaced tensors. hostile_directories.py TALC DIRECTORY."""
import os
import sys

import refusals
from make_safetensors import CONFIG, header, pack, shapes, write_model

SHAPES = shapes()


def model(tensors, config=CONFIG):
    return lambda directory: write_model(directory, config, {'model.safetensors': pack(*header(tensors))})


def retyped(name, dtype):
    def write(directory):
        entries, size = header(SHAPES)
        entries[name]['dtype'] = dtype
        write_model(directory, files={'model.safetensors': pack(entries, size)})
    return write


def without(name):
    return {other: shape for other, shape in SHAPES.items() if other != name}


def prefixed(prefix, tensors=SHAPES):
    return {prefix + name: shape for name, shape in tensors.items()}


def sharded(shard='b.safetensors', index=None, move=None):
    """The table in one file, the rest in another; the index says that the table lies in `shard`."""
    def write(directory):
        rest = without('wte.weight')
        places = {**dict.fromkeys(rest, 'a.safetensors'), 'wte.weight': shard}
        write_model(directory, files={
            'model.safetensors.index.json': index or {'metadata': {'total_size': 1}, 'weight_map': places},
            'a.safetensors': pack(*header(rest)),
            'b.safetensors': pack(*header({'wte.weight': (6, 4), 'unused': (1,)})),
        })
        if move:
            move(directory)
    return write


def replaced(make):
    """Something else in the place of b.safetensors."""
    def move(directory):
        path = os.path.join(directory, 'b.safetensors')
        os.rename(path, directory + '.moved')
        make(directory + '.moved', path)
    return sharded(move=move)


def cache(target):
    """The layout of the Hugging Face cache: snapshots/<commit>/<file> is a link to ../../blobs/<hash>."""
    def write(directory):
        os.makedirs(os.path.join(directory, 'blobs'))
        snapshot = os.path.join(directory, 'snapshots', '0')
        write_model(snapshot)
        for name in 'config.json', 'model.safetensors':
            path = os.path.join(snapshot, name)
            os.rename(path, os.path.join(directory, target(name)))
            os.symlink('../../' + target(name), path)
    return write


def linked(link, folder='models--a--b/snapshots/0', blobs='models--a--b/blobs'):
    """A model whose files are links, which link(directory, hash) makes, to those of a cache."""
    def write(directory):
        here = os.path.join(directory, 'here')
        place = os.path.join(directory, folder)
        write_model(place)
        os.makedirs(os.path.join(directory, blobs))
        for name in 'config.json', 'model.safetensors':
            number = name.encode().hex()
            os.rename(os.path.join(place, name), os.path.join(directory, blobs, number))
            os.symlink(link(directory, number), os.path.join(place, name))
        os.symlink(folder, here)
    return write


def up(count, folder='blobs'):
    return lambda directory, number: '../' * count + f'{folder}/{number}'


def absolute(folder='models--a--b/blobs'):
    return lambda directory, number: os.path.join(os.path.abspath(directory), folder, number)


def blob(name):
    return 'blobs/' + name.encode().hex()


FORBIDDEN = 'expected the plain name of a .safetensors file'
CASES = [
    ('nothing', 'T0201', 'config.json: cannot be opened', lambda directory: None),
    ('no-weights', 'T0201', 'has neither model.safetensors nor', lambda directory: write_model(directory, files={})),
    ('pickle', 'T0201', 'convert it to safetensors',
     lambda directory: write_model(directory, files={'pytorch_model.bin': b''})),
    ('adapter', 'T0201', "is a LoRA adapter (adapter_config.json) of 'meta/llama', not a model; merge it",
     lambda directory: write_model(directory, files={'adapter_config.json': {'base_model_name_or_path': 'meta/llama'}})),
    ('gguf-folder', 'T0201', "is a folder of GGUF files; name the one to compile: 'a-00001-of-00002.gguf', 'b.gguf'",
     lambda directory: write_model(directory, files=dict.fromkeys(
         ['a-00001-of-00002.gguf', 'a-00002-of-00002.gguf', 'b.gguf'], 'GGUF'))),
    ('mistral', 'T0201', "with Mistral's own names",
     lambda directory: write_model(directory, files={'consolidated.safetensors': '', 'params.json': {}})),
    ('cache-folder', 'T0201', "is a model's folder in the Hugging Face cache; name a snapshot in it, such as snapshots/0",
     lambda directory: [os.makedirs(os.path.join(directory, name)) for name in ('blobs', 'refs', 'snapshots/0')]),
    ('mlx', 'T0105', 'that MLX quantized', model(SHAPES, {**CONFIG, 'quantization': {'group_size': 64, 'bits': 4},
                                                         'quantization_config': {'group_size': 64, 'bits': 4}})),
    ('missing', 'T0204',
     "tensor 'transformer.h.0.ln_1.bias' is in none of the model's files; closest: 'transformer.h.0.ln_2.bias'",
     model(prefixed('transformer.', without('h.0.ln_1.bias')))),
    ('misshaped', 'T0203', "model.safetensors: tensor 'wte.weight' has shape [6, 5], expected [6, 4]",
     model({**SHAPES, 'wte.weight': (6, 5)})),
    ('misshaped-reason', 'T0203', "has shape [3, 4], expected [4, 4] (n_positions by n_embd)",
     model({**SHAPES, 'wpe.weight': (3, 4)})),
    ('other-rank', 'T0203', 'has shape [1, 4], expected [4]', model({**SHAPES, 'ln_f.bias': (1, 4)})),
    ('integers', 'T0205', "tensor 'ln_f.bias' has dtype I32, expected F32, F16 or BF16", retyped('ln_f.bias', 'I32')),
    ('no-table', 'T0204', "tensor 'transformer.wte.weight' is in none of the model's files; closest: 'transformer.wte.weights'",
     model({name.replace('wte.weight', 'transformer.wte.weights'): shape for name, shape in SHAPES.items()})),
    ('untied', 'T0204', "tensor 'lm_head.weight'", model(SHAPES, {**CONFIG, 'tie_word_embeddings': False})),
    ('prefix', None, '', model(prefixed('transformer.'))),
    ('no-prefix', None, '', model(SHAPES)),
    ('unused', 'T0208', "2 tensors the model does not use: 'extra', 'more'; to compile without, add --unused=allow",
     model({**SHAPES, 'extra': (1,), 'more': (2,)})),
    ('unused-allowed', None, "warning: ", model({**SHAPES, 'extra': (1,)}, {**CONFIG, 'norm_shift': 0.5}), '--unused=allow'),
    ('predicts-more', None, '', model({**SHAPES, 'h.layers.1.eh_proj.weight': (4, 8), 'h.layers.1.mlp.up.weight': (4, 4)})),
    ('other-heads', None, '', model({**SHAPES, 'score.weight': (2, 4), 'v_head.summary.weight': (1, 4)})),
    ('buffers', None, '', model({**SHAPES, 'h.0.attn.bias': (1, 1, 4, 4), 'h.0.attn.masked_bias': ()})),
    ('shards', None, '', sharded()),
    ('index-no-map', 'T0206', "lacks the object 'weight_map'", sharded(index={'metadata': {}})),
    ('index-json', 'T0206', 'not valid JSON', sharded(index='{"weight_map": {')),
    ('index-number', 'T0206', FORBIDDEN, sharded(1)),
    ('shard-empty', 'T0206', FORBIDDEN, sharded('')),
    ('shard-parent', 'T0206', FORBIDDEN, sharded('../b.safetensors')),
    ('shard-inside', 'T0206', FORBIDDEN, sharded('x/../b.safetensors')),
    ('shard-absolute', 'T0206', FORBIDDEN, sharded('/etc/b.safetensors')),
    ('shard-backslash', 'T0206', FORBIDDEN, sharded('..\\b.safetensors')),
    ('shard-nul', 'T0206', FORBIDDEN, sharded('b.safetensors\0.safetensors')),
    ('shard-dots', 'T0206', FORBIDDEN, sharded('..')),
    ('shard-device', 'T0206', FORBIDDEN, sharded('/dev/zero')),
    ('shard-other-file', 'T0206', FORBIDDEN, sharded('config.json')),
    ('shard-absent', 'T0201', 'c.safetensors: cannot be opened', sharded('c.safetensors')),
    ('shard-without-tensor', 'T0206', "tensor 'wte.weight' should lie in a.safetensors", sharded('a.safetensors')),
    ('shard-link', 'T0201', 'is a symbolic link', replaced(os.symlink)),
    ('shard-directory', 'T0201', 'is not a regular file', replaced(lambda old, new: os.mkdir(new))),
    ('shard-pipe', 'T0201', 'is not a regular file', replaced(lambda old, new: os.mkfifo(new))),
]
CACHES = [
    ('cache', None, '', cache(blob)),
    ('cache-other-folder', 'T0201', 'is a symbolic link', cache(lambda name: name)),
    ('cache-other-name', 'T0201', 'is a symbolic link', cache(lambda name: 'blobs/' + name)),
]
INNER = 'models--a--b/snapshots/0/text/decoder'
LINKS = [
    ('link-snapshot', None, '', linked(up(2))),
    ('link-inner', None, '', linked(up(4), INNER)),
    ('link-beyond', 'T0201', 'is a symbolic link', linked(up(3), blobs='blobs')),
    ('link-missing', 'T0201', 'which is missing; download the model again', linked(lambda directory, number: '../../blobs/0')),
    ('link-absolute', None, '', linked(absolute())),
    ('link-absolute-own', None, '', linked(absolute('b/blobs'), 'b/snapshots/0', 'b/blobs')),
    ('link-local', None, '', linked(absolute(), 'local')),
    ('link-local-relative', None, '', linked(up(1, 'models--a--b/blobs'), 'local')),
    ('link-elsewhere', 'T0201', 'is a symbolic link', linked(absolute('data/blobs'), 'local', 'data/blobs')),
    ('link-named', 'T0201', 'is a symbolic link',
     linked(lambda directory, number: '../models--a--b/blobs/../blobs/' + number + '/..', 'local')),
]


def main(talc, directory):
    failures = refusals.check(talc, directory, CASES)
    failures += refusals.check(talc, directory, CACHES, inside='snapshots/0')
    failures += refusals.check(talc, directory, LINKS, inside='here')
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
