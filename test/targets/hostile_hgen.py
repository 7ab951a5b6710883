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


def compile_with(hgen, *options, output):
    return subprocess.run([TALC, 'compile', MODEL, *options, '-o', output], text=True, capture_output=True,
                          env=os.environ | {'TALC_HGEN': hgen})


def check(hgen, expected):
    run = compile_with(hgen, '--generator=halide', '--cache=off', output=OUTPUT)
    pattern = (rf'error\[T0509\]: {re.escape(hgen)}: for matmul_\d+_halide: {expected}; '
               '--generator=mlir does without it')
    if run.returncode != 1 or not re.fullmatch(pattern, run.stderr.rstrip('\n')):
        sys.exit(f'{hgen}: status {run.returncode}, expected a line like {pattern}\n{run.stderr}')
    if os.path.exists(OUTPUT):
        sys.exit(f'{hgen}: there is a program')


def check_without(hgen, name):
    """Plans that prefer Halide get the loops of mlir and a warning."""
    run = compile_with(hgen, '--generator=auto', '--plan=matmul_*: by_halide = 1', '--cache=off', output=name)
    if run.returncode != 0 or not re.search(r'^warning: kernel matmul_\d+: mlir makes the loops: error\[T0509\]', run.stderr):
        sys.exit(f'{hgen}: status {run.returncode}, expected a program by mlir\n{run.stderr}')
    with open(name, 'rb') as made, open(os.path.join(DIRECTORY, 'mlir'), 'rb') as expected:
        if made.read() != expected.read():
            sys.exit(f'{hgen}: the program is not that by mlir')


NO_OBJECT = 'its answer is not an object for .* that defines it and is complete'
check(os.path.join(DIRECTORY, 'none'), '.+')
check(script('crash', 'kill -SEGV $$'), '.+')
check(script('refuse', 'echo "hgen: no such processor"; exit 1'), 'ended with status 1: hgen: no such processor')
check(script('hang', 'exec sleep 1000'), 'gave no answer in [0-9]+ seconds')
check(script('silent'), NO_OBJECT)
check(script('garbage', 'echo no object > $2.o'), NO_OBJECT)
check(script('huge', 'truncate -s 100M $2.o'), NO_OBJECT)
check(script('other', f'cp {object_of("int other(void) { return 0; }")} $2.o'), NO_OBJECT)

compile_with('', '--generator=mlir', '--cache=off', output=os.path.join(DIRECTORY, 'mlir'))
check_without(os.path.join(DIRECTORY, 'none'), os.path.join(DIRECTORY, 'auto-none'))
check_without(os.path.join(DIRECTORY, 'garbage'), os.path.join(DIRECTORY, 'auto-garbage'))
