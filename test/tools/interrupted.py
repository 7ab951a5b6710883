# SPDX-License-Identifier: Apache-2.0
# interrupted.py FOLDER [--keeps] COMMAND...: runs a command that writes a file to FOLDER, and ends it by each signal while
# the file is there but not complete, sent again and again until the process is gone, as by an impatient user. Nothing may be
# left, or, with --keeps and SIGINT, only the file under its name. With a signal ignored, the command must go on.
import os
import signal
import subprocess
import sys
import time


def start(folder, command, number, action=signal.SIG_DFL):
    process = subprocess.Popen(command, preexec_fn=lambda: signal.signal(number, action), stderr=subprocess.DEVNULL)
    while not any(name.endswith(".partial") for name in os.listdir(folder)):
        assert process.poll() is None, "ended too early"
        time.sleep(0.0005)
    return process


def main():
    folder, keeps = sys.argv[1], sys.argv[2] == "--keeps"
    command = sys.argv[3 if keeps else 2:]
    os.makedirs(folder, exist_ok=True)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        process = start(folder, command, number)
        while process.poll() is None:
            process.send_signal(number)
        assert process.wait() == -number, (number, process.returncode)
        left = os.listdir(folder)
        if keeps and number == signal.SIGINT and len(left) == 1 and not left[0].endswith(".partial"):
            os.remove(os.path.join(folder, left.pop()))
        assert left == [], (number, left)
    process = start(folder, command, signal.SIGINT, signal.SIG_IGN)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0, process.returncode
    assert not any(name.endswith(".partial") for name in os.listdir(folder)), os.listdir(folder)


main()
