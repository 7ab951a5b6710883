# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of random values, and safetensors files as nested lists."""
import json
import math
import os
import struct

import plain_math as pm

STORED = None  # all checkpoints have this type if there is one, whatever a case asks for


def packed(values, dtype):
    if dtype == 'BF16':  # the upper half of an f32
        return b''.join(struct.pack('<f', value)[2:] for value in values)
    return struct.pack(f'<{len(values)}{"f" if dtype == "F32" else "e"}', *values)


class Checkpoint:
    """Tensors by name: `checkpoint[name]` is a nested list, rounded to the type that is stored."""

    def __init__(self, seed, dtype='F32'):
        self.seed, self.dtype, self.tensors, self.shapes, self.stacked = seed, STORED or dtype, {}, {}, {}

    def __getitem__(self, name):
        return self.tensors[name]

    def add(self, name, *shape, mean=0.0, deviation=None):
        """By default a matrix keeps its input's magnitude."""
        self.seed += 1
        deviation = deviation or (shape[-1]**-0.5 if len(shape) > 1 else 0.2)
        values = pm.random_values(self.seed, mean, deviation, list(shape))
        self.tensors[name] = pm.each(pm.ROUND[self.dtype.lower()], values)
        self.shapes[name] = list(shape)

    def linear(self, name, outputs, inputs, bias=True):
        self.add(name + '.weight', outputs, inputs)
        if bias:
            self.add(name + '.bias', outputs)

    def norm(self, name, width, bias=True):
        self.add(name + '.weight', width, mean=1.0)
        if bias:
            self.add(name + '.bias', width)

    def stack(self, count, names):
        """Stores the experts of every layer in two tensors: gates above ups, and downs. Values by name stay."""
        gate, up, down = names
        self.stacked = {}
        for name in [name for name in self.shapes if name.endswith(f'.experts.0.{gate}.weight')]:
            place = name.removesuffix(f'.0.{gate}.weight')
            of = lambda kind: [self.tensors[f'{place}.{e}.{kind}.weight'] for e in range(count)]
            self.stacked[place + '.gate_up_proj'] = [a + b for a, b in zip(of(gate), of(up))]
            self.stacked[place + '.down_proj'] = of(down)
            for e in range(count):
                for kind in names:
                    del self.shapes[f'{place}.{e}.{kind}.weight']

    def write(self, directory, config, names=lambda name: name):
        """`names` maps a name to the one in the file."""
        header, data = {}, b''
        stored_tensors = {name: (self.tensors[name], shape) for name, shape in self.shapes.items()}
        for name, values in self.stacked.items():
            stored_tensors[name] = values, [len(values), len(values[0]), len(values[0][0])]
        for name, (values, shape) in stored_tensors.items():
            stored = packed(flatten(values), self.dtype)
            header[names(name)] = {'dtype': self.dtype, 'shape': shape,
                                   'data_offsets': [len(data), len(data) + len(stored)]}
            data += stored
        os.makedirs(directory, exist_ok=True)
        text = json.dumps(header).encode()
        with open(os.path.join(directory, 'model.safetensors'), 'wb') as file:
            file.write(struct.pack('<Q', len(text)) + text + data)
        with open(os.path.join(directory, 'config.json'), 'w') as file:
            json.dump(config, file)


def flatten(nested):
    return [value for item in nested for value in flatten(item)] if isinstance(nested, list) else [nested]


def read_tensors(path):
    """{name: nested list} of a file of f32 tensors."""
    with open(path, 'rb') as file:
        header = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
        data = file.read()
    result = {}
    for name, entry in header.items():
        if name != '__metadata__':
            count = math.prod(entry['shape'])
            values = struct.unpack_from(f'<{count}f', data, entry['data_offsets'][0])
            result[name] = pm.shaped(iter(values), entry['shape'])
    return result
