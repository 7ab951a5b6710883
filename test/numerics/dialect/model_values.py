# SPDX-License-Identifier: Apache-2.0
"""The parts of the text that model_writer writes: SSA values, their types, numbers, functions."""


class Value:
    """An SSA value. `shape` of activations begins with '?'."""

    def __init__(self, name, shape, element='f32'):
        self.name, self.shape, self.element = name, shape, element

    @property
    def type(self):
        return 'tensor<' + 'x'.join(map(str, self.shape + [self.element])) + '>'


class Handle:
    """An SSA value that is not a tensor: a state or the step's sequences."""

    def __init__(self, name, type):
        self.name, self.type = name, type


def types(*values):
    return ', '.join(value.type for value in values)


def number(x):
    text = repr(float(x))
    mantissa, e, exponent = text.partition('e')
    return (mantissa if '.' in mantissa else mantissa + '.0') + e + exponent


def attributes(**values):
    """The text of those that are not zero: floats, integers, and flags."""
    def text(name, value):
        return name if value is True else f'{name} = {number(value)} : f64' if isinstance(value, float) else \
            f'{name} = {value} : i64'
    present = [text(*pair) for pair in values.items() if pair[1]]
    return f' {{{", ".join(present)}}}' if present else ''


class Function:
    """Lines of text, and the same as steps that fill an environment {name: value}. What it takes of its caller: functions
    that make it, and what they made for the next call."""

    def __init__(self, caller=None):
        self.caller, self.lines, self.steps, self.arguments, self.taken = caller, [], [], [], []
