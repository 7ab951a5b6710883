# SPDX-License-Identifier: Apache-2.0
# cut_checkpoint.py FILE FOLDER COMMAND...: runs a command that writes a file to FOLDER, and cuts FILE meanwhile.
import os
import signal
import subprocess
import sys
import time

path, folder, command = sys.argv[1], sys.argv[2], sys.argv[3:]
process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
while not any(name.endswith(".partial") for name in os.listdir(folder)):
    assert process.poll() is None, process.stderr.read()
    time.sleep(0.0005)
process.send_signal(signal.SIGSTOP)
os.truncate(path, 4096)
process.send_signal(signal.SIGCONT)
sys.stderr.write(process.stderr.read())
assert os.listdir(folder) == [], os.listdir(folder)
sys.exit(process.wait())
