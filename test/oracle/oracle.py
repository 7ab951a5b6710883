# SPDX-License-Identifier: Apache-2.0
"""Holds talc against the library that defines the models: tiny random models of every type and every variation.

usage: oracle.py [--programs FOLDER] [--results FILE] [--base] [--compile] [TYPE...]
"""
import environment

if __name__ == '__main__':
    environment.enter()

import argparse
import datetime
import hashlib
import itertools
import json
import os
import sys
import tempfile

import compiled
import heads
import spellings
import table
from comparison import RIGHT, Comparison
from model_types import all_types
from tiny import tiny_config
from variations import other_variations, variations


def parse():
    parser = argparse.ArgumentParser(prog='./dev oracle', description=__doc__.split('\n')[0])
    parser.add_argument('types', nargs='*', metavar='TYPE', help='model types (default: all of the library)')
    parser.add_argument('--programs', default='build/bin', help='folder of talc and talc-interpret')
    parser.add_argument('--results', default='oracle.jsonl',
                        help='a line of JSON for each variation; those of the same talc are not computed again')
    parser.add_argument('--base', action='store_true', help='only one model of each type')
    parser.add_argument('--compile', action='store_true', help='compile one model of each type, and let it generate')
    parser.add_argument('--page', help='write the table of docs/families.md to this file')
    parser.add_argument('--plant', action='append', default=[], metavar='KEY=JSON',
                        help='a key of config.json that only talc reads: the table must call its effect wrong')
    return parser.parse_args()


def digest(programs):
    """Tells one build of talc from another."""
    result = hashlib.sha256()
    for name in ('talc', 'talc-interpret'):
        with open(os.path.join(programs, name), 'rb') as file:
            result.update(file.read())
    return result.hexdigest()[:16]


class Results:
    """Lines of JSON, one for each variation; those of the same build of talc are not computed again."""

    def __init__(self, path, build):
        self.build = build
        self.entries = [entry for entry in table.read(path) if entry['talc'] == build]
        self.known = {self.identity(entry) for entry in self.entries}
        self.file = open(path, 'w')
        for entry in self.entries:
            self.write(entry)

    def write(self, entry):
        self.file.write(json.dumps(entry) + '\n')
        self.file.flush()

    @staticmethod
    def identity(entry):
        return entry['type'], entry['key'], json.dumps(entry['value'])

    def has(self, model_type, key, value):
        return (model_type.name, key, json.dumps(value)) in self.known

    def add(self, model_type, key, value, raw, result):
        entry = {'talc': self.build, 'date': str(datetime.date.today()), 'type': model_type.name,
                 'task': model_type.task, 'key': key, 'value': value}
        entry.update({name: item for name, item in result.items() if name not in ('rows', 'saved')})
        if table.is_fault(entry):
            entry['config'] = raw
        if self.identity(entry) not in self.known:
            self.known.add(self.identity(entry))
            self.entries.append(entry)
            self.write(entry)


def own_variations(model_type, raw, saved):
    """What files of the type have: spellings, heads, and every key of the class."""
    for name, spelled in spellings.spellings(raw, saved):
        yield 'spelling', name, spelled
    for name, changed in heads.heads(model_type, raw):
        yield 'architectures', name, changed
    yield from variations(model_type, raw)


def check_type(comparison, model_type, results, folder, phase):
    """One model of a type, then the variations of a phase; without a phase that model alone."""
    raw = tiny_config(model_type)
    base = comparison.compare(model_type, raw, folder)
    results.add(model_type, '', None, raw, base)
    if phase is None or 'rows' not in base or base['verdict'] != RIGHT:
        return  # every variation would say the same
    others = own_variations(model_type, raw, base['saved']) if phase == 0 else other_variations(model_type, raw)
    for key, value, changed in others:
        if not results.has(model_type, key, value):
            results.add(model_type, key, value, changed, comparison.compare(model_type, changed, folder, base['rows']))


def main():
    options = parse()
    types = all_types()
    if unknown := set(options.types) - set(types):
        sys.exit(f'oracle: the library has no model type {", ".join(sorted(unknown))}')
    results = Results(options.results, digest(options.programs))
    planted = {key: json.loads(value) for key, _, value in (text.partition('=') for text in options.plant)}
    comparison = Comparison(options.programs, compiled.execute if options.compile else compiled.interpret, planted)
    phases = (None,) if options.base or options.compile else (0, 1)
    with tempfile.TemporaryDirectory() as folder:
        for phase, name in itertools.product(phases, options.types or types):
            check_type(comparison, types[name], results, os.path.join(folder, 'model'), phase)
            print(table.row(name, [entry for entry in results.entries if entry['type'] == name]), flush=True)
    print(table.summary(results.entries))
    if options.page:
        with open(options.page, 'w') as file:
            file.write(table.page(results.entries, environment.TRANSFORMERS))
    return 1 if any(table.is_fault(entry) for entry in results.entries) else 0


if __name__ == '__main__':
    sys.exit(main())
