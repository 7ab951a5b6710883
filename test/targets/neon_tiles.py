# SPDX-License-Identifier: Apache-2.0
"""neon_tiles.py FILE [KERNEL]: how good the loops of full register tiles (6 rows of 4 vectors) are in a disassembly of 64-bit ARM
code: vector registers in use, the share of multiply-adds by element among vector instructions, and by llvm-mca's models the
share of the peak on Neoverse N1 and on Cortex-A76. The worst of each is printed, of kernels whose names begin so.

LLVM's Cortex-A76 is a Cortex-A57, which begins one multiply-add of whole vectors in a cycle; the processor begins two.
"""
import re
import subprocess
import sys

from inner_loops import inner_loops

BY_ELEMENT = re.compile(r'fmla\s+v(\d+)\.4s, v\d+\.4s, v(\d+)\.s\[')
VECTOR = re.compile(r'\b[vqds](\d+)\b')
PER_CYCLE = {'neoverse-n1': 2, 'cortex-a76': 1}
ROUNDS = 100


def is_full(body):
    found = [match for instruction in body if (match := BY_ELEMENT.match(instruction))]
    return len({match[1] for match in found}) == 24 and len({match[2] for match in found}) == 6


def share_of_peak(body, processor):
    text = [re.sub(r'\s+//.*| <.*', '', instruction) for instruction in body]
    text[-1] = re.sub(r'0x\w+$', 'loop', text[-1])
    command = ['llvm-mca', '-mtriple=aarch64', f'-mcpu={processor}', f'-iterations={ROUNDS}']
    result = subprocess.run(command, input='\n'.join(['loop:', *text, '']), capture_output=True, text=True, check=True)
    cycles = int(re.search(r'Total Cycles:\s+(\d+)', result.stdout)[1]) / ROUNDS
    return sum(instruction.startswith('fmla') for instruction in body) / cycles / PER_CYCLE[processor]


def main():
    kernel = sys.argv[2] if len(sys.argv) > 2 else ''
    with open(sys.argv[1]) as file:
        tiles = [body for function, body in inner_loops(file) if function.startswith(kernel) and is_full(body)]
    registers = min(len({number for instruction in body for number in VECTOR.findall(instruction)}) for body in tiles)
    elements = min(sum(bool(BY_ELEMENT.match(i)) for i in body) / sum(bool(VECTOR.search(i)) for i in body) for body in tiles)
    peaks = {name: min(share_of_peak(body, name) for body in tiles) for name in PER_CYCLE}
    print(f'{len(tiles)} full tiles, {registers} registers, {elements:.0%} by element',
          *(f'{share:.0%} of {name}' for name, share in peaks.items()), sep=', ')


if __name__ == '__main__':
    main()
