# SPDX-License-Identifier: Apache-2.0
"""Imports small models whose configurations have the keys of popular checkpoints beside those that decide sizes: keys of the
programs that trained or saved them must not be taken for something that talc does not compute."""
import json
import os
import subprocess
import sys

SIZES = {'vocab_size': 10, 'hidden_size': 8, 'intermediate_size': 8, 'num_hidden_layers': 2, 'num_attention_heads': 2,
         'max_position_embeddings': 16}
GROUPED = {**SIZES, 'num_key_value_heads': 2}
STACKS = {'vocab_size': 10, 'd_model': 8, 'encoder_layers': 1, 'decoder_layers': 1, 'encoder_attention_heads': 2,
          'decoder_attention_heads': 2, 'encoder_ffn_dim': 8, 'decoder_ffn_dim': 8, 'max_position_embeddings': 16}
GPT = {'vocab_size': 10, 'n_embd': 8, 'n_layer': 1, 'n_head': 2, 'n_positions': 16, 'attn_pdrop': 0.1, 'embd_pdrop': 0.1,
       'resid_pdrop': 0.1, 'summary_type': 'cls_index', 'summary_use_proj': True, 'summary_first_dropout': 0.1,
       'activation_function': 'gelu_new', 'task_specific_params': {'text-generation': {'do_sample': True, 'max_length': 50}}}
BERT = {**SIZES, 'hidden_dropout_prob': 0.1, 'attention_probs_dropout_prob': 0.1, 'initializer_range': 0.02,
        'type_vocab_size': 2, 'layer_norm_eps': 1e-12, 'gradient_checkpointing': False, 'position_embedding_type': 'absolute'}
BART = {**STACKS, 'activation_dropout': 0.1, 'classif_dropout': 0.0, 'init_std': 0.02, 'encoder_layerdrop': 0.0,
        'num_hidden_layers': 1, 'output_past': True, 'add_bias_logits': False, 'early_stopping': True, 'length_penalty': 2.0,
        'no_repeat_ngram_size': 3, 'num_beams': 4, 'task_specific_params': {'summarization': {'max_length': 142}}}

# model_type, the sizes, and the other keys.
CASES = [
    ('llama', SIZES, {'is_llama_config': True, 'rope_interleaved': False, 'rope_scaling': None, 'pretraining_tp': 1,
                      'transformers.js_config': {'kv_cache_dtype': 'float16'}, 'max_sequence_length': 2048, 'torch_dtype': 'bfloat16'}),
    ('mistral', GROUPED, {'attention_dropout': 0.0, 'sliding_window': None, 'rope_theta': 1e6}),
    ('qwen2', GROUPED, {'max_window_layers': 28, 'sliding_window': 131072, 'use_sliding_window': False, 'use_mrope': False}),
    ('qwen3_moe', {**GROUPED, 'num_experts': 4, 'num_experts_per_tok': 2}, {
        'decoder_sparse_step': 1, 'max_window_layers': 48, 'mlp_only_layers': [], 'output_router_logits': False,
        'router_aux_loss_coef': 0.001, 'use_sliding_window': False, 'sliding_window': None}),
    ('phi3', SIZES, {'auto_map': {'AutoConfig': 'a.B'}, 'embd_pdrop': 0.0, 'original_max_position_embeddings': 16, 'sliding_window': 8,
                     'full_attn_mod': 1, 'interpolate_factor': 1, 'lm_head_bias': False, 'mlp_bias': False}),
    ('gemma', GROUPED, {'hidden_act': 'gelu', 'hidden_activation': 'gelu_pytorch_tanh'}),
    ('gemma2', GROUPED, {'hidden_act': 'gelu_pytorch_tanh', 'hidden_activation': 'gelu_pytorch_tanh', 'cache_implementation': 'hybrid'}),
    ('cohere2', GROUPED, {
        'layer_switch': 4, 'order_of_interleaved_layers': 'local_attn_first', 'position_embedding_type': 'rope_gptj',
        'rotary_pct': 1.0, 'use_embedding_sharing': True, 'use_gated_activation': True, 'use_parallel_block': True,
        'use_parallel_embedding': False, 'cache_implementation': 'hybrid', 'sliding_window_pattern': 4}),
    ('gpt2', GPT, {'n_ctx': 16, 'n_special': 0, 'predict_special_tokens': True, 'reorder_and_upcast_attn': False}),
    ('gptj', GPT, {'rotary': True, 'rotary_dim': 4, 'scale_attn_weights': True, 'n_inner': None, 'tokenizer_class': 'GPT2Tokenizer'}),
    ('bloom', {'vocab_size': 10, 'n_embed': 8, 'n_layer': 1, 'num_attention_heads': 2}, {
        'offset_alibi': 100, 'skip_bias_add': True, 'skip_bias_add_qkv': False, 'bias_dropout_fusion': True, 'seq_length': 16,
        'attention_softmax_in_fp32': True, 'masked_softmax_fusion': True, 'unk_token_id': 0, 'pretraining_tp': 4, 'n_inner': None}),
    ('falcon', {'vocab_size': 10, 'hidden_size': 8, 'num_hidden_layers': 1, 'num_attention_heads': 2}, {
        'multi_query': True, 'parallel_attn': True, 'alibi': False, 'bias': False, 'apply_residual_connection_post_layernorm': False}),
    ('gpt_neox', SIZES, {'rotary_emb_base': 10000, 'rotary_pct': 1.0, 'rope_theta': 10000, 'partial_rotary_factor': 1.0,
                         'use_parallel_residual': True, 'classifier_dropout': 0.1}),
    ('starcoder2', GROUPED, {
        'activation_function': 'gelu', 'layer_norm_epsilon': 1e-5, 'norm_epsilon': 1e-5, 'mlp_type': 'default', 'use_bias': True,
        'norm_type': 'layer_norm', 'scale_attention_softmax_in_fp32': True, 'attention_softmax_in_fp32': True, 'residual_dropout': 0.1}),
    ('bert', BERT, {'directionality': 'bidi', 'pooler_fc_size': 768, 'pooler_type': 'first_token_transform',
                    'sentence_transformers': {'version': '4'}, 'sbert_ce_default_activation_function': 'torch.nn.modules.linear.Identity'}),
    ('xlm-roberta', {**BERT, 'pad_token_id': 1}, {'output_past': True, 'bos_token_id': 0}),
    ('albert', BERT, {'down_scale_factor': 1, 'gap_size': 0, 'net_structure_type': 0, 'num_memory_blocks': 0, 'embedding_size': 4,
                      'num_hidden_groups': 1, 'classifier_dropout_prob': 0.1}),
    ('distilbert', {'vocab_size': 10, 'dim': 8, 'n_layers': 1, 'n_heads': 2, 'hidden_dim': 8}, {
        'tie_weights_': True, 'sinusoidal_pos_embds': False, 'qa_dropout': 0.1, 'seq_classif_dropout': 0.2, 'activation': 'gelu'}),
    ('modernbert', SIZES, {'layer_norm_eps': 1e-5, 'position_embedding_type': 'absolute', 'classifier_pooling': 'mean',
                           'reference_compile': None, 'deterministic_flash_attn': False, 'initializer_cutoff_factor': 2.0,
                           'repad_logits_with_grad': False, 'sparse_prediction': False, 'sparse_pred_ignore_index': -100}),
    ('bart', BART, {'force_bos_token_to_be_generated': True, 'normalize_before': False, 'normalize_embedding': True,
                    'add_final_layer_norm': False, 'static_position_embeddings': False, 'extra_pos_embeddings': 2}),
    ('pegasus', BART, {'normalize_before': True, 'normalize_embedding': False, 'add_final_layer_norm': True,
                       'static_position_embeddings': True, 'extra_pos_embeddings': 1}),
    ('t5', {'vocab_size': 10, 'd_model': 8, 'd_kv': 4, 'd_ff': 8, 'num_layers': 1, 'num_heads': 2}, {
        'n_positions': 16, 'output_past': True, 'dropout_rate': 0.1, 'initializer_factor': 1.0, 'classifier_dropout': 0.0,
        'task_specific_params': {'summarization': {'prefix': 'summarize: '}}}),
]


def main(talc, root):
    failures = 0
    for kind, sizes, keys in CASES:
        folder = os.path.join(root, kind)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'config.json'), 'w') as file:
            json.dump({'model_type': kind, **sizes, **keys}, file)
        command = [talc, 'compile', folder, '--stop-after=import', '--random-weights=1']
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            failures += 1
            print(f'{kind}: {result.stderr[:600]}')
    return failures > 0


sys.exit(main(*sys.argv[1:]))
