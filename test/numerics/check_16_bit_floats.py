# SPDX-License-Identifier: Apache-2.0
"""check_16_bit_floats.py BIN TARGET MODEL...: programs for a GPU with weights in bf16 and f16, against the float64 interpreter. What rounds
rows (--narrow-activations, for nvptx: tensor cores) may be as far from exact values as the interpreter with the same
roundings, and 1e-3 more; everything else 1e-3. A number between two of the type may go the other way, and others with it.
"""
import os
import subprocess
import sys
import tempfile

from random_checkpoint import flatten, read_tensors

MORE = 1e-3  # of the largest value
IDS = ('--ids', '1,203,107,11,12,13,14,15,16', '--ids', '5,6,7')


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{" ".join(command)}\n{result.stdout}{result.stderr}')


def largest_difference(a, b):
    most = max(abs(value) for name in a for value in flatten(a[name]))
    return max(abs(p - q) for name in a for p, q in zip(flatten(a[name]), flatten(b[name]), strict=True)) / most


def check(programs, target, model, kind, directory):
    tool = lambda name: os.path.join(programs, name)
    path = lambda name: os.path.join(directory, name)
    options = [f'--target={target}', f'--weights={kind}']
    run(tool('talc'), 'compile', model, *options, '-o', path('app'))
    run(tool('talc'), 'compile', model, *options, '--stop-after=optimize', '-o', path('app.mlir'))
    run(tool('talc-interpret'), path('app.mlir'), *IDS, '--logits', path('exact'))
    run(tool('talc-steps'), path('app'), *IDS, '--check', '--logits', path('found'))
    exact, found = read_tensors(path('exact')), read_tensors(path('found'))
    allowed = MORE
    if target == 'nvptx':
        run(tool('talc-interpret'), path('app.mlir'), '--narrow-activations', *IDS, '--logits', path('rounded'))
        rounded = read_tensors(path('rounded'))
        allowed += largest_difference(exact, rounded)
        print(f'{os.path.basename(model)} {kind}: {largest_difference(rounded, found):.2e} beside the same roundings', end='; ')
    difference = largest_difference(exact, found)
    print(f'{difference:.2e}, allowed {allowed:.2e}')
    if difference > allowed:
        sys.exit(f'{model} {kind} for {target}: differs by {difference:.2e}, allowed {allowed:.2e}')


def main():
    programs, target, *models = sys.argv[1:]
    for model in models:
        for kind in 'bf16', 'f16':
            with tempfile.TemporaryDirectory() as directory:
                check(programs, target, model, kind, directory)


if __name__ == '__main__':
    main()
