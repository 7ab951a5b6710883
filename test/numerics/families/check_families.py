# SPDX-License-Identifier: Apache-2.0
"""check_families.py BIN MODULE imports [NAME...]: imports the random checkpoints of a module of this folder (family_models,
decoder_models) and compares the interpreter with the same model on lists of Python numbers.
check_families.py BIN MODULE programs [NAME...]: the same of compiled programs; if the module has COMPILED, of these cases.
check_families.py BIN MODULE programs=TARGET [NAME...]: the same for a device that the runtime finds here, with weights
in f32: tensor cores would round activations as well.
check_families.py BIN MODULE stored=TYPE [NAME...]: programs of all cases with checkpoints in BF16 or F16, and the texts that
they generate, greedily and with four beams.
check_families.py BIN MODULE TARGET@EMULATOR [NAME...]: the same for another machine, run under an emulator: logits of
decoders, and of encoders without token types.

BIN is the folder of talc and of the programs of this folder. As many cases are checked at a time as there are processors.
"""
import concurrent.futures
import importlib
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import family_texts
import random_checkpoint
from random_checkpoint import flatten, read_tensors

# Both are computed in float64; the interpreter's results are rounded to f32.
INTERPRETER_TOLERANCE = 1e-6
# Sums of up to 61 products in f32, three layers after one another: 5e-7 is typical.
PROGRAM_TOLERANCE = 2e-5


def make_prompts(generator, config):
    """Prompts of very unequal lengths, with sources for encoder-decoders. Some have padding inside."""
    def numbers(count, most):
        return [generator.randrange(most) for _ in range(count)]

    def ids(count, most):
        result = numbers(count, most)
        if count > 5:
            result[4] = config.get('pad_token_id') or 0
        return result
    source = config.get('vocab_size')
    target = config.get('decoder_vocab_size', source)
    head = config.get('architectures', [''])[0]
    answers = 'ForConditionalGeneration' in head or 'MTModel' in head
    prompts = []
    # A model with factors for longer texts uses them, unless it is compiled for at most 26 tokens.
    original = config.get('original_max_position_embeddings', 26)
    for count in (1, 25, 9) if original >= 26 else (original + 1, 25, original + 2):
        prompt = {'ids': ids(count, target), 'types': numbers(count, config.get('type_vocab_size', 1))}
        if config.get('prefix_lm'):
            prompt['prefix'] = generator.randrange(count + 1)
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
        if 'prefix' in prompt:
            result += ['--prefix', str(prompt['prefix'])]
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


def run_emulated(emulator, app, options, found):
    """On one thread and on two, which compute the same bits."""
    results = []
    for threads in '1', '2':
        run(emulator, app, *options, '--logits', found, '-q', '-t', threads)
        with open(found, 'rb') as file:
            results.append(file.read())
    if results[0] != results[1]:
        raise RuntimeError('two threads compute other bits than one')


def evaluate(programs, what, model, directory, options):
    """Writes what a model computes to `directory`/found; returns how exactly that is known."""
    talc, interpret, steps = (os.path.join(programs, tool) for tool in ('talc', 'talc-interpret', 'talc-steps'))
    found, compiled = (os.path.join(directory, name) for name in ('found', 'compiled'))
    if what == 'imports':
        run(talc, 'compile', model, '--stop-after=import', '--max-seq=26', '-o', compiled + '.mlir')
        run(interpret, compiled + '.mlir', *options, '--logits', found)
        return INTERPRETER_TOLERANCE
    target, _, emulator = what.partition('@')
    mode, _, device = what.partition('=')
    on_device = mode == 'programs' and device
    chosen = [f'--target={target}'] if emulator else [f'--target={device}', '--weights=f32'] if on_device else []
    run(talc, 'compile', model, '--max-seq=26', '-o', compiled, *chosen)
    if emulator:
        run_emulated(emulator, compiled, options, found)
    else:
        run(steps, compiled, '--check', *options, '--logits', found)
    return PROGRAM_TOLERANCE


def compare(programs, what, name, case, directory):
    """Returns what is wrong, or nothing."""
    model = os.path.join(directory, 'model')
    checkpoint, config, values, names = case()
    settings = family_texts.CONFIG if random_checkpoint.STORED else {}
    checkpoint.write(model, {**{key: value for key, value in config.items() if key != 'base'}, **settings}, names)
    prompts = make_prompts(random.Random(name), config)
    expected = {f'{kind}.{i}': rows for i, prompt in enumerate(prompts) for kind, rows in values(prompt).items()}
    tolerance = evaluate(programs, what, model, directory, arguments(prompts, config))
    tensors = read_tensors(os.path.join(directory, 'found'))
    if '@' in what:
        expected = {key: rows for key, rows in expected.items() if key.startswith('logits')}
    if tensors.keys() != expected.keys():
        return f'yields {sorted(tensors)}, expected {sorted(expected)}'
    worst = max(difference(expected[key], tensors[key]) for key in expected)
    if worst > tolerance:
        return f'differs by {worst:.2e}'
    if random_checkpoint.STORED and family_texts.generates(expected):
        return family_texts.problem(os.path.join(directory, 'compiled'), values, prompts[-1])
    return ''


def check(programs, what, name, case):
    with tempfile.TemporaryDirectory() as directory:
        try:
            return compare(programs, what, name, case, directory)
        except RuntimeError as error:
            return str(error)


def main():
    programs, module, what, *names = sys.argv[1:]
    models = importlib.import_module(module)
    if what.startswith('stored='):
        random_checkpoint.STORED = what.removeprefix('stored=')
    whole = what == 'imports' or random_checkpoint.STORED
    known = models.CASES if whole else getattr(models, 'COMPILED', models.CASES)
    cases = {name: models.CASES[name] for name in names or sorted(known)}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = dict(zip(cases, pool.map(lambda name: check(programs, what, name, cases[name]), cases)))
    for name, problem in problems.items():
        if problem:
            print(f'{name}: {problem}')
    sys.exit(any(problems.values()) or not problems)


main()
