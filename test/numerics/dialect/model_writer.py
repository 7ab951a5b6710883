# SPDX-License-Identifier: Apache-2.0
"""Writes models in the talc dialect, and evaluates what it wrote with plain_math.

    m = Model()
    x = m.embedding(m.ids, m.weight([31, 10]))
    m.results = [m.linear(x, m.weight([7, 10]))]
    print(m.text()); [rows] = m.evaluate(Prompt([5, 7, 9]))
"""
import contextlib

import plain_math as pm
from attention_writer import AttentionWriter
from moe_writer import MoeWriter
from model_values import Function, Handle, Value, attributes, number, types
from recipe_writer import RecipeWriter


class Model(RecipeWriter, AttentionWriter, MoeWriter):

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
        """Ops that are written inside belong to the encoder of sources."""
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
        text = f'talc.position {self.sequences.name}, {table.name}{attributes(offset=offset)}'
        return self.emit(f'{text} : {table.type} -> {result.type}', result, lambda env: [env[table.name][p + offset] for p in range(len(env['%ids']))])

    def position_among(self, table, offset, padding):
        """Padding takes no position, but the row before the first."""
        self.is_encoder |= not self.in_encoder
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
        text = f'talc.select {x.name}, {self.sequences.name}{attributes(output=output)}'
        return self.emit(f'{text} : {x.type} -> {x.type}', result, lambda env: env[x.name])

    def activations(self, width):
        return Value(self.fresh('%x'), ['?', width])

    def slice(self, x, offset, width):
        result = Value(self.fresh('%x'), ['?', width])
        return self.emit(f'talc.slice {x.name} at {offset} : {x.type} -> {result.type}', result,
                         lambda env: [row[offset:offset + width] for row in env[x.name]])

    def join(self, x, y, heads):
        result = self.activations(x.shape[1] + y.shape[1])

        def compute(env):
            a, b = x.shape[1] // heads, y.shape[1] // heads
            return [[v for h in range(heads) for v in p[h * a:(h + 1) * a] + q[h * b:(h + 1) * b]]
                    for p, q in zip(env[x.name], env[y.name])]
        return self.emit(f'talc.join {x.name}, {y.name} heads {heads} : ({x.type}, {y.type}) -> {result.type}', result,
                         compute)

    # --- layers

    def linear(self, x, w, bias=None, outputs=None, groups=1):
        """`w` may be packed, each group in panels of its own."""
        result = self.activations(outputs or w.shape[0])
        width, features = result.shape[1] // groups, x.shape[1] // groups

        def compute(env):
            matrix = env[w.name] if len(w.shape) == 2 else pm.unpack(env[w.name])
            rows, depth = len(matrix) // groups, len(matrix[0])
            added = env[bias.name] if bias else [0.0] * result.shape[1]
            parts = [pm.linear([row[g * features:g * features + depth] for row in env[x.name]],
                               matrix[g * rows:g * rows + width], added[g * width:(g + 1) * width]) for g in range(groups)]
            return [pm.concat(row) for row in zip(*parts)]
        text = f'talc.linear {x.name}, {w.name}' + (f' bias {bias.name}' if bias else '')
        operands = types(*filter(None, (x, w, bias)))
        return self.emit(f'{text}{attributes(groups=groups if groups > 1 else 0)} : ({operands}) -> {result.type}', result,
                         compute)

    def quantize(self, x, element='!talc.stored<q8_sums>'):
        result = Value(self.fresh('%x'), x.shape, element)
        rounded = pm.quantize if element != 'bf16' else lambda rows: pm.each(pm.to_bf16, rows)
        return self.emit(f'talc.quantize {x.name} : {x.type} -> {result.type}', result, lambda env: rounded(env[x.name]))

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
        text += f' epsilon {number(epsilon)}{attributes(groups=groups if groups > 1 else 0)}'
        operands = types(*filter(None, (x, scale, bias)))
        return self.emit(f'{text} : ({operands}) -> {x.type}', result, lambda env: pm.norm(
            kind, env[x.name], env[scale.name], env[bias.name] if bias else None, epsilon, groups))

    def softmax(self, x):
        result = Value(self.fresh('%x'), x.shape)
        return self.emit(f'talc.softmax {x.name} : {x.type}', result, lambda env: pm.softmax(env[x.name]))

    def log_softmax(self, x, tails):
        result = Value(self.fresh('%x'), ['?', x.shape[1] - len(tails)])
        text = f'talc.log_softmax {x.name}' + (f' tails {tails}' if tails else '')
        return self.emit(f'{text} : {x.type} -> {result.type}', result, lambda env: pm.log_softmax(env[x.name], tails))

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

    # --- functions

    def define(self, body, x):
        """A function (x, ...) -> body(x'), to be called; its other arguments are what `body` takes."""
        outer, self.function = self.function, Function(caller=self.function)
        inner = Value(self.fresh('%arg'), x.shape)
        self.function.arguments.append(inner)
        result = body(inner)
        function, self.function = self.function, outer
        function.name, function.result = self.fresh('@block'), result
        self.functions.append(function)
        return function

    def take(self, make):
        """Inside a function, make() writes into its caller, for each call anew, and the caller passes the value;
        elsewhere this is make()."""
        function = self.function
        if not function.caller:
            return make()
        self.function = function.caller
        given, self.function = make(), function
        function.taken.append((make, given))
        name = self.fresh('%arg')
        inner = Handle(name, given.type) if isinstance(given, Handle) else Value(name, given.shape, given.element)
        function.arguments.append(inner)
        return inner

    def call(self, function, x):
        given = [given or make() for make, given in function.taken]
        function.taken = [(make, None) for make, _ in function.taken]
        arguments, result = [x, *given], Value(self.fresh('%x'), function.result.shape)

        def compute(env):
            inner = {name: env[name] for name in ('%ids', '%types', '%prefix', '%source', '%memories')}
            for parameter, argument in zip(function.arguments, arguments):
                inner[parameter.name] = env[argument.name]
            return run(function.steps, inner)[function.result.name]
        operands = [*arguments, self.sequences]
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
