# SPDX-License-Identifier: Apache-2.0
"""Imports models that talc must refuse and compares what it says.

A case is (name, code, text, write, option...): write(directory) makes the model; talc must exit with 1 and print
nothing but lines that begin with "error[T" or "warning: ", one of which must hold the code and the text. Code None:
talc must succeed.
"""
import os
import shutil
import subprocess


def run(talc, directory, options=()):
    command = [talc, 'compile', directory, '--stop-after=import', *options]
    return subprocess.run(command, capture_output=True, timeout=60)


def problem(result, code, text):
    lines = result.stderr.decode('utf-8', 'replace').splitlines()
    if result.returncode != (1 if code else 0):
        return f'exit status {result.returncode}'
    if not all(line.startswith(('error[T', 'warning: ', 'remark: ')) for line in lines):
        return 'lines of another form'
    begin = f'error[{code}]: ' if code else ''
    if not any(line.startswith(begin) and text in line for line in lines or ['']):
        return f'expected {begin}...{text}'
    return ''


def check(talc, root, cases, inside=''):
    """The number of cases that went wrong, each of which is printed. The model lies `inside` its directory."""
    failures = 0
    for name, code, text, write, *options in cases:
        directory = os.path.join(root, name)
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        write(directory)
        result = run(talc, os.path.join(directory, inside), options)
        what = problem(result, code, text)
        if what:
            failures += 1
            print(f'{name}: {what}; found:\n{result.stderr.decode("utf-8", "replace")[:2000]}')
    return failures
