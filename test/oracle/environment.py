# SPDX-License-Identifier: Apache-2.0
"""The virtual environment with the library that talc is compared with, and how a script of this folder gets into it."""
import os
import subprocess
import sys

TORCH, TRANSFORMERS = '2.15.0', '5.24.0'
# TALC_ORACLE names a folder that has the packages already.
FOLDER = os.environ.get('TALC_ORACLE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'talc-oracle')


def install(python):
    """Makes the environment once; an installation that was interrupted starts again."""
    marker = os.path.join(FOLDER, f'torch-{TORCH}-transformers-{TRANSFORMERS}')
    if os.path.exists(marker) or 'TALC_ORACLE' in os.environ:
        return
    print(f'==> installing torch {TORCH} and transformers {TRANSFORMERS} in {FOLDER} (6 GB)', file=sys.stderr)
    subprocess.run([sys.executable, '-m', 'venv', FOLDER], check=True)
    subprocess.run([python, '-m', 'pip', 'install', '--quiet', f'torch=={TORCH}', f'transformers=={TRANSFORMERS}',
                    'safetensors', 'sentencepiece'], check=True)
    open(marker, 'w').close()


def enter():
    """Starts the running script again with the environment's Python, unless that runs it already."""
    python = os.path.join(FOLDER, 'bin', 'python')
    install(python)
    if os.path.realpath(sys.prefix) != os.path.realpath(FOLDER):
        settings = {'HF_HUB_OFFLINE': '1', 'TRANSFORMERS_VERBOSITY': 'error', 'OMP_NUM_THREADS': '1'}
        os.execve(python, [python, '-B', *sys.argv], {**os.environ, **settings})
    import transformers
    if transformers.__version__ != TRANSFORMERS:
        sys.exit(f'oracle: {FOLDER} has transformers {transformers.__version__}, expected {TRANSFORMERS}')
