# SPDX-License-Identifier: Apache-2.0
"""Writes models in the talc dialect, and evaluates what it wrote with plain_math.

    m = Model()
    x = m.embedding(m.ids, m.weight([31, 10]))
    m.results = [m.linear(x, m.weight([7, 10]))]
    print(m.text()); [rows] = m.evaluate(Prompt([5, 7, 9]))
"""
import contextlib

import plain_math as pm
from model_values import Function, Handle, Value, number, types
from shared_heads import SharedHeads


class Model(SharedHeads):

    def __init__(self, max_sequence=64, seed=1):
        self.max_sequence, self.seed, self.count = max_sequence, seed, 0
        self.symbols, self.functions, self.constants, self.symbol_of = [], [], {}, {}
        self.entry = self.function = Function()
        self.encoder, self.in_encoder = None, False  # of sources
        self.kept = {}  # what states hold: the names of keys and values
        self.results, self.kinds = [], ['logits']
        self.rows = []  # which rows of each result tests ask for: all, first, last, even
        self.vocabulary = self.source_vocabulary = self.token_types = 0
        self.uses_prefix = False
        self.is_encoder = False  # every step has whole sequences
        self.segmented = False  # texts go on in segments of max_sequence tokens
        self.ids = Value('%ids', ['?'], 'i32')
        self.sequences = Handle('%sequences', '!talc.sequences')

    @contextlib.contextmanager
    def encoding(self):
        """What is written inside belongs to the encoder of sources."""
        self.encoder = self.encoder or Function()
        outer, self.function, self.in_encoder = self.function, self.encoder, True
        yield
        self.function, self.in_encoder = outer, False

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

    def some_rows(self, w, first, count, period, **options):
        values, text = pm.rows(self.values(w), first, count, period), f'first = {first}, count = {count}'
        return self.recipe(f'#talc.rows<{text}, period = {period}>', [w], [len(values)] + w.shape[1:], values, **options)

    def half_split(self, w, width, rotary, **options):
        values = pm.half_split(self.values(w), width, rotary)
        return self.recipe(f'#talc.half_split<width = {width}, rotary = {rotary}>', [w], w.shape, values, **options)

    def plus(self, w, value, **options):
        return self.recipe(f'#talc.plus<{number(value)}>', [w], w.shape,
                           pm.each(lambda v: v + value, self.values(w)), **options)

    def alibi(self, heads, length, rounded=None, **options):
        text = '#talc.alibi' if rounded is None else f'#talc.alibi<rounded = {number(rounded)} : f64>'
        values = pm.alibi(heads, length, rounded)
        return self.recipe(text, [], [heads, len(values[0])], values, **options)

    def rotary_table(self, positions, rotary, base, scaling=None, **options):
        text = f'#talc.rotary_table<base = {number(base)}{", scaling = " + self.scaling(scaling) if scaling else ""}>'
        values = pm.rotary_table(positions, rotary, base, scaling)
        return self.recipe(text, [], [positions, rotary], values, **options)

    def sinusoid_table(self, positions, width, layout, blank=-1, **options):
        values, row = pm.sinusoids(positions, width, layout, blank), f', blank = {blank}' if blank >= 0 else ''
        return self.recipe(f'#talc.sinusoid_table<{layout}{row}>', [], [positions, width], values, **options)

    def relative_bias(self, table, length, bidirectional, longest, **options):
        text = f'#talc.relative_bias<bidirectional = {str(bidirectional).lower()}, max_distance = {longest}>'
        values = pm.relative_bias(self.values(table), length, bidirectional, longest)
        return self.recipe(text, [table], [table.shape[1], 2 * length - 1], values, **options)

    def relative_keys(self, projection, heads, distances, factor, vectors=(), **options):
        values = pm.relative_keys(self.values(projection), heads, distances, factor, [self.values(v) for v in vectors])
        shape = [heads * distances] + ([] if vectors else [projection.shape[0] // heads])
        return self.recipe(f'#talc.relative_keys<heads = {heads}, scale = {number(factor)}>', [projection, *vectors], shape,
                           values, **options)

    # --- rows

    def embedding(self, ids, table, first=None):
        result = Value(self.fresh('%x'), ['?', table.shape[1]])

        def compute(env):
            rows = env[table.name] if len(table.shape) == 2 else pm.unpack(env[table.name])
            known = lambda i: first is None or 0 <= i - first < len(rows)
            return [rows[i - (first or 0)] if known(i) else [0.0] * len(rows[0]) for i in env[ids.name]]
        part = '' if first is None else f' from {first}'
        return self.emit(f'talc.embedding {ids.name}, {table.name}{part} : ({types(ids, table)}) -> {result.type}', result, compute)

    def position(self, table, offset=0):
        result = Value(self.fresh('%x'), ['?', table.shape[1]])
        attr = f' {{offset = {offset} : i64}}' if offset else ''
        return self.emit(f'talc.position {self.sequences.name}, {table.name}{attr} : {table.type} -> {result.type}',
                         result, lambda env: [env[table.name][p + offset] for p in range(len(env['%ids']))])

    def position_among(self, table, offset, padding):
        """Padding takes no position, but the row before the first."""
        self.is_encoder = True
        result = Value(self.fresh('%x'), ['?', table.shape[1]])

        def compute(env):
            counted = lambda t: sum(id != padding for id in env['%ids'][:t])
            return [env[table.name][offset - 1 if id == padding else offset + counted(t)]
                    for t, id in enumerate(env['%ids'])]
        return self.emit(f'talc.position {self.sequences.name}, {table.name} of {self.ids.name} : {self.ids.type} without '
                         f'{padding} {{offset = {offset} : i64}} : {table.type} -> {result.type}', result, compute)

    def token_type(self, table):
        result = Value(self.fresh('%x'), ['?', table.shape[1]])
        return self.emit(f'talc.token_type {self.sequences.name}, {table.name} : {table.type} -> {result.type}', result,
                         lambda env: [env[table.name][t] for t in env['%types'] or [0] * len(env['%ids'])])

    def select(self, x, output=0):
        """The text selects rows; `evaluate` has all of them."""
        result = Value(self.fresh('%x'), x.shape)
        attr = f' {{output = {output} : i64}}' if output else ''
        return self.emit(f'talc.select {x.name}, {self.sequences.name}{attr} : {x.type} -> {x.type}', result,
                         lambda env: env[x.name])

    def activations(self, width):
        return Value(self.fresh('%x'), ['?', width])

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

    def quantize(self, x):
        result = Value(self.fresh('%x'), x.shape, '!talc.stored<q8_sums>')
        return self.emit(f'talc.quantize {x.name} : {x.type} -> {result.type}', result,
                         lambda env: pm.quantize(env[x.name]))

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

    def softmax(self, x):
        result = Value(self.fresh('%x'), x.shape)
        return self.emit(f'talc.softmax {x.name} : {x.type}', result, lambda env: pm.softmax(env[x.name]))

    def log_softmax(self, x, tails):
        result = Value(self.fresh('%x'), ['?', x.shape[1] - len(tails)])
        return self.emit(f'talc.log_softmax {x.name} tails {tails} : {x.type} -> {result.type}', result,
                         lambda env: pm.log_softmax(env[x.name], tails))

    @staticmethod
    def scaling(scaling):
        """The attribute of ('linear', factor), ('llama3', factor, low, high, original), ('dynamic', factor, original),
        ('yarn', factor, fast, slow, original, truncate, amplitude) or ('listed', factors, amplitude)."""
        kind, *values = scaling
        names = {'linear': ['factor'], 'llama3': ['factor', 'low', 'high', 'original'], 'dynamic': ['factor', 'original'],
                 'yarn': ['factor', 'fast', 'slow', 'original', 'truncate', 'amplitude']}
        if kind == 'listed':
            factors = ', '.join(map(number, values[0]))
            return f'#talc.listed_scaling<[{factors}], amplitude = {number(values[1])}>'
        text = {float: number, int: str, bool: lambda flag: str(flag).lower()}
        fields = [f'{name} = {text[type(value)](value)}' for name, value in zip(names[kind], values)]
        return f'#talc.{kind}_scaling<{", ".join(fields)}>'

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

    def clamp(self, x, bound):
        result = Value(self.fresh('%x'), x.shape)
        return self.emit(f'talc.clamp {x.name} to {number(bound)} : {x.type}', result,
                         lambda env: pm.each(lambda v: min(max(v, -bound), bound), env[x.name]))

    def state(self, heads, width, role='', ring=None):
        """`ring`: room, window, and how many first tokens are kept."""
        name, room = self.fresh('@state'), self.max_sequence
        role = ', ' + role if role else ''
        if ring:
            room, role = ring[0], f' window {ring[1]}' + (f' kept {ring[2]}' if ring[2] else '')
        result = Handle('%' + name[1:], f'!talc.state<{heads} x {width} x {room}{role}>')
        self.symbols.append(f'talc.state {name} : {result.type}')
        return self.get_state(result)

    def get_state(self, state):
        """The handle in another function than that of `state`. What a memory holds lasts from segment to segment."""
        return self.emit(f'talc.get_state @{state.name[1:]} : {state.type}', state,
                         lambda env: self.kept.get(state.name) or env['%memories'].setdefault(state.name, []))

    def memory(self, update, local, q, k, v, state, gates, heads, local_first):
        self.segmented = True
        result, word = Value(self.fresh('%x'), q.shape), ' local_first' if local_first else ''
        names = ', '.join(value.name for value in (local, q, k, v, state, self.sequences))
        return self.emit(f'talc.memory {update} {names} gates {gates.name} heads {heads}{word} : '
                         f'({types(local, q, k, v, state, self.sequences, gates)}) -> {result.type}', result,
                         lambda env: pm.memory(update, *(env[x.name] for x in (local, q, k, v, gates)), heads,
                                               env[state.name], local_first))

    def append(self, state, k, v):
        self.kept[state.name] = k.name, v.name
        self.emit(f'talc.append {state.name}, {k.name}, {v.name}, {self.sequences.name} : {types(state, k)}', None, None)

    def read(self, state, width):
        keys, values = Value(self.fresh('%keys'), ['?', width]), Value(self.fresh('%values'), ['?', width])
        self.function.lines.append(f'{keys.name}, {values.name} = talc.read {state.name}, {self.sequences.name} : '
                                   f'{state.type} -> {types(keys, values)}')
        return keys, values

    def attention(self, mask, q, k, v, heads, kv_heads, scale, window=0, state=None, bias=None, cap=0.0,
                  absolute=False, row_bias=None, zero_start=False):
        """Over the step's own rows, or with a state over past and present rows."""
        keys, values = k, v
        if state:
            self.append(state, k, v)
            keys, values = self.read(state, k.shape[1])
        elif not self.in_encoder:
            self.is_encoder = True
        self.uses_prefix |= mask == 'prefix'
        return self.attend(mask, q, keys, values, heads, kv_heads, scale, window, bias, lambda env: pm.attention(
            mask, env[q.name], env[k.name], env[v.name], heads, kv_heads, scale, window, env['%prefix'],
            env[bias.name] if bias else None, cap, absolute, env[row_bias.name] if row_bias else None, zero_start), cap,
            absolute, row_bias, zero_start)

    def cross_attention(self, q, heads, kv_heads, scale, state):
        """Over what the encoder appended to `state`."""
        keys, values = self.read(state, q.shape[1] // heads * kv_heads)

        def compute(env):
            k, v = (env['%source'][name] for name in env[state.name])
            return pm.attention('full', env[q.name], k, v, heads, kv_heads, scale)
        return self.attend('full', q, keys, values, heads, kv_heads, scale, 0, None, compute)

    def attend(self, mask, q, keys, values, heads, kv_heads, scale, window, bias, compute, cap=0.0, absolute=False,
               row_bias=None, zero_start=False):
        result = Value(self.fresh('%x'), q.shape)
        names = ', '.join([q.name, keys.name, values.name, self.sequences.name])
        text = f'talc.attention {mask} {names} heads {heads}, {kv_heads} scale {number(scale)}'
        text += f' bias {bias.name} : {bias.type}' if bias else ''
        text += f' row_bias {row_bias.name} : {row_bias.type}' if row_bias else ''
        text += ' zero_start' if zero_start else ''
        attributes = [f'window = {window} : i64'] if window else []
        attributes += [f'cap = {number(cap)} : f64'] if cap else []
        attributes += ['absolute'] if absolute else []
        text += f' {{{", ".join(attributes)}}}' if attributes else ''
        return self.emit(f'{text} : {types(q, keys)}', result, compute)

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
            inner = {name: env[name] for name in ('%ids', '%types', '%prefix', '%source', '%memories')}
            for parameter, argument in zip(function.arguments, arguments):
                inner[parameter.name] = env[argument.name]
            return run(function.steps, inner)[function.result.name]
        operands = list(arguments) + [self.sequences]
        names = ', '.join(operand.name for operand in operands)
        return self.emit(f'call {function.name}({names}) : ({types(*operands)}) -> {result.type}', result, compute)

    def text(self):
        def function_text(name, arguments, attributes, function, results):
            parameters = ', '.join(f'{a.name}: {a.type}' for a in arguments)
            arrow = f' -> ({types(*results)})' if results else ''
            lines = [f'  func.func {name}({parameters}){arrow}{attributes} {{']
            lines += ['    ' + line for line in function.lines]
            values = f' {", ".join(r.name for r in results)} : {types(*results)}' if results else ''
            return lines + [f'    return{values}', '  }']
        kinds = ', '.join(f'"{kind}"' for kind in self.kinds)
        segmented = ', talc.segmented' if self.segmented else ''
        lines = [f'module attributes {{talc.max_sequence = {self.max_sequence} : i64, talc.outputs = [{kinds}]{segmented}}} {{']
        lines += ['  ' + symbol for symbol in self.symbols]
        for f in self.functions:
            lines += function_text(f.name, f.arguments + [self.sequences], '', f, [f.result])
        step, entry = [self.ids, self.sequences], ' attributes {talc.entry}'
        if self.encoder:
            lines += function_text('@encoder', step, entry, self.encoder, [])
        lines += function_text('@model', step, entry, self.entry, self.results)
        return '\n'.join(lines + ['}', ''])

    def evaluate(self, prompt):
        """All rows of each result for one prompt."""
        env = {'%ids': prompt.ids, '%types': prompt.types, '%prefix': prompt.prefix, '%source': None, '%memories': {}}
        if self.encoder:
            source = {'%ids': prompt.source, '%types': None, '%prefix': 0, '%source': None, '%memories': {}}
            env['%source'] = run(self.encoder.steps, source)
        # Segments know of each other only what memories hold.
        length = self.max_sequence if self.segmented else len(prompt.ids)
        rows = [[] for _ in self.results]
        for first in range(0, len(prompt.ids), length):
            own = slice(first, first + length)
            part = {**env, '%ids': prompt.ids[own], '%types': prompt.types and prompt.types[own]}
            part = run(self.entry.steps, part)
            rows = [all + part[result.name] for all, result in zip(rows, self.results)]
        return rows

    def longest(self):
        """Tokens of a prompt."""
        return 3 * self.max_sequence + 2 if self.segmented else self.max_sequence


def run(steps, env):
    for name, compute in steps:
        env[name] = compute(env)
    return env
