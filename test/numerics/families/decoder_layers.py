# SPDX-License-Identifier: Apache-2.0
"""Decoders on lists of numbers, as the papers and the documentation of the families describe them.

A function takes a Checkpoint, the configuration and the token ids of one text and yields rows of logits; nothing is
shared with the compiler.
"""
import math

import plain_math as pm
from family_layers import add, apply, layer_norm, linear, scores


def scaled(x, factor):
    return pm.each(lambda v: v * factor, x)


def times(x, y):
    return [[a * b for a, b in zip(*rows)] for rows in zip(x, y)]


def rms(x, weight, epsilon, groups=1):
    return pm.norm('rms', x, weight, None, epsilon, groups)


def centred(x, weight, epsilon):
    """Layer norm without bias."""
    return pm.norm('layer', x, weight, None, epsilon, 1)


def heads_of(row, width):
    return [row[i:i + width] for i in range(0, len(row), width)]


def by_head(function, x, width):
    """function(head's features, head's number, position) for every head of every row."""
    return [[v for h, part in enumerate(heads_of(row, width)) for v in function(part, h, p)] for p, row in enumerate(x)]


# --- rotary positions


def inverse_frequencies(base, rotary):
    return [1 / base**(2 * i / rotary) for i in range(rotary // 2)]


def yarn(base, rotary, factor, original, fast=32, slow=1):
    """The frequencies of YaRN, and what cosines and sines are multiplied by."""
    def pair(turns):
        return rotary * math.log(original / (2 * math.pi * turns)) / (2 * math.log(base))
    low, high = max(math.floor(pair(fast)), 0), min(math.ceil(pair(slow)), rotary - 1)
    high += 0.001 if low == high else 0
    result = []
    for i, f in enumerate(inverse_frequencies(base, rotary)):
        ramp = min(max((i - low) / (high - low), 0), 1)
        result.append(f / factor * ramp + f * (1 - ramp))
    return result, 0.1 * math.log(factor) + 1


def turn(x, width, frequencies, pairs='halves', amplitude=1.0):
    """`frequencies`: a list, or a function from the position to one."""
    def one(part, head, position):
        part = list(part)
        turns = frequencies(position) if callable(frequencies) else frequencies
        half = len(turns)
        for i, f in enumerate(turns):
            a, b = (i, i + half) if pairs == 'halves' else (2 * i, 2 * i + 1)
            c, s = amplitude * math.cos(position * f), amplitude * math.sin(position * f)
            part[a], part[b] = part[a] * c - part[b] * s, part[b] * c + part[a] * s
        return part
    return by_head(one, x, width)


# --- attention


def attend(q, k, v, width, scale, window=0, cap=0.0, bias=None, prefix=0):
    """Causal, but tokens of the prefix see each other; queries share keys and values in groups. `bias` maps head, query
    and key to what is added."""
    heads, shared = len(q[0]) // width, len(k[0]) // width
    result = []
    for i, row in enumerate(q):
        out = []
        for h, query in enumerate(heads_of(row, width)):
            at = h // (heads // shared) * width
            seen = range(max(0, i - window + 1) if window else 0, max(i + 1, prefix if i < prefix else 0))
            scores = []
            for j in seen:
                score = scale * sum(a * b for a, b in zip(query, k[j][at:at + width]))
                score = cap * math.tanh(score / cap) if cap else score
                scores.append(score + (bias(h, i, j) if bias else 0.0))
            weights = [math.exp(score - max(scores)) for score in scores]
            out += [sum(w * v[j][at + f] for w, j in zip(weights, seen)) / sum(weights) for f in range(width)]
        result.append(out)
    return result


def slopes(heads):
    """Slopes of ALiBi: those for a power of two, and every other one of those for twice as many."""
    def powers(count):
        start = 2**(-2**-(math.log2(count) - 3))
        return [start**(i + 1) for i in range(count)]
    if math.log2(heads).is_integer():
        return powers(heads)
    nearest = 2**math.floor(math.log2(heads))
    return powers(nearest) + powers(2 * nearest)[::2][:heads - nearest]


# --- Llama's relatives


def gated(c, at, x, activation):
    gate, up = (linear(c, f'{at}mlp.{name}_proj', x) for name in ('gate', 'up'))
    return linear(c, at + 'mlp.down_proj', times(apply(activation, gate), up))


def projections(c, at, x):
    return [linear(c, f'{at}self_attn.{name}_proj', x) for name in 'qkv']


def embedded(c, ids, name='model.embed_tokens.weight'):
    return [c[name][i] for i in ids]


def gemma(c, config, ids):
    """All three. `root` is the square root of the width as the checkpoint's type has it."""
    kind, width, epsilon = config['model_type'], config['head_dim'], 1e-6
    norm = lambda name, x: rms(x, [1 + w for w in c[name + '.weight']], epsilon)
    x = scaled(embedded(c, ids), pm.ROUND[c.dtype.lower()](math.sqrt(config['hidden_size'])))
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        window, base, factor = 0, config.get('rope_theta', 10000.0), 1.0
        if kind == 'gemma2' and n % 2 == 0:
            window = config['sliding_window']
        if kind == 'gemma3_text':
            full = (n + 1) % config['sliding_window_pattern'] == 0
            window, base = (0, config['rope_theta']) if full else (config['sliding_window'], 10000.0)
            factor = config['rope_scaling']['factor'] if full else 1.0
        y = norm(at + 'input_layernorm', x)
        q, k, v = projections(c, at, y)
        if kind == 'gemma3_text':
            q, k = (by_head(lambda part, h, p: rms([part], [1 + w for w in c[f'{at}self_attn.{name}_norm.weight']],
                                                   epsilon)[0], z, width) for name, z in (('q', q), ('k', k)))
        turns = [f / factor for f in inverse_frequencies(base, width)]
        scale = width**-0.5 if kind == 'gemma' else config['query_pre_attn_scalar']**-0.5
        cap = config['attn_logit_softcapping'] if kind == 'gemma2' else 0.0
        y = attend(turn(q, width, turns), turn(k, width, turns), v, width, scale, window, cap)
        y = linear(c, at + 'self_attn.o_proj', y)
        if kind == 'gemma':
            x = add(x, y)
            x = add(x, gated(c, at, norm(at + 'post_attention_layernorm', x), 'gelu_tanh'))
        else:
            x = add(x, norm(at + 'post_attention_layernorm', y))
            y = gated(c, at, norm(at + 'pre_feedforward_layernorm', x), 'gelu_tanh')
            x = add(x, norm(at + 'post_feedforward_layernorm', y))
    logits = scores(c, norm('model.norm', x), 'model.embed_tokens.weight')
    last = config.get('final_logit_softcapping')
    return pm.each(lambda z: last * math.tanh(z / last), logits) if last else logits


def llama(c, config, ids, prefix=0):
    """Llama itself, and what SmolLM3, OLMo 2 and 3, Granite and Phi-3 change."""
    kind, epsilon = config['model_type'], config['rms_norm_eps']
    behind = kind in ('olmo2', 'olmo3')
    width = config['hidden_size'] // config['num_attention_heads']
    norm = lambda name, x: rms(x, c[name + '.weight'], epsilon)
    turns, amplitude = rotary_of(config, width, len(ids))
    residual = config.get('residual_multiplier', 1.0)
    x = scaled(embedded(c, ids), config.get('embedding_multiplier', 1.0))
    for n in range(config['num_hidden_layers']):
        at, window = f'model.layers.{n}.', config.get('sliding_window') or 0
        if config.get('layer_types'):
            window = window if config['layer_types'][n] == 'sliding_attention' else 0
        if kind == 'olmo3':  # what scales positions is for the layers without a window
            full = (n + 1) % 4 == 0
            window, near = 0 if full else window, inverse_frequencies(config['rope_theta'], width)
            turns, amplitude = rotary_of(config, width, len(ids)) if full else (near, 1.0)
        y = x if behind else norm(at + 'input_layernorm', x)
        q, k, v = split_fused(c, config, at, y) if kind == 'phi3' else projections(c, at, y)
        if behind:
            q, k = norm(at + 'self_attn.q_norm', q), norm(at + 'self_attn.k_norm', k)
        if kind != 'smollm3' or (n + 1) % config['no_rope_layer_interval']:
            q, k = turn(q, width, turns, amplitude=amplitude), turn(k, width, turns, amplitude=amplitude)
        scale = config['attention_multiplier'] if kind == 'granite' else width**-0.5
        y = attend(q, k, v, width, scale, window, prefix=prefix)
        y = linear(c, at + 'self_attn.o_proj', y)
        if behind:
            x = add(x, norm(at + 'post_attention_layernorm', y))
            x = add(x, norm(at + 'post_feedforward_layernorm', gated(c, at, x, 'silu')))
            continue
        x = add(x, scaled(y, residual))
        y = norm(at + 'post_attention_layernorm', x)
        if kind == 'phi3':
            both = linear(c, at + 'mlp.gate_up_proj', y)
            half = len(both[0]) // 2
            y = times(apply('silu', [row[:half] for row in both]), [row[half:] for row in both])
            y = linear(c, at + 'mlp.down_proj', y)
        else:
            y = gated(c, at, y, 'silu')
        x = add(x, scaled(y, residual))
    logits = scores(c, norm('model.norm', x), 'model.embed_tokens.weight')
    return scaled(logits, 1 / config.get('logits_scaling', 1.0))


class CompressiveMemory:
    """The memory of one key-value head: M, z, and what the open segment will add to them."""

    def __init__(self, width):
        self.matrix, self.divisor = [[0.0] * width for _ in range(width)], [0.0] * width
        self.later = []  # pairs of an activated key and what it leaves

    @staticmethod
    def activate(vector):
        return [x + 1 if x > 0 else math.exp(x) for x in vector]

    def read(self, vector):
        active, width = self.activate(vector), len(vector)
        total = max(sum(a * z for a, z in zip(active, self.divisor)), 1e-6)
        return [sum(active[i] * self.matrix[i][j] for i in range(width)) / total for j in range(width)]

    def write(self, key, value, delta):
        left = [v - r for v, r in zip(value, self.read(key))] if delta else value
        self.later.append((self.activate(key), left))

    def close_segment(self):
        for active, left in self.later:
            for i, a in enumerate(active):
                self.divisor[i] += a
                for j, v in enumerate(left):
                    self.matrix[i][j] += a * v
        self.later = []


def infini_attention(c, config, at, x, width, turns, amplitude):
    """Token by token, with the position inside the segment; segments see each other through the memory alone."""
    memory, heads, shared = config['infini_attention'], config['num_attention_heads'], config['num_key_value_heads']
    length, delta = memory['segment_length'], memory.get('update') == 'delta'
    gates, result = c[at + 'self_attn.infini_beta'], []
    q, k, v = projections(c, at, x)
    kept = [CompressiveMemory(width) for _ in range(shared)]
    for first in range(0, len(x), length):
        segment = range(first, min(first + length, len(x)))
        rows = [[z[t] for t in segment] for z in (q, k, v)]
        local = attend(turn(rows[0], width, turns, amplitude=amplitude),
                       turn(rows[1], width, turns, amplitude=amplitude), rows[2], width, width**-0.5)
        for t, inside in zip(segment, local):
            row = []
            for h in range(heads):
                share = 1 / (1 + math.exp(-gates[h]))
                if first == 0 and memory.get('first_segment') == 'local':
                    share = 0.0
                own = slice(h * width, (h + 1) * width)
                found = kept[h // (heads // shared)].read(q[t][own]) if first else [0.0] * width
                row += [share * a + (1 - share) * b for a, b in zip(found, inside[own])]
            result.append(row)
            for g in range(shared):
                own = slice(g * width, (g + 1) * width)
                kept[g].write(k[t][own], v[t][own], delta and first > 0)
        for one in kept:
            one.close_segment()
    return result


def infini(c, config, ids):
    """Llama and Qwen2 with Infini-attention."""
    width = config['hidden_size'] // config['num_attention_heads']
    norm = lambda name, x: rms(x, c[name + '.weight'], config['rms_norm_eps'])
    turns, amplitude = rotary_of(config, width, len(ids))
    x = embedded(c, ids)
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        y = infini_attention(c, config, at, norm(at + 'input_layernorm', x), width, turns, amplitude)
        x = add(x, linear(c, at + 'self_attn.o_proj', y))
        x = add(x, gated(c, at, norm(at + 'post_attention_layernorm', x), 'silu'))
    return linear(c, 'lm_head', norm('model.norm', x))


def mixture(c, config, ids):
    """Mixtral, Qwen2-MoE and Qwen3-MoE."""
    kind, epsilon = config['model_type'], config['rms_norm_eps']
    width = config.get('head_dim') or config['hidden_size'] // config['num_attention_heads']
    norm = lambda name, x: rms(x, c[name + '.weight'], epsilon)
    turns = inverse_frequencies(config['rope_theta'], width)
    x = embedded(c, ids)
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        q, k, v = projections(c, at, norm(at + 'input_layernorm', x))
        if kind == 'qwen3_moe':
            q, k = (by_head(lambda part, h, p: rms([part], c[f'{at}self_attn.{name}_norm.weight'], epsilon)[0], z, width)
                    for name, z in (('q', q), ('k', k)))
        y = attend(turn(q, width, turns), turn(k, width, turns), v, width, width**-0.5)
        x = add(x, linear(c, at + 'self_attn.o_proj', y))
        y = norm(at + 'post_attention_layernorm', x)
        dense = kind != 'mixtral' and n in config['mlp_only_layers']
        x = add(x, gated(c, at, y, 'silu') if dense else [mixed_row(c, config, at, row) for row in y])
    return linear(c, 'lm_head', norm('model.norm', x))


def expert(c, place, row, names):
    gate, up, down = (c[f'{place}.{name}.weight'] for name in names)
    gates, ups = pm.linear([row], gate, None)[0], pm.linear([row], up, None)[0]
    return pm.linear([[pm.ACTIVATIONS['silu'](a) * b for a, b in zip(gates, ups)]], down, None)[0]


def mixed_row(c, config, at, row):
    """Probabilities of all experts; the best ones, made a distribution if so configured."""
    mixtral = config['model_type'] == 'mixtral'
    place = at + ('block_sparse_moe' if mixtral else 'mlp')
    names = ('w1', 'w3', 'w2') if mixtral else ('gate_proj', 'up_proj', 'down_proj')
    chances = pm.softmax(pm.linear([row], c[place + '.gate.weight'], None))[0]
    best = sorted(range(len(chances)), key=lambda e: (-chances[e], e))[:config['num_experts_per_tok']]
    total = sum(chances[e] for e in best) if mixtral or config['norm_topk_prob'] else 1.0
    result = [0.0] * len(row)
    for e in sorted(best):
        made = expert(c, f'{place}.experts.{e}', row, names)
        result = [a + chances[e] / total * b for a, b in zip(result, made)]
    if config['model_type'] == 'qwen2_moe':
        share = pm.sigmoid(pm.linear([row], c[place + '.shared_expert_gate.weight'], None)[0][0])
        made = expert(c, place + '.shared_expert', row, names)
        result = [a + share * b for a, b in zip(result, made)]
    return result


def rotary_of(config, width, tokens):
    """The frequencies of rope_scaling for a text of so many tokens, and the amplitude."""
    base, longest = config.get('rope_theta', 10000.0), config['max_position_embeddings']
    rotary = int(width * config.get('partial_rotary_factor', 1.0))
    plain, scaling = inverse_frequencies(base, rotary), config.get('rope_scaling')
    if not scaling:
        return plain, 1.0
    kind = scaling['rope_type']
    if kind == 'yarn':
        return yarn(base, rotary, scaling['factor'], scaling['original_max_position_embeddings'])
    if kind == 'dynamic':
        def of(position):
            """A text of as many tokens as are there when this one is."""
            length, factor = position + 1, scaling['factor']
            if length <= longest:
                return plain
            grown = base * (factor * length / longest - (factor - 1))**(rotary / (rotary - 2))
            return inverse_frequencies(grown, rotary)
        return of, 1.0
    original = config['original_max_position_embeddings']
    factors = scaling['long_factor' if tokens > original else 'short_factor']
    growth = longest / original
    return [f / s for f, s in zip(plain, factors)], math.sqrt(1 + math.log(growth) / math.log(original))


def split_fused(c, config, at, x):
    rows = linear(c, at + 'self_attn.qkv_proj', x)
    heads, shared = config['num_attention_heads'], config['num_key_value_heads']
    width = config['hidden_size'] // heads
    a, b = heads * width, (heads + shared) * width
    return [row[:a] for row in rows], [row[a:b] for row in rows], [row[b:] for row in rows]


def cohere(c, config, ids):
    width, epsilon = config['hidden_size'] // config['num_attention_heads'], config['layer_norm_eps']
    turns = inverse_frequencies(config['rope_theta'], width)
    x = embedded(c, ids)
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        y = centred(x, c[at + 'input_layernorm.weight'], epsilon)
        q, k, v = projections(c, at, y)
        if config['use_qk_norm']:
            q, k = (by_head(lambda part, h, p: centred([part], c[f'{at}self_attn.{name}_norm.weight'][h], epsilon)[0],
                            z, width) for name, z in (('q', q), ('k', k)))
        window = 0
        if config['model_type'] == 'cohere2' and (n + 1) % config['sliding_window_pattern']:
            window = config['sliding_window']
        if config['model_type'] == 'cohere' or window:
            q, k = turn(q, width, turns, 'pairs'), turn(k, width, turns, 'pairs')
        y2 = attend(q, k, v, width, width**-0.5, window)
        x = add(add(x, linear(c, at + 'self_attn.o_proj', y2)), gated(c, at, y, 'silu'))
    x = centred(x, c['model.norm.weight'], epsilon)
    return scaled(scores(c, x, 'model.embed_tokens.weight'), config['logit_scale'])


def stablelm(c, config, ids):
    width, epsilon = config['hidden_size'] // config['num_attention_heads'], config['layer_norm_eps']
    turns = inverse_frequencies(10000.0, int(width * 0.25))
    x = embedded(c, ids)
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        y = layer_norm(c, at + 'input_layernorm', x, epsilon)
        q, k, v = projections(c, at, y)
        if config['qk_layernorm']:
            own = lambda name, h: c[f'{at}self_attn.{name}_layernorm.norms.{h}.weight']
            q, k = (by_head(lambda part, h, p: centred([part], own(name, h), epsilon)[0], z, width)
                    for name, z in (('q', q), ('k', k)))
        mixed = attend(turn(q, width, turns), turn(k, width, turns), v, width, width**-0.5)
        mixed = add(x, linear(c, at + 'self_attn.o_proj', mixed))
        if not config['use_parallel_residual']:
            y = layer_norm(c, at + 'post_attention_layernorm', mixed, epsilon)
        x = add(mixed, gated(c, at, y, 'silu'))
    return linear(c, 'lm_head', layer_norm(c, 'model.norm', x, epsilon))


def phi(c, config, ids):
    width = config['hidden_size'] // config['num_attention_heads']
    turns = inverse_frequencies(10000.0, int(width * config['partial_rotary_factor']))
    x = embedded(c, ids)
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        y = layer_norm(c, at + 'input_layernorm', x, 1e-5)
        q, k, v = projections(c, at, y)
        if config['qk_layernorm']:
            q, k = (by_head(lambda part, h, p: layer_norm(c, f'{at}self_attn.{name}_layernorm', [part], 1e-5)[0], z,
                            width) for name, z in (('q', q), ('k', k)))
        mixed = attend(turn(q, width, turns), turn(k, width, turns), v, width, width**-0.5)
        inside = apply('gelu_tanh', linear(c, at + 'mlp.fc1', y))
        x = add(add(x, linear(c, at + 'self_attn.dense', mixed)), linear(c, at + 'mlp.fc2', inside))
    return linear(c, 'lm_head', layer_norm(c, 'model.final_layernorm', x, 1e-5))
