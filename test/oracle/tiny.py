# SPDX-License-Identifier: Apache-2.0
"""Tiny configurations: the keys of a configuration class that set sizes, by their names, with other values."""
import dataclasses
import re

VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT, WINDOW = 99, 64, 4, 4, 64, 8
# Names of keys -> their values. The first pattern that is a whole name decides.
SIZES = [
    (r'(src_|tgt_|decoder_|unpadded_)?vocab_size(_per_layer_input)?', VOCABULARY),
    (r'type_vocab_size|task_type_vocab_size', None),
    (r'hidden_size|d_model|n_embd|dim|emb_dim|embedding_dim|lru_width|attention_hidden_size', WIDTH),
    (r'word_embed_proj_dim', 32),
    (r'embedding_size|input_embedding_size|output_embedding_size|embedding_rank', 48),
    (r'num_key_value_heads|num_kv_heads|swa_num_key_value_heads', 2),
    (r'(\w+_)?attention_heads|n_heads?|num_heads|num_attention_heads|swa_num_attention_heads|index_n_heads', HEADS),
    (r'head_dim|d_kv|swa_head_dim|global_head_dim|attention_head_size|d_head|index_head_dim', WIDTH // HEADS),
    (r'rotary_dim', 8),
    (r'(num_)?(encoder_|decoder_)?(hidden_)?layers|n_layers?|num_blocks', LAYERS),
    (r'moe_intermediate_size|(moe_)?shared_expert_intermediate_size|expert_ffn_hidden_size', 40),
    (r'(\w+_)?intermediate_size|\w*ffn_dim|n_inner|d_ff|ffn_hidden_size|hidden_dim|d_inner|feed_forward_size', 96),
    (r'num_experts|n_routed_experts|num_local_experts|moe_num_experts', 8),
    (r'num_experts_per_tok|moe_topk|moe_k|num_experts_per_token|moe_top_k|top_k_experts', 2),
    (r'n_group', 4),
    (r'topk_group', 2),
    (r'kv_lora_rank', 32),
    (r'q_lora_rank', 40),
    (r'qk_rope_head_dim', 8),
    (r'qk_nope_head_dim', 16),
    (r'v_head_dim', 12),
    (r'first_k_dense_replace|num_dense_layers|max_window_layers', 1),
    (r'\w*sliding_window(_size)?|window_size|local_attention|attention_window_size|attention_chunk_size', WINDOW),
    (r'sliding_window_pattern|_sliding_window_pattern|no_rope_layer_interval|global_attn_every_n_layers|'
     r'attn_layer_period', 2),
    (r'(\w+_)?max_position_embeddings|n_positions|n_ctx|max_seq_len|context_length|max_\w+_positions|'
     r'max_sequence_length', CONTEXT),
    (r'depth|num_global_layers', 2),
    (r'embed_dim|out_hidden_size|output_channels|fc_dim|projection_dim', WIDTH),
    (r'mamba_d_state|state_size|ssm_state_size|mamba_d_head|mamba_head_dim', 16),
    (r'mamba_n_heads|mamba_num_heads', 8),
    (r'linear_key_head_dim|linear_value_head_dim|linear_head_dim', 16),
    (r'linear_num_key_heads|linear_num_heads', 2),
    (r'linear_num_value_heads', 4),
    (r'query_pre_attn_scalar', 24),
    (r'index_topk', 8),
]
TOKENS = [(r'bos_\w+|boi_\w+', 1), (r'eos_\w+|decoder_start_token_id|forced_eos_\w+', 2), (r'cls_\w+', 3),
          (r'sep_\w+', 4), (r'pad_\w+', 0), (r'\w+_token_id|\w+_token_index', 90)]
RECURRENT = ['linear_attention', 'linear_attention', 'full_attention', 'linear_attention']
# Types whose keys depend on each other in ways that names do not tell.
EXCEPTIONS = {
    'bamba': {'attn_layer_indices': [2]},
    'deepseek_v2': {'num_experts_per_tok': 2},
    'distilbert': {'n_heads': 4},
    'falcon': {'num_kv_heads': 2},
    'falcon_h1': {'mamba_d_ssm': 128, 'mamba_rms_norm': True, 'ssm_multipliers': [0.5, 1.5, 0.8, 1.1, 0.7]},
    'gpt_neo': {'attention_types': [[['global', 'local'], 2]]},
    'dots1': {'n_routed_experts': 8, 'num_experts_per_tok': 2, 'n_shared_experts': 1},
    'hunyuan_v1_dense': {'head_dim': 16},
    'hunyuan_v1_moe': {'head_dim': 16},
    'llama4_text': {'moe_layers': [1, 3], 'head_dim': 16, 'attention_chunk_size': 64, 'floor_scale': 16, 'intermediate_size_mlp': 80,
                    'num_experts_per_tok': 1},
    'ministral3': {'head_dim': 16, 'rope_parameters': {
        'rope_type': 'yarn', 'rope_theta': 1000.0, 'factor': 4.0, 'original_max_position_embeddings': 16,
        'llama_4_scaling_beta': 0.1, 'mscale': 1.0, 'mscale_all_dim': 1.0}},
    'nemotron': {'num_key_value_heads': 2},
    **{name: {'rope_parameters': {'rope_type': 'default', 'rope_theta': 1000.0, 'mrope_section': [2, 3, 3]}}
       for name in ('qwen2_vl_text', 'qwen2_5_vl_text', 'qwen3_vl_text')},
    **{name: {'rope_parameters': {'rope_type': 'default', 'rope_theta': 1000.0, 'mrope_section': [1, 1, 2],
                                  'partial_rotary_factor': 0.5}} for name in ('glm4v_text', 'glm4v_moe_text')},
    'granitemoehybrid': {'layer_types': RECURRENT},
    'lfm2': {'layer_types': ['conv', 'full_attention', 'conv', 'conv'], 'block_multiple_of': 16},
    'lfm2_moe': {'layer_types': ['conv', 'full_attention', 'conv', 'conv']},
    'mamba2': {'num_heads': 8},
    'minimax': {'block_size': 8},
    'ministral': {'head_dim': 16},
    'mt5': {'tie_word_embeddings': True},
    'nemotron_h': {'layer_types': ['linear_attention', 'mlp', 'full_attention', 'mlp'], 'num_hidden_layers': 4,
                   'time_step_min': 1e-12},  # the library applies it to prompts alone
    'jamba': {'attn_layer_offset': 1},
    'olmo_hybrid': {'layer_types': RECURRENT},
    'opt': {'word_embed_proj_dim': 64},
    'phi3': {'original_max_position_embeddings': 64},
    'qwen3_5_moe_text': {'layer_types': RECURRENT},
    'qwen3_5_text': {'layer_types': RECURRENT},
    'qwen3_next': {'layer_types': RECURRENT},
    't5': {'decoder_start_token_id': 0},
    'squeezebert': {'embedding_size': 64},
    'xmod': {'languages': ['en_XX', 'de_DE'], 'default_language': 'de_DE'},
    'luke': {'entity_vocab_size': 30, 'entity_emb_size': 32},
    'esm': {'vocab_size': VOCABULARY, 'mask_token_id': 90, 'pad_token_id': 1},
    'funnel': {'block_sizes': [2, 2], 'd_model': 64, 'n_head': 4, 'd_head': 16},
    'big_bird': {'attention_type': 'original_full'},
    'longformer': {'attention_window': 8},
    'mobilebert': {'embedding_size': 32, 'intra_bottleneck_size': 32, 'true_hidden_size': 32},
    'reformer': {'attn_layers': ['local', 'local'], 'axial_pos_embds': False, 'attention_head_size': 16},
    'dbrx': {'attn_config': {'kv_n_heads': 2, 'clip_qkv': 8, 'rope_theta': 10000.0},
             'ffn_config': {'ffn_hidden_size': 96, 'moe_num_experts': 4, 'moe_top_k': 2}},
    'longt5': {'num_layers': 2},
    'jetmoe': {'kv_channels': 16},
}


# Parts for texts of another type than the library's default.
PARTS = {('mistral3', 'text_config'): 'ministral3'}


def size(name, default):
    """The value of one key, or None to leave it alone."""
    if isinstance(default, bool) or not isinstance(default, int):
        return None
    for pattern, value in SIZES:
        if re.fullmatch(pattern, name):
            return value
    for pattern, value in TOKENS:
        if re.fullmatch(pattern, name):
            return value if default >= VOCABULARY else None
    return None


def fields(config_class):
    """(name, type, default) of the keys that a class declares for its models."""
    from transformers import PreTrainedConfig
    common = {field.name for field in dataclasses.fields(PreTrainedConfig)} - {'tie_word_embeddings'}
    for field in dataclasses.fields(config_class):
        if field.name not in common:
            default = field.default if field.default is not dataclasses.MISSING else (
                field.default_factory() if field.default_factory is not dataclasses.MISSING else None)
            yield field.name, str(field.type), default


def own_part(model_type, name):
    """The model type of a part of a composed model: that of its class, or the library's default."""
    part = getattr(model_type.config_class, 'sub_configs', {}).get(name)
    default = getattr(model_type.config_class, 'sub_configs_defaults', {}).get(name)
    return getattr(default, 'model_type', None) or getattr(part, 'model_type', None) or 'llama'


def tiny_parts(model_type):
    """Configurations of the parts for texts and for pictures."""
    result = {}
    for name in getattr(model_type.config_class, 'sub_configs', {}):
        if not name.endswith('_config') or name in ('attn_config', 'ffn_config'):
            continue
        own = PARTS.get((model_type.name, name)) or own_part(model_type, name)
        part = type(model_type)(own, model_type.task, '')
        result[name] = {key: value for key, value in tiny_config(part).items() if key != 'architectures'}
    return result


def tiny_config(model_type):
    """The keys of config.json, only those whose values are not the defaults of the class."""
    result = {'model_type': model_type.name, 'architectures': [model_type.architecture]}
    for name, _, default in fields(model_type.config_class):
        value = size(name, default)
        if value is not None:
            result[name] = value
    heads = {name: default for name, _, default in fields(model_type.config_class) if name.endswith('_heads')}
    if heads.get('num_key_value_heads') == heads.get('num_attention_heads', 0):  # latent attention, and Llama's kind
        result['num_key_value_heads'] = HEADS
    result.update(tiny_parts(model_type))
    result.update(EXCEPTIONS.get(model_type.name, {}))
    return result
