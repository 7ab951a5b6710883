# SPDX-License-Identifier: Apache-2.0
"""A decoder that differs from Llama in its traits, of odd sizes, and what it computes; see decoder_models.

A family is its configuration and its traits: what it has instead of those of LLAMA.
"""
import functools
import math

import decoder_layers as dl
import decoder_models as dm
import moe_decoders as md
import plain_math as pm
from family_layers import add, apply, fairseq_sinusoid, linear

SIZES = {'hidden_size': 24, 'intermediate_size': 37, 'num_hidden_layers': 2, 'num_attention_heads': 4,
         'num_key_value_heads': 2, 'vocab_size': 61, 'max_position_embeddings': 26, 'rms_norm_eps': 1e-5}
LLAMA = {
    'place': 'model.layers', 'table': 'model.embed_tokens', 'rows': None, 'last': 'model.norm', 'head': 'lm_head',
    'before': ('input_layernorm', 'post_attention_layernorm'), 'behind': ('', ''), 'sums': ('', ''),
    'parallel': False,  # both parts read the first norm
    'transposed': False,  # matrices are inputs by outputs
    'first': 0,  # the row of the first position
    'sinusoids': False, 'gate': '',
    'attention': [f'self_attn.{part}_proj' for part in 'qkvo'], 'packed': None, 'packing': 'order',
    'inner': ('mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj'), 'fused': False, 'activation': 'silu',
    'biases': (),  # of: in, out, inner
    'form': 'rms', 'epsilon': 1e-5, 'norm_bias': False, 'norm_scale': True, 'from_one': False,
    'head_norm': None,  # each: one for all heads, all: of all heads at once
    'head_names': ('self_attn.q_norm', 'self_attn.k_norm'), 'head_form': 'rms', 'behind_rope': False,
    'head_scale': True, 'head_needs_rope': False,
    'sinks': None, 'caps': (0.0, 0.0),
    'pairs': 'halves', 'frequencies': None, 'rotary': None, 'theta': 10000.0, 'turned': lambda n: True, 'window': lambda n: 0,
    'backwards': False,  # turns by negative angles
    'growth': None,  # weight, period, shift, whether only without rope: see grown
    'first_normed': True, 'table_norm': '', 'output_norm': '', 'inner_norm': '', 'last_bias': '', 'transform': None,
    'clip': None, 'scale': None, 'factors': (1.0, 1.0, 1.0), 'moe': None, 'dense': (),
    'gated_queries': False,  # behind each head's query stands its gate
    'only_parts': None,  # layers have one, by a letter: M for the mixer, * for attention, - for the feed-forward
    'stateless': None,  # norms before and behind parts of layers without a mixer
    'mixer': None,  # what some layers have for attention: see recurrent_decoders
}
MOE = {'each': 'mlp.experts', 'names': ('gate_proj', 'up_proj', 'down_proj'), 'router': 'mlp.gate', 'experts': 5,
       'chosen': 2, 'inner': 11, 'scores': 'softmax', 'bias': None, 'bias_rows': (), 'normalized': True, 'factor': 1.0, 'shared': None,
       'shared_gate': None, 'average': False, 'in_one': None, 'form': 'halves', 'routes': None, 'scales_input': False, 'behind': ''}


def sizes_of(config):
    heads = config['num_attention_heads']
    return heads, config['num_key_value_heads'], config.get('head_dim') or config['hidden_size'] // heads


# --- checkpoints


def add_linear(c, t, name, outputs, inputs, bias):
    if t['transposed']:
        c.add(name + '.weight', inputs, outputs)
        c.add(name + '.bias', outputs)
    else:
        c.linear(name, outputs, inputs, bias)


def add_gated(c, names, width, inner, bias=False):
    for name, shape in zip(names, ((inner, width), (inner, width), (width, inner))):
        if name:
            c.linear(name, *shape, bias)


def add_moe(c, at, moe, width):
    c.linear(at + moe['router'], moe['experts'], width, False)
    if moe['bias']:
        c.add(at + moe['bias'], *moe['bias_rows'], moe['experts'], deviation=0.5)
    experts, inner = moe['experts'], moe['inner']
    shapes = {'halves': [(experts, 2 * inner, width), (experts, width, inner)],
              'columns': [(experts, width, 2 * inner), (experts, inner, width)],
              'stacked': [(experts * inner, width)] * 3}[moe['form']]
    for name, shape in zip(moe['in_one'] or (), shapes):
        c.add(at + name, *shape)
    if moe['behind']:
        c.norm(at + moe['behind'], width, False)
    for e in range(0 if moe['in_one'] else moe['experts']):
        add_gated(c, [f'{at}{moe["each"]}.{e}.{name}' for name in moe['names']], width, moe['inner'])
    if moe['shared']:
        *names, inner = moe['shared']
        if len(names) == 2:
            c.linear(at + names[0], 2 * inner, width, False)
            c.linear(at + names[1], width, inner, False)
        else:
            add_gated(c, [at + name for name in names], width, inner)
    if moe['shared_gate']:
        c.linear(at + moe['shared_gate'], 1, width, False)


def add_attention(c, config, t, at):
    width, (heads, shared, each) = config['hidden_size'], sizes_of(config)
    if t['packed']:
        add_linear(c, t, at + t['packed'], (heads + 2 * shared) * each, width, 'in' in t['biases'])
    if t['gate']:
        c.linear(at + t['gate'], heads * each, width, False)
    for name, count in zip(t['attention'], () if t['packed'] else (heads, shared, shared)):
        c.linear(at + name, count * each * (2 if t['gated_queries'] and name == t['attention'][0] else 1), width,
                 'in' in t['biases'])
    add_linear(c, t, at + t['attention'][3], width, heads * each, 'out' in t['biases'])
    for name, count in zip(t['head_names'] if t['head_norm'] and t['head_scale'] else (), (heads, shared)):
        c.norm(at + name, each * (count if t['head_norm'] == 'all' else 1), t['head_form'] == 'layer')
    if t['sinks']:
        c.add(at + t['sinks'], heads, deviation=1.0)


def add_attended(c, config, t, n, at):
    if t['mixer'] and t['mixer'].has(n):
        t['mixer'].add(c, at, config['hidden_size'])
    if not t['mixer'] or not t['mixer'].has(n) or t['mixer'].is_beside:
        add_attention(c, config, t, at)


def add_processed(c, config, t, n, at):
    width, inner = config['hidden_size'], config['intermediate_size']
    if t['moe'] and n not in t['dense']:
        add_moe(c, at, t['moe'], width)
    elif t['fused']:
        c.linear(at + t['inner'][1], 2 * inner, width, False)
        c.linear(at + t['inner'][2], width, inner, False)
    elif t['transposed']:
        add_linear(c, t, at + t['inner'][1], inner, width, True)
        add_linear(c, t, at + t['inner'][2], width, inner, True)
    else:
        add_gated(c, [at + name if name else '' for name in t['inner']], width, inner, 'inner' in t['biases'])


def parts_of(t, n):
    """The parts of a layer, each with the names of the norms before and behind it and of the sum."""
    other = t['stateless'] and not t['mixer'].has(n)
    before, behind = t['stateless'] if other else (t['before'], t['behind'])
    parts = [processed if t['only_parts'][n] == '-' else attended] if t['only_parts'] else [attended, processed]
    return list(zip(parts, before, behind, t['sums']))


def fill(c, config, t):
    width, inner = config['hidden_size'], config['intermediate_size']
    heads, shared, each = sizes_of(config)

    def norm(name):
        if name and t['norm_scale']:
            c.norm(name, width, t['norm_bias'])
    c.add(t['table'] + '.weight', config['vocab_size'], width, deviation=1.0)
    norm(t['table_norm'])
    if t['rows']:
        c.add(t['rows'] + '.weight', config['max_position_embeddings'] + t['first'], width, deviation=0.5)
    for n in range(config['num_hidden_layers']):
        at = f'{t["place"]}.{n}.'
        parts, *names = zip(*parts_of(t, n))
        for name in [name for kind in names for name in kind][0 if n or t['first_normed'] else 1:]:
            norm(at + name if name else '')
        for name, size in (t['output_norm'], heads * each), (t['inner_norm'], inner):
            if name:
                c.norm(at + name, size, False)
        if t['last_bias'] and n == config['num_hidden_layers'] - 1:
            c.add(at + t['last_bias'], width)
        if attended in parts:
            add_attended(c, config, t, n, at)
        if processed in parts:
            add_processed(c, config, t, n, at)
    norm(t['last'])
    if t['transform']:
        c.linear(t['transform'][0], width, width, False)
        norm(t['transform'][1])
    if not config.get('tie_word_embeddings'):
        c.linear(t['head'], config['vocab_size'], width, 'head' in t['biases'])


# --- what they compute


def normed(c, t, name, x):
    if not name:
        return x
    width = len(x[0])
    scale = c[name + '.weight'] if t['norm_scale'] else [1.0] * width
    if t['from_one']:
        scale = [pm.to_f32(w + 1) for w in scale]
    return pm.norm(t['form'], x, scale, c[name + '.bias'] if t['norm_bias'] else None, t['epsilon'], 1)


def product(c, t, name, x):
    matrix = c[name + '.weight']
    return pm.linear(x, pm.transpose(matrix) if t['transposed'] else matrix, c.tensors.get(name + '.bias'))


def pieces(row, t, heads, shared, each):
    """Queries, keys and values of a packed projection."""
    if t['packing'] == 'heads':
        parts = dl.heads_of(row, 3 * each)
        return [[v for part in parts for v in part[i * each:(i + 1) * each]] for i in range(3)]
    if t['packing'] == 'quarters':
        quarter = heads * each // 4
        parts = dl.heads_of(row, 3 * quarter)
        return [[v for part in parts for v in part[i * quarter:(i + 1) * quarter]] for i in (0, 2, 1)]
    ends = [0, heads * each, (heads + shared) * each, (heads + 2 * shared) * each]
    return [row[a:b] for a, b in zip(ends, ends[1:])]


def head_normed(c, t, n, at, each, q, k):
    if not t['head_norm'] or (t['head_needs_rope'] and not t['turned'](n)):
        return q, k
    if not t['head_scale']:
        return [pm.norm('rms', z, [1.0] * each, None, t['epsilon'], len(z[0]) // each) for z in (q, k)]
    scale = lambda name: [pm.to_f32(w + t['from_one']) for w in c[f'{at}{name}.weight']]
    return [pm.norm(t['head_form'], z, scale(name), c.tensors.get(f'{at}{name}.bias'), t['epsilon'],
                    1 if t['head_norm'] == 'all' else len(z[0]) // each) for name, z in zip(t['head_names'], (q, k))]


def grown(t, n, q):
    """Queries times 1 + weight * log(1 + floor((position + shift) / period))."""
    if not t['growth'] or (t['growth'][3] and t['turned'](n)):
        return q
    weight, period, shift, _ = t['growth']
    factor = lambda p: 1 + weight * math.log1p((p + shift) // period)
    return [[value * factor(p) for value in row] for p, row in enumerate(q)]


def attended(c, config, t, n, at, x):
    if t['mixer'] and t['mixer'].has(n):
        y = t['mixer'].mix(c, at, x)
        return y if not t['mixer'].is_beside else t['mixer'].beside(y, x, lambda z: attention(c, config, t, n, at, z))
    return attention(c, config, t, n, at, x)


def attention(c, config, t, n, at, x):
    heads, shared, each = sizes_of(config)
    if t['packed']:
        q, k, v = map(list, zip(*(pieces(row, t, heads, shared, each) for row in product(c, t, at + t['packed'], x))))
    else:
        q, k, v = (linear(c, at + name, x) for name in t['attention'][:3])
    if t['gated_queries']:
        both = [dl.heads_of(row, 2 * each) for row in q]
        q, gates = ([[z for head in row for z in head[part]] for row in both] for part in (slice(0, each), slice(each, None)))
    if not t['behind_rope']:
        q, k = head_normed(c, t, n, at, each, q, k)
    if t['clip']:
        q, k, v = (pm.each(lambda value: min(max(value, -t['clip']), t['clip']), z) for z in (q, k, v))
    if t['turned'](n):
        theta = t['theta'][n] if isinstance(t['theta'], list) else t['theta']
        turns = dl.inverse_frequencies(theta, t['rotary'] or each)
        if t['frequencies']:
            turns = t['frequencies']
        if t['backwards']:
            turns = [-f for f in turns]
        q, k = (dl.turn(z, each, turns, t['pairs']) for z in (q, k))
    if t['behind_rope']:
        q, k = head_normed(c, t, n, at, each, q, k)
    q = grown(t, n, q)
    scale = t['scale'] or each**-0.5
    if t['sinks']:
        y = md.attend_sunk(dl.scaled(q, scale * each**0.5), k, v, each, t['window'](n), c[at + t['sinks']])
    else:
        y = dl.attend(q, k, v, each, scale, t['window'](n), t['caps'][0])
    if t['gated_queries']:
        y = dl.times(y, apply('sigmoid', gates))
    if t['gate']:
        y = dl.times(y, apply('sigmoid', linear(c, at + t['gate'], x)))
    if t['output_norm']:
        y = pm.norm('rms', y, c[f'{at}{t["output_norm"]}.weight'], None, t['epsilon'], 1)
    y = product(c, t, at + t['attention'][3], y)
    bias = c.tensors.get(at + t['last_bias'])
    return [[a + b for a, b in zip(row, bias)] for row in y] if bias else y


def gated_row(row, gate, up, down, activation='silu'):
    gates, ups = pm.linear([row], gate, None)[0], pm.linear([row], up, None)[0]
    return pm.linear([[pm.ACTIVATIONS[activation](a) * b for a, b in zip(gates, ups)]], down, None)[0]


def expert_row(c, at, moe, e, row):
    if moe['form'] == 'stacked':
        gate, up, down = (c[at + name][e * moe['inner']:(e + 1) * moe['inner']] for name in moe['in_one'])
        return gated_row(row, gate, up, pm.transpose(down))
    if moe['in_one']:
        both, down = c[at + moe['in_one'][0]][e], c[at + moe['in_one'][1]][e]
        if moe['form'] == 'columns':
            both, down = pm.transpose(both), pm.transpose(down)
        return gated_row(row, both[:moe['inner']], both[moe['inner']:], down)
    return gated_row(row, *(c[f'{at}{moe["each"]}.{e}.{name}.weight'] for name in moe['names']))


def chosen_experts(c, at, moe, logits):
    """The weights of the chosen experts."""
    if moe['routes']:
        return moe['routes'](logits, c[at + moe['bias']] if moe['bias'] else None, moe)
    scores = pm.softmax([logits])[0] if moe['scores'] == 'softmax' else [pm.sigmoid(z) for z in logits]
    bias = c[at + moe['bias']] if moe['bias'] else [0.0] * len(scores)
    compared = [s + b for s, b in zip(scores, bias[0] if moe['bias_rows'] else bias)]
    best = sorted(range(len(scores)), key=lambda e: (-compared[e], e))[:moe['chosen']]
    total = sum(scores[e] for e in best) if moe['normalized'] else 1.0
    return {e: scores[e] / total * moe['factor'] for e in sorted(best)}


def mixed_row(c, at, moe, row):
    result = [0.0] * len(row)
    for e, weight in chosen_experts(c, at, moe, pm.linear([row], c[at + moe['router'] + '.weight'], None)[0]).items():
        inside, outside = (weight, 1.0) if moe['scales_input'] else (1.0, weight)
        made = expert_row(c, at, moe, e, [inside * value for value in row])
        result = [a + outside * b for a, b in zip(result, made)]
    if moe['shared']:
        *names, inner = moe['shared']
        matrices = [c[at + name + '.weight'] for name in names]
        if len(names) == 2:
            matrices = [matrices[0][:inner], matrices[0][inner:], matrices[1]]
        share = pm.sigmoid(linear(c, at + moe['shared_gate'], [row])[0][0]) if moe['shared_gate'] else 1.0
        result = [a + share * b for a, b in zip(result, gated_row(row, *matrices))]
    return [a / 2 for a in result] if moe['average'] else result


def processed(c, config, t, n, at, x):
    gate, up, down = t['inner']
    if t['moe'] and n not in t['dense']:
        y = [mixed_row(c, at, t['moe'], row) for row in x]
        return normed(c, t, at + t['moe']['behind'], y) if t['moe']['behind'] else y
    if t['fused']:
        both, half = linear(c, at + up, x), config['intermediate_size']
        y = dl.times(apply(t['activation'], [row[:half] for row in both]), [row[half:] for row in both])
    elif gate:
        y = dl.times(apply(t['activation'], linear(c, at + gate, x)), linear(c, at + up, x))
    else:
        y = apply(t['activation'], product(c, t, at + up, x))
    if t['inner_norm']:
        y = pm.norm('rms', y, c[f'{at}{t["inner_norm"]}.weight'], None, t['epsilon'], 1)
    return product(c, t, at + down, y)


def decoder(c, config, ids, t):
    embedding, residual, logits = t['factors']
    x = dl.scaled([c[t['table'] + '.weight'][i] for i in ids], embedding)
    if t['rows']:
        x = add(x, c[t['rows'] + '.weight'][t['first']:t['first'] + len(ids)])
    if t['sinusoids']:
        x = add(x, [fairseq_sinusoid(t['first'] + p, len(x[0])) for p in range(len(ids))])
    x = normed(c, t, t['table_norm'], x)
    for n in range(config['num_hidden_layers']):
        at = f'{t["place"]}.{n}.'
        place = lambda name: at + name if name else ''
        if t['parallel']:
            y = normed(c, t, place(t['before'][0]), x)
            x = add(add(x, attended(c, config, t, n, at, y)), processed(c, config, t, n, at, y))
            continue
        for part, before, behind, total in parts_of(t, n):
            first = n == 0 and part is attended and not t['first_normed']
            y = part(c, config, t, n, at, x if first else normed(c, t, place(before), x))
            x = normed(c, t, place(total), add(x, dl.scaled(normed(c, t, place(behind), y), residual)))
    x = normed(c, t, t['last'], x)
    if t['transform']:
        dense, norm, activation = t['transform']
        x = normed(c, t, norm, apply(activation, linear(c, dense, x)))
    name, cap = t['table'] if config.get('tie_word_embeddings') else t['head'], t['caps'][1]
    rows = pm.linear(x, c[name + '.weight'], c.tensors.get(name + '.bias'))
    return pm.each(lambda z: cap * math.tanh(z / cap), rows) if cap else dl.scaled(rows, logits)


def family(model_type, keys=None, hidden=None, **traits):
    """`keys` are written to config.json; `hidden` are not: the family has them under other names, or not at all."""
    t = {**LLAMA, **traits}
    config = {'model_type': model_type, 'tie_word_embeddings': False, **SIZES, **(keys or {})}
    c, _, evaluate, names = dm.case(functools.partial(lambda t, c, config, ids: decoder(c, config, ids, t), t),
                                    lambda c, config: fill(c, config, t), {**config, **(hidden or {})})
    return c, {key: value for key, value in config.items() if key not in (hidden or {})}, evaluate, names


OTHER = {'rms_norm_eps': 1e-5}
ALL_HEADS = {**OTHER, 'num_key_value_heads': 4}
LAYER = {'form': 'layer', 'norm_bias': True}
PLAIN = {'inner': ('', 'mlp.up_proj', 'mlp.down_proj'), 'activation': 'relu_squared'}
BIASED = {**MOE, 'scores': 'sigmoid', 'bias': 'mlp.gate.e_score_correction_bias'}
SHARED = [f'mlp.shared_experts.{part}_proj' for part in ('gate', 'up', 'down')]
