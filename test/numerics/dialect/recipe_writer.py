# SPDX-License-Identifier: Apache-2.0
"""The part of model_writer.Model that writes weights: their sources, and the recipes by which they follow from others; each with
its values, which are computed when somebody asks for them."""
import functools

import plain_math as pm
from model_values import Value, number, types


class RecipeWriter:
    """Methods of Model, whose `emit` and `fresh` they use."""

    def weight(self, shape, mean=0.0, deviation=0.3, element='f32'):
        """Pseudo-random values."""
        self.seed += 1
        seed, source = self.seed, f'mean = {number(mean)}, deviation = {number(deviation)}'
        return self.symbol(shape, element, f'#talc.random<seed = {seed}, {source}>', lambda: pm.each(
            pm.ROUND[element], pm.random_values(seed, mean, deviation, shape)))

    def listed(self, shape, values):
        """Values written into the program."""
        def text(nested):
            return '[' + ', '.join(map(text, nested)) + ']' if isinstance(nested, list) else number(nested)
        nested = pm.shaped(iter(values), shape)
        kind = Value('', shape).type
        return self.symbol(shape, 'f32', f'#talc.values<dense<{text(nested)}> : {kind}>', lambda: nested)

    def fill(self, shape, value, derive=False):
        return self.recipe(f'#talc.fill<{number(value)}>', [], shape, lambda: pm.each(
            lambda _: value, pm.random_values(0, 0, 0, shape)), derive=derive)

    def recipe(self, recipe, sources, shape, compute, element='f32', derive=False):
        """A weight that follows from others, as a symbol or as a talc.derive. `compute` makes its values of theirs, before
        rounding."""
        def rounded(values):
            return pm.each(pm.ROUND[element], compute(*values))
        if not derive:
            names = [self.symbol_of[source.name] for source in sources]
            of = f' of [{", ".join(names)}]' if names else ''
            return self.symbol(shape, element, recipe + of, lambda: rounded(map(self.values, sources)))
        result = Value(self.fresh('%derived'), shape, element)
        operands = ', '.join(source.name for source in sources)
        return self.emit(f'talc.derive {recipe} of ({operands}) : ({types(*sources)}) -> {result.type}', result,
                         lambda env: rounded(env[source.name] for source in sources))

    def symbol(self, shape, element, source, compute):
        name = self.fresh('@w')
        result = Value('%' + name[1:], shape, element)
        self.symbol_of[result.name] = name
        self.constants[result.name] = functools.cache(compute)
        self.symbols.append(f'talc.weight {name} : {result.type} = {source}')
        return self.emit(f'talc.get_weight {name} : {result.type}', result, lambda env: self.values(result))

    def values(self, weight):
        return self.constants[weight.name]()

    # --- of other weights

    def transpose(self, w, **options):
        return self.recipe('#talc.transpose', [w], w.shape[::-1], pm.transpose, **options)

    def concat(self, parts, **options):
        shape = [sum(part.shape[0] for part in parts)] + parts[0].shape[1:]
        return self.recipe('#talc.concat', parts, shape, lambda *values: pm.concat(values), **options)

    def interleave(self, a, b, group, **options):
        shape = [2 * group * -(-a.shape[0] // group), a.shape[1]]
        return self.recipe(f'#talc.interleave<{group}>', [a, b], shape, lambda p, q: pm.interleave(p, q, group), **options)

    def pack(self, w, lanes, **options):
        shape = [-(-w.shape[0] // lanes), w.shape[1], lanes]
        return self.recipe('#talc.pack', [w], shape, lambda values: pm.pack(values, lanes), **options)

    def pad(self, w, length, **options):
        return self.recipe('#talc.pad', [w], [length] + w.shape[1:], lambda values: values + pm.random_values(
            0, 0, 0, [length - w.shape[0]] + w.shape[1:]), **options)

    def convert(self, w, element, **options):
        return self.recipe('#talc.convert', [w], w.shape, lambda values: values, element=element, **options)

    def some_rows(self, w, first, count, period, **options):
        text, shape = f'first = {first}, count = {count}', [w.shape[0] // period * count] + w.shape[1:]
        return self.recipe(f'#talc.rows<{text}, period = {period}>', [w], shape,
                           lambda values: pm.rows(values, first, count, period), **options)

    def half_split(self, w, width, rotary, **options):
        return self.recipe(f'#talc.half_split<width = {width}, rotary = {rotary}>', [w], w.shape,
                           lambda values: pm.half_split(values, width, rotary), **options)

    def plus(self, w, value, **options):
        return self.recipe(f'#talc.plus<{number(value)}>', [w], w.shape,
                           lambda values: pm.each(lambda v: v + value, values), **options)

    def relative_bias(self, table, length, bidirectional, longest, **options):
        text = f'#talc.relative_bias<bidirectional = {str(bidirectional).lower()}, max_distance = {longest}>'
        return self.recipe(text, [table], [table.shape[1], 2 * length - 1],
                           lambda values: pm.relative_bias(values, length, bidirectional, longest), **options)

    def relative_keys(self, projection, heads, distances, factor, vectors=(), **options):
        shape = [heads * distances] + ([] if vectors else [projection.shape[0] // heads])
        return self.recipe(f'#talc.relative_keys<heads = {heads}, scale = {number(factor)}>', [projection, *vectors], shape,
                           lambda values, *more: pm.relative_keys(values, heads, distances, factor, more), **options)

    # --- of none

    def alibi(self, heads, length, rounded=None, **options):
        text = '#talc.alibi' if rounded is None else f'#talc.alibi<rounded = {number(rounded)} : f64>'
        return self.recipe(text, [], [heads, 2 * length - 1 if rounded is None else length],
                           lambda: pm.alibi(heads, length, rounded), **options)

    def rotary_table(self, positions, rotary, base, scaling=None, digits=0, **options):
        """With `digits`, of the digits of a position to that base."""
        text = f'base = {number(base)}' + (f', scaling = {self.scaling(scaling)}' if scaling else '')
        text += f', digits = {digits}' if digits else ''
        return self.recipe(f'#talc.rotary_table<{text}>', [], [3 * digits or positions, rotary],
                           lambda: pm.rotary_table(positions, rotary, base, scaling, digits), **options)

    def sinusoid_table(self, positions, width, layout, blank=-1, **options):
        row = f', blank = {blank}' if blank >= 0 else ''
        return self.recipe(f'#talc.sinusoid_table<{layout}{row}>', [], [positions, width],
                           lambda: pm.sinusoids(positions, width, layout, blank), **options)
