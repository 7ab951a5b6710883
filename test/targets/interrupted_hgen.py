# SPDX-License-Identifier: Apache-2.0
"""interrupted_hgen.py TALC MODEL DIRECTORY: ends a compilation by each signal while it waits for hgen, which still writes files then.
Nothing of what both wrote stays."""
import os
import signal
import stat
import subprocess
import sys
import time

TALC, MODEL, DIRECTORY = sys.argv[1:]
HGEN, TEMPORARY, OUTPUT = (os.path.join(DIRECTORY, name) for name in ('hgen', 'tmp', 'app'))
SCRIPT = '''#!/bin/sh
for i in 1 2 3 4 5 6 7 8; do touch $2.$i; done
: > $2.ready
while :; do touch $2.late 2> /dev/null || exit 1; done
'''


def main():
    os.mkdir(TEMPORARY)
    with open(HGEN, 'w') as file:
        file.write(SCRIPT)
    os.chmod(HGEN, stat.S_IRWXU)
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        process = subprocess.Popen([TALC, 'compile', MODEL, '--generator=halide', '--cache=off', '-o', OUTPUT],
                                   env=os.environ | {'TALC_HGEN': HGEN, 'TMPDIR': TEMPORARY},
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        while not any('made.ready' in files for _, _, files in os.walk(TEMPORARY)):
            assert process.poll() is None, 'ended too early'
            time.sleep(0.001)
        process.send_signal(number)
        assert process.wait() == -number, (number, process.returncode)
        left = os.listdir(TEMPORARY), os.path.exists(OUTPUT)
        assert left == ([], False), (number, left)


main()
