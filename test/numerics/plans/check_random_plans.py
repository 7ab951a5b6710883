# SPDX-License-Identifier: Apache-2.0
"""check_random_plans.py TALC MODEL DIRECTORY ROUNDS SEED [OPTION...]: draws plans for every kernel of a model from all that
their parameters can be. A plan is refused, or the program computes the same bits as without it, for every number of
rows that a tile may have and for many rows, by one worker and by three."""
import os
import random
import re
import subprocess
import sys

TALC, MODEL, DIRECTORY, ROUNDS, SEED, *OPTIONS = sys.argv[1:]
LENGTHS = [*range(1, 18), 23, 24, 31, 65, 100]
CHANGES_BITS = 'block_keys'  # the one parameter that may


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


def compile_model(name, *options):
    app = os.path.join(DIRECTORY, name)
    return app, run(TALC, 'compile', MODEL, '-o', app, '--tuned=off', '--cache=off', '--remarks=schedule', *OPTIONS, *options)


def logits(app, threads):
    rows = []
    environment = dict(os.environ, TALC_MAX_THREADS='3')
    for length in LENGTHS:
        ids = ','.join(str((7 * i + 3) % 50) for i in range(length))
        result = run(app, '-q', '--ids', ids, '-n', '0', '-t', str(threads), '--logits', app + '.logits', env=environment)
        if result.returncode:
            return f'{length} tokens: status {result.returncode}: {result.stderr}'
        with open(app + '.logits', 'rb') as file:
            rows.append(file.read())
    return rows


def ranges():
    """The range of every parameter, as the refusal of a number outside it says."""
    found = {}
    for name in {parameter for plan in KERNELS.values() for parameter in plan} - {CHANGES_BITS}:
        said = compile_model('refused', f'--plan=*: {name} = -1')[1].stderr
        match = re.search(name + r' is -1, expected (\d+) to (\d+)', said)
        if not match:
            sys.exit(f'{name} = -1 is not refused: {said}')
        found[name] = int(match[1]), int(match[2])
    return found


def draw_value(name, value):
    """Near the cost model's choice, or anything; where only some numbers are ever accepted, more often one of these."""
    low, high = RANGES[name]
    ways = [lambda: random.randint(low, min(high, low + 20)), lambda: int(2 ** random.uniform(0, high.bit_length())),
            lambda: value * random.choice([1, 2, 3]) // random.choice([1, 2, 4])]
    if name.endswith(('_columns', '_keys')):
        ways = [lambda: 8 * random.randint(1, 16)] * 6 + ways
    if name.endswith('_depth'):
        ways = [lambda: value // random.choice([1, 2, 4])] * 9 + ways
    return min(max(random.choice(ways)(), low), high)


def draw(plan):
    names = sorted(plan.keys() - {CHANGES_BITS})
    return {name: draw_value(name, plan[name]) for name in random.sample(names, random.randint(1, min(len(names), 5)))}


def text(plans):
    return '; '.join(f'{kernel}: ' + ', '.join(f'{k} = {v}' for k, v in plan.items()) for kernel, plan in plans.items() if plan)


random.seed(int(SEED))
usual, said = compile_model('usual')
KERNELS = {name: {key: int(value) for key, value in re.findall(r'(\w+) = (\d+)', plan)}
           for name, plan in re.findall(r'assign-plans: (\w+): cost model: (.*)', said.stderr)}
EXPECTED = logits(usual, 1)
RANGES = ranges()
refused = accepted = 0
for number in range(int(ROUNDS)):
    plans = {name: draw(plan) for name, plan in KERNELS.items()}
    while True:
        app, said = compile_model('planned', '--plan=' + text(plans))
        if said.returncode == 0:
            break
        match = re.search(r'of kernel (\w+) cannot have this plan: (.*)', said.stderr)
        if said.returncode != 1 or not match:
            sys.exit(f'--plan="{text(plans)}": status {said.returncode}: {said.stderr[-2000:]}')
        refused += 1
        plans[match[1]] = draw(KERNELS[match[1]])
    accepted += sum(1 for plan in plans.values() if plan)
    for threads in 1, 3:
        rows = logits(app, threads)
        if rows != EXPECTED:
            lengths = rows if isinstance(rows, str) else [length for length, a, b in zip(LENGTHS, rows, EXPECTED) if a != b]
            sys.exit(f'other bits by {threads} workers for {lengths} tokens with --plan="{text(plans)}"')
print(f'{accepted} plans keep all bits, {refused} are refused')
