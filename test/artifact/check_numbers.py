# SPDX-License-Identifier: Apache-2.0
"""check_numbers.py TALC DIRECTORY FRONTENDS MODELS [METHOD...]: weights that are not finite numbers, by themselves or as
products of finite levels and scales, are refused whatever they are stored as, with their name, place and file, and
numbers that are too large for their format; minus infinity in a vector is kept.
FRONTENDS is the folder of make_safetensors.py and gguf_writer.py, MODELS that of trained ones.
Products of METHODS of quantization; without any those of all, and whole models.
"""
import math
import os
import struct
import subprocess
import sys

import check_quantized as quantized
import gguf_writer
from artifact import read_weights
from check_blocks import Program, floats

WIDTH = 64
NUMBERS = {'f32': floats, 'f16': lambda x: struct.pack(f'<{len(x)}e', *x),
           'bf16': lambda x: b''.join(struct.pack('<f', value)[2:] for value in x)}
LAYER_UP = quantized.LAYER + 'mlp.up_proj'
UP = f'{LAYER_UP}.weight'
# The tensor of scales of a method, and the largest scale, at its begin.
LARGEST = {'F16': struct.pack('<e', 65504), 'BF16': b'\x7f\x7f', 'F32': struct.pack('<f', 3.4e38), 'U8': b'\xfe'}
SCALES = {'gptq': 'scales', 'awq': 'scales', 'fp8-deepseek': 'weight_scale_inv', 'fp8-qwen': 'weight_scale_inv',
          'nvfp4': 'weight_global_scale', 'modelopt-nvfp4': 'weight_scale_2'}
# Values of at most 1 by a scale: products are as finite as the scales.
BOUNDED = ('nf4', 'nf4-nested', 'fp4', 'llm-int8')
SMALLEST_DIVISOR = struct.pack('<f', 1.4e-36)  # by which the largest scale is divided to a finite number
# Scales and a divisor that make finite products, of which those of bf16 and f32 are too large to be rounded to bf16.
LARGE = {'F16': struct.pack('<e', 1), 'BF16': b'\x80\x79', 'F32': struct.pack('<f', 2.0**116), 'U8': b'\xfe'}
SMALL_DIVISOR = struct.pack('<f', 2.0**-116)


def refused(what, app, result, *texts):
    assert result.returncode == 1 and 'error[T0504]: ' in result.stderr, f'{what}: {result.stderr}'
    assert all(text in result.stderr for text in texts), f'{what}: {result.stderr}'
    assert not os.path.exists(app), what


def stored(program, source, shape, element):
    """A matrix in panels, a vector as it is."""
    recipe, shape = ('convert', shape) if len(shape) == 1 else ('pack', [1, shape[1], shape[0]])
    program.add('stored', shape, element, f'#talc.{recipe} of [@{source}]', 4096)


def numbers(directory, case, kind, element, shape, values, source='f32', attributes=''):
    """A weight of a file, whose values are those of the type `source`, and one that is made of it and stored."""
    program = Program(os.path.join(directory, case))
    program.file('values.bin', NUMBERS[kind](values))
    program.add('w', shape, source, f'#talc.file<"values.bin", 0, {kind}>{attributes}')
    stored(program, 'w', shape, element)
    return program


def check_plain(talc, directory):
    """The value is the fourth of the second of two rows."""
    for kind in NUMBERS:
        for stored_as, element in (kind, kind), ('q8_0', '!talc.stored<q8_0>'):
            for name, value in ('nan', math.nan), ('inf', math.inf), ('-inf', -math.inf):
                values = [1.0] * (2 * WIDTH)
                values[WIDTH + 3] = value
                case = f'{kind}-{stored_as}-{name}'
                program = numbers(directory, case, kind, element, [2, WIDTH], values)
                refused(case, *program.compile(talc), "values.bin: weight 'w'", f'{name} at [1, 3]')


def check_vectors(talc, directory):
    """A bias of minus infinity forbids a token."""
    values = [1.0] * WIDTH
    values[7] = -math.inf
    program = numbers(directory, 'forbids', 'f32', 'f16', [WIDTH], values)
    app, result = program.compile(talc)
    assert result.returncode == 0, result.stderr
    assert read_weights(app)['stored'][2] == NUMBERS['f16'](values)
    for name, value in ('nan', math.nan), ('inf', math.inf):
        values[9] = value
        refused(name, *numbers(directory, f'vector-{name}', 'f32', 'f32', [WIDTH], values).compile(talc), f'{name} at [9]')


def check_rounded(talc, directory):
    """Numbers that become infinite, at once or on the way, and those that are rounded to blocks before."""
    values = [1.0] * WIDTH + [65520.0] * WIDTH
    for source in 'f32', 'f16':
        program = numbers(directory, f'large-{source}', 'f32', 'f16', [2, WIDTH], values, source)
        refused(source, *program.compile(talc), "values.bin: weight 'w' has the value 65520", 'at [1, 0], too large for f16')
    values[WIDTH] = math.nan
    importance = ', '.join(['1.0'] * WIDTH)
    weighed = f' {{quantize_to = !talc.stored<q4_0>, importance = array<f32: {importance}>}}'
    for source, attributes in ('!talc.stored<q4_0>', ''), ('f32', weighed):
        program = numbers(directory, f'blocks{len(attributes)}', 'f32', 'f32', [2, WIDTH], values, source, attributes)
        refused(source, *program.compile(talc), 'nan at [1, 0]')


def joined(directory, case, element, shape, sources, shape_joined):
    """A weight that is stored, made of several ones of a file."""
    program = Program(os.path.join(directory, case))
    program.file('values.bin', floats([x for values in sources for x in values]))
    names, offset = [], 0
    for number, values in enumerate(sources):
        names.append(f'@w{number}')
        program.add(f'w{number}', shape, 'f32', f'#talc.file<"values.bin", {offset}, f32>')
        offset += 4 * len(values)
    program.add('stored', shape_joined, element, f'#talc.concat of [{", ".join(names)}]', 4 * math.prod(shape_joined))
    return program


def check_joined(talc, directory):
    """The value is in the last of many weights; in a matrix that is made of vectors none is minus infinity."""
    for name, value, element, text in (('nan', math.nan, 'f32', 'expected a finite number'),
                                       ('large', 7e4, 'f16', 'too large for f16')):
        sources = [[1.0] * WIDTH for _ in range(10)]
        sources[9][3] = value
        program = joined(directory, f'joined-{name}', element, [1, WIDTH], sources, [10, WIDTH])
        refused(f'joined {name}', *program.compile(talc), "values.bin: weight 'w9' has the value", 'at [0, 3]', text)
    vectors = joined(directory, 'vectors', 'f32', [WIDTH], [[1.0] * WIDTH, [-math.inf] * WIDTH], [2 * WIDTH, 1])
    refused('vectors', *vectors.compile(talc), "values.bin: weight 'w1' has the value -inf at [0]")


def check_ways(talc, directory):
    """A format on the way that does not hold a value, and a recipe that makes an infinite one."""
    program = numbers(directory, 'way', 'f32', 'f32', [1, WIDTH], [1.0] * 5 + [-7e4] + [1.0] * (WIDTH - 6))
    program.lines.pop()
    program.end = 0
    program.add('half', [1, WIDTH], 'f16', '#talc.convert of [@w]')
    program.add('stored.of.half', [1, WIDTH], 'f32', '#talc.convert of [@half]', 4 * WIDTH)
    refused('way', *program.compile(talc), "values.bin: weight 'w' has the value -70000 at [0, 5], too large for f16")
    program = Program(os.path.join(directory, 'sum'))
    program.add('w', [WIDTH], 'f32', '#talc.fill<3.0e38>')
    program.add('stored', [WIDTH], 'f32', '#talc.plus<3.0e38> of [@w]', 4 * WIDTH)
    refused('sum', *program.compile(talc), "weight 'stored' has an infinite value, which a recipe makes of 'w'")


def scaled(talc, directory, method, scales, divisor):
    """The source of a layer whose first scale is one of these, or is divided by `divisor`."""
    part = SCALES.get(method.name, SCALES.get(method.name.split('-')[0], 'weight_scale'))

    def change(config, tensors):
        kind, shape, content = tensors[f'{LAYER_UP}.{part}']
        first = divisor if part == 'weight_global_scale' else scales[kind]
        tensors[f'{LAYER_UP}.{part}'] = kind, shape, first + content[len(first):]
    model = os.path.join(directory, method.name)
    quantized.write(model, method, change)
    return model, quantized.imported(talc, model)[UP]


def converted(model, source, element):
    program = Program(model)
    program.add(f'"{UP}"', quantized.SHAPES['mlp.up_proj'], 'f32', source)
    program.add('stored', quantized.SHAPES['mlp.up_proj'], element, f'#talc.convert of [@"{UP}"]', 4 * 96 * 128)
    return program


def format_of(source):
    return source.split('elementType = ')[1].split(',')[0]


def check_products(talc, directory, method):
    """Scales are finite, their products with levels are not."""
    model, source = scaled(talc, directory, method, LARGEST, SMALLEST_DIVISOR)
    for element in dict.fromkeys((format_of(source), 'f32', 'bf16')):
        refused(f'{method.name} as {element}', *converted(model, source, element).compile(talc),
                f"model.safetensors: weight '{UP}'", 'inf at [0, ')


def check_large(talc, directory, method):
    """Products are finite, but too large to be rounded to bf16 in kernels."""
    model, source = scaled(talc, directory, method, LARGE, SMALL_DIVISOR)
    element = format_of(source)
    if element.endswith('_bf16>'):
        refused(f'{method.name} as {element}', *converted(model, source, element).compile(talc), 'too large for')


def check_models(talc, directory, models):
    """Files of both kinds, and formats that are chosen by errors."""
    def spoil(config, tensors):
        kind, shape, content = tensors['model.embed_tokens.weight']
        tensors['model.embed_tokens.weight'] = kind, shape, content[:4] + floats([math.nan]) + content[8:]
    model = os.path.join(directory, 'spoiled')
    quantized.write(model, next(m for m in quantized.METHODS if m.name == 'fp8-qwen'), spoil)
    keys, tensors = gguf_writer.convert(os.path.join(models, 'tales-gpt2'))
    shape, kind, content = tensors['blk.0.ffn_up.bias']
    tensors['blk.0.ffn_up.bias'] = shape, kind, floats([math.nan]) + content[4:]
    gguf = os.path.join(directory, 'gpt2.gguf')
    with open(gguf, 'wb') as file:
        file.write(gguf_writer.pack(keys, tensors))
    app, place = os.path.join(directory, 'models-app'), "model.safetensors: weight 'model.embed_tokens.weight'"
    for path, options, text in ((model, [], place), (model, ['--weights=4.5bit'], place),
                                (gguf, [], "gpt2.gguf: weight 'transformer.h.0.mlp.c_fc.bias'")):
        result = subprocess.run([talc, 'compile', path, '-o', app, *options], capture_output=True, text=True)
        refused(f'{path} {options}', app, result, text, 'has the value nan at [0')


def main(talc, directory, _, models, *methods):
    check_plain(talc, directory)
    check_vectors(talc, directory)
    check_rounded(talc, directory)
    check_joined(talc, directory)
    check_ways(talc, directory)
    if not methods:
        check_models(talc, directory, models)
    for method in quantized.METHODS:
        if method.name in methods or (not methods and method.name not in BOUNDED):
            check_products(talc, directory, method)
            check_large(talc, directory, method)


if __name__ == '__main__':
    main(*sys.argv[1:])
