# SPDX-License-Identifier: Apache-2.0
"""Decoders that differ from Llama in a few properties; see described_model."""
import math

import decoder_layers as dl
import plain_math as pm
from described_model import ALL_HEADS, BIASED, LAYER, MOE, OTHER, PLAIN, SHARED, SIZES, family



def routes_by_logits(logits, bias, moe):
    """Kolibri: the bias is added to the router's results, whose sigmoids are the weights."""
    best = sorted(range(len(logits)), key=lambda e: -(logits[e] + bias[e]))[:moe['chosen']]
    return {e: pm.sigmoid(logits[e]) for e in best}


def best_sigmoid(logits, _, moe):
    best = max(range(len(logits)), key=lambda e: logits[e])
    return {best: pm.sigmoid(logits[best])}


def sparse_mixer(logits, _, moe):
    """Two experts in turn: the best one left, by its softmax among those near it."""
    left, result = dict(enumerate(logits)), {}
    for _ in range(2):
        best = max(left, key=lambda e: left[e])
        near = [z for z in left.values() if (left[best] - z) / max(abs(z), left[best]) <= 2 * JITTER]
        result[best] = 1 / sum(math.exp(z - left[best]) for z in near)
        del left[best]
    return result


JITTER = 0.2
GPT2 = {'place': 'transformer.h', 'table': 'transformer.wte', 'rows': 'transformer.wpe', 'last': 'transformer.ln_f',
        'before': ('ln_1', 'ln_2'), 'inner': ('', 'mlp.c_fc', 'mlp.c_proj'), 'activation': 'gelu_tanh',
        'turned': lambda n: False, **LAYER}
GRANITE = {'embedding_multiplier': 3.0, 'residual_multiplier': 0.22, 'attention_multiplier': 0.3, 'logits_scaling': 4.0}
GRANITE_EXPERTS = {**GRANITE, 'num_local_experts': 5, 'num_experts_per_tok': 2}
GRANITE_TRAITS = {'factors': (3.0, 0.22, 0.25), 'scale': 0.3}
GRANITE_MOE = {**MOE, 'inner': 37, 'router': 'block_sparse_moe.router.layer',
               'in_one': ('block_sparse_moe.input_linear.weight', 'block_sparse_moe.output_linear.weight')}
BEHIND = {'before': ('', ''), 'behind': ('post_attention_layernorm', 'post_feedforward_layernorm')}
CASES = {
    'glm': lambda: family('glm', {'head_dim': 8}, fused=True, inner=('', 'mlp.gate_up_proj', 'mlp.down_proj'),
                          biases=('in',), rotary=4, pairs='pairs'),
    'glm4': lambda: family('glm4', {'head_dim': 8, 'attention_bias': False, 'partial_rotary_factor': 0.25}, fused=True,
                           inner=('', 'mlp.gate_up_proj', 'mlp.down_proj'), rotary=2, pairs='pairs',
                           behind=('post_self_attn_layernorm', 'post_mlp_layernorm')),
    'glm4_moe': lambda: family(
        'glm4_moe', {'head_dim': 8, 'use_qk_norm': True, 'n_routed_experts': 5, 'num_experts_per_tok': 2,
                     'moe_intermediate_size': 11, 'routed_scaling_factor': 1.7, 'n_shared_experts': 2},
        head_norm='each', rotary=4, dense=(0,),
        moe={**BIASED, 'factor': 1.7, 'shared': [*SHARED, 22]}),
    'minimax_m2': lambda: family(
        'minimax_m2', {'head_dim': 8, 'rotary_dim': 4, 'num_local_experts': 5, 'num_experts_per_tok': 2,
                       'rope_theta': 500.0}, head_norm='all', rotary=4, theta=500.0,
        moe={**BIASED, 'each': 'block_sparse_moe.experts', 'names': ('w1', 'w3', 'w2'), 'inner': 37,
             'router': 'block_sparse_moe.gate', 'bias': 'block_sparse_moe.e_score_correction_bias'}),
    'olmoe': lambda: family('olmoe', {'num_experts': 5, 'num_experts_per_tok': 3, 'clip_qkv': 0.7}, head_norm='all',
                            clip=0.7, moe={**MOE, 'inner': 37, 'chosen': 3, 'normalized': False}),
    'olmo': lambda: family('olmo', {'clip_qkv': 0.7}, OTHER, form='layer', norm_scale=False, clip=0.7),
    'starcoder2': lambda: family('starcoder2', {'sliding_window': 5, 'norm_epsilon': 1e-5, 'tie_word_embeddings': True},
                                 OTHER, inner=('', 'mlp.c_fc', 'mlp.c_proj'), activation='gelu_tanh', window=lambda n: 5,
                                 biases=('in', 'out', 'inner'), **LAYER),
    'seed_oss': lambda: family('seed_oss', {'head_dim': 8, 'attention_out_bias': True}, biases=('in', 'out')),
    'ernie4_5': lambda: family('ernie4_5', {'head_dim': 8, 'use_bias': True}, biases=('in', 'out', 'inner'),
                               pairs='pairs', theta=500000.0),
    'exaone': lambda: family(
        'exaone', {'layer_norm_epsilon': 1e-5, 'num_layers': 2, 'rope_theta': 500.0}, place='transformer.h',
        table='transformer.wte', last='transformer.ln_f', before=('ln_1', 'ln_2'), theta=500.0,
        attention=[f'attn.attention.{part}_proj' for part in ('q', 'k', 'v', 'out')],
        inner=('mlp.c_fc_0', 'mlp.c_fc_1', 'mlp.c_proj')),
    'exaone4': lambda: family('exaone4', {'sliding_window': 5, 'sliding_window_pattern': 2, 'num_hidden_layers': 3},
                              head_norm='each', window=lambda n: 5 * (n != 1), turned=lambda n: n != 1, **BEHIND),
    'granitemoe': lambda: family('granitemoe', GRANITE_EXPERTS, moe=GRANITE_MOE, **GRANITE_TRAITS),
    'granitemoeshared': lambda: family(
        'granitemoeshared', {**GRANITE_EXPERTS, 'shared_intermediate_size': 13},
        moe={**GRANITE_MOE, 'shared': ['shared_mlp.input_linear', 'shared_mlp.output_linear', 13]}, **GRANITE_TRAITS),
    'arcee': lambda: family('arcee', {'mlp_bias': True}, biases=('inner',), **PLAIN),
    'cwm': lambda: family('cwm', {'head_dim': 8, 'sliding_window': 5, 'rope_theta': 500.0,
                                  'rope_parameters': {'rope_type': 'default', 'rope_theta': 500.0}}, theta=500.0,
                          window=lambda n: 5 * (n % 4 != 0)),
    'nemotron': lambda: family('nemotron', {'norm_eps': 1e-5, 'partial_rotary_factor': 0.34}, OTHER, from_one=True, rotary=2,
                               **LAYER, **PLAIN),
    'helium': lambda: family('helium', {'head_dim': 6, 'rope_theta': 500.0}, pairs='pairs', theta=500.0),
    'gpt_bigcode': lambda: family(
        'gpt_bigcode', {'n_embd': 24, 'n_head': 4, 'n_layer': 2, 'n_positions': 26, 'n_inner': 37,
                        'tie_word_embeddings': True}, {**OTHER, 'num_key_value_heads': 1, 'intermediate_size': 37}, packed='attn.c_attn',
        attention=['', '', '', 'attn.c_proj'], biases=('in', 'out', 'inner'), **GPT2),
    'gpt_neo': lambda: family(
        'gpt_neo', {'num_layers': 3, 'num_heads': 4, 'attention_types': [[['global', 'local'], 1], [['local'], 1]],
                    'window_size': 5, 'tie_word_embeddings': True}, {**ALL_HEADS, 'num_hidden_layers': 3},
        attention=[f'attn.attention.{part}_proj' for part in ('q', 'k', 'v', 'out')], biases=('out', 'inner'), scale=1.0,
        window=lambda n: 5 * (n > 0), **GPT2),
    'dots1': lambda: family(
        'dots1', {'n_routed_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11, 'sliding_window': 5,
                  'max_window_layers': 1, 'first_k_dense_replace': 1, 'norm_topk_prob': True, 'rms_norm_eps': 1e-5},
        head_norm='each', window=lambda n: 5 * (n > 0), dense=(0,), moe=BIASED),
    'exaone_moe': lambda: family(
        'exaone_moe', {'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11, 'sliding_window': 5,
                       'sliding_window_pattern': 2, 'mlp_layer_types': ['sparse', 'dense']}, head_norm='each', dense=(1,),
        window=lambda n: 5 * (n == 0), turned=lambda n: n == 0,
        moe={**BIASED, 'bias': 'mlp.e_score_correction_bias', 'factor': 2.5, 'shared': [*SHARED, 11]}),
    'solar_open': lambda: family(
        'solar_open', {'head_dim': 8, 'n_routed_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11},
        theta=1000000.0, moe={**BIASED, 'shared': [*SHARED, 11]}),
    'hy_v3': lambda: family(
        'hy_v3', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                  'router_scaling_factor': 1.7, 'rope_theta': 500.0}, head_norm='each', dense=(0,), theta=500.0,
        moe={**BIASED, 'router': 'mlp.router.gate', 'bias': 'mlp.expert_bias', 'factor': 1.7,
             'shared': [*(f'mlp.shared_mlp.{p}_proj' for p in ('gate', 'up', 'down')), 11]}),
    'flint': lambda: family(
        'flint', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                  'sliding_window': 5, 'shared_expert_intermediate_size': 13, 'mlp_only_layers': [1],
                  'num_hidden_layers': 4}, head_norm='each', dense=(1,), sinks='self_attn.softmax_offset',
        window=lambda n: 5 * (n == 2), turned=lambda n: n == 2,
        moe={**BIASED, 'bias': None, 'shared': [*(f'mlp.shared_expert.{p}_proj' for p in ('gate', 'up', 'down')), 13]}),
    'ernie4_5_moe': lambda: family(
        'ernie4_5_moe', {'moe_num_experts': 5, 'moe_k': 2, 'moe_intermediate_size': 11, 'moe_num_shared_experts': 2},
        pairs='pairs', theta=500000.0, dense=(0,),
        moe={**MOE, 'bias': 'mlp.moe_statics.e_score_correction_bias', 'bias_rows': (1,), 'shared': [*SHARED, 22]}),
    'flex_olmo': lambda: family('flex_olmo', {'num_experts': 5, 'num_experts_per_tok': 2}, head_norm='all',
                                theta=500000.0, moe={**MOE, 'inner': 37, 'normalized': False}, **BEHIND),
    'granite_swa': lambda: family(
        'granite_swa', {**GRANITE, 'sliding_window': 5, 'layer_rope_theta': [500.0, 0, 900.0], 'num_hidden_layers': 3},
        theta=[500.0, 0, 900.0], turned=lambda n: n != 1, window=lambda n: 5 * (n != 0), sinks='self_attn.sinks',
        **GRANITE_TRAITS),
    'hyperclovax': lambda: family(
        'hyperclovax', {'embedding_multiplier': 3.0, 'residual_multiplier': 0.22, 'logits_scaling': 0.25},
        behind=('post_norm1', 'post_norm2'), factors=(3.0, 0.22, 0.25)),
    'hunyuan_v1_dense': lambda: family(
        'hunyuan_v1_dense', {'rope_scaling': {'rope_type': 'dynamic', 'factor': 1.0, 'alpha': 7.0}}, head_norm='each',
        head_names=('self_attn.query_layernorm', 'self_attn.key_layernorm'), behind_rope=True, theta=10000.0 * 7.0**(6 / 4)),
    'vaultgemma': lambda: family(
        'vaultgemma', {'head_dim': 8, 'sliding_window': 5, 'query_pre_attn_scalar': 5.0, 'attn_logit_softcapping': 1.5,
                       'final_logit_softcapping': 3.0, 'tie_word_embeddings': True}, from_one=True,
        before=('input_layernorm', 'pre_feedforward_layernorm'), factors=(24**0.5, 1.0, 1.0), scale=5.0**-0.5,
        activation='gelu_tanh', window=lambda n: 5 * (n == 0), caps=(1.5, 3.0)),
    'internlm3': lambda: family('internlm3', {'head_dim': 8, 'qkv_bias': True, 'bias': True},
                                biases=('in', 'out', 'inner')),
    'iquestcoder': lambda: family('iquestcoder', {'head_dim': 8}),
    'jais2': lambda: family('jais2', {'layer_norm_eps': 1e-5}, OTHER, biases=('in', 'out', 'inner'), **LAYER, **PLAIN),
    'persimmon': lambda: family(
        'persimmon', {'layer_norm_eps': 1e-5, 'partial_rotary_factor': 0.34}, ALL_HEADS, rotary=2,
        packed='self_attn.query_key_value', packing='heads', attention=['', '', '', 'self_attn.dense'],
        biases=('in', 'out', 'inner'), head_norm='each', head_form='layer',
        head_names=('self_attn.q_layernorm', 'self_attn.k_layernorm'), last='model.final_layernorm', inner=('', 'mlp.dense_h_to_4h', 'mlp.dense_4h_to_h'), activation='relu_squared',
        **LAYER),
    'hunyuan_v1_moe': lambda: family(
        'hunyuan_v1_moe', {'num_experts': 5, 'moe_topk': 2}, head_norm='each', behind_rope=True,
        head_names=('self_attn.query_layernorm', 'self_attn.key_layernorm'),
        moe={**MOE, 'inner': 37, 'router': 'mlp.gate.wg',
             'shared': [*(f'mlp.shared_mlp.{p}_proj' for p in ('gate', 'up', 'down')), 37]}),
    'granitemoe_swa': lambda: family(
        'granitemoe_swa', {**GRANITE_EXPERTS, 'sliding_window': 5}, window=lambda n: 5 * (n != 0), sinks='self_attn.sinks',
        moe={**MOE, 'inner': 37, 'router': 'block_sparse_moe.router',
             'in_one': [f'block_sparse_moe.experts.{name}_proj' for name in ('gate_up', 'down')]}, **GRANITE_TRAITS),
    'mellum': lambda: family(
        'mellum', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                   'sliding_window': 5, 'layer_types': ['sliding_attention', 'full_attention'],
                   'rope_parameters': {'full_attention': {'rope_type': 'default', 'rope_theta': 500.0},
                                       'sliding_attention': {'rope_type': 'default', 'rope_theta': 90.0}}},
        head_norm='each', theta=[90.0, 500.0], window=lambda n: 5 * (n == 0), moe=MOE),
    'afmoe': lambda: family(
        'afmoe', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                  'num_shared_experts': 2, 'route_scale': 1.7, 'sliding_window': 5, 'global_attn_every_n_layers': 2,
                  'mup_enabled': True}, head_norm='each', gate='self_attn.gate_proj', factors=(24**0.5, 1.0, 1.0),
        before=('input_layernorm', 'pre_mlp_layernorm'), behind=('post_attention_layernorm', 'post_mlp_layernorm'),
        window=lambda n: 5 * (n == 0), turned=lambda n: n == 0, dense=(0,),
        moe={**BIASED, 'router': 'mlp.router.gate', 'bias': 'mlp.expert_bias', 'factor': 1.7, 'shared': [*SHARED, 22]}),
    'cohere2_moe': lambda: family(
        'cohere2_moe', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'num_shared_experts': 1,
                        'sliding_window': 5, 'sliding_window_pattern': 2, 'first_k_dense_replace': 1,
                        'prefix_dense_intermediate_size': 37, 'num_hidden_layers': 3, 'tie_word_embeddings': True,
                        'expert_selection_fn': 'sigmoid', 'norm_topk_prob': False, 'logit_scale': 0.25,
                        'layer_norm_eps': 1e-5, 'rms_norm_eps': None}, parallel=True, form='layer',
        before=('input_layernorm', ''), pairs='pairs', factors=(1.0, 1.0, 0.25), dense=(0,),
        window=lambda n: 5 * (n == 1), turned=lambda n: n < 2,
        moe={**MOE, 'inner': 37, 'scores': 'sigmoid', 'normalized': False, 'average': True, 'shared': [*SHARED, 37]}),
    'openai-gpt': lambda: family(
        'openai-gpt', {'n_embd': 24, 'n_head': 4, 'n_layer': 2, 'n_positions': 26, 'tie_word_embeddings': True},
        {**ALL_HEADS, 'intermediate_size': 96}, transposed=True, packed='attn.c_attn',
        attention=['', '', '', 'attn.c_proj'], biases=('in', 'out', 'inner'), **{
            **GPT2, 'table': 'transformer.tokens_embed', 'rows': 'transformer.positions_embed', 'last': '',
            'before': ('', ''), 'sums': ('ln_1', 'ln_2')}),
    'xglm': lambda: family(
        'xglm', {'d_model': 24, 'attention_heads': 4, 'num_layers': 2, 'ffn_dim': 37, 'tie_word_embeddings': True},
        {**ALL_HEADS, 'intermediate_size': 37, 'num_attention_heads': 4}, sinusoids=True, first=2, last='model.layer_norm',
        before=('self_attn_layer_norm', 'final_layer_norm'), turned=lambda n: False, factors=(24**0.5, 1.0, 1.0),
        attention=[f'self_attn.{part}_proj' for part in ('q', 'k', 'v', 'out')], inner=('', 'fc1', 'fc2'),
        activation='gelu', biases=('in', 'out', 'inner'), **LAYER),
    'biogpt': lambda: family(
        'biogpt', {'tie_word_embeddings': True}, ALL_HEADS, place='biogpt.layers',
        table='biogpt.embed_tokens', rows='biogpt.embed_positions', first=2, last='biogpt.layer_norm',
        before=('self_attn_layer_norm', 'final_layer_norm'), turned=lambda n: False, factors=(24**0.5, 1.0, 1.0),
        attention=[f'self_attn.{part}_proj' for part in ('q', 'k', 'v', 'out')], inner=('', 'fc1', 'fc2'),
        activation='gelu', biases=('in', 'out', 'inner'), **LAYER),
    'aria_text': lambda: family(
        'aria_text', {'moe_num_experts': 5, 'moe_topk': 2},
        moe={**MOE, 'inner': 37, 'router': 'mlp.router', 'form': 'columns', 'shared': [*SHARED, 74],
             'in_one': ('mlp.experts.fc1.weight', 'mlp.experts.fc2.weight')}),
    'sarvam_moe': lambda: family(
        'sarvam_moe', {'head_dim': 8, 'n_routed_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                       'routed_scaling_factor': 1.7, 'rope_theta': 500.0}, table='model.word_embeddings',
        packed='attention.query_key_value', attention=['', '', '', 'attention.dense'], head_norm='each',
        head_names=('attention.query_layernorm', 'attention.key_layernorm'), dense=(0,), theta=500.0,
        moe={**BIASED, 'bias': 'mlp.gate.expert_bias', 'factor': 1.7, 'shared': [*SHARED, 11]}),
    'bitnet': lambda: family('bitnet', {'rope_theta': 500.0}, theta=500.0, activation='relu_squared',
                             output_norm='self_attn.attn_sub_norm', inner_norm='mlp.ffn_sub_norm'),
    'nanochat': lambda: family(
        'nanochat', {'final_logit_softcapping': 3.0}, norm_scale=False, table_norm='model.norm', head_norm='each',
        head_scale=False, behind_rope=True, backwards=True, inner=('', 'mlp.fc1', 'mlp.fc2'),
        activation='relu_squared', caps=(0.0, 3.0)),
    'gpt_neox_japanese': lambda: family(
        'gpt_neox_japanese', {'layer_norm_eps': 1e-5, 'intermediate_multiple_size': 2, 'rotary_pct': 0.34,
                              'rotary_emb_base': 500}, {**ALL_HEADS, 'intermediate_size': 48},
        place='gpt_neox_japanese.layers', table='gpt_neox_japanese.embed_in', last='gpt_neox_japanese.final_layer_norm',
        head='embed_out', packed='attention.query_key_value', packing='heads', attention=['', '', '', 'attention.dense'],
        last_bias='attention.dense_bias', inner=('', 'mlp.dense_h_to_4h', 'mlp.dense_4h_to_h'), activation='gelu',
        rotary=2, theta=500.0, **LAYER),
    'dbrx': lambda: family(
        'dbrx', {'d_model': 24, 'n_heads': 4, 'n_layers': 2, 'max_seq_len': 26,
                 'attn_config': {'kv_n_heads': 2, 'clip_qkv': 0.7, 'rope_theta': 500.0},
                 'ffn_config': {'ffn_hidden_size': 11, 'moe_num_experts': 5, 'moe_top_k': 2}},
        {key: value for key, value in SIZES.items() if key != 'vocab_size'}, place='transformer.blocks',
        table='transformer.wte', last='transformer.norm_f', before=('norm_attn_norm.norm_1', 'norm_attn_norm.norm_2'),
        form='layer', packed='norm_attn_norm.attn.Wqkv', attention=['', '', '', 'norm_attn_norm.attn.out_proj'],
        clip=0.7, theta=500.0,
        moe={**MOE, 'router': 'ffn.router.layer', 'form': 'stacked',
             'in_one': [f'ffn.experts.mlp.{name}' for name in ('w1', 'v1', 'w2')]}),
    'kolibri1': lambda: family(
        'kolibri1', {'head_dim': 8, 'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                     'shared_expert_intermediate_size': 13, 'sliding_window': 5,
                     'layer_types': ['sliding_attention', 'full_attention']}, {'intermediate_size': 37},
        head_norm='each', window=lambda n: 5 * (n == 0), turned=lambda n: n == 0,
        behind=('post_attn_norm', 'post_ffn_norm'),
        moe={**MOE, 'bias': 'moe.router.expert_bias', 'routes': routes_by_logits, 'shared': [*SHARED, 13]}),
    'llama4_text': lambda: family(
        'llama4_text', {'head_dim': 8, 'num_local_experts': 5, 'intermediate_size_mlp': 37, 'moe_layers': [1],
                        'no_rope_layers': [1, 0], 'attention_chunk_size': 32, 'floor_scale': 8, 'attn_scale': 0.5,
                        'rope_theta': 500.0}, pairs='pairs', theta=500.0, head_norm='each', head_scale=False,
        behind_rope=True, head_needs_rope=True, growth=(0.5, 8, 1, True), turned=lambda n: n == 0,
        inner=[f'feed_forward.{part}_proj' for part in ('gate', 'up', 'down')], dense=(0,),
        moe={**MOE, 'inner': 37, 'routes': best_sigmoid, 'scales_input': True, 'router': 'feed_forward.router',
             'in_one': [f'feed_forward.experts.{name}_proj' for name in ('gate_up', 'down')], 'form': 'columns',
             'shared': [*(f'feed_forward.shared_expert.{part}_proj' for part in ('gate', 'up', 'down')), 37]}),
    'ministral3': lambda: family(
        'ministral3', {'head_dim': 8, 'rope_parameters': {
            'rope_type': 'yarn', 'rope_theta': 500.0, 'factor': 4.0, 'original_max_position_embeddings': 8,
            'llama_4_scaling_beta': 0.5, 'mscale': 1.0, 'mscale_all_dim': 1.0}},
        frequencies=dl.yarn(500.0, 8, 4.0, 8)[0], growth=(0.5, 8, 0, False)),
    'phimoe': lambda: family(
        'phimoe', {'num_local_experts': 5, 'router_jitter_noise': JITTER, 'attention_bias': True, 'lm_head_bias': True},
        biases=('in', 'out', 'head'), theta=1000000.0,
        moe={**MOE, 'each': 'block_sparse_moe.experts', 'names': ('w1', 'w3', 'w2'), 'inner': 37,
             'router': 'block_sparse_moe.gate', 'routes': sparse_mixer}, **LAYER),
    'modernbert-decoder': lambda: family(
        'modernbert-decoder', {'norm_eps': 1e-5, 'local_attention': 10, 'global_rope_theta': 500.0,
                               'local_rope_theta': 90.0, 'layer_types': ['full_attention', 'sliding_attention']},
        ALL_HEADS, table='model.embeddings.tok_embeddings', table_norm='model.embeddings.norm', first_normed=False,
        before=('attn_norm', 'mlp_norm'), attention=['attn.q_proj', 'attn.k_proj', 'attn.v_proj', 'attn.Wo'],
        fused=True, inner=('', 'mlp.Wi', 'mlp.Wo'), activation='gelu', last='model.final_norm', head='decoder',
        biases=('head',), transform=('lm_head.dense', 'lm_head.norm', 'gelu'), form='layer', theta=[500.0, 90.0],
        window=lambda n: 5 * (n == 1)),
}
# Compiling takes most of the time.
COMPILED = {'glm4_moe', 'olmoe', 'nemotron', 'gpt_neo'}
