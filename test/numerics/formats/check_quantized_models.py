# SPDX-License-Identifier: Apache-2.0
"""check_quantized_models.py BIN FORMATS WRITER: quantized checkpoints in the float64 interpreter against plain ones of
the values that they mean, and compiled programs of some against the interpreter. FORMATS is the folder of
check_quantized.py, WRITER that of make_safetensors.py.
"""
import os
import struct
import subprocess
import sys
import tempfile

PROGRAMS, FORMATS, WRITER = sys.argv[1:]
sys.path.append(FORMATS)
sys.argv[3] = WRITER
import check_quantized as quantized
from make_safetensors import pack, write_model

# Sums of 128 products in f32 against float64.
TOLERANCE = '2e-5'
IDS = ['--ids', '3,1,4,15,9,2,6', '--ids', '5']
# With and without groups in order, every order of numbers, every kind of scale.
INTERPRETED = ['gptq-4-32', 'gptq-4-order', 'gptq-3', 'awq-gemm', 'awq-gemv', 'packed-4-zeros', 'int8-zeros',
               'fp8-deepseek', 'fp8-qwen', 'nvfp4', 'nvfp4-divided', 'mxfp4']
COMPILED = ['awq-gemm', 'nvfp4']


def run(program, *arguments):
    result = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{program} {" ".join(arguments)}\n{result.stdout}{result.stderr}')


def write_plain(directory, values):
    """The same model in f32."""
    tensors = {f'{name}.weight': (list(shape), quantized.embedding(shape[0] * (shape[1] if len(shape) > 1 else 1)))
               for name, shape in quantized.PLAIN.items()}
    for name, rows in values.items():
        tensors[name] = [len(rows), len(rows[0])], quantized.flat(rows)
    entries, data = {}, b''
    for name, (shape, numbers) in tensors.items():
        entries[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [len(data), len(data) + 4 * len(numbers)]}
        data += struct.pack(f'<{len(numbers)}f', *numbers)
    write_model(directory, quantized.CONFIG, {'model.safetensors': pack(entries, data)})


def logits(directory, model, kind):
    module, found = os.path.join(directory, f'{kind}.mlir'), os.path.join(directory, f'{kind}.logits')
    run('talc', 'compile', model, '--stop-after=import', '-o', module)
    run('talc-interpret', module, *IDS, '--logits', found)
    return found


def check(method, directory):
    model, plain = os.path.join(directory, 'quantized'), os.path.join(directory, 'plain')
    write_plain(plain, quantized.write(model, method))
    expected = logits(directory, plain, 'plain')
    run('talc-compare', expected, logits(directory, model, 'quantized'), '--tolerance=0')
    if method.name in COMPILED:
        app, found = os.path.join(directory, 'app'), os.path.join(directory, 'found')
        run('talc', 'compile', model, '-o', app)
        run('talc-steps', app, *IDS, '--check', '--logits', found)
        run('talc-compare', expected, found, f'--tolerance={TOLERANCE}')


for method in quantized.METHODS:
    if method.name in INTERPRETED:
        with tempfile.TemporaryDirectory() as directory:
            check(method, directory)
