# SPDX-License-Identifier: Apache-2.0
# Runs a program whose driver fails at each call in turn.
#
# usage: check_failures.py PROGRAM FOLDER_OF_LIBCUDA FILE EXPECTED ARGUMENT...
import os
import re
import subprocess
import sys

program, folder, callsFile, expected, *arguments = sys.argv[1:]


def run(device, **settings):
    environment = dict(os.environ, LD_LIBRARY_PATH=folder, FAKE_CUDA_CALLS=callsFile, **settings)
    result = subprocess.run([program, "-q", *arguments, f"--device={device}"], env=environment,
                            capture_output=True, text=True, timeout=60)
    with open(callsFile) as file:
        return result, file.read().strip()


def check(condition, what, result):
    if not condition:
        sys.exit(f"{what}: exit {result.returncode}, output {result.stdout!r}, errors {result.stderr!r}")


good, calls = run("cuda")
check(good.returncode == 0 and good.stdout == expected + "\n", "without failures", good)
count = int(calls.split()[0])
for number in range(1, count + 1):
    for device in ("cuda", "auto"):
        what = f"call {number} of {count} on {device}"
        result, left = run(device, FAKE_CUDA_FAIL=f"*:{number}:999")
        error = re.match(r"(error\[T04(08|21|22)\]|warning): .*\n$", result.stderr)
        # A failure of what is released at the end changes nothing.
        fine = result.returncode == 0 and result.stdout == good.stdout
        check(fine or (result.returncode == 1 and error), what, result)
        check(error or not result.stderr, what, result)
        check("left" not in left, f"{what}: {left}", result)
    result, _ = run("auto", FAKE_CUDA_LOSE=str(number))
    lost = re.match(r"(error\[T04(21|22)\]|warning): .*\n$", result.stderr)
    fine = result.returncode == 0 and result.stdout == good.stdout
    check(fine or (result.returncode == 1 and lost), f"lost at call {number}", result)
