# SPDX-License-Identifier: Apache-2.0
"""The table of what came out, a row for each type, and the lines of JSON that it is made of."""
import collections
import json
import os

from comparison import CRASHED, REFUSED, RIGHT, UNMADE, WRONG


MOST_VALUES = 3


def read(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


def is_fault(entry):
    """Whoever takes a model takes it in every spelling."""
    return entry['verdict'] in (WRONG, CRASHED) or entry['key'] == 'spelling' and entry['verdict'] == REFUSED


def counts(entries):
    """A variation that changes nothing counts only if talc differs; a spelling counts."""
    return collections.Counter(entry['verdict'] for entry in entries
                               if entry.get('counts', True) or entry['key'] in ('', 'spelling') or is_fault(entry))


def faults(entries):
    """A line for each key whose values are wrong."""
    keys = collections.defaultdict(list)
    for entry in entries:
        if is_fault(entry):
            keys[entry['verdict'], entry['key'], entry.get('counts', True)].append(entry)
    for (verdict, key, changes), own in keys.items():
        values = ', '.join(json.dumps(entry['value']) for entry in own[:MOST_VALUES])
        rest = f' and {len(own) - MOST_VALUES} others' if len(own) > MOST_VALUES else ''
        what = own[0].get('reason') or f"up to {max(entry['difference'] for entry in own):.1e}"
        note = '' if changes else ' (the library passes over the key)'
        yield f'    {verdict}: {key} = {values}{rest}: {what[:160]}{note}'


def row(name, entries):
    """The verdict of the type's own model, then of its variations."""
    base, number = entries[0], counts(entries[1:])
    own = f"{base['difference']:.1e}" if 'difference' in base else base['reason'][:110]
    line = f"{name:24} {base['task']:8} {base['verdict']:9} {own}"
    if len(entries) > 1:
        line += '  variations: ' + ', '.join(f'{number[kind]} {kind}' for kind in (RIGHT, REFUSED, WRONG, CRASHED))
    return '\n'.join([line, *faults(entries)])


def summary(entries):
    types = counts(entry for entry in entries if not entry['key'])
    number = counts(entry for entry in entries if entry['key'])
    text = lambda counter: ', '.join(f'{counter[kind]} {kind}' for kind in (RIGHT, REFUSED, WRONG, CRASHED, UNMADE))
    return f'types: {text(types)}\nvariations: {text(number)}'


HEAD = """
## Checked against transformers

`./dev oracle` compares talc with transformers {version}: tiny random models of every type, with every key of their
configurations changed once. Variations that change logits are right, refused by name, or wrong, which
`./dev oracle TYPE` lists.

| model_type | checked on | right | refused | wrong |
|---|---|---|---|---|
"""


def page(entries, version):
    """The part of docs/families.md about the types that talc takes."""
    rows = ''
    for name in sorted({entry['type'] for entry in entries}):
        own = [entry for entry in entries if entry['type'] == name]
        number = counts(own[1:])
        if own[0]['verdict'] == RIGHT and number:
            wrong = number[WRONG] + number[CRASHED]
            rows += f"| `{name}` | {own[-1]['date']} | {number[RIGHT]} | {number[REFUSED]} | {wrong} |\n"
    return HEAD.format(version=version) + rows
