# SPDX-License-Identifier: Apache-2.0
"""random_block.py SEED [--blocks N]: writes a random small model of N blocks in the talc dialect, and on standard error
a ragged batch of prompts for it.

Every option of every op is drawn; check_random_coverage.py holds that. For the model: a decoder whose states grow, are rings or
are those of segments, an encoder, or an encoder-decoder; vocabularies in one table or several, positions, token types,
what is made of logits, one or two results, odd widths everywhere, two kinds of attention (random_attention.py) and of
layers of rows (random_layers.py). For each block of it: one of these kinds, cross-attention, where norms stand, where
weights come from (random_parts.py), and whether it is written in place or is a function that is called once or twice.
"""
import argparse
import copy
import itertools
import os
import random as random_module
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import prompts
from model_writer import Model
from random_attention import AttentionKind, attention, cross_attention
from random_layers import FUNCTIONS, LayerKind, feed_forward
from random_parts import Parts

# The tests compile models with this many blocks, 200 in all.
MODELS, BLOCKS = 25, 8
KINDS = {'decoder': 'state', 'windows': 'ring', 'segments': 'segment', 'encoder': 'step', 'encoder-decoder': 'state'}
# Tokens of a text, or of a segment of one; rings are laid out with room for some hundred.
LENGTHS = {'segments': [5, 20, 70], 'windows': [70, 1300, 1300]}


class Sizes:
    """Sizes that the blocks of a model have in common, so that they share most kernels: compiling takes most of the time."""

    def __init__(self, random, place):
        pick = random.choice
        self.width, self.head_width = pick([9, 16, 24, 32, 35, 64]), pick([1, 2, 4, 6, 7, 10, 16, 20])
        self.kv_heads, self.latent = random.randint(1, 3), pick([5, 16])
        self.heads = self.kv_heads * random.randint(1, 3)
        self.biases, self.update = pick([True, False]), pick(['linear', 'delta'])
        self.attentions = [AttentionKind(random, place, self.head_width) for _ in range(2)]
        self.layers = [LayerKind(random) for _ in range(2)]
        self.functions = itertools.cycle(random.sample(FUNCTIONS, len(FUNCTIONS)))


def block(p, sizes, x, source):
    """`source`: what cross-attention is over, if there is one."""
    m, pick = p.m, p.random.choice
    kind, layer, norm = pick(sizes.attentions), pick(sizes.layers), pick(['layer', 'rms'])
    place, factor = pick(['before', 'before', 'behind', 'around', 'parallel']), pick([1.0, 1.0, 0.7])
    layers = [lambda x: attention(p, kind, sizes, x), lambda x: feed_forward(p, layer, next(sizes.functions), x)]
    if source and pick([True, True, True, False]):
        layers.insert(1, lambda x: cross_attention(p, kind, sizes, x, source))

    def out(y):  # small, so that many blocks after one another do not magnify the rounding of the first
        y = p.linear(y, x.shape[1], 0.4)
        return y if factor == 1.0 else m.scale(y, factor)
    if place == 'parallel':
        given = p.norm(norm, x)
        for layer_of in layers:
            x = m.add(x, out(layer_of(given)))
        return x
    for layer_of in layers:
        y = out(layer_of(x if place == 'behind' else p.norm(norm, x)))
        if place == 'around':
            y = p.norm(norm, y)
        x = m.add(x, y)
        if place == 'behind':
            x = p.norm(norm, x)
    return x


def stack(m, x, random, blocks, sizes, source):
    """The blocks one after another, some of them twice."""
    for _ in range(blocks):
        p, calls = Parts(m, random, sizes.biases), random.choice([0, 1, 1, 2])
        if calls == 0:
            x = block(p, sizes, x, source)
            continue
        function = m.define(lambda x: block(p, sizes, x, source), x)
        for _ in range(calls):
            x = m.call(function, x)
    return x


def tables(p, vocabulary, width):
    """Rows for token ids, and the table that has them if it is one: else each has some ids, in a width of its own."""
    m, random = p.m, p.random
    if random.random() < 0.7:
        table = m.weight([vocabulary, width], deviation=1.0)
        return m.embedding(m.ids, table), table
    bounds, x = [0, *sorted(random.sample(range(1, vocabulary), 2)), vocabulary], None
    for first, end in zip(bounds, bounds[1:]):
        y = m.embedding(m.ids, m.weight([end - first, random.choice([3, 8, width])], deviation=1.0), first)
        y = m.linear(y, p.matrix(width, y.shape[1]))
        x = m.add(x, y) if x else y
    return x, None


def positions(p, width, whole):
    """`whole`: every step has whole sequences, so that padding is known."""
    m, pick = p.m, p.random.choice
    kind = pick(['learned', 'sinusoids', 'sinusoids', 'none', *(['padding'] if whole else [])])
    if kind == 'learned':
        offset = pick([0, 2])
        return m.position(m.weight([m.max_sequence + offset, width], deviation=0.5), offset)
    if kind == 'padding':
        return m.position_among(m.weight([m.max_sequence + 2, width], deviation=0.5), 2, p.random.randrange(5))
    if kind == 'sinusoids':
        layout, blank = pick(['halves', 'interleaved', 'spread']), pick([-1, 0, 3])
        return m.position(p.made(lambda derive: m.sinusoid_table(m.max_sequence, width, layout, blank, derive=derive)))
    return None


def embed(p, vocabulary, width, whole):
    m, random = p.m, p.random
    x, table = tables(p, vocabulary, width)
    added = [positions(p, width, whole)]
    if random.random() < 0.3:  # rows of tables are what float64 rounds as f32 does
        y = m.embedding(m.ids, m.weight([vocabulary, random.choice([32, 64])], deviation=1.0))
        y = m.quantize(y, random.choice(['!talc.stored<q8_sums>', 'bf16']))
        added.append(m.linear(y, m.weight([width, y.shape[1]], deviation=0.2)))
    if random.random() < 0.2 and not m.in_encoder:
        m.token_types = random.randint(1, 3)
        added.append(m.token_type(m.weight([m.token_types, width])))
    for rows in filter(None, added):
        x = m.add(x, rows)
    return x, table


def logits(p, x, table):
    """The outputs of a model: scores, perhaps capped, or probabilities, or their logarithms."""
    m, random = p.m, p.random
    y, form = p.norm('layer', m.select(x)), random.choice(['scores', 'scores', 'cap', 'softmax', 'clusters'])
    if form == 'clusters':
        tails = sorted(random.sample(range(1, m.vocabulary), random.choice([0, 1, 3])))
        return m.log_softmax(p.linear(y, m.vocabulary + len(tails)), tails)
    tied = table and random.random() < 0.6
    y = m.linear(y, table) if tied else p.linear(y, m.vocabulary)
    if form == 'cap':
        return m.scale(m.activation('tanh', m.scale(y, 1 / 3.0)), 3.0)
    return m.softmax(y) if form == 'softmax' else y


def encode_source(m, random, sizes):
    m.source_vocabulary = random.randint(5, 97)
    with m.encoding():
        p = Parts(m, random, sizes.biases)
        source, _ = embed(p, m.source_vocabulary, random.choice([9, 16, 24, 35]), True)
        own = copy.copy(sizes)
        own.attentions = [AttentionKind(random, 'step', sizes.head_width, 'full')]
        return stack(m, p.linear(source, sizes.width), random, random.randint(0, 2), own, None)


def build(random, blocks):
    """A model of so many different blocks, not counting those of an encoder of sources."""
    kind = random.choice(list(KINDS))
    m = Model(max_sequence=random.choice(LENGTHS.get(kind, [40, 70, 300])), seed=random.randrange(1 << 32))
    m.segmented = kind == 'segments'
    m.vocabulary = random.choice([random.randint(5, 97), random.randint(5, 97), 517])
    sizes = Sizes(random, KINDS[kind])
    source, p = None, Parts(m, random, sizes.biases)
    if kind == 'encoder-decoder':
        source = encode_source(m, random, sizes)
    x, table = embed(p, m.vocabulary, sizes.width, kind == 'encoder')
    x = stack(m, x, random, blocks, sizes, source)
    m.results = [logits(p, x, table)]
    if random.random() < 0.3:
        m.results.append(m.select(x, output=1))
        m.kinds.append('hidden')
        m.rows = [random.choice(['all', 'last', 'even']), random.choice(['all', 'first', 'even'])]
    return m


def main():
    parser = argparse.ArgumentParser(description='writes a random small model in the talc dialect')
    parser.add_argument('seed')
    parser.add_argument('--blocks', type=int, default=BLOCKS)
    options = parser.parse_args()
    random = random_module.Random(f'random-blocks {options.seed}')
    model = build(random, options.blocks)
    print(model.text(), end='')
    print(' '.join(prompts.arguments(prompts.ragged_batch(random, model, model.longest()))), file=sys.stderr)


if __name__ == '__main__':
    main()
