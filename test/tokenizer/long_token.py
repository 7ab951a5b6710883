# SPDX-License-Identifier: Apache-2.0
"""Prints a tokenizer.json whose merges double the letter a eleven times."""
import json

powers = ['a' * 2**n for n in range(12)]
print(json.dumps({'model': {'type': 'BPE', 'vocab': {text: id for id, text in enumerate(powers)},
                            'merges': [[text, text] for text in powers[:-1]]}}))
