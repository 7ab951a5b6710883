# SPDX-License-Identifier: Apache-2.0
"""Measures how fast a model compiles and runs; prints rows of a table in Markdown.

  measure.py TALC MODEL [--weights=bf16] [--prompt 512] [--predict 64] [--threads 1,2] [--rounds 5]

MODEL may be a folder with no more than config.json: it then gets random weights, which run as fast as others. Every figure is
the best of the rounds, since other programs on the machine only ever make a round slower.
"""
import argparse
import os
import re
import subprocess
import tempfile


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('talc')
    parser.add_argument('model')
    parser.add_argument('--weights', default='checkpoint')
    parser.add_argument('--prompt', type=int, default=512, help='tokens of the prompt')
    parser.add_argument('--predict', type=int, default=64, help='tokens generated after it')
    parser.add_argument('--threads', default=','.join(sorted({'1', str(os.cpu_count())}, key=int)))
    parser.add_argument('--rounds', type=int, default=5)
    return parser.parse_args()


def compile_model(options, program):
    """(seconds, MiB of memory)"""
    command = [options.talc, 'compile', options.model, '-o', program, f'--weights={options.weights}', '--time']
    if not any(name.endswith('.safetensors') for name in os.listdir(options.model)):
        command.append('--random-weights=1')
    report = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    seconds, memory = re.search(r'^total +([\d.]+) s, at most (\d+) MiB', report, re.MULTILINE).groups()
    return float(seconds), int(memory)


def run(options, program, threads):
    """(prompt tokens/s, decoded tokens/s), the best of the rounds"""
    ids = ','.join(str(3 + 7 * i % 500) for i in range(options.prompt))
    command = [program, '--ids', ids, '-n', str(options.predict), '--ignore-eos', '-t', str(threads)]
    best = [0.0, 0.0]
    for _ in range(options.rounds):
        summary = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
        speeds = [float(x) for x in re.search(r'prompt.* ([\d.]+) tokens/s.*decode.* ([\d.]+) tokens/s', summary).groups()]
        best = [max(pair) for pair in zip(best, speeds)]
    return best


def main():
    options = parse()
    print(f'| model | weights | threads | compile, s | compile, MiB | prompt of {options.prompt}, tokens/s | '
          'decode, tokens/s | decode, GB/s of the file |')
    print('|---|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'app')
        seconds, memory = compile_model(options, program)
        size = os.path.getsize(program)
        for threads in options.threads.split(','):
            prompt, decode = run(options, program, threads)
            print(f'| {os.path.basename(os.path.normpath(options.model))} | {options.weights} | {threads} | {seconds:.1f} | '
                  f'{memory} | {prompt:.0f} | {decode:.1f} | {decode * size / 1e9:.1f} |', flush=True)


if __name__ == '__main__':
    main()
