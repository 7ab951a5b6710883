# SPDX-License-Identifier: Apache-2.0
"""gpu_loops.py PTXAS FILE.ptx...: the loops with the most MMA instructions after ptxas, one for each matmul,
assembled for sm_80: instructions, those of matrices, how many others for each, permutations of bytes, and moves or multiply-adds of
integers, which stand for moves, too. An instruction has 16 bytes; its lowest 12 bits say what it is, and a branch how far it goes."""
import collections
import struct
import subprocess
import sys
import tempfile

MATRICES, PERMUTATION, MOVES, BRANCH = (0x23c, 0x23e), 0x816, (0x202, 0x224), 0x947


def sections(cubin):
    """(name, bytes) of an ELF file."""
    at, = struct.unpack_from('<Q', cubin, 40)
    size, count, names = struct.unpack_from('<HHH', cubin, 58)
    heads = [struct.unpack_from('<IIQQQQIIQQ', cubin, at + number * size) for number in range(count)]
    texts = cubin[heads[names][4]:][:heads[names][5]]
    for head in heads:
        yield texts[head[0]:texts.index(b'\0', head[0])].decode(), cubin[head[4]:head[4] + head[5]]


def loops(code):
    """The opcodes of each loop: from where a branch goes back to, to the branch."""
    words = [struct.unpack_from('<QQ', code, at) for at in range(0, len(code), 16)]
    opcodes = [low & 0xfff for low, _ in words]
    for place, (low, high) in enumerate(words):
        if opcodes[place] == BRANCH:
            distance = low >> 34 | (high & 0x3ffff) << 30  # 48 bits, signed, in words of 4 bytes
            begin = place + 1 + (distance - (distance >> 47 << 48)) // 4
            if 0 <= begin <= place:
                yield opcodes[begin:place + 1]


def of_matrices(opcodes):
    return sum(opcode in MATRICES for opcode in opcodes)


def main():
    ptxas, *paths = sys.argv[1:]
    print('file,kernel,instructions,mma,other per mma,permutations,moves')
    for path in paths:
        with tempfile.NamedTemporaryFile(suffix='.cubin') as file:
            subprocess.run([ptxas, '--gpu-name=sm_80', '-o', file.name, path], check=True)
            cubin = file.read()
        for name, code in sections(cubin):
            found = [loop for loop in loops(code) if of_matrices(loop)] if name.startswith('.text.matmul') else []
            if found:
                loop = max(found, key=of_matrices)
                counts, mma = collections.Counter(loop), of_matrices(loop)
                print(f'{path},{name[6:]},{len(loop)},{mma},{(len(loop) - mma) / mma:.2f},{counts[PERMUTATION]},'
                      f'{sum(counts[move] for move in MOVES)}')


main()
