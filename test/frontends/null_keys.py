# SPDX-License-Identifier: Apache-2.0
"""Imports models whose configuration has null for flags that are false by default, and for numbers that follow from
others: talc must read them as if these keys were absent."""
import json
import os
import subprocess
import sys

SIZES = {'vocab_size': 10, 'hidden_size': 8, 'intermediate_size': 8, 'num_hidden_layers': 2, 'num_attention_heads': 2,
         'max_position_embeddings': 16}
GROUPED = {**SIZES, 'num_key_value_heads': 2}
EXPERTS = {**GROUPED, 'num_experts': 4, 'num_experts_per_tok': 2}
PLAIN = {'vocab_size': 10, 'hidden_size': 8, 'num_hidden_layers': 2, 'num_attention_heads': 2}
LATENT = {**SIZES, 'n_routed_experts': 4, 'num_experts_per_tok': 2, 'q_lora_rank': 4, 'kv_lora_rank': 4,
          'qk_nope_head_dim': 4, 'qk_rope_head_dim': 2, 'v_head_dim': 4, 'moe_intermediate_size': 8}
ANY = ('rope_scaling', 'layer_types', 'quantization_config', 'pad_token_id', 'architectures', 'auto_map',
       'prefix_lm', 'infini_attention', 'clip_qkv', 'final_logit_softcapping')

# model_type, configuration, keys that are null beside those of ANY
CASES = [
    ('llama', SIZES, 'attention_bias mlp_bias tie_word_embeddings num_key_value_heads head_dim'),
    ('mistral', GROUPED, 'attention_bias mlp_bias head_dim tie_word_embeddings'),
    ('qwen2', GROUPED, 'use_sliding_window use_mrope sliding_window max_window_layers'),
    ('qwen3', {**GROUPED, 'head_dim': 4}, 'attention_bias use_sliding_window sliding_window'),
    ('qwen2_moe', EXPERTS, 'norm_topk_prob use_sliding_window sliding_window max_window_layers mlp_only_layers'),
    ('gemma3_text', {**GROUPED, 'head_dim': 4}, 'attention_bias use_bidirectional_attention attn_logit_softcapping'),
    ('granite', SIZES, 'attention_bias mlp_bias tie_word_embeddings'),
    ('smollm3', GROUPED, 'no_rope_layers use_sliding_window sliding_window attention_bias mlp_bias'),
    ('olmo2', SIZES, 'attention_bias num_key_value_heads tie_word_embeddings'),
    ('cohere', SIZES, 'attention_bias use_qk_norm num_key_value_heads'),
    ('stablelm', {**GROUPED, 'partial_rotary_factor': 0.5},
     'use_qkv_bias qk_layernorm use_parallel_residual tie_word_embeddings'),
    ('phi', {**SIZES}, 'qk_layernorm num_key_value_heads tie_word_embeddings'),
    ('phi3', SIZES, 'sliding_window num_key_value_heads tie_word_embeddings'),
    ('gpt_oss', {**GROUPED, 'head_dim': 4, 'num_local_experts': 4, 'num_experts_per_tok': 2}, 'mlp_bias tie_word_embeddings'),
    ('deepseek_v2', LATENT, 'attention_bias mlp_bias norm_topk_prob n_group topk_group'),
    ('deepseek_v3', {**LATENT, 'n_group': 2, 'topk_group': 1}, 'attention_bias tie_word_embeddings'),
    ('falcon', PLAIN, 'alibi bias new_decoder_architecture num_kv_heads ffn_hidden_size'),
    ('bloom', PLAIN, 'apply_residual_connection_post_layernorm n_embed'),
    ('gpt2', {'vocab_size': 10, 'n_embd': 8, 'n_layer': 1, 'n_head': 2, 'n_positions': 16},
     'n_inner scale_attn_by_inverse_layer_idx add_cross_attention'),
    ('modernbert', SIZES, 'norm_bias attention_bias mlp_bias classifier_bias'),
    ('bert', SIZES, 'is_decoder add_cross_attention id2label'),
    ('t5', {'vocab_size': 10, 'd_model': 8, 'd_kv': 4, 'd_ff': 8, 'num_layers': 1, 'num_heads': 2},
     'num_decoder_layers'),
]


def imported(talc, folder, config):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'config.json'), 'w') as file:
        json.dump(config, file)
    command = [talc, 'compile', folder, '--stop-after=import', '--random-weights=1']
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else result.stderr


def main(talc, root):
    failures = 0
    for kind, sizes, keys in CASES:
        config = {'model_type': kind, **sizes}
        expected = imported(talc, os.path.join(root, kind), config)
        found = imported(talc, os.path.join(root, kind), {**dict.fromkeys([*ANY, *keys.split()]), **config})
        if not expected.startswith('module') and not expected.startswith('#') or found != expected:
            failures += 1
            print(f'{kind}: absent\n{expected[:300]}\nnull\n{found[:300]}')
    return failures > 0


sys.exit(main(*sys.argv[1:]))
