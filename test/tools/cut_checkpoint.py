# SPDX-License-Identifier: Apache-2.0
# cut_checkpoint.py FILE FOLDER COMMAND...: runs a command that writes a file to FOLDER, and cuts FILE once it is mapped.
import os
import signal
import subprocess
import sys
import time

path, folder, command = sys.argv[1], sys.argv[2], sys.argv[3:]
process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
mapped = False
while not mapped:
    assert process.poll() is None, process.stderr.read()
    time.sleep(0.002)
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
        mapped = os.path.realpath(path) in maps.read()
process.send_signal(signal.SIGSTOP)
os.truncate(path, 4096)
process.send_signal(signal.SIGCONT)
sys.stderr.write(process.stderr.read())
assert os.listdir(folder) == [], os.listdir(folder)
sys.exit(process.wait())
