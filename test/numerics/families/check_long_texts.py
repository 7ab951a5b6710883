# SPDX-License-Identifier: Apache-2.0
"""check_long_texts.py BIN DIRECTORY: 100,000 tokens through models whose texts have no end. The last logits are those of
the model on lists of Python numbers, read at once and token by token; memory is what --memory says, however long the
text is."""
import json
import os
import random
import re
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import decoder_models
import plain_math as pm
import transfo_xl
from decoder_layers import add, attend, embedded, gated, inverse_frequencies, linear, projections, rms, turn
from random_checkpoint import read_tensors

BIN, DIRECTORY = sys.argv[1:]
LENGTH = 100_000
TOLERANCE = 2e-4
# The ids, and logits of a step: what a program holds beside a session when its text has become tokens.
GROWTH = 6 << 20


def write_tokenizer(folder, words):
    """Each token is a word, w0, w1, ..."""
    model = {'type': 'WordLevel', 'unk_token': 'w0', 'vocab': {f'w{i}': i for i in range(words)}}
    with open(os.path.join(folder, 'tokenizer.json'), 'w') as file:
        json.dump({'version': '1.0', 'model': model, 'pre_tokenizer': {'type': 'WhitespaceSplit'}, 'normalizer': None,
                   'decoder': None, 'post_processor': None, 'added_tokens': []}, file)


def run(*command):
    """Its output, and the most memory that was seen resident while it ran."""
    path, peak = os.path.join(DIRECTORY, 'output'), 0
    with open(path, 'w') as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            with open(f'/proc/{process.pid}/status') as status:
                peak = max([peak, *(int(line.split()[1]) << 10 for line in status if line.startswith('VmHWM'))])
            time.sleep(0.01)
    with open(path) as output:
        text = output.read()
    assert process.returncode == 0, f'{" ".join(command)[:300]}\n{text[-2000:]}'
    return text, peak


def write_text(ids):
    path = os.path.join(DIRECTORY, 'text')
    with open(path, 'w') as file:
        file.write(' '.join(f'w{i}' for i in ids))
    return path


def check(name, case, vocabulary, last_logits):
    """`last_logits` of a text."""
    folder, app = os.path.join(DIRECTORY, name), os.path.join(DIRECTORY, name + '.app')
    checkpoint, config, _, names = case
    checkpoint.write(folder, config, names)
    write_tokenizer(folder, vocabulary)
    run(os.path.join(BIN, 'talc'), 'compile', folder, '-o', app)
    ids = [random.Random(f'{name} {i}').randrange(vocabulary) for i in range(LENGTH)]
    expected, text = last_logits(ids), write_text(ids)
    _, tokenizing = run(app, '--tokenize', '-f', text)
    _, reading = run(app, '-f', text, '-n', '1', '-q', '-t', '2')
    assert reading < GROWTH + tokenizing, f'{name}: memory grows with the text: {reading}, for its tokens {tokenizing}'
    found = os.path.join(DIRECTORY, 'logits')
    run(app, '-f', text, '-n', '0', '--logits', found, '-q', '-t', '2')
    rows = next(iter(read_tensors(found).values()))
    assert len(rows) == LENGTH, f'{name}: {len(rows)} rows'
    worst = max(abs(a - b) for a, b in zip(expected, rows[-1])) / max(map(abs, expected))
    assert worst < TOLERANCE, f'{name}: differs by {worst:.1e}'
    # Token by token: as many, and what follows is what the text of them all says.
    _, short = run(app, '--ids', '1,2,3', '-n', '3000', '--ignore-eos', '-q', '-t', '1')
    text, grown = run(app, '--ids', '1,2,3', '-n', str(LENGTH), '--ignore-eos', '-q', '-t', '1')
    assert grown < GROWTH + short, f'{name}: memory grows with what is generated: {grown}, of 3,000 tokens {short}'
    whole = [1, 2, 3] + [int(t) for t in re.findall(r'\d+', text)]
    assert len(whole) == LENGTH + 3, f'{name}: {len(whole)} tokens'
    logits = last_logits(whole[:-1])
    assert logits[whole[-1]] > max(logits) - TOLERANCE * max(map(abs, logits)), f'{name}: the last token is not greedy'


def transformer_xl(case):
    """A token knows of no more than mem_len - 1 others for each layer."""
    checkpoint, config, evaluate, _ = case
    known = config['n_layer'] * (config['mem_len'] - 1) + 1
    return lambda ids: evaluate({'ids': ids[-known:]})['logits'][-1]


def infini(case):
    """A model of one layer: keys and values follow from the tokens alone, so that what a segment leaves is soon computed."""
    c, config = case[:2]
    width, shared = config['hidden_size'] // config['num_attention_heads'], config['num_key_value_heads']
    length, delta = config['infini_attention']['segment_length'], config['infini_attention'].get('update') == 'delta'
    at, turns = 'model.layers.0.', inverse_frequencies(config.get('rope_theta', 10000.0), width)
    norm = lambda name, x: rms(x, c[name + '.weight'], config['rms_norm_eps'])
    every = norm(at + 'input_layernorm', embedded(c, range(config['vocab_size'])))
    q, k, v = projections(c, at, every)

    def segments(ids):
        kept = [([[0.0] * width for _ in range(width)], [0.0] * width) for _ in range(shared)]
        full = (len(ids) - 1) // length * length
        for first in range(0, full, length):
            for head in range(shared):
                own = slice(head * width, (head + 1) * width)
                matrix, divisor = kept[head]
                left = {}
                for i in set(ids[first:first + length]):
                    active = pm.elu_plus_one(k[i][own])
                    found = pm.remembered(kept[head], active) if delta and first else [0.0] * width
                    left[i] = active, [a - b for a, b in zip(v[i][own], found)]
                matrix, divisor = [list(row) for row in matrix], list(divisor)
                for i in ids[first:first + length]:
                    active, value = left[i]
                    for a, row, n in zip(active, matrix, range(width)):
                        divisor[n] += a
                        for j, b in enumerate(value):
                            row[j] += a * b
                kept[head] = matrix, divisor
        return kept, ids[full:]

    def last(ids):
        kept, rest = segments(ids)
        rows = [[z[i] for i in rest] for z in (q, k, v)]
        local = attend(turn(rows[0], width, turns), turn(rows[1], width, turns), rows[2], width, width**-0.5)[-1]
        mixed, group = [], config['num_attention_heads'] // shared
        for head in range(config['num_attention_heads']):
            own = slice(head * width, (head + 1) * width)
            gate = pm.sigmoid(c[at + 'self_attn.infini_beta'][head])
            found = pm.remembered(kept[head // group], pm.elu_plus_one(rows[0][-1][own]))
            mixed += [gate * a + (1 - gate) * b for a, b in zip(found, local[own])]
        x = add(embedded(c, rest[-1:]), linear(c, at + 'self_attn.o_proj', [mixed]))
        x = add(x, gated(c, at, norm(at + 'post_attention_layernorm', x), 'silu'))
        return pm.linear(norm('model.norm', x), c['lm_head.weight'], None)[0]
    return last


def main():
    case = transfo_xl.checkpoint(mem_len=13, clamp_len=7)
    check('transfo-xl', case, 61, transformer_xl(case))
    for update in 'linear', 'delta':
        case = decoder_models.infini({'segment_length': 16, 'update': update}, num_hidden_layers=1)
        check('infini-' + update, case, 61, infini(case))


main()
