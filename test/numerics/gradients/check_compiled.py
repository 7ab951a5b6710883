# SPDX-License-Identifier: Apache-2.0
"""Compares the gradients of a compiled step with those of the float64 interpreter.

usage: check_compiled.py BIN TALC_OPT MODEL OUT [TOLERANCE [TARGET...]]   MODEL: a checkpoint, or an .mlir file that was
imported; the largest difference of each gradient, relative to its largest number, is at most TOLERANCE. The gradients of
biases of keys, which softmax ignores, are zero but for rounding: at most 2^-24 of the largest number of all.
"""
import array
import json
import os
import re
import subprocess
import sys

BUFFER = re.compile(r'kernel\.gradient %\w+ @("[^"]*"|\S+) at (\d+) : memref<([\dx]+)xf32>')
IDS = ['--ids', '3,10,4,7,5', '--ids', '9,2,1']


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{" ".join(command)}:\n{result.stdout}{result.stderr}')
    return result.stdout


def writeBuffers(module, path):
    """A line for each buffer: its name, offset and shape."""
    buffers = {name.strip('"'): f'{offset} {shape.replace("x", " ")}' for name, offset, shape in BUFFER.findall(open(module).read())}
    with open(path, 'w') as file:
        file.writelines(f'{name} {place}\n' for name, place in buffers.items())


def readTensors(path):
    """name -> numbers"""
    data = open(path, 'rb').read()
    size = int.from_bytes(data[:8], 'little')
    header = json.loads(data[8:8 + size])
    return {name: array.array('f', data[8 + size + tensor['data_offsets'][0]:8 + size + tensor['data_offsets'][1]])
            for name, tensor in header.items()}


def compare(reference, found, tolerance):
    """Prints the largest difference, and exits if it is too large."""
    expected, found = readTensors(reference), readTensors(found)
    largest = {name: max(map(abs, values)) for name, values in expected.items()}
    most = max(largest.values())
    # A gradient that is zero in float64 consists of roundings in f32, which are relative to the largest gradient.
    scales = {name: size if size > 1e-9 * most else most * 2 ** -24 / tolerance for name, size in largest.items()}
    differences = {name: max(abs(a - b) for a, b in zip(values, found[name], strict=True)) / scales[name]
                   for name, values in expected.items()}
    worst = max(differences, key=lambda name: (differences[name] != differences[name], differences[name]))
    print(f'{len(differences) - 1} gradients agree within {differences[worst]:.1e} ({worst})')
    if not differences[worst] <= tolerance:
        sys.exit('a gradient is wrong')


def check(programs, trained, reference, out, target, tolerance):
    prefix = f'{out}/{target}'
    run(f'{programs}/talc', 'compile', trained, '--start-from=optimize', f'--target={target}', f'--dump={prefix}', '-o', f'{prefix}.app')
    writeBuffers(next(f'{prefix}/{name}' for name in sorted(os.listdir(prefix)) if 'bufferize' in name), f'{prefix}.buffers')
    print(run(f'{programs}/talc-train-step', f'{prefix}.app', '--buffers', f'{prefix}.buffers', *IDS, '--check', '-o', f'{prefix}.safetensors'), end='')
    compare(reference, f'{prefix}.safetensors', tolerance)


def main(programs, talcOpt, model, out, tolerance='2e-5', *targets):
    os.makedirs(out, exist_ok=True)
    if not model.endswith('.mlir'):
        run(f'{programs}/talc', 'compile', model, '--stop-after=import', '--max-seq=32', '-o', f'{out}/model.mlir')
        model = f'{out}/model.mlir'
    run(talcOpt, model, '--whole-sequences', '--differentiate', '-o', f'{out}/differentiated.mlir')
    run(talcOpt, f'{out}/differentiated.mlir', '--simplify-gradients', '-o', f'{out}/trained.mlir')
    reference = f'{out}/reference.safetensors'
    run(f'{programs}/talc-gradients', f'{out}/differentiated.mlir', *IDS, '-o', reference)
    for target in targets or ['x86-64-v3']:
        check(programs, f'{out}/trained.mlir', reference, out, target, float(tolerance))


main(*sys.argv[1:])
