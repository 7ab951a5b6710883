# SPDX-License-Identifier: Apache-2.0
"""The part of model_writer.Model for tokens that have positions and meet others: rotary positions, KV caches, attention,
memories."""
import plain_math as pm
import plain_recurrences as pr
from model_values import Handle, Value, attributes, number, types


class AttentionWriter:
    """Methods of Model, whose `emit` and `fresh` they use."""

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

    def rope(self, x, heads, rotary, base=10000.0, scaling=None, table=None, last=0, digits=0):
        result = self.activations(x.shape[1])
        text = f'talc.rope {x.name}, {self.sequences.name} heads {heads} rotary {rotary} base {number(base)}'
        text += f' scaling ({self.scaling(scaling)})' if scaling else ''
        text += f' table {table.name} : {table.type}' if table else ''
        text += attributes(last=last, digits=digits)
        return self.emit(f'{text} : {x.type}', result,
                         lambda env: pm.rope(env[x.name], heads, rotary, base, scaling, last))

    # --- states

    def state(self, heads, width, role='', ring=None):
        """`ring`: room, window, and how many first tokens are kept."""
        name, room = self.fresh('@state'), self.max_sequence
        role = ', ' + role if role else ''
        if ring:
            room, role = ring[0], f' window {ring[1]}' + (f' sink_tokens {ring[2]}' if ring[2] else '')
        result = Handle('%' + name[1:], f'!talc.kv_cache<{heads} x {width} x {room}{role}>')
        self.symbols.append(f'talc.kv_cache {name} : {result.type}')
        return self.get_state(result)

    def get_state(self, state):
        """The handle in another function than that of `state`. What a memory holds lasts from segment to segment."""
        return self.emit(f'talc.get_kv_cache @{state.name[1:]} : {state.type}', state,
                         lambda env: self.kept.get(state.name) or env['%memories'].setdefault(state.name, []))

    def append(self, state, k, v):
        self.kept[state.name] = k.name, v.name
        self.emit(f'talc.kv_append {state.name}, {k.name}, {v.name}, {self.sequences.name} : {types(state, k)}', None, None)

    def read(self, state, width):
        keys, values = Value(self.fresh('%keys'), ['?', width]), Value(self.fresh('%values'), ['?', width])
        self.function.lines.append(f'{keys.name}, {values.name} = talc.kv_read {state.name}, {self.sequences.name} : '
                                   f'{state.type} -> {types(keys, values)}')
        return keys, values

    def memory(self, update, local, q, k, v, state, gates, heads, local_first):
        self.segmented = True
        result, word = self.activations(q.shape[1]), ' local_first' if local_first else ''
        names = ', '.join(value.name for value in (local, q, k, v, state, self.sequences))
        return self.emit(f'talc.memory {update} {names} gates {gates.name} heads {heads}{word} : '
                         f'({types(local, q, k, v, state, self.sequences, gates)}) -> {result.type}', result,
                         lambda env: pm.memory(update, *(env[x.name] for x in (local, q, k, v, gates)), heads,
                                               env[state.name], local_first))

    def recurrence_state(self, heads, columns, rows):
        name = self.fresh('@state')
        result = Handle('%' + name[1:], f'!talc.kv_cache<{heads} x {columns} x {rows}, recurrence>')
        self.symbols.append(f'talc.kv_cache {name} : {result.type}')
        return self.get_state(result)

    def causal_conv(self, x, weight, bias, state, silu):
        result = self.activations(x.shape[1])
        operands = types(*filter(None, (x, weight, bias, state, self.sequences)))
        text = f'talc.causal_conv {x.name}, {weight.name}' + (f' bias {bias.name}' if bias else '')
        text += f', {state.name}, {self.sequences.name}' + (' then silu' if silu else '')

        def compute(env):
            rows = pr.causal_conv(env[x.name], env[weight.name], env[bias.name] if bias else None)
            return pm.each(pm.ACTIVATIONS['silu'], rows) if silu else rows
        return self.emit(f'{text} : ({operands}) -> {result.type}', result, compute)

    def recurrence(self, update, q, k, v, state, decay, rates, factors, skip, depth):
        result = self.activations(v.shape[1])
        operands = types(*filter(None, (q, k, v, state, self.sequences, decay, rates, factors, skip)))
        text = f'talc.recurrence {update} {q.name}, {k.name}, {v.name}, {state.name}, {self.sequences.name} '
        text += f'decay {decay.name} rates {rates.name} factors {factors.name}' + (f' skip {skip.name}' if skip else '')
        return self.emit(f'{text} : ({operands}) -> {result.type}', result, lambda env: pr.recurrence(
            update, *(env[x.name] for x in (q, k, v, decay, rates, factors)), env[skip.name] if skip else None, depth))

    def selective_scan(self, x, steps, inputs, outputs, state, rates, skip, groups):
        result, operands = self.activations(x.shape[1]), (x, steps, inputs, outputs, state, self.sequences, rates, skip)
        names = ', '.join(value.name for value in operands[:6])
        return self.emit(f'talc.selective_scan {names} rates {rates.name} skip {skip.name} : ({types(*operands)}) -> '
                         f'{result.type}', result, lambda env: pr.selective_scan(
                             *(env[value.name] for value in (x, steps, inputs, outputs, rates, skip)), groups))

    # --- attention

    def attention(self, mask, q, k, v, heads, kv_heads, scale, state=None, **options):
        """Over the step's own rows, or with a state over past and present rows."""
        keys, values = k, v
        if state:
            self.append(state, k, v)
            keys, values = self.read(state, k.shape[1])
        elif not self.in_encoder:
            self.is_encoder = True
        self.uses_prefix |= mask == 'prefix'
        return self.attend(mask, q, keys, values, lambda env: (env[k.name], env[v.name]), heads, kv_heads, scale, **options)

    def cross_attention(self, q, heads, kv_heads, scale, state, **options):
        """Over what the encoder appended to `state`."""
        keys, values = self.read(state, q.shape[1] // heads * kv_heads)
        return self.attend('full', q, keys, values, lambda env: [env['%source'][name] for name in env[state.name]], heads,
                           kv_heads, scale, **options)

    def attend(self, mask, q, keys, values, whole, heads, kv_heads, scale, window=0, bias=None, sinks=None, kept=0,
               first=None, row_bias=None, zero_start=False, cap=0.0, absolute=False):
        """`whole`: keys and values of the whole sequence. `first`: the queries that meet the `kept` tokens."""
        result = self.activations(q.shape[1])
        names = ', '.join([q.name, keys.name, values.name, self.sequences.name])
        text = f'talc.attention {mask} {names} heads {heads}, {kv_heads} scale {number(scale)}'
        for word, value in (('bias', bias), ('sinks', sinks)):
            text += f' {word} {value.name} : {value.type}' if value else ''
        text += f' sink_queries({first.name} : {first.type})' if first else ''
        text += f' row_bias {row_bias.name} : {row_bias.type}' if row_bias else ''
        text += ' zero_start' if zero_start else ''
        text += attributes(window=window, cap=cap, absolute=absolute, sink_tokens=kept)

        def compute(env):
            of = lambda value: env[value.name] if value else None
            return pm.attention(mask, env[q.name], *whole(env), heads, kv_heads, scale, window, env['%prefix'], of(bias),
                                cap, absolute, of(row_bias), zero_start, of(sinks), kept, of(first))
        return self.emit(f'{text} : {types(q, keys)}', result, compute)
