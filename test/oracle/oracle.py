# SPDX-License-Identifier: Apache-2.0
"""Holds talc against the library that defines the models: tiny random models of every type and every variation.

usage: oracle.py [--programs FOLDER] [--results FILE] [--base] [--compile] [TYPE...]
"""
import environment

if __name__ == '__main__':
    environment.enter()

import argparse
import itertools
import json
import os
import sys
import tempfile

import comparison
import compiled
import heads
import spellings
import table
from model_types import all_types
from tiny import tiny_config
from variations import other_variations, variations


def parse():
    parser = argparse.ArgumentParser(prog='./dev oracle', description=__doc__.split('\n')[0])
    parser.add_argument('types', nargs='*', metavar='TYPE', help='model types (default: all of the library)')
    parser.add_argument('--programs', default='build/bin', help='folder of talc and talc-interpret')
    parser.add_argument('--results', default='oracle.jsonl', help='a line of JSON for each variation; those that it has are not repeated')
    parser.add_argument('--base', action='store_true', help='only one model of each type')
    parser.add_argument('--compile', action='store_true', help='compile one model of each type, instead of interpreting it')
    return parser.parse_args()


class Results:
    """Lines of JSON, one for each variation; those that the file has are not computed again."""

    def __init__(self, path):
        self.entries = table.read(path)
        self.known = {self.identity(entry) for entry in self.entries}
        self.file = open(path, 'a')

    @staticmethod
    def identity(entry):
        return entry['type'], entry['key'], json.dumps(entry['value'])

    def has(self, model_type, key, value):
        return (model_type.name, key, json.dumps(value)) in self.known

    def add(self, model_type, key, value, raw, result):
        entry = {'type': model_type.name, 'task': model_type.task, 'key': key, 'value': value}
        entry.update({name: item for name, item in result.items() if name not in ('rows', 'saved')})
        if table.is_fault(entry):
            entry['config'] = raw
        if self.identity(entry) not in self.known:
            self.known.add(self.identity(entry))
            self.entries.append(entry)
            self.file.write(json.dumps(entry) + '\n')
            self.file.flush()


def own_variations(model_type, raw, saved):
    """What files of the type have: spellings, heads, and every key of the class."""
    for name, spelled in spellings.spellings(raw, saved):
        yield 'spelling', name, spelled
    for name, changed in heads.heads(model_type, raw):
        yield 'architectures', name, changed
    yield from variations(model_type, raw)


def check_type(options, model_type, results, folder, phase):
    """One model of a type, then the variations of a phase."""
    raw = tiny_config(model_type)
    method = compiled.execute if options.compile else compiled.interpret
    base = comparison.compare(options.programs, model_type, raw, folder, method=method)
    results.add(model_type, '', None, raw, base)
    if options.base or options.compile or 'rows' not in base or base['verdict'] == comparison.REFUSED:
        return
    others = own_variations(model_type, raw, base['saved']) if phase == 0 else other_variations(model_type, raw)
    for key, value, changed in others:
        if not results.has(model_type, key, value):
            results.add(model_type, key, value, changed,
                        comparison.compare(options.programs, model_type, changed, folder, base['rows'], method))


def main():
    options = parse()
    types = all_types()
    if unknown := set(options.types) - set(types):
        sys.exit(f'oracle: the library has no model type {", ".join(sorted(unknown))}')
    results = Results(options.results)
    with tempfile.TemporaryDirectory() as folder:
        for phase, name in itertools.product(range(1 if options.base or options.compile else 2), options.types or types):
            check_type(options, types[name], results, os.path.join(folder, 'model'), phase)
            print(table.row(name, [entry for entry in results.entries if entry['type'] == name]), flush=True)
    print(table.summary(results.entries))
    return 1 if any(table.is_fault(entry) for entry in results.entries) else 0


if __name__ == '__main__':
    sys.exit(main())
