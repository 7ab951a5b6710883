# SPDX-License-Identifier: Apache-2.0
"""check_families.py BIN MODULE [NAME]: imports the random checkpoints of a module of this folder (family_models,
decoder_models) and compares the interpreter and the compiled program with the same model on lists of Python numbers. If
the module has COMPILED, only the programs of these cases.

BIN is the folder of talc and of the programs of this folder. As many cases are checked at a time as there are processors.
"""
import concurrent.futures
import importlib
import os
import random
import subprocess
import sys
import tempfile

from random_checkpoint import flatten, read_tensors

# Both are computed in float64; the interpreter's results are rounded to f32.
INTERPRETER_TOLERANCE = 1e-6
# Sums of up to 61 products in f32, three layers after one another: 5e-7 is typical.
PROGRAM_TOLERANCE = 2e-5


def make_prompts(generator, config):
    """Of very unequal lengths; sources for encoder-decoders. Some have padding inside."""
    def numbers(count, most):
        return [generator.randrange(most) for _ in range(count)]

    def ids(count, most):
        result = numbers(count, most)
        if count > 5:
            result[4] = config.get('pad_token_id', 0)
        return result
    source = config.get('vocab_size')
    target = config.get('decoder_vocab_size', source)
    head = config.get('architectures', [''])[0]
    answers = 'ForConditionalGeneration' in head or 'MTModel' in head
    prompts = []
    for count in 1, 25, 9:
        prompt = {'ids': ids(count, target), 'types': numbers(count, config.get('type_vocab_size', 1))}
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


def compare(programs, name, case, compiled, directory):
    """What is wrong, or nothing."""
    talc, interpret, steps = (os.path.join(programs, tool) for tool in ('talc', 'talc-interpret', 'talc-steps'))
    checkpoint, config, evaluate, names = case()
    model, module, app, found = (os.path.join(directory, file) for file in ('model', 'module.mlir', 'app', 'found'))
    checkpoint.write(model, {key: value for key, value in config.items() if key != 'base'}, names)
    run(talc, 'compile', model, '--stop-after=import', '--max-seq=26', '-o', module)
    ways = [([interpret, module], INTERPRETER_TOLERANCE)]
    if compiled:
        run(talc, 'compile', model, '--max-seq=26', '-o', app)
        ways.append(([steps, app, '--check'], PROGRAM_TOLERANCE))
    prompts = make_prompts(random.Random(name), config)
    expected = {f'{kind}.{i}': rows for i, prompt in enumerate(prompts) for kind, rows in evaluate(prompt).items()}
    options = [*arguments(prompts, config), '--logits', found]
    problems = []
    for command, tolerance in ways:
        run(*command, *options)
        tensors = read_tensors(found)
        if tensors.keys() != expected.keys():
            problems.append(f'{command[0]} yields {sorted(tensors)}, expected {sorted(expected)}')
            continue
        worst = max(difference(expected[key], tensors[key]) for key in expected)
        if worst > tolerance:
            problems.append(f'{os.path.basename(command[0])} differs by {worst:.2e}')
    return '; '.join(problems)


def check(programs, name, case, compiled):
    with tempfile.TemporaryDirectory() as directory:
        try:
            return compare(programs, name, case, compiled, directory)
        except RuntimeError as error:
            return str(error)


def main():
    programs, models, only = sys.argv[1], importlib.import_module(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ''
    cases = {name: case for name, case in models.CASES.items() if only in name}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        compiled = getattr(models, 'COMPILED', cases)
        problems = dict(zip(cases, pool.map(lambda name: check(programs, name, cases[name], name in compiled), cases)))
    for name, problem in problems.items():
        if problem:
            print(f'{name}: {problem}')
    sys.exit(any(problems.values()) or not problems)


main()
