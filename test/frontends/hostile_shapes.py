# SPDX-License-Identifier: Apache-2.0
"""hostile_shapes.py TALC DIRECTORY: models in the shapes of vulnerabilities that other loaders had in 2025 and 2026.

Each is (name, what it copies, code, text, write): write(path) makes the model at `path`. talc must refuse it with the code and
the text, or with code None compile it, within SECONDS and MEGABYTES, and print nothing that a terminal obeys.
"""
import json
import os
import resource
import struct
import subprocess
import sys

import gguf_writer as gguf
from gguf_writer import ARRAY, F32, I32, STRING, U32, U64
from make_safetensors import CONFIG, header, pack, shapes, write_model

SECONDS, MEGABYTES = 30, 700
KEYS = {'general.architecture': (STRING, 'gpt2'), 'gpt2.context_length': (U32, 4), 'gpt2.embedding_length': (U32, 4),
        'gpt2.block_count': (U32, 1), 'gpt2.feed_forward_length': (U32, 16), 'gpt2.attention.head_count': (U32, 2),
        'gpt2.attention.layer_norm_epsilon': (F32, 1e-5)}
WORDS = ['<unk>', 'a', 'b', 'ab', 'c', 'd']


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def file(content, size=None):
    """A model of one file; `size`: behind its content there is a hole."""
    def make(path):
        write(path, content)
        if size:
            os.truncate(path, size)
    return make


def directory(**files):
    """A directory with a good model, and other files in it or in the place of its own."""
    def make(path):
        write_model(path)
        for name, content in files.items():
            write(os.path.join(path, name.replace('__', '.')), json.dumps(content) if isinstance(content, dict) else content)
    return make


def start(tensors=0, keys=0, rest=b''):
    return b'GGUF' + struct.pack('<IQQ', 3, tensors, keys) + rest


def tensor(shape, kind=0):
    return start(1, 0, gguf.pad(gguf.info('x', shape, kind, 0), 32)) + bytes(64)


def hole(kind, count):
    """Lists whose values are a hole of the file: 64 KiB on disk, and gigabytes as values."""
    key = gguf.text('k') + struct.pack('<IIQ', ARRAY, kind, count)
    return file(start(0, 1, key) + bytes(1 << 16), 1 << 34)


def words(**changes):
    keys = {'model': (STRING, 'llama'), 'tokens': (ARRAY, (STRING, WORDS)), 'scores': (ARRAY, (F32, 6 * [-1.0])),
            'token_type': (ARRAY, (I32, [2, 1, 1, 1, 1, 1])), **changes}
    names = {'token_embd.weight': ([6, 4], 0, bytes(96)), 'position_embd.weight': ([4, 4], 0, bytes(64))}
    for stem, *shape in (('attn_qkv', 12, 4), ('attn_output', 4, 4), ('ffn_up', 16, 4), ('ffn_down', 4, 16), ('attn_norm', 4),
                         ('ffn_norm', 4)):
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        names[f'blk.0.{stem}.weight'], names[f'blk.0.{stem}.bias'] = (shape, 0, bytes(size)), (shape[:1], 0, bytes(4 * shape[0]))
    names['output_norm.weight'] = names['output_norm.bias'] = [4], 0, bytes(16)
    return file(gguf.pack({**KEYS, **{f'tokenizer.ggml.{name}': value for name, value in keys.items()}}, names))


def tokenizer(**model):
    return directory(tokenizer__json={'model': {'type': 'BPE', 'vocab': {'a': 0}, 'merges': [], **model}})


def split(pattern):
    return directory(tokenizer__json={
        'model': {'type': 'BPE', 'vocab': {'a': 0}, 'merges': []},
        'pre_tokenizer': {'type': 'Split', 'pattern': {'Regex': pattern}, 'behavior': 'Isolated', 'invert': False}})


def sharded(name):
    def make(path):
        write_model(path, files={'model.safetensors.index.json': {'weight_map': {'wte.weight': name}}})
        write(path + '.outside/x.safetensors', pack(*header(shapes())))
    return make


def entries(**changes):
    all_entries, size = header(shapes())
    all_entries['wte.weight'] = {**all_entries['wte.weight'], **changes}
    return directory(model__safetensors=pack(all_entries, size))


def many(text, megabytes=8):
    return text * ((megabytes << 20) // len(text))


FORBIDDEN = 'expected the plain name of a .safetensors file'
CASES = [
    # llama.cpp and what is built on it.
    ('tensor-count', 'CVE-2025-53630: the number of tensors times their size wraps', 'T0202', 'tensors, expected at most',
     file(start(2 ** 64 // 368 + 1))),
    ('tensor-bytes', 'CVE-2026-33298: the bytes of a tensor wrap', 'T0202', 'impossible shape', file(tensor((2 ** 31, 2 ** 31, 4)))),
    ('tensor-padding', 'as before, where only the alignment wraps', 'T0202', 'truncated', file(tensor((2 ** 61 - 1,)))),
    ('block-bytes', 'as before, in blocks', 'T0202', 'truncated', file(tensor((2 ** 40, 2 ** 20), 2))),
    ('alignment', 'an alignment of 2^31, 2026', 'T0202', 'expected a power of two',
     file(gguf.pack({**KEYS, 'general.alignment': (U32, 2 ** 31)}, {}))),
    ('alignment-type', 'an alignment of another type, 2026', 'T0202', 'is not a u32',
     file(gguf.pack({**KEYS, 'general.alignment': (I32, 32)}, {}))),
    ('text-length', 'CVE-2024-23496: the length of a text plus one wraps', 'T0202', 'has a text of 18446744073709551615 bytes',
     file(start(0, 1, struct.pack('<Q', 2 ** 64 - 1)))),
    ('key-count', 'CVE-2025-0315: memory for as many keys as the header says', 'T0202', 'keys, expected at most', file(start(0, 2 ** 60))),
    ('rank-zero', 'CVE-2025-0317: divides by a number of the file', 'T0202', 'impossible shape', file(tensor((0, 4)))),
    ('heads-zero', 'the same, by the number of heads', 'T0104', 'head_count', file(gguf.pack({**KEYS, 'gpt2.attention.head_count': (U32, 0)}, {}))),
    ('token-length', 'CVE-2025-49847: the length of a token as a negative number', 'T0318', 'longer than', words(tokens=(ARRAY, (STRING, [
        'x' * (1 << 20)] + WORDS[1:])))),
    ('token-byte', 'a byte token <0x-1> before the table of bytes, 2026', None, '',
     words(tokens=(ARRAY, (STRING, WORDS[:5] + ['<0x-1>'])), token_type=(ARRAY, (I32, [2, 1, 1, 1, 1, 6])))),
    ('list-hole', 'a sparse file, whose holes become values', 'T0202', 'more than a file that stores', hole(U64, 1 << 24)),
    ('list-hole-texts', 'the same with empty texts', 'T0202', 'more than a file that stores', hole(STRING, 1 << 24)),
    ('text-hole', 'one text of gigabytes in a hole', 'T0202', 'in holes of the file',
     file(start(0, 1, gguf.text('k') + struct.pack('<IQ', STRING, 1 << 33)) + bytes(1 << 16), 1 << 34)),
    # safetensors.
    ('header-length', 'a header longer than memory', 'T0202', 'expected at most 100000000', directory(model__safetensors=b'\xff' * 8 + b'{}')),
    ('header-hole', 'a header that is a hole', 'T0202', 'not valid JSON', lambda path: (directory(model__safetensors=struct.pack(
        '<Q', 90_000_000) + b'{')(path), os.truncate(os.path.join(path, 'model.safetensors'), 1 << 30))),
    ('shape-product', 'the product of dimensions wraps', 'T0202', 'exceeds 2^64', entries(shape=[2 ** 33, 2 ** 33, 2])),
    ('shape-zero', 'no values, but bytes', 'T0202', 'bytes of data, expected 0', entries(shape=[0, 2 ** 62])),
    ('offsets', 'offsets whose difference wraps', 'T0202', 'whose end lies before', entries(data_offsets=[2 ** 64 - 1, 95])),
    ('offsets-signed', 'negative offsets', 'T0202', 'a negative number', entries(data_offsets=[-96, 0])),
    # Paths (CVE-2025-12060, CVE-2024-37032, zip slip).
    *((f'shard-{number}', 'a shard elsewhere', 'T0206', FORBIDDEN, sharded(name)) for number, name in enumerate((
        '../shard-0.outside/x.safetensors', '/etc/x.safetensors', './x.safetensors', 'a/../x.safetensors', '..\\x.safetensors',
        'C:\\x.safetensors', 'file:///x.safetensors', '.x.safetensors', 'x.safetensors\0', '\x1b]0;x\x07/.safetensors', 'x' * 300 + '/.safetensors'))),
    # Code in models (CVE-2025-32434, CVE-2026-5760): nothing of it is run.
    ('pickle', 'weights that run code when they are read', 'T0201', 'can run code', lambda path: write_model(
        path, files={'pytorch_model.bin': b'\x80\x02cposix\nsystem\nq\0X\x04\0\0\0touchq\x01\x85q\x02Rq\x03.'})),
    ('template', 'a template that leaves its sandbox', None, '', directory(tokenizer_config__json={
        'chat_template': "{{ ''.__class__.__mro__[1].__subclasses__() }}"}, chat_template__jinja='{% for i in range(10**12) %}{% endfor %}')),
    ('remote-code', 'a configuration that names code', None, '', directory(config__json={
        **CONFIG, 'auto_map': {'AutoModel': '../../evil.py--Evil'}})),
    # Tokenizers (CVE-2025-1194, CVE-2025-3933, CVE-2025-6638: patterns without end).
    ('pattern-nested', 'repetitions of repetitions', None, '', split('(a+)+$|(?:a|aa)+$|(?:a+b?)+c')),
    ('pattern-counts', 'counts that multiply', 'T0317', '', split('((a{1000}){1000}){1000}')),
    ('pattern-count', 'a count beyond memory', 'T0317', '', split('a{100001}')),
    ('pattern-deep', 'groups without end', 'T0317', '', split('(' * 60000)),
    ('pattern-alternatives', 'alternatives without end', 'T0318', '', split('|'.join(['a'] * 100000))),
    ('vocabulary-id', 'an id beyond memory', 'T0318', 'in a vocabulary of 1 tokens', tokenizer(vocab={'a': 2 ** 24 - 1})),
    ('vocabulary-id-32', 'an id that wraps', 'T0313', 'expected a token id', tokenizer(vocab={'a': 2 ** 32})),
    ('vocabulary-id-negative', 'an id before the table', 'T0313', 'expected a token id', tokenizer(vocab={'a': -1})),
    ('json-deep', 'lists in lists', 'T0312', 'nested deeper than 64', directory(tokenizer__json='[' * 1000000)),
    ('json-objects', 'values that are much larger than their text', 'T0318', 'values', directory(tokenizer__json='[' + many('{},') + '0]')),
    ('json-numbers', 'the same of numbers', 'T0318', 'values', directory(tokenizer__json='[' + many('0,') + '0]')),
    ('json-keys', 'the same of keys', 'T0318', 'values', directory(tokenizer__json='{' + many('"":0,') + '"":0}')),
    ('config-values', 'the same in the configuration', 'T0101', 'values', directory(config__json='{"x": [' + many('{},') + '0]}')),
    ('index-values', 'the same in the index', 'T0206', 'values', lambda path: write_model(
        path, files={'model.safetensors.index.json': '{"x": [' + many('[],') + '0]}'})),
    ('vocabulary-lines', 'a token in each byte', 'T0318', 'lines', directory(vocab__txt=many('a\n'), tokenizer_config__json={
        'tokenizer_class': 'BertTokenizer'})),
    ('config-deep', 'objects in objects', 'T0101', 'nested deeper than 64', directory(config__json='{"a":' * 100000)),
    ('config-number', 'numbers beyond all types', 'T0101', '', directory(config__json='{"model_type": "gpt2", "n_embd": 1e999}')),
    ('config-sizes', 'sizes whose product wraps', 'T0104', '', directory(config__json={**CONFIG, 'n_embd': 2 ** 31, 'vocab_size': 2 ** 33})),
    # Lines of another program.
    ('forged-error', 'names that forge lines', 'T0102', '', directory(config__json={'model_type': '\n\x1b[31merror[T0000]: x\x9b2J\u202e'})),
    ('forged-name', 'the same in a tensor', 'T0202', '', directory(model__safetensors=pack({'\r\nwarning: x\x1b[2J\u009b': {'dtype': 'X'}}, 0))),
]


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def problem(path, code, text):
    command = [sys.argv[1], 'compile', path, '--stop-after=import']
    with open(path + '.errors', 'wb') as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limits)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    with open(path + '.errors', 'rb') as errors:
        said = errors.read().decode('utf-8', 'replace')
    lines = said.splitlines()
    controls = [c for c in said if c != '\n' and (c < ' ' or '\x7f' <= c <= '\x9f' or '\u202a' <= c <= '\u202e')]
    if process.returncode != (1 if code else 0):
        return f'status {process.returncode}', said
    if controls or not all(line.startswith(('error[T', 'warning: ', 'remark: ')) for line in lines):
        return 'lines of another form', said
    if code and not any(line.startswith(f'error[{code}]: ') and text in line for line in lines):
        return f'expected {code} ... {text}', said
    if usage.ru_maxrss > MEGABYTES << 10:
        return f'{usage.ru_maxrss >> 10} MiB of memory', said
    return '', said


def main(talc, root):
    failures = 0
    for name, copied, code, text, make in CASES:
        path = os.path.join(root, name)
        make(path)
        what, said = problem(path, code, text)
        if what:
            failures += 1
            print(f'{name} ({copied}): {what}; found:\n{said[:600]}')
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
