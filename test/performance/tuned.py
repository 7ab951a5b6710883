# SPDX-License-Identifier: Apache-2.0
"""tuned.py [options] TALC MODEL...: what `talc tune` wins.

Tunes every model in a folder of its own, compiles it with and without the record, and prints the milliseconds of both as CSV,
medians of rounds in which they take turns, each as often first as the other. A copy of the untuned program runs as a third one:
how far it is from the first is how far equal programs are apart.

  tuned.py --rounds=build/test/bin/talc-rounds --random-weights=1 build/bin/talc examples/configs/gpt2-small

With --keep=FOLDER programs and record stay there, and those of before are measured without tuning again.
"""
import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

STEPS = [('decode', 1, 128), ('prompt', 8, 0), ('prompt', 32, 0), ('prompt', 128, 0)]
TEXTS = [('encode', 8, 0), ('encode', 32, 0), ('encode', 128, 0)]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', required=True, help='the program talc-rounds')
    parser.add_argument('--repeat', type=int, default=15)
    parser.add_argument('--budget', default='120')
    parser.add_argument('-t', '--threads', default='1')
    parser.add_argument('--keep', help='where a model\'s programs are, or are left')
    parser.add_argument('--option', action='append', default=[], help='a further one for the compiler')
    parser.add_argument('--encoder', action='store_true', help='the models are encoders')
    parser.add_argument('--weights')
    parser.add_argument('--random-weights')
    parser.add_argument('talc')
    parser.add_argument('models', nargs='+')
    return parser.parse_args()


def compiled(options, model, folder):
    """The program without a record, a copy of it, and the one with a record."""
    given = [*options.option, *(f'--{name}={value}' for name, value in
                                (('weights', options.weights), ('random-weights', options.random_weights)) if value)]
    record, *apps = (os.path.join(folder, name) for name in ('record.jsonl', 'untuned', 'again', 'tuned'))
    if os.path.exists(apps[-1]):
        return apps
    subprocess.run([options.talc, 'tune', model, *given, '-t', options.threads, f'--budget={options.budget}', '-o', record],
                   check=True, stdout=sys.stderr)
    for tuned, app in ('off', apps[0]), (record, apps[2]):
        subprocess.run([options.talc, 'compile', model, *given, f'--tuned={tuned}', '-o', app], check=True)
    shutil.copy(apps[0], apps[1])
    return apps


def seconds_of(run):
    time.sleep(0.003)  # threads of the one before spin for a while
    run.stdin.write('\n')
    run.stdin.flush()
    return float(run.stdout.readline())


def medians(options, apps, step):
    """Milliseconds of each program."""
    runs = [subprocess.Popen([options.rounds, app, options.threads, *map(str, step)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True) for app in apps]
    seconds = [[] for _ in runs]
    for count in range(options.repeat + 1):  # the first round reads the file
        places = [*range(len(runs))]
        order = places[count // 2 % 3:] + places[:count // 2 % 3]
        for i in reversed(order) if count % 2 else order:
            seconds[i].append(seconds_of(runs[i]))
    for run in runs:
        run.communicate()
    return [1e3 * statistics.median(found[1:]) for found in seconds]


def measure(options, model, folder, table):
    apps = compiled(options, model, folder)
    for step in TEXTS if options.encoder else STEPS:
        untuned, again, tuned = medians(options, apps, step)
        table.writerow([os.path.basename(model.rstrip('/')), f'{step[0]} {step[1]}', f'{untuned:.3f}', f'{tuned:.3f}',
                        f'{tuned / untuned:.3f}', f'{again / untuned:.3f}'])
        sys.stdout.flush()


def main():
    options = arguments()
    table = csv.writer(sys.stdout)
    table.writerow(['model', 'step', 'untuned ms', 'tuned ms', 'tuned over untuned', 'untuned again over untuned'])
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            kept = options.keep and os.path.join(options.keep, os.path.basename(model.rstrip('/')))
            if kept:
                os.makedirs(kept, exist_ok=True)
            measure(options, model, kept or folder, table)


if __name__ == '__main__':
    main()
