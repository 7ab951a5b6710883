# SPDX-License-Identifier: Apache-2.0
"""Prints how far logits of models with rounded weights are from those with weights in f16, relative to their norm."""
import pathlib
import struct
import subprocess
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
TALC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def logits(element):
    model, app, output = FOLDER / f'{element}.gguf', FOLDER / element, FOLDER / f'{element}.safetensors'
    subprocess.run([sys.executable, HERE / 'gguf_models.py', 'gpt2', element, model], check=True)
    subprocess.run([TALC, 'compile', model, '-o', app], check=True)
    subprocess.run([app, '--ids', '300,8219,16138', '-n', '1', '-q', '--logits', output], check=True,
                   stdout=subprocess.DEVNULL)
    model.unlink()
    data = output.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    return numpy.frombuffer(data[8 + size:], '<f4')


wanted = logits('f16')
for name in ('q8_0', 'q4_0', 'q4_k', 'mxfp4'):
    found = logits(name)
    assert found.shape == wanted.shape
    print(f'{name}: {numpy.linalg.norm(found - wanted) / numpy.linalg.norm(wanted):.4f}')
