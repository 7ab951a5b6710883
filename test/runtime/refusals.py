# SPDX-License-Identifier: Apache-2.0
"""refusals.py STEPS COMMAND...: runs a command with less and less memory. It succeeds, or says that memory is refused."""
import re
import resource
import subprocess
import sys

START = 1 << 30  # bytes that every command can do with


def run(command, most):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    return done.returncode, done.stderr.decode(errors="replace")


def least(high, suffices):
    """About the least number of bytes that suffices; `high` does."""
    low = 0
    while high - low > high / 32:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def main():
    steps, command = int(sys.argv[1]), sys.argv[2:]
    assert run(command, START)[0] == 0, run(command, START)
    enough = least(START, lambda most: run(command, most)[0] == 0)
    loaded = least(enough, lambda most: run(command, most)[0] not in (-9, -11, 127))  # else the system cannot load it
    refused = failures = 0
    for step in range(steps):
        most = loaded + (enough - loaded) * (steps - step) // steps
        status, said = run(command, most)
        refused += status == 1
        if status not in (0, 1) or (status == 1 and not re.fullmatch(r"error\[T(04(01|08|13)|0505)\]: .*\n", said)):
            print(f"{most} bytes: {status}: {said[-300:]}")
            failures += 1
    print(f"{failures} failures, {'some' if refused else 'none'} refused")


main()
