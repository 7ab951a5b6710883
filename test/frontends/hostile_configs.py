# SPDX-License-Identifier: Apache-2.0
"""Wrong configurations: hostile_configs.py TALC DIRECTORY."""
import json
import sys

import refusals
from make_safetensors import CONFIG, write_model

LLAMA = {'model_type': 'llama', 'vocab_size': 10, 'hidden_size': 8, 'intermediate_size': 8, 'num_hidden_layers': 2,
         'num_attention_heads': 2, 'max_position_embeddings': 16}
QWEN2 = {**LLAMA, 'model_type': 'qwen2', 'num_key_value_heads': 2}
GPT_OSS = {**LLAMA, 'model_type': 'gpt_oss', 'num_key_value_heads': 2, 'head_dim': 4, 'num_local_experts': 4}
DEEPSEEK = {**LLAMA, 'model_type': 'deepseek_v2', 'n_routed_experts': 4, 'num_experts_per_tok': 2, 'kv_lora_rank': 4,
            'q_lora_rank': 4, 'qk_nope_head_dim': 4, 'qk_rope_head_dim': 2, 'v_head_dim': 4}
BERT = {'model_type': 'bert', 'vocab_size': 10, 'hidden_size': 8, 'intermediate_size': 8, 'num_hidden_layers': 1,
        'num_attention_heads': 2, 'max_position_embeddings': 16}
CLASSES = {**BERT, 'architectures': ['BertForSequenceClassification']}
T5 = {'model_type': 't5', 'vocab_size': 10, 'd_model': 8, 'd_kv': 4, 'd_ff': 8, 'num_layers': 1, 'num_heads': 2}
MARIAN = {'model_type': 'marian', 'vocab_size': 10, 'd_model': 8, 'encoder_layers': 1, 'decoder_layers': 1,
          'encoder_attention_heads': 2, 'decoder_attention_heads': 2, 'encoder_ffn_dim': 8, 'decoder_ffn_dim': 8}
NAN, INFINITY = float('nan'), float('inf')
LLAMA3 = {'rope_type': 'llama3', 'factor': 8, 'low_freq_factor': 1, 'high_freq_factor': 4}


TRANSFORMER_XL = {'model_type': 'transfo-xl', 'vocab_size': 20, 'd_model': 8, 'd_embed': 8, 'n_head': 2, 'd_head': 4,
                  'd_inner': 8, 'n_layer': 1, 'mem_len': 4, 'cutoffs': [5, 10], 'div_val': 2}


def rope(**values):
    return {**LLAMA, 'rope_scaling': values}


def infini(**options):
    return {**LLAMA, 'infini_attention': {'segment_length': 4, **options}}


# name, code, text, config.json
REFUSED = [
    ('empty', 'T0101', 'not valid JSON', ''),
    ('list', 'T0101', 'expected a JSON object', '[]'),
    ('nan', 'T0103', "key 'n_embd' is NaN, expected an integer", '{"model_type": "gpt2", "n_embd": NaN}'),
    ('infinity', 'T0104', "key 'layer_norm_epsilon' is Infinity, expected a number",
     json.dumps({**CONFIG, 'layer_norm_epsilon': float('inf')})),
    ('nan-key', 'T0101', 'a key is a number', '{"model_type": "gpt2", NaN: 4}'),
    ('nan-spelling', 'T0101', "the end of '{\"model_type\": \"gpt2\", \"a\": na'", '{"model_type": "gpt2", "a": nan}'),
    ('numbers-of-python', None, '', json.dumps({**CONFIG, '_a': NAN, '_b "\\': [-INFINITY, 'NaN', {'c"': INFINITY}]})),
    ('no-tokens', None, '', {**LLAMA, 'pad_token_id': -1, 'bos_token_id': -1, 'eos_token_id': [2, -1]}),
    ('beyond-double', 'T0101', 'not valid JSON', '{"model_type": "gpt2", "layer_norm_epsilon": 1e999}'),
    ('deep', 'T0101', 'nested deeper than 64 levels', '{"a":' + '[' * 100000 + ']' * 100000 + '}'),
    ('duplicate', 'T0101', "the key 'n_embd' twice", '{"model_type": "gpt2", "n_embd": 4, "n_embd": 8}'),
    ('nul', 'T0101', 'not valid JSON', '{"model_type": "gpt2\0"}'),
    ('no-type', 'T0102', "lacks the key 'model_type'; talc knows ", {}),
    ('unknown-type', 'T0102', r"model_type is 'zzz\x1bqqq'; talc knows ", {'model_type': 'zzz\x1bqqq'}),
    ('type-is-number', 'T0103', "key 'model_type' is 1, expected a string", {'model_type': 1}),
    ('text', 'T0103', """key 'n_embd' is "4", expected an integer from 1 to""", {**CONFIG, 'n_embd': '4'}),
    ('fraction', 'T0103', "key 'n_embd' is 4.0, expected an integer", {**CONFIG, 'n_embd': 4.0}),
    ('boolean', 'T0103', "key 'n_embd' is true, expected an integer", {**CONFIG, 'n_embd': True}),
    ('null', 'T0103', "key 'n_embd' is null, expected an integer", {**CONFIG, 'n_embd': None}),
    ('null-flag', 'T0103', "key 'scale_attn_weights' is null, expected true or false",
     {**CONFIG, 'scale_attn_weights': None}),
    ('flag-is-text', 'T0103', 'expected true or false', {**CONFIG, 'tie_word_embeddings': 'yes'}),
    ('zero', 'T0104', "key 'n_head' is 0, expected an integer from 1 to", {**CONFIG, 'n_head': 0}),
    ('negative', 'T0104', "key 'n_layer' is -1, expected an integer from 1 to", {**CONFIG, 'n_layer': -1}),
    ('huge', 'T0104', "key 'n_layer' is 1000000000, expected", {**CONFIG, 'n_layer': 10**9}),
    ('beyond-int64', 'T0104', "key 'n_embd' is 18446744073709551615, expected", {**CONFIG, 'n_embd': 2**64 - 1}),
    ('epsilon-0', 'T0104', "key 'layer_norm_epsilon' is 0, expected a number from",
     {**CONFIG, 'layer_norm_epsilon': 0}),
    ('indivisible', 'T0104', '3 heads do not divide n_embd = 4', {**CONFIG, 'n_head': 3}),
    ('general-names', 'T0104', '3 heads do not divide n_embd = 8',
     {'model_type': 'gpt2', 'hidden_size': 8, 'num_attention_heads': 3, 'num_hidden_layers': 1, 'vocab_size': 10}),
    ('activation', 'T0105', "is 'mish', expected one of relu, gelu", {**CONFIG, 'activation_function': 'mish'}),
    ('cross-attention', 'T0105', "'add_cross_attention': is true", {**CONFIG, 'add_cross_attention': True}),
    ('classifier', None, '', {**CONFIG, 'architectures': ['GPT2ForSequenceClassification']}),
    ('classifier-of-source', 'T0105', "is 'MBartForSequenceClassification', expected",
     {**MARIAN, 'model_type': 'mbart', 'architectures': ['MBartForSequenceClassification']}),
    ('choice', 'T0105', "'architectures': chooses among texts",
     {**BERT, 'model_type': 'roformer', 'architectures': ['RoFormerForMultipleChoice']}),
    ('next-sentence', 'T0105', "'architectures': predicts next sentences",
     {**BERT, 'model_type': 'rembert', 'architectures': ['RemBertForNextSentencePrediction']}),
    ('longformer-classes', 'T0105', "'architectures': is 'LongformerForSequenceClassification', some of whose tokens",
     {**BERT, 'model_type': 'longformer', 'architectures': ['LongformerForSequenceClassification']}),
    ('longformer-window', 'T0104', "'attention_window': has an entry that is not an even number",
     {**BERT, 'model_type': 'longformer', 'attention_window': [7]}),
    ('longformer-windows', 'T0104', "'attention_window': has 3 entries",
     {**BERT, 'model_type': 'longformer', 'attention_window': [4, 4, 4]}),
    ('xmod-language', 'T0104', "'default_language': is none of languages", {**BERT, 'model_type': 'xmod', 'languages': ['de_DE']}),
    ('big-bird-blocks', 'T0105', "'attention_type': is neither", {**BERT, 'model_type': 'big_bird', 'attention_type': 'sparse'}),
    ('longt5-global', 'T0105', "'encoder_attention_type': is not 'local'",
     {**T5, 'model_type': 'longt5', 'encoder_attention_type': 'transient-global'}),
    ('eurobert-pooling', 'T0105', "'classifier_pooling': is neither late, mean nor bos",
     {**LLAMA, 'model_type': 'eurobert', 'architectures': ['EuroBertForSequenceClassification'], 'classifier_pooling': 'max'}),
    ('luke-entities', 'T0105', "'architectures': is 'LukeForEntityClassification', which is about entities",
     {**BERT, 'model_type': 'luke', 'architectures': ['LukeForEntityClassification']}),
    ('esm-mask', 'T0104', "'mask_token_id': is missing", {**BERT, 'model_type': 'esm', 'token_dropout': True}),
    ('squeezebert-groups', 'T0104', "'q_groups': does not divide", {**BERT, 'model_type': 'squeezebert', 'embedding_size': 8, 'q_groups': 3}),
    ('xlm-languages', 'T0105', "'use_lang_emb': is true", {'model_type': 'xlm', 'emb_dim': 8, 'n_heads': 2, 'n_layers': 1, 'n_langs': 2}),
    ('quantized', 'T0105', "key 'quant_method': is 'quark'; talc reads compressed-tensors, gptq",
     {**LLAMA, 'quantization_config': {'quant_method': 'quark'}}),
    ('groups', 'T0104', '3 key-value heads do not divide 2', {**LLAMA, 'num_key_value_heads': 3}),
    ('head-width-0', 'T0104', "key 'head_dim' is 0", {**LLAMA, 'head_dim': 0}),
    ('odd-rotary', 'T0104', 'turns 1 of 4 features', {**LLAMA, 'partial_rotary_factor': 0.25}),
    ('mrope-type', 'T0105', "'rope_scaling.rope_type': is 'mrope', expected default, linear, llama3, yarn",
     rope(rope_type='mrope')),
    ('old-ntk', 'T0105', "'rope_scaling.type': is 'ntk'", rope(type='ntk', factor=2)),
    ('scaling-without-type', 'T0105', "'rope_scaling.rope_type': is missing", rope(factor=2)),
    ('parameters-without-type', 'T0105', "'rope_parameters.rope_type': is missing",
     {**LLAMA, 'rope_parameters': {'rope_theta': 100, 'factor': 2}}),
    ('yarn-base', 'T0104', "'rope_theta': is 1, expected more than 1 with yarn",
     {**rope(rope_type='yarn', factor=2), 'rope_theta': 1}),
    ('dynamic-narrow', 'T0104', "'rope_scaling.rope_type': is dynamic, expected heads of which more than 2",
     {**rope(rope_type='dynamic', factor=2), 'head_dim': 2}),
    ('dynamic-no-factor', 'T0104', "'rope_scaling.factor': is missing", rope(rope_type='dynamic')),
    ('longrope-short', 'T0104', "'rope_scaling.short_factor': has 1 numbers, expected 2 above 0",
     rope(rope_type='longrope', short_factor=[1], long_factor=[1, 2])),
    ('longrope-zero', 'T0104', "'rope_scaling.long_factor': has 2 numbers, expected 2 above 0",
     rope(rope_type='longrope', short_factor=[1, 1], long_factor=[1, 0])),
    ('longrope-text', 'T0103', "key 'rope_scaling.long_factor' is [1,\"2\"], expected a list of numbers",
     rope(rope_type='longrope', short_factor=[1, 1], long_factor=[1, '2'])),
    ('prefix-lm', 'T0105', "'prefix_lm': is true, but only models that continue texts have prefixes",
     {**BERT, 'prefix_lm': True}),
    ('swiglu-limit', 'T0105', "'swiglu_limit'", {**GPT_OSS, 'swiglu_limit': 5.0}),
    ('deepseek-per-token', 'T0104', "'num_experts_per_tok': is missing", {**DEEPSEEK, 'num_experts_per_tok': None}),
    ('deepseek-norm', 'T0105', "'norm_topk_prob'", {**DEEPSEEK, 'norm_topk_prob': True}),
    ('deepseek-method', 'T0105', "'topk_method'", {**DEEPSEEK, 'topk_method': 'noaux_tc'}),
    ('deepseek-groups', 'T0104', "'n_group': 3 groups do not divide 4 experts",
     {**DEEPSEEK, 'topk_method': 'group_limited_greedy', 'n_group': 3, 'topk_group': 2}),
    ('deepseek-few-groups', 'T0104', "'topk_group': 1 groups have fewer experts than the 3 of a token",
     {**DEEPSEEK, 'topk_method': 'group_limited_greedy', 'n_group': 2, 'topk_group': 1, 'num_experts_per_tok': 3}),
    ('deepseek-scores', 'T0105', "'scoring_func'", {**DEEPSEEK, 'model_type': 'deepseek_v3', 'scoring_func': 'softmax'}),
    ('deepseek-sparse', 'T0105', "'moe_layer_freq'", {**DEEPSEEK, 'moe_layer_freq': 2}),
    ('xl-segments', 'T0105', "'same_length': without it a token sees more", {**TRANSFORMER_XL, 'same_length': False}),
    ('xl-attention', 'T0105', "'attn_type': talc knows", {**TRANSFORMER_XL, 'attn_type': 1}),
    ('xl-softmax', 'T0105', "'adaptive': talc knows", {**TRANSFORMER_XL, 'adaptive': False}),
    ('xl-memory', 'T0104', "'mem_len' is 0, expected an integer from 1", {**TRANSFORMER_XL, 'mem_len': 0}),
    ('xl-width', 'T0104', "'d_model': distances are sines and cosines", {**TRANSFORMER_XL, 'd_model': 7}),
    ('xl-cutoffs', 'T0104', "'cutoffs': expected at most 64 ascending numbers between 0 and vocab_size, 20",
     {**TRANSFORMER_XL, 'cutoffs': [5, 20]}),
    ('xl-cutoffs-text', 'T0103', "'cutoffs' is [5,\"a\"], expected a list of numbers",
     {**TRANSFORMER_XL, 'cutoffs': [5, 'a']}),
    ('xl-usual-cutoffs', 'T0104', "'cutoffs': expected at most", {k: v for k, v in TRANSFORMER_XL.items() if k != 'cutoffs'}),
    ('xl-divisor', 'T0104', "'div_val': d_embed divided by it", {**TRANSFORMER_XL, 'div_val': 3, 'd_embed': 8}),
    ('xl-ties', 'T0104', "'tie_projs': expected 3 values, one more than cutoffs", {**TRANSFORMER_XL, 'tie_projs': [True]}),
    ('xl-ties-numbers', 'T0103', "expected a list of true and false", {**TRANSFORMER_XL, 'tie_projs': [1, 0, 1]}),
    ('unknown', 'T0105', "'norm_shift': may change what is computed, and talc does not know it for this model_type; if it changes "
     'nothing, add --unused=allow', {**LLAMA, 'norm_shift': 0.5}),
    ('rope-by-type', 'T0105', "'rope_parameters': has an object for each type of layer",
     {**LLAMA, 'rope_parameters': {'full_attention': {'rope_type': 'default'}, 'sliding_attention': {'rope_type': 'default'}}}),
    ('rope-unknown', 'T0105', "'rope_scaling.mrope_section': may change how positions turn",
     {**LLAMA, 'rope_scaling': {'rope_type': 'linear', 'factor': 2.0, 'mrope_section': [1, 1]}}),
    ('rope-null', None, '', {**LLAMA, 'rope_scaling': {'rope_type': 'linear', 'factor': 2.0, 'mrope_section': None}}),
    ('gptj-rotary', None, '', {'model_type': 'gptj', 'n_embd': 8, 'n_head': 2, 'n_layer': 1, 'vocab_size': 10, 'rotary_dim': 4, 'rotary': True}),
    ('exaone-layers', 'T0105', "'num_layers': may change", {**LLAMA, 'model_type': 'exaone', 'num_key_value_heads': 2, 'num_layers': 1}),
    ('exaone-same', None, '', {**LLAMA, 'model_type': 'exaone', 'num_key_value_heads': 2, 'num_layers': 2}),
    ('says-the-same', None, '', {**LLAMA, 'model_type': 'gpt_neox', 'rotary_pct': 1.0, 'head_dim': 4, 'num_key_value_heads': 2}),
    ('says-more', 'T0105', "'num_key_value_heads': may change what is computed",
     {**LLAMA, 'model_type': 'gpt_neox', 'rotary_pct': 1.0, 'head_dim': 4, 'num_key_value_heads': 1}),
    ('unknown-off', None, '', {**LLAMA, 'norm_shift': None, 'uses_shift': False, 'shifts': []}),
    ('both-ways', 'T0105', "'is_causal': is false, but talc compiles this model_type with causal attention", {**LLAMA, 'is_causal': False}),
    ('both-ways-bias', 'T0105', "'is_causal': is false, but talc compiles",
     {'model_type': 'bloom', 'architectures': ['BloomModel'], 'hidden_size': 8, 'n_head': 2, 'n_layer': 1, 'vocab_size': 10, 'is_causal': False}),
    ('causal', None, '', {**LLAMA, 'is_causal': True}),
    ('part-of-heads', 'T0105', "'partial_rotary_factor': is 0.5, but models of this model_type turn all features of a head",
     {**LLAMA, 'partial_rotary_factor': 0.5}),
    ('mistral-types', 'T0105', "'layer_types': is of model_type 'ministral'",
     {**LLAMA, 'model_type': 'mistral', 'num_key_value_heads': 2, 'layer_types': ['full_attention'] * 2}),
    ('gpt-oss-alpha', 'T0105', "'swiglu_alpha': the family has gates of 1.702", {**GPT_OSS, 'swiglu_alpha': 0.851}),
    ('gemma-activations', 'T0104', "'hidden_act': contradicts 'hidden_activation'",
     {**LLAMA, 'model_type': 'gemma', 'hidden_act': 'relu', 'hidden_activation': 'gelu_pytorch_tanh'}),
    ('gemma3-cap', 'T0105', "'attn_logit_softcapping': may change", {**LLAMA, 'model_type': 'gemma3_text', 'attn_logit_softcapping': 50.0}),
    ('olmo3-base', 'T0105', "'rope_theta': is not 500000", {**LLAMA, 'model_type': 'olmo3', 'rope_theta': 10000.0}),
    ('yarn-by-type', 'T0105', "'rope_parameters.full_attention.truncate': is false for a type of layers",
     {**LLAMA, 'model_type': 'olmo3', 'num_hidden_layers': 4, 'rope_parameters': {
         'full_attention': {'rope_type': 'yarn', 'factor': 2.0, 'truncate': False}, 'sliding_attention': {'rope_type': 'default'}}}),
    ('neox-base', 'T0104', "'rope_theta': differs from rotary_emb_base",
     {**LLAMA, 'model_type': 'gpt_neox', 'rotary_pct': 1.0, 'rope_theta': 500.0}),
    ('modernbert-rope', 'T0104', "'rope_scaling.rope_type': is missing",
     {**LLAMA, 'model_type': 'modernbert', 'rope_scaling': {'type': 'linear', 'factor': 2.0}}),
    ('reward', 'T0105', "is 'LlamaForRewardModel', expected the name of the model_type 'llama', then ForCausalLM or LMHeadModel or Model",
     {**LLAMA, 'architectures': ['LlamaForRewardModel']}),
    ('double-heads', 'T0105', "is 'GPT2DoubleHeadsModel', expected", {**CONFIG, 'architectures': ['GPT2DoubleHeadsModel']}),
    ('capitals', None, '', {**LLAMA, 'architectures': ['LLaMAForCausalLM']}),
    ('capped', 'T0105', "'final_logit_softcapping': may change what is computed", {**LLAMA, 'final_logit_softcapping': 30.0}),
    ('multiplied', 'T0105', "'residual_multiplier': may change what is computed", {**LLAMA, 'residual_multiplier': 0.5}),
    ('infini', 'T0105', "'infini_attention': may change what is computed",
     {**CONFIG, 'infini_attention': {'segment_length': 4}}),
    ('infini-number', 'T0103', "'infini_attention' is 4, expected", {**LLAMA, 'infini_attention': 4}),
    ('infini-length', 'T0104', "'infini_attention.segment_length': is missing", {**LLAMA, 'infini_attention': {}}),
    ('infini-zero', 'T0104', "'infini_attention.segment_length' is 0", infini(segment_length=0)),
    ('infini-update', 'T0105', "'infini_attention.update': talc knows linear and delta", infini(update='gradient')),
    ('infini-first', 'T0105', "'infini_attention.first_segment': talc knows", infini(first_segment='none')),
    ('infini-other', 'T0105', "'infini_attention.epsilon': is unknown; talc knows segment_length", infini(epsilon=1)),
    ('infini-prefix', 'T0105', "'prefix_lm': is true, but the model has segments", {**infini(), 'prefix_lm': True}),
    ('infini-latent', 'T0105', "'infini_attention': is for attention whose heads have keys of their own",
     {**DEEPSEEK, 'infini_attention': {'segment_length': 4}}),
    ('granite-code', 'T0104', "'hidden_size': is missing", {'model_type': 'granite', 'n_embd': 8}),
    ('gemma-two-sided', 'T0105', "'use_bidirectional_attention': is true",
     {**LLAMA, 'model_type': 'gemma3_text', 'num_key_value_heads': 2, 'use_bidirectional_attention': True}),
    ('smollm3-layers', 'T0104', 'has 1 entries for 2 layers', {**LLAMA, 'model_type': 'smollm3', 'no_rope_layers': [1]}),
    ('cohere-scale', 'T0103', "key 'logit_scale' is null", {**LLAMA, 'model_type': 'cohere', 'logit_scale': None}),
    ('gptj-rotary', 'T0104', "'rotary_dim': is 3, expected an even number",
     {'model_type': 'gptj', 'n_embd': 16, 'n_head': 2, 'n_layer': 1, 'rotary_dim': 3}),
    ('falcon-norms', 'T0105', "'num_ln_in_parallel_attn': is 2",
     {'model_type': 'falcon', 'hidden_size': 16, 'num_attention_heads': 2, 'num_ln_in_parallel_attn': 2}),
    ('mpt-biases', 'T0105', "'no_bias': is false", {'model_type': 'mpt', 'd_model': 16, 'n_heads': 2, 'no_bias': False}),
    ('mpt-attention', 'T0105', "'attn_config.qk_ln': is true",
     {'model_type': 'mpt', 'd_model': 16, 'n_heads': 2, 'attn_config': {'qk_ln': True}}),
    ('opt-norms', 'T0105', "'layer_norm_elementwise_affine': is false",
     {**LLAMA, 'model_type': 'opt', 'layer_norm_elementwise_affine': False}),
    ('roberta-null-padding', 'T0104', "'pad_token_id': is null, but positions count from its value",
     {**BERT, 'model_type': 'roberta', 'pad_token_id': None}),
    ('modernbert-pooling', 'T0105', "'classifier_pooling': is neither cls nor mean",
     {**BERT, 'model_type': 'modernbert', 'architectures': ['ModernBertForSequenceClassification'],
      'classifier_pooling': 'max'}),
    ('mpnet-buckets', 'T0104', "'relative_attention_num_buckets' is 16",
     {**BERT, 'model_type': 'mpnet', 'relative_attention_num_buckets': 16}),
    ('albert-groups', 'T0104', "key 'num_hidden_groups' is 2, expected an integer from 1 to 1",
     {**BERT, 'model_type': 'albert', 'num_hidden_groups': 2}),
    ('factor-0', 'T0104', "'rope_scaling.factor' is 0, expected a number", rope(rope_type='linear', factor=0)),
    ('no-factor', 'T0104', "'rope_scaling.factor': is missing", rope(rope_type='linear')),
    ('llama3-no-high', 'T0104', "'rope_scaling.high_freq_factor': is missing",
     rope(rope_type='llama3', factor=8, low_freq_factor=1)),
    ('llama3-equal', 'T0104', 'expected less than the high_freq_factor', rope(**{**LLAMA3, 'high_freq_factor': 1})),
    ('rope-list', 'T0103', "key 'rope_scaling' is [], expected an object", {**LLAMA, 'rope_scaling': []}),
    ('two-values', 'T0104', "contradicts 'rope_parameters'",
     {**rope(type='linear', factor=2), 'rope_parameters': {'rope_type': 'linear', 'factor': 4, 'rope_theta': 100}}),
    ('equal-spellings', None, '',
     {**rope(type='linear', factor=2), 'rope_parameters': {'rope_type': 'linear', 'factor': 2.0, 'rope_theta': 100}}),
    ('dynamic', None, "sequences of 32 tokens are more than the model's original context of 16",
     rope(rope_type='dynamic', factor=2)),
    ('two-spellings', 'T0104', "contradicts 'rope_parameters'",
     {**rope(rope_type='default'), 'rope_parameters': {}}),
    ('theta-negative', 'T0104', "key 'rope_theta' is -1", {**LLAMA, 'rope_theta': -1}),
    ('type-without-rope', 'T0104', "'rope_parameters.full_attention': is missing",
     {**QWEN2, 'rope_parameters': {'sliding_attention': {'rope_theta': 1}}}),
    ('layer-types-length', 'T0104', 'has 1 entries for 2 layers', {**QWEN2, 'layer_types': ['full_attention']}),
    ('layer-types-unknown', 'T0105', 'talc knows full_attention', {**QWEN2, 'layer_types': ['mamba', 'mamba']}),
    ('layer-types-window', 'T0104', 'gives no window', {**QWEN2, 'layer_types': ['sliding_attention'] * 2}),
    ('mrope', 'T0105', "'use_mrope': is true", {**QWEN2, 'use_mrope': True}),
    ('mistral-bias', 'T0105', "'attention_bias': is true", {**LLAMA, 'model_type': 'mistral', 'attention_bias': True}),
    ('bert-decoder', 'T0105', "'is_decoder': is true", {**BERT, 'is_decoder': True}),
    ('bert-lm-head', 'T0105', "is 'BertLMHeadModel', expected", {**BERT, 'architectures': ['BertLMHeadModel']}),
    ('bert-relative', 'T0105', "'position_embedding_type': is not 'absolute'",
     {**BERT, 'position_embedding_type': 'relative_key'}),
    ('bert-heads', 'T0104', '3 heads do not divide hidden_size = 8', {**BERT, 'num_attention_heads': 3}),
    ('roberta-positions', 'T0104', 'leaves no position', {**BERT, 'model_type': 'roberta', 'pad_token_id': 15}),
    ('labels-missing', 'T0104', "'id2label': has no name for class 1", {**CLASSES, 'id2label': {'0': 'a', '2': 'b'}}),
    ('labels-list', 'T0103', "key 'id2label' is", {**CLASSES, 'id2label': ['a', 'b']}),
    ('labels-count', 'T0104', "'num_labels': is 3, but 'id2label' names 2",
     {**CLASSES, 'id2label': {'0': 'a', '1': 'b'}, 'num_labels': 3}),
    ('problem-type', 'T0105', "'problem_type': is 'ranking', expected regression",
     {**CLASSES, 'problem_type': 'ranking'}),
    ('labels-nul', 'T0104', 'has a NUL', {**CLASSES, 'id2label': {'0': 'a\0', '1': 'b'}}),
    ('mistyped-type', 'T0102', "model_type is 'lama' (did you mean 'llama'?); talc knows", {'model_type': 'lama'}),
    ('switch', 'T0102', "model_type is 'switch_transformers'", {**T5, 'model_type': 'switch_transformers'}),
    ('t5-without-head', 'T0105', "is 'T5Model'", {**T5, 'architectures': ['T5Model']}),
    ('t5-activation', 'T0105', "'feed_forward_proj': is 'mish'", {**T5, 'feed_forward_proj': 'gated-mish'}),
    ('t5-buckets', 'T0105', 'expected a multiple of 4', {**T5, 'relative_attention_num_buckets': 10}),
    ('t5-distance', 'T0104', 'is 16, expected more than half of',
     {**T5, 'relative_attention_max_distance': 16, 'relative_attention_num_buckets': 32}),
    ('marian-vocabularies', 'T0104', 'differs from vocab_size', {**MARIAN, 'decoder_vocab_size': 11}),
    ('marian-positions', 'T0105', "'static_position_embeddings': is false",
     {**MARIAN, 'static_position_embeddings': False}),
    ('marian-heads', 'T0104', "'decoder_attention_heads': 3 heads do not divide", {**MARIAN, 'decoder_attention_heads': 3}),
    ('many-suppressed', None, 'talc generates without suppress_tokens',
     {**LLAMA, 'vocab_size': 40, 'suppress_tokens': list(range(17))}),
    ('tokens', 'T0103', "key 'eos_token_id' is [1,-2], expected a token id", {**LLAMA, 'eos_token_id': [1, -2]}),
    ('positions', 'T0104', 'sequences of 5 tokens were asked for', CONFIG, '--max-seq=5'),
]

# generation_config.json
GENERATION = [
    ('generation-text', 'T0103',
     """generation_config.json: key 'temperature' is "hot", expected""", {'temperature': 'hot'}),
    ('generation-range', 'T0104',
     "generation_config.json: key 'top_p' is 1.5, expected a number from 0 to 1", {'top_p': 1.5}),
    ('generation-json', 'T0106', 'generation_config.json: is not valid JSON', '{'),
    ('generation-ends', 'T0106', "generation_config.json: key 'eos_token_id' lists 65 tokens of the vocabulary, expected "
     'at most 64', {'eos_token_id': [1] * 65}),
    ('generation-penalty', 'T0106', "'repetition_penalty' is 0", {'repetition_penalty': 0}),
    ('generation-beams', 'T0104', "key 'num_beams' is 0", {'num_beams': 0}),
    ('generation-early', 'T0103', "key 'early_stopping' is \"maybe\"", {'early_stopping': 'maybe'}),
    ('generation-words', 'T0103', "key 'bad_words_ids' is [1]", {'bad_words_ids': [1]}),
    ('generation-top-p-0', None, '', {'top_p': 0, 'do_sample': True}),
    ('generation-renormalize', 'T0103', "key 'renormalize_logits' is 1, expected true or false", {'renormalize_logits': 1}),
    ('generation-ignored', None, 'talc generates without diversity_penalty, max_time',
     {'diversity_penalty': 0.5, 'max_time': 2.5, 'stop_strings': ['.'], 'suppress_tokens': list(range(10)) * 2 + [40],
      'typical_p': 1.0, 'min_length': 0, 'guidance_scale': None}),
    ('generation-length', 'T0104', "key 'min_length' is -1, expected an integer from 0 to 2147483647", {'min_length': -1}),
    ('generation-begin', 'T0103', "key 'begin_suppress_tokens' is \"5\"", {'begin_suppress_tokens': '5'}),
    ('generation-many-first', None, 'talc generates without begin_suppress_tokens',
     {'begin_suppress_tokens': [1, 2] * 9}),
    ('generation-nulls', None, '', dict.fromkeys(['eos_token_id', 'top_k', 'top_p', 'temperature', 'do_sample'])),
    ('generation-many-ends', None, '', {'eos_token_id': list(range(10)) * 4}),
    ('generation-foreign-token', None, '', {'eos_token_id': [1, 10**6]}),
    ('generation-minus-one', None, '', {'eos_token_id': -1, 'bos_token_id': -1, 'top_k': -1}),
    ('generation-top-k', 'T0104', "key 'top_k' is -2", {'top_k': -2}),
    ('generation-word-minus-one', 'T0103', "key 'bad_words_ids' is [[3,-1]]", {'bad_words_ids': [[3, -1]]}),
    ('generation-no-end', None, '', {'eos_token_id': []}),
]


def config(content):
    return lambda directory: write_model(directory, content, {})


def generation(content):
    return lambda directory: write_model(directory, LLAMA, {'generation_config.json': content})


# modules.json beside a BERT
MODULES = [
    ('modules-object', 'T0101', 'modules.json: holds object, expected a JSON array', {}),
    ('modules-path', 'T0201', "'../1_Pooling' is not a folder in the model's directory",
     [{'type': 'sentence_transformers.models.Pooling', 'path': '../1_Pooling'}]),
    ('modules-no-folder', 'T0201', "'1_Pooling' is not a folder",
     [{'type': 'sentence_transformers.models.Pooling', 'path': '1_Pooling'}]),
    ('modules-number', 'T0105', "has the module ''; talc knows", [1]),
    ('modules-odd', 'T0105', "has the module ''; talc knows", [{'type': 2}]),
]


def modules(content):
    return lambda directory: write_model(directory, BERT, {'modules.json': json.dumps(content)})


def main(talc, directory):
    random = '--random-weights=1'
    cases = [(name, code, text, config(content), random, *options) for name, code, text, content, *options in REFUSED]
    cases += [(name, code, text, generation(content), random) for name, code, text, content in GENERATION]
    cases += [(name, code, text, modules(content), random) for name, code, text, content in MODULES]
    cases.append(('custom-code', None, 'auto_map', config({**LLAMA, 'auto_map': {'AutoModel': 'evil.Model'}}), random))
    return 1 if refusals.check(talc, directory, cases) else 0


sys.exit(main(*sys.argv[1:]))
