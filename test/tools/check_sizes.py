# SPDX-License-Identifier: Apache-2.0
"""check_sizes.py TALC TEXT REFERENCE BEST OTHER...: weights of BEST are no larger than those of each other program, and its
predictions nearer to those of the reference.
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
    return float(re.search(r'KL divergence\s+([\d.]+)', text).group(1))


best, *others = [(app, weights(app), divergence(app)) for app in APPS]
for other in others:
    # Formats of few bits may need some bytes more where a matrix's last panel is not full.
    if best[1] > 1.005 * other[1] or best[2] >= other[2]:
        sys.exit(f'{best} is no smaller than, or not nearer to {REFERENCE} than {other}')
