# SPDX-License-Identifier: Apache-2.0
"""Decoders some of whose layers have a recurrence for attention; see described_model.

A mixer is an object with has(n), whether layer n has it; add(c, at, width), its tensors; mix(c, at, x), what it computes. One
that `is_beside` attention combines both in beside(y, x, attention).
"""
import decoder_layers as dl
import described_decoders as gd
import described_model as dd
import plain_math as pm
import plain_recurrences as pr
from family_layers import add, apply, linear


class Mixer:
    is_beside = False

    def __init__(self, types, **sizes):
        """`types`: of the layers, by name or by letter."""
        self.types = types
        self.__dict__.update(sizes)

    def has(self, n):
        return self.types[n] in ('conv', 'linear_attention', 'mamba', 'M')


def conv_weight(c, name):
    """By token, from the present one's last."""
    return pm.transpose([row[0] for row in c[name + '.weight']])


def columns(x, first, count):
    return [row[first:first + count] for row in x]


class ShortConv(Mixer):
    """LFM2's gated convolution."""

    def add(self, c, at, width):
        c.linear(at + 'conv.in_proj', 3 * width, width, self.bias)
        c.add(at + 'conv.conv.weight', width, 1, self.taps, deviation=0.5)
        if self.bias:
            c.add(at + 'conv.conv.bias', width)
        c.linear(at + 'conv.out_proj', width, width, self.bias)

    def mix(self, c, at, x):
        width, parts = len(x[0]), linear(c, at + 'conv.in_proj', x)
        b, gate, v = (columns(parts, i * width, width) for i in range(3))
        y = pr.causal_conv(dl.times(b, v), conv_weight(c, at + 'conv.conv'), c.tensors.get(at + 'conv.conv.bias'))
        return linear(c, at + 'conv.out_proj', dl.times(gate, y))


class StateSpace(Mixer):
    """Mamba-2's. Sizes: name, heads, width, groups, state, taps, place of the norm (None, before, behind the gate)."""
    factors, bound, output = {}, None, ''

    def add(self, c, at, width):
        inner, shared, name = self.heads * self.width, self.groups * self.state, at + self.name
        c.linear(name + '.in_proj', 2 * (inner + shared) + self.heads, width, False)
        c.add(name + '.conv1d.weight', inner + 2 * shared, 1, self.taps, deviation=0.5)
        c.add(name + '.conv1d.bias', inner + 2 * shared)
        for kind in ('dt_bias', 'A_log', 'D'):
            c.add(f'{name}.{kind}', self.heads, deviation=1.0)
        if self.place:
            c.norm(name + '.norm', inner, False)
        c.linear(name + '.out_proj', width, inner, False)

    def mix(self, c, at, x):
        inner, shared, name = self.heads * self.width, self.groups * self.state, at + self.name
        f = lambda kind: self.factors.get(kind, 1.0)
        parts = linear(c, name + '.in_proj', dl.scaled(x, f('in')))
        take = lambda kind, first, count: dl.scaled(columns(parts, first, count), f(kind))
        z, dt = take('z', 0, inner), take('dt', 2 * (inner + shared), self.heads)
        mixed = [a + b + d for a, b, d in zip(take('x', inner, inner), take('B', 2 * inner, shared),
                                              take('C', 2 * inner + shared, shared))]
        mixed = apply('silu', pr.causal_conv(mixed, conv_weight(c, name + '.conv1d'), c[name + '.conv1d.bias']))
        v, k, q = columns(mixed, 0, inner), columns(mixed, inner, shared), columns(mixed, inner + shared, shared)
        dt = apply('softplus', [[a + b for a, b in zip(row, c[name + '.dt_bias'])] for row in dt])
        dt = pm.each(lambda value: min(value, self.bound), dt) if self.bound else dt
        y = pr.recurrence('additive', q, k, v, dt, c[name + '.A_log'], dt, c[name + '.D'], self.state)
        return dl.scaled(linear(c, name + '.out_proj', self.gated(c, name, y, apply('silu', z))), f('out'))

    def gated(self, c, name, y, gate):
        norm = lambda x: pm.norm('rms', x, c[name + '.norm.weight'], None, self.epsilon, self.groups)
        if self.place == 'before':
            return dl.times(norm(y), gate)
        return norm(dl.times(y, gate)) if self.place else dl.times(y, gate)


class BesideAttention(StateSpace):
    """Falcon-H1's."""
    is_beside = True

    def has(self, n):
        return True

    def beside(self, y, x, attention):
        given, taken = self.around
        return add(y, dl.scaled(attention(dl.scaled(x, given)), taken))


class Selective(Mixer):
    """Mamba's. Sizes: name, inner, state, rank, taps, norms (None, ones, weights)."""

    def add(self, c, at, width):
        name = at + self.name
        c.linear(name + '.in_proj', 2 * self.inner, width, False)
        c.add(name + '.conv1d.weight', self.inner, 1, self.taps, deviation=0.5)
        c.add(name + '.conv1d.bias', self.inner)
        c.linear(name + '.x_proj', self.rank + 2 * self.state, self.inner, False)
        c.linear(name + '.dt_proj', self.inner, self.rank)
        c.add(name + '.A_log', self.inner, self.state, deviation=1.0)
        c.add(name + '.D', self.inner)
        if self.norms == 'weights':
            for kind, count in (('dt', self.rank), ('b', self.state), ('c', self.state)):
                c.norm(f'{name}.{kind}_layernorm', count, False)
        c.linear(name + '.out_proj', width, self.inner, False)

    def mix(self, c, at, x):
        name, both = at + self.name, linear(c, at + self.name + '.in_proj', x)
        y = pr.causal_conv(columns(both, 0, self.inner), conv_weight(c, name + '.conv1d'), c[name + '.conv1d.bias'])
        y = apply('silu', y)
        parts = linear(c, name + '.x_proj', y)
        ends, made = [0, self.rank, self.rank + self.state, self.rank + 2 * self.state], []
        for kind, first, end in zip(('dt', 'b', 'c'), ends, ends[1:]):
            part = columns(parts, first, end - first)
            scale = c[f'{name}.{kind}_layernorm.weight'] if self.norms == 'weights' else [1.0] * (end - first)
            made.append(pm.norm('rms', part, scale, None, self.epsilon, 1) if self.norms else part)
        steps = apply('softplus', linear(c, name + '.dt_proj', made[0]))
        rates = pm.transpose(c[name + '.A_log'])
        y = pr.selective_scan(y, steps, made[1], made[2], rates, c[name + '.D'], 1)
        return linear(c, name + '.out_proj', dl.times(y, apply('silu', columns(both, self.inner, self.inner))))


class GatedDelta(Mixer):
    """Sizes: packing, key_heads, heads, key_width, width, taps, epsilon, factor of beta."""
    norm, output, name = 'norm', 'out_proj', 'linear_attn'

    def add(self, c, at, width):
        keys, values, name = self.key_heads * self.key_width, self.heads * self.width, at + self.name
        matrices = {'next': {'in_proj_qkvz': 2 * (keys + values), 'in_proj_ba': 2 * self.heads},
                    'order': {'in_proj_qkv': 2 * keys + values, 'in_proj_z': values, 'in_proj_b': self.heads,
                              'in_proj_a': self.heads},
                    'apart': {'q_proj': keys, 'k_proj': keys, 'v_proj': values, 'g_proj': values, 'b_proj': self.heads,
                              'a_proj': self.heads}}[self.packing]
        for kind, rows in matrices.items():
            c.linear(f'{name}.{kind}', rows, width, False)
        convs = {'q_conv1d': keys, 'k_conv1d': keys, 'v_conv1d': values}
        for kind, rows in (convs if self.packing == 'apart' else {'conv1d': 2 * keys + values}).items():
            c.add(f'{name}.{kind}.weight', rows, 1, self.taps, deviation=0.5)
        for kind in ('dt_bias', 'A_log'):
            c.add(f'{name}.{kind}', self.heads, deviation=1.0)
        c.norm(f'{name}.{self.norm}', self.width, False)
        c.linear(f'{name}.{self.output}', width, values, False)

    def inputs(self, c, name, x):
        """q, k and v in one row; z, b, a."""
        if self.packing == 'next':
            group = self.heads // self.key_heads
            ends = [0, self.key_width, 2 * self.key_width, 2 * self.key_width + group * self.width]
            by_head = [dl.heads_of(row, ends[-1] + group * self.width) for row in linear(c, name + '.in_proj_qkvz', x)]
            q, k, v, z = ([[value for head in row for value in head[a:b]] for row in by_head]
                          for a, b in zip(ends, ends[1:] + [None]))
            by_head = [dl.heads_of(row, 2 * group) for row in linear(c, name + '.in_proj_ba', x)]
            b, a = ([[value for head in row for value in head[part]] for row in by_head]
                    for part in (slice(0, group), slice(group, None)))
            return [p + r + s for p, r, s in zip(q, k, v)], z, b, a
        if self.packing == 'order':
            return [linear(c, f'{name}.in_proj_{kind}', x) for kind in ('qkv', 'z', 'b', 'a')]
        q, k, v, z, b, a = (linear(c, f'{name}.{kind}_proj', x) for kind in 'qkvgba')
        return [p + r + s for p, r, s in zip(q, k, v)], z, b, a

    def mix(self, c, at, x):
        keys, values, name = self.key_heads * self.key_width, self.heads * self.width, at + self.name
        qkv, z, b, a = self.inputs(c, name, x)
        kinds = [f'{name}.{kind}_conv1d' for kind in 'qkv'] if self.packing == 'apart' else [name + '.conv1d']
        weight = [sum(rows, []) for rows in zip(*(conv_weight(c, kind) for kind in kinds))]
        qkv = apply('silu', pr.causal_conv(qkv, weight))
        # talc multiplies by a weight in f32.
        scale = lambda factor: [pm.ROUND['f32'](factor * self.key_width**-0.5)] * self.key_width
        unit = lambda rows, factor: pm.norm('rms', rows, scale(factor), None, 1e-6 / self.key_width, self.key_heads)
        q, k = unit(columns(qkv, 0, keys), self.key_width**-0.5), unit(columns(qkv, keys, keys), 1.0)
        decay = apply('softplus', [[p + r for p, r in zip(row, c[name + '.dt_bias'])] for row in a])
        beta = dl.scaled(apply('sigmoid', b), self.factor)
        y = pr.recurrence('delta', q, k, columns(qkv, 2 * keys, values), decay, c[name + '.A_log'], beta, None,
                          self.key_width)
        y = pm.norm('rms', y, c[f'{name}.{self.norm}.weight'], None, self.epsilon, self.heads)
        return linear(c, f'{name}.{self.output}', dl.times(y, apply('silu', z)))


def lfm2(model_type, types, keys=None, hidden=None, bias=False, taps=3, **traits):
    config = {'layer_types': types, 'num_hidden_layers': len(types), 'conv_L_cache': taps, 'conv_bias': bias, 'norm_eps': 1e-5,
              'tie_word_embeddings': True, **(keys or {})}
    inner = ['feed_forward.' + name for name in ('w1', 'w3', 'w2')]
    attention = [f'self_attn.{part}' for part in ('q_proj', 'k_proj', 'v_proj', 'out_proj')]
    return dd.family(model_type, config, {'rms_norm_eps': None, **(hidden or {})}, mixer=ShortConv(types, taps=taps, bias=bias),
                     attention=attention, inner=inner, before=('operator_norm', 'ffn_norm'), last='model.embedding_norm',
                     head_norm='each', head_names=('self_attn.q_layernorm', 'self_attn.k_layernorm'), theta=1000000.0,
                     **traits)


def state_space(types, name='mamba', groups=2, place='behind', kind=StateSpace, **other):
    return kind(types, name=name, heads=4, width=12, groups=groups, state=5, taps=3, place=place, epsilon=1e-5, **other)


MAMBA1 = {'state_size': 5, 'conv_kernel': 3, 'layer_norm_epsilon': 1e-5}
NO_HEADS = {'num_attention_heads': 4, 'num_key_value_heads': 4, 'rms_norm_eps': None, 'max_position_embeddings': 26,
            'intermediate_size': 37}


def selective(types, name='mixer', rank=2, norms=None):
    return Selective(types, name=name, inner=48, state=5, rank=rank, taps=3, norms=norms, epsilon=1e-5)


MAMBA = {'mamba_n_heads': 4, 'mamba_d_head': 12, 'mamba_n_groups': 2, 'mamba_d_state': 5, 'mamba_d_conv': 3}
MAMBA2 = {'num_heads': 4, 'head_dim': 12, 'n_groups': 2, 'state_size': 5, 'conv_kernel': 3, 'layer_norm_epsilon': 1e-5}
NEMOTRON = {'mamba_num_heads': 4, 'mamba_head_dim': 12, 'n_groups': 2, 'ssm_state_size': 5, 'conv_kernel': 3,
            'layer_norm_epsilon': 1e-5, 'head_dim': 8}
BACKBONE = {'place': 'backbone.layers', 'table': 'backbone.embeddings', 'last': 'backbone.norm_f', 'before': ('norm', '')}
FALCON = {'mamba_d_ssm': 48, 'mamba_rms_norm': True, 'mamba_norm_before_gate': True, 'embedding_multiplier': 3.0,
          'lm_head_multiplier': 0.25, 'key_multiplier': 0.7, 'attention_in_multiplier': 1.3,
          'attention_out_multiplier': 0.6, 'ssm_in_multiplier': 0.9, 'ssm_out_multiplier': 1.2,
          'ssm_multipliers': [0.5, 1.5, 0.8, 1.1, 0.7], 'mlp_multipliers': [1.0, 1.0]}
FALCON_FACTORS = {'in': 0.9, 'out': 1.2, 'z': 0.5, 'x': 1.5, 'B': 0.8, 'C': 1.1, 'dt': 0.7}
LINEAR = {'linear_num_key_heads': 2, 'linear_num_value_heads': 4, 'linear_key_head_dim': 6, 'linear_value_head_dim': 10,
          'linear_conv_kernel_dim': 3}


def delta(types, packing, factor=1.0, epsilon=1e-5, **other):
    return GatedDelta(types, packing=packing, key_heads=2, heads=4, key_width=6, width=10, taps=3, epsilon=epsilon,
                      factor=factor, **other)


def hybrid_qwen(model_type, types, packing, keys=None, hidden=None, **traits):
    config = {**LINEAR, 'layer_types': types, 'num_hidden_layers': len(types), 'head_dim': 8, **(keys or {})}
    return dd.family(model_type, config, hidden, mixer=delta(types, packing), gated_queries=True, from_one=True,
                     head_norm='each', rotary=2, **traits)


MOE = {**dd.BIASED, 'each': 'feed_forward.experts', 'names': ('w1', 'w3', 'w2'), 'router': 'feed_forward.gate',
       'bias': 'feed_forward.expert_bias', 'factor': 1.7}
CASES = {
    'lfm2': lambda: lfm2('lfm2', ['conv', 'full_attention', 'conv'], {
        'block_ff_dim': 48, 'block_multiple_of': 10, 'block_ffn_dim_multiplier': 1.3}, {'intermediate_size': 50}),
    'lfm2-bias': lambda: lfm2('lfm2', ['conv', 'conv'], {'block_auto_adjust_ff_dim': False}, bias=True, taps=5),
    'lfm2_moe': lambda: lfm2('lfm2_moe', ['full_attention', 'conv', 'conv'], {
        'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11, 'num_dense_layers': 1,
        'routed_scaling_factor': 1.7}, dense=(0,), moe=MOE),
}
CASES |= {
    'mamba2': lambda: dd.family('mamba2', {**MAMBA2, 'time_step_limit': [0.0, 1.5]}, NO_HEADS,
                               mixer=state_space('MM', 'mixer', bound=1.5), only_parts='MM', **BACKBONE),
    'mamba': lambda: dd.family('mamba', MAMBA1, NO_HEADS, only_parts='MM', mixer=selective('MM'), **BACKBONE),
    'falcon_mamba': lambda: dd.family(
        'falcon_mamba', {**MAMBA1, 'time_step_rank': 3, 'mixer_rms_eps': 1e-5, 'tie_word_embeddings': True}, NO_HEADS,
        only_parts='MM', mixer=selective('MM', rank=3, norms='ones'), **BACKBONE),
    'jamba': lambda: dd.family(
        'jamba', {'mamba_d_state': 5, 'mamba_d_conv': 3, 'num_experts': 5, 'num_experts_per_tok': 2, 'attn_layer_period': 2,
                  'attn_layer_offset': 1}, mixer=selective('M*', name='mamba', norms='weights'), turned=lambda n: False,
        before=('input_layernorm', 'pre_ff_layernorm'), last='model.final_layernorm', dense=(0,),
        inner=[f'feed_forward.{part}_proj' for part in ('gate', 'up', 'down')],
        moe={**dd.MOE, 'each': 'feed_forward.experts', 'router': 'feed_forward.router', 'inner': 37, 'normalized': False}),
    'bamba': lambda: dd.family('bamba', {**MAMBA, 'attn_layer_indices': [1], 'num_attention_heads': 3, 'num_key_value_heads': 3},
                               mixer=state_space('M*'), rotary=4,
                               before=('input_layernorm', 'pre_ff_layernorm'), last='model.final_layernorm',
                               inner=[f'feed_forward.{part}_proj' for part in ('gate', 'up', 'down')]),
    'granitemoehybrid': lambda: dd.family(
        'granitemoehybrid', {**gd.GRANITE_EXPERTS, **MAMBA, 'shared_intermediate_size': 13, 'layer_types': ['mamba', 'attention']},
        mixer=state_space('M*'), turned=lambda n: False,
        moe={**gd.GRANITE_MOE, 'shared': ['shared_mlp.input_linear', 'shared_mlp.output_linear', 13]}, **gd.GRANITE_TRAITS),
    'granitemoehybrid-dense': lambda: dd.family(
        'granitemoehybrid', {**gd.GRANITE, **MAMBA, 'num_local_experts': 0, 'shared_intermediate_size': 37, 'layer_types':
                             ['mamba', 'mamba'], 'position_embedding_type': 'nope'}, mixer=state_space('MM'),
        fused=True, inner=('', 'shared_mlp.input_linear', 'shared_mlp.output_linear'), **gd.GRANITE_TRAITS),
    'nemotron_h': lambda: dd.family(
        'nemotron_h', {**NEMOTRON, 'hybrid_override_pattern': 'M-*', 'num_hidden_layers': 3}, dd.OTHER,
        mixer=state_space('M-*', 'mixer'), only_parts='M-*', turned=lambda n: False, activation='relu_squared',
        attention=[f'mixer.{part}_proj' for part in 'qkvo'], inner=('', 'mixer.up_proj', 'mixer.down_proj'), **BACKBONE),
    'falcon_h1': lambda: dd.family(
        'falcon_h1', {**MAMBA, **FALCON}, before=('input_layernorm', 'pre_ff_layernorm'), last='model.final_layernorm',
        inner=[f'feed_forward.{part}_proj' for part in ('gate', 'up', 'down')], factors=(3.0, 1.0, 0.25),
        scale=0.7 * 6**-0.5, mixer=state_space('MM', place='before', kind=BesideAttention, factors=FALCON_FACTORS,
                                              around=(1.3, 0.6))),
    'qwen3_next': lambda: hybrid_qwen(
        'qwen3_next', ['linear_attention', 'full_attention'], 'next', {
            'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11, 'shared_expert_intermediate_size': 13,
            'mlp_only_layers': [1]}, dense=(1,),
        moe={**dd.MOE, 'shared_gate': 'mlp.shared_expert_gate',
             'shared': [*(f'mlp.shared_expert.{p}_proj' for p in ('gate', 'up', 'down')), 13]}),
    'qwen3_5_text': lambda: hybrid_qwen('qwen3_5_text', ['linear_attention', 'full_attention'], 'order'),
    'olmo_hybrid': lambda: dd.family(
        'olmo_hybrid', {**LINEAR, 'layer_types': ['linear_attention', 'full_attention']}, head_norm='all',
        mixer=delta(['linear_attention', 'full_attention'], 'apart', 2.0, norm='o_norm', output='o_proj'),
        before=('attention_layer_norm', 'feedforward_layer_norm'),
        stateless=(('', ''), ('post_attention_layernorm', 'post_feedforward_layernorm'))),
}
COMPILED = ['lfm2', 'granitemoehybrid', 'falcon_h1', 'qwen3_next', 'olmo_hybrid']
