# SPDX-License-Identifier: Apache-2.0
"""check_golden.py BIN MODEL_DIRECTORY: the interpreter and the compiled program against golden.json and
golden.safetensors, which were made elsewhere in double precision.

BIN is the folder of talc, talc-interpret and talc-compare.
"""
import json
import os
import subprocess
import sys
import tempfile

# Both sides are float64 rounded to f32.
INTERPRETER_TOLERANCE = 1e-6
# f32 sums of up to 512 products, four layers after one another: 1e-6 is typical.
PROGRAM_TOLERANCE = 2e-5


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f'{" ".join(command)}\n{result.stdout}{result.stderr}')
    return result.stdout


def expect(what, found, expected):
    if found != expected:
        sys.exit(f'{what}: {found}, expected {expected}')


def main():
    programs, model = sys.argv[1:]
    interpret, compare, talc = (os.path.join(programs, name) for name in ('talc-interpret', 'talc-compare', 'talc'))
    golden = os.path.join(model, 'golden.safetensors')
    with open(os.path.join(model, 'golden.json')) as file:
        examples = json.load(file)
    with tempfile.TemporaryDirectory() as directory:
        module, app, logits = (os.path.join(directory, name) for name in ('model.mlir', 'app', 'logits'))
        run(talc, 'compile', model, '--stop-after=import', '-o', module)
        run(talc, 'compile', model, '-o', app)
        for i, example in enumerate(examples):
            prompt = example.get('prompt_ids') or example['ids']
            greedy = example.get('greedy_ids', [])
            ids = ['--ids', ','.join(map(str, prompt))]
            count = ['-n', str(len(greedy))]
            greedy = ','.join(map(str, greedy))
            output = run(interpret, module, *ids, *count, '--logits', logits)
            run(compare, golden, logits, '--as', f'logits.{i}', f'--tolerance={INTERPRETER_TOLERANCE}')
            expect(f'interpreter, prompt {i}', output.strip(), greedy)
            run(app, *ids, '-q', '--logits', logits)
            run(compare, golden, logits, '--as', f'logits.{i}', f'--tolerance={PROGRAM_TOLERANCE}')
            if greedy:
                expect(f'program, prompt {i}', run(app, *ids, *count, '-q', '--ignore-eos', '--temp', '0').strip(), greedy)


if __name__ == '__main__':
    main()
