# SPDX-License-Identifier: Apache-2.0
"""hostile_records.py TALC DIRECTORY: files beside a model, and files that options name, that mean harm.

Each case must end soon, by itself, and print nothing but lines of talc.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'frontends'))
from make_safetensors import write_model

TALC, DIRECTORY = sys.argv[1:]
MODEL = os.path.join(DIRECTORY, 'model')
RECORD = os.path.join(MODEL, 'talc-tuned.jsonl')
OUTSIDE = os.path.join(DIRECTORY, 'outside')
LINE = {'kernel': 'AB', 'name': 'matmul_0', 'target': 'other', 'processor': 'Z80', 'threads': 1, 'plan': {'tile_rows': 4},
        'confirmed': True, 'tried': 3}
failures = []


def write(path, content):
    with open(path, 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def run(*command, seconds=60, feed=None):
    return subprocess.run(command, capture_output=True, timeout=seconds, input=feed)


def expect(name, result, status, text):
    said = result.stderr.decode('utf-8', 'replace')
    fine = all(line.startswith(('error[T', 'warning: ', 'note: ')) for line in said.splitlines())
    silent = all(' ' <= c != '\x7f' and not '\x80' <= c <= '\x9f' for line in said.splitlines() for c in line)
    if result.returncode != status or text not in said or not fine or not silent or (not text and said):
        failures.append(name)
        print(f'{name}: status {result.returncode}, expected {status} and {text!r}; found:\n{said[:1500]}')


def compile_model(*options):
    return run(TALC, 'compile', MODEL, '--stop-after=import', *options)


def beside(name, text, put):
    """A record beside the model, which nobody named: the model compiles all the same."""
    if os.path.lexists(RECORD):
        os.unlink(RECORD)
    put()
    expect(name, compile_model(), 0, text)


def lines(*entries):
    return lambda: write(RECORD, ''.join((e if isinstance(e, str) else json.dumps(LINE | e)) + '\n' for e in entries))


def foreign():
    lines({})()
    os.chown(RECORD, 12345, 12345)


def shared():
    lines({})()
    os.chmod(RECORD, 0o666)


os.mkdir(OUTSIDE)
write_model(MODEL)
write(os.path.join(OUTSIDE, 'record'), json.dumps(LINE) + '\n')
beside('fine', 'has plans for Z80 only', lines({}))
beside('link', 'talc-tuned.jsonl: is a symbolic link', lambda: os.symlink(os.path.join(OUTSIDE, 'record'), RECORD))
beside('dangling', 'is a symbolic link', lambda: os.symlink(os.path.join(OUTSIDE, 'none'), RECORD))
beside('pipe', 'is not a regular file', lambda: os.mkfifo(RECORD))
beside('shared', 'can be written by others', shared)
if os.geteuid() == 0:
    beside('foreign', 'belongs to another user', foreign)
beside('huge', 'has more than', lambda: (write(RECORD, ''), os.truncate(RECORD, 1 << 40)))
# Numbers of the wrong type and beyond their ranges, lists without end, and what would change results.
beside('deep', 'line 1 is not a plan of a kernel', lines('[' * 1000000, {}))
beside('deep-plan', 'line 1 is not a plan', lines('{"kernel": "AB", "target": "t", "x": ' + '{"a":' * 100000))
for name, change in {'times': {'microseconds': 5}, 'gain': {'gain': 'x'}, 'slow-gain': {'gain': -1}, 'tried': {'tried': -1},
                     'often': {'tried': 2 ** 63 - 1}, 'unsigned': {'plan': {'tile_rows': 2 ** 64 - 1}},
                     'threads': {'threads': -5}, 'text': {'plan': {'a; b: c': 1}},
                     'list': {'plan': [1]}}.items():
    beside(name, 'line 1 is not a plan of a kernel', lines(change))
beside('twice', 'line 1 is not a plan', lines('{"kernel": "AB", "kernel": "AC", "target": "t", "plan": {}}'))
beside('forged', 'note:', lines({'processor': 'Z\n\x1b[31merror[T0000]: forged\x9b\u202e'}))
beside('names', 'plans for Z80', lines({}, {'name': '\n\x1b]0;title\x07'}))
beside('many', 'and 99992 more is not a plan', lambda: write(RECORD, '0\n' * 100000))
beside('long', 'has plans for', lines(*({'kernel': f'A{i}'} for i in range(40000))))

# Nobody else's file is overwritten: not what a link leads to, and not the link's name beside the record.
if os.path.lexists(RECORD):
    os.unlink(RECORD)
write(os.path.join(OUTSIDE, 'kept'), 'kept')
os.symlink(os.path.join(OUTSIDE, 'kept'), RECORD)
os.symlink(os.path.join(OUTSIDE, 'kept'), RECORD + '.new')
expect('tune-link', run(TALC, 'tune', MODEL, '--random-weights=1', '--budget=1', '-t', '1', seconds=60), 1,
       'is a symbolic link, expected a regular file; name another record by -o')
os.unlink(RECORD)
with open(os.path.join(OUTSIDE, 'kept')) as file:
    if file.read() != 'kept':
        failures.append('a link was followed')

# Files that options name: links are the user's, what has no end is refused.
pipe, zero, link = os.path.join(DIRECTORY, 'pipe'), '/dev/zero', os.path.join(DIRECTORY, 'link')
os.mkfifo(pipe)
os.symlink(os.path.join(OUTSIDE, 'record'), link)
expect('tuned-link', compile_model(f'--tuned={link}'), 0, 'has plans for Z80 only')
for path, text in (pipe, 'is not a regular file'), (zero, 'is not a regular file'), (DIRECTORY, 'is not a regular file'):
    expect('tuned', compile_model(f'--tuned={path}'), 0, text)
    expect('calibrate', run(TALC, 'compile', MODEL, '--random-weights=1', '--weights=5bit', f'--calibrate={path}', '-o',
                            os.path.join(DIRECTORY, 'out')), 1, text)
expect('tokenizer', compile_model(f'--tokenizer={zero}'), 1, 'the file is neither a regular file nor a pipe')
tokenizer = '{"model": {"type": "\x1b[2J\u009b"}}'
expect('fed', run('sh', '-c', f'printf %s "$1" | {TALC} compile {MODEL} --stop-after=import --tokenizer=/dev/stdin', 'sh',
                  tokenizer), 1, 'T0')
expect('mlir', run(TALC, 'compile', os.path.join(DIRECTORY, 'none.mlir'), '-o', os.path.join(DIRECTORY, 'out')), 1, 'T0702')
os.rename(pipe, pipe + '.mlir')
expect('mlir-pipe', run(TALC, 'compile', pipe + '.mlir', '-o', os.path.join(DIRECTORY, 'out')), 1, 'is not a regular file')
os.rename(pipe + '.mlir', pipe + '.gguf')
expect('gguf-pipe', run(TALC, 'compile', pipe + '.gguf', '-o', os.path.join(DIRECTORY, 'out')), 1, 'T0702')
shutil.rmtree(MODEL)
sys.exit(1 if failures else 0)
