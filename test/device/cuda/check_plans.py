# SPDX-License-Identifier: Apache-2.0
"""check_plans.py TALC MODEL DIRECTORY [OPTION...]: logits have the same bits with every plan of a GPU's kernels."""
import os
import re
import subprocess
import sys

TALC, MODEL, DIRECTORY, *OPTIONS = sys.argv[1:]
IDS = ','.join(str((7 * i + 3) % 200 + 5) for i in range(37))
ROUNDS = 5


def changes(plan):
    """The changes that each round makes to the plan that the cost model chose for a kernel."""
    if 'stages' in plan and plan['task_rows'] == 16:  # by MMA, one row
        return [{'stages': 0, 'stage_weights': 0}, {'unroll_steps': 3}, {'resident_threads': 512},
                {'stages': plan['stages'] and 5}, {'task_panels': 1}]
    if 'stages' in plan:
        return [{'task_rows': 48, 'task_panels': 1}, {'task_rows': 16, 'stages': plan['stages'] and 3},
                {'task_rows': 64, 'task_panels': 1, 'unroll_steps': 1}, {'stages': 0, 'unroll_steps': 4},
                {'stage_weights': int(plan['stages'] > 0), 'resident_threads': 384}]
    if 'thread_columns' in plan:
        columns = plan['thread_columns']
        return [{'thread_columns': 1}, {'task_rows': min(plan['task_rows'], 3)}, {'task_threads': 256},
                {'thread_columns': columns, 'task_threads': 64, 'resident_threads': 0}, {'thread_columns': min(columns, 2)}]
    if 'warps' in plan:
        return [{'warps': 1}, {'warps': 2}, {'warps': 8}, {'resident_threads': 512}, {'warps': 3}]
    return [{'task_queries': queries} for queries in (1, 2, 4, 8, plan['task_queries'])]


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{command}: status {result.returncode}\n{result.stdout}{result.stderr}')
    return result.stdout + result.stderr


def logits(name, *options):
    """The bits of a prompt's rows and of a token's and two more, and what the compiler says."""
    app = os.path.join(DIRECTORY, name)
    said = run(TALC, 'compile', MODEL, '--target=nvptx', '--tuned=off', '--remarks=schedule', *OPTIONS, *options, '-o', app)
    rows = []
    for ids in IDS, IDS[:IDS.index(',')]:
        run(app, '-q', '--ids', ids, '-n', '2', '--device=cuda', '--logits', app + '.logits')
        with open(app + '.logits', 'rb') as file:
            rows.append(file.read())
    return rows, said


expected, said = logits('usual')
kernels = {name: {key: int(value) for key, value in re.findall(r'(\w+) = (\d+)', plan)}
           for name, plan in re.findall(r'assign-workgroup-plans: (\w+): cost model: (.*)', said)}
if not any(name.startswith('matmul') for name in kernels) or not any(name.startswith('attention') for name in kernels):
    sys.exit(f'plans of {sorted(kernels)} only')
for number in range(ROUNDS):
    plans = []
    for name, plan in kernels.items():
        numbers = ', '.join(f'{key} = {value}' for key, value in changes(plan)[number].items())
        plans.append(f'{name}: {numbers}')
    rows, said = logits('planned', '--plan=' + '; '.join(plans))
    if said.count('plan override: ') != len(kernels):
        sys.exit(f'{plans}: {said}')
    if rows != expected:
        sys.exit(f'other bits with {plans}')
