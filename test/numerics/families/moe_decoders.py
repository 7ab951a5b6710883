# SPDX-License-Identifier: Apache-2.0
"""MoE decoders with windows, sinks and latent attention on lists of numbers, as their documentation describes them; see
decoder_layers."""
import math

import plain_math as pm
from decoder_layers import (attend, embedded, expert, gated, heads_of, inverse_frequencies, projections, rms, scaled,
                            times, turn, yarn)
from family_layers import add, apply, linear


def chosen_of(scores, count):
    """The places of the largest, of equal ones the first."""
    return sorted(range(len(scores)), key=lambda e: (-scores[e], e))[:count]


def sum_of(weighted):
    """The sum of weighted rows, in the order of the pairs (weight, row)."""
    return [sum(weight * row[i] for weight, row in weighted) for i in range(len(weighted[0][1]))]


# --- gpt-oss


def clamped_expert(c, at, e, row):
    """One expert: gate and up alternate in the columns of a matrix [inputs, outputs]."""
    place = at + 'mlp.experts.'
    both = [sum(x * w for x, w in zip(row, column)) for column in zip(*c[place + 'gate_up_proj'][e])]
    both = [a + b for a, b in zip(both, c[place + 'gate_up_proj_bias'][e])]
    inside = []
    for g, u in zip(both[::2], both[1::2]):
        g, u = min(g, 7.0), max(min(u, 7.0), -7.0)
        inside.append((u + 1) * g / (1 + math.exp(-1.702 * g)))
    out = [sum(x * w for x, w in zip(inside, column)) for column in zip(*c[place + 'down_proj'][e])]
    return [a + b for a, b in zip(out, c[place + 'down_proj_bias'][e])]


def clamped_mixture(c, config, at, row):
    """The softmax is that of the chosen scores alone."""
    scores = linear(c, at + 'mlp.router', [row])[0]
    best = chosen_of(scores, config['num_experts_per_tok'])
    weights = pm.softmax([[scores[e] for e in best]])[0]
    return sum_of([(w, clamped_expert(c, at, e, row)) for w, e in zip(weights, best)])


def gpt_oss(c, config, ids):
    width = config['head_dim']
    norm = lambda name, x: rms(x, c[name + '.weight'], config['rms_norm_eps'])
    scaling = config['rope_scaling']
    base, original = config['rope_theta'], scaling['original_max_position_embeddings']
    turns = yarn_untruncated(base, width, scaling['factor'], original)
    amplitude = 0.1 * math.log(scaling['factor']) + 1
    x = embedded(c, ids)
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        q, k, v = projections(c, at, norm(at + 'input_layernorm', x))
        q, k = (turn(z, width, turns, amplitude=amplitude) for z in (q, k))
        window = config['sliding_window'] if n % 2 == 0 else 0
        y = attend_sunk(q, k, v, width, window, c[at + 'self_attn.sinks'])
        x = add(x, linear(c, at + 'self_attn.o_proj', y))
        y = norm(at + 'post_attention_layernorm', x)
        x = add(x, [clamped_mixture(c, config, at, row) for row in y])
    return linear(c, 'lm_head', norm('model.norm', x))


def yarn_untruncated(base, rotary, factor, original, fast=32, slow=1):
    def pair(turns):
        return rotary * math.log(original / (2 * math.pi * turns)) / (2 * math.log(base))
    low, high = max(pair(fast), 0), min(pair(slow), rotary - 1)
    ramps = [min(max((i - low) / (high - low), 0), 1) for i in range(rotary // 2)]
    return [f / factor * r + f * (1 - r) for f, r in zip(inverse_frequencies(base, rotary), ramps)]


def attend_sunk(q, k, v, width, window, sinks):
    """Causal; each head's softmax has one more score, which has no value."""
    heads, shared = len(q[0]) // width, len(k[0]) // width
    result = []
    for i, row in enumerate(q):
        out = []
        for h, query in enumerate(heads_of(row, width)):
            at = h // (heads // shared) * width
            seen = range(max(0, i - window + 1) if window else 0, i + 1)
            scores = [sum(a * b for a, b in zip(query, k[j][at:at + width])) * width**-0.5 for j in seen]
            weights = pm.softmax([[*scores, sinks[h]]])[0][:-1]
            out += [sum(w * v[j][at + f] for w, j in zip(weights, seen)) for f in range(width)]
        result.append(out)
    return result


# --- DeepSeek


def decompressed(c, config, at, x):
    """Queries, keys and values of every head, each as if it had its own: [plain | turned], and values."""
    heads, plain, turned = (config[k] for k in ('num_attention_heads', 'qk_nope_head_dim', 'qk_rope_head_dim'))
    latent, values = config['kv_lora_rank'], config['v_head_dim']
    turns, pairs = inverse_frequencies(config['rope_theta'], turned), 'pairs'
    if config.get('rope_interleave') is False or config['model_type'] == 'minicpm3':
        pairs = 'halves'
    if 'rope_scaling' in config:
        s = config['rope_scaling']
        turns, _ = yarn(config['rope_theta'], turned, s['factor'], s['original_max_position_embeddings'])
    if config['q_lora_rank']:
        x_q = rms(linear(c, at + 'q_a_proj', x), c[at + 'q_a_layernorm.weight'], 1e-6)
        q = linear(c, at + 'q_b_proj', x_q)
    else:
        q = linear(c, at + 'q_proj', x)
    both = linear(c, at + 'kv_a_proj_with_mqa', x)
    shared = turn([row[latent:] for row in both], turned, turns, pairs)
    made = linear(c, at + 'kv_b_proj', rms([row[:latent] for row in both], c[at + 'kv_a_layernorm.weight'], 1e-6))
    queries, keys, results = [], [], []
    by_position = turn([[v for h in heads_of(row, plain + turned) for v in h[plain:]] for row in q], turned, turns, pairs)
    for row, position, own, key in zip(q, by_position, made, shared):
        parts = zip(heads_of(row, plain + turned), heads_of(position, turned))
        queries.append([v for head, r in parts for v in head[:plain] + r])
        keys.append([v for head in heads_of(own, plain + values) for v in head[:plain] + key])
        results.append([v for head in heads_of(own, plain + values) for v in head[plain:]])
    return queries, keys, results


def attend_wide(q, k, v, heads, scale):
    """Causal, with values of another width than keys."""
    width, values = len(q[0]) // heads, len(v[0]) // heads
    result = []
    for i, row in enumerate(q):
        out = []
        for h, query in enumerate(heads_of(row, width)):
            scores = [scale * sum(a * b for a, b in zip(query, key[h * width:])) for key in k[:i + 1]]
            weights = pm.softmax([scores])[0]
            out += [sum(w * v[j][h * values + f] for j, w in enumerate(weights)) for f in range(values)]
        result.append(out)
    return result


def routed(c, config, at, row):
    """(weight, expert), ascending."""
    third, count = config['model_type'] != 'deepseek_v2', config['n_routed_experts']
    logits = pm.linear([row], c[at + 'mlp.gate.weight'], None)
    scores = [pm.sigmoid(z) for z in logits[0]] if third else pm.softmax(logits)[0]
    compared = list(scores)
    if third:
        compared = [s + b for s, b in zip(scores, c[at + 'mlp.gate.e_score_correction_bias'])]
    if config.get('n_group'):
        each = count // config['n_group']
        groups = [sorted(compared[g:g + each], reverse=True) for g in range(0, count, each)]
        kept = chosen_of([sum(group[:2 if third else 1]) for group in groups], config['topk_group'])
        compared = [s if e // each in kept else -math.inf for e, s in enumerate(compared)]
    best = sorted(chosen_of(compared, config['num_experts_per_tok']))
    total = sum(scores[e] for e in best) if third and config['norm_topk_prob'] else 1.0
    return [(scores[e] / total * config['routed_scaling_factor'], e) for e in best]


def deepseek(c, config, ids):
    heads, width = config['num_attention_heads'], config['qk_nope_head_dim'] + config['qk_rope_head_dim']
    norm = lambda name, x: rms(x, c[name + '.weight'], config['rms_norm_eps'])
    scale = width**-0.5
    if 'rope_scaling' in config:
        s = config['rope_scaling']
        scale *= (0.1 * s['mscale_all_dim'] * math.log(s['factor']) + 1)**2
    names = ('gate_proj', 'up_proj', 'down_proj')
    layers = config['num_hidden_layers']
    residual = config['scale_depth'] / math.sqrt(layers) if 'scale_depth' in config else 1.0
    x = scaled(embedded(c, ids), config.get('scale_emb', 1.0))
    for n in range(layers):
        at = f'model.layers.{n}.'
        q, k, v = decompressed(c, config, at + 'self_attn.', norm(at + 'input_layernorm', x))
        x = add(x, scaled(linear(c, at + 'self_attn.o_proj', attend_wide(q, k, v, heads, scale)), residual))
        y = norm(at + 'post_attention_layernorm', x)
        if n < config['first_k_dense_replace']:
            x = add(x, scaled(gated(c, at, y, 'silu'), residual))
            continue
        mixed = [sum_of([(w, expert(c, f'{at}mlp.experts.{e}', row, names)) for w, e in routed(c, config, at, row)])
                 for row in y]
        gate, up = (linear(c, f'{at}mlp.shared_experts.{name}', y) for name in names[:2])
        x = add(x, add(mixed, linear(c, at + 'mlp.shared_experts.down_proj', times(apply('silu', gate), up))))
    base = config.get('dim_model_base', config['hidden_size'])
    return scaled(linear(c, 'lm_head', norm('model.norm', x)), base / config['hidden_size'])
