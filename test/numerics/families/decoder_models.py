# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of the decoder families, of odd sizes, and what they compute; see family_models."""
import decoder_layers as dl
import plain_decoders as pd
from random_checkpoint import Checkpoint

LLAMA = {'hidden_size': 24, 'intermediate_size': 37, 'num_hidden_layers': 2, 'num_attention_heads': 4,
         'num_key_value_heads': 2, 'vocab_size': 61, 'max_position_embeddings': 26, 'rms_norm_eps': 1e-6}
LAYER_NORMS = {**{key: value for key, value in LLAMA.items() if key != 'rms_norm_eps'}, 'layer_norm_eps': 1e-5}


def case(function, checkpoint, config, dtype='F32'):
    """`checkpoint` fills a Checkpoint; `function` is the model."""
    c = Checkpoint(7, dtype)
    checkpoint(c, config)
    names = lambda name: name

    def evaluate(prompt):
        prefix = {'prefix': prompt['prefix']} if 'prefix' in prompt else {}
        return {'logits': function(c, config, prompt['ids'], **prefix)}
    return c, config, evaluate, names


def llama_tensors(c, config, norms, bias=False, inner_bias=False, norm_bias=False, fused=False, output='o_proj',
                  last='model.norm', head=False, tied=True, qkv_bias=False, dense=()):
    """`norms`: of every layer; `dense`: layers without a feed-forward of this kind."""
    d, f, heads = config['hidden_size'], config['intermediate_size'], config['num_attention_heads']
    width = config.get('head_dim') or d // heads
    shared = config.get('num_key_value_heads') or heads
    c.add('model.embed_tokens.weight', config['vocab_size'], d, deviation=1.0)
    for n in range(config['num_hidden_layers']):
        at = f'model.layers.{n}.'
        if fused:
            c.linear(at + 'self_attn.qkv_proj', (heads + 2 * shared) * width, d, bias)
            c.linear(at + 'mlp.gate_up_proj', 2 * f, d, False)
        else:
            for name, count in (('q', heads), ('k', shared), ('v', shared)):
                c.linear(f'{at}self_attn.{name}_proj', count * width, d, bias or qkv_bias)
        c.linear(f'{at}self_attn.{output}', d, heads * width, bias and output != 'o_proj')
        if output == 'dense':
            c.linear(at + 'mlp.fc1', f, d)
            c.linear(at + 'mlp.fc2', d, f)
        elif n not in dense:
            for name in ('gate', 'up') if not fused else ():
                c.linear(f'{at}mlp.{name}_proj', f, d, inner_bias)
            c.linear(at + 'mlp.down_proj', d, f, inner_bias)
        for norm in norms:
            c.norm(at + norm, d, norm_bias)
    c.norm(last, d, norm_bias)
    if not tied:
        c.linear('lm_head', config['vocab_size'], d, head)


PRE = ['input_layernorm', 'post_attention_layernorm']
AROUND = [*PRE, 'pre_feedforward_layernorm', 'post_feedforward_layernorm']


def gemma(kind, dtype, **changes):
    config = {**LLAMA, 'model_type': kind, 'head_dim': 8, 'num_attention_heads': 3, 'num_key_value_heads': 1, **changes}

    def fill(c, config):
        llama_tensors(c, config, PRE if kind == 'gemma' else AROUND)
        for n in range(config['num_hidden_layers'] if kind == 'gemma3_text' else 0):
            for name in 'qk':
                c.norm(f'model.layers.{n}.self_attn.{name}_norm', 8, False)
    return case(dl.gemma, fill, config, dtype)


def with_pictures(case, kind='gemma3', place='language_model.', **keys):
    """A model of texts and pictures, of which texts are a part, called `place`."""
    c, config, evaluate, _ = case
    c.add('vision_tower.embeddings.weight', 3, 5)
    whole = {'model_type': kind, 'text_config': {**config, **keys}, 'vocab_size': config['vocab_size'],
             'tie_word_embeddings': config.get('tie_word_embeddings', True), 'vision_config': {'depth': 1}}
    inside = lambda name: place + (name.removeprefix('model.') if place.startswith('model.') else name)
    return c, whole, evaluate, lambda name: name if name.startswith(('vision', 'lm_head')) else inside(name)


def beside_pictures(case):
    """Qwen2-VL's first files: the keys of texts beside the others."""
    c, config, evaluate, _ = case
    c.add('visual.patch_embed.weight', 3, 5)
    axes = {'rope_scaling': {'type': 'mrope', 'mrope_section': [1, 1, 1]}}
    whole = {**config, **axes, 'model_type': 'qwen2_vl', 'vision_config': {'depth': 1}, 'rope_theta': 10000.0}
    return c, whole, evaluate, lambda name: name


def llama(dtype='F32', tied=True, norms=PRE, **changes):
    config = {**LLAMA, 'tie_word_embeddings': tied, **changes}

    def fill(c, config):
        llama_tensors(c, config, norms, fused=config['model_type'] == 'phi3', tied=tied,
                      qkv_bias=config['model_type'] == 'qwen2')
        for n in range(config['num_hidden_layers'] if config['model_type'] in ('olmo2', 'olmo3') else 0):
            c.norm(f'model.layers.{n}.self_attn.q_norm', 24, False)
            c.norm(f'model.layers.{n}.self_attn.k_norm', 12, False)
    return case(dl.llama, fill, config, dtype)


def infini(memory, dtype='F32', model_type='llama', **changes):
    """A model for 5 positions, whose texts are longer."""
    config = {**LLAMA, 'model_type': model_type, 'max_position_embeddings': 5, 'infini_attention': memory, **changes}

    def fill(c, config):
        llama_tensors(c, config, PRE, qkv_bias=model_type == 'qwen2', tied=False)
        for n in range(config['num_hidden_layers']):
            c.add(f'model.layers.{n}.self_attn.infini_beta', config['num_attention_heads'], deviation=1.0)
    return case(dl.infini, fill, {**config, 'tie_word_embeddings': False}, dtype)


def phi3(original):
    """Texts of more tokens than `original` take the long factors. Programs for as many do so from the first token on."""
    factors = {'short_factor': [1.0, 1.1, 1.3], 'long_factor': [1.5, 2.5, 4.0]}
    return llama(model_type='phi3', tied=False, rms_norm_eps=1e-5, partial_rotary_factor=1.0, sliding_window=7,
                 max_position_embeddings=64, original_max_position_embeddings=original,
                 rope_scaling={'rope_type': 'longrope', **factors})


def mixture(kind, dtype='F32', stacked=False, **changes):
    """`stacked`: all experts in one tensor."""
    config = {**LLAMA, 'model_type': kind, 'rope_theta': 1000.0, 'num_experts_per_tok': 2, **changes}
    place, count = ('block_sparse_moe', 'num_local_experts') if kind == 'mixtral' else ('mlp', 'num_experts')
    names = {'mixtral': ('w1', 'w3', 'w2')}.get(kind, ('gate_proj', 'up_proj', 'down_proj'))
    inner = config['intermediate_size'] if kind == 'mixtral' else config['moe_intermediate_size']

    def add_expert(c, at, width):
        for name, shape in zip(names, ((width, 24), (width, 24), (24, width))):
            c.linear(f'{at}.{name}', *shape, False)

    def fill(c, config):
        llama_tensors(c, config, PRE, tied=False, qkv_bias=kind == 'qwen2_moe',
                      dense=range(2) if kind == 'mixtral' else [n for n in range(2) if n not in config['mlp_only_layers']])
        for n in range(2):
            at = f'model.layers.{n}.'
            if kind == 'qwen3_moe':
                for name in 'qk':
                    c.norm(f'{at}self_attn.{name}_norm', 6, False)
            if kind != 'mixtral' and n in config['mlp_only_layers']:
                continue
            c.linear(f'{at}{place}.gate', config[count], 24, False)
            for e in range(config[count]):
                add_expert(c, f'{at}{place}.experts.{e}', inner)
            if kind == 'qwen2_moe':
                c.linear(f'{at}{place}.shared_expert_gate', 1, 24, False)
                add_expert(c, f'{at}{place}.shared_expert', config['shared_expert_intermediate_size'])
    c, public, evaluate, names_of = case(dl.mixture, fill, config, dtype)
    if stacked:
        c.stack(config[count], names)
    return c, public, evaluate, names_of


def cohere(**changes):
    config = {**LAYER_NORMS, 'model_type': 'cohere', 'logit_scale': 0.25, 'rope_theta': 500.0,
              'use_qk_norm': False, **changes}

    def fill(c, config):
        llama_tensors(c, config, ['input_layernorm'], bias=False)
        for n in range(config['num_hidden_layers'] if config['use_qk_norm'] else 0):
            c.add(f'model.layers.{n}.self_attn.q_norm.weight', 4, 6, mean=1.0)
            c.add(f'model.layers.{n}.self_attn.k_norm.weight', 2, 6, mean=1.0)
    return case(dl.cohere, fill, config)


def stablelm(parallel, norms):
    config = {**LAYER_NORMS, 'model_type': 'stablelm', 'hidden_size': 32, 'use_qkv_bias': parallel,
              'use_parallel_residual': parallel, 'qk_layernorm': norms}

    def fill(c, config):
        llama_tensors(c, config, PRE[:1] if parallel else PRE, bias=parallel, norm_bias=True, tied=False)
        for n in range(config['num_hidden_layers'] if norms else 0):
            for name, count in (('q', 4), ('k', 2)):
                for head in range(count):
                    c.norm(f'model.layers.{n}.self_attn.{name}_layernorm.norms.{head}', 8, False)
    return case(dl.stablelm, fill, config)


def phi(norms):
    config = {**LAYER_NORMS, 'model_type': 'phi', 'hidden_size': 40, 'partial_rotary_factor': 0.4,
              'qk_layernorm': norms}

    def fill(c, config):
        llama_tensors(c, config, PRE[:1], bias=True, norm_bias=True, output='dense', last='model.final_layernorm',
                      head=True, tied=False)
        for n in range(config['num_hidden_layers'] if norms else 0):
            for name in 'qk':
                c.norm(f'model.layers.{n}.self_attn.{name}_layernorm', 10)
    return case(dl.phi, fill, config)


def plain(function, config, tensors, dtype='F32'):
    """`tensors`: of a layer, name to (outputs, inputs, bias) or to a width and a bias for norms; others beside them."""
    def fill(c, config):
        layers, inside, outside = tensors
        count = config.get('num_hidden_layers') or config.get('n_layer') or config.get('n_layers')
        places = [(f'{layers}.{n}.', inside) for n in range(count)] + [('', outside)]
        for at, entries in places:
            for name, (*shape, bias) in entries.items():
                if len(shape) == 2:
                    c.linear(at + name, *shape, bias)
                else:
                    c.norm(at + name, shape[0], bias)
    return case(function, fill, config, dtype)


def table(rows, width):
    return (rows, width, False)


def gpt_neox(parallel):
    config = {'model_type': 'gpt_neox', 'hidden_size': 40, 'num_attention_heads': 5, 'num_hidden_layers': 2,
              'intermediate_size': 33, 'vocab_size': 61, 'max_position_embeddings': 26, 'layer_norm_eps': 1e-5,
              'rotary_pct': 0.25, 'rotary_emb_base': 1000, 'use_parallel_residual': parallel}
    inside = {'input_layernorm': (40, True), 'post_attention_layernorm': (40, True),
              'attention.query_key_value': (120, 40, True), 'attention.dense': (40, 40, True),
              'mlp.dense_h_to_4h': (33, 40, True), 'mlp.dense_4h_to_h': (40, 33, True)}
    outside = {'gpt_neox.embed_in': table(61, 40), 'gpt_neox.final_layer_norm': (40, True), 'embed_out': table(61, 40)}
    return plain(pd.gpt_neox, config, ('gpt_neox.layers', inside, outside), 'F16')


def gptj(kind='gptj', heads=3, width=30):
    config = {'model_type': kind, 'n_embd': width, 'n_head': heads, 'n_layer': 2, 'rotary_dim': 6, 'vocab_size': 61,
              'n_positions': 26}
    parts = {'qkv': 3 * width, 'out': width} if kind == 'codegen' else dict.fromkeys(('q', 'k', 'v', 'out'), width)
    inside = {'ln_1': (width, True), **{f'attn.{name}_proj': (rows, width, False) for name, rows in parts.items()},
              'mlp.fc_in': (4 * width, width, True), 'mlp.fc_out': (width, 4 * width, True)}
    outside = {'transformer.wte': table(61, width), 'transformer.ln_f': (width, True), 'lm_head': (61, width, True)}
    return plain(pd.gptj, config, ('transformer.h', inside, outside))


def falcon(new=False, parallel=True, multi=True, alibi=False, bias=False, heads=6, shared=2):
    config = {'model_type': 'falcon', 'hidden_size': 24, 'num_attention_heads': heads, 'num_hidden_layers': 2,
              'vocab_size': 61, 'num_kv_heads': shared, 'new_decoder_architecture': new, 'multi_query': multi,
              'parallel_attn': parallel, 'alibi': alibi, 'bias': bias, 'max_position_embeddings': 26}
    width = 24 // heads
    rows = (heads + 2 * (shared if new else 1 if multi else heads)) * width
    norms = ['ln_attn', 'ln_mlp'] if new else PRE[:1] if parallel else PRE
    inside = {**{name: (24, True) for name in norms}, 'self_attention.query_key_value': (rows, 24, bias),
              'self_attention.dense': (24, 24, bias), 'mlp.dense_h_to_4h': (96, 24, bias),
              'mlp.dense_4h_to_h': (24, 96, bias)}
    outside = {'transformer.word_embeddings': table(61, 24), 'transformer.ln_f': (24, True)}
    return plain(pd.falcon, config, ('transformer.h', inside, outside))


def bloom(normed):
    config = {'model_type': 'bloom', 'hidden_size': 30, 'n_head': 5, 'n_layer': 2, 'vocab_size': 61,
              'apply_residual_connection_post_layernorm': normed}
    inside = {'input_layernorm': (30, True), 'post_attention_layernorm': (30, True),
              'self_attention.query_key_value': (90, 30, True), 'self_attention.dense': (30, 30, True),
              'mlp.dense_h_to_4h': (120, 30, True), 'mlp.dense_4h_to_h': (30, 120, True)}
    outside = {'transformer.word_embeddings': table(61, 30), 'transformer.word_embeddings_layernorm': (30, True),
               'transformer.ln_f': (30, True)}
    return plain(pd.bloom, config, ('transformer.h', inside, outside))


def mpt(scale=0.5):
    config = {'model_type': 'mpt', 'd_model': 24, 'n_heads': 3, 'n_layers': 2, 'vocab_size': 61, 'max_seq_len': 26,
              'attn_config': {'clip_qkv': 0.7, 'softmax_scale': scale, 'alibi': True}}
    inside = {'norm_1': (24, False), 'norm_2': (24, False), 'attn.Wqkv': (72, 24, False),
              'attn.out_proj': (24, 24, False), 'ffn.up_proj': (96, 24, False), 'ffn.down_proj': (24, 96, False)}
    outside = {'transformer.wte': table(61, 24), 'transformer.norm_f': (24, False)}
    return plain(pd.mpt, config, ('transformer.blocks', inside, outside))


def opt(before, narrow):
    config = {'model_type': 'opt', 'hidden_size': 24, 'num_attention_heads': 3, 'num_hidden_layers': 2, 'ffn_dim': 31,
              'vocab_size': 61, 'max_position_embeddings': 30, 'do_layer_norm_before': before,
              'word_embed_proj_dim': narrow}
    inside = {'self_attn_layer_norm': (24, True), 'final_layer_norm': (24, True),
              **{f'self_attn.{name}_proj': (24, 24, True) for name in ('q', 'k', 'v', 'out')},
              'fc1': (31, 24, True), 'fc2': (24, 31, True)}
    outside = {'model.decoder.embed_tokens': table(61, narrow), 'model.decoder.embed_positions': table(32, 24),
               **({'model.decoder.final_layer_norm': (24, True)} if before else {}),
               **({'model.decoder.project_in': (24, narrow, False), 'model.decoder.project_out': (narrow, 24, False)}
                  if narrow != 24 else {})}
    return plain(pd.opt, config, ('model.decoder.layers', inside, outside))


# Compiling takes most of the time: the programs of these are compared as well, of the others only what is imported.
COMPILED = {'infini-linear', 'infini-delta', 'mixtral', 'qwen2_moe', 'gemma3', 'gemma2', 'phi3-long', 'cohere-norms', 'stablelm-parallel', 'gptj', 'falcon-grouped', 'falcon-alibi',
            'mpt'}
CAPS = {'attn_logit_softcapping': 1.5, 'final_logit_softcapping': 3.0}
YARN = {'rope_type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 8}
CASES = {
    'gemma': lambda: gemma('gemma', 'F16'),
    'gemma2': lambda: gemma('gemma2', 'F32', sliding_window=6, query_pre_attn_scalar=5.0, **CAPS),
    'gemma3': lambda: gemma('gemma3_text', 'F16', sliding_window=5, sliding_window_pattern=2, rope_theta=1e6,
                            query_pre_attn_scalar=8.0, rope_scaling={'rope_type': 'linear', 'factor': 8.0}),
    'gemma3-with-pictures': lambda: with_pictures(gemma('gemma3_text', 'BF16', sliding_window=5, sliding_window_pattern=2,
                                                        rope_theta=1e6, query_pre_attn_scalar=8.0,
                                                        rope_scaling={'rope_type': 'linear', 'factor': 8.0})),
    'llava': lambda: with_pictures(llama(model_type='llama', tied=False), 'llava'),
    'qwen2_vl': lambda: beside_pictures(llama(model_type='qwen2', tied=False)),
    'qwen2_5_vl': lambda: with_pictures(
        llama(model_type='qwen2', tied=False), 'qwen2_5_vl', 'model.language_model.', model_type='qwen2_5_vl_text',
        rope_parameters={'rope_type': 'default', 'rope_theta': 10000.0, 'mrope_section': [1, 1, 1]}),
    'smollm3': lambda: llama('F16', model_type='smollm3', no_rope_layer_interval=2, rope_theta=700.0),
    'olmo2': lambda: llama(model_type='olmo2', norms=AROUND[1::2], tied=False),
    'olmo3': lambda: llama('BF16', model_type='olmo3', norms=AROUND[1::2], tied=False, num_hidden_layers=4,
                           sliding_window=5, rope_theta=500000.0, rope_scaling=YARN),
    'granite': lambda: llama(model_type='granite', embedding_multiplier=3.0, residual_multiplier=0.22,
                             attention_multiplier=0.3, logits_scaling=4.0),
    'llama-prefix': lambda: llama(model_type='llama', prefix_lm=True),
    'llama-yarn': lambda: llama(model_type='llama', rope_scaling=YARN),
    'llama-nulls': lambda: llama(model_type='llama', tied=False, num_attention_heads=3, **dict.fromkeys(
        ['num_key_value_heads', 'head_dim', 'rope_scaling', 'pad_token_id', 'bos_token_id'])),
    'mistral-nulls': lambda: llama(model_type='mistral', num_attention_heads=3, num_key_value_heads=1, **dict.fromkeys(
        ['head_dim', 'rope_scaling', 'sliding_window', 'layer_types', 'pad_token_id'])),
    'qwen2-yarn': lambda: llama(model_type='qwen2', tied=False, num_attention_heads=3, num_key_value_heads=1,
                                rope_scaling=YARN),
    'llama-dynamic': lambda: llama(model_type='llama', max_position_embeddings=9,
                                   rope_scaling={'rope_type': 'dynamic', 'factor': 3.0}),
    'infini-linear': lambda: infini({'segment_length': 4}),
    'infini-delta': lambda: infini({'segment_length': 7, 'update': 'delta', 'first_segment': 'local'}, 'F16',
                                   model_type='qwen2', rope_scaling=YARN),
    'phi3-short': lambda: phi3(26),
    'phi3-long': lambda: phi3(16),
    'mixtral': lambda: mixture('mixtral', num_local_experts=5),
    'qwen2_moe': lambda: mixture('qwen2_moe', 'F16', num_experts=4, moe_intermediate_size=11, norm_topk_prob=False,
                                 shared_expert_intermediate_size=29, mlp_only_layers=[0]),
    'qwen3_moe': lambda: mixture('qwen3_moe', num_experts=6, moe_intermediate_size=16, norm_topk_prob=True,
                                 mlp_only_layers=[], num_experts_per_tok=3),
    'qwen3_moe-stacked': lambda: mixture('qwen3_moe', stacked=True, num_experts=3, moe_intermediate_size=9,
                                         norm_topk_prob=True, mlp_only_layers=[1]),
    'cohere': cohere,
    'cohere-norms': lambda: cohere(use_qk_norm=True),
    'cohere2': lambda: cohere(model_type='cohere2', sliding_window=6, sliding_window_pattern=2, num_hidden_layers=3),
    'stablelm': lambda: stablelm(False, False),
    'stablelm-parallel': lambda: stablelm(True, True),
    'phi': lambda: phi(False),
    'phi-norms': lambda: phi(True),
    'gpt_neox': lambda: gpt_neox(True),
    'gpt_neox-in-turn': lambda: gpt_neox(False),
    'gptj': gptj,
    'codegen': lambda: gptj('codegen', 4, 32),
    'falcon': falcon,
    'falcon-grouped': lambda: falcon(new=True),
    'falcon-alibi': lambda: falcon(parallel=False, multi=False, alibi=True, bias=True),
    'bloom': lambda: bloom(False),
    'bloom-normed': lambda: bloom(True),
    'mpt': mpt,
    'opt': lambda: opt(True, 24),
    'opt-after': lambda: opt(False, 17),
}
