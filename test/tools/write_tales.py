# SPDX-License-Identifier: Apache-2.0
"""write_tales.py APP FIRST LAST: what a program writes by seeds from FIRST to before LAST, tales with a line between them."""
import subprocess
import sys

APP, FIRST, LAST = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for seed in range(FIRST, LAST):
    tale = subprocess.run([APP, '-p', 'Once there was', '-n', '250', '--temp', '1', '-s', str(seed)],
                          capture_output=True, text=True, check=True).stdout
    print(tale.strip() + '\n')
