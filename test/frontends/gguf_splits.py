# SPDX-License-Identifier: Apache-2.0
"""gguf_splits.py TALC MODEL FILE: what tokenizer.ggml.pre says of where words end, in a GGUF file of MODEL with merges
that only words have which another name would have cut.
"""
import subprocess
import sys

import gguf_writer as gguf

TALC, MODEL, FILE = sys.argv[1:]
# Across a capital letter, before an ending such as 's, of digits, of a mark and a letter, of punctuation and a symbol.
MERGES = 'sH', "x'", '12', '(f', '-+'
TEXT = "foxesHide the fox's it(fox -+ 12"
EXPECTED = {
    'gpt-2': ['sH', '12', '-+'],
    'gpt-4o': ["x'", '12', '(f', '-+'],
    'deepseek-llm': ['sH', '-+'],
    'deepseek-coder': ['sH'],
    'deepseek-v3': ['sH', '12', '(f', '-+'],
}


def replace(tokens, merges, all_new):
    """Tokens that no merge needs make place for some of two characters, whose merges are the first."""
    used = {part for merge in merges for part in merge.split(' ')}
    free = [i for i, token in enumerate(tokens)
            if token not in used and any(merge.replace(' ', '') == token for merge in merges)]
    places = free[:len(all_new)]
    merges[:] = [merge for merge in merges if merge.replace(' ', '') not in [tokens[i] for i in places]]
    for place, new in zip(places, all_new):
        tokens[place] = new
        merges.insert(0, ' '.join(new))
    return places


def tokens_of(name):
    metadata, tensors = gguf.convert(MODEL)
    tokens, merges = (metadata[f'tokenizer.ggml.{key}'][1][1] for key in ('tokens', 'merges'))
    ids = replace(tokens, merges, MERGES)
    metadata['tokenizer.ggml.pre'] = gguf.STRING, name
    with open(FILE + '.gguf', 'wb') as file:
        file.write(gguf.pack(metadata, tensors))
    subprocess.run([TALC, 'compile', FILE + '.gguf', '-o', FILE], check=True)
    found = subprocess.run([FILE, '--tokenize', '-p', TEXT], capture_output=True, text=True, check=True).stdout
    return [merge for merge, id in zip(MERGES, ids) if str(id) in found.replace(',', ' ').split()]


for name, expected in EXPECTED.items():
    found = tokens_of(name)
    assert found == expected, f'{name}: {found}, expected {expected}'
