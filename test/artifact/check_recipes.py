# SPDX-License-Identifier: Apache-2.0
# Computes the weights of recipes.mlir from the definitions of the talc dialect and compares an artifact with them.
#
# usage: check_recipes.py --make-files DIRECTORY | APP
import math
import os
import struct
import sys

from artifact import read_weights


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def to_bf16(x):
    """Nearest even, by exact arithmetic on the neighbours."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    if bits & 0x7FFFFFFF > 0x7F800000:
        return bits >> 16 | 0x40
    low = bits >> 16
    rest = bits & 0xFFFF
    return low + (rest > 0x8000 or (rest == 0x8000 and low & 1))


def from_bf16(h):
    return struct.unpack("<f", struct.pack("<I", h << 16))[0]


def from_f16(h):
    return struct.unpack("<e", struct.pack("<H", h))[0]


def encode(values, kind):
    if kind == "f32":
        return struct.pack(f"<{len(values)}f", *values)
    if kind == "f16":
        return struct.pack(f"<{len(values)}e", *values)
    return struct.pack(f"<{len(values)}H", *map(to_bf16, values))


def random(count, seed, mean, deviation):
    mask = (1 << 64) - 1
    result = []
    for i in range(count):
        z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & mask
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        z ^= z >> 31
        u = f32((2 * ((z >> 40) / 2**24) - 1) * math.sqrt(3))
        result.append(f32(mean + deviation * u))
    return result


def rows(values, columns):
    return [values[i:i + columns] for i in range(0, len(values), columns)]


def flat(matrix):
    return [x for row in matrix for x in row]


def transpose(matrix):
    return [list(column) for column in zip(*matrix)]


def interleave(first, second, group):
    result, zero = [], [0.0] * len(first[0])
    for begin in range(0, len(first), group):
        for matrix in (first, second):
            result += [matrix[r] if r < len(matrix) else zero for r in range(begin, begin + group)]
    return result


def pack(matrix, lanes):
    zero = [0.0] * len(matrix[0])
    padded = matrix + [zero] * (-len(matrix) % lanes)
    return [padded[p + lane][k] for p in range(0, len(padded), lanes) for k in range(len(zero)) for lane in range(lanes)]


def half_split(matrix, width, rotary):
    order = [*range(0, rotary, 2), *range(1, rotary, 2), *range(rotary, width)]
    return [matrix[start + i] for start in range(0, len(matrix), width) for i in order]


def bf16(x):
    return from_bf16(to_bf16(f32(x)))


def slopes(heads):
    """The slopes of the power of two below, then every other one of the power above."""
    below = 1 << heads.bit_length() - 1
    of = lambda count: [2 ** (-8 * (h + 1) / count) for h in range(count)]
    return of(below) + of(2 * below)[:2 * (heads - below):2]


def rotary(positions, width, base, change=lambda f: f, amplitude=1.0):
    frequencies = [change(base ** (-2.0 * i / width)) for i in range(width // 2)]
    return [amplitude * turn(p * f) for p in range(positions) for turn in (math.cos, math.sin) for f in frequencies]


def dynamic(positions, width, base, factor, original):
    """Position by position, with the base of a text that ends there."""
    grown = lambda length: base * (factor * length / original - (factor - 1)) ** (width / (width - 2))
    of = lambda p: rotary(p + 1, width, base if p < original else grown(p + 1))[p * width:]
    return [value for p in range(positions) for value in of(p)]


def listed(width, base, factors):
    """A change of frequencies."""
    order = {base ** (-2.0 * i / width): factor for i, factor in enumerate(factors)}
    return lambda f: f / order[f]


def yarn(width, base, factor, original, truncate):
    """A change of frequencies, by the number of turns over the original context."""
    at = lambda turns: width * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))
    low, high = at(32), at(1)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)

    def change(f):
        i = round(-math.log(f) / math.log(base) * width / 2)
        ramp = min(max((i - low) / (high - low), 0.0), 1.0)
        return f / factor * ramp + f * (1 - ramp)
    return change


def spread(positions, width, blank):
    half = width // 2
    result = []
    for p in range(positions):
        angles = [p * 10000 ** (-j / (half - 1)) for j in range(half)]
        row = [*map(math.sin, angles), *map(math.cos, angles), *[0.0] * (width % 2)]
        result += [0.0] * width if p == blank else row
    return result


def llama3(f):
    factor, low, high, original = 8.0, 1.0, 4.0, 8192.0
    wavelength = 2 * math.pi / f
    if wavelength > original / low:
        return f / factor
    if wavelength < original / high:
        return f
    s = (original / wavelength - low) / (high - low)
    return ((1 - s) / factor + s) * f


def sinusoids(positions, width, halves):
    result = []
    for p in range(positions):
        waves = [(math.cos if j % 2 else math.sin)(p / 10000 ** (j // 2 * 2 / width)) for j in range(width)]
        result += waves[::2] + waves[1::2] if halves else waves
    return result


def buckets(direction, longest, last):
    """The distances 0 to last as Hugging Face's T5 numbers them: logarithm, quotient and product are float32."""
    exact = direction // 2
    scale = f32(math.log(longest / exact))
    large = lambda n: exact + int(f32(f32(f32(math.log(f32(n / exact))) / scale) * f32(direction - exact)))
    return [n if n < exact else min(large(n), direction - 1) for n in range(last + 1)]


def relative_bias(table, length, bidirectional, longest):
    direction = len(table) // 2 if bidirectional else len(table)
    of = buckets(direction, longest, length - 1)
    bucket = lambda d: (of[-d] if d <= 0 else direction + of[d] if bidirectional else 0)
    return [table[bucket(d)][h] for h in range(len(table[0])) for d in range(1 - length, length)]


def relative_keys(projection, heads, distances, scale):
    waves = rows(sinusoids(distances, len(projection[0]), True), len(projection[0]))
    width = len(projection) // heads
    return [[scale * math.fsum(x * y for x, y in zip(waves[distances - 1 - c], projection[h * width + i]))
             for i in range(width)] for h in range(heads) for c in range(distances)]


def expected():
    # The first distance of each bucket of T5's encoders, from bucket 8 on, and the edges of a smaller table.
    t5 = buckets(16, 128, 127)
    assert [t5.index(b) for b in range(8, 16)] == [8, 12, 16, 23, 32, 46, 64, 91]
    assert [buckets(9, 128, 64)[n] for n in (8, 16, 32, 64)] == [5, 6, 7, 8]
    buckets32, buckets9 = rows(random(96, 8, 0.0, 1.0), 3), rows(random(9, 10, 0.0, 1.0), 1)
    buckets10 = [[from_f16(struct.unpack("<H", struct.pack("<e", x))[0]) for x in row]
                 for row in rows(random(20, 9, 0.0, 1.0), 2)]
    a, b, c = (rows(random(n * 70, seed, 0.0, 1.0), 70) for n, seed in ((300, 1), (13, 2), (13, 3)))
    v3 = random(3, 4, 0.0, 1.0)
    # Published values of gpt-oss: see the frequencies of YaRN's paper.
    exact = [yarn(64, 150000.0, 32.0, 4096, False)(150000.0 ** (-2 * i / 64)) for i in (8, 16, 31)]
    assert all(abs(x / y - 1) < 1e-6 for x, y in zip(exact, (.050813275, 4.5648392e-4, 3.0235114e-7)))
    half = [[from_f16(struct.unpack("<H", struct.pack("<e", x))[0]) for x in row] for row in c]
    concat = b + a + c
    projection = [[from_f16(struct.unpack("<H", struct.pack("<e", x))[0]) for x in row]
                  for row in rows(random(280, 11, 0.0, 0.3), 14)]
    keys, steps = relative_keys(projection, 4, 50, 0.5), [y - x for x, y in zip(random(20, 12, 0.0, 1.0), random(20, 13, 0.0, 1.0))]
    return {
        "file.f32": [i * 0.1 for i in range(35)],
        "file.f16": all_finite(from_f16),
        "file.bf16": all_finite(from_bf16),
        "file.edges": edges(),
        "random": random(41 * 53, 7, 0.5, 2.0),
        "fill": [f32(0.1)] * 9,
        "values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "splat": [f32(1.1)] * 6,
        "transpose": flat(transpose(a)),
        "concat": flat(concat),
        "vectors": [1.0] + v3,
        "pad": v3 + [0.0] * 5,
        "interleave": flat(interleave(b, c, 4)),
        "pack": pack(a, 16),
        "pack.f16": pack(half, 8),
        "pack.bf16": pack(transpose(a), 16),
        "pack.all": pack(interleave(concat, concat, 1), 16),
        "rotary": rotary(40, 6, 10000.0),
        "rotary.linear": rotary(40, 6, 10000.0, lambda f: f / 4),
        "rotary.llama3": rotary(40, 32, 500000.0, llama3),
        "rotary.yarn": rotary(40, 16, 10000.0, yarn(16, 10000.0, 4.0, 1024, True), 1.25),
        "rotary.yarn.exact": rotary(40, 64, 150000.0, yarn(64, 150000.0, 32.0, 4096, False)),
        "rotary.dynamic": dynamic(40, 16, 10000.0, 2.0, 16),
        "rotary.listed": rotary(40, 6, 10000.0, listed(6, 10000.0, [1.0, 2.0, 4.0]), 1.5),
        "rows": flat(row for i, row in enumerate(a) if 5 <= i % 50 < 12),
        "rows.all": flat(b),
        "half_split": flat(half_split(a, 30, 12)),
        "plus": [f32(x + 1.0) for x in v3],
        "alibi": [m * d for m in slopes(6) for d in range(-9, 10)],
        "alibi.rounded": [0.35 * bf16(bf16(m) * bf16(p)) for m in slopes(6) for p in range(600)],
        "sinusoid.spread": spread(34, 9, 1),
        "sinusoid.halves": sinusoids(34, 7, True),
        "sinusoid.interleaved": sinusoids(515, 34, False),
        "bias.t5": relative_bias(buckets32, 301, True, 128),
        "bias.t5.causal": relative_bias(buckets32, 301, False, 128),
        "bias.small": relative_bias(buckets10, 70, True, 20),
        "bias.wide": relative_bias(buckets10, 3000, False, 1000),
        "bias.edges": relative_bias(buckets9, 129, False, 128),
        "relative_keys": flat(keys),
        "relative_keys.bias": [math.fsum(x * y for x, y in zip(row, steps[i // 50 * 5:])) for i, row in enumerate(keys)],
        "relative_keys.packed": pack(keys + [[0.0] * 5] * 248, 16),
        "wide": random(700000, 5, 0.0, 1.0),
    }


def same(name, found, values, kind):
    if not name.startswith(("rotary", "sinusoid", "relative_keys")):
        return found == encode(values, kind)
    floats = struct.unpack(f"<{len(values)}f", found)  # libm's last bit may differ
    return all(abs(x - y) <= 6e-8 * max(1.0, abs(y)) for x, y in zip(floats, values))


def all_finite(decode):
    """Every half, with zeros for those that are not finite numbers."""
    return [x if math.isfinite(x) else 0.0 for x in map(decode, range(65536))]


def edges():
    """Every f16 below infinity, the middle between it and the next one, and the f32 on both sides of the middle."""
    result = []
    for h in range(0x7BFF):
        low, high = from_f16(h), from_f16(h + 1)
        middle = struct.unpack("<I", struct.pack("<f", (low + high) / 2))[0]
        result += [low, *(struct.unpack("<f", struct.pack("<I", middle + step))[0] for step in (-1, 0, 1))]
    return result


def make_files(directory):
    with open(os.path.join(directory, "edges.bin"), "wb") as file:
        file.write(encode(edges(), "f32"))
    with open(os.path.join(directory, "f32.bin"), "wb") as file:
        file.write(b"xyz" + encode([i * 0.1 for i in range(35)], "f32"))
    for kind, decode in ("f16", from_f16), ("bf16", from_bf16):
        with open(os.path.join(directory, f"{kind}.bin"), "wb") as file:
            file.write(encode(all_finite(decode), kind))


def main(arguments):
    if arguments[0] == "--make-files":
        return make_files(arguments[1])
    weights, wanted = read_weights(arguments[0]), expected()
    assert weights.keys() == wanted.keys(), weights.keys() ^ wanted.keys()
    for name, values in wanted.items():
        kind, shape, found = weights[name]
        assert math.prod(shape) == len(values), name
        assert same(name, found, values, kind), f"{name} differs"


if __name__ == "__main__":
    main(sys.argv[1:])
