# SPDX-License-Identifier: Apache-2.0
"""Cases of op_models: vocabularies in parts, and what stands for distances."""


def register(case, projected):
    @case('recipe-relative-keys')
    def recipe_relative_keys(m, x, random):
        heads, distances, width = random.randint(1, 3), random.randint(1, 20), random.choice([1, 6, 17])
        projection = m.weight([heads * width, 2 * random.randint(1, 9)])
        derive, vectors = random.random() < 0.5, [m.weight([heads * width]) for _ in range(2)]
        keys = m.relative_keys(projection, heads, distances, 0.7, derive=derive)
        bias = m.relative_keys(projection, heads, distances, 0.7, vectors, derive=derive)
        return m.linear(projected(m, x, width), keys, bias)

    @case('embedding-tables')
    def embedding_tables(m, x, random):
        """Each of a part of the vocabulary, one of a single row."""
        bounds = [0, *sorted(random.sample(range(1, m.vocabulary), min(2, m.vocabulary - 1))), m.vocabulary]
        for a, b in zip(bounds, bounds[1:]):
            y = m.embedding(m.ids, m.weight([b - a, random.choice([3, 8, 17])], deviation=1.0), a)
            x = m.add(x, projected(m, y, x.shape[1]))
        return x

    @case('embedding-tables-packed', optimized=True)
    def embedding_tables_packed(m, x, random):
        first = random.randrange(m.vocabulary)
        table = m.pack(m.weight([m.vocabulary - first, x.shape[1]], deviation=1.0), random.choice([1, 8, 16]))
        return m.add(x, m.embedding(m.ids, table, first))

    @case('log-softmax')
    def log_softmax(m, x, random):
        words = random.choice([1, 5, 16, 100, 131])
        tails = sorted(random.sample(range(1, words), min(words - 1, random.choice([0, 1, 2, 5]))))
        return m.log_softmax(projected(m, x, words + len(tails)), tails)
