# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that formats of blocks share: every operation is rounded to f32, `f` of the double result, which is the
rounded exact one. Searches are those of llama.cpp.
"""
import math
import struct


def f(x):
    try:
        return struct.unpack('<f', struct.pack('<f', x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def half(x):
    """The bytes of the nearest half."""
    return struct.pack('<e', x)


def from_half(data, at):
    return struct.unpack_from('<e', data, at)[0]


def inverse(x):
    """The inverse; zero for zero, and for what is too small to have one."""
    y = f(1 / x) if x else 0.0
    return y if math.isfinite(y) else 0.0


def nearest(x, least, most):
    """Ties to even; numbers of 2^22 and more as llama.cpp's trick makes them."""
    bits, = struct.unpack('<I', struct.pack('<f', f(x + 12582912.0)))
    return max(least, min(most, (bits & 0x7fffff) - 0x400000))


def away(x):
    """The nearest integer, ties away from zero."""
    return int(math.floor(abs(x) + 0.5)) * (1 if x >= 0 else -1)


def greatest(xs):
    most = 0.0
    for x in xs:
        if abs(x) > abs(most):
            most = x
    return most


def nibbles(levels):
    return bytes(levels[i] & 15 | (levels[i + 16] & 15) << 4 for i in range(16))


def dot(*lists):
    """Sums of products, from left to right."""
    total = 0.0
    for items in zip(*lists):
        product = items[0]
        for item in items[1:]:
            product = f(product * item)
        total = f(total + product)
    return total


def weighed_line(xs, weights, top, first, step, steps, cost):
    """(scale, minus the offset, levels): the least weighted costs of scale * level + offset - x."""
    low, high = min(0.0, min(xs)), max(xs)
    if low == high:
        return 0.0, -low, [0] * len(xs)
    total, of_values = dot(weights), dot(weights, xs)

    def choose(per_level):
        return [nearest(f(per_level * f(x - low)), 0, top) for x in xs]

    def error(scale, offset, levels):
        result = 0.0
        for x, w, level in zip(xs, weights, levels):
            e = f(f(f(scale * level) + offset) - x)
            result = f(result + f(w * cost(e)))
        return result

    per_level = f(top / f(high - low))
    best, levels = (f(1 / per_level), low), choose(per_level)
    least = error(*best, levels)
    for t in range(steps + 1):
        trial = choose(f(f(f(first + f(step * t)) + top) / f(high - low)))
        l1, l2, lx = dot(weights, trial), dot(weights, trial, trial), dot(weights, trial, xs)
        determinant = f(f(total * l2) - f(l1 * l1))
        if not determinant > 0:
            continue
        scale = f(f(f(total * lx) - f(of_values * l1)) / determinant)
        offset = f(f(f(l2 * of_values) - f(l1 * lx)) / determinant)
        if offset > 0:
            scale, offset = f(lx / l2), 0.0
        found = error(scale, offset, trial)
        if found < least:
            best, levels, least, low = (scale, offset), trial, found, offset
    return best[0], -best[1], levels
