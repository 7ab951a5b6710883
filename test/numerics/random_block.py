# SPDX-License-Identifier: Apache-2.0
"""random_block.py SEED [--encoder]: writes a random small transformer in the talc dialect, and on standard error a
ragged batch of prompts for it.

Every choice that decoder families differ in is drawn: learned, rotary or no positions; layer or rms norm, before or
after a layer; causal or window attention with grouped heads, with or without normalized queries and keys; gated or
plain feed-forward layers; biases; and odd widths everywhere.
"""
import argparse
import random as random_module
import sys

import prompts
from model_writer import Model


class Choices:
    """What one model looks like."""

    def __init__(self, random, encoder):
        pick = random.choice
        self.mask = 'full' if encoder else 'causal'
        self.vocabulary = pick([random.randint(5, 97), random.randint(5, 97), 517])
        self.head_width = pick([2, 4, 6, 10, 16, 20])
        self.kv_heads = random.randint(1, 3)
        self.heads = self.kv_heads * random.randint(1, 3)
        self.width = pick([self.heads * self.head_width, 9, 24, 35])
        self.hidden = pick([7, 32, 45, 3 * self.width, 301])
        self.layers = random.randint(1, 3)
        self.norm = pick(['layer', 'rms'])
        self.norm_bias = self.norm == 'layer' and pick([True, True, False])
        self.pre_norm = pick([True, True, False])
        self.biases = pick([True, False])
        self.positions = pick(['learned', 'rope', 'rope', 'none'])
        self.rotary = pick([self.head_width, (self.head_width + 2) // 4 * 2])
        self.scaling = pick([None, None, ('linear', 2.0), ('llama3', 4.0, 1.0, 4.0, 24)])
        self.head_norm = pick([True, False, False])
        self.window = 0 if encoder else pick([0, 0, 1, 3, 8])
        self.function = pick(['relu', 'gelu', 'gelu_tanh', 'silu', 'quick_gelu', 'relu_squared'])
        self.gated = pick([True, False])
        self.tied = pick([True, False])
        self.shared_block = pick([True, True, False])  # one function for all layers, or a call for each


class LayerWeights:
    """Declares the weights of a layer by name; a block receives them as arguments in this order."""

    def __init__(self, m, c):
        deviation = lambda width: width**-0.5  # keeps activations near 1
        self.names, self.values = [], []

        def add(name, shape, mean=0.0, spread=None):
            self.names.append(name)
            self.values.append(m.weight(shape, mean, spread if spread is not None else deviation(shape[-1])))

        def add_linear(name, outputs, inputs):
            add(name, [outputs, inputs])
            if c.biases:
                add(name + '.bias', [outputs], 0.0, 0.2)

        def add_norm(name, width):
            add(name, [width], 1.0, 0.2)
            if c.norm_bias:
                add(name + '.bias', [width], 0.0, 0.2)

        add_norm('norm1', c.width)
        add_norm('norm2', c.width)
        add_linear('q', c.heads * c.head_width, c.width)
        add_linear('k', c.kv_heads * c.head_width, c.width)
        add_linear('v', c.kv_heads * c.head_width, c.width)
        add_linear('o', c.width, c.heads * c.head_width)
        if c.head_norm:
            add('qnorm', [c.head_width], 1.0, 0.2)
            add('knorm', [c.head_width], 1.0, 0.2)
        if c.gated:
            add_linear('gate', c.hidden, c.width)
        add_linear('up', c.hidden, c.width)
        add_linear('down', c.width, c.hidden)


def attention(m, c, w, x, state):
    linear = lambda name: m.linear(x, w[name], w.get(name + '.bias'))
    q, k, v = linear('q'), linear('k'), linear('v')
    if c.head_norm:
        q, k = m.norm('rms', q, w['qnorm'], groups=c.heads), m.norm('rms', k, w['knorm'], groups=c.kv_heads)
    if c.positions == 'rope':
        q, k = (m.rope(y, heads, c.rotary, 1000.0, c.scaling) for y, heads in ((q, c.heads), (k, c.kv_heads)))
    y = m.attention(c.mask, q, k, v, c.heads, c.kv_heads, c.head_width**-0.5, c.window, state)
    return m.linear(y, w['o'], w.get('o.bias'))


def feed_forward(m, c, w, x):
    linear = lambda name, x: m.linear(x, w[name], w.get(name + '.bias'))
    y = m.activation(c.function, linear('gate' if c.gated else 'up', x))
    if c.gated:
        y = m.mul(y, linear('up', x))
    return linear('down', y)


def block(m, c, names, x, arguments):
    state = arguments.pop() if c.mask == 'causal' else None
    w = dict(zip(names, arguments))
    norm = lambda name, x: m.norm(c.norm, x, w[name], w.get(name + '.bias'))
    if c.pre_norm:
        x = m.add(x, attention(m, c, w, norm('norm1', x), state))
        return m.add(x, feed_forward(m, c, w, norm('norm2', x)))
    x = norm('norm1', m.add(x, attention(m, c, w, x, state)))
    return norm('norm2', m.add(x, feed_forward(m, c, w, x)))


def build(random, encoder=False):
    """(model, logits); `model.vocabulary` is the number of token ids."""
    c = Choices(random, encoder)
    m = Model(max_sequence=random.choice([40, 70, 300]), seed=random.randrange(1 << 32))
    m.vocabulary = c.vocabulary
    table = m.weight([c.vocabulary, c.width], deviation=1.0)
    x = m.embedding(m.ids, table)
    if c.positions == 'learned':
        x = m.add(x, m.position(m.weight([m.max_sequence, c.width], deviation=0.5)))
    function = None
    for _ in range(c.layers):
        weights = LayerWeights(m, c)
        arguments = weights.values + ([m.state(c.kv_heads, c.head_width)] if c.mask == 'causal' else [])
        if function is None or not c.shared_block:
            function = m.define(lambda x, *inner: block(m, c, weights.names, x, list(inner)), x, arguments)
        x = m.call(function, x, *arguments)
    x = m.norm(c.norm, m.select(x), m.weight([c.width], 1.0, 0.2))
    return m, m.linear(x, table if c.tied else m.weight([c.vocabulary, c.width]))


def main():
    parser = argparse.ArgumentParser(description='writes a random small transformer in the talc dialect')
    parser.add_argument('seed')
    parser.add_argument('--encoder', action='store_true', help='full attention over the rows of the step')
    options = parser.parse_args()
    random = random_module.Random(f'random-block {options.seed}')
    model, logits = build(random, options.encoder)
    print(model.text(logits), end='')
    print(' '.join(prompts.arguments(prompts.ragged_batch(random, model.vocabulary, model.max_sequence))), file=sys.stderr)


if __name__ == '__main__':
    main()
