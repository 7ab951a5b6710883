# SPDX-License-Identifier: Apache-2.0
"""check_generation.py BIN MODEL_DIRECTORY: texts of programs whose generation_config.json forbids, forces and limits,
against the rules in Python over the interpreter's logits: greedy and by beam search.

BIN is the folder of talc and of the programs of this folder.
"""
import json
import os
import shutil
import sys
import tempfile

import check_beams
from check_golden import expect, joined, run

import beam_search

LIMIT = 6


def rules_of(settings, end):
    """The settings of a generation_config.json as beam_search.py takes them; the prompt's tokens come from the caller."""
    words = [word for word in settings.get('bad_words_ids', []) if word != [end]]
    return {**beam_search.NO_RULES, 'minNew': settings.get('min_new_tokens', 0),
            'minLength': 0 if 'min_new_tokens' in settings else settings.get('min_length', 0),
            'beginSuppress': settings.get('begin_suppress_tokens', []),
            'suppress': settings.get('suppress_tokens', []) + [word[0] for word in words if len(word) == 1],
            'groups': [word for word in words if len(word) > 1], 'ngram': settings.get('no_repeat_ngram_size', 0),
            'begin': settings.get('forced_bos_token_id', -1), 'end': settings.get('forced_eos_token_id', -1)}


def greedy(model, prompt, rules, end, limit):
    """The likeliest token each time, of logits that the processors have seen."""
    text = list(prompt)
    while len(text) < len(prompt) + limit:
        scores = beam_search.process(model([text])[0], text, rules, [end], len(prompt), len(prompt) + limit)
        text.append(max(range(len(scores)), key=lambda token: scores[token]))
        if text[-1] == end:
            break
    return text[len(prompt):]


class Generation(check_beams.Beams):

    def compile(self, talc, model, directory, settings):
        """The program of the model with other settings of generation."""
        copy = os.path.join(directory, 'model')
        shutil.copytree(model, copy, dirs_exist_ok=True)
        with open(os.path.join(model, 'generation_config.json')) as file:
            settings = {**json.load(file), **settings}
        with open(os.path.join(copy, 'generation_config.json'), 'w') as file:
            json.dump(settings, file)
        run(talc, 'compile', copy, '-o', self.app)

    def check_settings(self, source, prompt, settings):
        rules = rules_of(settings, self.end)
        limit = LIMIT
        if 'max_new_tokens' in settings or 'max_length' in settings:
            limit = settings.get('max_new_tokens', settings.get('max_length', 0) - len(prompt))
        given = ['--ids', joined(source or prompt)] + (['--decoder-ids', joined(prompt)] if source else [])
        given += ['-q'] if limit != LIMIT else ['-q', '-n', str(LIMIT)]
        model = lambda texts: self.model(source, texts)
        expect(f'greedy {prompt} of {source}, {settings}', run(self.app, *given).strip(),
               joined(greedy(model, prompt, rules, self.end, limit)))
        best = beam_search.search(model, prompt, 2, 1.0, beam_search.NO, [self.end], limit, rules)[0]
        expect(f'beams of {prompt} of {source}, {settings}', run(self.app, *given, '--beams', '2').strip(), joined(best[1]))


def settings_of(generation, source, prompt):
    """Settings that change what the model says by itself."""
    plain = greedy(lambda texts: generation.model(source, texts), prompt, beam_search.NO_RULES, generation.end, LIMIT)
    end, first, second = generation.end, plain[0], plain[1]
    return [
        {'min_length': len(prompt) + 4, 'suppress_tokens': [plain[3]], 'begin_suppress_tokens': [first, second]},
        {'min_new_tokens': 5, 'min_length': 90, 'bad_words_ids': [[end], [first, second]], 'forced_bos_token_id': second,
         'begin_suppress_tokens': [second, plain[2]]},
        {'min_new_tokens': 6, 'max_length': len(prompt) + 5, 'bad_words_ids': [[second]], 'forced_eos_token_id': end},
    ]


def main():
    programs, model = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        generation = Generation(programs, model, directory, target='native', under='')
        example = generation.examples[0]
        source = example.get('source_ids')
        beginnings = [example['decoder_ids'][:1]] if source else [example['prompt_ids'][:1], example['prompt_ids'][:4]]
        for prompt in beginnings:
            for settings in settings_of(generation, source, prompt):
                generation.compile(os.path.join(programs, 'talc'), model, directory, settings)
                generation.check_settings(source, prompt, settings)


if __name__ == '__main__':
    main()
