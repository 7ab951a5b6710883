# SPDX-License-Identifier: Apache-2.0
"""Layers of random blocks in which every row is by itself: feed-forward layers of all kinds, mixtures of experts."""

FUNCTIONS = ['relu', 'gelu', 'gelu_tanh', 'silu', 'tanh', 'sigmoid', 'quick_gelu', 'relu_squared', 'softplus']
FORMS = ['plain', 'gated', 'gated-op', 'gated-op', 'sliced', 'groups', 'softmax', 'mixture', 'mixture']


class LayerKind:
    """The kind that layers have in common, so that they share kernels."""

    def __init__(self, random):
        pick = random.choice
        self.form, self.hidden = pick(FORMS), pick([7, 32, 45, 301])
        self.groups = pick([1, 2, 3]) if self.form == 'mixture' else pick([2, 3])
        # For MoE layers: experts in groups, some of which are compared.
        self.experts = self.groups * pick([1, 2, 3])
        self.kept = random.randint(1, self.groups)
        self.best = random.randint(1, min(2, self.experts // self.groups))
        self.chosen = random.randint(1, min(3, self.kept * (self.experts // self.groups)))
        self.normalized, self.scores = pick([True, False]), pick(['softmax', 'sigmoid'])
        self.route_bias, self.biases, self.clamp = pick([True, False]), pick([True, False]), pick([0.0, 0.75])
        self.inner, self.shared = pick([3, 16, 32, 45]), pick([True, False])


def feed_forward(p, kind, function, x):
    """Rows of any width; a linear layer follows."""
    m = p.m
    if kind.form == 'mixture':
        return mixture(p, kind, function, x)
    if kind.form == 'gated':
        return m.mul(m.activation(function, p.linear(x, kind.hidden)), p.linear(x, kind.hidden))
    if kind.form == 'gated-op':
        return m.gated_linear(function, x, *(p.weight([kind.hidden, x.shape[1]], 0.0, x.shape[1]**-0.5)
                                                  for _ in range(2)))
    if kind.form == 'sliced':
        both = p.linear(x, 2 * kind.hidden)
        gate, up = (m.slice(both, at, kind.hidden) for at in (0, kind.hidden))
        return m.mul(m.activation(function, gate), up)
    if kind.form == 'groups':
        y = m.activation(function, p.linear(x, kind.groups * kind.hidden))
        return p.linear(y, kind.groups * 5, groups=kind.groups)
    if kind.form == 'softmax':
        return m.scale(m.softmax(p.linear(x, kind.hidden)), kind.hidden**0.5)
    return m.activation(function, p.linear(x, kind.hidden))


def mixture(p, kind, function, x):
    m, width, experts = p.m, x.shape[1], kind.experts
    scores = p.linear(x, experts)
    chances = m.softmax(scores) if kind.scores == 'softmax' else m.activation('sigmoid', scores)
    bias = p.vector(experts, 0.0, 0.5) if kind.route_bias else None
    routes = m.route(chances, kind.chosen, kind.normalized, bias, kind.groups, kind.kept, kind.best)
    inner, outputs = kind.inner, width + 3
    gate, up, down = (p.weight([experts * rows, columns], 0.0, columns**-0.5)
                      for rows, columns in ((inner, width), (inner, width), (outputs, inner)))
    biases = [p.weight([experts * rows]) for rows in (inner, inner, outputs)] if kind.biases else []
    y = m.experts(function, x, routes, gate, up, down, kind.chosen, biases, kind.clamp)
    if kind.shared:  # every row passes one more
        y = m.add(y, p.linear(m.activation(function, p.linear(x, inner)), outputs))
    return y
