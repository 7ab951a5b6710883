# SPDX-License-Identifier: Apache-2.0
"""tune.py TALC MODEL DIRECTORY: what records do to programs, and what is said of records that do not suit."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

TALC, MODEL, DIRECTORY = sys.argv[1:]
RECORD = os.path.join(DIRECTORY, 'record.jsonl')
TEMPORARY = os.path.join(DIRECTORY, 'tmp')
os.mkdir(TEMPORARY)
ENVIRONMENT = os.environ | {'TMPDIR': TEMPORARY}
IDS = ','.join(str((7 * i + 3) % 200 + 5) for i in range(70))


def run(*command, status=0):
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    if result.returncode != status:
        sys.exit(f'{command}: status {result.returncode}\n{result.stdout}{result.stderr}')
    return result.stdout + result.stderr


def logits(name, *options):
    app = os.path.join(DIRECTORY, name)
    said = re.sub(r'^wrote .*\n', '', run(TALC, 'compile', MODEL, *options, '-o', app), flags=re.MULTILINE)
    found = []
    for ids in IDS, IDS[:IDS.index(',')], ','.join(IDS.split(',')[:8]):
        run(app, '-q', '--ids', ids, '--logits', app + '.logits', '-t', '2')
        with open(app + '.logits', 'rb') as file:
            found.append(file.read())
    return said, found


def expect(condition, what):
    if not condition:
        sys.exit(what)


def lines():
    with open(RECORD) as file:
        return [json.loads(line) for line in file]


def interrupt():
    """Ends it when it has kept something; the record is whole, and nothing else stays."""
    tuner = subprocess.Popen([TALC, 'tune', MODEL, '--budget=1000', '-t', '1', '-o', RECORD], env=ENVIRONMENT,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # shells may ignore it
    while not os.path.exists(RECORD) and tuner.poll() is None:
        time.sleep(0.05)
    tuner.send_signal(signal.SIGINT)
    expect(tuner.wait() != 0, 'it was not ended')
    expect(not any(line['confirmed'] for line in lines()), 'what was not measured again is confirmed')
    return sum(line['tried'] for line in lines())


tried = interrupt()
run(TALC, 'tune', MODEL, '--budget=1', '-t', '1', '-o', RECORD)
expect(sum(line['tried'] for line in lines()) > tried > 0, 'it has not gone on where it was interrupted')
first = lines()
expect(first and all(line['tried'] > 0 and line['confirmed'] for line in first if line['candidates']), 'nothing was tried')
run(TALC, 'tune', MODEL, '--budget=1', '-t', '1', '-o', RECORD)
second = lines()
expect(os.listdir(TEMPORARY) == [], 'temporary files are left')
expect([line['kernel'] for line in first] == [line['kernel'] for line in second], 'kernels have changed')
expect(sum(line['tried'] for line in second) > sum(line['tried'] for line in first), 'it has not gone on')

bf16 = os.path.join(DIRECTORY, 'bf16')
run(TALC, 'tune', MODEL, '--weights=bf16', '--budget=1', '-t', '1', '-o', bf16)
with open(bf16) as file:
    without = [line['name'] for line in map(json.loads, file) if line['candidates'] == 0]
expect(not any(name.startswith('matmul') for name in without), f'nothing can be tried of {without}')

untuned = logits('untuned', '--tuned=off')[1]
tried = {'fetch_next': 0, 'tile_rows': 4, 'block_rows': 48, 'by_panels': 1, 'claimed_rows': 8, 'tile_steps': 1,
         'fetch_ahead': 8, 'fetch_level': 1, 'fetch_rows': 3, 'stream_rows': 24, 'stream_depth': 4}
forced = {'matmul': tried, 'attention': {'task_rows': 12, 'chunk_keys': 16}}
has_halide = os.path.exists(os.path.join(os.path.dirname(os.path.realpath(TALC)), 'hgen'))
of_rows = {'unroll': 3, 'by_halide': int(has_halide)}
expect({'norm', 'gather', 'kv'} <= {line['name'].split('_')[0] for line in second}, 'row-wise ops have no plans')
with open(RECORD, 'w') as file:
    for line in second:
        line['plan'] = forced.get(line['name'].split('_')[0], of_rows)
        file.write(json.dumps(line) + '\n')
said, tuned = logits('tuned', f'--tuned={RECORD}')
expect(said == '', f'of a record that suits it is said: {said}')
expect(tuned == untuned, 'logits are others with a record')
with open(os.path.join(DIRECTORY, 'tuned'), 'rb') as one, open(os.path.join(DIRECTORY, 'untuned'), 'rb') as other:
    expect(one.read() != other.read(), 'the record changed nothing')

matmul = next(line for line in second if line['name'].startswith('matmul'))
# Records of two runs are joined: of a kernel the line counts for which more was tried.
with open(RECORD, 'w') as file:
    for tried, rows in (5, 3), (9, 5), (7, 4):
        file.write(json.dumps(matmul | {'plan': {'tile_rows': rows}, 'tried': tried}) + '\n')
said, found = logits('merged', f'--tuned={RECORD}', '--remarks=schedule')
expect(re.search(r'tuning record: .*tile_rows = 5', said) and not re.search('tuning record: .*tile_rows = [34]', said),
       'of joined records another line counts')
expect(found == untuned, 'logits are others with joined records')

# Damaged, stale and foreign lines.
with open(RECORD, 'w') as file:
    file.write('{"kernel": "00", "target\n')
    file.write(json.dumps(matmul | {'plan': {'tile_rows': 1000}}) + '\n')
    file.write(json.dumps(second[-1] | {'plan': {'tile_height': 2}}) + '\n')
said, found = logits('stale', f'--tuned={RECORD}')
expect('line 1 is not a plan of a kernel: ignored' in said and found == untuned, f'of a damaged record it is said: {said}')
expect('the recorded plan does not fit and is ignored: tile_rows is 1000' in said, f'of a stale plan it is said: {said}')
with open(RECORD, 'w') as file:
    file.write(json.dumps(matmul | {'kernel': 'ABCDEF', 'plan': {'tile_rows': 5}}) + '\n')
said, found = logits('gone', f'--tuned={RECORD}')
expect('none of the 1 plans of the tuning record matches a kernel of this program' in said and found == untuned, f'gone kernels: {said}')
with open(RECORD, 'a') as file:
    file.write(json.dumps(matmul | {'plan': {'tile_rows': 5}}) + '\n')
said, found = logits('partly-gone', f'--tuned={RECORD}')
expect(said == '' and found == untuned, f'of a record with kernels of another program it is said: {said}')
said = logits('partly-gone', f'--tuned={RECORD}', '--remarks=schedule')[0]
expect('1 of 2 recorded plans match no kernel of this program' in said, f'partly gone: {said}')
with open(RECORD, 'w') as file:
    file.write(json.dumps(matmul | {'target': 'another', 'processor': 'Z80'}) + '\n')
said, found = logits('foreign', f'--tuned={RECORD}')
expect('has plans for Z80 only, none for native: ignored' in said and found == untuned, f'foreign: {said}')
said = logits('foreign', f'--tuned={RECORD}', '--target=native,nvptx,vulkan')[0]
expect(said.count('none for native,nvptx,vulkan: ignored') == said.count('note:') == 1, f'foreign to three: {said}')
with open(RECORD, 'a') as file:
    file.write(json.dumps(matmul | {'plan': {'tile_rows': 5}}) + '\n')
expect(logits('own', f'--tuned={RECORD}', '--target=native,nvptx,vulkan')[0] == '', 'a GPU needs no plans')
with open(RECORD, 'w') as file:
    file.write(json.dumps(matmul | {'target': 'another', 'plan': {}}) + '\n')
expect(logits('empty', f'--tuned={RECORD}')[0] == '', 'a record without plans needs no note')
run(TALC, 'compile', MODEL, '--tuned=/none', '-o', os.path.join(DIRECTORY, 'none'), status=1)
expect('T0701' in run(TALC, 'compile', MODEL, '--plan=nonsense', '-o', os.path.join(DIRECTORY, 'none'), status=1), '--plan')

# A program stands for its model and the options that it was compiled with.
app = os.path.join(DIRECTORY, 'app')
run(TALC, 'compile', MODEL, '--weights=bf16', '--target=x86-64-v3', '-o', app)
said = run(TALC, 'tune', app, '--budget=1', '-t', '1', '-o', RECORD + '.app')
with open(RECORD + '.app') as file:
    of_app = [json.loads(line) for line in file]
run(TALC, 'tune', MODEL, '--weights=bf16', '--target=x86-64-v3', '--budget=1', '-t', '1', '-o', RECORD + '.model')
with open(RECORD + '.model') as file:
    of_model = [json.loads(line) for line in file]
expect({(line['kernel'], line['target']) for line in of_app} == {(line['kernel'], line['target']) for line in of_model},
       'a program and its model have other kernels')
# It has no path of the model: the cache of this machine remembers it, elsewhere the model is beside it, or is named.
with open(app, 'rb') as file:
    expect(MODEL.encode() not in file.read(), 'a program has the path of its model')
nowhere = ENVIRONMENT | {'TALC_CACHE': os.path.join(DIRECTORY, 'empty-cache')}
result = subprocess.run([TALC, 'tune', app], capture_output=True, text=True, env=nowhere, cwd=TEMPORARY)
name = os.path.basename(MODEL)
expect(result.returncode == 2 and f'was made of {name}, which is not there; start talc tune in the folder that has it; or '
       'name the model, with the same options: --target=x86-64-v3 --weights=bf16' in result.stderr, result.stderr)
os.symlink(MODEL, os.path.join(DIRECTORY, name))
beside = os.path.join(DIRECTORY, 'app.talc-tuned.jsonl')
subprocess.run([TALC, 'tune', app, '--budget=1', '-t', '1'], check=True, env=nowhere, cwd=TEMPORARY, stdout=subprocess.DEVNULL)
with open(beside) as file:
    expect({json.loads(line)['kernel'] for line in file} == {line['kernel'] for line in of_app}, 'a record beside the program')
os.remove(os.path.join(DIRECTORY, name))

if any(line['plan'] for line in of_app):
    expect(f'talc compile {MODEL} --target=x86-64-v3 --weights=bf16 --tuned={RECORD}.app -o {app}' in said, said)
# talc tune takes the target that runs here out of several.
run(TALC, 'compile', MODEL, '--target=vulkan,x86-64-v3', '-o', app)
run(TALC, 'tune', app, '--budget=1', '-t', '1', '-o', RECORD + '.list')
with open(RECORD + '.list') as file:
    expect({json.loads(line)['target'] for line in file} == {line['target'] for line in of_app}, 'another target was tuned')
said = run(TALC, 'tune', app, '--weights=bf16', status=2)
expect('leave out --weights=bf16' in said, f'options beside a program: {said}')
moved = os.path.join(DIRECTORY, 'moved')
os.rename(shutil.copytree(MODEL, os.path.join(DIRECTORY, 'model')), moved)
run(TALC, 'compile', moved, '-o', app)
shutil.rmtree(moved)
said = run(TALC, 'tune', app, status=2)
expect(f'was made of {moved}, which is not there' in said, f'a model that is gone: {said}')
# An edited program has other kernels; the input of a later stage is not a model.
stage = os.path.join(DIRECTORY, 'optimized.mlir')
run(TALC, 'compile', MODEL, '--stop-after=optimize', '-o', stage)
with open(stage) as file:
    program = file.read()
with open(stage, 'w') as file:
    file.write(program.replace('gelu_tanh', 'relu'))
run(TALC, 'compile', stage, '--start-from=lower', '-o', app)
expect('has other kernels than' in run(TALC, 'tune', app, '--budget=1', '-t', '1', '-o', RECORD + '.edited'), 'edited')
with open(stage, 'w') as file:
    file.write(re.sub(r'talc.origin = {[^}]*}, ', '', program))
run(TALC, 'compile', stage, '--start-from=lower', '-o', app)
expect('does not say which model' in run(TALC, 'tune', app, status=2), 'a program that began at a stage')
