# SPDX-License-Identifier: Apache-2.0
"""check_families.py BIN [NAME]: imports random checkpoints of every family in family_models and compares the interpreter
and the compiled program with the same model on lists of Python numbers.

BIN is the folder of talc and of the programs of this folder. As many cases are checked at a time as there are processors.
"""
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

import family_models
from random_checkpoint import flatten, read_tensors

# Both are computed in float64; the interpreter's results are rounded to f32.
INTERPRETER_TOLERANCE = 1e-6
# Sums of up to 61 products in f32, three layers after one another: 5e-7 is typical.
PROGRAM_TOLERANCE = 2e-5


def make_prompts(generator, config):
    """Of very unequal lengths; sources for encoder-decoders."""
    ids = lambda count, most: [generator.randrange(most) for _ in range(count)]
    source = config.get('vocab_size')
    target = config.get('decoder_vocab_size', source)
    answers = 'ForConditionalGeneration' in config['architectures'][0] or 'MTModel' in config['architectures'][0]
    prompts = []
    for count in 1, 25, 9:
        prompt = {'ids': ids(count, target), 'types': ids(count, config.get('type_vocab_size', 1))}
        if answers:
            prompt['source'] = ids(generator.randrange(1, 26), source)
        prompts.append(prompt)
    return prompts


def arguments(prompts, config):
    text = lambda ids: ','.join(map(str, ids))
    result = []
    for prompt in prompts:
        result += ['--ids', text(prompt['ids'])]
        if config.get('type_vocab_size', 1) > 1:
            result += ['--types', text(prompt['types'])]
        if 'source' in prompt:
            result += ['--source-ids', text(prompt['source'])]
    return result


def difference(expected, found):
    a, b = flatten(expected), flatten(found)
    if len(a) != len(b):
        return float('inf')
    return max(abs(p - q) for p, q in zip(a, b)) / max(map(abs, a))


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f'{" ".join(command)}\n{result.stdout}{result.stderr}')


def compare(programs, name, case, directory):
    """What is wrong, or nothing."""
    talc, interpret, steps = (os.path.join(programs, tool) for tool in ('talc', 'talc-interpret', 'talc-steps'))
    checkpoint, config, evaluate, names = case()
    model, module, app, found = (os.path.join(directory, file) for file in ('model', 'module.mlir', 'app', 'found'))
    checkpoint.write(model, {key: value for key, value in config.items() if key != 'base'}, names)
    run(talc, 'compile', model, '--stop-after=import', '--max-seq=26', '-o', module)
    run(talc, 'compile', model, '--max-seq=26', '-o', app)
    prompts = make_prompts(random.Random(name), config)
    expected = {f'{kind}.{i}': rows for i, prompt in enumerate(prompts) for kind, rows in evaluate(prompt).items()}
    options = [*arguments(prompts, config), '--logits', found]
    problems = []
    for command, tolerance in ([interpret, module], INTERPRETER_TOLERANCE), ([steps, app, '--check'], PROGRAM_TOLERANCE):
        run(*command, *options)
        tensors = read_tensors(found)
        if tensors.keys() != expected.keys():
            problems.append(f'{command[0]} yields {sorted(tensors)}, expected {sorted(expected)}')
            continue
        worst = max(difference(expected[key], tensors[key]) for key in expected)
        if worst > tolerance:
            problems.append(f'{os.path.basename(command[0])} differs by {worst:.2e}')
    return '; '.join(problems)


def check(programs, name, case):
    with tempfile.TemporaryDirectory() as directory:
        try:
            return compare(programs, name, case, directory)
        except RuntimeError as error:
            return str(error)


def main():
    programs, only = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ''
    cases = {name: case for name, case in family_models.CASES.items() if only in name}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = dict(zip(cases, pool.map(lambda name: check(programs, name, cases[name]), cases)))
    for name, problem in problems.items():
        if problem:
            print(f'{name}: {problem}')
    sys.exit(any(problems.values()) or not problems)


main()
