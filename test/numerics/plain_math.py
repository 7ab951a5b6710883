# SPDX-License-Identifier: Apache-2.0
"""The formulas of the talc dialect a second time, on lists of Python numbers, to check the interpreter itself.

Activations are lists of rows of one sequence that begins at position 0; weights are nested lists.
"""
import math
import struct


def to_f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def to_f16(x):
    return struct.unpack('<e', struct.pack('<e', x))[0]


def to_bf16(x):
    bits = struct.unpack('<I', struct.pack('<f', x))[0]
    low, kept = bits & 0xffff, bits >> 16
    if low > 0x8000 or (low == 0x8000 and kept & 1):
        kept += 1
    return struct.unpack('<f', struct.pack('<I', kept << 16 & 0xffffffff))[0]


ROUND = {'f32': to_f32, 'f16': to_f16, 'bf16': to_bf16}


def shaped(values, shape):
    """Nested lists of the next values of an iterator."""
    if not shape:
        return next(values)
    return [shaped(values, shape[1:]) for _ in range(shape[0])]


def each(f, nested):
    return [each(f, item) for item in nested] if isinstance(nested, list) else f(nested)


# --- weights


def random_uniform(seed, index):
    """SplitMix64's upper 24 bits, in [-sqrt(3), sqrt(3))."""
    mask = (1 << 64) - 1
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    z ^= z >> 31
    return to_f32((2 * ((z >> 40) / 2**24) - 1) * math.sqrt(3))


def random_values(seed, mean, deviation, shape):
    count = math.prod(shape)
    return shaped(iter([to_f32(mean + deviation * random_uniform(seed, i)) for i in range(count)]), shape)


def transpose(matrix):
    return [list(column) for column in zip(*matrix)]


def concat(parts):
    return [row for part in parts for row in part]


def interleave(first, second, group):
    zeros = [0.0] * len(first[0])
    result = []
    for start in range(0, len(first), group):
        for part in (first, second):
            rows = part[start:start + group]
            result += rows + [zeros] * (group - len(rows))
    return result


def pack(matrix, lanes):
    zeros = [0.0] * len(matrix[0])
    padded = matrix + [zeros] * (-len(matrix) % lanes)
    return [transpose(padded[start:start + lanes]) for start in range(0, len(padded), lanes)]


def unpack(panels):
    return concat([transpose(panel) for panel in panels])


def rows(weight, first, count, period):
    return [row for i, row in enumerate(weight) if first <= i % period < first + count]


def half_split(weight, width, rotary):
    result = []
    for start in range(0, len(weight), width):
        head = weight[start:start + width]
        result += head[:rotary:2] + head[1:rotary:2] + head[rotary:]
    return result


def alibi(heads, length, rounded=None):
    """A bias by distance, or with `rounded` by the key's position."""
    nearest = 2**math.floor(math.log2(heads))
    slopes = [2**(-8 * (h + 1) / nearest) for h in range(nearest)]
    slopes += [2**(-8 * (h + 1) / (2 * nearest)) for h in range(0, 2 * nearest, 2)][:heads - nearest]
    if rounded is None:
        return [[m * d for d in range(1 - length, length)] for m in slopes]
    return [[rounded * to_bf16(to_bf16(m) * to_bf16(p)) for p in range(length)] for m in slopes]


def yarn_share(i, rotary, base, fast, slow, original, truncate):
    """The share of pair i that is interpolated."""
    low, high = (rotary * math.log(original / (2 * math.pi * turns)) / (2 * math.log(base)) for turns in (fast, slow))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rotary - 1)
    high += 0.001 if low == high else 0
    return min(max((i - low) / (high - low), 0), 1)


def rotary_pairs(position, rotary, base, scaling):
    """Cosines and sines as complex numbers, times the amplitude. See Model.scaling for `scaling`."""
    kind, *values = scaling or ['plain']
    amplitude = values[-1] if kind in ('yarn', 'listed') else 1.0
    if kind == 'dynamic' and position + 1 > values[1]:
        base *= (values[0] * (position + 1) / values[1] - values[0] + 1)**(rotary / (rotary - 2))
    frequencies = rotary_frequencies(rotary, base, scaling if kind in ('linear', 'llama3') else None)
    if kind == 'listed':
        frequencies = [f / s for f, s in zip(frequencies, values[0])]
    if kind == 'yarn':
        shares = [yarn_share(i, rotary, base, *values[1:5]) for i in range(rotary // 2)]
        frequencies = [f * (1 - r) + f / values[0] * r for f, r in zip(frequencies, shares)]
    return [amplitude * complex(math.cos(position * f), math.sin(position * f)) for f in frequencies]


def rotary_frequencies(rotary, base, scaling):
    """`scaling`: None, ('linear', factor) or ('llama3', factor, low, high, original)."""
    result = []
    for i in range(rotary // 2):
        f = base**(-2 * i / rotary)
        if scaling and scaling[0] == 'linear':
            f /= scaling[1]
        elif scaling:
            _, factor, low, high, original = scaling
            turns = original * f / (2 * math.pi)  # over the original context
            blend = min(1, max(0, (turns - low) / (high - low)))
            f = (1 - blend) * f / factor + blend * f
        result.append(f)
    return result


def rotary_table(positions, rotary, base, scaling, digits=0):
    """The table for positions, or for the three digits of a position, of which the first has the amplitude."""
    pairs = [rotary_pairs(p, rotary, base, scaling) for p in range(digits or positions)]
    for place in (digits, digits**2) if digits else ():
        turns = [rotary_pairs(place * r, rotary, base, scaling) for r in range(digits)]
        pairs += [[pair / abs(pair) for pair in row] for row in turns]
    return [[pair.real for pair in row] + [pair.imag for pair in row] for row in pairs]


def sinusoids(positions, width, layout, blank=-1):
    """A sine for every even feature, a cosine for every odd one; halves: all sines first."""
    result, half = [], width // 2
    for p in range(positions):
        if p == blank:
            result.append([0.0] * width)
            continue
        if layout == 'spread':
            angles = [p * math.exp(-math.log(10000) * j / (half - 1)) for j in range(half)]
            result.append([math.sin(a) for a in angles] + [math.cos(a) for a in angles] + [0.0] * (width % 2))
            continue
        row = [(math.cos if j % 2 else math.sin)(p / 10000**(j // 2 * 2 / width)) for j in range(width)]
        result.append(row if layout == 'interleaved' else row[::2] + row[1::2])
    return result


def bucket(distance, count, bidirectional, longest):
    """T5's, in the float32 arithmetic of Hugging Face; `distance` is key position - query position."""
    base, n = 0, max(-distance, 0)
    if bidirectional:
        count //= 2
        base, n = (count if distance > 0 else 0), abs(distance)
    exact = count // 2
    if n < exact:
        return base + n
    share = to_f32(to_f32(math.log(to_f32(n / exact))) / to_f32(math.log(longest / exact)))
    return base + min(count - 1, exact + int(to_f32(share * (count - exact))))


def relative_bias(table, length, bidirectional, longest):
    chosen = [table[bucket(d, len(table), bidirectional, longest)] for d in range(1 - length, length)]
    return transpose(chosen)


def relative_keys(projection, heads, distances, factor, vectors=None):
    """Rows of heads, of the furthest distance first; with two vectors their products with the difference."""
    width, inputs = len(projection) // heads, len(projection[0])
    result = []
    for head in range(heads):
        own = slice(head * width, (head + 1) * width)
        rows = linear(sinusoids(distances, inputs, 'halves')[::-1], projection[own], None)
        rows = each(lambda v: factor * v, rows)
        if vectors:
            steps = [b - a for a, b in zip(*(vector[own] for vector in vectors))]
            rows = [math.fsum(a * b for a, b in zip(row, steps)) for row in rows]
        result += rows
    return result


# --- activations


def linear(x, matrix, bias):
    bias = bias or [0.0] * len(matrix)
    return [[math.fsum(a * b for a, b in zip(row, weights)) + c for weights, c in zip(matrix, bias)] for row in x]


def softmax(x):
    result = []
    for row in x:
        powers = [math.exp(v - max(row)) for v in row]
        result.append([power / math.fsum(powers) for power in powers])
    return result


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def quantize(x):
    """Blocks of 32 as integers of 8 bits times a scale; all arithmetic is f32."""
    result = []
    for row in x:
        values = []
        for first in range(0, len(row), 32):
            block = [f32(v) for v in row[first:first + 32]]
            most = max(map(abs, block))
            scale, inverse = (0.0, 0.0) if most < 2 ** -120 else (f32(most / 127), f32(127 / most))
            values += [round(f32(v * inverse)) * scale for v in block]
        result.append(values)
    return result


def log_softmax(x, tails):
    """Words, then clusters of those from `tails` on."""
    result = []
    for row in x:
        words = len(row) - len(tails)
        bounds = [*tails, words]
        logs = [math.log(p) for p in softmax([row[:bounds[0]] + row[words:]])[0]]
        out = logs[:bounds[0]]
        for cluster, (a, b) in enumerate(zip(bounds, bounds[1:])):
            out += [logs[bounds[0] + cluster] + math.log(p) for p in softmax([row[a:b]])[0]]
        result.append(out)
    return result


def norm(kind, x, scale, bias, epsilon, groups):
    width = len(x[0]) // groups
    bias = bias or [0.0] * width
    repeated = lambda vector: (vector * groups)[:len(x[0])]
    scale, bias = repeated(scale), repeated(bias)
    result = []
    for row in x:
        out = []
        for g in range(groups):
            part = row[g * width:(g + 1) * width]
            mean = math.fsum(part) / width if kind == 'layer' else 0.0
            part = [v - mean for v in part]
            divisor = math.sqrt(math.fsum(v * v for v in part) / width + epsilon)
            own = slice(g * width, (g + 1) * width)
            out += [v / divisor * s + b for v, s, b in zip(part, scale[own], bias[own])]
        result.append(out)
    return result


def largest(numbers, count):
    """The places of the largest, of equal ones the first."""
    return sorted(range(len(numbers)), key=lambda i: (-numbers[i], i))[:count]


def route(x, count, normalized, bias=None, groups=1, kept=1, best=1):
    """The largest of every row in the `kept` groups with the largest sums of their `best`; others are zero."""
    result = []
    for row in x:
        compared, each_group = [v + b for v, b in zip(row, bias or [0.0] * len(row))], len(row) // groups
        parts = [compared[g:g + each_group] for g in range(0, len(row), each_group)]
        left = largest([math.fsum(sorted(part, reverse=True)[:best]) for part in parts], kept)
        places = largest([v if e // each_group in left else -math.inf for e, v in enumerate(compared)], count)
        total = math.fsum(row[e] for e in places) if normalized else 1.0
        result.append([v / total if e in places else 0.0 for e, v in enumerate(row)])
    return result


def experts(kind, x, routes, gate, up, down, biases=None, clamp=0.0):
    """Matrices lie one above the other."""
    count, result = len(routes[0]), []
    inner, outputs = len(gate) // count, len(down) // count
    biases = biases or [[0.0] * len(weight) for weight in (gate, up, down)]
    for row, weights in zip(x, routes):
        out = [0.0] * outputs
        for e in (e for e in range(count) if weights[e]):
            own, end = slice(e * inner, (e + 1) * inner), slice(e * outputs, (e + 1) * outputs)
            gates, ups = (linear([row], w[own], b[own])[0] for w, b in ((gate, biases[0]), (up, biases[1])))
            if clamp:
                gates, ups = [min(g, clamp) for g in gates], [min(max(u, -clamp), clamp) + 1 for u in ups]
            hidden = [ACTIVATIONS[kind](g) * u for g, u in zip(gates, ups)]
            made = linear([hidden], down[end], biases[2][end])[0]
            out = [a + weights[e] * b for a, b in zip(out, made)]
        result.append(out)
    return result


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


ACTIVATIONS = {
    'relu': lambda x: max(x, 0.0),
    'gelu': lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    'gelu_tanh': lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    'silu': lambda x: x * sigmoid(x),
    'tanh': math.tanh,
    'sigmoid': sigmoid,
    'quick_gelu': lambda x: x * sigmoid(1.702 * x),
    'relu_squared': lambda x: max(x, 0.0)**2,
    'softplus': lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))),
}


def rope(x, heads, rotary, base, scaling, last=0):
    """Positions beyond the last count as it, if there is one."""
    width, half = len(x[0]) // heads, rotary // 2
    result = []
    for position, row in enumerate(x):
        row, angles = list(row), rotary_pairs(min(position, last or position), rotary, base, scaling)
        for first in range(0, heads * width, width):
            for i in range(half):
                # The pair as a complex number, turned by the angle.
                turned = complex(row[first + i], row[first + half + i]) * angles[i]
                row[first + i], row[first + half + i] = turned.real, turned.imag
        result.append(row)
    return result


def sees(mask, window, prefix, query, key):
    if window and abs(query - key) >= window:
        return False
    return mask == 'full' or key <= query or (mask == 'prefix' and max(query, key) < prefix)


def attention(mask, queries, keys, values, heads, kv_heads, scale, window=0, prefix=0, bias=None, cap=0.0,
              absolute=False, row_bias=None, zero_start=False, sinks=None, kept=0, first=None):
    """`bias`: rows of heads, columns of distances, or of positions if it is absolute. `row_bias`: for each query and head
    a column for every distance, the furthest first. `sinks`: a score of each head for nothing. `first`: the queries that
    meet the first `kept` tokens."""
    if zero_start:  # a text behind rows of zeros
        before = [[0.0] * len(keys[0])] * (window - 1)
        keys, values = before + keys, before + values
    width = len(queries[0]) // heads
    result = []
    for t, query in enumerate(queries):
        out = []
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            at = head * kv_heads // heads * width
            place = t + len(keys) - len(queries) if zero_start else t
            seen = [s for s in range(len(keys)) if (s <= place if s < kept else sees(mask, window, prefix, place, s))]
            added = [bias[head][s if absolute else len(bias[head]) // 2 + s - t] if bias else 0.0 for s in seen]
            if row_bias:
                count = len(row_bias[t]) // heads
                added = [row_bias[t][head * count + max(count - 1 - (place - s), 0)] for s in seen]
            met = [first[t] if s < kept else query for s in seen]
            scores = [scale * math.fsum(a * b for a, b in zip(q[own], keys[s][at:at + width])) for q, s in zip(met, seen)]
            scores = [(cap * math.tanh(score / cap) if cap else score) + c for score, c in zip(scores, added)]
            weights = softmax([scores + ([sinks[head]] if sinks else [])])[0]
            out += [math.fsum(w * values[s][at + i] for w, s in zip(weights, seen)) for i in range(width)]
        result.append(out)
    return result


def memory(update, local, queries, keys, values, gates, heads, kept, local_first):
    """Attends to one segment and updates `kept`: the matrix and divisor of each key-value head that earlier segments left; empty
    at first."""
    width, first = len(queries[0]) // heads, not kept
    count = len(keys[0]) // width
    if first:
        kept.extend(([[0.0] * width for _ in range(width)], [0.0] * width) for _ in range(count))
    result = [[0.0] * len(row) for row in queries]
    for head in range(heads):
        gate, at = 0.0 if first and local_first else sigmoid(gates[head]), head * width
        for t, row in enumerate(queries):
            found = remembered(kept[head * count // heads], elu_plus_one(row[at:at + width]))
            for i, value in enumerate(found):
                result[t][at + i] = gate * value + (1 - gate) * local[t][at + i]
    for head in range(count):
        matrix, divisor = kept[head]
        own = slice(head * width, (head + 1) * width)
        active = [elu_plus_one(row[own]) for row in keys]
        left = [row[own] for row in values]
        if update == 'delta':
            left = [[a - b for a, b in zip(v, remembered(kept[head], k))] for v, k in zip(left, active)]
        kept[head] = ([[matrix[i][j] + math.fsum(k[i] * v[j] for k, v in zip(active, left)) for j in range(width)]
                       for i in range(width)], [divisor[i] + math.fsum(k[i] for k in active) for i in range(width)])
    return result


def elu_plus_one(row):
    return [x + 1 if x > 0 else math.exp(x) for x in row]


def remembered(kept, active):
    matrix, divisor = kept
    total = max(math.fsum(a * z for a, z in zip(active, divisor)), 1e-6)
    return [math.fsum(a * row[j] for a, row in zip(active, matrix)) / total for j in range(len(active))]
