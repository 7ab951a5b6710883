# SPDX-License-Identifier: Apache-2.0
"""check_gguf_families.py BIN WRITER [NAME...]: random decoders of every architecture of GGUF, named, ordered and changed as
llama.cpp's converter does, in the float64 interpreter against the same models on lists of Python numbers.

All of CASES, or some. WRITER is the folder of gguf_writer.py.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

PROGRAMS, WRITER, *ONLY = sys.argv[1:]
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.append(WRITER)
import decoder_models as models
import described_decoders as described
import family_models
import moe_models
import gguf_writer as gguf
from random_checkpoint import flatten, read_tensors

TOLERANCE = 1e-6  # both are float64; results are rounded to f32
NAMES = {'model.embed_tokens': 'token_embd', 'model.norm': 'output_norm', 'lm_head': 'output',
         'model.final_layernorm': 'output_norm', 'input_layernorm': 'attn_norm', 'self_attn.q_proj': 'attn_q',
         'self_attn.k_proj': 'attn_k', 'self_attn.v_proj': 'attn_v', 'self_attn.o_proj': 'attn_output',
         'self_attn.dense': 'attn_output', 'self_attn.qkv_proj': 'attn_qkv', 'self_attn.q_norm': 'attn_q_norm',
         'self_attn.k_norm': 'attn_k_norm', 'post_attention_layernorm': 'ffn_norm', 'mlp.gate_proj': 'ffn_gate',
         'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down', 'mlp.fc1': 'ffn_up', 'mlp.fc2': 'ffn_down',
         'mlp.gate_up_proj': 'ffn_up', 'mlp.gate': 'ffn_gate_inp', 'mlp.router': 'ffn_gate_inp',
         'block_sparse_moe.gate': 'ffn_gate_inp',
         'mlp.shared_expert_gate': 'ffn_gate_inp_shexp', 'mlp.shared_expert.gate_proj': 'ffn_gate_shexp',
         'mlp.shared_expert.up_proj': 'ffn_up_shexp', 'mlp.shared_expert.down_proj': 'ffn_down_shexp',
         'gpt_neox.embed_in': 'token_embd', 'gpt_neox.final_layer_norm': 'output_norm', 'embed_out': 'output',
         'attention.query_key_value': 'attn_qkv', 'attention.dense': 'attn_output', 'mlp.dense_h_to_4h': 'ffn_up',
         'mlp.dense_4h_to_h': 'ffn_down', 'self_attention.query_key_value': 'attn_qkv', 'self_attention.dense': 'attn_output',
         'transformer.word_embeddings': 'token_embd', 'transformer.word_embeddings_layernorm': 'token_embd_norm',
         'transformer.ln_f': 'output_norm', 'ln_attn': 'attn_norm_2', 'ln_mlp': 'attn_norm', 'transformer.wte': 'token_embd',
         'transformer.norm_f': 'output_norm', 'norm_1': 'attn_norm', 'norm_2': 'ffn_norm', 'attn.Wqkv': 'attn_qkv',
         'attn.out_proj': 'attn_output', 'ffn.up_proj': 'ffn_up', 'ffn.down_proj': 'ffn_down',
         'model.embeddings.tok_embeddings': 'token_embd', 'model.embeddings.norm': 'token_embd_norm', 'attn.Wo': 'attn_output',
         'model.final_norm': 'output_norm', 'attn_norm': 'attn_norm', 'mlp_norm': 'ffn_norm', 'mlp.Wi': 'ffn_up',
         'mlp.Wo': 'ffn_down', 'bert.embeddings.word_embeddings': 'token_embd',
         'bert.embeddings.position_embeddings': 'position_embd', 'bert.embeddings.token_type_embeddings': 'token_types',
         'bert.embeddings.LayerNorm': 'token_embd_norm', 'attention.self.query': 'attn_q', 'attention.self.key': 'attn_k',
         'attention.self.value': 'attn_v', 'attention.output.dense': 'attn_output',
         'attention.output.LayerNorm': 'attn_output_norm', 'intermediate.dense': 'ffn_up', 'output.dense': 'ffn_down',
         'output.LayerNorm': 'layer_output_norm', 'bert.pooler.dense': 'cls', 'classifier': 'cls.output'}
LATENT = {'self_attn.q_a_proj': 'attn_q_a', 'self_attn.q_a_layernorm': 'attn_q_a_norm', 'self_attn.q_b_proj': 'attn_q_b',
          'self_attn.kv_a_proj_with_mqa': 'attn_kv_a_mqa', 'self_attn.kv_a_layernorm': 'attn_kv_a_norm',
          'self_attn.kv_b_proj': 'attn_kv_b', 'mlp.shared_experts.gate_proj': 'ffn_gate_shexp',
          'mlp.shared_experts.up_proj': 'ffn_up_shexp', 'mlp.shared_experts.down_proj': 'ffn_down_shexp'}
NAMES.update(LATENT)
# These are names of decoders that came later.
NAMES.update({
    'post_self_attn_layernorm': 'post_attention_norm', 'post_mlp_layernorm': 'post_ffw_norm', 'pre_mlp_layernorm': 'ffn_norm',
    'mlp.c_fc': 'ffn_up', 'mlp.c_proj': 'ffn_down', 'transformer.wpe': 'position_embd', 'ln_1': 'attn_norm',
    'ln_2': 'ffn_norm', 'attn.c_attn': 'attn_qkv', 'attn.c_proj': 'attn_output', 'attn.attention.q_proj': 'attn_q',
    'attn.attention.k_proj': 'attn_k', 'attn.attention.v_proj': 'attn_v', 'attn.attention.out_proj': 'attn_output',
    'mlp.c_fc_0': 'ffn_gate', 'mlp.c_fc_1': 'ffn_up', 'self_attn.query_layernorm': 'attn_q_norm',
    'self_attn.key_layernorm': 'attn_k_norm', 'mlp.gate.wg': 'ffn_gate_inp', 'mlp.router.gate': 'ffn_gate_inp',
    'mlp.shared_mlp.gate_proj': 'ffn_gate_shexp', 'mlp.shared_mlp.up_proj': 'ffn_up_shexp',
    'mlp.shared_mlp.down_proj': 'ffn_down_shexp', 'block_sparse_moe.router.layer': 'ffn_gate_inp',
    'block_sparse_moe.output_linear': 'ffn_down_exps', 'self_attn.gate_proj': 'attn_gate'})
EXPERTS = {'gate_proj': 'ffn_gate_exps', 'up_proj': 'ffn_up_exps', 'down_proj': 'ffn_down_exps', 'w1': 'ffn_gate_exps',
           'w3': 'ffn_up_exps', 'w2': 'ffn_down_exps'}
AROUND = {'post_attention_layernorm': 'post_attention_norm', 'pre_feedforward_layernorm': 'ffn_norm',
          'post_feedforward_layernorm': 'post_ffw_norm'}
# gpt-oss has the experts' gates and inputs in turn, inputs by outputs; GGUF has them apart, outputs by inputs.
IN_TURN = {'gate_up_proj': (('ffn_gate_exps', 0, 2), ('ffn_up_exps', 1, 2)), 'down_proj': (('ffn_down_exps', 0, 1),)}
U32, F32, BOOL = gguf.U32, gguf.F32, gguf.BOOL
# Keys of config.json and of the metadata.
KEYS = {'max_position_embeddings': ('context_length', U32), 'hidden_size': ('embedding_length', U32),
        'num_hidden_layers': ('block_count', U32), 'intermediate_size': ('feed_forward_length', U32),
        'num_attention_heads': ('attention.head_count', U32), 'num_key_value_heads': ('attention.head_count_kv', U32),
        'rms_norm_eps': ('attention.layer_norm_rms_epsilon', F32), 'layer_norm_eps': ('attention.layer_norm_epsilon', F32),
        'head_dim': ('attention.key_length', U32), 'rope_theta': ('rope.freq_base', F32),
        'sliding_window': ('attention.sliding_window', U32), 'logit_scale': ('logit_scale', F32),
        'logits_scaling': ('logit_scale', F32), 'attention_multiplier': ('attention.scale', F32),
        'embedding_multiplier': ('embedding_scale', F32), 'residual_multiplier': ('residual_scale', F32),
        'attn_logit_softcapping': ('attn_logit_softcapping', F32),
        'final_logit_softcapping': ('final_logit_softcapping', F32), 'use_parallel_residual': ('use_parallel_residual', BOOL),
        'num_experts': ('expert_count', U32), 'num_local_experts': ('expert_count', U32),
        'num_experts_per_tok': ('expert_used_count', U32), 'moe_intermediate_size': ('expert_feed_forward_length', U32),
        'shared_expert_intermediate_size': ('expert_shared_feed_forward_length', U32),
        'norm_eps': ('attention.layer_norm_epsilon', F32), 'norm_epsilon': ('attention.layer_norm_epsilon', F32),
        'n_routed_experts': ('expert_count', U32), 'moe_num_experts': ('expert_count', U32),
        'moe_topk': ('expert_used_count', U32), 'moe_k': ('expert_used_count', U32), 'clip_qkv': ('attention.clamp_kqv', F32),
        'n_shared_experts': ('expert_shared_count', U32), 'num_shared_experts': ('expert_shared_count', U32),
        'moe_num_shared_experts': ('expert_shared_count', U32), 'routed_scaling_factor': ('expert_weights_scale', F32),
        'route_scale': ('expert_weights_scale', F32), 'layer_norm_epsilon': ('attention.layer_norm_rms_epsilon', F32)}
# For each architecture: its queries and keys, its norms and their names.
FUSED = {'gptneox': lambda config: config['num_attention_heads'], 'bloom': lambda config: config['n_head'],
         'falcon': lambda config: config['num_kv_heads'] if config['new_decoder_architecture'] else 1}
PAIRED = ('llama', 'granite', 'smollm3', 'arcee', 'granitemoe', 'mistral3', 'olmo')
PLUS_ONE = ('gemma', 'gemma2', 'gemma3', 'nemotron')
NORMS_AROUND = ('gemma2', 'gemma3', 'olmo2', 'gpt-oss', 'exaone4', 'seed_oss', 'glm4moe', 'afmoe')


def paired(rows, heads):
    half = len(rows) // heads // 2
    return [rows[h * 2 * half + side * half + i] for h in range(heads) for i in range(half) for side in (0, 1)]


def in_order(rows, groups, width):
    """All queries, all keys, all values: rows have them group by group."""
    size = len(rows) // groups
    parts = [rows[g * size:(g + 1) * size] for g in range(groups)]
    cuts = (slice(0, size - 2 * width), slice(size - 2 * width, size - width), slice(size - width, size))
    return [row for cut in cuts for part in parts for row in part[cut]]


def tensor(values, shape):
    flat = flatten(values)
    return shape, gguf.ELEMENTS['F32'], struct.pack(f'<{len(flat)}f', *flat)


def without_end(name, values):
    """Tensors that are called neither weight nor bias: the bias by which DeepSeek chooses experts, gpt-oss's sinks, and all
    experts of a layer in one.
    """
    _, _, number, *_, kind = name.split('.')
    if kind in ('e_score_correction_bias', 'expert_bias'):
        values = flatten(values)
        return {f'blk.{number}.exp_probs_b.bias': tensor(values, [len(values)])}
    if kind == 'sinks':
        return {f'blk.{number}.attn_sinks.weight': tensor(values, [len(values)])}
    matrix, bias, _ = kind.partition('_bias')
    outputs, result = values if bias else [list(map(list, zip(*one))) for one in values], {}
    for file, first, step in IN_TURN[matrix]:
        parts = [one[first::step] for one in outputs]
        shape = [len(parts), len(parts[0])] + ([] if bias else [len(parts[0][0])])
        result[f'blk.{number}.{file}.{"bias" if bias else "weight"}'] = tensor(parts, shape)
    return result


def by_head(matrix, config):
    """The transposed keys and the values of every head, as newer files have them."""
    plain, width = config['qk_nope_head_dim'], config['v_head_dim']
    heads = [matrix[first:first + plain + width] for first in range(0, len(matrix), plain + width)]
    keys, values = [list(map(list, zip(*head[:plain]))) for head in heads], [head[plain:] for head in heads]
    return {name: tensor(parts, [len(parts), len(parts[0]), len(parts[0][0])])
            for name, parts in (('attn_k_b', keys), ('attn_v_b', values))}


def convert(checkpoint, config, architecture):
    tensors, experts = {}, {}
    for name, shape in checkpoint.shapes.items():
        if not name.endswith(('.weight', '.bias')):
            tensors.update(without_end(name, checkpoint[name]))
            continue
        stem, end = name.rsplit('.', 1)
        if stem.startswith(('head.', 'decoder')):  # of what predicts masked words
            continue
        parts, values = stem.split('.'), checkpoint[name]
        number = next((i for i, part in enumerate(parts) if part.isdigit()), None)
        inner, layer = ('.'.join(parts[number + 1:]), f'blk.{parts[number]}.') if number else (stem, '')
        if '.experts.' in inner:
            experts.setdefault(f'{layer}{EXPERTS[parts[-1]]}.{end}', []).append(values)
            continue
        if inner == 'block_sparse_moe.input_linear':  # gates and inputs in one
            half = len(values[0]) // 2
            for kind, part in (('gate', [one[:half] for one in values]), ('up', [one[half:] for one in values])):
                tensors[f'{layer}ffn_{kind}_exps.weight'] = tensor(part, [len(part), half, len(part[0][0])])
            continue
        if inner == 'self_attn.kv_b_proj' and config.get('separate'):  # of DeepSeek
            tensors.update({f'{layer}{part}.weight': made for part, made in by_head(values, config).items()})
            continue
        if architecture in PAIRED and inner in ('self_attn.q_proj', 'self_attn.k_proj'):
            values = paired(values, config['num_attention_heads' if 'q_proj' in inner else 'num_key_value_heads'])
        if architecture in FUSED and NAMES.get(inner) == 'attn_qkv':
            heads = config.get('num_attention_heads') or config['n_head']
            values = in_order(values, FUSED[architecture](config), config['hidden_size'] // heads)
        if architecture in PLUS_ONE and 'norm' in inner and end == 'weight':
            values = [1 + x for x in values]
        if inner == 'mlp.shared_expert_gate':
            shape = shape[1:]
        known = AROUND.get(inner) if architecture in NORMS_AROUND else None
        tensors[f'{layer}{known or NAMES[inner]}.{end}'] = tensor(values, shape)
    for name, values in experts.items():
        tensors[name] = tensor(values, [len(values), len(values[0]), len(values[0][0])])
    return tensors


def metadata(config, architecture):
    result = {'general.architecture': (gguf.STRING, architecture)}
    for key, (name, kind) in KEYS.items():
        if config.get(key) is not None:
            result[f'{architecture}.{name}'] = kind, config[key]
    if architecture in PLAIN:
        return {**result, **{f'{architecture}.{key}': value for key, value in PLAIN[architecture](config).items()}}
    width = config.get('head_dim') or config['hidden_size'] // config['num_attention_heads']
    result[f'{architecture}.rope.dimension_count'] = U32, int(width * config.get('partial_rotary_factor', ROTARY.get(
        architecture, 1)) + 1e-9)
    if 'head_dim' in config:
        result[f'{architecture}.attention.value_length'] = U32, config['head_dim']
    scaling = config.get('rope_scaling') or config.get('rope_parameters') or {}
    if scaling.get('rope_type') in ('linear', 'yarn'):
        result[f'{architecture}.rope.scaling.type'] = gguf.STRING, scaling['rope_type']
        result[f'{architecture}.rope.scaling.factor'] = F32, scaling['factor']
    if config['model_type'] == 'olmo3':
        pattern = [(layer + 1) % 4 != 0 for layer in range(config['num_hidden_layers'])]
        result[f'{architecture}.attention.sliding_window_pattern'] = gguf.ARRAY, (BOOL, pattern)
    for key, (name, kind) in SCALING.items():
        if key in scaling:
            result[f'{architecture}.{name}'] = kind, scaling[key]
    result.update({f'{architecture}.{key}': value for key, value in OWN.get(architecture, lambda _: {})(config).items()})
    if 'original_max_position_embeddings' in scaling:
        result[f'{architecture}.rope.scaling.original_context_length'] = U32, scaling['original_max_position_embeddings']
    if 'original_max_position_embeddings' in config:
        result[f'{architecture}.rope.scaling.original_context_length'] = U32, config['original_max_position_embeddings']
    return result


def long_factors(config):
    scaling = config.get('rope_scaling', {})
    return {f'rope_factors_{kind}.weight': tensor(scaling[f'{kind}_factor'], [len(scaling[f'{kind}_factor'])])
            for kind in ('long', 'short') if f'{kind}_factor' in scaling}


# Only mistral3 has these.
SCALING = {'llama_4_scaling_beta': ('attention.temperature_scale', F32),
           'mscale_all_dim': ('rope.scaling.yarn_log_multiplier', F32)}
GATING = {'deepseek_v2': 1, 'deepseek_v3': 2}


def latent_keys(c):
    keys, values = c['qk_nope_head_dim'] + c['qk_rope_head_dim'], c['v_head_dim']
    result = {
        'leading_dense_block_count': (U32, c['first_k_dense_replace']), 'attention.kv_lora_rank': (U32, c['kv_lora_rank']),
        'expert_count': (U32, c['n_routed_experts']), 'expert_shared_count': (U32, c['n_shared_experts']),
        'expert_weights_scale': (F32, c['routed_scaling_factor']), 'expert_gating_func': (U32, GATING[c['model_type']]),
        'expert_weights_norm': (BOOL, c.get('norm_topk_prob', False)), 'rope.dimension_count': (U32, c['qk_rope_head_dim']),
        'attention.key_length': (U32, keys), 'attention.value_length': (U32, values)}
    if c['separate']:
        result.update({
            'attention.head_count_kv': (U32, 1), 'attention.key_length': (U32, c['kv_lora_rank'] + c['qk_rope_head_dim']),
            'attention.value_length': (U32, c['kv_lora_rank']), 'attention.key_length_mla': (U32, keys),
            'attention.value_length_mla': (U32, values)})
    for name, key in (('attention.q_lora_rank', 'q_lora_rank'), ('expert_group_count', 'n_group'),
                      ('expert_group_used_count', 'topk_group')):
        if c.get(key) is not None:
            result[name] = U32, c[key]
    if 'rope_scaling' in c:
        scaling = c['rope_scaling']
        result.update({
            'rope.scaling.type': (gguf.STRING, 'yarn'), 'rope.scaling.factor': (F32, scaling['factor']),
            'rope.scaling.original_context_length': (U32, scaling['original_max_position_embeddings']),
            'rope.scaling.yarn_log_multiplier': (F32, 0.1 * scaling['mscale_all_dim'])})
    return result


def windows(slides):
    return lambda c: {'attention.sliding_window_pattern': (gguf.ARRAY, (BOOL, [
        slides(n) for n in range(c['num_hidden_layers'])]))}


# Keys that architectures have beside those that KEYS yields.
OWN = {
    'afmoe': lambda c: {**windows(lambda n: n == 0)(c), 'leading_dense_block_count': (U32, 1),
                        'expert_gating_func': (U32, 2), 'expert_weights_norm': (BOOL, True)},
    'dots1': lambda c: {'leading_dense_block_count': (U32, 1), 'expert_gating_func': (U32, 2),
                        'expert_weights_norm': (BOOL, True)},
    'ernie4_5-moe': lambda c: {'leading_dense_block_count': (U32, 1), 'interleave_moe_layer_step': (U32, 1),
                               'rope.freq_base': (F32, 500000.0), 'expert_shared_feed_forward_length': (U32, 22)},
    'ernie4_5': lambda c: {'rope.freq_base': (F32, 500000.0)},
    'exaone4': windows(lambda n: n != 1),
    'glm4moe': lambda c: {'leading_dense_block_count': (U32, 1), 'expert_gating_func': (U32, 2),
                          'block_count': (U32, 3), 'nextn_predict_layers': (U32, 1)},
    'hunyuan-dense': lambda c: {'rope.freq_base': (F32, 10000.0 * 7.0**(6 / 4)), 'rope.scaling.type': (gguf.STRING, 'none')},
    'hunyuan-moe': lambda c: {'expert_shared_count': (U32, 1), 'expert_feed_forward_length': (U32, 37)},
    'minimax-m2': lambda c: {'expert_gating_func': (U32, 2), 'expert_feed_forward_length': (U32, 37),
                             'rope.dimension_count': (U32, 4)},
    'olmo': lambda c: {'attention.layer_norm_epsilon': (F32, 1e-5)},
}
# Keys of those whose configurations call them otherwise.
PLAIN = {
    'deepseek2': latent_keys,
    'gptneox': lambda c: {'rope.dimension_count': (U32, int(c['rotary_pct'] * c['hidden_size'] / c['num_attention_heads'])),
                          'rope.freq_base': (F32, c['rotary_emb_base'])},
    'bloom': lambda c: {'context_length': (U32, 26), 'block_count': (U32, c['n_layer']), 'attention.head_count': (U32, c['n_head']),
                        'attention.head_count_kv': (U32, c['n_head']), 'feed_forward_length': (U32, 4 * c['hidden_size']),
                        'attention.layer_norm_epsilon': (F32, 1e-5)},
    'falcon': lambda c: {'feed_forward_length': (U32, 4 * c['hidden_size']), 'attention.layer_norm_epsilon': (F32, 1e-5),
                         'tensor_data_layout': (gguf.STRING, 'jploski'),
                         'attention.head_count_kv': (U32, FUSED['falcon'](c))},
    'starcoder': lambda c: {'context_length': (U32, 26), 'embedding_length': (U32, 24), 'block_count': (U32, 2),
                            'feed_forward_length': (U32, 37), 'attention.head_count': (U32, 4),
                            'attention.head_count_kv': (U32, 1), 'attention.layer_norm_epsilon': (F32, 1e-5)},
    'exaone': lambda c: {'block_count': (U32, 2)},
    'bert': lambda c: {'attention.layer_norm_epsilon': (F32, 1e-12), 'attention.causal': (BOOL, False),
                       'pooling_type': (U32, 4), 'classifier.output_labels': (gguf.ARRAY, (gguf.STRING, ['a', 'b', 'c']))},
    'modern-bert': lambda c: {'attention.layer_norm_epsilon': (F32, 1e-5), 'rope.freq_base': (F32, c['global_rope_theta']),
                              'rope.freq_base_swa': (F32, c['local_rope_theta']),
                              'attention.sliding_window': (U32, c['local_attention']),
                              'attention.sliding_window_pattern': (U32, 3), 'rope.scaling.type': (gguf.STRING, 'none'),
                              'attention.causal': (BOOL, False), 'pooling_type': (U32, 2)},
    'mpt': lambda c: {'context_length': (U32, c['max_seq_len']), 'embedding_length': (U32, c['d_model']),
                      'block_count': (U32, c['n_layers']), 'feed_forward_length': (U32, 4 * c['d_model']),
                      'attention.head_count': (U32, c['n_heads']), 'attention.layer_norm_epsilon': (F32, 1e-5),
                      'attention.clamp_kqv': (F32, c['attn_config']['clip_qkv']), 'attention.max_alibi_bias': (F32, 8.0)},
}


def latent(name, separate):
    checkpoint, config, *rest = moe_models.CASES[name]()
    return checkpoint, {**config, 'separate': separate}, *rest


ROTARY = {'stablelm': 0.25}  # what transformers takes if the configuration does not say
CASES = {
    'gemma': ('gemma', lambda: models.gemma('gemma', 'F32')),
    'gemma2': ('gemma2', lambda: models.gemma('gemma2', 'F32', sliding_window=6, query_pre_attn_scalar=8.0, **models.CAPS)),
    'gemma3': ('gemma3', lambda: models.gemma('gemma3_text', 'F32', sliding_window=5, sliding_window_pattern=6,
                                              rope_theta=1e6, num_hidden_layers=7,
                                              query_pre_attn_scalar=8.0,
                                              rope_scaling={'rope_type': 'linear', 'factor': 8.0})),
    'granite': ('granite', models.CASES['granite']),
    'smollm3': ('smollm3', lambda: models.llama('F16', model_type='smollm3', num_hidden_layers=5, rope_theta=700.0,
                                               no_rope_layer_interval=4)),
    'olmo2': ('olmo2', models.CASES['olmo2']),
    'olmo3': ('olmo2', models.CASES['olmo3']),
    'phi': ('phi2', models.CASES['phi']),
    'phi3': ('phi3', lambda: models.phi3(16)),
    'cohere': ('command-r', models.CASES['cohere']),
    'cohere-norms': ('command-r', models.CASES['cohere-norms']),
    'stablelm': ('stablelm', models.CASES['stablelm']),
    'mixtral': ('llama', models.CASES['mixtral']),
    'gpt_neox': ('gptneox', lambda: models.gpt_neox(True)),
    'gpt_neox-in-turn': ('gptneox', lambda: models.gpt_neox(False)),
    'bloom': ('bloom', lambda: models.bloom(False)),
    'falcon': ('falcon', models.falcon),
    'falcon-grouped': ('falcon', lambda: models.falcon(new=True)),
    'bert': ('bert', family_models.bert_text),
    'modernbert': ('modern-bert', family_models.modernbert_masked),
    'mpt': ('mpt', lambda: models.mpt(8**-0.5)),
    'qwen2_moe': ('qwen2moe', lambda: models.mixture('qwen2_moe', 'F16', num_experts=4, moe_intermediate_size=11,
                                                     norm_topk_prob=False, shared_expert_intermediate_size=29,
                                                     mlp_only_layers=[])),
    'qwen3_moe': ('qwen3moe', models.CASES['qwen3_moe']),
    'deepseek_v2': ('deepseek2', lambda: latent('deepseek_v2', False)),
    'deepseek_v2-groups': ('deepseek2', lambda: latent('deepseek_v2-groups', True)),
    'deepseek_v3': ('deepseek2', lambda: latent('deepseek_v3', True)),
    'gpt_oss': ('gpt-oss', moe_models.CASES['gpt_oss']),
}


# GGUF does not tell windows or bounds of these.
UNBOUND = {
    'dots1': lambda: described.family(
        'dots1', {'n_routed_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 11,
                  'first_k_dense_replace': 1, 'norm_topk_prob': True}, head_norm='each', dense=(0,), moe=described.BIASED),
    'olmoe': lambda: described.family('olmoe', {'num_experts': 5, 'num_experts_per_tok': 3}, head_norm='all', moe={
        **described.MOE, 'inner': 37, 'chosen': 3, 'normalized': False}),
    'starcoder2': lambda: described.family(
        'starcoder2', {'norm_epsilon': 1e-5, 'tie_word_embeddings': True}, described.OTHER,
        inner=('', 'mlp.c_fc', 'mlp.c_proj'), activation='gelu_tanh', biases=('in', 'out', 'inner'), **described.LAYER),
}
DESCRIBED = {'afmoe': 'afmoe', 'arcee': 'arcee', 'dots1': 'dots1', 'ernie4_5': 'ernie4_5', 'ernie4_5_moe': 'ernie4_5-moe',
             'exaone': 'exaone', 'exaone4': 'exaone4', 'glm4': 'glm4', 'glm4_moe': 'glm4moe', 'gpt_bigcode': 'starcoder',
             'granitemoe': 'granitemoe', 'hunyuan_v1_dense': 'hunyuan-dense', 'hunyuan_v1_moe': 'hunyuan-moe',
             'minimax_m2': 'minimax-m2', 'ministral3': 'mistral3', 'nemotron': 'nemotron', 'olmo': 'olmo',
             'olmoe': 'olmoe', 'seed_oss': 'seed_oss', 'starcoder2': 'starcoder2'}
for name, architecture in DESCRIBED.items():
    CASES[name] = architecture, UNBOUND.get(name, described.CASES[name])


def run(program, *arguments):
    result = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f'{program} {" ".join(arguments)}\n{result.stdout}{result.stderr}')


def check(directory, name, architecture, case):
    checkpoint, config, evaluate, _ = case()
    model, module, found = (os.path.join(directory, file) for file in ('model.gguf', 'module.mlir', 'found'))
    with open(model, 'wb') as file:
        file.write(gguf.pack(metadata(config, architecture),
                             {**convert(checkpoint, config, architecture), **long_factors(config)}))
    run('talc', 'compile', model, '--stop-after=import', '--max-seq=26', '-o', module)
    ids = [random.Random(name).randrange(61) for _ in range(25)]
    run('talc-interpret', module, '--ids', ','.join(map(str, ids)), '--logits', found)
    expected = evaluate({'ids': ids, 'types': [0] * len(ids)})
    read = read_tensors(found)
    expected, result = flatten([expected[kind] for kind in read]), flatten(list(read.values()))
    assert len(expected) == len(result), name
    worst = max(abs(a - b) for a, b in zip(expected, result)) / max(map(abs, expected))
    if not worst <= TOLERANCE:
        return f'differs by {worst:.2e}'
    return ''


def main():
    failed = False
    for name, (architecture, case) in CASES.items():
        if ONLY and name not in ONLY:
            continue
        with tempfile.TemporaryDirectory() as directory:
            try:
                problem = check(directory, name, architecture, case)
            except RuntimeError as error:
                problem = str(error)
        if problem:
            failed = True
            print(f'{name}: {problem}')
    sys.exit(failed)


main()
