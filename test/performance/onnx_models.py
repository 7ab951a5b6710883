# SPDX-License-Identifier: Apache-2.0
"""Writes models as ONNX Runtime likes them best (its fused operators), with random weights: onnx_models.py NAME FILE.

NAME is matmul-MxNxK, bert (BERT-base from embeddings on), gpt2 (a prompt, logits of the last token), gpt2-decode or
tinyllama-decode, whose weights go to FILE.data.
"""
import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save

WIDTH, HEADS, INNER, LAYERS, VOCABULARY, POSITIONS = 768, 12, 3072, 12, 50257, 1024
MICROSOFT = 'com.microsoft'


class Graph:
    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.random = numpy.random.default_rng(1)
        self.block = (self.random.standard_normal(1 << 20) * 0.02).astype(numpy.float32)

    def constant(self, values):
        name = f'constant{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, *shape):
        """Its own values: ONNX Runtime keeps equal weights once, and reads less memory than any real model needs."""
        turn = int(self.random.integers(len(self.block)))
        return self.constant(numpy.resize(numpy.roll(self.block, turn), shape))

    def op(self, kind, inputs, results=1, domain='', **attributes):
        names = [f'{kind}{len(self.nodes)}.{i}' for i in range(results)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0] if results == 1 else names

    def input(self, name, kind, shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, value, shape):
        self.nodes.append(helper.make_node('Identity', [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def norm(self, x):
        return self.op('LayerNormalization', [x, self.weight(WIDTH), self.weight(WIDTH)], axis=-1, epsilon=1e-5)

    def skip_norm(self, x, y):
        """Norm of x + y + bias."""
        return self.op('SkipLayerNormalization', [x, y, *(self.weight(WIDTH) for _ in range(3))], domain=MICROSOFT)

    def skip_rms(self, x, y, width):
        """The norm of x + y, and x + y."""
        names = [f'skip{len(self.nodes)}.{i}' for i in range(2)]
        self.nodes.append(helper.make_node('SkipSimplifiedLayerNormalization', [x, y, self.weight(width)],
                                           [names[0], '', '', names[1]], domain=MICROSOFT, epsilon=1e-5))
        return names

    def product(self, x, inputs, outputs):
        return self.op('MatMul', [x, self.weight(inputs, outputs)])

    def attention(self, x, past=None, **attributes):
        inputs = [x, self.weight(WIDTH, 3 * WIDTH), self.weight(3 * WIDTH)] + ([''] + [past] if past else [])
        return self.op('Attention', inputs, 2 if past else 1, MICROSOFT, num_heads=HEADS, **attributes)

    def save(self, path, apart=None):
        """With the weights in a file of the name `apart` beside it: a file of ONNX has at most 2 GiB.

        onnx finds the folder only of a path that is text, and appends to a file of weights that there is already.
        """
        graph = helper.make_graph(self.nodes, 'model', self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid('', 17), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        if apart:
            (path.parent / apart).unlink(missing_ok=True)
        save(model, str(path), save_as_external_data=apart is not None, location=apart)


def matmul(rows, outputs, inputs):
    g = Graph()
    g.output('y', g.product(g.input('x', TensorProto.FLOAT, [rows, inputs]), inputs, outputs), [rows, outputs])
    return g


def bert():
    g = Graph()
    x = g.norm(g.input('x', TensorProto.FLOAT, [1, 'tokens', WIDTH]))
    for _ in range(LAYERS):
        x = g.skip_norm(g.product(g.attention(x), WIDTH, WIDTH), x)
        inner = g.op('BiasGelu', [g.product(x, WIDTH, INNER), g.weight(INNER)], domain=MICROSOFT)
        x = g.skip_norm(g.product(inner, INNER, WIDTH), x)
    g.output('y', x, [1, 'tokens', WIDTH])
    return g


def gpt2(decode):
    g = Graph()
    tokens = [1, 1 if decode else 'tokens']
    ids, positions = (g.input(name, TensorProto.INT64, tokens) for name in ('ids', 'positions'))
    x = g.op('Add', [g.op('Gather', [g.weight(VOCABULARY, WIDTH), ids]),
                     g.op('Gather', [g.weight(POSITIONS, WIDTH), positions])])
    for layer in range(LAYERS):
        past = decode and g.input(f'past{layer}', TensorProto.FLOAT, [2, 1, HEADS, 'past', WIDTH // HEADS])
        y = g.attention(g.norm(x), past, unidirectional=1)
        if decode:
            y, present = y
            g.output(f'present{layer}', present, [2, 1, HEADS, 'present', WIDTH // HEADS])
        x = g.op('Add', [g.op('Add', [g.product(y, WIDTH, WIDTH), g.weight(WIDTH)]), x])
        inner = g.op('FastGelu', [g.product(g.norm(x), WIDTH, INNER), g.weight(INNER)], domain=MICROSOFT)
        x = g.op('Add', [g.op('Add', [g.product(inner, INNER, WIDTH), g.weight(WIDTH)]), x])
    if not decode:
        x = g.op('Gather', [x, g.constant(numpy.array([-1]))], axis=1)
    g.output('logits', g.product(g.norm(x), WIDTH, VOCABULARY), [1, 1, VOCABULARY])
    return g


def tinyllama():
    """One token behind `past` others; positions is [[past]]."""
    width, inner, layers, vocabulary, heads, groups, positions = 2048, 5632, 22, 32000, 32, 4, 2048
    head = width // heads
    g = Graph()
    ids, position = (g.input(name, TensorProto.INT64, [1, 1]) for name in ('ids', 'positions'))
    cosines, sines = g.weight(positions, head // 2), g.weight(positions, head // 2)
    last = g.op('Reshape', [g.op('Cast', [position], to=TensorProto.INT32), g.constant(numpy.array([1]))])
    total = g.op('Squeeze', [g.op('Add', [last, g.constant(numpy.array([1], numpy.int32))])])
    x = g.op('Gather', [g.weight(vocabulary, width), ids])
    norm = g.op('SimplifiedLayerNormalization', [x, g.weight(width)], axis=-1, epsilon=1e-5)
    for layer in range(layers):
        past = [g.input(f'past_{part}{layer}', TensorProto.FLOAT, [1, groups, 'past', head]) for part in ('key', 'value')]
        qkv = g.product(norm, width, (heads + 2 * groups) * head)
        y, *present = g.op('GroupQueryAttention', [qkv, '', '', *past, last, total, cosines, sines], 3, MICROSOFT,
                           num_heads=heads, kv_num_heads=groups, do_rotary=1)
        for part, value in zip(('key', 'value'), present):
            g.output(f'present_{part}{layer}', value, [1, groups, 'present', head])
        norm, x = g.skip_rms(x, g.product(y, width, width), width)
        gate, up = g.product(norm, width, inner), g.product(norm, width, inner)
        gated = g.op('Mul', [g.op('QuickGelu', [gate], domain=MICROSOFT, alpha=1.0), up])
        norm, x = g.skip_rms(x, g.product(gated, inner, width), width)
    g.output('logits', g.product(norm, width, vocabulary), [1, 1, vocabulary])
    return g


def build(name):
    if name.startswith('matmul-'):
        return matmul(*map(int, name[len('matmul-'):].split('x')))
    builders = {'bert': bert, 'gpt2': lambda: gpt2(False), 'gpt2-decode': lambda: gpt2(True), 'tinyllama-decode': tinyllama}
    return builders[name]()


if __name__ == '__main__':
    name, path = sys.argv[1], pathlib.Path(sys.argv[2])
    build(name).save(path, f'{name}.data' if name == 'tinyllama-decode' else None)
