# SPDX-License-Identifier: Apache-2.0
"""hostile_hgen.py TALC MODEL CC DIRECTORY: what talc says when hgen does not do what it should."""
import os
import re
import stat
import subprocess
import sys

TALC, MODEL, CC, DIRECTORY = sys.argv[1:]
OUTPUT = os.path.join(DIRECTORY, 'app')


def script(name, *lines):
    path = os.path.join(DIRECTORY, name)
    with open(path, 'w') as file:
        file.write('\n'.join(['#!/bin/sh', *lines, '']))
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def object_of(source):
    path = os.path.join(DIRECTORY, f'{abs(hash(source))}.c')
    with open(path, 'w') as file:
        file.write(source)
    subprocess.run([CC, '-c', path, '-o', path + '.o'], check=True)
    return path + '.o'


def check(hgen, expected):
    run = subprocess.run([TALC, 'compile', MODEL, '--generator=halide', '--cache=off', '-o', OUTPUT], text=True,
                         capture_output=True, env=os.environ | {'TALC_HGEN': hgen})
    pattern = (rf'error\[T0509\]: {re.escape(hgen)}: for contract_\d+_product: {expected}; '
               '--generator=mlir does without it')
    lines = run.stderr.splitlines()
    if run.returncode != 1 or not lines or not all(re.fullmatch(pattern, line) for line in lines):
        sys.exit(f'{hgen}: status {run.returncode}, expected lines like {pattern}\n{run.stderr}')
    if os.path.exists(OUTPUT):
        sys.exit(f'{hgen}: there is a program')


NO_OBJECT = 'its answer is no object for .* machines that defines it and is complete'
check(os.path.join(DIRECTORY, 'none'), '.+')
check(script('crash', 'kill -SEGV $$'), '.+')
check(script('refuse', 'echo "hgen: no such processor"; exit 1'), 'ended with status 1: hgen: no such processor')
check(script('silent'), NO_OBJECT)
check(script('garbage', 'echo no object > $2.o'), NO_OBJECT)
check(script('other', f'cp {object_of("int other(void) { return 0; }")} $2.o'), NO_OBJECT)
