# SPDX-License-Identifier: Apache-2.0
"""check_rings.py BIN DIRECTORY [TARGET]: windows that hold no more than they see. Texts many times as long as a window, and as
the ring that it moves through, against the same models on lists of Python numbers; the same bits however a text is
cut; and memory that does not grow."""
import os
import random
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import plain_math as pm
from decoder_layers import add, embedded, gated, inverse_frequencies, linear, projections, rms, turn
from random_checkpoint import Checkpoint, flatten, read_tensors

BIN, DIRECTORY = sys.argv[1:3]
TARGET = sys.argv[3] if len(sys.argv) > 3 else 'native'
TOLERANCE = 2e-5
WINDOW, LENGTH = 5, 1700  # the ring has room for 768 tokens
CONFIG = {'model_type': 'mistral', 'hidden_size': 8, 'intermediate_size': 6, 'num_hidden_layers': 1,
          'num_attention_heads': 2, 'num_key_value_heads': 1, 'vocab_size': 13, 'max_position_embeddings': 32,
          'rms_norm_eps': 1e-6, 'sliding_window': WINDOW, 'rope_theta': 100.0, 'tie_word_embeddings': True}


def checkpoint():
    c = Checkpoint(5)
    c.add('model.embed_tokens.weight', 13, 8, deviation=1.0)
    at = 'model.layers.0.'
    for name, outputs, inputs in (('self_attn.q', 8, 8), ('self_attn.k', 4, 8), ('self_attn.v', 4, 8),
                                  ('self_attn.o', 8, 8), ('mlp.gate', 6, 8), ('mlp.up', 6, 8), ('mlp.down', 8, 6)):
        c.linear(f'{at}{name}_proj', outputs, inputs, False)
    for name in ('model.norm', at + 'input_layernorm', at + 'post_attention_layernorm'):
        c.norm(name, 8, False)
    return c


def model(c, ids, window, kept):
    """Sink tokens are attended to from the last position of the window."""
    norm = lambda name, x: rms(x, c[name + '.weight'], 1e-6)
    turns, at, x = inverse_frequencies(100.0, 4), 'model.layers.0.', embedded(c, ids)
    q, k, v = projections(c, at, norm(at + 'input_layernorm', x))
    last = kept + window - 1
    first = [turned_by(row, 4, min(p, last)) if kept else row for p, row in enumerate(q)]
    q, k = turn(q, 4, turns), turn(k, 4, turns)
    y = near(q, k, v, first, window, kept)
    x = add(x, linear(c, at + 'self_attn.o_proj', y))
    x = add(x, gated(c, at, norm(at + 'post_attention_layernorm', x), 'silu'))
    return pm.linear(norm('model.norm', x), c['model.embed_tokens.weight'], None)


def turned_by(row, width, position):
    """A row of queries at a position."""
    return pm.rope([row] * (position + 1), len(row) // width, width, 100.0, None)[-1]


def near(q, k, v, first, window, kept):
    """Over the keys that are seen alone."""
    result = []
    for t in range(len(q)):
        seen = [s for s in range(max(0, t - window - kept), t + 1) if t - s < window and s >= kept]
        seen = list(range(min(kept, t + 1))) + seen
        out = []
        for head in range(2):
            own = slice(4 * head, 4 * head + 4)
            scores = [0.5 * sum(a * b for a, b in zip((first if s < kept else q)[t][own], k[s])) for s in seen]
            weights = pm.softmax([scores])[0]
            out += [sum(w * v[s][i] for w, s in zip(weights, seen)) for i in range(4)]
        result.append(out)
    return result


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f'{" ".join(command)[:300]}\n{result.stderr}'
    return result.stdout + result.stderr


def logits(app, ids, *options):
    path = os.path.join(DIRECTORY, 'logits')
    run(app, '--ids', ','.join(map(str, ids)), '--logits', path, '-n', '0', *options)
    return next(iter(read_tensors(path).values()))


def check(name, options, window, kept):
    source, app = os.path.join(DIRECTORY, 'model'), os.path.join(DIRECTORY, name)
    run(os.path.join(BIN, 'talc'), 'compile', source, '-o', app, f'--target={TARGET}', *options)
    generator = random.Random(name)
    ids = [generator.randrange(13) for _ in range(LENGTH)]
    expected, found = flatten(model(checkpoint(), ids, window, kept)), logits(app, ids, '-t', '1')
    worst = max(abs(a - b) for a, b in zip(expected, flatten(found))) / max(map(abs, expected))
    assert worst < TOLERANCE, f'{name}: differs by {worst:.1e}'
    assert logits(app, ids, '-t', '2') == found, f'{name}: two threads make other bits'
    # One token after another: the text that follows is that of the whole beginning.
    text = run(app, '--ids', ','.join(map(str, ids[:40])), '-n', '900', '-q', '--ignore-eos').split('\n')[0].split(',')
    whole = ids[:40] + [int(t) for t in text]
    rows = logits(app, whole, '-t', '2')
    greedy = [max(range(13), key=lambda v: (row[v], -v)) for row in rows[39:-1]]
    assert greedy == whole[40:], f'{name}: generated tokens are not those of the whole text'
    beams = run(app, '--ids', ','.join(map(str, ids[:790])), '--beams', '3', '-n', '9', '-q', '-t', '2')
    assert beams == run(app, '--ids', ','.join(map(str, ids[:790])), '--beams', '3', '-n', '9', '-q', '-t', '1')
    memory = run(app, '--memory')
    held = f'the first {kept} tokens and the last {window}' if kept else f'the last {window} tokens'
    assert 'any number of tokens' in memory and f'in windows of {held} ' in memory.replace('\n', ' '), memory
    return int(re.search(r'KV cache of a sequence, all tokens +(\d+)', memory).group(1))


def main():
    checkpoint().write(os.path.join(DIRECTORY, 'model'), CONFIG)
    # 768 tokens of a key and a value, each in whole lines of 16.
    assert check('ring', [], WINDOW, 0) == 768 * 4 * (4 + 16)
    assert check('sinks', ['--sinks=3'], WINDOW, 3) == (768 + 16) * 4 * (4 + 16)



main()
