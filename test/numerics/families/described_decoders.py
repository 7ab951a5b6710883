# SPDX-License-Identifier: Apache-2.0
"""Decoders that differ from Llama in a few properties, of odd sizes, and what they compute; see decoder_models.

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
    'sinks': None, 'caps': (0.0, 0.0),
    'pairs': 'halves', 'rotary': None, 'theta': 10000.0, 'turned': lambda n: True, 'window': lambda n: 0,
    'clip': None, 'scale': None, 'factors': (1.0, 1.0, 1.0), 'moe': None, 'dense': (),
}
MOE = {'each': 'mlp.experts', 'names': ('gate_proj', 'up_proj', 'down_proj'), 'router': 'mlp.gate', 'experts': 5,
       'chosen': 2, 'inner': 11, 'scores': 'softmax', 'bias': None, 'bias_rows': (), 'normalized': True, 'factor': 1.0, 'shared': None,
       'average': False, 'in_one': None}


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
    if moe['in_one']:
        c.add(at + moe['in_one'][0], moe['experts'], 2 * moe['inner'], width)
        c.add(at + moe['in_one'][1], moe['experts'], width, moe['inner'])
    for e in range(0 if moe['in_one'] else moe['experts']):
        add_gated(c, [f'{at}{moe["each"]}.{e}.{name}' for name in moe['names']], width, moe['inner'])
    if moe['shared']:
        *names, inner = moe['shared']
        if len(names) == 2:
            c.linear(at + names[0], 2 * inner, width, False)
            c.linear(at + names[1], width, inner, False)
        else:
            add_gated(c, [at + name for name in names], width, inner)


def fill(c, config, t):
    width, inner = config['hidden_size'], config['intermediate_size']
    heads, shared, each = sizes_of(config)

    def norm(name):
        if name and t['norm_scale']:
            c.norm(name, width, t['norm_bias'])
    c.add(t['table'] + '.weight', config['vocab_size'], width, deviation=1.0)
    if t['rows']:
        c.add(t['rows'] + '.weight', config['max_position_embeddings'] + t['first'], width, deviation=0.5)
    for n in range(config['num_hidden_layers']):
        at = f'{t["place"]}.{n}.'
        for name in (*t['before'], *t['behind'], *t['sums']):
            norm(at + name if name else '')
        if t['packed']:
            add_linear(c, t, at + t['packed'], (heads + 2 * shared) * each, width, 'in' in t['biases'])
        if t['gate']:
            c.linear(at + t['gate'], heads * each, width, False)
        for name, count in zip(t['attention'], () if t['packed'] else (heads, shared, shared)):
            c.linear(at + name, count * each, width, 'in' in t['biases'])
        add_linear(c, t, at + t['attention'][3], width, heads * each, 'out' in t['biases'])
        for name, count in zip(t['head_names'] if t['head_norm'] else (), (heads, shared)):
            c.norm(at + name, each * (count if t['head_norm'] == 'all' else 1), t['head_form'] == 'layer')
        if t['sinks']:
            c.add(at + t['sinks'], heads, deviation=1.0)
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
    norm(t['last'])
    if not config.get('tie_word_embeddings'):
        c.linear(t['head'], config['vocab_size'], width, 'head' in t['biases'])


# --- what they compute


def normed(c, t, name, x):
    if not name:
        return x
    width = len(x[0])
    scale = c[name + '.weight'] if t['norm_scale'] else [1.0] * width
    if t['from_one']:
        scale = [w + 1 for w in scale]
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


def head_normed(c, t, at, each, q, k):
    if not t['head_norm']:
        return q, k
    return [pm.norm(t['head_form'], z, c[f'{at}{name}.weight'], c.tensors.get(f'{at}{name}.bias'), t['epsilon'],
                    1 if t['head_norm'] == 'all' else len(z[0]) // each) for name, z in zip(t['head_names'], (q, k))]


def attended(c, config, t, n, at, x):
    heads, shared, each = sizes_of(config)
    if t['packed']:
        q, k, v = zip(*(pieces(row, t, heads, shared, each) for row in product(c, t, at + t['packed'], x)))
    else:
        q, k, v = (linear(c, at + name, x) for name in t['attention'][:3])
    if not t['behind_rope']:
        q, k = head_normed(c, t, at, each, q, k)
    if t['clip']:
        q, k, v = (pm.each(lambda value: min(max(value, -t['clip']), t['clip']), z) for z in (q, k, v))
    if t['turned'](n):
        theta = t['theta'][n] if isinstance(t['theta'], list) else t['theta']
        turns = dl.inverse_frequencies(theta, t['rotary'] or each)
        q, k = (dl.turn(z, each, turns, t['pairs']) for z in (q, k))
    if t['behind_rope']:
        q, k = head_normed(c, t, at, each, q, k)
    scale = t['scale'] or each**-0.5
    if t['sinks']:
        y = md.attend_sunk(dl.scaled(q, scale * each**0.5), k, v, each, t['window'](n), c[at + t['sinks']])
    else:
        y = dl.attend(q, k, v, each, scale, t['window'](n), t['caps'][0])
    if t['gate']:
        y = dl.times(y, apply('sigmoid', linear(c, at + t['gate'], x)))
    return product(c, t, at + t['attention'][3], y)


def gated_row(row, gate, up, down, activation='silu'):
    gates, ups = pm.linear([row], gate, None)[0], pm.linear([row], up, None)[0]
    return pm.linear([[pm.ACTIVATIONS[activation](a) * b for a, b in zip(gates, ups)]], down, None)[0]


def expert_row(c, at, moe, e, row):
    if moe['in_one']:
        both, down = c[at + moe['in_one'][0]][e], c[at + moe['in_one'][1]][e]
        return gated_row(row, both[:moe['inner']], both[moe['inner']:], down)
    return gated_row(row, *(c[f'{at}{moe["each"]}.{e}.{name}.weight'] for name in moe['names']))


def mixed_row(c, at, moe, row):
    logits = pm.linear([row], c[at + moe['router'] + '.weight'], None)
    scores = pm.softmax(logits)[0] if moe['scores'] == 'softmax' else [pm.sigmoid(z) for z in logits[0]]
    bias = c[at + moe['bias']] if moe['bias'] else [0.0] * len(scores)
    compared = [s + b for s, b in zip(scores, bias[0] if moe['bias_rows'] else bias)]
    best = sorted(range(len(scores)), key=lambda e: (-compared[e], e))[:moe['chosen']]
    total = sum(scores[e] for e in best) if moe['normalized'] else 1.0
    result = [0.0] * len(row)
    for e in sorted(best):
        made = expert_row(c, at, moe, e, row)
        result = [a + scores[e] / total * moe['factor'] * b for a, b in zip(result, made)]
    if moe['shared']:
        *names, inner = moe['shared']
        matrices = [c[at + name + '.weight'] for name in names]
        if len(names) == 2:
            matrices = [matrices[0][:inner], matrices[0][inner:], matrices[1]]
        result = [a + b for a, b in zip(result, gated_row(row, *matrices))]
    return [a / 2 for a in result] if moe['average'] else result


def processed(c, config, t, n, at, x):
    gate, up, down = t['inner']
    if t['moe'] and n not in t['dense']:
        return [mixed_row(c, at, t['moe'], row) for row in x]
    if t['fused']:
        both, half = linear(c, at + up, x), config['intermediate_size']
        y = dl.times(apply(t['activation'], [row[:half] for row in both]), [row[half:] for row in both])
    elif gate:
        y = dl.times(apply(t['activation'], linear(c, at + gate, x)), linear(c, at + up, x))
    else:
        y = apply(t['activation'], product(c, t, at + up, x))
    return product(c, t, at + down, y)


def decoder(c, config, ids, t):
    embedding, residual, logits = t['factors']
    x = dl.scaled([c[t['table'] + '.weight'][i] for i in ids], embedding)
    if t['rows']:
        x = add(x, c[t['rows'] + '.weight'][t['first']:t['first'] + len(ids)])
    if t['sinusoids']:
        x = add(x, [fairseq_sinusoid(t['first'] + p, len(x[0])) for p in range(len(ids))])
    for n in range(config['num_hidden_layers']):
        at = f'{t["place"]}.{n}.'
        place = lambda name: at + name if name else ''
        if t['parallel']:
            y = normed(c, t, place(t['before'][0]), x)
            x = add(add(x, attended(c, config, t, n, at, y)), processed(c, config, t, n, at, y))
            continue
        for part, before, behind, total in zip((attended, processed), t['before'], t['behind'], t['sums']):
            y = part(c, config, t, n, at, normed(c, t, place(before), x))
            x = normed(c, t, place(total), add(x, dl.scaled(normed(c, t, place(behind), y), residual)))
    x = normed(c, t, t['last'], x)
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
GPT2 = {'place': 'transformer.h', 'table': 'transformer.wte', 'rows': 'transformer.wpe', 'last': 'transformer.ln_f',
        'before': ('ln_1', 'ln_2'), 'inner': ('', 'mlp.c_fc', 'mlp.c_proj'), 'activation': 'gelu_tanh',
        'turned': lambda n: False, **LAYER}
GRANITE = {'embedding_multiplier': 3.0, 'residual_multiplier': 0.22, 'attention_multiplier': 0.3, 'logits_scaling': 4.0}
GRANITE_EXPERTS = {**GRANITE, 'num_local_experts': 5, 'num_experts_per_tok': 2}
GRANITE_TRAITS = {'factors': (3.0, 0.22, 0.25), 'scale': 0.3}
GRANITE_MOE = {**MOE, 'inner': 37, 'router': 'block_sparse_moe.router.layer',
               'in_one': ('block_sparse_moe.input_linear.weight', 'block_sparse_moe.output_linear.weight')}
BEHIND = {'before': ('', ''), 'behind': ('post_attention_layernorm', 'post_feedforward_layernorm')}
CASES = {
    'glm': lambda: family('glm', {'head_dim': 8}, fused=True, inner=('', 'mlp.gate_up_proj', 'mlp.down_proj'),
                          biases=('in',), rotary=4, pairs='pairs'),
    'glm4': lambda: family('glm4', {'head_dim': 8, 'attention_bias': False, 'partial_rotary_factor': 0.25}, fused=True,
                           inner=('', 'mlp.gate_up_proj', 'mlp.down_proj'), rotary=2, pairs='pairs',
                           behind=('post_self_attn_layernorm', 'post_mlp_layernorm')),
    'glm4_moe': lambda: family(
        'glm4_moe', {'head_dim': 8, 'use_qk_norm': True, 'n_routed_experts': 5, 'num_experts_per_tok': 2,
                     'moe_intermediate_size': 11, 'routed_scaling_factor': 1.7, 'n_shared_experts': 2},
        head_norm='each', rotary=4, dense=(0,),
        moe={**BIASED, 'factor': 1.7, 'shared': [*SHARED, 22]}),
    'minimax_m2': lambda: family(
        'minimax_m2', {'head_dim': 8, 'rotary_dim': 4, 'num_local_experts': 5, 'num_experts_per_tok': 2,
                       'rope_theta': 500.0}, head_norm='all', rotary=4, theta=500.0,
        moe={**BIASED, 'each': 'block_sparse_moe.experts', 'names': ('w1', 'w3', 'w2'), 'inner': 37,
             'router': 'block_sparse_moe.gate', 'bias': 'block_sparse_moe.e_score_correction_bias'}),
    'olmoe': lambda: family('olmoe', {'num_experts': 5, 'num_experts_per_tok': 3, 'clip_qkv': 0.7}, head_norm='all',
                            clip=0.7, moe={**MOE, 'inner': 37, 'chosen': 3, 'normalized': False}),
    'olmo': lambda: family('olmo', {'clip_qkv': 0.7}, OTHER, form='layer', norm_scale=False, clip=0.7),
    'starcoder2': lambda: family('starcoder2', {'sliding_window': 5, 'norm_epsilon': 1e-5, 'tie_word_embeddings': True},
                                 OTHER, inner=('', 'mlp.c_fc', 'mlp.c_proj'), activation='gelu_tanh', window=lambda n: 5,
                                 biases=('in', 'out', 'inner'), **LAYER),
    'seed_oss': lambda: family('seed_oss', {'head_dim': 8, 'attention_out_bias': True}, biases=('in', 'out')),
    'ernie4_5': lambda: family('ernie4_5', {'head_dim': 8, 'use_bias': True}, biases=('in', 'out', 'inner'),
                               pairs='pairs', theta=500000.0),
    'exaone': lambda: family(
        'exaone', {'layer_norm_epsilon': 1e-5, 'num_layers': 2, 'rope_theta': 500.0}, place='transformer.h',
        table='transformer.wte', last='transformer.ln_f', before=('ln_1', 'ln_2'), theta=500.0,
        attention=[f'attn.attention.{part}_proj' for part in ('q', 'k', 'v', 'out')],
        inner=('mlp.c_fc_0', 'mlp.c_fc_1', 'mlp.c_proj')),
    'exaone4': lambda: family('exaone4', {'sliding_window': 5, 'sliding_window_pattern': 2, 'num_hidden_layers': 3},
                              head_norm='each', window=lambda n: 5 * (n != 1), turned=lambda n: n != 1, **BEHIND),
    'granitemoe': lambda: family('granitemoe', GRANITE_EXPERTS, moe=GRANITE_MOE, **GRANITE_TRAITS),
    'granitemoeshared': lambda: family(
        'granitemoeshared', {**GRANITE_EXPERTS, 'shared_intermediate_size': 13},
        moe={**GRANITE_MOE, 'shared': ['shared_mlp.input_linear', 'shared_mlp.output_linear', 13]}, **GRANITE_TRAITS),
    'arcee': lambda: family('arcee', {'mlp_bias': True}, biases=('inner',), **PLAIN),
    'cwm': lambda: family('cwm', {'head_dim': 8, 'sliding_window': 5, 'rope_theta': 500.0,
                                  'rope_parameters': {'rope_type': 'default', 'rope_theta': 500.0}}, theta=500.0,
                          window=lambda n: 5 * (n % 4 != 0)),
    'nemotron': lambda: family('nemotron', {'norm_eps': 1e-5, 'partial_rotary_factor': 0.34}, OTHER, from_one=True, rotary=2,
                               **LAYER, **PLAIN),
    'helium': lambda: family('helium', {'head_dim': 6, 'rope_theta': 500.0}, pairs='pairs', theta=500.0),
    'gpt_bigcode': lambda: family(
        'gpt_bigcode', {'n_embd': 24, 'n_head': 4, 'n_layer': 2, 'n_positions': 26, 'n_inner': 37,
                        'tie_word_embeddings': True}, {**OTHER, 'num_key_value_heads': 1, 'intermediate_size': 37}, packed='attn.c_attn',
        attention=['', '', '', 'attn.c_proj'], biases=('in', 'out', 'inner'), **GPT2),
    'gpt_neo': lambda: family(
        'gpt_neo', {'num_layers': 3, 'num_heads': 4, 'attention_types': [[['global', 'local'], 1], [['local'], 1]],
                    'window_size': 5, 'tie_word_embeddings': True}, {**ALL_HEADS, 'num_hidden_layers': 3},
        attention=[f'attn.attention.{part}_proj' for part in ('q', 'k', 'v', 'out')], biases=('out', 'inner'), scale=1.0,
        window=lambda n: 5 * (n > 0), **GPT2),
    'dots1': lambda: family(
        'dots1', {'n_routed_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11, 'sliding_window': 5,
                  'max_window_layers': 1, 'first_k_dense_replace': 1, 'norm_topk_prob': True, 'rms_norm_eps': 1e-5},
        head_norm='each', window=lambda n: 5 * (n > 0), dense=(0,), moe=BIASED),
    'exaone_moe': lambda: family(
        'exaone_moe', {'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11, 'sliding_window': 5,
                       'sliding_window_pattern': 2, 'mlp_layer_types': ['sparse', 'dense']}, head_norm='each', dense=(1,),
        window=lambda n: 5 * (n == 0), turned=lambda n: n == 0,
        moe={**BIASED, 'bias': 'mlp.e_score_correction_bias', 'factor': 2.5, 'shared': [*SHARED, 11]}),
    'solar_open': lambda: family(
        'solar_open', {'head_dim': 8, 'n_routed_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11},
        theta=1000000.0, moe={**BIASED, 'shared': [*SHARED, 11]}),
    'hy_v3': lambda: family(
        'hy_v3', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                  'router_scaling_factor': 1.7, 'rope_theta': 500.0}, head_norm='each', dense=(0,), theta=500.0,
        moe={**BIASED, 'router': 'mlp.router.gate', 'bias': 'mlp.expert_bias', 'factor': 1.7,
             'shared': [*(f'mlp.shared_mlp.{p}_proj' for p in ('gate', 'up', 'down')), 11]}),
    'flint': lambda: family(
        'flint', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                  'sliding_window': 5, 'shared_expert_intermediate_size': 13, 'mlp_only_layers': [1],
                  'num_hidden_layers': 4}, head_norm='each', dense=(1,), sinks='self_attn.softmax_offset',
        window=lambda n: 5 * (n == 2), turned=lambda n: n == 2,
        moe={**BIASED, 'bias': None, 'shared': [*(f'mlp.shared_expert.{p}_proj' for p in ('gate', 'up', 'down')), 13]}),
    'ernie4_5_moe': lambda: family(
        'ernie4_5_moe', {'moe_num_experts': 5, 'moe_k': 2, 'moe_intermediate_size': 11, 'moe_num_shared_experts': 2},
        pairs='pairs', theta=500000.0, dense=(0,),
        moe={**MOE, 'bias': 'mlp.moe_statics.e_score_correction_bias', 'bias_rows': (1,), 'shared': [*SHARED, 22]}),
    'flex_olmo': lambda: family('flex_olmo', {'num_experts': 5, 'num_experts_per_tok': 2}, head_norm='all',
                                theta=500000.0, moe={**MOE, 'inner': 37, 'normalized': False}, **BEHIND),
    'granite_swa': lambda: family(
        'granite_swa', {**GRANITE, 'sliding_window': 5, 'layer_rope_theta': [500.0, 0, 900.0], 'num_hidden_layers': 3},
        theta=[500.0, 0, 900.0], turned=lambda n: n != 1, window=lambda n: 5 * (n != 0), sinks='self_attn.sinks',
        **GRANITE_TRAITS),
    'hyperclovax': lambda: family(
        'hyperclovax', {'embedding_multiplier': 3.0, 'residual_multiplier': 0.22, 'logits_scaling': 0.25},
        behind=('post_norm1', 'post_norm2'), factors=(3.0, 0.22, 0.25)),
    'hunyuan_v1_dense': lambda: family(
        'hunyuan_v1_dense', {'rope_scaling': {'rope_type': 'dynamic', 'factor': 1.0, 'alpha': 7.0}}, head_norm='each',
        head_names=('self_attn.query_layernorm', 'self_attn.key_layernorm'), behind_rope=True, theta=10000.0 * 7.0**(6 / 4)),
    'vaultgemma': lambda: family(
        'vaultgemma', {'head_dim': 8, 'sliding_window': 5, 'query_pre_attn_scalar': 5.0, 'attn_logit_softcapping': 1.5,
                       'final_logit_softcapping': 3.0, 'tie_word_embeddings': True}, from_one=True,
        before=('input_layernorm', 'pre_feedforward_layernorm'), factors=(24**0.5, 1.0, 1.0), scale=5.0**-0.5,
        activation='gelu_tanh', window=lambda n: 5 * (n == 0), caps=(1.5, 3.0)),
    'internlm3': lambda: family('internlm3', {'head_dim': 8, 'qkv_bias': True, 'bias': True},
                                biases=('in', 'out', 'inner')),
    'iquestcoder': lambda: family('iquestcoder', {'head_dim': 8}),
    'jais2': lambda: family('jais2', {'layer_norm_eps': 1e-5}, OTHER, biases=('in', 'out', 'inner'), **LAYER, **PLAIN),
    'persimmon': lambda: family(
        'persimmon', {'layer_norm_eps': 1e-5, 'partial_rotary_factor': 0.34}, ALL_HEADS, rotary=2,
        packed='self_attn.query_key_value', packing='heads', attention=['', '', '', 'self_attn.dense'],
        biases=('in', 'out', 'inner'), head_norm='each', head_form='layer',
        head_names=('self_attn.q_layernorm', 'self_attn.k_layernorm'), last='model.final_layernorm', inner=('', 'mlp.dense_h_to_4h', 'mlp.dense_4h_to_h'), activation='relu_squared',
        **LAYER),
    'hunyuan_v1_moe': lambda: family(
        'hunyuan_v1_moe', {'num_experts': 5, 'moe_topk': 2}, head_norm='each', behind_rope=True,
        head_names=('self_attn.query_layernorm', 'self_attn.key_layernorm'),
        moe={**MOE, 'inner': 37, 'router': 'mlp.gate.wg',
             'shared': [*(f'mlp.shared_mlp.{p}_proj' for p in ('gate', 'up', 'down')), 37]}),
    'granitemoe_swa': lambda: family(
        'granitemoe_swa', {**GRANITE_EXPERTS, 'sliding_window': 5}, window=lambda n: 5 * (n != 0), sinks='self_attn.sinks',
        moe={**MOE, 'inner': 37, 'router': 'block_sparse_moe.router',
             'in_one': [f'block_sparse_moe.experts.{name}_proj' for name in ('gate_up', 'down')]}, **GRANITE_TRAITS),
    'mellum': lambda: family(
        'mellum', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                   'sliding_window': 5, 'layer_types': ['sliding_attention', 'full_attention'],
                   'rope_parameters': {'full_attention': {'rope_type': 'default', 'rope_theta': 500.0},
                                       'sliding_attention': {'rope_type': 'default', 'rope_theta': 90.0}}},
        head_norm='each', theta=[90.0, 500.0], window=lambda n: 5 * (n == 0), moe=MOE),
    'afmoe': lambda: family(
        'afmoe', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                  'num_shared_experts': 2, 'route_scale': 1.7, 'sliding_window': 5, 'global_attn_every_n_layers': 2,
                  'mup_enabled': True}, head_norm='each', gate='self_attn.gate_proj', factors=(24**0.5, 1.0, 1.0),
        before=('input_layernorm', 'pre_mlp_layernorm'), behind=('post_attention_layernorm', 'post_mlp_layernorm'),
        window=lambda n: 5 * (n == 0), turned=lambda n: n == 0, dense=(0,),
        moe={**BIASED, 'router': 'mlp.router.gate', 'bias': 'mlp.expert_bias', 'factor': 1.7, 'shared': [*SHARED, 22]}),
    'cohere2_moe': lambda: family(
        'cohere2_moe', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'num_shared_experts': 1,
                        'sliding_window': 5, 'sliding_window_pattern': 2, 'first_k_dense_replace': 1,
                        'prefix_dense_intermediate_size': 37, 'num_hidden_layers': 3, 'tie_word_embeddings': True,
                        'expert_selection_fn': 'sigmoid', 'norm_topk_prob': False, 'logit_scale': 0.25,
                        'layer_norm_eps': 1e-5, 'rms_norm_eps': None}, parallel=True, form='layer',
        before=('input_layernorm', ''), pairs='pairs', factors=(1.0, 1.0, 0.25), dense=(0,),
        window=lambda n: 5 * (n == 1), turned=lambda n: n < 2,
        moe={**MOE, 'inner': 37, 'scores': 'sigmoid', 'normalized': False, 'average': True, 'shared': [*SHARED, 37]}),
    'openai-gpt': lambda: family(
        'openai-gpt', {'n_embd': 24, 'n_head': 4, 'n_layer': 2, 'n_positions': 26, 'tie_word_embeddings': True},
        {**ALL_HEADS, 'intermediate_size': 96}, transposed=True, packed='attn.c_attn',
        attention=['', '', '', 'attn.c_proj'], biases=('in', 'out', 'inner'), **{
            **GPT2, 'table': 'transformer.tokens_embed', 'rows': 'transformer.positions_embed', 'last': '',
            'before': ('', ''), 'sums': ('ln_1', 'ln_2')}),
    'xglm': lambda: family(
        'xglm', {'d_model': 24, 'attention_heads': 4, 'num_layers': 2, 'ffn_dim': 37, 'tie_word_embeddings': True},
        {**ALL_HEADS, 'intermediate_size': 37, 'num_attention_heads': 4}, sinusoids=True, first=2, last='model.layer_norm',
        before=('self_attn_layer_norm', 'final_layer_norm'), turned=lambda n: False, factors=(24**0.5, 1.0, 1.0),
        attention=[f'self_attn.{part}_proj' for part in ('q', 'k', 'v', 'out')], inner=('', 'fc1', 'fc2'),
        activation='gelu', biases=('in', 'out', 'inner'), **LAYER),
    'biogpt': lambda: family(
        'biogpt', {'tie_word_embeddings': True}, ALL_HEADS, place='biogpt.layers',
        table='biogpt.embed_tokens', rows='biogpt.embed_positions', first=2, last='biogpt.layer_norm',
        before=('self_attn_layer_norm', 'final_layer_norm'), turned=lambda n: False, factors=(24**0.5, 1.0, 1.0),
        attention=[f'self_attn.{part}_proj' for part in ('q', 'k', 'v', 'out')], inner=('', 'fc1', 'fc2'),
        activation='gelu', biases=('in', 'out', 'inner'), **LAYER),
}
# Compiling takes most of the time.
COMPILED = {'glm4_moe', 'olmoe', 'nemotron', 'gpt_neo'}
