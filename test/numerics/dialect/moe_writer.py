# SPDX-License-Identifier: Apache-2.0
"""The part of model_writer.Model that writes MoE layers: routing weights, and the experts of tokens."""
import plain_math as pm
from model_values import attributes, types


class MoeWriter:
    """Methods of Model, whose `emit` they use."""

    def route(self, x, count, normalized, bias=None, groups=1, kept=1, best=1):
        result, word = self.activations(x.shape[1]), ' normalized' if normalized else ''
        plus = f' plus {bias.name} : {bias.type}' if bias else ''
        text = f'talc.route {x.name}{plus} to {count}{word}'
        text += attributes(groups=groups, topk_groups=kept, group_best=best)
        return self.emit(f'{text} : {x.type}', result, lambda env: pm.route(
            env[x.name], count, normalized, env[bias.name] if bias else None, groups, kept, best))

    def experts(self, kind, x, routes, gate, up, down, chosen, biases=(), clamp=0.0):
        """`up` is None for packed weights; `gate` and `down` are then pairs of these and what they are made of."""
        sources, given = [gate, up, down], [gate, up, down]
        if up is None:
            sources, given = [*gate[1], *down[1]], [gate[0], down[0]]
        result = self.activations(sources[-1].shape[0] // routes.shape[1])
        names = ', '.join(value.name for value in (x, routes, *given[:-1]))
        text = f'talc.experts {kind} {names} down {given[-1].name}'
        text += f' biases {", ".join(bias.name for bias in biases)}' if biases else ''
        text += f' chosen {chosen}{attributes(clamp=clamp)}'
        return self.emit(f'{text} : ({types(x, routes, *given, *biases)}) -> {result.type}', result, lambda env: pm.experts(
            kind, env[x.name], env[routes.name], *(env[source.name] for source in sources),
            [env[bias.name] for bias in biases], clamp))
