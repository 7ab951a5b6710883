# SPDX-License-Identifier: Apache-2.0
"""check_sizes.py TALC TEXT REFERENCE BEST OTHER...: weights of BEST are no larger than those of each other program, and its
predictions nearer to those of the reference, by more than the standard errors of both.
"""
import re
import subprocess
import sys

TALC, TEXT, REFERENCE, *APPS = sys.argv[1:]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def weights(app):
    return int(re.search(r'^weights\s+(\d+)', run(app, '--memory'), re.MULTILINE).group(1))


def divergence(app):
    text = run(TALC, 'perplexity', app, TEXT, '-c', '128', '--against', REFERENCE)
    return tuple(map(float, re.search(r'KL divergence\s+([\d.]+) \+/- ([\d.]+)', text).groups()))


best, *others = [(app, weights(app), *divergence(app)) for app in APPS]
for other in others:
    print(best, other)
    # Formats of few bits may need some bytes more where a matrix's last panel is not full.
    if best[1] > 1.005 * other[1] or best[2] + best[3] >= other[2] - other[3]:
        sys.exit(f'{best} is no smaller than, or not nearer to {REFERENCE} than {other}')
