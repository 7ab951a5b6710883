# SPDX-License-Identifier: Apache-2.0
"""tuned.py [options] TALC MODEL...: what `talc tune` wins.

Tunes every model in a folder of its own, compiles it with and without the record, and prints the milliseconds of both, medians
of rounds in which they take turns, and the ratio in the other order, as CSV:

  tuned.py --rounds=build/test/bin/talc-rounds --random-weights=1 build/bin/talc examples/configs/gpt2-small
"""
import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile

STEPS = [('decode', 1, 128), ('prompt', 8, 0), ('prompt', 32, 0), ('prompt', 128, 0)]
TEXTS = [('encode', 8, 0), ('encode', 32, 0), ('encode', 128, 0)]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', required=True, help='the program talc-rounds')
    parser.add_argument('--repeat', type=int, default=15)
    parser.add_argument('--budget', default='120')
    parser.add_argument('-t', '--threads', default='1')
    parser.add_argument('--encoder', action='store_true', help='the models are encoders')
    parser.add_argument('--weights')
    parser.add_argument('--random-weights')
    parser.add_argument('talc')
    parser.add_argument('models', nargs='+')
    return parser.parse_args()


def compiled(options, model, folder):
    """The programs without and with a record."""
    given = [f'--{name}={value}' for name, value in
             (('weights', options.weights), ('random-weights', options.random_weights)) if value]
    record = os.path.join(folder, 'record.jsonl')
    subprocess.run([options.talc, 'tune', model, *given, '-t', options.threads, f'--budget={options.budget}', '-o', record],
                   check=True, stdout=sys.stderr)
    apps = []
    for name, tuned in ('untuned', 'off'), ('tuned', record):
        apps.append(os.path.join(folder, name))
        subprocess.run([options.talc, 'compile', model, *given, f'--tuned={tuned}', '-o', apps[-1]], check=True)
    return apps


def medians(options, apps, step):
    """Milliseconds of each program."""
    runs = [subprocess.Popen([options.rounds, app, options.threads, *map(str, step)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True) for app in apps]
    seconds = [[] for _ in runs]
    for _ in range(options.repeat):
        for run, found in zip(runs, seconds):
            run.stdin.write('\n')
            run.stdin.flush()
            found.append(float(run.stdout.readline()))
    for run in runs:
        run.communicate()
    return [1e3 * statistics.median(found[1:]) for found in seconds]  # the first one reads the file


def main():
    options = arguments()
    table = csv.writer(sys.stdout)
    table.writerow(['model', 'step', 'untuned ms', 'tuned ms', 'tuned over untuned', 'in the other order'])
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            apps = compiled(options, model, folder)
            for step in TEXTS if options.encoder else STEPS:
                untuned, tuned = medians(options, apps, step)
                other = medians(options, apps[::-1], step)
                table.writerow([os.path.basename(model.rstrip('/')), f'{step[0]} {step[1]}', f'{untuned:.3f}', f'{tuned:.3f}',
                                f'{tuned / untuned:.3f}', f'{other[0] / other[1]:.3f}'])
                sys.stdout.flush()


if __name__ == '__main__':
    main()
