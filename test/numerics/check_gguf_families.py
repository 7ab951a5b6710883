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
sys.path.append(WRITER)
import decoder_models as models
import gguf_writer as gguf
from random_checkpoint import flatten, read_tensors

TOLERANCE = 1e-6  # both are float64; results are rounded to f32
NAMES = {'model.embed_tokens': 'token_embd', 'model.norm': 'output_norm', 'lm_head': 'output',
         'model.final_layernorm': 'output_norm', 'input_layernorm': 'attn_norm', 'self_attn.q_proj': 'attn_q',
         'self_attn.k_proj': 'attn_k', 'self_attn.v_proj': 'attn_v', 'self_attn.o_proj': 'attn_output',
         'self_attn.dense': 'attn_output', 'self_attn.qkv_proj': 'attn_qkv', 'self_attn.q_norm': 'attn_q_norm',
         'self_attn.k_norm': 'attn_k_norm', 'post_attention_layernorm': 'ffn_norm', 'mlp.gate_proj': 'ffn_gate',
         'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down', 'mlp.fc1': 'ffn_up', 'mlp.fc2': 'ffn_down',
         'mlp.gate_up_proj': 'ffn_up', 'mlp.gate': 'ffn_gate_inp', 'block_sparse_moe.gate': 'ffn_gate_inp',
         'mlp.shared_expert_gate': 'ffn_gate_inp_shexp', 'mlp.shared_expert.gate_proj': 'ffn_gate_shexp',
         'mlp.shared_expert.up_proj': 'ffn_up_shexp', 'mlp.shared_expert.down_proj': 'ffn_down_shexp'}
EXPERTS = {'gate_proj': 'ffn_gate_exps', 'up_proj': 'ffn_up_exps', 'down_proj': 'ffn_down_exps', 'w1': 'ffn_gate_exps',
           'w3': 'ffn_up_exps', 'w2': 'ffn_down_exps'}
AROUND = {'post_attention_layernorm': 'post_attention_norm', 'pre_feedforward_layernorm': 'ffn_norm',
          'post_feedforward_layernorm': 'post_ffw_norm'}
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
        'shared_expert_intermediate_size': ('expert_shared_feed_forward_length', U32)}
# Of an architecture: what its queries and keys, its norms and their names are.
PAIRED, PLUS_ONE, NORMS_AROUND = ('llama', 'granite', 'smollm3'), ('gemma', 'gemma2', 'gemma3'), ('gemma2', 'gemma3', 'olmo2')


def paired(rows, heads):
    half = len(rows) // heads // 2
    return [rows[h * 2 * half + side * half + i] for h in range(heads) for i in range(half) for side in (0, 1)]


def tensor(values, shape):
    flat = flatten(values)
    return shape, gguf.ELEMENTS['F32'], struct.pack(f'<{len(flat)}f', *flat)


def convert(checkpoint, config, architecture):
    tensors, experts = {}, {}
    for name, shape in checkpoint.shapes.items():
        stem, end = name.rsplit('.', 1)
        parts, values = stem.split('.'), checkpoint[name]
        inner, layer = ('.'.join(parts[3:]), f'blk.{parts[2]}.') if parts[1:2] == ['layers'] else (stem, '')
        if '.experts.' in inner:
            experts.setdefault(f'{layer}{EXPERTS[parts[-1]]}.{end}', []).append(values)
            continue
        if architecture in PAIRED and inner in ('self_attn.q_proj', 'self_attn.k_proj'):
            values = paired(values, config['num_attention_heads' if 'q_proj' in inner else 'num_key_value_heads'])
        if architecture in PLUS_ONE and 'norm' in inner:
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
    width = config.get('head_dim') or config['hidden_size'] // config['num_attention_heads']
    result[f'{architecture}.rope.dimension_count'] = U32, int(width * config.get('partial_rotary_factor', ROTARY.get(
        architecture, 1)) + 1e-9)
    if 'head_dim' in config:
        result[f'{architecture}.attention.value_length'] = U32, config['head_dim']
    scaling = config.get('rope_scaling', {})
    if scaling.get('rope_type') == 'linear':
        result[f'{architecture}.rope.scaling.type'] = gguf.STRING, 'linear'
        result[f'{architecture}.rope.scaling.factor'] = F32, scaling['factor']
    if 'original_max_position_embeddings' in config:
        result[f'{architecture}.rope.scaling.original_context_length'] = U32, config['original_max_position_embeddings']
    return result


def long_factors(config):
    scaling = config.get('rope_scaling', {})
    return {f'rope_factors_{kind}.weight': tensor(scaling[f'{kind}_factor'], [len(scaling[f'{kind}_factor'])])
            for kind in ('long', 'short') if f'{kind}_factor' in scaling}


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
    'phi': ('phi2', models.CASES['phi']),
    'phi3': ('phi3', lambda: models.phi3('long_factor', 16)),
    'cohere': ('command-r', models.CASES['cohere']),
    'cohere-norms': ('command-r', models.CASES['cohere-norms']),
    'stablelm': ('stablelm', models.CASES['stablelm']),
    'mixtral': ('llama', models.CASES['mixtral']),
    'qwen2_moe': ('qwen2moe', lambda: models.mixture('qwen2_moe', 'F16', num_experts=4, moe_intermediate_size=11,
                                                     norm_topk_prob=False, shared_expert_intermediate_size=29,
                                                     mlp_only_layers=[])),
    'qwen3_moe': ('qwen3moe', models.CASES['qwen3_moe']),
}


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
    expected, result = flatten(evaluate({'ids': ids})['logits']), flatten(list(read_tensors(found).values()))
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
