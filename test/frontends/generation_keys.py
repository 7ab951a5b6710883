# SPDX-License-Identifier: Apache-2.0
"""Checks what talc says about each key of generation_config.json, against the page that lists them.

usage: generation_keys.py TALC PAGE DIRECTORY   exits with 1 when a key is missing, or warned of where the page says not
"""
import os
import re
import sys

import refusals
from make_safetensors import write_model

T5 = {'model_type': 't5', 'vocab_size': 40, 'd_model': 8, 'd_kv': 4, 'd_ff': 8, 'num_layers': 1, 'num_heads': 2}

# The attributes of transformers' GenerationConfig with values that are not their defaults.
KEYS = {
    'max_length': 30, 'max_new_tokens': 9, 'min_length': 4, 'min_new_tokens': 3, 'early_stopping': True, 'max_time': 2.5,
    'stop_strings': 'end', 'do_sample': True, 'num_beams': 3, 'num_beam_groups': 3, 'penalty_alpha': 0.6,
    'dola_layers': 'low', 'use_cache': False, 'cache_implementation': 'static', 'cache_config': {'max_batch_size': 1},
    'return_legacy_cache': True, 'prefill_chunk_size': 64, 'temperature': 0.5, 'top_k': 9, 'top_p': 0.5, 'min_p': 0.1,
    'top_h': 0.4, 'typical_p': 0.9, 'epsilon_cutoff': 0.001, 'eta_cutoff': 0.001, 'diversity_penalty': 0.5,
    'repetition_penalty': 1.5, 'encoder_repetition_penalty': 1.5, 'length_penalty': 2.0, 'no_repeat_ngram_size': 3,
    'bad_words_ids': [[4], [5, 6]], 'force_words_ids': [[7]], 'renormalize_logits': True, 'constraints': [{'a': 1}],
    'forced_bos_token_id': 8, 'forced_eos_token_id': 9, 'remove_invalid_values': True,
    'exponential_decay_length_penalty': [5, 1.5], 'suppress_tokens': [10], 'begin_suppress_tokens': [11],
    'forced_decoder_ids': [[1, 12]], 'sequence_bias': [[[13], 1.0]], 'token_healing': True, 'guidance_scale': 1.5,
    'low_memory': True, 'watermarking_config': {'greenlist_ratio': 0.5}, 'num_return_sequences': 2,
    'output_attentions': True, 'output_hidden_states': True, 'output_scores': True, 'output_logits': True,
    'return_dict_in_generate': True, 'pad_token_id': 1, 'bos_token_id': 2, 'eos_token_id': 3,
    'encoder_no_repeat_ngram_size': 2, 'decoder_start_token_id': 14, 'is_assistant': True, 'num_assistant_tokens': 5,
    'num_assistant_tokens_schedule': 'heuristic', 'assistant_confidence_threshold': 0.5, 'prompt_lookup_num_tokens': 4,
    'max_matching_ngram_size': 3, 'assistant_early_exit': 1, 'assistant_lookbehind': 5, 'target_lookbehind': 5,
    'compile_config': {'mode': 'default'}, 'disable_compile': True, 'generation_kwargs': {'a': 1},
    'transformers_version': '4.57.0', '_from_model_config': True, '_commit_hash': '0',
}


def keys_of(page, title):
    """The keys in the first column of the table under a title."""
    section = page.split(f'## {title}\n')[1].split('\n## ')[0]
    columns = [line.split('|')[1] for line in section.split('\n') if line.startswith('| `')]
    return [key for column in columns for key in re.findall(r'`(\w+)`', column)]


def warned(talc, directory, values):
    """The keys that a warning names."""
    os.makedirs(directory)
    write_model(directory, T5, {'generation_config.json': values})
    result = refusals.run(talc, directory, ['--random-weights=1'])
    lines = result.stderr.decode().splitlines()
    if result.returncode != 0 or len(lines) > 1:
        sys.exit('\n'.join(lines))
    return lines[0].split('talc generates without ')[1].split(', ') if lines else []


def main(talc, page, directory):
    with open(page, encoding='utf-8') as file:
        text = file.read()
    done, without, idle = (keys_of(text, title)
                           for title in ('What talc does', 'What talc generates without', 'What changes no text'))
    listed = done + without + idle
    if sorted(listed) != sorted(KEYS):
        sys.exit(f'the page lacks {set(KEYS) - set(listed)} and has {set(listed) - set(KEYS)}')
    for key in without:
        if warned(talc, os.path.join(directory, key), {key: KEYS[key]}) != [key]:
            sys.exit(f'no warning, or another one, of {key}')
    quiet = {key: KEYS[key] for key in done + idle if key != 'num_beams'}
    for name, values, expected in (('quiet', quiet, []),
                                   ('drawn', {'do_sample': True, 'num_beams': 2}, ['num_beams (with do_sample)']),
                                   ('ends', {'forced_eos_token_id': [3, 4]}, ['forced_eos_token_id (all but the first)'])):
        if (found := warned(talc, os.path.join(directory, name), values)) != expected:
            sys.exit(f'{name}: {found} are warned of')
    print(len(listed), 'keys')


main(*sys.argv[1:])
