# SPDX-License-Identifier: Apache-2.0
"""Ops with states on lists of numbers, one token after the other; see plain_math."""
import math


def causal_conv(x, weight, bias=None):
    """The last row of the weight belongs to the token itself."""
    taps, width = len(weight), len(x[0])
    padded = [[0.0] * width] * (taps - 1) + x
    return [[(bias[c] if bias else 0.0) + math.fsum(weight[j][c] * padded[t + j][c] for j in range(taps))
             for c in range(width)] for t in range(len(x))]


def recurrence(update, queries, keys, values, decay, rates, factors, skip, depth):
    """A matrix of `depth` rows for each head; neighboring heads share keys."""
    heads, result = len(rates), [[] for _ in values]
    columns, group = len(values[0]) // heads, heads * depth // len(keys[0])
    for head in range(heads):
        matrix = [[0.0] * columns for _ in range(depth)]
        own, shared = slice(head * columns, (head + 1) * columns), slice(head // group * depth, (head // group + 1) * depth)
        for t, row in enumerate(result):
            q, k, v = queries[t][shared], keys[t][shared], values[t][own]
            d = math.exp(-math.exp(rates[head]) * decay[t][head])
            matrix = [[d * z for z in line] for line in matrix]
            known = [math.fsum(a * line[j] for a, line in zip(k, matrix)) for j in range(columns)]
            added = [factors[t][head] * (z - (w if update == 'delta' else 0.0)) for z, w in zip(v, known)]
            matrix = [[z + a * u for z, u in zip(line, added)] for a, line in zip(k, matrix)]
            row += [math.fsum(a * line[j] for a, line in zip(q, matrix)) + (skip[head] if skip else 0.0) * v[j]
                    for j in range(columns)]
    return result


def selective_scan(x, steps, inputs, outputs, rates, skip, groups):
    """`rates`: a row for each number of a feature."""
    width, count = len(x[0]), len(rates)
    h, result = [[0.0] * count for _ in range(width)], []
    for row, dt, b, c in zip(x, steps, inputs, outputs):
        out = []
        for f in range(width):
            at = f // (width // groups) * count
            h[f] = [math.exp(-math.exp(rates[n][f]) * dt[f]) * h[f][n] + dt[f] * row[f] * b[at + n] for n in range(count)]
            out.append(math.fsum(c[at + n] * h[f][n] for n in range(count)) + skip[f] * row[f])
        result.append(out)
    return result
