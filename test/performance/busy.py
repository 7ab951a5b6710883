# SPDX-License-Identifier: Apache-2.0
"""busy.py [options] APP[,OTHER...] ARGUMENT...: speeds of a compiled model beside programs that only keep processors busy.

Runs APP with the arguments in turn with every number of threads, and with every number of other programs beside it, and
prints medians as CSV. Several apps, such as one with an older runtime, take turns. The speed is what the summary says
last: lines/s, else tokens/s of decoding.
"""
import argparse
import contextlib
import csv
import re
import statistics
import subprocess
import sys
import time


def numbers(text):
    return [int(number) for number in text.split(',')]


@contextlib.contextmanager
def others(count):
    loop = 'while True: pass'
    programs = [subprocess.Popen([sys.executable, '-c', loop]) for _ in range(count)]
    time.sleep(0.3)  # until they run
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def speed(command):
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f'{" ".join(command)}: {run.stderr.strip()}')
    found = re.search(r'([\d.]+) lines/s', run.stderr) or re.search(r'decode .* ([\d.]+) tokens/s', run.stderr)
    return float(found[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--threads', type=numbers, default=[1, 2])
    parser.add_argument('--others', type=numbers, default=[0, 1, 2])
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('apps')
    parser.add_argument('arguments', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    apps = options.apps.split(',')
    table = csv.writer(sys.stdout)
    table.writerow(['other programs', 'app'] + [f'{count} threads' for count in options.threads] + ['last over first'])
    for count in options.others:
        samples = {(app, threads): [] for app in apps for threads in options.threads}
        with others(count):
            for _ in range(options.rounds):
                for app, threads in samples:
                    samples[app, threads].append(speed([app, *options.arguments, '-t', str(threads)]))
        for app in apps:
            medians = [statistics.median(samples[app, threads]) for threads in options.threads]
            table.writerow([count, app] + [f'{value:.0f}' for value in medians] + [f'{medians[-1] / medians[0]:.2f}'])
            sys.stdout.flush()


main()
