# SPDX-License-Identifier: Apache-2.0
"""Decoders as configurations may have them and published ones seldom do: the embedding's table scores words, or it does
not; odd and single heads; keys that are null. See decoder_models."""
import decoder_models as dm
import family_models as fm
import moe_models as mm

EMBEDDING = 'model.embed_tokens.weight'


def tied(case, head='lm_head.weight', table=EMBEDDING):
    """The file has no tensor for words."""
    c, config, evaluate, names = case()
    c.tensors[head] = c.tensors[table]
    del c.shapes[head]
    return c, {**config, 'tie_word_embeddings': True}, evaluate, names


def untied(case, table=EMBEDDING):
    c, config, evaluate, names = case()
    c.add('lm_head.weight', *c.shapes[table])
    return c, {**config, 'tie_word_embeddings': False}, evaluate, names


def nulls(*keys):
    return dict.fromkeys(keys)


ODD = {'num_attention_heads': 3, 'num_key_value_heads': 1}
GRANITE = {'embedding_multiplier': 3.0, 'residual_multiplier': 0.22, 'attention_multiplier': 0.3, 'logits_scaling': 4.0}
QWEN2_MOE = {'moe_intermediate_size': 5, 'shared_expert_intermediate_size': 9, 'mlp_only_layers': []}
ONES = {'num_attention_heads': 1, 'num_key_value_heads': 1}
EMBEDDINGS = {'gemma2': EMBEDDING, 'gemma3': EMBEDDING, 'cohere': EMBEDDING, 'falcon': 'transformer.word_embeddings.weight',
              'bloom': 'transformer.word_embeddings.weight', 'mpt': 'transformer.wte.weight',
              'opt': 'model.decoder.embed_tokens.weight', 'opt-after': 'model.decoder.embed_tokens.weight'}
CASES = {
    **{f'{name}-tied': lambda name=name: tied(dm.CASES[name])
       for name in ('olmo2', 'phi3-short', 'phi', 'stablelm', 'infini-linear', 'mixtral', 'qwen2_moe', 'qwen3_moe')},
    **{f'{name}-tied': lambda name=name: tied(mm.CASES[name]) for name in ('gpt_oss', 'deepseek_v2', 'deepseek_v3')},
    'gpt_neox-tied': lambda: tied(dm.CASES['gpt_neox'], 'embed_out.weight', 'gpt_neox.embed_in.weight'),
    'gptj-tied': lambda: tied(dm.CASES['gptj'], table='transformer.wte.weight'),
    **{f'{name}-untied': lambda name=name: untied(dm.CASES[name], EMBEDDINGS[name]) for name in EMBEDDINGS},
    'granite-untied': lambda: dm.llama(model_type='granite', tied=False, **GRANITE),
    'smollm3-untied': lambda: dm.llama(model_type='smollm3', tied=False, no_rope_layer_interval=2, rope_theta=700.0),
    'bart-untied': lambda: fm.relative('bart', activation_function='gelu', tie_word_embeddings=False),
    'llama-one-head': lambda: dm.llama(model_type='llama', **ONES),
    'granite-odd': lambda: dm.llama(model_type='granite', **GRANITE, **ODD),
    'smollm3-odd': lambda: dm.llama(model_type='smollm3', no_rope_layer_interval=2, rope_theta=700.0, **ODD),
    'mixtral-odd': lambda: dm.mixture('mixtral', num_local_experts=3, **{**ODD, 'num_experts_per_tok': 1}),
    'qwen2_moe-all': lambda: dm.mixture('qwen2_moe', num_experts=7, norm_topk_prob=True, **QWEN2_MOE,
                                        **{**ODD, 'num_experts_per_tok': 7}),
    'cohere-odd': lambda: dm.cohere(**ODD),
    'cohere2-odd': lambda: dm.cohere(model_type='cohere2', sliding_window=6, sliding_window_pattern=2, **ODD),
    'falcon-odd': lambda: dm.falcon(heads=3),
    'falcon-one-group': lambda: dm.falcon(new=True, heads=3, shared=1),
    'falcon-alibi-odd': lambda: dm.falcon(parallel=False, multi=False, alibi=True, bias=True, heads=3),
    'falcon-alibi-shared': lambda: dm.falcon(alibi=True, heads=12),
    'mistral-by-type': lambda: dm.llama(model_type='ministral', sliding_window=5, num_hidden_layers=3, layer_types=[
        'sliding_attention', 'full_attention', 'sliding_attention']),
    'mixtral-nulls': lambda: dm.mixture('mixtral', num_local_experts=3, **nulls(
        'sliding_window', 'head_dim', 'rope_scaling', 'pad_token_id')),
    'gemma2-nulls': lambda: dm.gemma('gemma2', 'F32', sliding_window=6, query_pre_attn_scalar=5.0, **nulls(
        'attn_logit_softcapping', 'final_logit_softcapping', 'rope_scaling', 'pad_token_id')),
}
