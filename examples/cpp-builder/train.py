# SPDX-License-Identifier: Apache-2.0
"""train.py FOLDER: teaches a decoder of 100,000 parameters to add numbers below 100 (PyTorch; minutes on a processor).

Of the 10,000 questions it is shown 8,000; at the end it is asked the others. Writes model.safetensors and tokenizer.json."""
import json
import math
import pathlib
import random
import struct
import sys

import torch
import torch.nn.functional as F

SYMBOLS = "0123456789+="
END = len(SYMBOLS)
VOCABULARY, WIDTH, INNER, LAYERS, HEADS = len(SYMBOLS) + 1, 64, 256, 2, 4
HEAD = WIDTH // HEADS
STEPS, BATCH, LENGTH = 6000, 256, 10


def parameters():
    shapes = {'embedding': (VOCABULARY, WIDTH), 'norm': (WIDTH,)}
    for layer in range(LAYERS):
        shapes |= {f'layers.{layer}.{name}': shape for name, shape in {
            'norm': (WIDTH,), 'norm.bias': (WIDTH,), 'queries': (WIDTH, WIDTH), 'keys': (WIDTH, WIDTH),
            'values': (WIDTH, WIDTH), 'mix': (WIDTH, WIDTH), 'up': (INNER, WIDTH), 'up.bias': (INNER,),
            'down': (WIDTH, INNER)}.items()}
    made = {}
    for name, shape in shapes.items():
        value = torch.randn(shape) / math.sqrt(shape[-1]) if len(shape) == 2 else torch.full(shape, float(name.endswith('norm')))
        made[name] = value.requires_grad_()
    return made


def rotate(x):
    """Rotary positions of [batch, heads, tokens, HEAD], in half-split pairs."""
    half = HEAD // 2
    angle = torch.arange(x.shape[2])[:, None] * 10000 ** (-torch.arange(half) / half)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def logits(p, ids):
    x = p['embedding'][ids]
    split = lambda y: y.unflatten(-1, (HEADS, HEAD)).transpose(1, 2)
    mask = torch.full((ids.shape[1], ids.shape[1]), -math.inf).triu(1)
    for layer in range(LAYERS):
        w = lambda name: p[f'layers.{layer}.{name}']
        h = F.layer_norm(x, (WIDTH,), w('norm'), w('norm.bias'), 1e-5)
        q, k, v = rotate(split(h @ w('queries').T)), rotate(split(h @ w('keys').T)), split(h @ w('values').T)
        mixed = ((q @ k.transpose(-1, -2)) / math.sqrt(HEAD) + mask).softmax(-1) @ v
        attention = mixed.transpose(1, 2).flatten(2) @ w('mix').T
        x = x + attention + F.gelu(h @ w('up').T + w('up.bias')) @ w('down').T
    x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * p['norm']
    return x @ p['embedding'].T


def example(a, b):
    text = [SYMBOLS.index(symbol) for symbol in f'{a}+{b}={a + b}'] + [END]
    return text + [END] * (LENGTH - len(text))


def targets(ids):
    """What follows each token of the answer; -100 elsewhere."""
    answer = (ids == SYMBOLS.index('=')).cumsum(1)[:, :-1] > 0
    ended = (ids == END).cumsum(1)[:, :-1] > 0
    return torch.where(answer & ~ended, ids[:, 1:], -100)


def train(p, examples):
    optimizer = torch.optim.AdamW(p.values(), lr=2e-3, betas=(0.9, 0.98), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, STEPS, pct_start=0.1)
    for step in range(STEPS):
        ids = examples[torch.randint(len(examples), (BATCH,))]
        loss = F.cross_entropy(logits(p, ids[:, :-1]).flatten(0, 1), targets(ids).flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 500 == 0:
            print(step, loss.item(), flush=True)


def correct(p, examples):
    with torch.no_grad():
        wanted = targets(examples)
        found = logits(p, examples[:, :-1]).argmax(-1)
        return ((found == wanted) | (wanted == -100)).all(1).sum().item()


def write(p, folder):
    header, data = {}, b''
    for name, value in p.items():
        values = value.detach().half().numpy().tobytes()
        header[name] = {'dtype': 'F16', 'shape': list(value.shape), 'data_offsets': [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    (folder / 'model.safetensors').write_bytes(struct.pack('<Q', len(text)) + text + data)
    vocabulary = {symbol: number for number, symbol in enumerate(SYMBOLS)} | {'<end>': END}
    end = {'id': END, 'content': '<end>', 'special': True, 'single_word': False, 'lstrip': False, 'rstrip': False,
           'normalized': False}
    (folder / 'tokenizer.json').write_text(json.dumps({
        'version': '1.0', 'added_tokens': [end], 'normalizer': None, 'pre_tokenizer': None, 'post_processor': None,
        'decoder': {'type': 'Fuse'}, 'model': {'type': 'BPE', 'vocab': vocabulary, 'merges': []}}, indent=1))


def main(folder):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    examples = [example(a, b) for a in range(100) for b in range(100)]
    random.Random(1).shuffle(examples)
    examples = torch.tensor(examples)
    p = parameters()
    train(p, examples[:8000])
    with torch.no_grad():
        for value in p.values():
            value.copy_(value.half())
    print('right:', correct(p, examples[:8000]), 'of 8000 that it was shown,', correct(p, examples[8000:]), 'of 2000 others')
    write(p, folder)


if __name__ == '__main__':
    main(pathlib.Path(sys.argv[1]))
