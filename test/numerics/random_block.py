# SPDX-License-Identifier: Apache-2.0
"""random_block.py SEED [--blocks N]: writes a random small model of N blocks in the talc dialect, and on standard error
a ragged batch of prompts for it.

Every choice that families differ in is drawn. For the model: decoder, encoder or encoder-decoder, learned, sinusoidal
or no positions, segments, token types, tied vocabulary projection, one or two results, odd widths everywhere, grouped heads,
gated or plain feed-forward layers, biases, two kinds of attention (causal, prefix or full, windows, biases by distance,
caps).
For each block of it: one of these attentions, a memory of earlier segments, rotary positions, normalized queries and keys, cross-attention, layer or
rms norm, before or after a layer, and whether it is written in place or is a function that is called once or twice.
"""
import argparse
import copy
import random as random_module
import sys

import prompts
from model_writer import Model

KINDS = ['decoder', 'decoder', 'encoder', 'encoder', 'encoder-decoder']
FUNCTIONS = ['relu', 'gelu', 'gelu_tanh', 'silu', 'quick_gelu', 'relu_squared']


class Sizes:
    """What the blocks of a model have in common, so that they share most kernels: compiling is what takes time."""

    def __init__(self, random, is_encoder, segmented):
        pick, self.segmented = random.choice, segmented
        self.width = pick([9, 16, 24, 35])
        self.head_width = pick([1, 2, 4, 6, 7, 10, 16, 20])
        self.kv_heads = random.randint(1, 3)
        self.heads = self.kv_heads * random.randint(1, 3)
        self.hidden = pick([7, 32, 45, 3 * self.width, 301])
        self.biases = pick([True, False])
        self.function = pick(FUNCTIONS)
        self.gated = pick([True, False])
        self.rotary = pick([self.head_width // 2 * 2, (self.head_width + 2) // 4 * 2])
        self.update = pick(['linear', 'delta'])
        self.scaling = pick([None, None, ('linear', 2.0), ('llama3', 4.0, 1.0, 4.0, 24),
                             ('yarn', 4.0, 8.0, 1.0, 12, True, 1.1)])
        masks = ['full', 'full', 'causal', 'prefix'] if is_encoder else ['causal'] if segmented else ['causal', 'prefix']
        # Two kinds of attention: mask, window, biases by distance, cap of scores.
        self.attentions = [(pick(masks), pick([0, 0, 1, 3, 8]), pick(['none', 'none', 'listed', 'relative', 'own']),
                            pick([0.0, 0.0, 0.0, 1.5])) for _ in range(2)]


class Choices:
    """What one block looks like."""

    def __init__(self, random, sizes, is_decoder, crosses):
        pick = random.choice
        self.sizes, self.is_decoder, self.crosses = sizes, is_decoder, crosses
        self.mask, self.window, self.distances, self.cap = pick(sizes.attentions)
        if self.mask != 'causal' and self.distances == 'own':
            self.distances = 'none'
        self.zero_start = self.distances == 'own' and self.window > 0 and pick([True, False])
        self.own_distances = pick([1, 4, 9])  # that a row bias has columns for
        self.norm = pick(['layer', 'rms'])
        self.norm_bias = self.norm == 'layer' and pick([True, True, False])
        self.pre_norm = pick([True, True, False])
        self.rotary = pick([0, sizes.rotary])
        self.head_norm = pick([True, False, False])
        self.calls = pick([0, 1, 1, 2])  # 0: written in place
        self.remembers = sizes.segmented and pick([True, True, False])

    def __getattr__(self, name):
        return getattr(self.sizes, name)


class BlockArguments:
    """Declares what a block takes by name; a function receives it in this order."""

    def __init__(self, m, c, random, source):
        self.names, self.values = [], []
        deviation = lambda width: width**-0.5  # keeps activations near 1
        last = 0.4  # so that many blocks after one another do not magnify the rounding of the first

        def give(name, value):
            self.names.append(name)
            self.values.append(value)

        def add(name, shape, mean=0.0, spread=None):
            give(name, m.weight(shape, mean, spread if spread is not None else deviation(shape[-1])))

        def add_linear(name, outputs, inputs, spread=1.0):
            add(name, [outputs, inputs], 0.0, spread * deviation(inputs))
            if c.biases:
                add(name + '.bias', [outputs], 0.0, 0.2)

        def add_norm(name, width):
            add(name, [width], 1.0, 0.2)
            if c.norm_bias:
                add(name + '.bias', [width], 0.0, 0.2)

        def add_attention(prefix):
            add_norm(prefix + 'norm', c.width)
            add_linear(prefix + 'q', c.heads * c.head_width, c.width)
            add_linear(prefix + 'o', c.width, c.heads * c.head_width, last)

        add_attention('self.')
        add_linear('self.k', c.kv_heads * c.head_width, c.width)
        add_linear('self.v', c.kv_heads * c.head_width, c.width)
        if c.head_norm:
            add('qnorm', [c.head_width], 1.0, 0.2)
            add('knorm', [c.head_width], 1.0, 0.2)
        if c.distances == 'listed':
            add('distances', [c.heads, 2 * m.max_sequence - 1], 0.0, 1.0)
        if c.distances == 'own':
            add('own', [c.heads * c.own_distances, c.width])
        if c.distances == 'relative':
            table = m.weight([random.choice([9, 32]), c.heads], 0.0, 1.0)
            give('distances', m.relative_bias(table, m.max_sequence, c.mask != 'causal', random.choice([40, 128])))
        add_norm('ffn.norm', c.width)
        if c.gated:
            add_linear('gate', c.hidden, c.width)
        add_linear('up', c.hidden, c.width)
        add_linear('down', c.width, c.hidden, last)
        if c.is_decoder:
            give('state', m.state(c.kv_heads, c.head_width))
        if c.remembers:
            give('memory', m.state(c.kv_heads, c.head_width, 'memory'))
            add('gates', [c.heads], 0.0, 1.5)
        if c.crosses:
            add_attention('cross.')
            give('source', keep_source(m, c, source))


def keep_source(m, c, source):
    """The state that the encoder leaves keys and values of the source in."""
    width = c.kv_heads * c.head_width
    with m.encoding():
        state = m.state(c.kv_heads, c.head_width, 'source')
        k, v = (m.linear(source, m.weight([width, source.shape[1]])) for _ in range(2))
        m.append(state, k, v)
    return m.get_state(state)


def attention(m, c, w, linear, x):
    q, k, v = (linear('self.' + name, x) for name in 'qkv')
    if c.head_norm:
        q, k = m.norm('rms', q, w['qnorm'], groups=c.heads), m.norm('rms', k, w['knorm'], groups=c.kv_heads)
    a, b = q, k
    if c.rotary:
        a, b = (m.rope(y, heads, c.rotary, 1000.0, c.scaling) for y, heads in ((q, c.heads), (k, c.kv_heads)))
    y = m.attention(c.mask, a, b, v, c.heads, c.kv_heads, c.head_width**-0.5, c.window, w.get('state'),
                    w.get('distances'), c.cap, row_bias=m.linear(x, w['own']) if 'own' in w else None,
                    zero_start=c.zero_start)
    if c.remembers:
        y = m.memory(c.update, y, q, k, v, w['memory'], w['gates'], c.heads, c.norm == 'rms')
    return linear('self.o', y)


def cross_attention(m, c, w, linear, x):
    y = m.cross_attention(linear('cross.q', x), c.heads, c.kv_heads, c.head_width**-0.5, w['source'])
    return linear('cross.o', y)


def feed_forward(m, c, w, linear, x):
    y = m.activation(c.function, linear('gate' if c.gated else 'up', x))
    if c.gated:
        y = m.mul(y, linear('up', x))
    return linear('down', y)


def block(m, c, names, x, arguments):
    w = dict(zip(names, arguments))
    linear = lambda name, x: m.linear(x, w[name], w.get(name + '.bias'))
    norm = lambda name, x: m.norm(c.norm, x, w[name], w.get(name + '.bias'))
    layers = [('self.norm', attention), *([('cross.norm', cross_attention)] if c.crosses else []),
              ('ffn.norm', feed_forward)]
    for name, layer in layers:
        if c.pre_norm:
            x = m.add(x, layer(m, c, w, linear, norm(name, x)))
        else:
            x = norm(name, m.add(x, layer(m, c, w, linear, x)))
    return x


def stack(m, x, random, blocks, sizes, is_decoder, source):
    """The blocks one after another, some of them twice."""
    for _ in range(blocks):
        c = Choices(random, sizes, is_decoder, source is not None and random.random() < 0.8)
        function = None
        for _ in range(max(1, c.calls)):
            given = BlockArguments(m, c, random, source)
            if c.calls == 0:
                x = block(m, c, given.names, x, given.values)
                continue
            if function is None:
                function = m.define(lambda x, *inner: block(m, c, given.names, x, list(inner)), x, given.values)
            x = m.call(function, x, *given.values)
    return x


def embed(m, random, vocabulary, width):
    table = m.weight([vocabulary, width], deviation=1.0)
    x = m.embedding(m.ids, table)
    positions = random.choice(['learned', 'sinusoid', 'none', 'none'])
    if positions == 'learned':
        x = m.add(x, m.position(m.weight([m.max_sequence + 2, width], deviation=0.5), offset=2))
    if positions == 'sinusoid':
        x = m.add(x, m.position(m.sinusoid_table(m.max_sequence, width, random.choice(['halves', 'interleaved']))))
    return x, table


def build(random, blocks):
    """A model of so many different blocks, not counting those of an encoder of sources."""
    kind = random.choice(KINDS)
    segmented = kind == 'decoder' and random.random() < 0.4
    longest = random.choice([5, 20, 70] if segmented else [40, 70, 300])
    m = Model(max_sequence=longest, seed=random.randrange(1 << 32))
    m.segmented = segmented
    m.vocabulary = random.choice([random.randint(5, 97), random.randint(5, 97), 517])
    source, sizes = None, Sizes(random, kind == 'encoder', segmented)
    if kind == 'encoder-decoder':
        m.source_vocabulary = random.randint(5, 97)
        with m.encoding():
            source, _ = embed(m, random, m.source_vocabulary, random.choice([9, 16, 24, 35]))
            source = m.linear(source, m.weight([sizes.width, source.shape[1]]))
            source_sizes = copy.copy(sizes)
            source_sizes.attentions = [('full', 0, random.choice(['none', 'relative']), 0.0)]
            source = stack(m, source, random, random.randint(0, 2), source_sizes, False, None)
    x, table = embed(m, random, m.vocabulary, sizes.width)
    if kind == 'encoder' and random.random() < 0.5:
        m.token_types = random.randint(1, 3)
        x = m.add(x, m.token_type(m.weight([m.token_types, x.shape[1]])))
    x = stack(m, x, random, blocks, sizes, kind != 'encoder', source)
    y = m.norm('layer', m.select(x), m.weight([x.shape[1]], 1.0, 0.2))
    tied = table.shape == [m.vocabulary, x.shape[1]] and random.random() < 0.5
    m.results = [m.linear(y, table if tied else m.weight([m.vocabulary, x.shape[1]]))]
    if random.random() < 0.3:
        m.results.append(m.select(x, output=1))
        m.kinds.append('hidden')
        m.rows = [random.choice(['all', 'last', 'even']), random.choice(['all', 'first', 'even'])]
    return m


def main():
    parser = argparse.ArgumentParser(description='writes a random small model in the talc dialect')
    parser.add_argument('seed')
    parser.add_argument('--blocks', type=int, default=25)
    options = parser.parse_args()
    random = random_module.Random(f'random-blocks {options.seed}')
    model = build(random, options.blocks)
    print(model.text(), end='')
    print(' '.join(prompts.arguments(prompts.ragged_batch(random, model, model.longest()))), file=sys.stderr)


if __name__ == '__main__':
    main()
