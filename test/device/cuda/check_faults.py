# SPDX-License-Identifier: Apache-2.0
"""check_faults.py BIN DIRECTORY: plants faults in the code of a small model, one after the other: every barrier of a
matmul by MMA instructions is left out, every wait for asynchronous copies is off by one, registers of a fragment
change places, and workgroups of every kernel take the rows behind their own, or all of a tile's. Each is an error or changes what comes
out, so no barrier is one too many either."""
import json
import os
import re
import subprocess
import sys

BIN, DIRECTORY = sys.argv[1:]
# Deep enough that subgroups share k.
CONFIG = {'model_type': 'gpt2', 'n_embd': 448, 'n_head': 7, 'n_layer': 1, 'n_positions': 64, 'vocab_size': 128,
          'activation_function': 'gelu_new', 'layer_norm_epsilon': 1e-5, 'bos_token_id': 0, 'eos_token_id': 0}
COUNTS = os.path.join(DIRECTORY, 'counts')
OPTIONS = ['--random-weights=1', '--target=nvptx', '--weights=bf16']


def talc(*options):
    subprocess.run([os.path.join(BIN, 'talc'), 'compile', os.path.join(DIRECTORY, 'model'), *OPTIONS, *options],
                   check=True, capture_output=True)


def logits(app, text):
    """None: an error."""
    code, found = os.path.join(DIRECTORY, 'code.ptx'), os.path.join(DIRECTORY, 'logits')
    with open(code, 'w') as file:
        file.write(text)
    result = subprocess.run([app, '--ids', ','.join(map(str, range(35))), '--logits', found, '-n', '0', '-q'],
                            capture_output=True, env={**os.environ, 'FAKE_CUDA_TEXT': code, 'FAKE_CUDA_COUNTS': COUNTS})
    if result.returncode != 0:
        return None
    with open(found, 'rb') as file:
        return file.read()


def faults(text, used):
    """(name, text with the fault), of kernels that ran."""
    for kernel in re.finditer(r'\.entry (matmul_\d+)\(.*?\n}', text, re.DOTALL):
        name, begin = kernel.group(1), kernel.start()
        if name not in used:
            continue
        for number, barrier in enumerate(re.finditer(r'bar\.sync[^;]*;', kernel.group(0))):
            at, end = begin + barrier.start(), begin + barrier.end()
            yield f'{name}, barrier {number}', text[:at] + text[end:]
        for number, wait in enumerate(re.finditer(r'(cp\.async\.wait_group\s+)(\d+);', kernel.group(0))):
            at, end = begin + wait.start(), begin + wait.end()
            yield f'{name}, wait {number}', f'{text[:at]}{wait.group(1)}{int(wait.group(2)) + 1};{text[end:]}'
        fragment = re.search(r'(mma\.sync\S+\s*{[^}]*},\s*{)(%\w+), (%\w+)', kernel.group(0))
        if fragment:
            swapped = f'{fragment.group(1)}{fragment.group(3)}, {fragment.group(2)}'
            yield f'{name}, fragment', text[:begin] + text[begin:].replace(fragment.group(0), swapped, 1)


def shifted_rows(text, used):
    """The last workgroup's rows are none of the step's then."""
    for kernel in re.finditer(r'\.entry (\w+)\(.*?\n}', text, re.DOTALL):
        group = re.search(r'mov\.u32\s+(%\w+), %ctaid\.x;', kernel.group(0))
        if kernel.group(1) in used and group:
            end = kernel.start() + group.end()
            yield f'{kernel.group(1)}, row', f'{text[:end]} add.s32 {group.group(1)}, {group.group(1)}, 1;{text[end:]}'


def endless_rows(text, used):
    """A matmul's tile does not end with the step's rows."""
    for kernel in re.finditer(r'\.entry (matmul_\d+)\(.*?\n}', text, re.DOTALL):
        end = re.search(r'min\.s64\s+(%\w+), (%\w+), %\w+;', kernel.group(0))
        if kernel.group(1) in used:
            at = kernel.start() + end.start()
            yield f'{text[:at]}mov.b64 {end.group(1)}, {end.group(2)};{text[kernel.start() + end.end():]}'


def main():
    os.makedirs(os.path.join(DIRECTORY, 'model'), exist_ok=True)
    with open(os.path.join(DIRECTORY, 'model', 'config.json'), 'w') as file:
        json.dump(CONFIG, file)
    app, code = os.path.join(DIRECTORY, 'app'), os.path.join(DIRECTORY, 'code')
    talc('-o', app)
    talc('--emit=ptx', '-o', code)
    with open(code) as file:
        text = file.read()
    good, found, waits, missed = logits(app, text), 0, 0, []
    assert good
    with open(COUNTS) as file:
        used = [line.split()[0] for line in file.read().splitlines()[1:]]
    for name, faulty in (*faults(text, used), *shifted_rows(text, used)):
        if logits(app, faulty) == good:
            missed.append(name)
        else:
            found += 1
            waits += 'wait' in name
    outside = sum(logits(app, faulty) is None for faulty in endless_rows(text, used))
    print(f'{found} faults found, {waits} of them waits, {outside} tiles without end, missed: {missed}')
    assert found > 20 and waits > 2 and not missed
    # Other tiles' rows have room in the arena, but those of the logits have none.
    assert outside >= 1


main()
