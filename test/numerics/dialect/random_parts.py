# SPDX-License-Identifier: Apache-2.0
"""Parts of random blocks: weights with values of their own or made of others, linear layers, norms."""

KINDS_OF_MATRICES = ['transpose', 'concat', 'rows', 'half_split', 'pad', 'plus', 'values', 'convert', 'interleave']
KINDS_OF_VECTORS = ['concat', 'rows', 'half_split', 'pad', 'plus', 'fill']
ELEMENTS = ['f16', 'bf16']


class Parts:
    """Writes parts of the model `m`. Weights that are used inside a function are arguments of it."""

    def __init__(self, m, random, biases):
        self.m, self.random, self.biases = m, random, biases

    def made(self, recipe, *sources):
        """A weight that recipe(*sources, derive=...) makes: a symbol, derived by the caller, or derived where it is used.
        `sources` make weights."""
        m, place = self.m, self.random.choice(['symbol', 'caller', 'here'])
        if place == 'here':
            return recipe(*map(m.take, sources), derive=True)
        return m.take(lambda: recipe(*(make() for make in sources), derive=place == 'caller'))

    def weight(self, shape, mean=0.0, spread=0.2):
        return self.m.take(lambda: self.m.weight(shape, mean, spread))

    def vector(self, length, mean=0.0, spread=0.2):
        if self.random.random() < 0.7:
            return self.weight([length], mean, spread)
        kind = self.random.choice(KINDS_OF_VECTORS)
        if kind == 'fill':
            return self.made(lambda derive: self.m.fill([length], mean + spread, derive=derive))
        return self.from_rows(kind, [length], mean, spread)

    def matrix(self, outputs, inputs, spread=1.0):
        """Keeps activations near 1."""
        m, random, shape, spread = self.m, self.random, [outputs, inputs], spread * inputs**-0.5
        if random.random() < 0.6:
            return self.weight(shape, 0.0, spread)
        kind = random.choice(KINDS_OF_MATRICES)
        if kind == 'transpose':
            return self.made(m.transpose, lambda: m.weight(shape[::-1], 0.0, spread))
        if kind == 'convert':
            element = random.choice(ELEMENTS)
            return self.made(lambda w, derive: m.convert(w, element, derive=derive), lambda: m.weight(shape, 0.0, spread))
        if kind == 'values' and outputs * inputs <= 200:
            values = [random.uniform(-2 * spread, 2 * spread) for _ in range(outputs * inputs)]
            values = [round(value * 4096) / 4096 for value in values]
            return m.take(lambda: m.listed(shape, values))
        if kind == 'interleave' and outputs % 2 == 0:
            group = random.choice([n for n in range(1, outputs // 2 + 1) if outputs // 2 % n == 0])
            half = lambda: m.weight([outputs // 2, inputs], 0.0, spread)
            return self.made(lambda a, b, derive: m.interleave(a, b, group, derive=derive), half, half)
        return self.from_rows(kind, shape, 0.0, spread)

    def from_rows(self, kind, shape, mean, spread):
        """A vector or matrix made of rows of others; its own if it has too few for that."""
        m, random, rows = self.m, self.random, shape[0]
        of = lambda rows: lambda: m.weight([rows, *shape[1:]], mean, spread)
        if kind == 'rows':
            count = random.choice([n for n in range(1, rows + 1) if rows % n == 0])
            first, period = random.randint(0, 2), count + random.randint(2, 4)
            return self.made(lambda w, derive: m.some_rows(w, first, count, period, derive=derive), of(rows // count * period))
        if kind == 'plus':
            return self.made(lambda w, derive: m.plus(w, 0.25, derive=derive),
                             lambda: m.weight(shape, mean - 0.25, spread))
        part = random.randint(1, rows - 1) if rows > 1 else 0
        if part and kind == 'concat':
            return self.made(lambda a, b, derive: m.concat([a, b], derive=derive), of(part), of(rows - part))
        if part and kind == 'pad':
            return self.made(lambda w, derive: m.pad(w, rows, derive=derive), of(part))
        if part and kind == 'half_split':
            width = random.choice([n for n in range(2, rows + 1) if rows % n == 0])
            turned = 2 * random.randint(1, width // 2)
            return self.made(lambda w, derive: m.half_split(w, width, turned, derive=derive), of(rows))
        return self.weight(shape, mean, spread)

    def linear(self, x, outputs, spread=1.0, groups=1, inputs=None):
        """A linear layer of the first `inputs` features, by default all, in groups."""
        if groups == 1 and inputs and inputs < x.shape[1]:
            x = self.m.slice(x, 0, inputs)
        w = self.matrix(outputs, inputs or x.shape[1] // groups, spread)
        return self.m.linear(x, w, self.vector(outputs) if self.biases else None, groups=groups)

    def norm(self, kind, x, groups=1, each=False):
        """`each`: every group has a scale of its own."""
        length, epsilon = x.shape[1] // (1 if each else groups), self.random.choice([1e-6, 1e-5, 0.1])
        bias = self.vector(length) if kind == 'layer' and self.random.random() < 0.7 else None
        return self.m.norm(kind, x, self.vector(length, 1.0), bias, epsilon, groups)
