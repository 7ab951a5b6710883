# SPDX-License-Identifier: Apache-2.0
"""Decoders with layer norms and a plain feed-forward on lists of numbers; see decoder_layers."""
import math

import plain_math as pm
from decoder_layers import attend, embedded, inverse_frequencies, slopes, turn
from family_layers import add, apply, layer_norm, linear, scores


def columns(x, chosen):
    return [[row[i] for i in chosen] for row in x]


def per_head(x, width, which):
    """Takes queries, keys or values from rows that hold all three of one head after the other."""
    return columns(x, [i for i in range(len(x[0])) if i // width % 3 == which])


def gpt_neox(c, config, ids):
    width, epsilon = config['hidden_size'] // config['num_attention_heads'], config['layer_norm_eps']
    turns = inverse_frequencies(config['rotary_emb_base'], int(width * config['rotary_pct']))
    x = embedded(c, ids, 'gpt_neox.embed_in.weight')
    for n in range(config['num_hidden_layers']):
        at = f'gpt_neox.layers.{n}.'
        both = linear(c, at + 'attention.query_key_value', layer_norm(c, at + 'input_layernorm', x, epsilon))
        q, k, v = (per_head(both, width, which) for which in range(3))
        mixed = linear(c, at + 'attention.dense', attend(turn(q, width, turns), turn(k, width, turns), v, width,
                                                         width**-0.5))
        before = x if config['use_parallel_residual'] else add(x, mixed)
        y = layer_norm(c, at + 'post_attention_layernorm', before, epsilon)
        y = linear(c, at + 'mlp.dense_4h_to_h', apply('gelu', linear(c, at + 'mlp.dense_h_to_4h', y)))
        x = add(add(x, mixed), y)
    return linear(c, 'embed_out', layer_norm(c, 'gpt_neox.final_layer_norm', x, epsilon))


def gptj(c, config, ids):
    width = config['n_embd'] // config['n_head']
    turns = inverse_frequencies(10000.0, config['rotary_dim'])
    x = embedded(c, ids, 'transformer.wte.weight')
    for n in range(config['n_layer']):
        at = f'transformer.h.{n}.'
        y = layer_norm(c, at + 'ln_1', x, 1e-5)
        if config['model_type'] == 'codegen':  # four parts, each with some queries, values and keys
            both, part = linear(c, at + 'attn.qkv_proj', y), config['n_embd'] // 4
            q, v, k = (columns(both, [i for i in range(12 * part) if i // part % 3 == kind]) for kind in range(3))
        else:
            q, k, v = (linear(c, f'{at}attn.{name}_proj', y) for name in 'qkv')
        mixed = attend(turn(q, width, turns, 'pairs'), turn(k, width, turns, 'pairs'), v, width, width**-0.5)
        inside = apply('gelu_tanh', linear(c, at + 'mlp.fc_in', y))
        x = add(add(x, linear(c, at + 'attn.out_proj', mixed)), linear(c, at + 'mlp.fc_out', inside))
    return linear(c, 'lm_head', layer_norm(c, 'transformer.ln_f', x, 1e-5))


def falcon_heads(config, both, width):
    heads, shared = config['num_attention_heads'], config['num_kv_heads']
    if config['new_decoder_architecture']:
        group = heads // shared + 2
        kind = lambda i: i // width % group
        return [columns(both, [i for i in range(len(both[0])) if test(kind(i))])
                for test in (lambda g: g < group - 2, lambda g: g == group - 2, lambda g: g == group - 1)]
    if config['multi_query']:
        return [columns(both, range(a * width, b * width)) for a, b in ((0, heads), (heads, heads + 1),
                                                                        (heads + 1, heads + 2))]
    return [per_head(both, width, which) for which in range(3)]


def falcon(c, config, ids):
    heads = config['num_attention_heads']
    width = config['hidden_size'] // heads
    turns = inverse_frequencies(10000.0, width)
    rounded = [pm.to_bf16(m) for m in slopes(heads)]
    bias = lambda h, i, j: pm.to_bf16(rounded[h] * j) / math.sqrt(width)
    x = embedded(c, ids, 'transformer.word_embeddings.weight')
    for n in range(config['num_hidden_layers']):
        at = f'transformer.h.{n}.'
        two = config['new_decoder_architecture'] and config['parallel_attn']
        y = layer_norm(c, at + ('ln_attn' if two else 'input_layernorm'), x, 1e-5)
        q, k, v = falcon_heads(config, linear(c, at + 'self_attention.query_key_value', y), width)
        if not config['alibi']:
            q, k = turn(q, width, turns), turn(k, width, turns)
        mixed = attend(q, k, v, width, width**-0.5, bias=bias if config['alibi'] else None)
        mixed = linear(c, at + 'self_attention.dense', mixed)
        if two:
            y = layer_norm(c, at + 'ln_mlp', x, 1e-5)
        elif not config['parallel_attn']:
            y = layer_norm(c, at + 'post_attention_layernorm', add(x, mixed), 1e-5)
        y = linear(c, at + 'mlp.dense_4h_to_h', apply('gelu', linear(c, at + 'mlp.dense_h_to_4h', y)))
        x = add(add(x, mixed), y)
    x = layer_norm(c, 'transformer.ln_f', x, 1e-5)
    return scores(c, x, 'transformer.word_embeddings.weight')


def bloom(c, config, ids):
    heads = config['n_head']
    width, m = config['hidden_size'] // heads, slopes(heads)
    x = embedded(c, ids, 'transformer.word_embeddings.weight')
    x = layer_norm(c, 'transformer.word_embeddings_layernorm', x, 1e-5)
    for n in range(config['n_layer']):
        at = f'transformer.h.{n}.'
        y = layer_norm(c, at + 'input_layernorm', x, 1e-5)
        both = linear(c, at + 'self_attention.query_key_value', y)
        q, k, v = (per_head(both, width, which) for which in range(3))
        mixed = attend(q, k, v, width, width**-0.5, bias=lambda h, i, j: m[h] * j)
        mixed = linear(c, at + 'self_attention.dense', mixed)
        x = add(y if config['apply_residual_connection_post_layernorm'] else x, mixed)
        y = layer_norm(c, at + 'post_attention_layernorm', x, 1e-5)
        inside = apply('gelu_tanh', linear(c, at + 'mlp.dense_h_to_4h', y))
        x = add(y if config['apply_residual_connection_post_layernorm'] else x,
                linear(c, at + 'mlp.dense_4h_to_h', inside))
    return scores(c, layer_norm(c, 'transformer.ln_f', x, 1e-5), 'transformer.word_embeddings.weight')


def mpt(c, config, ids):
    heads, bound = config['n_heads'], config['attn_config']['clip_qkv']
    width, m = config['d_model'] // heads, slopes(heads)
    norm = lambda name, x: pm.norm('layer', x, c[name + '.weight'], None, 1e-5, 1)
    x = embedded(c, ids, 'transformer.wte.weight')
    for n in range(config['n_layers']):
        at = f'transformer.blocks.{n}.'
        both = linear(c, at + 'attn.Wqkv', norm(at + 'norm_1', x))
        both = pm.each(lambda v: min(max(v, -bound), bound), both)
        q, k, v = (columns(both, range(a * heads * width, (a + 1) * heads * width)) for a in range(3))
        mixed = attend(q, k, v, width, config['attn_config']['softmax_scale'], bias=lambda h, i, j: m[h] * (j - i))
        x = add(x, linear(c, at + 'attn.out_proj', mixed))
        y = apply('gelu', linear(c, at + 'ffn.up_proj', norm(at + 'norm_2', x)))
        x = add(x, linear(c, at + 'ffn.down_proj', y))
    return scores(c, norm('transformer.norm_f', x), 'transformer.wte.weight')


def opt(c, config, ids):
    width, before = config['hidden_size'] // config['num_attention_heads'], config['do_layer_norm_before']
    x = embedded(c, ids, 'model.decoder.embed_tokens.weight')
    if config['word_embed_proj_dim'] != config['hidden_size']:
        x = linear(c, 'model.decoder.project_in', x)
    x = add(x, [c['model.decoder.embed_positions.weight'][p + 2] for p in range(len(ids))])

    def part(name, x, function):
        if before:
            return add(x, function(layer_norm(c, name, x, 1e-5)))
        return layer_norm(c, name, add(x, function(x)), 1e-5)

    def attention(at, y):
        q, k, v = (linear(c, f'{at}self_attn.{name}_proj', y) for name in 'qkv')
        return linear(c, at + 'self_attn.out_proj', attend(q, k, v, width, width**-0.5))

    for n in range(config['num_hidden_layers']):
        at = f'model.decoder.layers.{n}.'
        x = part(at + 'self_attn_layer_norm', x, lambda y: attention(at, y))
        x = part(at + 'final_layer_norm', x, lambda y: linear(c, at + 'fc2', apply('relu', linear(c, at + 'fc1', y))))
    if before:
        x = layer_norm(c, 'model.decoder.final_layer_norm', x, 1e-5)
    if config['word_embed_proj_dim'] != config['hidden_size']:
        x = linear(c, 'model.decoder.project_out', x)
    return scores(c, x, 'model.decoder.embed_tokens.weight')
