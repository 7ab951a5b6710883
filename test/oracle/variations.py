# SPDX-License-Identifier: Apache-2.0
"""One variation for each other value of each key that a configuration class declares."""
import itertools
import re

import tiny
from rope_variations import layer_rope_variations, rope_variations

# These keys set how models are trained, generate texts or return results.
WITHOUT_MATH = re.compile(
    r'.*drop.*|.*pdrop|init\w*|.*_init|.*initializer.*|use_cache|output_\w+|.*_coef|.*jitter.*|.*token_id|'
    r'.*_token_index|summary_\w+|classifier_\w+|pretraining_tp|num_(mtp|nextn)\w+|mtp_\w+|.*vocab_size|'
    r'time_step_\w+|use_mamba\w*|.*_config|langs|max_length|num_beams|length_penalty|early_stopping|'
    r'prompt_\w+|start_n_top|end_n_top|pooler_\w+|sparse_pred\w*|moe_token_dropout|problem_type')
ACTIVATION = re.compile(r'.*_act|.*activation(_function)?|afn|.*hidden_act|dense_act_fn')
# Activation functions that are near each other, and some that few files have.
ACTIVATIONS = ('gelu', 'gelu_pytorch_tanh', 'gelu_10', 'quick_gelu', 'relu', 'relu2', 'silu', 'tanh', 'mish', 'linear')
TEXTS = {
    'feed_forward_proj': ('relu', 'gelu', 'gelu_new', 'silu', 'gated-relu', 'gated-gelu', 'gated-silu',
                          'gated-gelu_new'),
    'position_embedding_type': ('absolute', 'relative_key', 'relative_key_query', 'rotary', 'rope', 'nope'),
    'topk_method': ('greedy', 'group_limited_greedy', 'noaux_tc'),
    'scoring_func': ('softmax', 'sigmoid', 'sqrtsoftplus'),
    'norm_type': ('rms_norm', 'layer_norm'),
    'attention_type': ('original_full', 'block_sparse'),
}
WINDOWS, FULL = 'sliding_attention', 'full_attention'
LISTS = {
    'layer_types': ([WINDOWS, FULL, WINDOWS, FULL], [FULL] * 4, [WINDOWS] * 4, [FULL, WINDOWS, WINDOWS, FULL]),
    'no_rope_layers': ([1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]),
    'mlp_only_layers': ([1], [0, 3]),
    'mlp_layer_types': (['dense', 'sparse', 'dense', 'sparse'], ['sparse'] * 4, ['dense'] * 4),
    'attention_layers': (['global', 'local', 'local', 'global'],),
    'num_attention_heads_per_layer': ([4, 2, 4, 2],),
}
# Keys that matter only beside others.
WINDOWED, GROUPED = {'use_sliding_window': True}, {'topk_method': 'group_limited_greedy'}
NEEDED = {'layer_types': WINDOWED, 'sliding_window': WINDOWED, 'max_window_layers': WINDOWED, 'n_group': GROUPED,
          'topk_group': GROUPED}
# Keys of old files or other types that the classes do not declare. A file may have them, and the library may pass over
# them.
OTHER_KEYS = {
    'tie_word_embeddings': (True, False), 'attention_bias': (True, False), 'mlp_bias': (True,),
    'qkv_bias': (True, False), 'use_bias': (True, False), 'bias': (True,), 'head_dim': (24,), 'hidden_act': ('gelu',),
    'hidden_activation': ('gelu', 'relu'), 'sliding_window': (5,), 'use_sliding_window': (True, False),
    'max_window_layers': (2,), 'sliding_window_pattern': (2, 3), 'layer_types': ([WINDOWS, FULL, WINDOWS, FULL],),
    'partial_rotary_factor': (0.5,), 'rotary_pct': (0.5,), 'rope_theta': (100.0,), 'rotary_emb_base': (100,),
    'rope_interleaved': (True,), 'rope_local_base_freq': (50.0,), 'global_rope_theta': (100.0,),
    'local_rope_theta': (50.0, None), 'final_logit_softcapping': (1.5,), 'attn_logit_softcapping': (1.0,),
    'logit_scale': (0.5,), 'logits_scaling': (3.0,), 'embedding_multiplier': (3.0,), 'attention_multiplier': (0.5,),
    'residual_multiplier': (0.3,), 'clip_qkv': (0.5,), 'scale_embedding': (True,), 'use_qk_norm': (True,),
    'qk_layernorm': (True,), 'use_parallel_residual': (True, False), 'use_bidirectional_attention': (True,),
    'is_causal': (False,), 'is_decoder': (True,), 'add_cross_attention': (True,),
    'position_embedding_type': ('relative_key', 'relative_key_query', 'rotary'), 'query_pre_attn_scalar': (7,),
    'norm_topk_prob': (True, False), 'rms_norm_eps': (0.5,), 'layer_norm_eps': (0.5,), 'layer_norm_epsilon': (0.5,),
    'norm_eps': (0.5,), 'norm_epsilon': (0.5,), 'alibi': (True,), 'multi_query': (True,), 'parallel_attn': (False,),
    'normalize_before': (True,), 'scale_attn_weights': (False,), 'n_inner': (80,), 'num_key_value_heads': (1,),
    'attention_chunk_size': (8,), 'use_rope': (False,), 'cross_layer_sharing': (True,), 'prefix_lm': (True,),
    'per_layer_config': ({'1': {'num_key_value_heads': 1}},), 'tie_encoder_decoder': (True,),
    'decoder_start_token_id': (5,), 'pad_token_id': (3, 7),
}


def numbers(name, default, value):
    """Other values of a numeric key."""
    if re.search(r'eps(ilon)?$|_eps_', name):
        return [0.5]
    if 'theta' in name or name.endswith('_base'):
        return [100.0]
    if isinstance(default, float):
        return [value * 0.5, value * 3] if value else [0.5]
    if re.search(r'(kv|key_value)_heads$', name):
        return [1, 2, tiny.HEADS]
    if re.search(r'head_dim|d_kv', name):
        return [value + 8]
    if 'window' in name or name == 'local_attention':
        return [value - 2, 1, 0]
    if 'heads' in name or 'head' in name:
        return [2]
    if re.search(r'layers?$|n_layer', name):
        return [value - 1] if value > 1 else [value + 1, 0]
    return [value + 8] if value >= 24 else [value + 1] + ([value - 1] if value > 0 else [])


def values(name, kind, default, value):
    """Other values of one key; `value` is the one that the tiny model has."""
    if isinstance(default, bool) or 'bool' in kind:
        yield not value
    elif name in TEXTS:
        yield from TEXTS[name]
    elif ACTIVATION.fullmatch(name) and (isinstance(default, str) or 'str' in kind):
        yield from ACTIVATIONS
    elif name in LISTS:
        yield from LISTS[name]
    elif isinstance(value, (int, float)):
        yield from numbers(name, default, value)
    elif 'float' in kind:
        yield 0.5
    elif 'int' in kind and 'list' not in kind and 'dict' not in kind:
        yield 24 if 'dim' in name or 'size' in name else 2
    if 'None' in kind and value is not None:
        yield None


def declared_keys(model_type):
    return {name: (kind, default) for name, kind, default in tiny.fields(model_type.config_class)}


def changes(name, raw, value, declared):
    """(value, config.json) with one key changed, alone and beside those that it needs."""
    if name in raw and raw[name] == value and type(raw[name]) is type(value):
        return
    yield value, {**raw, name: value}
    needed = {key: other for key, other in NEEDED.get(name, {}).items() if key in declared}
    if needed:
        yield f'{value}, {needed}', {**raw, name: value, **needed}


def variations(model_type, raw):
    """(key, value, config.json): every key that a class declares, and rotary positions."""
    declared = declared_keys(model_type)
    for name, (kind, default) in declared.items():
        if WITHOUT_MATH.fullmatch(name) or name == 'rope_parameters':
            continue
        for value in values(name, kind, default, raw.get(name, default)):
            for label, changed in changes(name, raw, value, declared):
                yield name, label, changed
    if declared.keys() & {'rope_parameters', 'rope_theta', 'rope_scaling'}:
        nested = layer_rope_variations() if 'layer_types' in declared else ()
        for name, label, keys in itertools.chain(rope_variations(raw), nested):
            yield name, label, {**raw, **keys}


def other_variations(model_type, raw):
    """The same of keys that the class does not declare, or with other values than above."""
    seen = {(name, repr(value)) for name, value, _ in variations(model_type, raw)}
    for name, choices in OTHER_KEYS.items():
        for value in choices:
            if (name, repr(value)) not in seen and raw.get(name, NEEDED) != value:
                yield name, value, {**raw, name: value}
