# SPDX-License-Identifier: Apache-2.0
"""Random batches of prompts, and the command lines that carry them."""


class Prompt:

    def __init__(self, ids, types=None, prefix=0, source=None):
        self.ids, self.types, self.prefix, self.source = ids, types, prefix, source


def ragged_batch(random, model, longest):
    """Prompts of different lengths, with what the model takes besides ids; five of them keep a thread busy by themselves, so
    that attention is divided otherwise."""
    def length():
        return random.choice([1, 2, 5, random.randint(1, longest), random.randint(1, longest)])

    def ids(count, vocabulary):
        return [random.randrange(vocabulary) for _ in range(count)]
    result = []
    for _ in range(random.choice([1, 2, 3, 5])):
        prompt = Prompt(ids(length(), model.vocabulary))
        if model.token_types:
            prompt.types = ids(len(prompt.ids), model.token_types)
        if model.uses_prefix:
            prompt.prefix = random.choice([0, len(prompt.ids), random.randint(0, len(prompt.ids))])
        if model.source_vocabulary:
            prompt.source = ids(length(), model.source_vocabulary)
        result.append(prompt)
    return result


def arguments(prompts):
    def text(ids):
        return ','.join(map(str, ids))
    result = []
    for prompt in prompts:
        result += ['--ids', text(prompt.ids)]
        result += ['--types', text(prompt.types)] if prompt.types else []
        result += ['--prefix', str(prompt.prefix)] if prompt.prefix or any(p.prefix for p in prompts) else []
        result += ['--source-ids', text(prompt.source)] if prompt.source else []
    return result
