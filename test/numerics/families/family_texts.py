# SPDX-License-Identifier: Apache-2.0
"""Texts that a program generates, against the definition of its model: the likeliest words, and four beams."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'runtime', 'sampling'))
import beam_search

# Tokens that every vocabulary of the random checkpoints has.
CONFIG = {'eos_token_id': 3, 'bos_token_id': 2, 'decoder_start_token_id': 2, 'forced_eos_token_id': None,
          'forced_bos_token_id': 5}  # as the language that M2M-100 is asked for
ENDS, NEW_TOKENS = [CONFIG['eos_token_id']], 7
RULES = {**beam_search.NO_RULES, 'begin': CONFIG['forced_bos_token_id']}


def generates(results):
    """Encoders with a head for masked words have logits as well."""
    return 'logits.0' in results and 'hidden.0' not in results


def joined(ids):
    return ','.join(map(str, ids))


def output(app, prompt, *options):
    prefix = ['--prefix', str(prompt['prefix'])] if 'prefix' in prompt else []
    command = [app, '--ids', joined(prompt.get('source', prompt['ids'])), *prefix, '-n', str(NEW_TOKENS), '-q', *options]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else f'{" ".join(command)}: {result.stderr}'


def likeliest(logits, begin):
    """The text by greedy search; the first of equal words is taken."""
    text = list(begin)
    while len(text) < len(begin) + NEW_TOKENS and text[len(begin):][-1:] != ENDS:
        row = beam_search.process(logits([text])[0], text, RULES, ENDS, len(begin), len(begin) + NEW_TOKENS)
        text.append(row.index(max(row)))
    return text[len(begin):]


def problem(app, values, prompt):
    """Returns what is wrong with texts behind the prompt, or nothing."""
    begin = [CONFIG['decoder_start_token_id']] if 'source' in prompt else prompt['ids']

    def logits(texts):
        return [values({**prompt, 'ids': text})['logits'][-1] for text in texts]
    searched = beam_search.search(logits, begin, 4, 1.0, beam_search.NO, ENDS, NEW_TOKENS, RULES)[0][1]
    for beams, expected in ('1', likeliest(logits, begin)), ('4', searched):
        for threads in '1', '2':
            found = output(app, prompt, '--beams', beams, '-t', threads)
            if found != joined(expected):
                return f'{beams} beams behind {begin}: {found}, expected {joined(expected)}'
    return ''
