# SPDX-License-Identifier: Apache-2.0
"""Transformer-XL on lists of numbers, word for word as its definition: a text begins behind mem_len rows of zeros, every
layer keeps its last mem_len inputs, and what stands for a distance is projected for each pair of rows.

`checkpoint(...)` is a random one; CASES as in family_models.
"""
import math

import plain_math as pm
from family_layers import add, apply, layer_norm, linear
from random_checkpoint import Checkpoint


def clusters(config):
    """(first word, end, width of its embedding)"""
    bounds = [0, *config['cutoffs'], config['vocab_size']]
    return [(a, b, config['d_embed'] // config['div_val']**i) for i, (a, b) in enumerate(zip(bounds, bounds[1:]))]


def is_projected(config):
    return config['div_val'] > 1 or config['d_embed'] != config['d_model']


def table(c, config, kind, cluster, end='weight'):
    """The rows of a cluster's words."""
    first, last, _ = clusters(config)[cluster]
    if config['div_val'] > 1:
        return c[f'{kind}.{cluster}.{end}']
    return c[f'{kind}.0.{end}'][first:last]


EMBEDDED, PROJECTED = 'transformer.word_emb.emb_layers', 'transformer.word_emb.emb_projs'


def embedding(c, config, word):
    cluster = sum(word >= cutoff for cutoff in config['cutoffs'])
    row = table(c, config, EMBEDDED, cluster)[word - clusters(config)[cluster][0]]
    if is_projected(config):
        row = pm.linear([row], c[f'{PROJECTED}.{cluster if config["div_val"] > 1 else 0}'], None)[0]
    return [math.sqrt(config['d_model']) * v for v in row]


def distance(config, d):
    """Sines, then cosines."""
    width = config['d_model']
    if config['clamp_len'] > 0:
        d = min(d, config['clamp_len'])
    angles = [d / 10000**(2 * n / width) for n in range(width // 2)]
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


def attention(c, config, at, shared, x):
    """`x`: the rows that are kept and those of the text; queries are those of the text."""
    heads, width, memory = config['n_head'], config['d_head'], config['mem_len']
    y = layer_norm(c, at + 'layer_norm', x, 1e-5) if config['pre_lnorm'] else x
    rows = heads * width
    qkv = linear(c, at + 'qkv_net', y)
    q, k, v = ([row[i * rows:(i + 1) * rows] for row in qkv] for i in range(3))
    distances = [pm.linear([distance(config, d)], c[at + 'r_net.weight'], None)[0] for d in range(memory)]
    place = at if config['untie_r'] else shared
    result = []
    for i in range(memory, len(x)):
        out = []
        for h in range(heads):
            own = slice(h * width, (h + 1) * width)
            of_words = add([q[i][own]], [c[place + 'r_w_bias'][h]])[0]
            of_distances = add([q[i][own]], [c[place + 'r_r_bias'][h]])[0]
            seen = range(i - memory + 1, i + 1)
            scores = [(dot(of_words, k[j][own]) + dot(of_distances, distances[i - j][own])) / math.sqrt(width)
                      for j in seen]
            weights = pm.softmax([scores])[0]
            out += [dot(weights, [v[j][h * width + n] for j in seen]) for n in range(width)]
        result.append(out)
    return linear(c, at + 'o_net', result)


def layer(c, config, at, x):
    """A layer for a text behind its memory of zeros."""
    memory = config['mem_len']
    zeros = [[0.0] * len(x[0]) for _ in range(memory)]
    mixed = add(x, attention(c, config, at + 'dec_attn.', 'transformer.', zeros + x))
    inside = lambda y: linear(c, at + 'pos_ff.CoreNet.3', apply('relu', linear(c, at + 'pos_ff.CoreNet.0', y)))
    if config['pre_lnorm']:
        return add(mixed, inside(layer_norm(c, at + 'pos_ff.layer_norm', mixed, 1e-5)))
    mixed = layer_norm(c, at + 'dec_attn.layer_norm', mixed, 1e-5)
    return layer_norm(c, at + 'pos_ff.layer_norm', add(mixed, inside(mixed)), 1e-5)


def log_softmax(row):
    highest = max(row)
    total = highest + math.log(math.fsum(math.exp(v - highest) for v in row))
    return [v - total for v in row]


def log_probabilities(c, config, row):
    kinds = clusters(config)
    tied = config['tie_projs'] if 'tie_projs' in config else [False] + [True] * len(config['cutoffs'])

    def narrowed(i):
        if not is_projected(config):
            return row
        name = f'{PROJECTED}.{i if config["div_val"] > 1 else 0}' if tied[i] else f'crit.out_projs.{i}'
        return [dot(row, column) for column in zip(*c[name])]

    def scores(i):
        words = table(c, config, EMBEDDED if config['tie_word_embeddings'] else 'crit.out_layers', i)
        return pm.linear([narrowed(i)], words, table(c, config, 'crit.out_layers', i, 'bias'))[0]
    head = scores(0)
    if len(kinds) > 1:
        head = head + pm.linear([narrowed(0)], c['crit.cluster_weight'], c['crit.cluster_bias'])[0]
    head = log_softmax(head)
    result = head[:kinds[0][1]]
    for i in range(1, len(kinds)):
        result += [head[kinds[0][1] + i - 1] + v for v in log_softmax(scores(i))]
    return result


def logits(c, config, ids):
    x = [embedding(c, config, word) for word in ids]
    for n in range(config['n_layer']):
        x = layer(c, config, f'transformer.layers.{n}.', x)
    return [log_probabilities(c, config, row) for row in x]


def fill(c, config):
    d, rows = config['d_model'], config['n_head'] * config['d_head']
    kinds = clusters(config)
    tables = kinds if config['div_val'] > 1 else [(0, config['vocab_size'], config['d_embed'])]
    tied = config['tie_projs'] if 'tie_projs' in config else [False] + [True] * len(config['cutoffs'])
    for i, (first, end, width) in enumerate(tables):
        c.add(f'{EMBEDDED}.{i}.weight', end - first, width, deviation=d**-0.5)
        c.add(f'crit.out_layers.{i}.bias', end - first)
        if not config['tie_word_embeddings']:
            c.add(f'crit.out_layers.{i}.weight', end - first, width)
        if is_projected(config):
            c.add(f'{PROJECTED}.{i}', d, width)
    for i, (_, _, width) in enumerate(kinds if is_projected(config) else []):
        if not tied[i]:
            c.add(f'crit.out_projs.{i}', d, width)
    if len(kinds) > 1:
        c.add('crit.cluster_weight', len(kinds) - 1, config['d_embed'])
        c.add('crit.cluster_bias', len(kinds) - 1)
    places = [f'transformer.layers.{n}.dec_attn.' for n in range(config['n_layer'])]
    for at in places if config['untie_r'] else ['transformer.']:
        c.add(at + 'r_w_bias', config['n_head'], config['d_head'], deviation=0.5)
        c.add(at + 'r_r_bias', config['n_head'], config['d_head'], deviation=0.5)
    for n, at in enumerate(places):
        c.linear(at + 'qkv_net', 3 * rows, d, False)
        c.linear(at + 'o_net', d, rows, False)
        c.linear(at + 'r_net', rows, d, False)
        c.norm(at + 'layer_norm', d)
        c.linear(f'transformer.layers.{n}.pos_ff.CoreNet.0', config['d_inner'], d)
        c.linear(f'transformer.layers.{n}.pos_ff.CoreNet.3', d, config['d_inner'])
        c.norm(f'transformer.layers.{n}.pos_ff.layer_norm', d)


SMALL = {'model_type': 'transfo-xl', 'architectures': ['TransfoXLLMHeadModel'], 'vocab_size': 61, 'd_model': 26,
         'd_embed': 26, 'n_head': 3, 'd_head': 7, 'd_inner': 33, 'n_layer': 2, 'mem_len': 9, 'clamp_len': 5,
         'cutoffs': [11, 30], 'div_val': 2, 'pre_lnorm': False, 'untie_r': True, 'same_length': True,
         'tie_word_embeddings': True}


def checkpoint(dtype='F32', **changes):
    config = {**SMALL, **changes}
    c = Checkpoint(11, dtype)
    fill(c, config)
    return c, config, lambda prompt: {'logits': logits(c, config, prompt['ids'])}, lambda name: name


CASES = {
    'small': lambda: checkpoint('BF16'),
    'plain': lambda: checkpoint(cutoffs=[], div_val=1, clamp_len=-1, mem_len=4, untie_r=False),
    'one-table': lambda: checkpoint('F16', div_val=1, d_embed=14, tie_projs=[True, False, True], pre_lnorm=True, mem_len=40,
                                    clamp_len=17),
    'one-table-unprojected': lambda: checkpoint(div_val=1, mem_len=26, clamp_len=25, tie_word_embeddings=False),
    'untied': lambda: checkpoint(tie_word_embeddings=False, div_val=3, d_embed=20, n_head=1, d_head=16, mem_len=1),
}
COMPILED = {'small', 'one-table', 'untied'}
