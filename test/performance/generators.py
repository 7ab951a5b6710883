# SPDX-License-Identifier: Apache-2.0
"""generators.py [-r ROUNDS] [-t THREADS] TALC [OP...]: ops whose loops MLIR and Halide make, side by side, as CSV.

Without ops those of docs/performance.md: products, the layers of BERT-base and GPT-2 small for 128 tokens, and pieces of rows. The
programs take turns in one process (talc bench --op); times are medians.
"""
import argparse
import csv
import subprocess
import sys

PRODUCTS = ['512x512x512', '1024x1024x1024', '2048x2048x2048', '128x768x2304', '128x768x3072', '128x3072x768', '512x2048x2048',
            '512x2048x8192']
OPS = [*(f'linear {shape}' for shape in PRODUCTS),
       'linear 128x768x2304 bias', 'linear 128x768x768 bias', 'linear 128x768x3072 gelu', 'linear 128x3072x768 bias',
       'norm 128x768 layer', 'norm 128x768 rms', 'softmax 128x768',
       'attention 128x12x12x64 full', 'attention 128x12x12x64 causal', 'attention 512x12x12x64 causal', 'attention 512x32x8x64 causal']


def measured(options, op):
    """Seconds by MLIR and by Halide."""
    command = [options.talc, 'bench', '--op', op, '--generator=mlir,halide', '-t', options.threads, '-r', options.rounds, '-o', 'csv']
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    row = next(csv.DictReader(output[output.index('op,'):].splitlines()))
    return float(row['seconds']), float(row['halide_seconds'])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-r', '--rounds', default='11')
    parser.add_argument('-t', '--threads', default='1')
    parser.add_argument('talc')
    parser.add_argument('ops', nargs='*', default=OPS)
    options = parser.parse_args()
    table = csv.writer(sys.stdout, lineterminator='\n')
    table.writerow(['op', 'MLIR, ms', 'Halide, ms', "Halide's speed by MLIR's"])
    for op in options.ops:
        ours, theirs = measured(options, op)
        table.writerow([op, f'{ours * 1e3:.4f}', f'{theirs * 1e3:.4f}', f'{ours / theirs:.2f}'])
        sys.stdout.flush()


if __name__ == '__main__':
    main()
