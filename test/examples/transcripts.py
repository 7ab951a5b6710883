# SPDX-License-Identifier: Apache-2.0
"""transcripts.py [--write] CC LIBRARIES PAGE...: runs the blocks ```console of pages of documentation, and compares what they say.

Lines that begin with $ are commands of bash; what follows, to the next of them, is what they print to standard output. All
blocks of all pages run one after the other in one folder, where `examples` is talc's; `cc` is CC, and finds libraries in
LIBRARIES. With --write
a page gets what the commands print."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r'(?<=^```console\n).*?(?=^```$)', re.DOTALL | re.MULTILINE)


def steps(block):
    """(command, expected output)"""
    for step in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition('\n')
        yield command, expected


def run(command, folder):
    environment = os.environ | {'PATH': f'{folder}/bin:{os.environ["PATH"]}', 'LIBRARY_PATH': f'{folder}/lib'}
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f'$ {command}\nends with {done.returncode}: {done.stderr}')
    return done.stdout


def check(page, folder):
    """The text of the page with what the commands print, and the differences."""
    different = []

    def replay(block):
        text = ''
        for command, expected in steps(block[0]):
            found = run(command, folder)
            found += '\n' * (found != '' and not found.endswith('\n'))
            text += f'$ {command}\n{found}'
            if found != expected:
                different.append(f'{page}: $ {command}\nexpected:\n{expected}found:\n{found}')
        return text

    return BLOCK.sub(replay, (ROOT / page).read_text()), different


def main(arguments):
    write = arguments[0] == '--write'
    compiler, libraries, *pages = arguments[write:]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'bin').mkdir()
        (pathlib.Path(folder) / 'bin' / 'cc').symlink_to(compiler)
        (pathlib.Path(folder) / 'lib').symlink_to(libraries)
        (pathlib.Path(folder) / 'examples').symlink_to(ROOT / 'examples')
        for page in pages:
            text, different = check(page, folder)
            wrong += different
            if write:
                (ROOT / page).write_text(text)
    print(*wrong, sep='\n')
    return 1 if wrong and not write else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
