# SPDX-License-Identifier: Apache-2.0
"""importance.py TALC DIRECTORY: --calibrate with importance matrices."""
import json
import os
import re
import struct
import subprocess
import sys

TALC, DIRECTORY = sys.argv[1:]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'frontends'))
import gguf_writer as gguf
from gguf_writer import STRING, U32

WIDTH, INNER = 32, 64
LLAMA = {
    'model_type': 'llama', 'architectures': ['LlamaForCausalLM'], 'hidden_size': WIDTH, 'intermediate_size': INNER,
    'num_hidden_layers': 2, 'num_attention_heads': 2, 'num_key_value_heads': 2, 'max_position_embeddings': 16,
    'rms_norm_eps': 1e-5, 'vocab_size': 64, 'tie_word_embeddings': False}
# Sums of a matrix over the tokens; quotients are exact.
TOKENS = 4.0


def sums(name, columns):
    return [float((sum(name.encode()) + 3 * i) % 61) for i in range(columns)]


NAMES = {f'blk.{layer}.{stem}.weight': columns for layer in range(2)
         for stem, columns in (('attn_q', WIDTH), ('attn_k', WIDTH), ('attn_v', WIDTH), ('attn_output', WIDTH),
                               ('ffn_gate', WIDTH), ('ffn_up', WIDTH), ('ffn_down', INNER))}
ALL = {name: sums(name, columns) for name, columns in NAMES.items()}
TYPE = {'general.type': (STRING, 'imatrix'), 'imatrix.chunk_count': (U32, 1), 'imatrix.chunk_size': (U32, 512)}


def floats(values, shape=None):
    return shape or [1, len(values)], 0, struct.pack(f'<{len(values)}f', *values)


def tensors(entries, tokens=TOKENS):
    result = {}
    for name, values in entries.items():
        result[f'{name}.in_sum2'] = floats(values)
        result[f'{name}.counts'] = floats([tokens], [1, 1])
    return result


def entry(name, values, calls=int(TOKENS)):
    return struct.pack('<i', len(name)) + name.encode() + struct.pack(f'<ii{len(values)}f', calls, len(values), *values)


def older(entries, rest=struct.pack('<ii', 7, 4) + b'text'):
    return struct.pack('<i', len(entries)) + b''.join(entry(*pair) for pair in entries.items()) + rest


def path(name):
    return os.path.join(DIRECTORY, name)


def run(model, content, name, *options):
    with open(path(name), 'wb') as file:
        file.write(content)
    return subprocess.run([TALC, 'compile', path(model), '--random-weights=1', f'--calibrate={path(name)}', *options],
                          capture_output=True, text=True, timeout=120)


def noted(model, content, name):
    """By the names of weights what the imported program says."""
    result = run(model, content, name, '--weights=4.5bit', '--stop-after=import')
    if result.returncode:
        sys.exit(f'{name}: {result.stderr}')
    lines = re.findall(r'talc\.weight @(\S+) .*importance = array<f32: ([^>]*)>', result.stdout)
    return {weight: [float(number) for number in numbers.split(',')] for weight, numbers in lines}


def expect(condition, what):
    if not condition:
        sys.exit(what)


def check_values():
    expected = [value / TOKENS for value in ALL['blk.1.ffn_down.weight']]
    for name, content in (('new.gguf', gguf.pack(TYPE, tensors(ALL))), ('old.dat', older(ALL)),
                          ('bare.dat', older(ALL, b''))):
        found = noted('llama', content, name)
        expect(len(found) == len(ALL), f'{name}: {len(found)} matrices have importance: {sorted(found)}')
        expect(found['model.layers.1.mlp.down_proj.weight'] == expected, f'{name}: {found}')
        query = found['model.layers.0.self_attn.q_proj.weight']
        expect(query == [value / TOKENS for value in ALL['blk.0.attn_q.weight']], f'{name}: {query}')
    nobody = noted('llama', gguf.pack(TYPE, tensors(ALL, tokens=0.0)), 'nobody.gguf')
    expect(set(nobody['model.layers.0.mlp.up_proj.weight']) == {1.0}, f'of no tokens: {nobody}')


def check_parts():
    """Sums of several experts, each over its own number of tokens: here two halves of a matrix stand for them."""
    name = 'blk.0.attn_q.weight'
    values = sums(name, 2 * WIDTH)
    entries = {f'{name}.in_sum2': floats(values, [2, WIDTH]), f'{name}.counts': floats([2.0, 8.0], [2, 1])}
    found = noted('llama', gguf.pack(TYPE, entries), 'parts.gguf')
    expected = [value / (2 if i < WIDTH else 8) for i, value in enumerate(values)]
    expect(found == {'model.layers.0.self_attn.q_proj.weight': expected}, f'parts: {found}')


def check_experts():
    """Experts in one tensor, as checkpoints may have them: each has its own sums, over its own number of tokens."""
    experts, counts = 3, [2.0, 8.0, 4.0]
    config = {**LLAMA, 'model_type': 'qwen3_moe', 'architectures': ['Qwen3MoeForCausalLM'], 'num_experts': experts,
              'num_experts_per_tok': 2, 'moe_intermediate_size': INNER, 'head_dim': 16}
    os.makedirs(path('mixture'))
    with open(os.path.join(path('mixture'), 'config.json'), 'w') as file:
        json.dump(config, file)
    entries, expected = {}, []
    for stem, columns in (('ffn_gate_exps', WIDTH), ('ffn_up_exps', WIDTH), ('ffn_down_exps', INNER)):
        name = f'blk.1.{stem}.weight'
        values = sums('inputs' if columns == WIDTH else 'products', experts * columns)
        entries[f'{name}.in_sum2'] = floats(values, [experts, columns])
        entries[f'{name}.counts'] = floats(counts, [experts, 1])
        expected.append([value / counts[i // columns] for i, value in enumerate(values)])
    found = noted('mixture', gguf.pack(TYPE, entries), 'experts.gguf')
    matrices = [values for name, values in found.items() if not name.endswith('gate_up_proj')]  # which both are made of
    expect(sorted(matrices) == sorted(expected), f'experts: {sorted(found)}')


def check_choice():
    """Bits go where errors count: of the other matrices only one column does, for which a scale is soon found."""
    def formats(loud):
        entries = {name: [1.0] + [0.0] * (columns - 1) for name, columns in NAMES.items()}
        entries[loud] = [1.0] * NAMES[loud]
        result = run('llama', older(entries), 'loud.dat', '--weights=5bit', '--stop-after=optimize', '--remarks=optimize')
        return dict(re.findall(r'assign-formats: module: (\S+) is stored as (\S+)', result.stderr))

    first, second = formats('blk.0.ffn_down.weight'), formats('blk.1.ffn_down.weight')
    expect(first and first != second, f'the importance does not decide: {first}')


GOOD = gguf.pack(TYPE, tensors(ALL))
SHORT = {'blk.0.attn_q.weight': sums('x', WIDTH - 1)}
ONE = {'blk.0.attn_q.weight': ALL['blk.0.attn_q.weight']}


def one_with(changes):
    return gguf.pack(TYPE, {**tensors(ONE), **changes})


SUMS, COUNTS = 'blk.0.attn_q.weight.in_sum2', 'blk.0.attn_q.weight.counts'
TWICE = struct.pack('<i', 2) + 2 * entry('blk.0.attn_q.weight', [1.0] * WIDTH)
REFUSED = [
    ('type.gguf', 'T0202', "whose key 'general.type' is not imatrix", gguf.pack({'general.type': (STRING, 'model')}, tensors(ONE))),
    ('untyped.gguf', 'T0202', "whose key 'general.type' is not imatrix", gguf.pack({}, tensors(ONE))),
    ('empty.gguf', 'T0204', "has no tensor '*.in_sum2'", gguf.pack(TYPE, {})),
    ('counts.gguf', 'T0204', 'but not', gguf.pack(TYPE, {SUMS: floats(ONE['blk.0.attn_q.weight'])})),
    ('nan.gguf', 'T0207', 'expected numbers >= 0', one_with({SUMS: floats([float('nan')] * WIDTH)})),
    ('infinite.gguf', 'T0207', 'expected numbers >= 0', one_with({SUMS: floats([float('inf')] * WIDTH)})),
    ('below.gguf', 'T0207', 'expected numbers >= 0', one_with({SUMS: floats([-1.0] * WIDTH)})),
    ('tokens.gguf', 'T0207', 'expected numbers >= 0', one_with({COUNTS: floats([-4.0])})),
    ('tiny.gguf', 'T0207', 'a mean that is inf', one_with({COUNTS: floats([1e-45]), SUMS: floats([1.0] * WIDTH)})),
    ('parts.gguf', 'T0203', 'expected a multiple of the 3', one_with({COUNTS: floats([1.0] * 3)})),
    ('half.gguf', 'T0205', 'has type F16, expected F32', one_with({SUMS: ([1, WIDTH], 1, bytes(2 * WIDTH))})),
    ('short.gguf', 'T0701', 'has 31 values for model.layers.0.self_attn.q_proj.weight, expected 32',
     gguf.pack(TYPE, tensors(SHORT))),
    ('foreign.gguf', 'T0701', 'speaks of no matrix', gguf.pack(TYPE, tensors({'other.weight': [1.0] * WIDTH}))),
    ('cut.gguf', 'T0202', 'truncated', GOOD[:len(GOOD) - 64]),
    ('none.dat', 'T0202', 'has 0 entries', older({})),
    ('many.dat', 'T0202', 'truncated', struct.pack('<i', 1 << 16) + older(ONE)[4:]),
    ('name.dat', 'T0202', 'has a name of 0 bytes', struct.pack('<iiii', 1, 0, 1, 1) + bytes(4)),
    ('long.dat', 'T0202', 'has a name of 2147483647 bytes', struct.pack('<ii', 1, 0x7fffffff)),
    ('values.dat', 'T0202', 'has 0 values', struct.pack('<ii', 1, 1) + b'x' + struct.pack('<ii', 1, 0)),
    ('huge.dat', 'T0202', 'has 2147483647 values', struct.pack('<ii', 1, 1) + b'x' + struct.pack('<ii', 1, 0x7fffffff)),
    ('nan.dat', 'T0202', 'expected numbers >= 0', older({'x': [float('nan')]})),
    ('twice.dat', 'T0202', 'twice', TWICE),
    ('rest.dat', 'T0202', 'of which talc does not know', older(ONE, struct.pack('<ii', 7, 2) + b'text')),
    ('bytes.dat', 'T0202', 'truncated', bytes(3) + b''),
]


def check_refusals():
    for name, code, text, content in REFUSED:
        result = run('llama', content, name, '--weights=4.5bit', '--stop-after=import')
        lines = result.stderr.splitlines()
        good = any(line.startswith(f'error[{code}]: ') and name in line and text in line for line in lines)
        expect(result.returncode == 1 and good, f'{name}: expected {code}, {text}; found {result.stderr[:600]}')
    whole = older(ONE)
    for length in range(4, len(whole) - 12, 17):  # up to the text behind the entries
        result = run('llama', whole[:length], 'cut.dat', '--weights=4.5bit', '--stop-after=import')
        expect(result.returncode == 1 and 'error[T0202]' in result.stderr, f'{length} bytes: {result.stderr[:600]}')


def main():
    os.makedirs(path('llama'))
    with open(os.path.join(path('llama'), 'config.json'), 'w') as file:
        json.dump(LLAMA, file)
    check_values()
    check_parts()
    check_experts()
    check_refusals()
    check_choice()


main()
