# SPDX-License-Identifier: Apache-2.0
"""Writes GGUF files: any that tests ask for, and those that llama.cpp's converter makes of a model directory.

    gguf_writer.py MODEL_DIRECTORY FILE [ELEMENT_TYPE [PARTS]]
"""
import json
import os
import struct
import sys

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: 'B', I8: 'b', U16: 'H', I16: 'h', U32: 'I', I32: 'i', F32: 'f', BOOL: '?', U64: 'Q', I64: 'q', F64: 'd'}
ELEMENTS = {'F32': 0, 'F16': 1, 'BF16': 30}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack('<Q', len(value)) + value


def scalar(kind, value):
    return text(value) if kind == STRING else struct.pack('<' + FORMATS[kind], value)


def pair(key, kind, value):
    """A list is a pair of the type of its values and the values."""
    if kind == ARRAY:
        inner, values = value
        body = struct.pack('<IQ', inner, len(values)) + b''.join(scalar(inner, v) for v in values)
    else:
        body = scalar(kind, value)
    return text(key) + struct.pack('<I', kind) + body


def info(name, shape, kind, offset):
    """`shape` has the fastest dimension last."""
    return text(name) + struct.pack(f'<I{len(shape)}QIQ', len(shape), *reversed(shape), kind, offset)


def pad(data, alignment):
    return data + bytes(-len(data) % alignment)


def pack(metadata, tensors, version=3, alignment=32):
    """`metadata`: {key: (type, value)}; `tensors`: {name: (shape, number of the element type, bytes)}."""
    infos, data = b'', b''
    if alignment != 32:
        metadata = {**metadata, 'general.alignment': (U32, alignment)}
    for name, (shape, kind, content) in tensors.items():
        infos += info(name, shape, kind, len(data))
        data += pad(content, alignment)
    header = b'GGUF' + struct.pack('<IQQ', version, len(tensors), len(metadata))
    header += b''.join(pair(key, *value) for key, value in metadata.items()) + infos
    return pad(header, alignment) + data


def write_parts(path, metadata, tensors, count):
    """NAME-00001-of-00002.gguf, ... with the tensors distributed in order."""
    names = list(tensors)
    for number in range(count):
        part = {name: tensors[name] for name in names[number * len(names) // count:(number + 1) * len(names) // count]}
        keys = {} if number else dict(metadata)
        keys.update({'split.no': (U16, number), 'split.count': (U16, count), 'split.tensors.count': (I32, len(names))})
        with open(f'{path.removesuffix(".gguf")}-{number + 1:05}-of-{count:05}.gguf', 'wb') as file:
            file.write(pack(keys, part))


# The converter.


def read_safetensors(path):
    with open(path, 'rb') as file:
        header = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
        data = file.read()
    return {name: (entry['shape'], data[slice(*entry['data_offsets'])]) for name, entry in header.items()
            if name != '__metadata__'}


def transposed(shape, content):
    rows, columns = shape
    values = struct.unpack(f'<{rows * columns}f', content)
    return [columns, rows], b''.join(struct.pack(f'<{rows}f', *values[c::columns]) for c in range(columns))


def paired(shape, content, heads):
    """Puts rows i and i + half of every head side by side."""
    size = len(content) // shape[0]
    half = shape[0] // heads // 2
    rows = [content[r * size:(r + 1) * size] for r in range(shape[0])]
    return shape, b''.join(rows[h * 2 * half + side * half + i] for h in range(heads) for i in range(half)
                           for side in (0, 1))


def to_bf16(values):
    words = [struct.unpack('<I', struct.pack('<f', v))[0] for v in values]
    return struct.pack(f'<{len(words)}H', *((w + 0x7FFF + (w >> 16 & 1)) >> 16 for w in words))


# Matrices that stay f32, as vectors do.
EXACT = ('position_embd', 'token_types', 'attn_rel_b')


def encoded(name, shape, content, element):
    if element == 'F32' or len(shape) < 2 or name.endswith(EXACT):
        return shape, ELEMENTS['F32'], content
    values = struct.unpack(f'<{len(content) // 4}f', content)
    return shape, ELEMENTS[element], to_bf16(values) if element == 'BF16' else struct.pack(f'<{len(values)}e', *values)


LLAMA = {'model.embed_tokens': 'token_embd', 'model.norm': 'output_norm', 'lm_head': 'output',
         'input_layernorm': 'attn_norm', 'self_attn.q_proj': 'attn_q', 'self_attn.k_proj': 'attn_k',
         'self_attn.v_proj': 'attn_v', 'self_attn.o_proj': 'attn_output', 'post_attention_layernorm': 'ffn_norm',
         'self_attn.q_norm': 'attn_q_norm', 'self_attn.k_norm': 'attn_k_norm',
         'mlp.gate_proj': 'ffn_gate', 'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down'}
GPT2 = {'wte': 'token_embd', 'wpe': 'position_embd', 'ln_f': 'output_norm', 'lm_head': 'output', 'ln_1': 'attn_norm',
        'attn.c_attn': 'attn_qkv', 'attn.c_proj': 'attn_output', 'ln_2': 'ffn_norm', 'mlp.c_fc': 'ffn_up',
        'mlp.c_proj': 'ffn_down'}
BERT = {'embeddings.word_embeddings': 'token_embd', 'embeddings.position_embeddings': 'position_embd',
        'embeddings.token_type_embeddings': 'token_types', 'embeddings.LayerNorm': 'token_embd_norm',
        'attention.self.query': 'attn_q', 'attention.self.key': 'attn_k', 'attention.self.value': 'attn_v',
        'attention.output.dense': 'attn_output', 'attention.output.LayerNorm': 'attn_output_norm',
        'intermediate.dense': 'ffn_up', 'output.dense': 'ffn_down', 'output.LayerNorm': 'layer_output_norm'}
T5 = {'shared': 'token_embd', 'lm_head': 'output', 'final_layer_norm': 'output_norm',
      'SelfAttention.q': 'attn_q', 'SelfAttention.k': 'attn_k', 'SelfAttention.v': 'attn_v',
      'SelfAttention.o': 'attn_o', 'SelfAttention.relative_attention_bias': 'attn_rel_b',
      'EncDecAttention.q': 'cross_attn_q', 'EncDecAttention.k': 'cross_attn_k', 'EncDecAttention.v': 'cross_attn_v',
      'EncDecAttention.o': 'cross_attn_o', 'DenseReluDense.wi': 'ffn_up', 'DenseReluDense.wi_0': 'ffn_gate',
      'DenseReluDense.wi_1': 'ffn_up', 'DenseReluDense.wo': 'ffn_down'}


def t5_name(parts):
    """decoder.block.1.layer.2.layer_norm is the norm before the feed-forward part."""
    stack = {'encoder': 'enc.', 'decoder': 'dec.'}.get(parts[0], '')
    if parts[1:2] != ['block']:
        return stack + T5[parts[-1]]
    number, part, inner = parts[2], int(parts[4]), '.'.join(parts[5:])
    norms = ['attn_norm', 'cross_attn_norm', 'ffn_norm'] if stack == 'dec.' else ['attn_norm', 'ffn_norm']
    return f'{stack}blk.{number}.{norms[part] if inner == "layer_norm" else T5[inner]}'


def other_name(names, name):
    parts = name.split('.')
    number = next((i for i, part in enumerate(parts) if part.isdigit()), None)
    if number is None:
        return names.get(name)
    inner = names.get('.'.join(parts[number + 1:]))
    return inner and f'blk.{parts[number]}.{inner}'


def convert_tensors(config, tensors, element):
    family, result = config['model_type'], {}
    for name, (shape, content) in tensors.items():
        stem, end = name.rsplit('.', 1)
        stem = stem.removeprefix('transformer.').removeprefix('bert.')
        names = {'llama': LLAMA, 'qwen3': LLAMA, 'gpt2': GPT2, 'bert': BERT}.get(family)
        found = other_name(names, stem) if names else t5_name(stem.split('.'))
        if not found:  # heads and poolers are left out
            continue
        if family == 'gpt2' and len(shape) == 2 and stem.startswith('h.'):
            shape, content = transposed(shape, content)
        if family == 'llama' and stem.endswith(('q_proj', 'k_proj')):
            heads = 'num_attention_heads' if stem.endswith('q_proj') else 'num_key_value_heads'
            shape, content = paired(shape, content, config[heads])
        result[f'{found}.{end}'] = encoded(found, shape, content, element)
    return result


KEYS = {
    'gpt2': {'context_length': (U32, 'n_positions'), 'embedding_length': (U32, 'n_embd'),
             'block_count': (U32, 'n_layer'), 'attention.head_count': (U32, 'n_head'),
             'attention.layer_norm_epsilon': (F32, 'layer_norm_epsilon')},
    'llama': {'vocab_size': (U32, 'vocab_size'), 'context_length': (U32, 'max_position_embeddings'),
              'embedding_length': (U32, 'hidden_size'), 'block_count': (U32, 'num_hidden_layers'),
              'feed_forward_length': (U32, 'intermediate_size'), 'attention.head_count': (U32, 'num_attention_heads'),
              'attention.head_count_kv': (U32, 'num_key_value_heads'), 'rope.freq_base': (F32, 'rope_theta'),
              'attention.layer_norm_rms_epsilon': (F32, 'rms_norm_eps')},
    'bert': {'context_length': (U32, 'max_position_embeddings'), 'embedding_length': (U32, 'hidden_size'),
             'block_count': (U32, 'num_hidden_layers'), 'feed_forward_length': (U32, 'intermediate_size'),
             'attention.head_count': (U32, 'num_attention_heads'),
             'attention.layer_norm_epsilon': (F32, 'layer_norm_eps')},
    't5': {'embedding_length': (U32, 'd_model'), 'feed_forward_length': (U32, 'd_ff'),
           'block_count': (U32, 'num_layers'), 'decoder_block_count': (U32, 'num_decoder_layers'),
           'attention.head_count': (U32, 'num_heads'), 'attention.key_length': (U32, 'd_kv'),
           'attention.value_length': (U32, 'd_kv'), 'attention.layer_norm_epsilon': (F32, 'layer_norm_epsilon'),
           'attention.layer_norm_rms_epsilon': (F32, 'layer_norm_epsilon'),
           'attention.relative_buckets_count': (U32, 'relative_attention_num_buckets'),
           'decoder_start_token_id': (U32, 'decoder_start_token_id')},
}
KEYS['qwen3'] = {**KEYS['llama'], 'attention.key_length': (U32, 'head_dim'), 'attention.value_length': (U32, 'head_dim')}


def convert_config(config):
    family = config['model_type']
    result = {'general.architecture': (STRING, family), 'general.name': (STRING, 'converted')}
    for key, (kind, name) in KEYS[family].items():
        if name in config:
            result[f'{family}.{key}'] = kind, config[name]
    if family == 'gpt2':
        result['gpt2.feed_forward_length'] = U32, config.get('n_inner') or 4 * config['n_embd']
    if family == 't5':
        result['t5.context_length'] = U32, config.get('n_positions', 512)
    if family == 'llama':
        result['llama.rope.dimension_count'] = U32, config['hidden_size'] // config['num_attention_heads']
    if family == 'bert':
        result['bert.attention.causal'] = BOOL, False
        result['bert.pooling_type'] = U32, 1
    return result


def phantom(token, kind):
    """Marks the beginnings of words, as GGUF does, instead of their continuations."""
    return token if kind == CONTROL else token[2:] if token.startswith('##') else '\u2581' + token


def convert_tokenizer(tokenizer, config, generation):
    model, special = tokenizer['model'], {token['content'] for token in tokenizer['added_tokens'] if token['special']}
    kind = {'WordPiece': 'bert', 'Unigram': 't5'}.get(model['type'], 'llama' if model.get('byte_fallback') else 'gpt2')
    if model['type'] == 'Unigram':
        tokens, scores = map(list, zip(*model['vocab']))
    else:
        ids = {**model['vocab'], **{token['content']: token['id'] for token in tokenizer['added_tokens']}}
        tokens = sorted(ids, key=ids.get)
        ranks = {}
        for rank, merge in enumerate(model.get('merges', [])):
            ranks.setdefault(''.join(merge if isinstance(merge, list) else merge.split(' ')), rank)
        scores = [-float(ranks.get(token, 0)) for token in tokens]
    types = [UNKNOWN if token == '<unk>' else CONTROL if token in special else
             BYTE if kind == 'llama' and token.startswith('<0x') else NORMAL for token in tokens]
    if kind == 'bert':
        tokens = [phantom(*pair) for pair in zip(tokens, types)]
    result = {'model': (STRING, kind), 'tokens': (ARRAY, (STRING, tokens)), 'token_type': (ARRAY, (I32, types))}
    if kind in ('llama', 't5'):
        result['scores'] = ARRAY, (F32, scores)
    if kind == 'gpt2':
        result['pre'] = STRING, 'gpt-2'
        merges = [merge if isinstance(merge, str) else ' '.join(merge) for merge in model['merges']]
        result['merges'] = ARRAY, (STRING, merges)
    named = {'bert': {'cls': '[CLS]', 'seperator': '[SEP]', 'unknown': '[UNK]', 'padding': '[PAD]', 'mask': '[MASK]'},
             't5': {'unknown': '<unk>', 'eos': '</s>', 'padding': '<pad>'}}.get(kind, {})
    for role, token in named.items():
        result[f'{role}_token_id'] = U32, tokens.index(token)
    for role in ('bos', 'eos'):
        if f'{role}_token_id' in generation:
            result[f'{role}_token_id'] = U32, generation[f'{role}_token_id']
    return {f'tokenizer.ggml.{key}': value for key, value in result.items()}


def convert(directory, element='F32'):
    """(metadata, tensors) of a model directory."""
    files = {}
    for name in 'config', 'generation_config', 'tokenizer':
        path = os.path.join(directory, name + '.json')
        if name == 'config' or os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                files[name] = json.load(file)
    metadata = convert_config(files['config'])
    if 'tokenizer' in files:
        metadata.update(convert_tokenizer(files['tokenizer'], files['config'], files.get('generation_config', {})))
    tensors = read_safetensors(os.path.join(directory, 'model.safetensors'))
    return metadata, convert_tensors(files['config'], tensors, element)


def main(directory, path, element='F32', parts='1', *more):
    """`more`: keys with numbers or false, such as llama.pooling_type=3."""
    metadata, tensors = convert(directory, element)
    for key, value in (item.split('=') for item in more):
        metadata[key] = (BOOL, False) if value == 'false' else (U32, int(value))
    if parts != '1':
        return write_parts(path, metadata, tensors, int(parts))
    with open(path, 'wb') as file:
        file.write(pack(metadata, tensors))


if __name__ == '__main__':
    main(*sys.argv[1:])
