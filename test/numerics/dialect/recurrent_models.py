# SPDX-License-Identifier: Apache-2.0
"""Cases of op_models: ops that see earlier tokens through a state, of sizes below, at and above blocks of columns."""


def register(case, projected, decoders):
    """`case` and `projected` of op_models; `decoders`: the group of these cases."""
    for activation in ['plain', 'silu']:
        @case(f'causal_conv-{activation}', decoders)
        def causal_conv(m, x, random, activation=activation):
            taps, width = random.choice([2, 3, 4, 7]), random.choice([1, 6, 16, 32, 64, 70])
            bias = m.weight([width]) if random.random() < 0.5 else None
            state = m.recurrence_state(1, width, taps - 1)
            return m.causal_conv(projected(m, x, width), m.weight([taps, width], deviation=0.7), bias, state,
                                 activation == 'silu')

    for update in ['additive', 'delta']:
        @case(f'recurrence-{update}', decoders)
        def recurrence(m, x, random, update=update):
            depth, columns = random.choice([1, 3, 8, 16, 37]), random.choice([1, 6, 16, 32, 40])
            shared = random.randint(1, 2)
            heads = shared * random.randint(1, 2)
            q, k = (m.norm('rms', projected(m, x, shared * depth), m.weight([depth], depth**-0.5), groups=shared)
                    for _ in range(2))
            v = projected(m, x, heads * columns)
            decay = m.activation('softplus', projected(m, x, heads))
            factors = m.activation('sigmoid', projected(m, x, heads)) if update == 'delta' else decay
            rates, skip = m.weight([heads], deviation=2.0), m.weight([heads]) if random.random() < 0.5 else None
            state = m.recurrence_state(heads, columns, depth)
            return m.recurrence(update, q, k, v, state, decay, rates, factors, skip, depth)

    @case('selective_scan', decoders)
    def selective_scan(m, x, random):
        groups, columns, count = random.randint(1, 2), random.choice([1, 6, 16, 32, 70]), random.choice([1, 4, 16])
        width = groups * columns
        b, c = (projected(m, x, groups * count) for _ in range(2))
        steps = m.activation('softplus', projected(m, x, width))
        state = m.recurrence_state(groups, columns, count)
        return m.selective_scan(projected(m, x, width), steps, b, c, state, m.weight([count, width], deviation=2.0),
                                m.weight([width]), groups)
