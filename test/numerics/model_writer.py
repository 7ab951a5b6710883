# SPDX-License-Identifier: Apache-2.0
"""Writes models in the talc dialect, and evaluates what it wrote with plain_math.

    m = Model()
    x = m.embedding(m.ids, m.weight([31, 10]))
    x = m.linear(x, m.weight([7, 10]))
    print(m.text(x)); rows = m.evaluate(x, [5, 7, 9])
"""
import plain_math as pm


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


class Model:

    def __init__(self, max_sequence=64, seed=1):
        self.max_sequence, self.seed, self.count = max_sequence, seed, 0
        self.symbols, self.functions, self.constants, self.symbol_of = [], [], {}, {}
        self.entry = self.function = Function()
        self.ids = Value('%ids', ['?'], 'i32')
        self.sequences = Handle('%sequences', '!talc.sequences')

    def fresh(self, prefix):
        self.count += 1
        return f'{prefix}{self.count}'

    def emit(self, text, result, compute):
        """`result = text`; `compute` maps an environment to the result's value."""
        self.function.lines.append(f'{result.name} = {text}' if result else text)
        if result:
            self.function.steps.append((result.name, compute))
        return result

    # --- weights

    def weight(self, shape, mean=0.0, deviation=0.3, element='f32'):
        """Pseudo-random values."""
        self.seed += 1
        values = pm.each(pm.ROUND[element], pm.random_values(self.seed, mean, deviation, shape))
        source = f'#talc.random<seed = {self.seed}, mean = {number(mean)}, deviation = {number(deviation)}>'
        return self.symbol(shape, element, source, values)

    def listed(self, shape, values):
        """Values written into the program."""
        def text(nested):
            return '[' + ', '.join(map(text, nested)) + ']' if isinstance(nested, list) else number(nested)
        nested = pm.shaped(iter(values), shape)
        kind = Value('', shape).type
        return self.symbol(shape, 'f32', f'#talc.values<dense<{text(nested)}> : {kind}>', nested)

    def fill(self, shape, value):
        values = pm.each(lambda _: pm.to_f32(value), pm.random_values(0, 0, 0, shape))
        return self.symbol(shape, 'f32', f'#talc.fill<{number(value)}>', values)

    def recipe(self, recipe, sources, shape, values, element='f32', derive=False):
        """A weight that follows from others, as a symbol or as a talc.derive. `values` are those before rounding."""
        values = pm.each(pm.ROUND[element], values)
        if not derive:
            names = [self.symbol_of[source.name] for source in sources]
            of = f' of [{", ".join(names)}]' if names else ''
            return self.symbol(shape, element, recipe + of, values)
        result = Value(self.fresh('%derived'), shape, element)
        self.constants[result.name] = values
        operands = ', '.join(source.name for source in sources)
        return self.emit(f'talc.derive {recipe} of ({operands}) : ({types(*sources)}) -> {result.type}', result,
                         lambda env: values)

    def symbol(self, shape, element, source, values):
        name = self.fresh('@w')
        result = Value('%' + name[1:], shape, element)
        self.symbol_of[result.name] = name
        self.constants[result.name] = values
        self.symbols.append(f'talc.weight {name} : {result.type} = {source}')
        return self.emit(f'talc.get_weight {name} : {result.type}', result, lambda env: values)

    def values(self, weight):
        return self.constants[weight.name]

    # --- recipes

    def transpose(self, w, **options):
        return self.recipe('#talc.transpose', [w], w.shape[::-1], pm.transpose(self.values(w)), **options)

    def concat(self, parts, **options):
        shape = [sum(part.shape[0] for part in parts)] + parts[0].shape[1:]
        return self.recipe('#talc.concat', parts, shape, pm.concat([self.values(part) for part in parts]), **options)

    def interleave(self, a, b, group, **options):
        values = pm.interleave(self.values(a), self.values(b), group)
        return self.recipe(f'#talc.interleave<{group}>', [a, b], [len(values), a.shape[1]], values, **options)

    def pack(self, w, lanes, **options):
        values = pm.pack(self.values(w), lanes)
        return self.recipe('#talc.pack', [w], [len(values), w.shape[1], lanes], values, **options)

    def pad(self, w, length, **options):
        values = self.values(w) + [0.0] * (length - w.shape[0])
        return self.recipe('#talc.pad', [w], [length], values, **options)

    def convert(self, w, element, **options):
        return self.recipe('#talc.convert', [w], w.shape, self.values(w), element=element, **options)

    def rotary_table(self, positions, rotary, base, scaling=None, **options):
        text = f'#talc.rotary_table<base = {number(base)}{", scaling = " + self.scaling(scaling) if scaling else ""}>'
        values = pm.rotary_table(positions, rotary, base, scaling)
        return self.recipe(text, [], [positions, rotary], values, **options)

    # --- rows

    def embedding(self, ids, table):
        result = Value(self.fresh('%x'), ['?', table.shape[1]])

        def compute(env):
            rows = env[table.name] if len(table.shape) == 2 else pm.unpack(env[table.name])
            return [rows[i] for i in env[ids.name]]
        return self.emit(f'talc.embedding {ids.name}, {table.name} : ({types(ids, table)}) -> {result.type}', result,
                         compute)

    def position(self, table, offset=0):
        result = Value(self.fresh('%x'), ['?', table.shape[1]])
        attr = f' {{offset = {offset} : i64}}' if offset else ''
        return self.emit(f'talc.position {self.sequences.name}, {table.name}{attr} : {table.type} -> {result.type}',
                         result, lambda env: [env[table.name][p + offset] for p in range(len(env['%ids']))])

    def select(self, x):
        result = Value(self.fresh('%x'), x.shape)
        return self.emit(f'talc.select {x.name}, {self.sequences.name} : {x.type} -> {x.type}', result,
                         lambda env: env[x.name])

    def slice(self, x, offset, width):
        result = Value(self.fresh('%x'), ['?', width])
        return self.emit(f'talc.slice {x.name} at {offset} : {x.type} -> {result.type}', result,
                         lambda env: [row[offset:offset + width] for row in env[x.name]])

    # --- layers

    def linear(self, x, w, bias=None, outputs=None):
        result = Value(self.fresh('%x'), ['?', outputs or w.shape[0]])

        def compute(env):
            matrix = env[w.name] if len(w.shape) == 2 else pm.unpack(env[w.name])
            rows = pm.linear(env[x.name], matrix, (env[bias.name] + [0.0] * len(matrix))[:len(matrix)] if bias else None)
            return [row[:result.shape[1]] for row in rows]
        text = f'talc.linear {x.name}, {w.name}' + (f' bias {bias.name}' if bias else '')
        operands = types(*filter(None, (x, w, bias)))
        return self.emit(f'{text} : ({operands}) -> {result.type}', result, compute)

    def gated_linear(self, kind, x, gate, up):
        """`up` is None for a packed weight, whose number of outputs is then `gate` = (weight, outputs)."""
        weight, outputs = (gate, gate.shape[0]) if up else gate
        result = Value(self.fresh('%x'), ['?', outputs])

        def compute(env):
            matrix = env[weight.name]
            if up:
                rows, linear = matrix, env[up.name]
            else:
                group = weight.shape[2] // 2
                lanes = [pm.transpose(panel) for panel in matrix]
                rows, linear = (pm.concat([panel[a:a + group] for panel in lanes])[:outputs] for a in (0, group))
            g, u = pm.linear(env[x.name], rows, None), pm.linear(env[x.name], linear, None)
            return [[pm.ACTIVATIONS[kind](a) * b for a, b in zip(*pair)] for pair in zip(g, u)]
        operands = [x, weight] + ([up] if up else [])
        names = ', '.join(operand.name for operand in operands)
        return self.emit(f'talc.gated_linear {kind} {names} : ({types(*operands)}) -> {result.type}', result, compute)

    def norm(self, kind, x, scale, bias=None, epsilon=1e-5, groups=1):
        result = Value(self.fresh('%x'), x.shape)
        text = f'talc.norm {kind} {x.name}, {scale.name}' + (f' bias {bias.name}' if bias else '')
        text += f' epsilon {number(epsilon)}' + (f' {{groups = {groups} : i64}}' if groups != 1 else '')
        operands = types(*filter(None, (x, scale, bias)))
        return self.emit(f'{text} : ({operands}) -> {x.type}', result, lambda env: pm.norm(
            kind, env[x.name], env[scale.name], env[bias.name] if bias else None, epsilon, groups))

    @staticmethod
    def scaling(scaling):
        if scaling[0] == 'linear':
            return f'#talc.linear_scaling<factor = {number(scaling[1])}>'
        _, factor, low, high, original = scaling
        return (f'#talc.llama3_scaling<factor = {number(factor)}, low = {number(low)}, high = {number(high)}, '
                f'original = {original}>')

    def rope(self, x, heads, rotary, base=10000.0, scaling=None, table=None):
        result = Value(self.fresh('%x'), x.shape)
        text = f'talc.rope {x.name}, {self.sequences.name} heads {heads} rotary {rotary} base {number(base)}'
        text += f' scaling ({self.scaling(scaling)})' if scaling else ''
        text += f' table {table.name} : {table.type}' if table else ''
        return self.emit(f'{text} : {x.type}', result, lambda env: pm.rope(env[x.name], heads, rotary, base, scaling))

    def activation(self, kind, x):
        result = Value(self.fresh('%x'), x.shape)
        return self.emit(f'talc.activation {kind} {x.name} : {x.type}', result,
                         lambda env: pm.each(pm.ACTIVATIONS[kind], env[x.name]))

    def elementwise(self, op, f, a, b):
        result = Value(self.fresh('%x'), a.shape)
        return self.emit(f'talc.{op} {a.name}, {b.name} : {a.type}', result, lambda env: [
            [f(p, q) for p, q in zip(*rows)] for rows in zip(env[a.name], env[b.name])])

    def add(self, a, b):
        return self.elementwise('add', lambda p, q: p + q, a, b)

    def mul(self, a, b):
        return self.elementwise('mul', lambda p, q: p * q, a, b)

    def scale(self, x, factor):
        result = Value(self.fresh('%x'), x.shape)
        return self.emit(f'talc.scale {x.name} by {number(factor)} : {x.type}', result,
                         lambda env: pm.each(lambda v: v * factor, env[x.name]))

    def state(self, heads, width):
        name = self.fresh('@state')
        result = Handle('%' + name[1:], f'!talc.state<{heads} x {width} x {self.max_sequence}>')
        self.symbols.append(f'talc.state {name} : {result.type}')
        return self.emit(f'talc.get_state {name} : {result.type}', result, lambda env: None)

    def attention(self, mask, q, k, v, heads, kv_heads, scale, window=0, state=None):
        """Over the step's own rows, or with a state over past and present rows."""
        result = Value(self.fresh('%x'), q.shape)
        keys, values = k, v
        if state:
            s = self.sequences.name
            keys, values = Value(self.fresh('%keys'), k.shape), Value(self.fresh('%values'), v.shape)
            self.emit(f'talc.append {state.name}, {k.name}, {v.name}, {s} : {types(state, k)}', None, None)
            self.function.lines.append(f'{keys.name}, {values.name} = talc.read {state.name}, {s} : {state.type} -> '
                                       f'{types(keys, values)}')
        attr = f' {{window = {window} : i64}}' if window else ''
        names = ', '.join([q.name, keys.name, values.name, self.sequences.name])
        text = f'talc.attention {mask} {names} heads {heads}, {kv_heads} scale {number(scale)}{attr} : {types(q, keys)}'
        return self.emit(text, result, lambda env: pm.attention(
            mask == 'causal', env[q.name], env[k.name], env[v.name], heads, kv_heads, scale, window))

    # --- functions

    def define(self, body, x, arguments):
        """A function (x, arguments...) -> body(x', arguments'...), to be called."""
        outer, self.function = self.function, Function()
        inner = [Value(self.fresh('%arg'), a.shape, a.element) if isinstance(a, Value) else
                 Handle(self.fresh('%arg'), a.type) for a in [x] + arguments]
        result = body(*inner)
        function, self.function = self.function, outer
        function.name, function.arguments, function.result = self.fresh('@block'), inner, result
        self.functions.append(function)
        return function

    def call(self, function, *arguments):
        result = Value(self.fresh('%x'), function.result.shape)

        def compute(env):
            inner = {'%ids': env['%ids']}
            for parameter, argument in zip(function.arguments, arguments):
                inner[parameter.name] = env[argument.name]
            return run(function.steps, inner)[function.result.name]
        operands = list(arguments) + [self.sequences]
        names = ', '.join(operand.name for operand in operands)
        return self.emit(f'call {function.name}({names}) : ({types(*operands)}) -> {result.type}', result, compute)

    def text(self, result):
        def function_text(name, arguments, attributes, function, result):
            parameters = ', '.join(f'{a.name}: {a.type}' for a in arguments)
            lines = [f'  func.func {name}({parameters}) -> {result.type}{attributes} {{']
            lines += ['    ' + line for line in function.lines]
            return lines + [f'    return {result.name} : {result.type}', '  }']
        lines = [f'module attributes {{talc.max_sequence = {self.max_sequence} : i64}} {{']
        lines += ['  ' + symbol for symbol in self.symbols]
        for f in self.functions:
            lines += function_text(f.name, f.arguments + [self.sequences], '', f, f.result)
        lines += function_text('@model', [self.ids, self.sequences], ' attributes {talc.entry}', self.entry, result)
        return '\n'.join(lines + ['}', ''])

    def evaluate(self, result, ids):
        """The rows of `result` for one prompt."""
        return run(self.entry.steps, {'%ids': ids})[result.name]


def run(steps, env):
    for name, compute in steps:
        env[name] = compute(env)
    return env
