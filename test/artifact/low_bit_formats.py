# SPDX-License-Identifier: Apache-2.0
"""llama.cpp's formats of two and three bits and of codes of a table, a second time."""
import math
import struct

from block_arithmetic import dot, f, from_half, greatest, half, inverse, nearest, nibbles, weighed_line

VALUES = {'q2_k': 256, 'q3_k': 256, 'iq4_nl': 32, 'iq4_xs': 256}
# The sizes of the words of a block.
WORDS = {'q2_k': 16 * [1] + 16 * [4] + [2, 2], 'q3_k': 27 * [4] + [2], 'iq4_nl': [2] + 4 * [4],
         'iq4_xs': [2] + 6 * [1] + 32 * [4]}
# The bytes of a block at which it has halves.
HALVES = {'q2_k': [80, 82], 'q3_k': [108], 'iq4_nl': [0], 'iq4_xs': [0]}


def low_bits(levels):
    return bytes(sum((levels[n + i + 32 * q] & 3) << 2 * q for q in range(4)) for n in (0, 128) for i in range(32))


def q2_k(xs):
    found = [weighed_line(xs[i:i + 16], [abs(x) for x in xs[i:i + 16]], 3, -0.5, f(0.1), 15, abs)
             for i in range(0, 256, 16)]
    largest = [max([0.0] + [entry[side] for entry in found]) for side in (0, 1)]
    factors = [f(15 / most) if most > 0 else 0.0 for most in largest]
    rounded = [[nearest(f(factors[side] * entry[side]), 0, 15) for entry in found] for side in (0, 1)]
    halves = half(f(largest[0] / 15)) + half(f(largest[1] / 15))
    d, dm = from_half(halves, 0), from_half(halves, 2)
    levels = []
    for j, (scale, least) in enumerate(zip(*rounded)):
        step, offset = f(d * scale), f(dm * least)
        group = xs[16 * j:16 * j + 16]
        levels += [nearest(f(f(x + offset) / step), 0, 3) for x in group] if step else found[j][2]
    return bytes(s | m << 4 for s, m in zip(*rounded)) + low_bits(levels) + halves


def three_bits(xs):
    """(step, levels around zero): those of the largest value, then improved one by one."""
    most = greatest(xs)
    if abs(most) < 1e-15:
        return 0.0, [-4] * 16
    per_step = f(-4 / most)
    levels = [nearest(f(per_step * x), -4, 3) for x in xs]
    weights = [f(x * x) for x in xs]
    lx, l2 = dot(weights, xs, levels), dot(weights, levels, levels)
    for _ in range(5):
        before = list(levels)
        for i, (x, w) in enumerate(zip(xs, weights)):
            sx, s2 = f(lx - f(f(w * x) * levels[i])), f(l2 - f(f(w * levels[i]) * levels[i]))
            if not sx > 0:
                continue
            level = nearest(f(f(x * s2) / sx), -4, 3)
            if level == levels[i]:
                continue
            sx, s2 = f(sx + f(f(w * x) * level)), f(s2 + f(f(w * level) * level))
            if s2 > 0 and f(f(sx * sx) * l2) > f(f(lx * lx) * s2):
                levels[i], lx, l2 = level, sx, s2
        if levels == before:
            break
    return (f(lx / l2) if l2 > 0 else 0.0), levels


def q3_k(xs):
    found = [three_bits(xs[i:i + 16]) for i in range(0, 256, 16)]
    most = greatest([step for step, _ in found])
    per_step = f(-32 / most) if most else 0.0
    scales = [nearest(f(per_step * step), -32, 31) + 32 if most else 0 for step, _ in found]
    header = half(inverse(per_step))
    d, levels = from_half(header, 0), []
    for j, (_, trial) in enumerate(found):
        of_group = f(d * (scales[j] - 32))
        levels += [nearest(f(x / of_group), -4, 3) for x in xs[16 * j:16 * j + 16]] if of_group else trial
    levels = [level + 4 for level in levels]
    third = bytes(sum((levels[32 * j + i] >> 2) << j for j in range(8)) for i in range(32))
    lower = bytes(scales[j] & 15 | (scales[j + 8] & 15) << 4 for j in range(8))
    upper = bytes(sum((scales[j + 4 * q] >> 4) << 2 * q for q in range(4)) for j in range(4))
    return third + low_bits(levels) + lower + upper + header


# Codes of a table.

IQ4 = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]


def nearest_iq4(x):
    """Of two equally near ones the greater."""
    return min(range(16), key=lambda code: (f(abs(f(x - IQ4[code]))), -code))


def iq4_step(xs):
    most = greatest(xs)
    if abs(most) < 1e-15:
        return 0.0
    weights, step, best = [f(x * x) for x in xs], 0.0, 0.0
    for t in [None] + list(range(-7, 8)):
        per_step = inverse(f(-most / IQ4[0])) if t is None else f((t + IQ4[0]) / most)
        values = [IQ4[nearest_iq4(f(per_step * x))] for x in xs]
        lx, l2 = dot(weights, values, xs), dot(weights, values, values)
        if t is None or (l2 > 0 and f(lx * lx) > f(best * l2)):
            step = f(lx / l2) if l2 else 0.0
            best = f(step * lx)
    return step


def iq4_nl(xs):
    step = iq4_step(xs)
    return half(step) + nibbles([nearest_iq4(f(inverse(step) * x)) for x in xs])


def iq4_xs(xs):
    steps = [iq4_step(xs[i:i + 32]) for i in range(0, 256, 32)]
    d = f(-greatest(steps) / 32)
    scales = [nearest(f(inverse(d) * step), -32, 31) for step in steps]
    codes = b''
    for j, scale in enumerate(scales):
        per_step = inverse(f(d * scale))
        codes += nibbles([nearest_iq4(f(per_step * x)) for x in xs[32 * j:32 * j + 32]])
    scales = [scale + 32 for scale in scales]
    upper = struct.pack('<H', sum((scale >> 4) << 2 * j for j, scale in enumerate(scales)))
    lower = bytes(scales[j] & 15 | (scales[j + 1] & 15) << 4 for j in range(0, 8, 2))
    return half(d) + upper + lower + codes


def decode(name, data):
    """The values of a block of two or three bits, or of codes of a table."""
    n, d = VALUES[name], from_half(data, HALVES[name][0])
    if name == 'iq4_nl':
        return [f(IQ4[data[2 + i % 16] >> i // 16 * 4 & 15] * d) for i in range(n)]
    if name == 'iq4_xs':
        upper, = struct.unpack_from('<H', data, 2)
        scales = [f(d * ((data[4 + j // 2] >> j % 2 * 4 & 15 | (upper >> 2 * j & 3) << 4) - 32)) for j in range(8)]
        return [f(scales[i // 32] * IQ4[data[8 + i // 32 * 16 + i % 16] >> i % 32 // 16 * 4 & 15]) for i in range(n)]
    low = data[16 if name == 'q2_k' else 32:]
    levels = [low[i // 128 * 32 + i % 32] >> i % 128 // 32 * 2 & 3 for i in range(n)]
    if name == 'q2_k':
        dm = from_half(data, 82)
        return [f(f(f(d * (data[i // 16] & 15)) * level) - f(dm * (data[i // 16] >> 4))) for i, level in enumerate(levels)]
    scales = [(data[96 + j % 8] >> j // 8 * 4 & 15 | (data[104 + j % 4] >> j // 4 * 2 & 3) << 4) - 32 for j in range(16)]
    return [f(f(d * scales[i // 16]) * (level + 4 * (data[i % 32] >> i // 32 & 1) - 4)) for i, level in enumerate(levels)]


def encode(name, xs):
    return {'q2_k': q2_k, 'q3_k': q3_k, 'iq4_nl': iq4_nl, 'iq4_xs': iq4_xs}[name](xs)
