# SPDX-License-Identifier: Apache-2.0
"""gpu_bounds.py TALC APP...: the least time that an H100 could take for each kernel of programs for NVIDIA GPUs, as CSV: a step of
512 tokens, and one of a token behind 128. Nothing is measured: operations and bytes are what the compiler counted, and what
the GPU can do is its data sheet's (SXM). Weights and states come from memory; activations may stay in the cache of 50 MB, and
do not count. Matmuls of 16-bit weights run on tensor cores, all else in f32. Kernels below 1 % of a step are left out.
"""
import csv
import io
import os
import subprocess
import sys

MEMORY, MATRICES, F32 = 3.35e12, 989e12, 67e12  # bytes, operations per second


def floor(row):
    """(seconds of all calls, what sets them)"""
    matrices = row['piece'] == 'matmul' and row['shapes'].endswith('16')
    computing = int(row['operations']) / (MATRICES if matrices else F32)
    reading = int(row['stored_bytes']) / MEMORY
    return max((reading, 'memory'), (computing, 'matrices' if matrices else 'f32'))


def main():
    talc, *apps = sys.argv[1:]
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(('model', 'step', 'kernel', 'shape', 'calls', 'MFLOP', 'MB', 'floor, us', 'bound'))
    for app in apps:
        text = subprocess.run([talc, 'bench', app, '--kernels', '-p', '512', '-n', '1', '-d', '0,128', '-o', 'csv'], check=True,
                              capture_output=True, text=True).stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        for test in 'pp512', 'tg1 @ d128':
            step = [(row, *floor(row)) for row in rows if row['test'] == test]
            if not step:  # more tokens than the model takes
                continue
            total = sum(seconds for _, seconds, _ in step)
            name = os.path.basename(app)
            for row, seconds, bound in step:
                if seconds >= 0.01 * total:
                    out.writerow((name, test, row['piece'], row['shapes'], row['calls'], f'{1e-6 * int(row["operations"]):.0f}',
                                  f'{1e-6 * int(row["stored_bytes"]):.1f}', f'{1e6 * seconds:.1f}', bound))
            out.writerow((name, test, 'all', '', '', f'{sum(int(row["operations"]) for row, *_ in step) / 1e6:.0f}',
                          f'{sum(int(row["stored_bytes"]) for row, *_ in step) / 1e6:.1f}', f'{1e6 * total:.1f}', ''))


main()
