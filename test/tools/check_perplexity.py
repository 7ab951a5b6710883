# SPDX-License-Identifier: Apache-2.0
"""check_perplexity.py TALC APP OTHER TEXT: what talc perplexity prints of two models, computed again from the logits
that the programs write. Of one model alone, which is asked for single words, they are the same.
"""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

TALC, APP, OTHER, TEXT = sys.argv[1:]
CONTEXT = 16


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def log_softmax(row):
    most = max(row)
    log = most + math.log(sum(math.exp(x - most) for x in row))
    return [x - log for x in row]


def rows(app, ids, wanted):
    """The logits behind each of the first tokens, by programs that write those of the last one."""
    result = []
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'logits')
        for row in wanted:
            run(app, '--ids', ','.join(map(str, ids[:row + 1])), '--logits', path, '-q')
            with open(path, 'rb') as file:
                header = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
                data = file.read()
            entry = next(value for name, value in header.items() if name != '__metadata__')
            values = struct.unpack(f'<{len(data) // 4}f', data)
            result.append(log_softmax(values[-entry['shape'][-1]:]))
    return result


def estimate(values):
    mean = sum(values) / len(values)
    variance = sum(x * x for x in values) / len(values) - mean * mean
    return mean, math.sqrt(max(variance, 0) / (len(values) - 1))


ids = [int(word) for word in re.findall(r'\d+', run(APP, '--tokenize', '-f', TEXT))]
windows = [[ids[0]] + ids[i + 1:i + CONTEXT] for i in range(0, 2 * CONTEXT, CONTEXT)]
wanted = range(CONTEXT // 2, CONTEXT - 1)
losses, divergences, same = [], [], []
for window in windows:
    for row, p, q in zip(wanted, rows(OTHER, window, wanted), rows(APP, window, wanted)):
        losses.append(-q[window[row + 1]])
        divergences.append(sum(math.exp(a) * (a - b) for a, b in zip(p, q)))
        same.append(p.index(max(p)) == q.index(max(q)))
text = run(TALC, 'perplexity', APP, TEXT, '-c', str(CONTEXT), '--chunks', '2', '--against', OTHER)
loss, error = estimate(losses)
found = [float(number) for number in re.findall(r'\d+\.\d+', text)]
expected = [math.exp(loss), error * math.exp(loss)]
expected += [*estimate(divergences), max(divergences)]
printed = found[:2] + found[3:6]  # without the other model's perplexity
for a, b in zip(expected, printed):
    if abs(a - b) > 2e-4 * max(1, abs(a)):
        sys.exit(f'{text}expected {expected}')
alone = run(TALC, 'perplexity', APP, TEXT, '-c', str(CONTEXT), '--chunks', '2')
if alone.splitlines() != text.splitlines()[:2]:
    sys.exit(f'{alone}expected the beginning of {text}')
if abs(found[6] - 100 * sum(same) / len(same)) > 0.001:
    sys.exit(f'{text}expected {sum(same)} of {len(same)} the same')
