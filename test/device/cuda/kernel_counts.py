# SPDX-License-Identifier: Apache-2.0
"""kernel_counts.py BIN LIBRARIES APP [ARGUMENTS]: runs a program on the emulator of NVIDIA GPUs, and prints what each of its kernels
did. BIN is the folder of talc, LIBRARIES that of the emulator's libcuda.so.1; ARGUMENTS are the program's, by default those of
one token.

launches, workgroups   of all steps
mma                    MMA instructions
other per mma          all others of a warp for each of these
mma per shared load    MMA instructions for each that loads from shared memory
sectors per request    32-byte sectors that a load or store of a warp touches: 4 if its lanes have neighbouring words
read, x stored         bytes of sectors that were loaded, for each byte of weights and states that the compiler counted
conflicts              passes of shared memory beyond those that the bytes need, for 100 requests
barriers               that a workgroup passed
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

CLASSES = ('integer', 'float', 'special', 'convert', 'move', 'branch', 'param', 'global', 'shared', 'local', 'cpasync', 'mma',
           'ldmatrix', 'exchange', 'atomic', 'barrier')
FIELDS = ('launches', 'workgroups', 'thread instructions', *CLASSES, 'loads', 'load sectors', 'load bytes', 'stores', 'store sectors',
          'store bytes', 'shared requests', 'shared loads', 'conflicts', 'barriers')
COLUMNS = ('kernel', 'shape', 'launches', 'workgroups', 'instructions', 'float', 'mma', 'other per mma', 'mma per shared load',
           'sectors per request', 'read, x stored', 'conflicts', 'barriers')


def run_counted(libraries, app, arguments):
    """{kernel: {field: number}}, of the emulator's table."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'counts')
        environment = {**os.environ, 'LD_LIBRARY_PATH': libraries, 'FAKE_CUDA_COUNTS': path, 'TALC_CUDA_STEP': 'launches'}
        subprocess.run([app, *arguments, '-q', '--device=cuda'], check=True, stdout=subprocess.DEVNULL, env=environment)
        with open(path) as file:
            lines = [line.split() for line in file.read().splitlines()[1:] if line]
    return {name: dict(zip(FIELDS, map(int, numbers))) for name, *numbers in lines}


def listed(talc, app):
    """{kernel: what the compiler counted}; of one that several phases have, the last."""
    text = subprocess.run([talc, 'bench', app, '--kernels', '-p', '8', '-n', '1', '-o', 'csv'], check=True, capture_output=True,
                          text=True).stdout
    return {row['kernel']: row for row in csv.DictReader(io.StringIO(text))}


def ratio(a, b, digits=2):
    return f'{a / b:.{digits}f}' if b else ''


def cells(name, found, entry):
    instructions = sum(found[kind] for kind in CLASSES)
    # A launch reads its weights once, whatever its rows.
    stored = found['launches'] * int(entry['stored_bytes']) / int(entry['calls']) if entry['piece'] == 'matmul' else 0
    mma = found['mma']
    return (name, entry['shapes'], found['launches'], found['workgroups'], instructions, found['float'], mma,
            ratio(instructions - mma, mma), ratio(mma, found['shared loads'] if mma else 0, 1),
            ratio(found['load sectors'] + found['store sectors'], found['loads'] + found['stores']),
            ratio(32 * found['load sectors'], stored, 3), ratio(100 * found['conflicts'], found['shared requests'], 0),
            ratio(found['barriers'], found['workgroups'], 0))


def main():
    programs, libraries, app, *arguments = sys.argv[1:]
    entries = listed(os.path.join(programs, 'talc'), app)
    print('| ' + ' | '.join(COLUMNS) + ' |\n' + '| --- ' * len(COLUMNS) + '|')
    for name, found in run_counted(libraries, app, arguments or ['--ids', '1', '-n', '1']).items():
        if name in entries:
            print('| ' + ' | '.join(map(str, cells(name, found, entries[name]))) + ' |')


main()
