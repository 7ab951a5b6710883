# SPDX-License-Identifier: Apache-2.0
"""Reads a disassembly on standard input, and says which loops of register tiles do not keep their sums in registers.

A tile's innermost loop has at least 24 multiply-adds on vectors. A vector that goes to the stack there is a spilled
accumulator, which LLVM does for reasons that change with its passes and with constants; it costs a fifth of the time.
"""
import re
import sys

ADDRESS = re.compile(r'\s*([0-9a-f]+):\s+(.*)')
JUMP = re.compile(r'(?:j\w+|b(?:\.\w+)?|cbn?z\s+\w+,|tbn?z\s+\w+,\s+#\w+,)\s+(?:0x)?([0-9a-f]+)\b')
MULTIPLY = re.compile(r'vfmadd|vdpbf16ps|fmla')
SPILL = re.compile(r'[yz]mm.*\(%rsp\)|\(%rsp\).*[yz]mm|\b[dq]\d+.*\[sp')
LEAST = 24


def inner_loops(lines, multiply=MULTIPLY):
    """(function, instructions) of every such loop."""
    function, places, code = '', {}, []
    for line in lines:
        if name := re.match(r'[0-9a-f]+ <(.*)>:', line):
            function, places, code = name[1], {}, []
        elif found := ADDRESS.match(line):
            places[found[1]] = len(code)
            code.append(found[2])
            jump = JUMP.match(found[2])
            if jump and jump[1] in places:
                body = code[places[jump[1]]:]
                innermost = not any(JUMP.match(instruction) for instruction in body[:-1])
                if innermost and sum(bool(multiply.match(instruction)) for instruction in body) >= LEAST:
                    yield function, body


def main():
    loops, spilling = 0, []
    for function, body in inner_loops(sys.stdin):
        loops += 1
        spills = sum(bool(SPILL.search(instruction)) for instruction in body)
        if spills:
            spilling.append(f'{function}: {spills} of {len(body)} instructions')
    print(f'{loops} loops, {len(spilling)} spill', *spilling, sep='\n')


if __name__ == '__main__':
    main()
