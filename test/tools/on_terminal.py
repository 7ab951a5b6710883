# SPDX-License-Identifier: Apache-2.0
"""on_terminal.py COMMAND...: runs a command whose standard error is a terminal, and prints what stands there in the end: of every line
what follows the last return of the carriage."""
import os
import pty
import subprocess
import sys

master, terminal = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stderr=terminal)
os.close(terminal)
written = b""
while True:
    try:
        part = os.read(master, 4096)
    except OSError:  # the other side is closed
        break
    if not part:
        break
    written += part
for line in written.decode().replace("\r\n", "\n").split("\n"):
    print(line.split("\r")[-1].replace("\x1b[K", ""))
sys.exit(process.wait())
