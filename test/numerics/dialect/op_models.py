# SPDX-License-Identifier: Apache-2.0
"""Small models around ops of the talc dialect: for each case embedding, the op, vocabulary projection; logits are the
sum over the cases.

`CASES` maps a name to body(m, x, random) -> x'. `OPTIMIZED` names the cases that only occur after the `optimize` stage,
`ENCODERS` those whose attention has the step's own rows alone, so that the model must be an encoder, and `DECODERS`
those that read a state; texts of `SEGMENTED` go on in segments.
"""
import grouped_models
import recurrent_models
import vocabulary_models
from model_writer import Model

CASES, OPTIMIZED, ENCODERS, DECODERS, SEGMENTED = {}, set(), set(), set(), set()
ELEMENTS = ['f32', 'f16', 'bf16']
ROWS = ['all', 'all', 'first', 'last', 'even']


def case(name, *groups, optimized=False):
    def register(body):
        CASES[name] = body
        for group in [*groups, *([OPTIMIZED] if optimized else [])]:
            group.add(name)
        return body
    return register


def build(names, random):
    """A model. Widths are odd on purpose."""
    m = Model(max_sequence=48, seed=random.randrange(1 << 32))
    if any(name in SEGMENTED for name in names):
        m.max_sequence = random.choice([1, 3, 4, 21])
    m.vocabulary = random.randint(2, 70)
    logits = None
    for name in names:
        width = random.choice([1, 3, 8, 17, 24, 40])
        x = m.embedding(m.ids, m.weight([m.vocabulary, width], deviation=1.0))
        x = CASES[name](m, x, random)
        selected = m.select(x)
        y = m.linear(selected, m.weight([m.vocabulary, x.shape[1]]))
        logits = m.add(logits, y) if logits else y
    m.results = [logits]
    if random.random() < 0.5:
        m.results.append(m.select(m.scale(x, 0.5), output=1) if random.random() < 0.5 else x)
        m.kinds.append('hidden')
        m.rows = [random.choice(ROWS), random.choice(ROWS)]
    return m


def projected(m, x, width):
    return m.linear(x, m.weight([width, x.shape[1]], deviation=1.0))


# --- linear layers

for element in ELEMENTS:
    @case(f'linear-{element}')
    def linear(m, x, random, element=element):
        return m.linear(x, m.weight([random.randint(1, 50), x.shape[1]], element=element))

    @case(f'linear-packed-{element}', optimized=True)
    def linear_packed(m, x, random, element=element):
        outputs, lanes = random.randint(1, 50), random.choice([1, 8, 16, 48])
        w = m.pack(m.weight([outputs, x.shape[1]]), lanes, element=element, derive=random.random() < 0.5)
        bias = m.weight([outputs])
        if random.random() < 0.5:
            bias = m.pad(bias, w.shape[0] * lanes, derive=random.random() < 0.5)
        return m.linear(x, w, bias, outputs)

    @case(f'gated-linear-packed-{element}', optimized=True)
    def gated_linear_packed(m, x, random, element=element):
        outputs, group = random.randint(1, 50), random.choice([1, 8, 24])
        gate, up = (m.weight([outputs, x.shape[1]]) for _ in range(2))
        w = m.pack(m.interleave(gate, up, group), 2 * group, element=element, derive=True)
        return m.gated_linear('silu', x, (w, outputs), None)


@case('linear-bias')
def linear_bias(m, x, random):
    outputs = random.randint(1, 50)
    return m.linear(x, m.weight([outputs, x.shape[1]]), m.weight([outputs]))


@case('gated-linear')
def gated_linear(m, x, random):
    shape = [random.randint(1, 50), x.shape[1]]
    kind = random.choice(['relu', 'gelu', 'gelu_tanh', 'silu'])
    return m.gated_linear(kind, x, m.weight(shape), m.weight(shape))


# --- weights and recipes


@case('recipe-transpose')
def recipe_transpose(m, x, random):
    return m.linear(x, m.transpose(m.weight([x.shape[1], random.randint(1, 50)])))


@case('recipe-pad')
def recipe_pad(m, x, random):
    """Pads the rows of a matrix."""
    w, more = m.weight([random.randint(1, 9), x.shape[1]]), random.randint(0, 5)
    return m.linear(x, m.pad(w, w.shape[0] + more, derive=random.random() < 0.5))


@case('recipe-concat')
def recipe_concat(m, x, random):
    parts = [m.weight([random.randint(1, 20), x.shape[1]]) for _ in range(3)]
    return m.linear(x, m.concat(parts, derive=random.random() < 0.5))


@case('recipe-rows')
def recipe_rows(m, x, random):
    first, count, more = random.randint(0, 3), random.randint(1, 5), random.randint(0, 3)
    period, groups, derive = first + count + more, random.randint(1, 4), random.random() < 0.5
    of = lambda shape: m.some_rows(m.weight([groups * period, *shape]), first, count, period, derive=derive)
    return m.linear(x, of([x.shape[1]]), of([]))


@case('recipe-half-split')
def recipe_half_split(m, x, random):
    width, heads, derive = random.randint(2, 9), random.randint(1, 3), random.random() < 0.5
    rotary = 2 * random.randint(1, width // 2)
    of = lambda shape: m.half_split(m.weight([heads * width, *shape]), width, rotary, derive=derive)
    return m.linear(x, of([x.shape[1]]), of([]))


@case('recipe-plus')
def recipe_plus(m, x, random):
    return m.norm('rms', x, m.plus(m.weight([x.shape[1]]), random.choice([1.0, -0.3]), derive=random.random() < 0.5))


for element in ELEMENTS:
    @case(f'recipe-convert-{element}', optimized=True)
    def recipe_convert(m, x, random, element=element):
        return m.linear(x, m.convert(m.weight([9, x.shape[1]]), element, derive=random.random() < 0.5))


@case('source-values')
def source_values(m, x, random):
    shape = [random.randint(1, 9), x.shape[1]]
    return m.linear(x, m.listed(shape, [random.randint(-64, 64) / 64 for _ in range(shape[0] * shape[1])]))


@case('source-fill')
def source_fill(m, x, random):
    return m.norm('rms', x, m.fill([x.shape[1]], 0.7), m.fill([x.shape[1]], -0.3))


# --- rows


@case('embedding-packed', optimized=True)
def embedding_packed(m, x, random):
    return m.add(x, m.embedding(m.ids, m.pack(m.weight([m.vocabulary, x.shape[1]]), 16, derive=True)))


@case('position')
def position(m, x, random):
    return m.add(x, m.position(m.weight([m.max_sequence, x.shape[1]])))


@case('position-offset')
def position_offset(m, x, random):
    return m.add(x, m.position(m.weight([m.max_sequence + 2, x.shape[1]]), offset=2))


@case('position-among-padding', ENCODERS)
def position_among_padding(m, x, random):
    offset, padding = random.randint(1, 3), random.randrange(m.vocabulary)
    return m.add(x, m.position_among(m.weight([m.max_sequence + offset, x.shape[1]]), offset, padding))


for layout in ['halves', 'interleaved', 'spread']:
    @case(f'sinusoid-{layout}')
    def sinusoid(m, x, random, layout=layout):
        x = projected(m, x, random.randint(4 if layout == 'spread' else 1, 40))
        blank, derive = random.choice([-1, 0, 3]), random.random() < 0.5
        return m.add(x, m.position(m.sinusoid_table(m.max_sequence, x.shape[1], layout, blank, derive=derive)))


@case('token-type')
def token_type(m, x, random):
    m.token_types = m.token_types or random.randint(1, 4)
    return m.add(x, m.token_type(m.weight([m.token_types, x.shape[1]], deviation=1.0)))


@case('slice')
def slice_(m, x, random):
    width = random.randint(1, x.shape[1])
    return m.slice(x, random.randint(0, x.shape[1] - width), width)


# --- layers of every row

# The rows come straight from a table, so that f32 and float64 agree before they are quantized.
@case('quantize')
def quantize(m, x, random):
    x = m.quantize(m.embedding(m.ids, m.weight([m.vocabulary, random.choice([32, 64, 96])], deviation=1.0)))
    return m.linear(x, m.weight([random.randint(1, 50), x.shape[1]]))


@case('softmax')
def softmax(m, x, random):
    return m.softmax(m.scale(projected(m, x, random.choice([1, 2, 5, 16, 37, 200])), random.choice([1.0, 4.0])))



for kind in ['layer', 'rms']:
    @case(f'norm-{kind}')
    def norm(m, x, random, kind=kind):
        x = projected(m, x, random.choice([2, 5, 16, 37]))
        return m.norm(kind, x, m.weight([x.shape[1]], 1.0), epsilon=random.choice([0.0, 1e-5, 0.1]))

    @case(f'norm-{kind}-bias')
    def norm_bias(m, x, random, kind=kind):
        x = projected(m, x, random.choice([2, 5, 16, 37]))
        return m.norm(kind, x, m.weight([x.shape[1]], 1.0), m.weight([x.shape[1]]))

    @case(f'norm-{kind}-groups')
    def norm_groups(m, x, random, kind=kind):
        groups, width = random.randint(1, 5), random.choice([2, 6, 16, 20])
        return m.norm(kind, projected(m, x, groups * width), m.weight([width], 1.0), groups=groups)


    @case(f'norm-{kind}-each-group')
    def norm_each_group(m, x, random, kind=kind):
        groups, width = random.randint(2, 5), random.choice([2, 6, 16, 20])
        bias = m.weight([random.choice([1, groups]) * width]) if random.random() < 0.5 else None
        return m.norm(kind, projected(m, x, groups * width), m.weight([groups * width], 1.0), bias, groups=groups)


for kind in ['relu', 'gelu', 'gelu_tanh', 'silu', 'tanh', 'sigmoid', 'quick_gelu', 'relu_squared', 'softplus']:
    @case(f'activation-{kind}')
    def activation(m, x, random, kind=kind):
        return m.activation(kind, m.scale(x, 3))


@case('add')
def add(m, x, random):
    return m.add(x, projected(m, x, x.shape[1]))


@case('mul')
def mul(m, x, random):
    return m.mul(x, projected(m, x, x.shape[1]))


@case('scale')
def scale(m, x, random):
    return m.scale(x, random.choice([-1.5, 0.125, 11.3137]))


def routed(m, x, random):
    """Routes, how many experts a row goes to, and the sizes of gate and down."""
    count = random.choice([1, 2, 5, 9])
    chosen = random.randint(1, count)
    scores = m.softmax(m.scale(projected(m, x, count), 2.0))
    inner, outputs = random.choice([3, 8, 21, 40]), random.choice([2, 16, 33])
    return m.route(scores, chosen, random.random() < 0.5), count, chosen, inner, outputs


@case('route')
def route(m, x, random):
    count = random.choice([1, 2, 5, 37])
    return m.route(m.softmax(projected(m, x, count)), random.randint(1, count), random.random() < 0.5)


@case('experts')
def experts(m, x, random):
    routes, count, chosen, inner, outputs = routed(m, x, random)
    gate, up = (m.weight([count * inner, x.shape[1]]) for _ in range(2))
    return m.experts(random.choice(['silu', 'gelu']), x, routes, gate, up, m.weight([count * outputs, inner]), chosen)


for element in ELEMENTS:
    @case(f'experts-packed-{element}', optimized=True)
    def experts_packed(m, x, random, element=element):
        routes, count, chosen, inner, outputs = routed(m, x, random)
        group, lanes, derive = random.choice([1, 8, 24]), random.choice([1, 8, 16]), random.random() < 0.5
        of = lambda shape: [m.weight(shape, element=element) for _ in range(count)]
        gates, ups, downs = of([inner, x.shape[1]]), of([inner, x.shape[1]]), of([outputs, inner])
        pairs = [m.interleave(gate, up, group, element=element) for gate, up in zip(gates, ups)]
        both = m.pack(m.concat(pairs, element=element), 2 * group, element=element, derive=derive)
        fill = -outputs % lanes
        blank = [m.weight([fill, inner], 0.0, 0.0)] if fill else []
        below = m.concat([part for down in downs for part in [down, *blank]])
        down = m.pack(below, lanes, element=element, derive=derive)
        whole = [m.concat(parts) for parts in (gates, ups, downs)]
        return m.experts('silu', x, routes, (both, whole[:2]), None, (down, whole[2:]), chosen)


@case('clamp')
def clamp(m, x, random):
    return m.clamp(x, random.choice([0.25, 1.0]))


# --- positions and sequences

SCALINGS = {'plain': None, 'linear': ('linear', 4.0), 'llama3': ('llama3', 8.0, 1.0, 4.0, 32),
            'yarn': ('yarn', 4.0, 8.0, 1.0, 12, True, 1.1), 'yarn-exact': ('yarn', 2.0, 2.0, 0.5, 16, False, 0.9),
            'dynamic': ('dynamic', 3.0, 7), 'listed': ('listed', [1.0, 1.5, 3.0], 1.2)}

for name in SCALINGS:
    @case(f'rope-{name}')
    def rope(m, x, random, name=name):
        # There are as many pairs as the list has factors; a growing base needs more than one.
        heads, half = random.randint(1, 4), 3 if name in ('listed', 'dynamic') else random.choice([1, 3, 8, 10])
        width = 2 * half + random.choice([0, 0, 1, 6])  # some features are not turned
        return m.rope(projected(m, x, heads * width), heads, 2 * half, random.choice([100.0, 10000.0]), SCALINGS[name])

    @case(f'rope-table-{name}', optimized=True)
    def rope_table(m, x, random, name=name):
        table = m.rotary_table(m.max_sequence, 6, 10000.0, SCALINGS[name], derive=random.random() < 0.5)
        return m.rope(projected(m, x, 18), 2, 6, 10000.0, SCALINGS[name], table)


def attention_of(m, x, random, mask, kv_heads=None, window=0, state=True, bias=None, sign=1, row_bias=None, **options):
    """`bias` and `row_bias` make one for a number of heads; `sign`: of the scale."""
    width = random.choice([1, 4, 7, 16, 20])
    kv_heads = kv_heads or random.randint(1, 3)
    heads = kv_heads * random.randint(1, 3)
    q, k, v = (projected(m, x, n * width) for n in (heads, kv_heads, kv_heads))
    kept = m.state(kv_heads, width) if state else None
    return m.attention(mask, q, k, v, heads, kv_heads, sign * width**-0.5, kept, window=window,
                       bias=bias(heads) if bias else None, row_bias=row_bias(heads) if row_bias else None, **options)


def listed_bias(m, random):
    length = m.max_sequence + random.choice([0, 3])
    return lambda heads: m.weight([heads, 2 * length - 1], deviation=1.0)


def relative_bias(m, random):
    bidirectional, buckets = random.choice([True, False]), random.choice([4, 9, 16, 32])
    longest = random.choice([buckets, 30, 128])

    def make(heads):
        table = m.weight([buckets, heads], deviation=1.0)
        return m.relative_bias(table, m.max_sequence, bidirectional, longest, derive=random.random() < 0.5)
    return make


for mask in ['full', 'causal', 'prefix']:
    for place, group in [('state', DECODERS), ('step', ENCODERS)]:
        # A query over past and present tokens must not see the tokens of later steps.
        if mask == 'full' and place == 'state':
            continue
        state = place == 'state'

        @case(f'attention-{mask}-{place}', group)
        def attention(m, x, random, mask=mask, state=state):
            return attention_of(m, x, random, mask, state=state)

        @case(f'attention-{mask}-{place}-multi-query', group)
        def attention_multi_query(m, x, random, mask=mask, state=state):
            return attention_of(m, x, random, mask, kv_heads=1, state=state)

        @case(f'attention-{mask}-{place}-window', group)
        def attention_window(m, x, random, mask=mask, state=state):
            return attention_of(m, x, random, mask, window=random.randint(1, 6), state=state)

        @case(f'attention-{mask}-{place}-bias', group)
        def attention_bias(m, x, random, mask=mask, state=state):
            return attention_of(m, x, random, mask, state=state, bias=listed_bias(m, random))

        @case(f'attention-{mask}-{place}-relative', group)
        def attention_relative(m, x, random, mask=mask, state=state):
            window = random.choice([0, 0, 7])
            return attention_of(m, x, random, mask, window=window, state=state, bias=relative_bias(m, random))


@case('attention-alibi', DECODERS)
def attention_alibi(m, x, random):
    rounded, derive = random.choice([None, None, 0.5]), random.random() < 0.5
    bias = lambda heads: m.alibi(heads, m.max_sequence, rounded, derive=derive)
    return attention_of(m, x, random, 'causal', window=random.choice([0, 5]), bias=bias, absolute=rounded is not None)


for place, group in [('state', DECODERS), ('step', ENCODERS)]:
    @case(f'attention-row-bias-{place}', group)
    def attention_row_bias(m, x, random, state=place == 'state'):
        """Tables of fewer distances than the window, as many, and more."""
        distances, window, starts = random.choice([1, 5, 20, 60]), random.choice([0, 1, 5, 20, 60]), random.random() < 0.7
        of = lambda heads: projected(m, x, heads * distances)
        return attention_of(m, x, random, 'causal', window=window, state=state, row_bias=of,
                            zero_start=starts and window > 0, cap=random.choice([0.0, 0.0, 1.5]))


for place, group in [('state', DECODERS), ('step', ENCODERS)]:
    @case(f'attention-cap-{place}', group)
    def attention_cap(m, x, random, state=place == 'state'):
        bias = listed_bias(m, random) if random.random() < 0.5 else None
        return attention_of(m, x, random, 'causal', window=random.choice([0, 4]), state=state, bias=bias,
                            cap=random.choice([0.5, 2.0]))


for kind in ['plain', 'encoded']:
    @case(f'cross-attention-{kind}', DECODERS)
    def cross_attention(m, x, random, kind=kind):
        width, kv_heads = random.choice([1, 4, 7, 16, 20]), random.randint(1, 3)
        heads = kv_heads * random.randint(1, 3)
        m.source_vocabulary = m.source_vocabulary or random.randint(2, 40)
        with m.encoding():
            y = m.embedding(m.ids, m.weight([m.source_vocabulary, random.choice([3, 8, 17])], deviation=1.0))
            y = attention_of(m, y, random, 'full', state=False) if kind == 'encoded' else y
            state = m.state(kv_heads, width, 'source')
            m.append(state, projected(m, y, kv_heads * width), projected(m, y, kv_heads * width))
        m.get_state(state)
        return m.cross_attention(projected(m, x, heads * width), heads, kv_heads, width**-0.5, state)


@case('attention-falling-scale', DECODERS)
def attention_falling_scale(m, x, random):
    return attention_of(m, x, random, 'causal', sign=random.choice([-1, 0]))


for update in ['linear', 'delta']:
    for place in ['alone', 'beside-attention']:
        @case(f'memory-{update}-{place}', SEGMENTED)
        def memory(m, x, random, update=update, place=place):
            width, kv_heads = random.choice([1, 4, 7, 16, 20, 70]), random.randint(1, 3)
            heads = kv_heads * random.randint(1, 3)
            q, k, v = (projected(m, x, n * width) for n in (heads, kv_heads, kv_heads))
            local = projected(m, x, heads * width)
            if place != 'alone':
                kept, turn = m.state(kv_heads, width), 2 * (width // 2)
                a, b = (m.rope(y, n, turn) if turn else y for y, n in ((q, heads), (k, kv_heads)))
                local = m.attention('causal', a, b, v, heads, kv_heads, width**-0.5, kept, window=random.choice([0, 0, 3]))
            gates, memory = m.weight([heads], deviation=2.0), m.state(kv_heads, width, 'memory')
            return m.memory(update, local, q, k, v, memory, gates, heads, random.random() < 0.5)
grouped_models.register(case, projected, DECODERS)
recurrent_models.register(case, projected, DECODERS)
vocabulary_models.register(case, projected)
