# SPDX-License-Identifier: Apache-2.0
"""Encoders and encoder-decoders on lists of numbers, as the papers and the documentation of the families describe them.

A function takes a Checkpoint and yields rows of one sequence; nothing is shared with the compiler.
"""
import collections
import math

import plain_math as pm


def linear(c, name, x):
    return pm.linear(x, c[name + '.weight'], c.tensors.get(name + '.bias'))


def scores(c, x, table):
    """Scores of all words, by the embedding's table or by an LM head of its own."""
    return pm.linear(x, c.tensors.get('lm_head.weight', c[table]), None)


def layer_norm(c, name, x, epsilon):
    return pm.norm('layer', x, c[name + '.weight'], c[name + '.bias'], epsilon, 1)


def rms_norm(c, name, x, epsilon):
    return pm.norm('rms', x, c[name + '.weight'], None, epsilon, 1)


def add(x, y):
    return [[a + b for a, b in zip(*rows)] for rows in zip(x, y)]


def apply(function, x):
    return pm.each(pm.ACTIVATIONS[function], x)


def attend(queries, keys, values, heads, scale, causal=False, bias=None):
    """`bias` maps head, query and key to what is added to the score."""
    width = len(queries[0]) // heads
    result = [[] for _ in queries]
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        for i, query in enumerate(queries):
            scores = []
            for j in range(i + 1 if causal else len(keys)):
                score = scale * sum(a * b for a, b in zip(query[part], keys[j][part]))
                scores.append(score + (bias(head, i, j) if bias else 0.0))
            weights = [math.exp(score - max(scores)) for score in scores]
            columns = zip(*(row[part] for row in values[:len(scores)]))
            result[i] += [sum(w * v for w, v in zip(weights, column)) / sum(weights) for column in columns]
    return result


# --- BERT and its variants


def positions_among(ids, padding):
    """Rows of RoBERTa's table: padding has its own, other tokens are counted from the next on."""
    return [padding if id == padding else padding + sum(other != padding for other in ids[:p + 1])
            for p, id in enumerate(ids)]


# Encoders with norms before the parts: their names, and whether embeddings are normalized.
BertNorms = collections.namedtuple('BertNorms', 'attention inner last table')
NORMS_BEFORE = {
    'megatron-bert': BertNorms('attention.ln', 'ln', 'encoder.ln', False),
    'roberta-prelayernorm': BertNorms('attention.LayerNorm', 'intermediate.LayerNorm', 'LayerNorm', True),
    'esm': BertNorms('attention.LayerNorm', 'LayerNorm', 'encoder.emb_layer_norm_after', False),
    'xlm-roberta-xl': BertNorms('attention.self_attn_layer_norm', 'LayerNorm', 'encoder.LayerNorm', False),
}
# From tables that are narrower than the layers.
TABLE_PROJECTIONS = {'electra': 'electra.embeddings_project', 'roformer': 'roformer.embeddings_project',
                     'rembert': 'rembert.encoder.embedding_hidden_mapping_in'}


def table_width(config):
    return config.get('embedding_size') or config.get('input_embedding_size') or config['hidden_size']


def bert_embedding(c, place, ids, types, rows, epsilon):
    x = [c[place + 'word_embeddings.weight'][i] for i in ids]
    if rows is not None:
        x = add(x, [c[place + 'position_embeddings.weight'][row] for row in rows])
    if types is not None:
        x = add(x, [c[place + 'token_type_embeddings.weight'][t] for t in types])
    return layer_norm(c, place + 'LayerNorm', x, epsilon) if place + 'LayerNorm.weight' in c.tensors else x


def masked_results(c, hidden, transform, function, epsilon, table, bias):
    """What a head of masked tokens computes: `transform` are a linear layer and a norm, `table` and `bias` its projection."""
    y = layer_norm(c, transform[1], apply(function, linear(c, transform[0], hidden)), epsilon)
    return {'logits': pm.linear(y, c[table], c[bias]), 'hidden': hidden}


def turned_neighbors(x, heads):
    """Rotary positions of features 2i and 2i + 1, which come to lie in halves: scores are the same in any order."""
    width = len(x[0]) // heads
    ordered = [[row[h * width + i] for h in range(heads) for i in (*range(0, width, 2), *range(1, width, 2))] for row in x]
    return pm.rope(ordered, heads, width, 10000.0, None)


COUNT_FROM_PADDING = 'data2vec-text', 'ibert', 'luke', 'longformer', 'xmod', 'esm'


def bert(c, config, ids, types, begin=None, adapt=None, window=None, turn=None):
    """Hidden states of BERT, RoBERTa, ELECTRA and their kin. `begin` makes embeddings, `adapt` changes the sum behind a
    feed-forward, tokens see those at a distance below `window`, `turn` turns queries and keys by position."""
    base, epsilon, kind = config['base'], config['layer_norm_eps'], config['model_type']
    rows = positions_among(ids, config['pad_token_id']) if 'roberta' in kind or kind in COUNT_FROM_PADDING else range(len(ids))
    x = begin(rows) if begin else bert_embedding(c, base + 'embeddings.', ids, types, None if kind == 'roformer' else rows, epsilon)
    if table_width(config) != config['hidden_size']:
        x = linear(c, TABLE_PROJECTIONS[kind], x)
    heads, before = config['num_attention_heads'], NORMS_BEFORE.get(kind)

    def part(x, name, nameBefore, function):
        if before:
            return add(x, function(layer_norm(c, nameBefore, x, epsilon)))
        return layer_norm(c, name, add(x, function(x)), epsilon)

    def attention(at, x):
        q, k, v = (linear(c, f'{at}attention.self.{name}', x) for name in ('query', 'key', 'value'))
        if kind == 'roformer':
            q, k = turned_neighbors(q, heads), turned_neighbors(k, heads)
        if turn:
            q, k = turn(q), turn(k)
        bias = (lambda head, i, j: 0.0 if abs(i - j) < window else -1e9) if window else None
        return linear(c, at + 'attention.output.dense', attend(q, k, v, heads, (len(x[0]) / heads)**-0.5, bias=bias))

    for layer in range(config['num_hidden_layers']):
        at = f'{base}encoder.layer.{layer}.'
        x = part(x, at + 'attention.output.LayerNorm', before and at + before.attention, lambda y: attention(at, y))
        process = lambda y: linear(c, at + 'output.dense', apply('gelu', linear(c, at + 'intermediate.dense', y)))
        if adapt:
            x = layer_norm(c, at + 'output.LayerNorm', adapt(at, add(x, process(x))), epsilon)
        else:
            x = part(x, at + 'output.LayerNorm', before and at + before.inner, process)
    return layer_norm(c, base + before.last, x, epsilon) if before else x


# Encoders with rotary positions: the base of their turns, the function of their feed-forward, and names of tensors. `inner`
# has the matrix of the gate last; one for both holds that of the gate behind the other.
Rotary = collections.namedtuple('Rotary', 'base theta activation norm layers packed mixed first inner outer last biases')
ROTARY = {
    'nomic_bert': Rotary('nomic_bert.', 1000.0, 'silu', 'emb_ln', 'encoder.layers', 'attn.Wqkv', 'attn.out_proj', 'norm1',
                         ['mlp.fc11', 'mlp.fc12'], 'mlp.fc2', 'norm2', (False, False, False)),
    'gte': Rotary('gte.', 160000.0, 'gelu', 'embeddings.LayerNorm', 'encoder.layer', 'attention.qkv_proj', 'attention.o_proj',
                  'attn_ln', ['mlp.up_gate_proj'], 'mlp.down_proj', 'mlp_ln', (True, False, True)),
    'jina_embeddings_v3': Rotary('roberta.', 20000.0, 'gelu', 'emb_ln', 'encoder.layers', 'mixer.Wqkv', 'mixer.out_proj', 'norm1',
                                 ['mlp.fc1'], 'mlp.fc2', 'norm2', (True, True, True)),
}


def rotary_bert(c, config, ids, types):
    """BERT without a table of positions."""
    t, epsilon, heads, width = (ROTARY[config['model_type']], config['layer_norm_eps'], config['num_attention_heads'],
                                config['hidden_size'])
    head, inner = width // heads, config['intermediate_size']
    x = [c[t.base + 'embeddings.word_embeddings.weight'][i] for i in ids]
    x = add(x, [c[t.base + 'embeddings.token_type_embeddings.weight'][i] for i in types])
    x = layer_norm(c, t.base + t.norm, x, epsilon)
    for layer in range(config['num_hidden_layers']):
        at = f'{t.base}{t.layers}.{layer}.'
        q, k, v = ([row[i * width:(i + 1) * width] for row in linear(c, at + t.packed, x)] for i in range(3))
        q, k = (pm.rope(rows, heads, head, t.theta, None) for rows in (q, k))
        x = layer_norm(c, at + t.first, add(x, linear(c, at + t.mixed, attend(q, k, v, heads, head**-0.5))), epsilon)
        up, *gate = (linear(c, at + name, x) for name in t.inner)
        if len(up[0]) > inner:
            up, gate = [row[:inner] for row in up], [[row[inner:] for row in up]]
        y = [[p * q for p, q in zip(*rows)] for rows in zip(apply(t.activation, gate[0]), up)] if gate else apply(t.activation, up)
        x = layer_norm(c, at + t.last, add(x, linear(c, at + t.outer, y)), epsilon)
    return x


def mpnet(c, config, ids):
    """RoBERTa's positions around padding of the id 1, and T5's buckets of distances between all tokens."""
    epsilon, heads = config['layer_norm_eps'], config['num_attention_heads']
    x = bert_embedding(c, 'mpnet.embeddings.', ids, None, positions_among(ids, 1), epsilon)
    table = c['mpnet.encoder.relative_attention_bias.weight']
    bias = lambda head, i, j: table[bucket(j - i, True, 32, 128)][head]
    for layer in range(config['num_hidden_layers']):
        at = f'mpnet.encoder.layer.{layer}.'
        q, k, v = (linear(c, f'{at}attention.attn.{name}', x) for name in 'qkv')
        y = attend(q, k, v, heads, (len(x[0]) / heads)**-0.5, bias=bias)
        x = layer_norm(c, at + 'attention.LayerNorm', add(x, linear(c, at + 'attention.attn.o', y)), epsilon)
        y = linear(c, at + 'output.dense', apply('gelu', linear(c, at + 'intermediate.dense', x)))
        x = layer_norm(c, at + 'output.LayerNorm', add(x, y), epsilon)
    return x


def albert(c, config, ids, types):
    epsilon, heads, count = 1e-12, config['num_attention_heads'], config['num_hidden_layers']
    x = bert_embedding(c, 'albert.embeddings.', ids, types, range(len(ids)), epsilon)
    x = linear(c, 'albert.encoder.embedding_hidden_mapping_in', x)
    for layer in range(count):
        group = int(layer / (count / config['num_hidden_groups']))
        for inner in range(config['inner_group_num']):
            at = f'albert.encoder.albert_layer_groups.{group}.albert_layers.{inner}.'
            q, k, v = (linear(c, f'{at}attention.{name}', x) for name in ('query', 'key', 'value'))
            y = linear(c, at + 'attention.dense', attend(q, k, v, heads, (len(x[0]) / heads)**-0.5))
            x = layer_norm(c, at + 'attention.LayerNorm', add(x, y), epsilon)
            y = linear(c, at + 'ffn_output', apply('gelu_tanh', linear(c, at + 'ffn', x)))
            x = layer_norm(c, at + 'full_layer_layer_norm', add(x, y), epsilon)
    return x


def modernbert(c, config, ids):
    """Layers whose number is not a multiple of three see `local_attention` / 2 tokens on either side."""
    heads, width = config['num_attention_heads'], config['hidden_size']
    head = width // heads
    norm = lambda name, x: pm.norm('layer', x, c[name + '.weight'], None, 1e-5, 1)
    x = norm('model.embeddings.norm', [c['model.embeddings.tok_embeddings.weight'][i] for i in ids])
    for layer in range(config['num_hidden_layers']):
        at, full = f'model.layers.{layer}.', layer % 3 == 0
        base = config['global_rope_theta'] if full else config['local_rope_theta']
        both = linear(c, at + 'attn.Wqkv', norm(at + 'attn_norm', x) if layer else x)
        q, k, v = ([row[i * width:(i + 1) * width] for row in both] for i in range(3))
        q, k = (pm.rope(rows, heads, head, base, None) for rows in (q, k))
        far = lambda h, i, j: 0.0 if full or abs(i - j) <= config['local_attention'] // 2 else -1e9
        x = add(x, linear(c, at + 'attn.Wo', attend(q, k, v, heads, head**-0.5, bias=far)))
        both = linear(c, at + 'mlp.Wi', norm(at + 'mlp_norm', x))
        half = len(both[0]) // 2
        gate = apply('gelu', [row[:half] for row in both])
        y = [[a * b for a, b in zip(g, row[half:])] for g, row in zip(gate, both)]
        x = add(x, linear(c, at + 'mlp.Wo', y))
    return norm('model.final_norm', x)


def distilbert(c, config, ids):
    place = 'distilbert.embeddings.'
    x = [c[place + 'word_embeddings.weight'][i] for i in ids]
    x = add(x, c[place + 'position_embeddings.weight'][:len(ids)])
    x = layer_norm(c, place + 'LayerNorm', x, 1e-12)
    heads = config['n_heads']
    for layer in range(config['n_layers']):
        at = f'distilbert.transformer.layer.{layer}.'
        q, k, v = (linear(c, f'{at}attention.{name}_lin', x) for name in 'qkv')
        y = linear(c, at + 'attention.out_lin', attend(q, k, v, heads, (len(x[0]) / heads)**-0.5))
        x = layer_norm(c, at + 'sa_layer_norm', add(x, y), 1e-12)
        y = linear(c, at + 'ffn.lin2', apply(config['activation'], linear(c, at + 'ffn.lin1', x)))
        x = layer_norm(c, at + 'output_layer_norm', add(x, y), 1e-12)
    return x


# --- T5


def bucket(distance, bidirectional, buckets, furthest):
    offset = 0
    if bidirectional:
        buckets //= 2
        offset = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return offset + distance
    beyond = math.log(distance / exact) / math.log(furthest / exact) * (buckets - exact)
    return offset + min(buckets - 1, exact + int(beyond))


def t5_attention(c, config, at, name, x, memory, causal, bias):
    q = linear(c, f'{at}{name}.q', x)
    k, v = linear(c, f'{at}{name}.k', memory), linear(c, f'{at}{name}.v', memory)
    return linear(c, f'{at}{name}.o', attend(q, k, v, config['num_heads'], 1.0, causal, bias))


def t5_stack(c, config, stack, layers, x, memory=None):
    epsilon, causal = 1e-6, stack == 'decoder'
    sizes = config['relative_attention_num_buckets'], config['relative_attention_max_distance']
    hides = lambda i, j: not causal and abs(i - j) > config.get('local_radius', abs(i - j))
    bias = lambda head, i, j: -1e9 if hides(i, j) else table[bucket(j - i, not causal, *sizes)][head]
    for layer in range(layers):
        at = f'{stack}.block.{layer}.layer.'
        own = at + '0.SelfAttention.relative_attention_bias.weight'
        table = c[own] if own in c.tensors else table
        y = rms_norm(c, at + '0.layer_norm', x, epsilon)
        x = add(x, t5_attention(c, config, at + '0.', 'SelfAttention', y, y, causal, bias))
        if memory:
            y = rms_norm(c, at + '1.layer_norm', x, epsilon)
            x = add(x, t5_attention(c, config, at + '1.', 'EncDecAttention', y, memory, False, None))
        last = at + ('2.' if memory else '1.')
        y = rms_norm(c, last + 'layer_norm', x, epsilon)
        dense = last + 'DenseReluDense.'
        if config['feed_forward_proj'] == 'relu':
            h = apply('relu', linear(c, dense + 'wi', y))
        else:  # gated-gelu
            gate, up = apply('gelu_tanh', linear(c, dense + 'wi_0', y)), linear(c, dense + 'wi_1', y)
            h = [[a * b for a, b in zip(*rows)] for rows in zip(gate, up)]
        x = add(x, linear(c, dense + 'wo', h))
    return rms_norm(c, stack + '.final_layer_norm', x, epsilon)


# --- Marian


def sinusoid(position, width):
    """Sines of the even features, then cosines of the odd ones."""
    sines = [math.sin(position / 10000**(j / width)) for j in range(0, width, 2)]
    return sines + [math.cos(position / 10000**((j - 1) / width)) for j in range(1, width, 2)]


def fairseq_sinusoid(position, width):
    half = width // 2
    angles = [position / 10000**(j / (half - 1)) for j in range(half)]
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles] + [0.0] * (width % 2)


def places(c, config, stack, ids):
    """The rows of positions that are added to the embeddings."""
    kind, width = config['model_type'], config['d_model']
    if kind in LEARNED:
        return [c[f'model.{stack}.embed_positions.weight'][p + LEARNED[kind]] for p in range(len(ids))]
    if kind in ('marian', 'pegasus'):
        return [sinusoid(p, width) for p in range(len(ids))]
    padding = config['pad_token_id']
    if stack == 'decoder':
        return [fairseq_sinusoid(padding + 1 + p, width) for p in range(len(ids))]
    return [[0.0] * width if row == padding else fairseq_sinusoid(row, width) for row in positions_among(ids, padding)]


# Relatives of Marian with norms before the parts, with a norm of embeddings, and with learned positions from this row on.
NORMS_FIRST = 'mbart', 'm2m_100', 'pegasus', 'blenderbot', 'bigbird_pegasus'
EMBEDDING_NORMS = 'bart', 'mbart', 'mvp', 'plbart', 'blenderbot-small', 'led'
LEARNED = {'bart': 2, 'mbart': 2, 'mvp': 2, 'plbart': 2, 'blenderbot': 0, 'blenderbot-small': 0, 'bigbird_pegasus': 0, 'led': 0}


def marian_stack(c, config, stack, ids, table, memory=None):
    """BART and its relatives as well."""
    width, heads, kind = config['d_model'], config[stack + '_attention_heads'], config['model_type']
    before, place = config.get('normalize_before') or kind in NORMS_FIRST, f'model.{stack}.'
    factor = math.sqrt(width) if config.get('scale_embedding') else 1.0
    x, turns = [[factor * v for v in table[i]] for i in ids], places(c, config, stack, ids)
    norm = lambda x: layer_norm(c, place + 'layernorm_embedding', x, 1e-5)
    if kind == 'blenderbot-small' and memory is not None:
        x = add(norm(x), turns)
    else:
        x = add(x, turns)
        x = norm(x) if config.get('normalize_embedding') or kind in EMBEDDING_NORMS else x

    def part(name, x, function):
        if before:
            return add(x, function(layer_norm(c, name, x, 1e-5)))
        return layer_norm(c, name, add(x, function(x)), 1e-5)

    def attention(name, x, keys, causal):
        q, k, v = (linear(c, f'{name}.{p}_proj', y) for p, y in (('q', x), ('k', keys), ('v', keys)))
        reach = config.get('attention_window', 0) // 2 if memory is None else 0
        bias = (lambda head, i, j: 0.0 if abs(i - j) <= reach else -1e9) if reach else None
        return linear(c, name + '.out_proj', attend(q, k, v, heads, (width / heads)**-0.5, causal, bias))

    for layer in range(config[stack + '_layers']):
        at = f'{place}layers.{layer}.'
        x = part(at + 'self_attn_layer_norm', x, lambda y: attention(at + 'self_attn', y, y, memory is not None))
        if memory:
            x = part(at + 'encoder_attn_layer_norm', x, lambda y: attention(at + 'encoder_attn', y, memory, False))
        function = {'swish': 'silu'}.get(config['activation_function'], config['activation_function'])
        x = part(at + 'final_layer_norm', x, lambda y: linear(c, at + 'fc2', apply(function, linear(c, at + 'fc1', y))))
    return layer_norm(c, place + 'layer_norm', x, 1e-5) if before else x
