# SPDX-License-Identifier: Apache-2.0
"""One model by both: what the library computes, what talc computes, and the verdict."""
import random
import shutil
import signal
import typing

import numpy
import torch

import compiled
import generation
import reference
from model_types import ANSWERS, MASKED

# The library computes norms and rotary positions in f32 here and there; the rest of both is float64.
TOLERANCE = 1e-4
# Logits that differ by less than this are the same ones.
UNCHANGED = 1e-6
RIGHT, REFUSED, WRONG, CRASHED, UNMADE = 'right', 'refused', 'wrong', 'crashed', 'not made'
SECONDS = 60


def make_prompts(task, types):
    """Lengths beyond windows of 8 and contexts of 16. Ids below 10 may be special."""
    generator = random.Random(5)
    numbers = lambda count, first, last: [generator.randrange(first, last) for _ in range(count)]
    prompts = []
    for count in (1, 7, 40):
        prompt = {'ids': numbers(count, 10, 90)}
        if types > 1:
            prompt['types'] = sorted(numbers(count, 0, types))
        if task == ANSWERS:
            prompt['source'] = numbers(count // 2 + 3, 10, 90)
        prompts.append(prompt)
    return prompts


def difference(expected, found):
    """The largest of all rows, relative to the largest logit."""
    worst = 0.0
    for a, b in zip(expected, found):
        if a.shape != b.shape or not numpy.isfinite(b).all():
            return float('inf')
        worst = max(worst, float(abs(a - b).max() / max(abs(a).max(), 1e-30)))
    return worst


class OutOfTime(Exception):
    pass


def interrupt(*_):
    raise OutOfTime(f'takes more than {SECONDS} s of a processor')


class Reference(typing.NamedTuple):
    """A model of the library, config.json as the library saves it, and logits after prompts."""
    model: torch.nn.Module
    saved: dict
    prompts: list
    rows: list


def make_reference(model_type, raw, planted, folder):
    """Raises whatever the library raises. Keys that are planted are in the file that talc reads."""
    reference.model_class(raw)  # An import that is interrupted spoils those that follow.
    signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        model = reference.make_model(raw, folder)
        types = getattr(model.config, 'type_vocab_size', None) or 0 if model_type.task == MASKED else 0
        prompts = make_prompts(model_type.task, types)
        rows = [numpy.asarray(reference.forward(model, model_type.task, prompt)) for prompt in prompts]
        if not all(numpy.isfinite(values).all() for values in rows):
            raise ValueError('logits are not finite')
        return Reference(model, reference.save(model.float(), {**raw, **planted}, folder), prompts, rows)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def portions(raw, prompts):
    """(options, indices of prompts): a program takes one list of longrope's factors for texts of all lengths."""
    if 'longrope' not in str(raw):
        return [((), list(range(len(prompts))))]
    isShort = [len(prompt['ids']) <= 16 for prompt in prompts]
    return [(('--max-seq=16',), [i for i, short in enumerate(isShort) if short]),
            (('--max-seq=64',), [i for i, short in enumerate(isShort) if not short])]


def judge(programs, raw, folder, known, method):
    """The verdict, with the difference or the reason."""
    try:
        worst, said, kind = 0.0, '', reference.output_kind(raw)
        for options, chosen in portions(raw, known.prompts):
            messages, found = method(programs, folder, [known.prompts[i] for i in chosen], list(options), kind)
            worst = max(worst, difference([known.rows[i] for i in chosen], found))
            said += messages
    except compiled.Refused as reason:
        return {'verdict': REFUSED, 'reason': str(reason)}
    except compiled.Crashed as reason:
        return {'verdict': CRASHED, 'reason': str(reason)}
    result = {'verdict': RIGHT if worst <= TOLERANCE else WRONG, 'difference': worst}
    return {**result, 'messages': said.strip()[:400]} if said.strip() else result


def judge_texts(model_type, folder, known):
    """The verdict on texts that a compiled program generates, if the library can generate any."""
    try:
        problem = generation.problem(known.model, model_type.task, folder, known.prompts)
    except compiled.Crashed as reason:
        return {'verdict': CRASHED, 'reason': str(reason)}
    except ValueError as reason:
        return {'texts': str(reason)[:200]}
    return {'verdict': WRONG, 'reason': problem} if problem else {'texts': 'the same'}


def judge_alone(programs, folder, problem):
    """Whether talc refuses a model that the library does not make from this configuration."""
    result = {'verdict': UNMADE, 'reason': problem, 'counts': False}
    try:
        compiled.check_config(programs, folder)
    except compiled.Refused as reason:
        result.update(verdict=REFUSED, reason=str(reason), library=problem)
    except compiled.Crashed as reason:
        result.update(verdict=CRASHED, reason=str(reason), library=problem)
    return result


class Comparison(typing.NamedTuple):
    """How models are compared."""
    programs: str  # the folder of talc
    method: typing.Callable  # what computes talc's logits
    planted: dict  # keys that talc alone reads, to see that their effect is found

    def compare(self, model_type, raw, folder, base_rows=None):
        """A dictionary of what came out; `base_rows` tells whether a variation changes anything."""
        shutil.rmtree(folder, ignore_errors=True)
        reference.write_config(raw, folder)
        try:
            known = make_reference(model_type, raw, self.planted, folder)
        except Exception as error:  # whatever the library says
            return judge_alone(self.programs, folder, f'{type(error).__name__}: {str(error).strip()[:200]}')
        result = judge(self.programs, raw, folder, known, self.method)
        if self.method is compiled.execute and result['verdict'] == RIGHT and reference.output_kind(raw) == 'logits':
            result.update(judge_texts(model_type, folder, known))
        if base_rows is not None:
            result['changes'] = difference(base_rows, known.rows)
            result['counts'] = result['changes'] > UNCHANGED
        return {**result, 'rows': known.rows, 'saved': known.saved}
