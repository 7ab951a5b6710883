# SPDX-License-Identifier: Apache-2.0
"""perf_map.py APP VICTIM: prints the perf map that a program writes, and what becomes of a link in its place."""
import os
import subprocess
import sys

APP, VICTIM = sys.argv[1:]


def run(wanted, link=None):
    """The path of the map of a process that may have found a link there."""
    def prepare():
        if link:
            os.symlink(link, f'/tmp/perf-{os.getpid()}.map')
    environment = dict(os.environ, TALC_PERF='1') if wanted else os.environ
    process = subprocess.Popen([APP, '-p', 'So a', '-q'], stdout=subprocess.DEVNULL, env=environment, preexec_fn=prepare)
    if process.wait() != 0:
        sys.exit(f'status {process.returncode}')
    return f'/tmp/perf-{process.pid}.map'


path = run(True)
with open(path, encoding='ascii') as file:
    print(file.read(), end='')
os.remove(path)
print('without the variable:', 'a file' if os.path.exists(run(False)) else 'no file')
open(VICTIM, 'w').close()
os.remove(run(True, VICTIM))
print('a link:', 'followed' if os.path.getsize(VICTIM) else 'not followed')
