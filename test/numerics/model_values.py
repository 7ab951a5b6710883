# SPDX-License-Identifier: Apache-2.0
"""What model_writer writes: SSA values, their types, numbers, functions."""


class Value:
    """An SSA value. `shape` of activations begins with '?'."""

    def __init__(self, name, shape, element='f32'):
        self.name, self.shape, self.element = name, shape, element

    @property
    def type(self):
        return 'tensor<' + 'x'.join(map(str, self.shape + [self.element])) + '>'


class Handle:
    """An SSA value that is no tensor: a state or the step's sequences."""

    def __init__(self, name, type):
        self.name, self.type = name, type


def types(*values):
    return ', '.join(value.type for value in values)


def number(x):
    text = repr(float(x))
    mantissa, e, exponent = text.partition('e')
    return (mantissa if '.' in mantissa else mantissa + '.0') + e + exponent


class Function:
    """Lines of text, and the same as steps that fill an environment {name: value}."""

    def __init__(self):
        self.lines, self.steps = [], []
