# SPDX-License-Identifier: Apache-2.0
"""swap_weights.py FILE OTHER COMMAND...: runs a command, and puts OTHER in the place of FILE once it is open."""
import os
import signal
import subprocess
import sys
import time

path, other, command = os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3:]


def openFiles(process):
    folder = f"/proc/{process.pid}/fd"
    for name in os.listdir(folder):
        try:
            yield os.readlink(f"{folder}/{name}")
        except FileNotFoundError:  # closed just now
            pass


process = subprocess.Popen(command)
while path not in openFiles(process):
    assert process.poll() is None, "the command has ended before the file was seen open"
    time.sleep(0.001)
process.send_signal(signal.SIGSTOP)
os.rename(other, path)
process.send_signal(signal.SIGCONT)
sys.exit(process.wait())
