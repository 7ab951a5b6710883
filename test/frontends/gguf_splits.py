# SPDX-License-Identifier: Apache-2.0
"""gguf_splits.py TALC MODEL FILE: what tokenizer.ggml.pre says of where words end, in a GGUF file of MODEL with two merges
that only words have which another name would have cut.
"""
import subprocess
import sys

import gguf_writer as gguf

TALC, MODEL, FILE = sys.argv[1:]
# The text has the merge across a capital letter, the merge before a contraction: under gpt-4o, under gpt-2.
ACROSS, BEFORE = 'sH', "x'"
TEXT = "foxesHide the fox's"
EXPECTED = {'gpt-2': (True, False), 'gpt-4o': (False, True)}


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
    ids = replace(tokens, merges, (ACROSS, BEFORE))
    metadata['tokenizer.ggml.pre'] = gguf.STRING, name
    with open(FILE + '.gguf', 'wb') as file:
        file.write(gguf.pack(metadata, tensors))
    subprocess.run([TALC, 'compile', FILE + '.gguf', '-o', FILE], check=True)
    found = subprocess.run([FILE, '--tokenize', '-p', TEXT], capture_output=True, text=True, check=True).stdout
    return tuple(str(id) in found.replace(',', ' ').split() for id in ids)


for name, expected in EXPECTED.items():
    found = tokens_of(name)
    assert found == expected, f'{name}: {found}, expected {expected}'
