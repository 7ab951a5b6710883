# SPDX-License-Identifier: Apache-2.0
"""check_generator.py BIN MODEL TARGET [OPTION...]: Halide's kernels give the bits of talc's own loops."""
import json
import os
import subprocess
import sys
import tempfile

BIN, MODEL, TARGET, *OPTIONS = sys.argv[1:]
TALC = os.path.join(BIN, 'talc')
with open(os.path.join(MODEL, 'config.json')) as file:
    HAS_SOURCE = json.load(file).get('is_encoder_decoder', False)


def prompts():
    """A text alone, and a batch with one of a single token and one that fills several blocks of rows."""
    ids = [str((7 * i + 3) % 200 + 5) for i in range(90)]
    alone, batch = [ids[:40]], [ids[:1], ids, ids[3:9]]
    return [[word for text in texts for word in ('--ids', ','.join(text))] for texts in (alone, batch)]


def answer(app, *options):
    """The texts that a program prints; an encoder prints its states of every token."""
    result = subprocess.run([app, *options, '-n', '9'], capture_output=True)
    if b'T0412' in result.stderr:
        result = subprocess.run([app, *options, '--pool', 'none'], capture_output=True)
    result.check_returncode()
    return result.stdout


def outputs(app, directory):
    found = []
    for number, options in enumerate(prompts()):
        for threads in '1', '2':
            logits = os.path.join(directory, f'logits.{number}.{threads}')
            found.append(answer(app, '-q', *options, '-t', threads))
            if not HAS_SOURCE:
                subprocess.run([app, '-q', *options, '--logits', logits, '-t', threads], check=True)
                with open(logits, 'rb') as file:
                    found.append(file.read())
    return found


with tempfile.TemporaryDirectory() as folder:
    of_generator = {}
    for generator in 'mlir', 'halide':
        app = os.path.join(folder, generator)
        subprocess.run([TALC, 'compile', MODEL, f'--target={TARGET}', f'--generator={generator}', *OPTIONS, '-o', app],
                       check=True)
        of_generator[generator] = outputs(app, folder)
    for number, (ours, theirs) in enumerate(zip(of_generator['mlir'], of_generator['halide'])):
        if not ours or ours != theirs:
            sys.exit(f'output {number} of {MODEL} for {TARGET} is another by Halide')
