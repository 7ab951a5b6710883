# SPDX-License-Identifier: Apache-2.0
"""drop_barriers.py TALC-OPT PROGRAM: counts the barriers of a program that is ready for stage schedule, and those
without which check-step refuses it."""
import subprocess
import sys

opt, path = sys.argv[1:]
lines = open(path, encoding='utf-8').read().splitlines(keepends=True)
barriers = [index for index, line in enumerate(lines) if line.lstrip().startswith('kernel.barrier')]


def is_missed(index):
    program = ''.join(lines[:index] + lines[index + 1:])
    run = subprocess.run([opt, '-check-step', '-o', '/dev/null'], input=program, capture_output=True, text=True)
    return run.returncode != 0 and 'without a barrier between them' in run.stderr


print(f'{len(barriers)} barriers, {sum(map(is_missed, barriers))} missed')
