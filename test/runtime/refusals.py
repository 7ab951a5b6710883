# SPDX-License-Identifier: Apache-2.0
"""refusals.py STEPS COMMAND...: runs a command with less and less memory. It succeeds, or says that memory is refused."""
import re
import resource
import subprocess
import sys

START = 4 << 30  # bytes that every command can do with


def run(command, most):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    return done.returncode, done.stderr.decode(errors="replace")


def main():
    steps, command = int(sys.argv[1]), sys.argv[2:]
    assert run(command, START)[0] == 0, run(command, START)
    low, high = 0, START  # what it cannot, and what it can do with
    while high - low > 1 << 20:
        middle = (low + high) // 2
        low, high = (low, middle) if run(command, middle)[0] == 0 else (middle, high)
    refused = failures = 0
    for step in range(steps):
        most = high * (steps - step) // steps
        status, said = run(command, most)
        if status in (-9, -11, 127) and not said:
            continue  # the system could not even load it
        refused += status == 1
        if status not in (0, 1) or (status == 1 and not re.fullmatch(r"error\[T(04(01|08|13)|0505)\]: .*\n", said)):
            print(f"{most} bytes: {status}: {said[-300:]}")
            failures += 1
    print(f"{failures} failures, {'some' if refused else 'none'} refused")


main()
