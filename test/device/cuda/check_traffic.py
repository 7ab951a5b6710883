# SPDX-License-Identifier: Apache-2.0
"""check_traffic.py BIN DIRECTORY: what the emulator counts of matmuls, in a layer of GPT-2's size and a head whose outputs fill no
panels. One token reads every weight once, in whole sectors, and little else; many tokens need few requests of shared memory. No
kernel, whatever it does, meets banks of shared memory that are busy."""
import json
import os
import re
import subprocess
import sys

BIN, DIRECTORY = sys.argv[1:]
# Columns of the emulator's table.
COLUMNS = {'launches': 1, 'MMA instructions': 15, 'sectors': -9, 'shared requests': -4, 'shared loads': -3, 'conflicts': -2}
MOST_TRAFFIC = 1.03  # sectors, in bytes, for every byte of a weight
VOCABULARY = 4129  # the last panel of 64 outputs is half empty


def compiled(width, weights):
    """A program of one layer, and the bytes of each matmul's weight, without those that panels add."""
    config = {'model_type': 'gpt2', 'n_embd': width, 'n_head': width // 64, 'n_layer': 1, 'n_positions': 128, 'vocab_size': VOCABULARY,
              'activation_function': 'gelu_new', 'layer_norm_epsilon': 1e-5, 'bos_token_id': 0, 'eos_token_id': 0}
    folder = os.path.join(DIRECTORY, f'{width}-{weights}')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'config.json'), 'w') as file:
        json.dump(config, file)
    compile = [os.path.join(BIN, 'talc'), 'compile', folder, '--random-weights=1', '--target=nvptx', f'--weights={weights}']
    program = subprocess.run([*compile, '--stop-after=bufferize'], check=True, capture_output=True, text=True).stdout
    subprocess.run([*compile, '-o', os.path.join(folder, 'app')], check=True, capture_output=True)
    size = {'f32': 4, 'bf16': 2}[weights]
    stored = {name: size * int(depth) * int(outputs)
              for name, depth, outputs in re.findall(r'name = "(matmul_\d+)".*?shapes = "(\d+) x (\d+) ', program)}
    return os.path.join(folder, 'app'), stored


def counts(app, ids):
    """Runs a program, and returns the counts of each kernel."""
    path = os.path.join(DIRECTORY, 'counts')
    subprocess.run([app, '--ids', ','.join(map(str, ids)), '-n', '1', '-q'], check=True, capture_output=True,
                   env={**os.environ, 'FAKE_CUDA_COUNTS': path, 'TALC_CUDA_STEP': 'launches'})
    with open(path) as file:
        lines = [line.split() for line in file.read().splitlines()[1:]]
    found = {line[0]: {name: int(line[place]) for name, place in COLUMNS.items()} for line in lines if line}
    for name, of in found.items():
        assert of['conflicts'] == 0, f'{name} meets banks that are busy: {of}'
    return found


def check_token(app, stored, expected):
    """`expected`: so many matmuls."""
    found = counts(app, [5])
    names = sorted(set(found) & set(stored))
    assert len(names) == expected, names
    for name in names:
        traffic = 32 * found[name]['sectors'] / found[name]['launches'] / stored[name]
        assert 1 <= traffic <= MOST_TRAFFIC, f'{name} reads {traffic:.3f} times its weight'


def check_prompt(app, stored):
    found = counts(app, range(32))
    names = sorted(set(found) & set(stored))
    assert len(names) >= 5, names
    for name in names:
        of = found[name]
        # Asynchronous copies are requests, too, as many as loads.
        assert of['MMA instructions'] >= 4.5 * of['shared requests'], f'{name}: {of}'
        assert of['MMA instructions'] >= 8 * of['shared loads'], f'{name}: {of}'


def main():
    for width, weights in (768, 'bf16'), (768, 'f32'):
        app, stored = compiled(width, weights)
        check_token(app, stored, 5)
        if weights == 'bf16':
            check_prompt(app, stored)
    # An odd number of panels of 64 columns.
    app, stored = compiled(576, 'bf16')
    check_token(app, {name: bytes for name, bytes in stored.items() if bytes == 2 * 576 * 3 * 576}, 1)


main()
