# SPDX-License-Identifier: Apache-2.0
"""check_spirv.py PROGRAM: spirv-val accepts every kernel of the code for Vulkan, whose sums and products are not contracted."""
import re
import struct
import subprocess
import sys

MAGIC = b'TALCGPU6'


def modules(program):
    """The modules behind each table of launches (runtime/device/gpu/LaunchTable.h)."""
    for found in re.finditer(MAGIC, program):
        texts, = struct.unpack_from('<I', program, found.start() + 24)
        for number in range(min(texts, 16)):
            offset, size = struct.unpack_from('<2Q', program, found.start() + 32 + 16 * number)
            yield from modules_of(program[found.start() + offset:found.start() + offset + size])


def modules_of(text):
    at = 0
    while at < len(text):
        words, magic = struct.unpack_from('<2I', text, at)
        if magic != 0x07230203:
            break  # another target's
        yield text[at + 4:at + 4 + 4 * words]
        at += 4 + 4 * words


def run(*command, module):
    result = subprocess.run(command, input=module, capture_output=True)
    if result.returncode != 0:
        sys.exit(f'{command}: {result.stdout.decode()}{result.stderr.decode()}')
    return result.stdout.decode()


with open(sys.argv[1], 'rb') as file:
    found = list(modules(file.read()))
for module in found:
    run('spirv-val', '--target-env', 'vulkan1.2', '-', module=module)
    lines = run('spirv-dis', '-', module=module).splitlines()
    exact = {line.split()[1] for line in lines if line.strip().startswith('OpDecorate') and 'NoContraction' in line}
    for line in lines:
        if any(f'= {op} ' in line for op in ('OpFAdd', 'OpFMul', 'OpFSub')) and line.split()[0] not in exact:
            sys.exit(f'may be contracted: {line}')
print(len(found), 'kernels')
