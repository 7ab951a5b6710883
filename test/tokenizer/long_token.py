# SPDX-License-Identifier: Apache-2.0
"""long_token.py KIND: prints a tokenizer.json with long tokens, of every kind a token a, and added tokens of 3000 letters z.
BPE: merges that double the letter a eleven times. Others: a token of 60000 letters, or of 5000 where a text is looked up
from every letter."""
import json
import sys

kind = sys.argv[1]
long = 'b' * (5000 if kind == 'Unigram' else 60000)
powers = ['a' * 2**n for n in range(12)]
model = {
    'BPE': {'vocab': {text: id for id, text in enumerate(powers)}, 'merges': [[text, text] for text in powers[:-1]]},
    'WordLevel': {'vocab': {'a': 0, long: 1, '?': 2}, 'unk_token': '?'},
    'Unigram': {'vocab': [['a', -1.0], [long, -1.0], ['b', -2.0]], 'unk_id': 0},
    'WordPiece': {'vocab': {'a': 0, long: 1, '##' + long: 2, '?': 3}, 'unk_token': '?',
                  'continuing_subword_prefix': '##', 'max_input_chars_per_word': 130000},
}[kind]
print(json.dumps({'model': {'type': kind, **model}, 'pre_tokenizer': {'type': 'WhitespaceSplit'},
                  'added_tokens': [{'id': 12, 'content': 'z' * 3000, 'special': True}]}))
