# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of MoE decoders with windows, sinks and latent attention; see decoder_models."""
import moe_decoders as md
from decoder_models import LLAMA, PRE, case, llama_tensors


def gpt_oss(dtype):
    config = {**LLAMA, 'model_type': 'gpt_oss', 'head_dim': 8, 'num_attention_heads': 6, 'intermediate_size': 13,
              'num_local_experts': 5, 'num_experts_per_tok': 2, 'sliding_window': 6, 'rope_theta': 150.0,
              'rope_scaling': {'rope_type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 16,
                               'truncate': False}}

    def fill(c, config):
        llama_tensors(c, config, PRE, bias=True, tied=False, dense=range(2))
        for n in range(2):
            at = f'model.layers.{n}.'
            c.add(at + 'self_attn.o_proj.bias', 24)
            c.add(at + 'self_attn.sinks', 6, deviation=1.0)
            c.linear(at + 'mlp.router', 5, 24)
            for name, inputs, outputs in (('gate_up_proj', 24, 26), ('down_proj', 13, 24)):
                c.add(f'{at}mlp.experts.{name}', 5, inputs, outputs)
                c.add(f'{at}mlp.experts.{name}_bias', 5, outputs, deviation=4.0)  # many gates are clamped
    return case(md.gpt_oss, fill, config, dtype)


def deepseek(kind, dtype='F32', heads=3, **changes):
    config = {**LLAMA, 'model_type': kind, 'num_attention_heads': heads, 'num_key_value_heads': heads, 'rope_theta': 500.0,
              'q_lora_rank': 14, 'kv_lora_rank': 18, 'qk_nope_head_dim': 7, 'qk_rope_head_dim': 6, 'v_head_dim': 9,
              'n_routed_experts': 6, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11, 'n_shared_experts': 2,
              'first_k_dense_replace': 1, 'routed_scaling_factor': 1.7, **changes}

    def fill(c, config):
        c.add('model.embed_tokens.weight', 61, 24, deviation=1.0)
        for n in range(2):
            at = f'model.layers.{n}.'
            place = at + 'self_attn.'
            if config['q_lora_rank']:
                c.linear(place + 'q_a_proj', 14, 24, False)
                c.norm(place + 'q_a_layernorm', 14, False)
                c.linear(place + 'q_b_proj', heads * 13, 14, False)
            else:
                c.linear(place + 'q_proj', heads * 13, 24, False)
            c.linear(place + 'kv_a_proj_with_mqa', 24, 24, False)
            c.norm(place + 'kv_a_layernorm', 18, False)
            c.linear(place + 'kv_b_proj', heads * 16, 18, False)
            c.linear(place + 'o_proj', 24, heads * 9, False)
            for norm in PRE:
                c.norm(at + norm, 24, False)
            isDense = n < config['first_k_dense_replace']
            layers = [('mlp', 37)] if isDense else [('mlp.shared_experts', 22)]
            if not isDense:
                c.linear(at + 'mlp.gate', 6, 24, False)
                if kind != 'deepseek_v2':
                    c.add(at + 'mlp.gate.e_score_correction_bias', 6, deviation=0.5)
                layers += [(f'mlp.experts.{e}', 11) for e in range(6)]
            for name, inner in layers:
                for part, shape in (('gate', (inner, 24)), ('up', (inner, 24)), ('down', (24, inner))):
                    c.linear(f'{at}{name}.{part}_proj', *shape, False)
        c.norm('model.norm', 24, False)
        c.linear('lm_head', 61, 24, False)
    c, _, evaluate, names = case(md.deepseek, fill, config, dtype)
    if kind in ('youtu', 'minicpm3'):  # no keys of experts
        config = {key: value for key, value in config.items() if 'expert' not in key and key not in (
            'moe_intermediate_size', 'first_k_dense_replace', 'routed_scaling_factor')}
    return c, config, evaluate, names


YARN = {'rope_type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 8, 'mscale': 0.7, 'mscale_all_dim': 0.7}
CASES = {
    'gpt_oss': lambda: gpt_oss('F16'),
    'deepseek_v2': lambda: deepseek('deepseek_v2', q_lora_rank=None, topk_method='greedy'),
    'deepseek_v2-one-head': lambda: deepseek('deepseek_v2', heads=1),
    'deepseek_v2-groups': lambda: deepseek('deepseek_v2', topk_method='group_limited_greedy', n_group=3, topk_group=2,
                                           rope_scaling=YARN),
    'deepseek_v3': lambda: deepseek('deepseek_v3', 'F16', n_group=3, topk_group=2, norm_topk_prob=True),
    'glm4_moe_lite': lambda: deepseek('glm4_moe_lite', mlp_layer_types=['dense', 'sparse'], rms_norm_eps=1e-5,
                                      norm_topk_prob=True),
    'sarvam_mla': lambda: deepseek('sarvam_mla', q_lora_rank=None, norm_topk_prob=True),
    'youtu': lambda: deepseek('youtu', first_k_dense_replace=2, tie_word_embeddings=False),
    'minicpm3': lambda: deepseek('minicpm3', first_k_dense_replace=2, tie_word_embeddings=False, scale_emb=3.0,
                                 scale_depth=0.7, dim_model_base=8, rms_norm_eps=1e-5),
    'deepseek_v3-halves': lambda: deepseek('deepseek_v3', n_group=1, topk_group=1, norm_topk_prob=False,
                                           rope_interleave=False),
}
COMPILED = {'gpt_oss', 'deepseek_v2-groups', 'deepseek_v3'}
