# SPDX-License-Identifier: Apache-2.0
"""check_traffic.py BIN DIRECTORY: what the emulator counts of contractions by matrix instructions, in a layer of GPT-2's size. One
token reads every weight once, in whole sectors, and little else; many tokens need few requests of shared memory."""
import json
import os
import re
import subprocess
import sys

BIN, DIRECTORY = sys.argv[1:]
CONFIG = {'model_type': 'gpt2', 'n_embd': 768, 'n_head': 12, 'n_layer': 1, 'n_positions': 128, 'vocab_size': 1024,
          'activation_function': 'gelu_new', 'layer_norm_epsilon': 1e-5, 'bos_token_id': 0, 'eos_token_id': 0}
# Of the emulator's table.
COLUMNS = {'launches': 1, 'matrix instructions': 15, 'sectors': -9, 'shared requests': -4, 'shared loads': -3, 'conflicts': -2}
MOST_TRAFFIC = 1.03  # sectors, in bytes, for every byte of a weight


def talc(*options):
    return subprocess.run([os.path.join(BIN, 'talc'), 'compile', os.path.join(DIRECTORY, 'model'), '--random-weights=1',
                           '--target=nvptx', '--weights=bf16', *options], check=True, capture_output=True, text=True).stdout


def counts(app, ids):
    """What each kernel did."""
    path = os.path.join(DIRECTORY, 'counts')
    subprocess.run([app, '--ids', ','.join(map(str, ids)), '-n', '1', '-q'], check=True, capture_output=True,
                   env={**os.environ, 'FAKE_CUDA_COUNTS': path, 'TALC_CUDA_STEP': 'launches'})
    with open(path) as file:
        lines = [line.split() for line in file.read().splitlines()[1:]]
    return {line[0]: {name: int(line[place]) for name, place in COLUMNS.items()} for line in lines if line}


def main():
    os.makedirs(os.path.join(DIRECTORY, 'model'), exist_ok=True)
    with open(os.path.join(DIRECTORY, 'model', 'config.json'), 'w') as file:
        json.dump(CONFIG, file)
    app = os.path.join(DIRECTORY, 'app')
    talc('-o', app)
    stored = {}
    for name, kernel in re.findall(r'name = "(contract_\d+)"(.*?)\}', talc('--stop-after=bufferize')):
        stored[name] = int(re.search(r'stored_bytes_per_call = (\d+)', kernel).group(1))
    one, many = counts(app, [5]), counts(app, range(32))
    ofOne, ofMany = (sorted(set(found) & set(stored)) for found in (one, many))
    assert len(ofOne) == 5 and len(ofMany) >= 5, (ofOne, ofMany)
    for name in ofOne:
        traffic = 32 * one[name]['sectors'] / one[name]['launches'] / stored[name]
        assert 1 <= traffic <= MOST_TRAFFIC, f'{name} reads {traffic:.3f} times its weight'
    for counted, names in ((one, ofOne), (many, ofMany)):
        for name in names:
            assert counted[name]['conflicts'] == 0, f'{name} meets banks that are busy: {counted[name]}'
    for name in ofMany:
        found = many[name]
        # Asynchronous copies are requests, too, as many as loads.
        assert found['matrix instructions'] >= 4 * found['shared requests'], f'{name}: {found}'
        assert found['matrix instructions'] >= 8 * found['shared loads'], f'{name}: {found}'


main()
