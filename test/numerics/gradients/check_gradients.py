# SPDX-License-Identifier: Apache-2.0
"""Compares gradients of the random checkpoints of ../families with differences of the loss.

usage: check_gradients.py BIN TALC_OPT MODULE [NAME...]   MODULE: family_models, decoder_models, ...; it prints the models
that have no gradient yet, with the reason
"""
import concurrent.futures
import importlib
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, '../families'), os.path.join(HERE, '..')]
import random_checkpoint

TOLERANCE = '1e-5'


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def compare(programs, talcOpt, name, case, directory):
    """(whether it is right, what is to be said)"""
    model, module, derivedModule = (os.path.join(directory, name) for name in ('model', 'model.mlir', 'derived.mlir'))
    checkpoint, config, _, names = case()
    checkpoint.write(model, {key: value for key, value in config.items() if key != 'base'}, names)
    imported = run(os.path.join(programs, 'talc'), 'compile', model, '--stop-after=import', '--max-seq=26', '-o', module)
    if imported.returncode:
        return False, imported.stderr
    derived = run(talcOpt, module, '--whole-sequences', '--differentiate', '-o', derivedModule)
    if derived.returncode:
        return derived.returncode == 1 and 'error: ' in derived.stderr, 'no gradient: ' + derived.stderr.split('error: ')[-1].split('\n')[0]
    generator = random.Random(name)
    ids = []
    for count in (7, 3):
        ids += ['--ids', ','.join(str(generator.randrange(config['vocab_size'])) for _ in range(count))]
    found = run(os.path.join(programs, 'talc-gradients'), derivedModule, *ids, '--tolerance', TOLERANCE)
    return found.returncode == 0, found.stdout + found.stderr if found.returncode else f'{found.stdout.count(chr(10)) - 1} gradients'


def main():
    programs, talcOpt, module, *names = sys.argv[1:]
    cases = {name: case for name, case in importlib.import_module(module).CASES.items() if not names or name in names}
    failures = 0

    def check(name):
        with tempfile.TemporaryDirectory() as directory:
            return compare(programs, talcOpt, name, cases[name], directory)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (isRight, text) in zip(cases, pool.map(check, cases)):
            print(f'{name}: {"" if isRight else "WRONG "}{text}')
            failures += not isRight
    print(f'{failures} failures, {len(cases)} cases')


main()
