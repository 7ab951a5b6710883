# SPDX-License-Identifier: Apache-2.0
"""Storage formats of blocks, a second time: llama.cpp's quantizers without importance weights, those of checkpoints'
formats, and what blocks mean.

Every operation on floats is rounded to f32: `f` of the double result, which is the rounded exact one.
"""
import math
import struct

import low_bit_formats
from block_arithmetic import (away, dot, f, from_half, greatest, half, inverse, nearest, nibbles, weighed_line)

VALUES = {'q8_0': 32, 'q4_0': 32, 'q4_1': 32, 'q5_0': 32, 'q5_1': 32, 'q4_k': 256, 'q5_k': 256, 'q6_k': 256}
BYTES = {'q8_0': 34, 'q4_0': 18, 'q4_1': 20, 'q5_0': 22, 'q5_1': 24, 'q4_k': 144, 'q5_k': 176, 'q6_k': 210}
# The bytes of a block at which it has halves; elsewhere 0 and 2.
HALVES = {'q8_0': [0], 'q4_0': [0], 'q5_0': [0], 'q6_k': [208]}
# The sizes of the words of a block, which lie side by side in lanes.
WORDS = {'q8_0': [2] + 8 * [4], 'q4_0': [2] + 4 * [4], 'q4_1': [2, 2] + 4 * [4], 'q5_0': [2] + 5 * [4],
         'q5_1': [2, 2] + 5 * [4], 'q4_k': [2, 2] + 35 * [4], 'q5_k': [2, 2] + 43 * [4],
         'q6_k': 48 * [4] + 16 * [1] + [2]}
# Formats of checkpoints: a kind, how many values share a block, and what products are rounded to. Of the variants those
# that differ in code.
GROUPED = ['fp8_128_bf16', 'fp8_32_f16', 'int4_128_bf16', 'int4_32_f16', 'int4z_64_f16', 'int8_32_f16', 'int8z_128_bf16',
           'nvfp4_256_bf16', 'nvfp4_64_f16']


def add_formats():
    heads = {'fp8': [4], 'int4': [2], 'int4z': [2, 1], 'int8': [2], 'int8z': [2, 1]}
    for table, others in (VALUES, low_bit_formats.VALUES), (WORDS, low_bit_formats.WORDS), (HALVES, low_bit_formats.HALVES):
        table.update(others)
    VALUES.update(mxfp4=32, nvfp4=64)
    WORDS.update(mxfp4=[1] + 4 * [4], nvfp4=4 * [1] + 8 * [4])
    for name in GROUPED:
        kind, values = name.split('_')[0], int(name.split('_')[1])
        head = [4] + values // 16 * [1] if kind == 'nvfp4' else heads[kind]
        levels = {'int4': values // 8 * [4], 'nvfp4': values // 2 * [1]}.get(kind.rstrip('z'), values * [1])
        VALUES[name], WORDS[name] = values, head + levels
    BYTES.update((name, sum(words)) for name, words in WORDS.items())


add_formats()


def fifth_bits(levels):
    return struct.pack('<I', sum((level >> 4) << i for i, level in enumerate(levels)))


def centred(xs, bits):
    zero = 1 << bits - 1
    d = f(greatest(xs) / -zero)
    scale = f(1 / d) if d else 0.0
    places = [f(f(x * scale) + (zero + 0.5)) for x in xs]
    levels = [min(2 * zero - 1, int(place)) if math.isfinite(place) else 0 for place in places]
    return half(d) + (fifth_bits(levels) if bits == 5 else b'') + nibbles(levels)


def shifted(xs, bits):
    top, least = (1 << bits) - 1, min(xs)
    d = f(f(max(xs) - least) / top)
    scale = inverse(d)
    levels = [min(top, int(f(f(f(x - least) * scale) + 0.5))) for x in xs]
    return half(d) + half(least) + (fifth_bits(levels) if bits == 5 else b'') + nibbles(levels)


def q8_0(xs):
    d = f(max(map(abs, xs)) / 127)
    scale = inverse(d)
    return half(d) + bytes(away(f(x * scale)) & 255 for x in xs)


def line(xs, top, first, step, steps):
    squares = 0.0
    for x in xs:
        squares = f(squares + f(x * x))
    average = f(math.sqrt(f(squares / 32)))
    return weighed_line(xs, [f(average + abs(x)) for x in xs], top, first, step, steps, lambda e: f(e * e))


def six_bits(scales, leasts):
    data = bytearray(12)
    for j, (s, m) in enumerate(zip(scales, leasts)):
        if j < 4:
            data[j], data[j + 4] = s, m
        else:
            data[j + 4] = s & 15 | (m & 15) << 4
            data[j - 4] |= s >> 4 << 6
            data[j] |= m >> 4 << 6
    return bytes(data)


def lines(xs, bits):
    top = (1 << bits) - 1
    search = (-1.0, f(0.1), 20) if bits == 4 else (-0.5, f(0.1), 15)
    found = [line(xs[i:i + 32], top, *search) for i in range(0, 256, 32)]
    largest = [max([0.0] + [entry[side] for entry in found]) for side in (0, 1)]
    factors = [f(63 / most) if most > 0 else 0.0 for most in largest]
    rounded = [[min(63, nearest(f(factors[side] * entry[side]), -4194304, 4194303) & 255) for entry in found]
               for side in (0, 1)]
    header = half(f(largest[0] / 63)) + half(f(largest[1] / 63))
    d, dm = from_half(header, 0), from_half(header, 2)
    levels = []
    for j, (scale, least) in enumerate(zip(*rounded)):
        step, offset = f(d * scale), f(dm * least)
        group = xs[32 * j:32 * j + 32]
        levels += [nearest(f(f(x + offset) / step), 0, top) for x in group] if step else found[j][2]
    high = bytes(sum((levels[32 * j + i] >> 4) << j for j in range(8)) for i in range(32)) if bits == 5 else b''
    low = bytes(levels[64 * j + i] & 15 | (levels[64 * j + 32 + i] & 15) << 4 for j in range(4) for i in range(32))
    return header + six_bits(*rounded) + high + low


def step_of(xs):
    """(step, levels around zero) with the squares of values as weights."""
    most = greatest(xs)
    step, best, levels = 0.0, 0.0, [-32] * 16
    if abs(most) < 1e-15:
        return step, levels
    for t in [0] + [t for t in range(-9, 10) if t]:
        per_step = f(-f(32 + f(f(0.1) * t)) / most)
        trial = [nearest(f(per_step * x), -32, 31) for x in xs]
        weights = [f(x * x) for x in xs]
        lx, l2 = dot(weights, xs, trial), dot(weights, trial, trial)
        if t == 0 or (l2 > 0 and f(lx * lx) > f(best * l2)):
            step, levels = f(lx / l2) if l2 else 0.0, trial
            best = f(step * lx)
    return step, levels


def q6_k(xs):
    found = [step_of(xs[i:i + 16]) for i in range(0, 256, 16)]
    most = greatest([step for step, _ in found])
    if abs(most) < 1e-15:
        return bytes(210)
    per_step = f(-128 / most)
    header = half(f(1 / per_step))
    d, scales, levels = from_half(header, 0), [], []
    for j, (step, trial) in enumerate(found):
        scales.append(min(127, nearest(f(per_step * step), -128, 4194303)))
        of_group = f(d * scales[-1])
        levels += [nearest(f(x / of_group), -32, 31) for x in xs[16 * j:16 * j + 16]] if of_group else trial
    levels = [level + 32 for level in levels]
    low = bytes(levels[n + i] & 15 | (levels[n + i + 64] & 15) << 4 for n in (0, 128) for i in range(64))
    high = bytes(sum((levels[n + i + 32 * q] >> 4) << 2 * q for q in range(4)) for n in (0, 128) for i in range(32))
    return low + high + bytes(s & 255 for s in scales) + header


# Small floats.

E2M1 = [sign * x for sign in (1, -1) for x in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]


def e4m3(code):
    exponent, mantissa = code >> 3 & 15, code & 7
    if code & 127 == 127:
        return math.nan
    return (math.ldexp(8 + mantissa, exponent - 10) if exponent else math.ldexp(mantissa, -9)) * (-1 if code & 128 else 1)


def e8m0(code):
    return math.ldexp(1, code - 127) if code < 255 else math.nan


def bf16(x):
    """The nearest, ties to even."""
    bits = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


def f16(x):
    return struct.unpack('<e', struct.pack('<e', x))[0]


def rounding(name):
    return bf16 if name.endswith('_bf16') else f16


def scale_word(name, scale):
    return struct.pack('<f', scale)[2:] if name.endswith('_bf16') else half(scale)


def closest_e2m1(x, scale):
    """The closest code; of two equally close ones the lower."""
    return min(range(16), key=lambda code: (abs(f(f(E2M1[code] * scale) - x)), code))


def closest_e4m3(x):
    return min(range(127), key=lambda code: (abs(e4m3(code) - abs(x)), code & 1)) | (128 if math.copysign(1, x) < 0 else 0)


def mxfp4(xs):
    most = max(map(abs, xs))
    code = max(0, math.floor(f(math.log2(most))) - 2 + 127) if most else 0
    codes = [closest_e2m1(x, e8m0(code)) for x in xs]
    return bytes([code]) + nibbles(codes)


def ue4m3(x):
    """llama.cpp's: ties up, and 448 for all from 256 on."""
    x = min(x, 448.0)
    if not x > 0:
        return 0
    mantissa, exponent = math.frexp(x)  # in [0.5, 1)
    exponent += 6
    if exponent <= 0:
        return min(7, int(f(f(x * 512) + 0.5)))
    units = math.floor(mantissa * 16 + 0.5)  # 8 to 16
    return 126 if exponent + units // 16 >= 15 else (exponent << 3) + units - 8


def nvfp4(xs, header=b''):
    scales, codes = b'', b''
    for i in range(0, len(xs), 16):
        group = xs[i:i + 16]
        scales += bytes([ue4m3(f(max(map(abs, group)) / 6))])
        found = [closest_e2m1(x, e4m3(scales[-1])) for x in group]
        codes += bytes(found[j] | found[j + 8] << 4 for j in range(8))
    return header + scales + codes


def grouped(name, xs):
    kind = name.split('_')[0]
    if kind == 'nvfp4':
        return nvfp4(xs, struct.pack('<f', 1.0))
    if kind == 'fp8':
        scale = f(max(map(abs, xs)) / 448)
        return struct.pack('<f', scale) + bytes(closest_e4m3(f(x / scale) if scale else 0.0) for x in xs)
    bits, has_zero = int(kind[3]), kind.endswith('z')
    top, least, most = (1 << bits) - 1, min(0.0, min(xs)), max(0.0, max(xs))
    wide = f(most - least) if has_zero else 2 * max(most, -least)
    word = scale_word(name, rounding(name)(f(wide / top)))
    scale = rounding(name)(f(wide / top))
    per_scale = inverse(scale)
    zero = nearest(f(-least * per_scale), 0, top) if has_zero else 1 << bits - 1
    levels = [nearest(f(f(x * per_scale) + zero), 0, top) for x in xs]
    head = word + (bytes([zero]) if has_zero else b'')
    if bits == 4:
        return head + b''.join(nibbles(levels[i:i + 32]) for i in range(0, len(levels), 32))
    return head + bytes(levels if has_zero else [level - 128 & 255 for level in levels])


def decode_numbers(name, data):
    """The values of a block in a format of checkpoints."""
    kind, n = name.split('_')[0], VALUES[name]
    if kind == 'mxfp4':
        return [f(E2M1[data[1 + i % 16] >> i // 16 * 4 & 15] * e8m0(data[0])) for i in range(n)]
    if kind == 'nvfp4':
        head = 4 if name != kind else 0
        factor, turn = (struct.unpack_from('<f', data)[0], rounding(name)) if head else (1.0, f)
        codes = data[head + n // 16:]
        return [turn(f(E2M1[codes[i // 16 * 8 + i % 8] >> i % 16 // 8 * 4 & 15] * f(e4m3(data[head + i // 16]) * factor)))
                for i in range(n)]
    turn = rounding(name)
    if kind == 'fp8':
        scale = struct.unpack_from('<f', data)[0]
        return [turn(f(e4m3(code) * scale)) for code in data[4:]]
    scale = struct.unpack('<f', b'\0\0' + data[:2])[0] if turn is bf16 else from_half(data, 0)
    has_zero, bits = kind.endswith('z'), int(kind[3])
    zero, levels = (data[2] if has_zero else 1 << bits - 1), data[3 if has_zero else 2:]
    if bits == 4:
        levels = [levels[i // 32 * 16 + i % 16] >> i % 32 // 16 * 4 & 15 for i in range(n)]
    elif not has_zero:
        levels = [level ^ 128 for level in levels]
    return [turn(f((level - zero) * scale)) for level in levels]


def is_of_checkpoints(name):
    return name in ('mxfp4', 'nvfp4') or name in GROUPED


def encode_block(name, xs):
    if name in ('mxfp4', 'nvfp4'):
        return mxfp4(xs) if name == 'mxfp4' else nvfp4(xs)
    if name in GROUPED:
        return grouped(name, xs)
    if name in low_bit_formats.VALUES:
        return low_bit_formats.encode(name, xs)
    if name == 'q8_0':
        return q8_0(xs)
    if name == 'q6_k':
        return q6_k(xs)
    return {'0': centred, '1': shifted, 'k': lines}[name[3]](xs, int(name[1]))


def encode(name, values):
    """The blocks of a row."""
    n = VALUES[name]
    return b''.join(encode_block(name, values[i:i + n]) for i in range(0, len(values), n))


def levels_of(name, data):
    """The code of every value, as it is stored."""
    if name == 'q8_0':
        return struct.unpack_from('<32b', data, 2)
    if name == 'q6_k':
        return [data[i // 128 * 64 + i % 64] >> (i % 128 // 64 * 4) & 15 |
                (data[128 + i // 128 * 32 + i % 32] >> (i % 128 // 32 * 2) & 3) << 4 for i in range(256)]
    bits, header = int(name[1]), {'0': 2, '1': 4, 'k': 16}[name[3]]
    if name[3] == 'k':
        low, high = header + (32 if bits == 5 else 0), [data[header + i % 32] >> i // 32 & 1 for i in range(256)]
        result = [data[low + i // 64 * 32 + i % 32] >> (i // 32 % 2 * 4) & 15 for i in range(256)]
    else:
        low = header + (4 if bits == 5 else 0)
        high = [struct.unpack_from('<I', data, header)[0] >> i & 1 for i in range(32)]
        result = [data[low + i % 16] >> (i // 16 * 4) & 15 for i in range(32)]
    return [level | (bit << 4 if bits == 5 else 0) for level, bit in zip(result, high)]


def decode_block(name, data):
    if is_of_checkpoints(name):
        return decode_numbers(name, data)
    if name in low_bit_formats.VALUES:
        return low_bit_formats.decode(name, data)
    levels = levels_of(name, data)
    if name == 'q6_k':
        d, scales = from_half(data, 208), struct.unpack_from('<16b', data, 192)
        return [f(f(d * scales[i // 16]) * (level - 32)) for i, level in enumerate(levels)]
    d = from_half(data, 0)
    if name[3] == 'k':
        dm, b = from_half(data, 2), data[4:16]
        scales = [b[j] & 63 if j < 4 else b[j + 4] & 15 | b[j - 4] >> 6 << 4 for j in range(8)]
        leasts = [b[j + 4] & 63 if j < 4 else b[j + 4] >> 4 | b[j] >> 6 << 4 for j in range(8)]
        return [f(f(f(d * scales[i // 32]) * level) - f(dm * leasts[i // 32])) for i, level in enumerate(levels)]
    if name[3] == '1':
        return [f(f(level * d) + from_half(data, 2)) for level in levels]
    zero = 0 if name == 'q8_0' else 1 << int(name[1]) - 1
    return [f((level - zero) * d) for level in levels]


def decode(name, data):
    n = BYTES[name]
    return [x for i in range(0, len(data), n) for x in decode_block(name, data[i:i + n])]


def in_lanes(name, rows):
    """Rows of blocks as panels have them: word by word, lane by lane."""
    n, result = BYTES[name], b''
    for begin in range(0, len(rows[0]), n):
        at = begin
        for size in WORDS[name]:
            result += b''.join(row[at:at + size] for row in rows)
            at += size
    return result
