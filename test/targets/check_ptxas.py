# SPDX-License-Identifier: Apache-2.0
"""check_ptxas.py PTXAS FILE.ptx...: assembles files for GPUs of three generations; prints the registers of every kernel and what it
spills, and fails if one does: kernels that are launched, and persistent ones with all that their tasks do."""
import re
import subprocess
import sys

CHIPS = ['sm_80', 'sm_90', 'sm_100']


def assemble(ptxas, path, chip):
    """(kernel, registers, bytes that are spilled) of all kernels."""
    result = subprocess.run([ptxas, '-v', f'--gpu-name={chip}', '-o', '/dev/null', path], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f'{path} for {chip}:\n{result.stderr}')
    kernels = re.split(r"Compiling entry function '(\w+)'", result.stderr)[1:]
    for name, text in zip(kernels[::2], kernels[1::2]):
        spilled = sum(map(int, re.findall(r'(\d+) bytes spill', text)))
        yield name, int(re.search(r'Used (\d+) registers', text).group(1)), spilled


def main():
    ptxas, *paths = sys.argv[1:]
    for path in paths:
        for chip in CHIPS:
            for name, registers, spilled in assemble(ptxas, path, chip):
                print(f'{path} {chip} {name}: {registers} registers, {spilled} bytes spilled')
                if spilled:
                    sys.exit(f'{path}: {name} spills {spilled} bytes on {chip}')


main()
