# SPDX-License-Identifier: Apache-2.0
"""info.py TESTS APP JSON: what --info --json prints is the manifest of the artifact with its hashes."""
import json
import sys

sys.path.insert(0, sys.argv[1])
import artifact

with open(sys.argv[3], encoding='utf-8') as file:
    found = json.load(file)
sections = artifact.read_sections(sys.argv[2])
manifest = json.loads(sections['manifest'])
assert found.pop('weights_hash') == f'{artifact.hash_bytes(sections["weights"]):016x}', 'hash of the weights'
assert int(found.pop('artifact_hash'), 16) > 0, 'hash of the artifact'
assert found == manifest, 'another object than the manifest'
for key, value in (('family', 'gpt2'), ('compiled', '2026-01-02'), ('targets', ['x86-64-v3']), ('vocabulary', 780),
                   ('max_sequence', 64), ('longest_sequence', 256), ('kv_formats', {'keys': 'f16', 'values': 'f16'})):
    assert manifest[key] == value, key
assert manifest['origin']['model'] == 'tales', 'origin'
assert sum(entry['weights'] for entry in manifest['formats'].values()) == len(manifest['weights']), 'formats'
