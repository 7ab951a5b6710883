# SPDX-License-Identifier: Apache-2.0
"""importance_orders.py TALC DIRECTORY: importance matrices for checkpoints whose matrices are transposed or joined.

llama.cpp counts inputs of a matrix. A checkpoint may have these as rows (Conv1D of GPT-2, experts of gpt-oss).
"""
import json
import os
import re
import struct
import subprocess
import sys

TALC, DIRECTORY = sys.argv[1:]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'frontends'))
import gguf_writer as gguf
from make_safetensors import CONFIG, write_model

LLAMA = {'hidden_size': 8, 'intermediate_size': 6, 'num_hidden_layers': 1, 'num_attention_heads': 2, 'vocab_size': 8,
         'num_key_value_heads': 2, 'head_dim': 4, 'max_position_embeddings': 16, 'tie_word_embeddings': False}
EXPERTS, INPUTS, INNER = 3, 8, 6
GPT_OSS = {**LLAMA, 'model_type': 'gpt_oss', 'num_local_experts': EXPERTS, 'num_experts_per_tok': 2, 'intermediate_size': INNER}
NEOX = {**LLAMA, 'model_type': 'gpt_neox', 'intermediate_size': 12, 'rotary_pct': 1.0}
LATENT = {**LLAMA, 'model_type': 'deepseek_v2', 'n_routed_experts': 2, 'num_experts_per_tok': 1, 'kv_lora_rank': 4,
          'q_lora_rank': 4, 'qk_nope_head_dim': 2, 'qk_rope_head_dim': 2, 'v_head_dim': 2, 'moe_intermediate_size': 4,
          'first_k_dense_replace': 1, 'n_shared_experts': 1}


def path(name):
    return os.path.join(DIRECTORY, name)


def write_text(name, content):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), 'w') as file:
        json.dump(content, file)


def numbers(count, start=1):
    return [float(start + i) for i in range(count)]


def newer(entries):
    tensors = {}
    for name, values in entries.items():
        rows = EXPERTS if '_exps' in name else 1
        tensors[f'{name}.in_sum2'] = [rows, len(values) // rows], 0, struct.pack(f'<{len(values)}f', *values)
        tensors[f'{name}.counts'] = [rows, 1], 0, struct.pack(f'<{rows}f', *[1.0] * rows)
    return gguf.pack({'general.type': (gguf.STRING, 'imatrix')}, tensors)


def older(entries):
    result = struct.pack('<i', len(entries))
    for name, values in entries.items():
        result += struct.pack('<i', len(name)) + name.encode() + struct.pack(f'<ii{len(values)}f', 1, len(values), *values)
    return result


def noted(model, content, *options):
    """The importance that the imported program gives to matrices."""
    with open(path('matrix'), 'wb') as file:
        file.write(content)
    result = subprocess.run([TALC, 'compile', path(model), f'--calibrate={path("matrix")}', '--weights=4.5bit',
                             '--stop-after=import', *options], capture_output=True, text=True, timeout=60)
    if result.returncode:
        sys.exit(f'{model}: {result.stderr}')
    found = re.findall(r'talc\.weight @(\S+) : tensor<([0-9x]*)xf32> .*importance = array<f32: ([^>]*)>', result.stdout)
    return {name: (shape, [float(number) for number in values.split(',')]) for name, shape, values in found}


def expect(what, found, expected):
    if found != expected:
        sys.exit(f'{what}: found {found}, expected {expected}')


def check_gpt2():
    write_model(path('gpt2'))
    stored = gguf.read_safetensors(path('gpt2/model.safetensors'))
    config = {**CONFIG, 'n_inner': None, 'layer_norm_epsilon': 1e-5}
    with open(path('gpt2.gguf'), 'wb') as file:
        file.write(gguf.pack(gguf.convert_config(config), gguf.convert_tensors(config, stored, 'F32')))
    entries = {f'blk.0.{stem}.weight': numbers(columns, start) for stem, columns, start in
               (('attn_qkv', 4, 10), ('attn_output', 4, 20), ('ffn_up', 4, 30), ('ffn_down', 16, 40))}
    shapes_of = {'attn.c_attn': '12x4', 'attn.c_proj': '4x4', 'mlp.c_fc': '16x4', 'mlp.c_proj': '4x16'}
    for model, end in ('gpt2', 'transposed'), ('gpt2.gguf', 'stored'):
        expected = {f'transformer.h.0.{name}.weight.{end}': (shape, values)
                    for (name, shape), values in zip(shapes_of.items(), entries.values())}
        for content in newer(entries), older(entries):
            expect(model, noted(model, content), expected)


def check_gpt_oss():
    """Gates and inputs of experts are a matrix, inputs by outputs, of which the model makes two."""
    write_text('gpt-oss/config.json', GPT_OSS)
    inputs, products = numbers(EXPERTS * INPUTS), numbers(EXPERTS * INNER, 50)
    found = noted('gpt-oss', newer({'blk.0.ffn_gate_exps.weight': inputs, 'blk.0.ffn_up_exps.weight': inputs,
                                    'blk.0.ffn_down_exps.weight': products}), '--random-weights=1')
    expect('gpt-oss', sorted(found.values()), sorted([(f'{EXPERTS * INNER}x{INPUTS}', inputs)] * 2 +
                                                     [(f'{EXPERTS * INPUTS}x{INNER}', products)]))


def check_joined():
    write_text('neox/config.json', NEOX)
    values = numbers(8)
    found = noted('neox', newer({'blk.0.attn_qkv.weight': values}), '--random-weights=1')
    expect('gpt_neox', {shape.split('x')[1] for shape, _ in found.values()}, {'8'})
    expect('gpt_neox', all(numbers == values for _, numbers in found.values()) and len(found) > 0, True)


def check_latent():
    """Keys' part of kv_b is multiplied the other way round: nothing is known of its columns."""
    write_text('latent/config.json', LATENT)
    found = noted('latent', older({'blk.0.attn_kv_b.weight': numbers(4), 'blk.0.ffn_down.weight': numbers(6)}), '--random-weights=1')
    keys = [name for name, (shape, values) in found.items() if 'kv_b' in name and shape.split('x')[1] != '4']
    expect('deepseek_v2', (keys, found['model.layers.0.mlp.down_proj.weight']), ([], ('8x6', numbers(6))))


check_gpt2()
check_gpt_oss()
check_joined()
check_latent()
