# SPDX-License-Identifier: Apache-2.0
"""check_frames.py BYTES: that no function of a disassembly for x86-64, read from standard input, takes more of the stack."""
import re
import sys

frames = [int(size, 16) for size in re.findall(r'sub\w*\s+\$0x([0-9a-f]+), %rsp', sys.stdin.read())]
if not frames or max(frames) > int(sys.argv[1]):
    sys.exit(f'frames: {frames}')
