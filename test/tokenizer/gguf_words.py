# SPDX-License-Identifier: Apache-2.0
"""gguf_words.py TOKENIZE FILE: how tokenizers of GGUF files with small vocabularies cut texts, by the patterns of the
models' tokenizer.json.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'frontends'))
import gguf_writer as gguf  # noqa: E402

TOKENIZE, FILE = sys.argv[1:]
LETTERS = ['a', 'b', 'B', "'", 's', '1', '2', '3', '4', '\u0120', '.', '/']
# Each is one token where a word may contain it.
MERGED = ['ab', 'bB', "'s", '12', '123', '\u01201', './', '\u0120.']
MERGES = ['a b', 'b B', "' s", '1 2', '12 3', '\u0120 1', '. /', '\u0120 .']
TEXTS = ['bB', "a's", '1234', ' 1', './', ' .']


def write(keys):
    with open(FILE, 'wb') as file:
        file.write(gguf.pack({f'general.{k[1:]}' if k[0] == '.' else f'tokenizer.ggml.{k}': v for k, v in keys.items()}, {}))


def encode(texts):
    done = subprocess.run([TOKENIZE, FILE, 'encode'], input='\n'.join(texts) + '\n', capture_output=True, text=True)
    return done.stderr.strip() or [[int(id) for id in line.split()] for line in done.stdout.splitlines()]


def words(pre):
    """The text's tokens, joined by spaces."""
    tokens = LETTERS + MERGED
    write({'model': (gguf.STRING, 'gpt2'), 'pre': (gguf.STRING, pre), 'tokens': (gguf.ARRAY, (gguf.STRING, tokens)),
           'merges': (gguf.ARRAY, (gguf.STRING, MERGES))})
    found = encode(TEXTS)
    return found if isinstance(found, str) else [' '.join(tokens[id] for id in ids) for ids in found]


EXPECTED = {
    'gpt-2': ['bB', "a 's", '123 4', '\u01201', './', '\u0120.'],
    'modern-bert': ['bB', "a 's", '123 4', '\u01201', './', '\u0120.'],
    'smollm': ['bB', "a 's", '1 2 3 4', '\u0120 1', './', '\u0120.'],
    'falcon': ['bB', "a ' s", '123 4', '\u01201', './', '\u0120 .'],
    'default': ['bB', "a ' s", '123 4', '\u0120 1', './', '\u0120 .'],
    'dbrx': ['bB', "a 's", '123 4', '\u0120 1', './', '\u0120.'],
    'falcon3': ['bB', "a 's", '123 4', '\u0120 1', './', '\u0120.'],
    'stablelm2': ['bB', "a 's", '1 2 3 4', '\u0120 1', './', '\u0120.'],
    'tekken': ['b B', "a 's", '1 2 3 4', '\u0120 1', './', '\u0120.'],
    'kimi-k2': ['b B', "a 's", '123 4', '\u0120 1', './', '\u0120.'],
    'afmoe': ['bB', "a 's", '1 2 3 4', '\u0120 1', './', '\u0120.'],
}
PHI = ['<unk>', '<s>', '</s>', '\u2581', 'a', '\u2581a', '<|user|>', '<|end|>', '<0x0A>']
PHI_TYPES = [gguf.UNKNOWN, gguf.CONTROL, gguf.CONTROL, 1, 1, 1, gguf.CONTROL, gguf.NORMAL, gguf.BYTE]


def phi(name):
    write({'.name': (gguf.STRING, name), 'model': (gguf.STRING, 'llama'), 'tokens': (gguf.ARRAY, (gguf.STRING, PHI)),
           'scores': (gguf.ARRAY, (gguf.F32, [0.0] * len(PHI))), 'token_type': (gguf.ARRAY, (gguf.I32, PHI_TYPES)),
           'bos_token_id': (gguf.U32, 1), 'unknown_token_id': (gguf.U32, 0)})
    return encode(['<|user|> a<|end|>  <|user|>'])


def check(what, found, expected):
    assert found == expected, f'{what}: {found}, expected {expected}'


for pre, expected in EXPECTED.items():
    check(pre, words(pre), expected)
check('mystery', '--tokenizer=DIR' in words('mystery'), True)
# <|end|> is a control token by its text, whatever its type says.
check('phi', phi('Phi-3 mini'), [[1, 6, 5, 7, 6]])
