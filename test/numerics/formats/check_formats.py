# SPDX-License-Identifier: Apache-2.0
"""check_formats.py BIN MODELS DIRECTORY: what holds of every storage format of weights with every one of states.

A row has the same bits for any threads, steps and company. Weights take what their format's arithmetic says within
1 %, and the file beside them and the runtime less than 1 MiB of code and names. Opening maps the weights and copies none: a program that has answered has its state, its temporaries and little
else in memory of its own.
"""
import json
import os
import re
import subprocess
import sys

PROGRAMS, MODELS, DIRECTORY = sys.argv[1:]
# Bits of a value.
WEIGHTS = {'f32': 32, 'f16': 16, 'bf16': 16, 'q8_0': 8.5, 'q6_k': 6.5625, 'q5_k': 5.5, 'q5_1': 6, 'q5_0': 5.5,
           'q4_k': 4.5, 'q4_1': 5, 'q4_0': 4.5, 'mxfp4': 4.25, 'nvfp4': 4.5, 'iq4_nl': 4.5, 'iq4_xs': 4.25,
           'q3_k': 3.4375, 'fp8_128_bf16': 8.25, 'int8_128_bf16': 8.125,
           'int8z_128_bf16': 8.1875, 'int4_128_bf16': 4.125, 'int4z_128_bf16': 4.1875}
STATES = ['f32', 'f16', 'q8_0']  # and, with the same weights, bf16
MIB = 1 << 20
# Beside the state, temporaries and the file: what was agreed on, and what opening and a step really take.
MOST_RESIDENT, MOST_OWN = 32 * MIB, 4 * MIB
# Matrices of whole blocks of 256 in both directions, several times MOST_OWN in the smallest format.
WIDTH, INNER, LAYERS, VOCABULARY = 512, 1024, 16, 2048
CONFIG = {
    'model_type': 'llama', 'architectures': ['LlamaForCausalLM'], 'hidden_size': WIDTH, 'intermediate_size': INNER,
    'num_hidden_layers': LAYERS, 'num_attention_heads': 8, 'num_key_value_heads': 8, 'max_position_embeddings': 64,
    'rms_norm_eps': 1e-5, 'vocab_size': VOCABULARY, 'tie_word_embeddings': False}


def run(program, *arguments):
    result = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{program} {" ".join(arguments)[:300]}\n{result.stdout}{result.stderr}')
    return result.stdout


def path(name):
    return os.path.join(DIRECTORY, name)


def check_bits(weights, state):
    prompts = [word for count in (1, 7, 33) for word in
               ('--ids', ','.join(str(1 + 37 * i % 900) for i in range(count)))]
    run('talc', 'compile', os.path.join(MODELS, 'tales-llama'), f'--weights={weights}', f'--state={state}', '-o',
        path('app'))
    run('talc-steps', path('app'), *prompts, '--check', '--logits', path('found'))


def number(text, name):
    return int(re.search(rf'^{name}\D*(\d+)', text, re.MULTILINE).group(1))


def memory_after_an_answer(app):
    """Bytes of a program that waits for more input: the most that were resident, and those not mapped from the file."""
    with subprocess.Popen([app, '--input', '-', '-q', '-n', '1', '-t', '2'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdin.write(b'Once there was\n')
        process.stdin.flush()
        process.stdout.readline()
        with open(f'/proc/{process.pid}/status') as file:
            status = file.read()
        process.stdin.close()
    return [1024 * number(status, name) for name in ('VmHWM:', 'RssAnon:')]


def check_memory(weights, state):
    with open(path('config.json'), 'w') as file:
        json.dump(CONFIG, file)
    run('talc', 'compile', DIRECTORY, f'--weights={weights}', f'--state={state}', '--random-weights=1',
        f'--tokenizer={os.path.join(MODELS, "tales-llama")}', '-o', path('app'))
    memory, size = run(path('app'), '--memory'), os.path.getsize(path('app'))
    stored = number(memory, 'weights')
    expected = (2 * WIDTH * VOCABULARY + LAYERS * (4 * WIDTH * WIDTH + 3 * WIDTH * INNER)) * WEIGHTS[weights] / 8
    assert 0.99 < stored / expected < 1.01, f'{weights}: {stored} bytes, expected {expected:.0f} within 1 %'
    runtime = os.path.getsize(os.path.join(PROGRAMS, 'talc-launcher'))
    assert size <= runtime + stored + MIB, f'{weights}: a file of {size} bytes for {stored} and a runtime of {runtime}'
    planned = sum(number(memory, name) for name in ('KV cache of a sequence, all tokens', 'temporaries, step of 64 tokens',
                                                    'logits of a token'))
    resident, own = memory_after_an_answer(path('app'))
    assert resident <= size + planned + MOST_RESIDENT, f'{weights}: {resident} bytes of {size} and {planned} planned'
    assert own <= planned + MOST_OWN, f'{weights}: {own} bytes are not mapped, {planned} planned'


def main():
    for weights in WEIGHTS:
        for state in STATES + ['bf16'] * (weights == 'bf16'):
            check_bits(weights, state)
        check_memory(weights, state)


main()
