# SPDX-License-Identifier: Apache-2.0
"""check_failures.py PROGRAM FOLDER_OF_LIBVULKAN FILE: runs a program whose calls of Vulkan fail, the first and the last
one of every function in turn, and whose device is lost there."""
import os
import re
import subprocess
import sys

program, folder, callsFile = sys.argv[1:]


def run(device, **settings):
    environment = dict(os.environ, LD_LIBRARY_PATH=folder, FAKE_VULKAN_CALLS=callsFile, **settings)
    result = subprocess.run([program, '-q', '-p', 'Once there was', '-n', '2', f'--device={device}'], env=environment,
                            capture_output=True, text=True, timeout=120)
    with open(callsFile) as file:
        *calls, left = file.read().splitlines()
    return result, [line.split() for line in calls], left


def check(condition, what, result):
    if not condition:
        sys.exit(f'{what}: exit {result.returncode}, output {result.stdout!r}, errors {result.stderr!r}')


good, calls, left = run('vulkan')
check(good.returncode == 0 and good.stdout.startswith('Once there was') and left == '0 left', f'without failures, {left}', good)
for count, name in calls:
    for number in sorted({'1', count}):
        for variable, value in ('FAIL', f'{name}:{number}:-2'), ('LOSE', f'{name}:{number}'):
            what = f'{variable} {value}'
            result, _, left = run('vulkan', **{f'FAKE_VULKAN_{variable}': value})
            error = re.fullmatch(r'error\[T04(08|21|22)\]: .*\n', result.stderr)
            # Whether there is as much memory free as the driver could say changes nothing.
            fine = result.returncode == 0 and result.stdout == good.stdout and not result.stderr
            check(fine or (result.returncode == 1 and error), what, result)
            check(left == '0 left', f'{what}: {left}', result)
# With auto what cannot be opened is left to the processors, with one line that says so.
fallbacks = 0
for count, name in calls:
    what = f'{name} on auto'
    result, _, left = run('auto', FAKE_VULKAN_CARD='1', FAKE_VULKAN_FAIL=f'{name}:1:-2')
    falls = re.fullmatch(r'warning: .*; the model runs on cpu instead\n', result.stderr)
    fallbacks += bool(falls)
    error = re.fullmatch(r'error\[T04(08|21|22)\]: .*\n', result.stderr)
    fine = result.returncode == 0 and result.stdout == good.stdout and (falls or not result.stderr)
    check(fine or (result.returncode == 1 and error), what, result)
    check(left == '0 left', f'{what}: {left}', result)
check(fallbacks >= 5, f'{fallbacks} fallbacks', good)
print('checked', len(calls), 'functions')
