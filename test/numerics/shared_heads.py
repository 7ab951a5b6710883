# SPDX-License-Identifier: Apache-2.0
"""What model_writer.Model writes of groups of features: projections group by group, heads joined of two parts, windows
that hold no more than they see, sinks, and mixtures of experts; each with its formula."""
import math

import plain_math as pm


def chosen(numbers, count):
    """The places of the largest, of equal ones the first."""
    return sorted(range(len(numbers)), key=lambda i: (-numbers[i], i))[:count]


def route(x, bias, count, normalized, groups, kept, best):
    result = []
    for row in x:
        compared, each = [v + b for v, b in zip(row, bias)], len(row) // groups
        parts = [compared[g:g + each] for g in range(0, len(row), each)]
        left = chosen([math.fsum(sorted(part, reverse=True)[:best]) for part in parts], kept)
        places = chosen([v if e // each in left else -math.inf for e, v in enumerate(compared)], count)
        total = math.fsum(row[e] for e in places) if normalized else 1.0
        result.append([v / total if e in places else 0.0 for e, v in enumerate(row)])
    return result


def experts(kind, x, routes, gate, up, down, biases, clamp):
    count, result = len(routes[0]), []
    inner, outputs = len(gate) // count, len(down) // count
    for row, weights in zip(x, routes):
        out = [0.0] * outputs
        for e in (e for e in range(count) if weights[e]):
            own, end = slice(e * inner, (e + 1) * inner), slice(e * outputs, (e + 1) * outputs)
            gates, ups = (pm.linear([row], w[own], b[own])[0] for w, b in ((gate, biases[0]), (up, biases[1])))
            if clamp:
                gates, ups = [min(g, clamp) for g in gates], [min(max(u, -clamp), clamp) + 1 for u in ups]
            hidden = [pm.ACTIVATIONS[kind](g) * u for g, u in zip(gates, ups)]
            made = pm.linear([hidden], down[end], biases[2][end])[0]
            out = [a + weights[e] * b for a, b in zip(out, made)]
        result.append(out)
    return result


def attention(q, k, v, first, heads, kv_heads, scale, window, sinks, kept):
    """Causal. `first`: the queries that meet the kept tokens."""
    width, result = len(q[0]) // heads, []
    for t in range(len(q)):
        out = []
        for head in range(heads):
            at, own = head * kv_heads // heads * width, slice(head * width, (head + 1) * width)
            seen = [s for s in range(t + 1) if s < kept or not window or t - s < window]
            queries = [(first if s < kept else q)[t][own] for s in seen]
            scores = [scale * math.fsum(a * b for a, b in zip(query, k[s][at:at + width]))
                      for query, s in zip(queries, seen)]
            weights = pm.softmax([scores + ([sinks[head]] if sinks else [])])[0]
            out += [math.fsum(w * v[s][at + i] for w, s in zip(weights, seen)) for i in range(width)]
        result.append(out)
    return result


def turned(x, heads, rotary, base, last):
    """Positions beyond the last count as it."""
    rows = [pm.rope([row] * (min(p, last) + 1), heads, rotary, base, None)[-1] for p, row in enumerate(x)]
    return rows


class SharedHeads:
    """Methods of model_writer.Model, whose `emit` and `fresh` they use."""

    def grouped_linear(self, x, w, groups, outputs):
        """A packed weight has panels for each group."""
        result = self.activations(outputs)

        def compute(env):
            matrix = env[w.name] if len(w.shape) == 2 else pm.unpack(env[w.name])
            each, rows, features = outputs // groups, len(matrix) // groups, x.shape[1] // groups
            depth, parts = len(matrix[0]), []
            for g in range(groups):
                own = [row[g * features:g * features + depth] for row in env[x.name]]
                parts.append(pm.linear(own, matrix[g * rows:g * rows + each], None))
            return [[v for part in rows for v in part] for rows in zip(*parts)]
        text = f'talc.linear {x.name}, {w.name} {{groups = {groups} : i64}}'
        return self.emit(f'{text} : ({x.type}, {w.type}) -> {result.type}', result, compute)

    def join(self, x, y, heads):
        result = self.activations(x.shape[1] + y.shape[1])

        def compute(env):
            a, b = x.shape[1] // heads, y.shape[1] // heads
            return [[v for h in range(heads) for v in p[h * a:(h + 1) * a] + q[h * b:(h + 1) * b]]
                    for p, q in zip(env[x.name], env[y.name])]
        return self.emit(f'talc.join {x.name}, {y.name} heads {heads} : ({x.type}, {y.type}) -> {result.type}', result,
                         compute)

    def rope_until(self, x, heads, rotary, last, base=10000.0):
        result = self.activations(x.shape[1])
        text = f'talc.rope {x.name}, {self.sequences.name} heads {heads} rotary {rotary} base {base!r}'
        return self.emit(f'{text} {{last = {last} : i64}} : {x.type}', result,
                         lambda env: turned(env[x.name], heads, rotary, base, last))

    def route(self, x, count, normalized):
        result, word = self.activations(x.shape[1]), ' normalized' if normalized else ''
        return self.emit(f'talc.route {x.name} to {count}{word} : {x.type}', result,
                         lambda env: pm.route(env[x.name], count, normalized))

    def experts(self, kind, x, routes, gate, up, down, chosen):
        """`up` is None for packed weights; `gate` and `down` are then pairs of these and what they are made of."""
        sources, given = [gate, up, down], [gate, up, down]
        if up is None:
            sources, given = [*gate[1], *down[1]], [gate[0], down[0]]
        result = self.activations(sources[-1].shape[0] // routes.shape[1])
        first, names = ', '.join(value.name for value in given[:-1]), (x.name, routes.name, given[-1].name)
        text = f'talc.experts {kind} {names[0]}, {names[1]}, {first} down {names[2]} chosen {chosen}'
        kinds = ', '.join(value.type for value in (x, routes, *given))
        return self.emit(f'{text} : ({kinds}) -> {result.type}', result, lambda env: pm.experts(
            kind, env[x.name], env[routes.name], *(env[source.name] for source in sources)))

    def group_route(self, x, bias, count, normalized, groups, kept, best):
        result = self.activations(x.shape[1])
        text = f'talc.route {x.name} plus {bias.name} : {bias.type} to {count}' + (' normalized' if normalized else '')
        text += f' {{groups = {groups} : i64, kept_groups = {kept} : i64, group_best = {best} : i64}}'
        return self.emit(f'{text} : {x.type}', result, lambda env: route(
            env[x.name], env[bias.name], count, normalized, groups, kept, best))

    def biased_experts(self, kind, x, routes, weights, biases, chosen, clamp):
        """`weights`: gate, up and down."""
        gate, up, down = weights
        result = self.activations(down.shape[0] // routes.shape[1])
        names = ', '.join(value.name for value in (x, routes, gate, up))
        text = f'talc.experts {kind} {names} down {down.name} biases {", ".join(b.name for b in biases)} chosen {chosen}'
        text += f' {{clamp = {clamp!r} : f64}}' if clamp else ''
        kinds = ', '.join(value.type for value in (x, routes, *weights, *biases))
        return self.emit(f'{text} : ({kinds}) -> {result.type}', result, lambda env: experts(
            kind, env[x.name], env[routes.name], *(env[w.name] for w in weights), [env[b.name] for b in biases], clamp))

    def window_attention(self, q, k, v, heads, kv_heads, scale, state, window, sinks=None, first=None, kept=0):
        """`state` is a ring; `first`: the queries that meet the tokens that are kept beside it."""
        self.append(state, k, v)
        keys, values = self.read(state, k.shape[1])
        result = self.activations(q.shape[1])
        text = f'talc.attention causal {q.name}, {keys.name}, {values.name}, {self.sequences.name}'
        text += f' heads {heads}, {kv_heads} scale {scale!r}'
        text += f' sinks {sinks.name} : {sinks.type}' if sinks else ''
        text += f' kept({first.name} : {first.type})' if first else ''
        text += f' {{window = {window} : i64' + (f', kept = {kept} : i64' if kept else '') + '}'
        return self.emit(f'{text} : {q.type}, {keys.type}', result, lambda env: attention(
            env[q.name], env[k.name], env[v.name], env[first.name] if first else None, heads, kv_heads, scale, window,
            env[sinks.name] if sinks else None, kept))
