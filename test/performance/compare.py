# SPDX-License-Identifier: Apache-2.0
"""Measures talc beside ONNX Runtime, llama.cpp, OpenBLAS and oneDNN: the same work, in turn, in one run.

Every engine is a process that runs one round whenever it is told to. Rounds are interleaved, so that what the machine does
meanwhile meets all of them, and medians are compared. After a round there is a pause in which its threads fall asleep.
Packages come from npm and the system; they and the models, which have random weights, lie in a folder outside the sources.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAUSE = 0.3
PACKAGES = {'onnxruntime-node': 'latest', 'node-llama-cpp': '3.22.1'}  # llama_rounds.py knows the structs of this release
CONFIGS = {
    'bert': {'architectures': ['BertModel'], 'model_type': 'bert', 'vocab_size': 30522},  # the defaults are BERT-base
    'tinyllama': {'architectures': ['LlamaForCausalLM'], 'model_type': 'llama', 'vocab_size': 32000, 'hidden_size': 2048,
                  'intermediate_size': 5632, 'num_hidden_layers': 22, 'num_attention_heads': 32,
                  'num_key_value_heads': 4, 'max_position_embeddings': 2048, 'rms_norm_eps': 1e-5,
                  'tie_word_embeddings': False},
    'qwen3': {'architectures': ['Qwen3ForCausalLM'], 'model_type': 'qwen3', 'vocab_size': 151936, 'hidden_size': 1024,
              'intermediate_size': 3072, 'num_hidden_layers': 28, 'num_attention_heads': 16, 'num_key_value_heads': 8,
              'head_dim': 128, 'max_position_embeddings': 2048, 'rope_theta': 1e6, 'tie_word_embeddings': True},
}
BLOCKS = ('q8_0', 'q4_0', 'q4_k', 'mxfp4')
PRODUCTS = ['512x512x512', '1024x1024x1024', '2048x2048x2048', '128x2304x768', '128x3072x768', '128x768x3072',
            '512x2048x2048', '512x8192x2048']  # rows x outputs x inputs


class Engine:
    """A process that answers every line with the seconds of a round."""

    def __init__(self, name, command):
        self.name, self.samples = name, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def round(self):
        """Runs two rounds and returns the second: after a pause the processor is slow for tens of milliseconds."""
        for _ in range(2):
            self.process.stdin.write('\n')
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f'compare.py: {self.name} ended: {self.process.args}')
        time.sleep(PAUSE)
        return float(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Workplace:
    """The folder of packages and models; makes those that are missing."""

    def __init__(self, folder, talc):
        self.folder, self.talc, self.packages = folder, talc, folder / 'npm'
        folder.mkdir(parents=True, exist_ok=True)

    def install(self):
        if not all((self.packages / 'node_modules' / name).exists() for name in PACKAGES):
            self.packages.mkdir(exist_ok=True)
            packages = [f'{name}@{version}' for name, version in PACKAGES.items()]
            subprocess.run(['npm', 'install', '--ignore-scripts', '--prefix', self.packages, *packages], check=True)

    def make(self, name, command):
        """A file that `command`, with its path behind it, writes."""
        path = self.folder / name
        if not path.exists():
            partial = self.folder / f'partial-{name}'
            subprocess.run([*command, partial], check=True)
            partial.rename(path)
        return path

    def onnx(self, name):
        return self.make(f'{name}.onnx', [sys.executable, HERE / 'onnx_models.py', name])

    def gguf(self, name, element):
        return self.make(f'{name}-{element}.gguf', [sys.executable, HERE / 'gguf_models.py', name, element])

    def app(self, name, element):
        """Always compiled anew: it is talc that is measured."""
        config = ROOT / 'examples' / 'configs' / 'gpt2-small'
        if name in CONFIGS:
            config = self.folder / 'configs' / name
            config.mkdir(parents=True, exist_ok=True)
            (config / 'config.json').write_text(json.dumps(CONFIGS[name]))
        path = self.folder / f'{name}-{element}'
        subprocess.run([self.talc, 'compile', config, '-o', path, '--random-weights=1', f'--weights={element}'], check=True)
        os.sync()  # or the disk would be written while others are measured
        return path

    def talc_command(self, app, threads, kind, tokens, past=0):
        return [self.talc.parent / 'talc-rounds', app, threads, kind, tokens, past]

    def ort_command(self, model, threads, **sizes):
        return ['node', HERE / 'ort_rounds.mjs', self.packages, model, threads,
                *(f'{name}={size}' for name, size in sizes.items())]

    def llama_command(self, model, threads, kind, tokens, past=0):
        return [sys.executable, HERE / 'llama_rounds.py', self.packages, model, threads, kind, tokens, past]


def interleave(commands, rounds):
    """Median seconds by engine."""
    engines = [Engine(name, [str(word) for word in command]) for name, command in commands.items()]
    try:
        for i in range(rounds + 1):
            for engine in engines:
                seconds = engine.round()
                if i > 0:  # the first one warms up
                    engine.samples.append(seconds)
    finally:
        for engine in engines:
            engine.close()
    return {engine.name: statistics.median(engine.samples) for engine in engines}


def report(work, threads, seconds):
    """A row for every peer."""
    for peer, other in seconds.items():
        if peer != 'talc':
            print(f'| {work} | {threads} | {1e3 * seconds["talc"]:.2f} | {peer} | {1e3 * other:.2f} '
                  f'| {other / seconds["talc"]:.2f} x |', flush=True)


def compare_gpt2(place, threads, rounds):
    app, model, step, gguf = (place.app('gpt2', 'f32'), place.onnx('gpt2'), place.onnx('gpt2-decode'),
                              place.gguf('gpt2', 'f32'))
    for count in threads:
        for tokens in (128, 512):
            report(f'GPT-2 124M, f32, prompt of {tokens}', count, interleave({
                'talc': place.talc_command(app, count, 'prompt', tokens),
                'ONNX Runtime': place.ort_command(model, count, tokens=tokens),
                'llama.cpp': place.llama_command(gguf, count, 'prompt', tokens)}, rounds))
        report('GPT-2 124M, f32, 16 tokens behind 128', count, interleave({
            'talc': place.talc_command(app, count, 'decode', 16, 128),
            'ONNX Runtime': place.ort_command(step, count, past=128, repeat=16),
            'llama.cpp': place.llama_command(gguf, count, 'decode', 16, 128)}, rounds))


def compare_bert(place, threads, rounds):
    app, model = place.app('bert', 'f32'), place.onnx('bert')
    for count in threads:
        for tokens in (128, 384):
            report(f'BERT-base, f32, text of {tokens}', count, interleave({
                'talc': place.talc_command(app, count, 'encode', tokens),
                'ONNX Runtime': place.ort_command(model, count, tokens=tokens)}, rounds))


def compare_tinyllama(place, threads, rounds):
    for element in ('f32', 'f16'):
        app, gguf = place.app('tinyllama', element), place.gguf('tinyllama', element)
        step = element == 'f32' and place.onnx('tinyllama-decode')
        for count in threads:
            peers = {'ONNX Runtime': place.ort_command(step, count, past=16, repeat=8)} if step else {}
            report(f'TinyLlama 1.1B, {element}, 8 tokens behind 16', count, interleave({
                'talc': place.talc_command(app, count, 'decode', 8, 16), **peers,
                'llama.cpp': place.llama_command(gguf, count, 'decode', 8, 16)}, rounds))


def compare_blocks(place, threads, rounds):
    """Weights of 8 and 4 bits: prompts, and tokens one by one."""
    for model, title in (('tinyllama', 'TinyLlama 1.1B'), ('qwen3', 'Qwen3 0.6B')):
        for element in BLOCKS:
            app, gguf = place.app(model, element), place.gguf(model, element)
            for count in threads:
                for work, *sizes in (('prompt', 128), ('prompt', 512), ('decode', 8, 16)):
                    name = f'prompt of {sizes[0]}' if work == 'prompt' else '{} tokens behind {}'.format(*sizes)
                    report(f'{title}, {element}, {name}', count, interleave({
                        'talc': place.talc_command(app, count, work, *sizes),
                        'llama.cpp': place.llama_command(gguf, count, work, *sizes)}, rounds))


def compare_matmul(place, threads, rounds):
    """`talc bench --op` has the mathematical libraries in it; ONNX Runtime runs before and after."""
    for shape in PRODUCTS:
        rows, outputs, inputs = map(int, shape.split('x'))
        model = place.onnx(f'matmul-{shape}')
        repeat = max(1, int(4e9 / (2 * rows * outputs * inputs)))
        for count in threads:
            command = [place.talc, 'bench', '--op', f'linear {rows}x{inputs}x{outputs}', '-t', count, '-r', rounds,
                       '-o', 'json']
            engine = Engine('ONNX Runtime', [str(word) for word in place.ort_command(model, count, repeat=repeat)])
            engine.round()
            samples = [engine.round() / repeat for _ in range(rounds)]
            output = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True).stdout
            samples += [engine.round() / repeat for _ in range(rounds)]
            engine.close()
            row = json.loads(output)[0]
            seconds = {'talc': row['seconds'], 'ONNX Runtime': statistics.median(samples)}
            for key, value in row.items():
                if key.endswith('_seconds') and key != 'roof_seconds':
                    library = key[:-len('_seconds')]
                    kernel = row.get(f'{library}_kernel')
                    seconds[f'{library} ({kernel})' if kernel else library] = value
            report(f'product {shape}', count, seconds)


WORK = {'gpt2': compare_gpt2, 'bert': compare_bert, 'tinyllama': compare_tinyllama, 'blocks': compare_blocks,
        'matmul': compare_matmul}


def main():
    cache = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache')
    parser = argparse.ArgumentParser(description='measures talc beside other engines')
    parser.add_argument('work', nargs='*', metavar='WORK', help=f'{", ".join(WORK)} (default: all)')
    parser.add_argument('--talc', type=pathlib.Path, required=True, help='the command; talc-rounds lies beside it')
    parser.add_argument('--folder', type=pathlib.Path, default=cache / 'talc-peers', help='for packages and models')
    parser.add_argument('-t', '--threads', default='1,2')
    parser.add_argument('-r', '--rounds', type=int, default=5)
    options = parser.parse_args()
    unknown = set(options.work) - set(WORK)
    if unknown:
        parser.error(f'unknown work: {", ".join(sorted(unknown))}; expected {", ".join(WORK)}')
    if not shutil.which('node') or not shutil.which('npm'):
        parser.error('node and npm are needed for the other engines')
    place = Workplace(options.folder, options.talc)
    place.install()
    print('| work | threads | talc, ms | engine | its ms | talc is |\n| --- | ---: | ---: | --- | ---: | ---: |', flush=True)
    for name in options.work or WORK:
        WORK[name](place, [int(count) for count in options.threads.split(',')], options.rounds)


if __name__ == '__main__':
    main()
