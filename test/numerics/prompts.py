# SPDX-License-Identifier: Apache-2.0
"""Random batches of token ids, and the command lines that carry them."""


def ragged_batch(random, vocabulary, longest):
    """One to four prompts of different lengths."""
    lengths = [random.choice([1, 2, 5, random.randint(1, longest)]) for _ in range(random.randint(1, 4))]
    return [[random.randrange(vocabulary) for _ in range(length)] for length in lengths]


def arguments(prompts):
    return [part for ids in prompts for part in ('--ids', ','.join(map(str, ids)))]
