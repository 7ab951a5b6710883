# SPDX-License-Identifier: Apache-2.0
"""Attention of random blocks: `AttentionKind` is what layers share, so that they share kernels, `attention` writes one
of them, with a memory of earlier segments if it has one, and `cross_attention` one of a source."""

# The masks that a query may have, by the place of the keys.
MASKS = {'step': ['full', 'full', 'causal', 'prefix'], 'state': ['causal', 'prefix'], 'segment': ['causal'],
         'ring': ['causal']}
BIASES = ['none', 'none', 'none', 'listed', 'relative', 'alibi', 'rounded', 'absolute']
ROW_BIASES = ['own', 'keys']  # of queries that see nothing behind them
SCALINGS = [None, None, None, ('linear', 2.0), ('llama3', 4.0, 1.0, 4.0, 24), ('yarn', 4.0, 8.0, 1.0, 12, True, 1.1),
            ('yarn', 2.0, 2.0, 0.5, 16, False, 0.9), ('dynamic', 3.0, 7), ('listed',)]


class Turn:
    """The rotation of a layer's queries and keys by their positions."""

    def __init__(self, random, rotary):
        pick = random.choice
        self.rotary, self.base = rotary, pick([100.0, 1000.0])
        self.scaling, self.last = pick(SCALINGS), pick([0, 0, 0, 1, 20])
        if self.scaling == ('listed',):
            self.scaling = 'listed', [pick([1.0, 1.5, 3.0]) for _ in range(rotary // 2)], 1.2
        if self.scaling and self.scaling[0] == 'dynamic' and rotary <= 2:
            self.scaling = None
        grows = self.scaling and self.scaling[0] == 'dynamic'
        self.table = pick(['none', 'none', 'table', 'table' if grows else 'digits'])
        self.digits = pick([11, 16]) if self.table == 'digits' else 0  # the cube of 11 is as long as texts are

    def turned(self, p, x, heads, last=None):
        """`last`: another last position than that of the others."""
        m, table, last = p.m, None, self.last if last is None else last
        if self.table != 'none':
            positions = last + 1 if last and last < m.max_sequence else m.max_sequence
            table = p.made(lambda derive: m.rotary_table(positions, self.rotary, self.base, self.scaling, self.digits,
                                                         derive=derive))
        return m.rope(x, heads, self.rotary, self.base, self.scaling, table, last, self.digits)


class AttentionKind:

    def __init__(self, random, place, width, mask=None):
        pick = random.choice
        self.place, self.mask = place, mask or pick(MASKS[place])
        self.window = pick([1, 3, 8] if place == 'ring' else [0, 0, 0, 1, 3, 8])
        self.kept = pick([0, 0, 1, 4]) if place == 'ring' else 0
        self.bias = 'none' if self.kept else pick(BIASES + (2 * ROW_BIASES if self.mask == 'causal' else []))
        self.distances = pick([1, 4, 9])  # that a row bias has columns for
        self.zero_start = self.bias in ROW_BIASES and self.window > 0 and pick([True, False])
        self.sinks = not self.zero_start and pick([True, False, False])
        self.cap = pick([0.0, 0.0, 0.0, 1.5])
        self.factor = pick([1.0, 1.0, 1.0, -0.5]) * width**-0.5
        self.head_norm, self.each = pick([None, None, 'rms', 'layer']), pick([True, False])
        self.clamp = pick([0.0, 0.0, 0.0, 1.5])
        self.fused, self.latent = pick([True, False, False]), place in ('state', 'step') and pick([True, False, False])
        self.rotary = pick([width // 2 * 2, (width + 2) // 4 * 2, 0])  # features of a head that are turned


def state_of(p, kind, heads, width):
    if kind.place == 'step':
        return None
    ring = None
    if kind.place == 'ring':
        ring = kind.window + p.random.choice([0, 5, 40]), kind.window, kind.kept
    return p.m.take(lambda: p.m.state(heads, width, ring=ring))


def bias_of(p, kind, heads):
    m, random = p.m, p.random
    length = m.max_sequence + random.choice([0, 3])
    if kind.bias == 'listed':
        return p.weight([heads, 2 * length - 1], 0.0, 1.0)
    if kind.bias == 'absolute':
        return p.weight([heads, length], 0.0, 1.0)
    if kind.bias in ('alibi', 'rounded'):
        factor = 0.125 if kind.bias == 'rounded' else None
        return p.made(lambda derive: m.alibi(heads, length, factor, derive=derive))
    if kind.bias == 'relative':
        buckets, longest, both = random.choice([9, 32]), random.choice([40, 128]), kind.mask != 'causal'
        return p.made(lambda table, derive: m.relative_bias(table, length, both, longest, derive=derive),
                      lambda: m.weight([buckets, heads], 0.0, 1.0))
    return None


def row_bias_of(p, kind, x, q, heads):
    """Biases from the rows that attention is over, or from the queries and vectors of distances (Transformer-XL)."""
    m, columns, rows = p.m, heads * kind.distances, q.shape[1]
    if kind.bias == 'own':
        return p.linear(x, columns)
    if kind.bias != 'keys':
        return None
    projection = m.take(lambda: m.weight([rows, 6], 0.0, 0.4))
    vectors = [m.take(lambda: m.weight([rows], 0.0, 0.5)) for _ in range(2)]
    keys, bias = (m.relative_keys(projection, heads, kind.distances, 0.7, given, derive=True) for given in ((), vectors))
    return m.linear(q, keys, bias, groups=heads)


def attend(p, kind, x, q, k, v, heads, kv_heads, first=None):
    """Attention of queries and keys that are already rotated."""
    width = k.shape[1] // kv_heads
    row_bias, bias = row_bias_of(p, kind, x, q, heads), bias_of(p, kind, heads)
    return p.m.attention(kind.mask, q, k, v, heads, kv_heads, kind.factor, state_of(p, kind, kv_heads, width),
                         window=kind.window, bias=bias, sinks=p.weight([heads], 0.0, 1.0) if kind.sinks else None,
                         kept=kind.kept, first=first, row_bias=row_bias, zero_start=kind.zero_start, cap=kind.cap,
                         absolute=kind.bias in ('rounded', 'absolute'))


def projections(p, kind, x, sizes):
    """Queries, keys and values: each by itself, or slices of one layer's result."""
    m, width = p.m, sizes.head_width
    parts = [sizes.heads * width] + 2 * [sizes.kv_heads * width]
    if kind.fused:
        whole = p.linear(x, sum(parts))
        q, k, v = (m.slice(whole, sum(parts[:i]), part) for i, part in enumerate(parts))
    else:
        q, k, v = (p.linear(x, part) for part in parts)
    if kind.clamp:
        q, k, v = (m.clamp(rows, kind.clamp) for rows in (q, k, v))
    if kind.head_norm:
        q, k = (p.norm(kind.head_norm, rows, heads, kind.each) for rows, heads in ((q, sizes.heads), (k, sizes.kv_heads)))
    return q, k, v


def attention(p, kind, sizes, x):
    if kind.latent:
        return latent_attention(p, kind, sizes, x)
    m, heads, kv_heads = p.m, sizes.heads, sizes.kv_heads
    q, k, v = projections(p, kind, x, sizes)
    a, b, first, turn = q, k, None, Turn(p.random, kind.rotary)
    if kind.rotary:
        a, b = turn.turned(p, q, heads), turn.turned(p, k, kv_heads)
    if kind.kept:  # met from the last position of what is seen
        first = turn.turned(p, q, heads, kind.kept + kind.window - 1) if kind.rotary else q
    y = attend(p, kind, x, a, b, v, heads, kv_heads, first)
    if kind.place == 'segment' and p.random.random() < 0.7:
        state = m.take(lambda: m.state(kv_heads, sizes.head_width, 'memory'))
        y = m.memory(sizes.update, y, q, k, v, state, p.weight([heads], 0.0, 1.5), heads, p.random.random() < 0.5)
    return y


def latent_attention(p, kind, sizes, x):
    """One head of keys, which are values as well: what all heads' keys are made of, beside a turned part."""
    m, heads, latent, own = p.m, sizes.heads, sizes.latent, sizes.head_width
    turned, turn = kind.rotary, Turn(p.random, kind.rotary)
    k = p.norm('rms', p.linear(x, latent))
    q = p.linear(p.linear(x, heads * own), heads * latent, groups=heads)
    if turned:
        k = m.join(k, turn.turned(p, p.linear(x, turned), 1), 1)
        q = m.join(q, turn.turned(p, p.linear(x, heads * turned), heads), heads)
    y = attend(p, kind, x, q, k, k, heads, 1)
    return p.linear(y, heads * own, groups=heads, inputs=latent)


def cross_attention(p, kind, sizes, x, source):
    m, width, q = p.m, sizes.kv_heads * sizes.head_width, p.linear(x, sizes.heads * sizes.head_width)

    def keep():
        """The state that the encoder leaves keys and values of the source in."""
        with m.encoding():
            state = m.state(sizes.kv_heads, sizes.head_width, 'source')
            m.append(state, *(m.linear(source, m.weight([width, source.shape[1]])) for _ in range(2)))
        return m.get_state(state)
    return m.cross_attention(q, sizes.heads, sizes.kv_heads, kind.factor, m.take(keep), cap=kind.cap,
                             sinks=p.weight([sizes.heads], 0.0, 1.0) if kind.sinks else None)
