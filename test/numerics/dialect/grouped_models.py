# SPDX-License-Identifier: Apache-2.0
"""Cases of op_models: groups of features, mixtures, and windows that hold no more than they see."""


def register(case, projected, decoders):
    @case('linear-groups')
    def linear_groups(m, x, random):
        groups, depth, each = random.randint(2, 4), random.randint(1, 9), random.choice([1, 5, 16, 33])
        x = projected(m, x, groups * (depth + random.choice([0, 0, 3])))
        return m.linear(x, m.weight([groups * each, depth]), groups=groups)

    @case('join')
    def join(m, x, random):
        heads = random.randint(1, 4)
        a, b = (projected(m, x, heads * random.choice([1, 6, 16, 17])) for _ in range(2))
        return m.join(a, b, heads)

    @case('rope-last')
    def rope_last(m, x, random):
        return m.rope(projected(m, x, 18), 2, 8, last=random.choice([1, 5, 60]))

    @case('route-groups')
    def route_groups(m, x, random):
        groups, each = random.randint(1, 4), random.randint(2, 7)
        chances = m.activation('sigmoid', projected(m, x, groups * each))
        kept = random.randint(1, groups)
        count = random.randint(1, kept * each)
        bias = m.weight([groups * each], deviation=0.5)
        return m.route(chances, count, random.random() < 0.5, bias, groups, kept, random.choice([1, 2]))

    @case('experts-biases')
    def experts_biases(m, x, random):
        experts, inner, outputs = random.randint(1, 5), random.choice([1, 7, 16, 20]), random.choice([3, 16, 35])
        chosen = random.randint(1, experts)
        routes = m.route(m.softmax(projected(m, x, experts)), chosen, True)
        shapes = [[experts * inner, x.shape[1]]] * 2 + [[experts * outputs, inner]]
        biases = [m.weight([shape[0]], deviation=1.0) for shape in shapes]
        clamp = random.choice([0.0, 0.75])
        kind = random.choice(['silu', 'quick_gelu'])
        return m.experts(kind, x, routes, *(m.weight(shape) for shape in shapes), chosen, biases, clamp)

    for name in ('window', 'sinks', 'kept'):
        @case(f'attention-ring-{name}', decoders)
        def attention_ring(m, x, random, name=name):
            """The ring has room for all tokens of a step, as many as a sequence may have."""
            width, kv_heads, window = random.choice([1, 4, 7, 16, 20]), random.randint(1, 3), random.randint(1, 9)
            heads, kept = kv_heads * random.randint(1, 3), random.randint(1, 6) if name == 'kept' else 0
            q, k, v = (projected(m, x, n * width) for n in (heads, kv_heads, kv_heads))
            state = m.state(kv_heads, width, ring=(m.max_sequence + window - 1, window, kept))
            sinks = m.weight([heads], deviation=2.0) if name != 'window' else None
            first = projected(m, x, heads * width) if kept else None
            return m.attention('causal', q, k, v, heads, kv_heads, width**-0.5, state, window=window, sinks=sinks, first=first,
                               kept=kept)
