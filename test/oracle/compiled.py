# SPDX-License-Identifier: Apache-2.0
"""What talc makes of a checkpoint: an imported module in the float64 interpreter, or a compiled program."""
import os
import re
import subprocess

from safetensors import safe_open


class Refused(Exception):
    """Talc says why it does not take a model."""


class Crashed(Exception):
    """A command ended by a signal, without a code, or not at all."""


def run(command, seconds=120, output=False):
    """What a command prints: messages, or its output."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Crashed(f'{os.path.basename(command[0])} takes more than {seconds} s') from None
    if result.returncode == 0:
        return result.stdout if output else result.stderr
    message = re.search(r'error\[(T\d{4})\]: (.*)', result.stderr)
    if result.returncode < 0 or not message:
        raise Crashed(f'{os.path.basename(command[0])} ends with {result.returncode}: {result.stderr[-300:]}')
    raise Refused(f'{message[1]}: {message[2]}')


def arguments(prompts):
    result = []
    for prompt in prompts:
        for option, name in ('--ids', 'ids'), ('--types', 'types'), ('--source-ids', 'source'):
            if name in prompt:
                result += [option, ','.join(map(str, prompt[name]))]
    return result


def read_rows(path, count, kind):
    names = [kind if count == 1 else f'{kind}.{i}' for i in range(count)]
    with safe_open(path, 'numpy') as file:
        if missing := set(names) - set(file.keys()):
            raise Crashed(f'no result is called {min(missing)}, only {", ".join(sorted(file.keys()))}')
        return [file.get_tensor(name).astype('float64') for name in names]


def check_config(programs, model):
    """Imports config.json with random weights."""
    run([os.path.join(programs, 'talc'), 'compile', model, '--random-weights=1', '--stop-after=import', '-o',
         os.path.join(model, 'import.mlir')])


def interpret(programs, model, prompts, options, kind):
    """(messages, rows of every prompt)"""
    module, found = os.path.join(model, 'import.mlir'), os.path.join(model, 'found.safetensors')
    messages = run([os.path.join(programs, 'talc'), 'compile', model, '--stop-after=import', '-o', module, *options])
    try:
        run([os.path.join(programs, 'talc-interpret'), module, *arguments(prompts), '--logits', found])
    except Refused as error:
        raise Crashed(f'the interpreter says {error}') from None
    return messages, read_rows(found, len(prompts), kind)


def execute(programs, model, prompts, options, kind):
    """(messages, rows of every prompt) of a program, whose steps are checked against each other."""
    program, found = os.path.join(model, 'program'), os.path.join(model, 'found.safetensors')
    messages = run([os.path.join(programs, 'talc'), 'compile', model, '-o', program, *options], 300)
    try:
        run([os.path.join(programs, 'talc-steps'), program, '--check', *arguments(prompts), '--logits', found])
    except Refused as error:
        raise Crashed(f'the program says {error}') from None
    return messages, read_rows(found, len(prompts), kind)
