# SPDX-License-Identifier: Apache-2.0
"""Texts that the library and a compiled program generate after the same prompt, greedily and by beam search."""
import os
import re

import torch

import compiled
from model_types import ANSWERS, MASKED

NEW_TOKENS = 8
BEAMS = (1, 3)


def library_text(model, task, prompt, beams):
    """The ids behind the prompt or behind the start token."""
    ids = prompt['source'] if task == ANSWERS else prompt['ids']
    mask = torch.ones(1, len(ids), dtype=torch.long)
    result = model.generate(torch.tensor([ids]), attention_mask=mask, do_sample=False, num_beams=beams,
                            max_new_tokens=NEW_TOKENS, min_new_tokens=NEW_TOKENS, pad_token_id=0)
    return result[0].tolist()[-NEW_TOKENS:]


def program_text(folder, task, prompt, beams):
    ids = prompt['source'] if task == ANSWERS else prompt['ids']
    command = [os.path.join(folder, 'program'), '--ids', ','.join(map(str, ids)), '-n', str(NEW_TOKENS), '--min-tokens',
               str(NEW_TOKENS), '--beams', str(beams), '--temp', '0', '--no-echo', '-q']
    return [int(number) for number in re.findall(r'\d+', compiled.run(command, output=True))][-NEW_TOKENS:]


def problem(model, task, folder, prompts):
    """The first text that differs, or nothing."""
    if task == MASKED:
        return ''
    for prompt in prompts:
        for beams in BEAMS:
            expected, found = library_text(model, task, prompt, beams), program_text(folder, task, prompt, beams)
            if expected != found:
                return f'{beams} beams after {len(prompt["ids"])} tokens: {found}, expected {expected}'
    return ''
