# SPDX-License-Identifier: Apache-2.0
"""check_gguf.py BIN WRITER MODELS: models that were converted to GGUF compute the bits of the directories they were made
from, and read texts as they do.

WRITER is the folder of gguf_writer.py.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAMS, WRITER, MODELS = sys.argv[1:]
LOGITS = 'LOGITS'
sys.path.insert(0, WRITER)
import gguf_writer


def run(*command):
    result = subprocess.run(command, capture_output=True)
    if result.returncode:
        sys.exit(f'{" ".join(command)}\n{result.stderr.decode()}')
    return result.stdout


def compile(model, app, *options):
    run(os.path.join(PROGRAMS, 'talc'), 'compile', model, '-o', app, *options)


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def same(what, apps, *options):
    """Runs both programs, which must print the same; the option LOGITS stands for a file, which must be the same, too."""
    found = []
    for app in apps:
        logits = app + '.logits'
        output = run(app, *(logits if option == LOGITS else option for option in options), '-q', '-t', '1')
        found.append((output, content(logits) if LOGITS in options else b''))
    if found[0] != found[1]:
        sys.exit(f'{what}: {options} differ: {found[0][0][:300]}, {found[1][0][:300]}')


def without_head(directory, model):
    """The model without the head that GGUF has no place for."""
    os.makedirs(directory)
    for name in os.listdir(model):
        if name != 'config.json':
            shutil.copy(os.path.join(model, name), directory)
    with open(os.path.join(model, 'config.json')) as file:
        config = json.load(file)
    with open(os.path.join(directory, 'config.json'), 'w') as file:
        json.dump({**config, 'architectures': ['BertModel']}, file)


def check(directory, name, element, parts):
    model, path = os.path.join(MODELS, name), os.path.join(directory, f'{name}.gguf')
    original = model
    apps = [os.path.join(directory, kind) for kind in ('original', 'converted')]
    metadata, tensors = gguf_writer.convert(model, element)
    if parts > 1:
        gguf_writer.write_parts(path, metadata, tensors, parts)
        path = os.path.join(directory, f'{name}-00001-of-{parts:05}.gguf')
    else:
        with open(path, 'wb') as file:
            file.write(gguf_writer.pack(metadata, tensors, version=2, alignment=64))
    if name == 'tales-bert':
        original = os.path.join(directory, 'bert')
        without_head(original, model)
    compile(original, apps[0], f'--weights={element.lower()}')
    compile(path, apps[1])
    with open(os.path.join(model, 'golden.json')) as file:
        examples = json.load(file)[:3]
    for example in examples:
        if 'source_ids' in example:
            same(name, apps, '-p', example['source'])
        elif 'prompt_ids' in example:
            same(name, apps, '--ids', ','.join(map(str, example['prompt_ids'])), '--logits', LOGITS)
            same(name, apps, '-p', example['prompt'], '-n', '24', '--temp', '0')
        else:
            same(name, apps, '--ids', ','.join(map(str, example['ids'])), '--pool', 'none')
            same(name, apps, '--text', example['text'], '--pool', 'mean')


def main():
    with tempfile.TemporaryDirectory() as directory:
        check(directory, 'tales-gpt2', 'F32', 2)
        check(directory, 'tales-llama', 'F32', 1)
        check(directory, 'es-en-t5', 'F32', 1)
        check(directory, 'tales-bert', 'F16', 1)


main()
