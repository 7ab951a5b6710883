# SPDX-License-Identifier: Apache-2.0
"""check_random_coverage.py BIN ROOT: whether the random blocks that tests compile have every op, operand, attribute and
recipe that the definition of the talc dialect knows, each with and without what is optional; as they are written, or as
stage optimize makes them. BIN and LLVM are the folders of talc-opt and llvm-tblgen, ROOT that of the source tree.

    an option of the definition                            is drawn where a model has
    talc.route                                             the op
    talc.route bias, talc.route no bias                    an operand that may be absent, and not
    talc.route groups                                      an attribute that is not its default
    talc.norm kind layer                                   a case of an enumeration
    #talc.alibi, #talc.alibi rounded, !talc.kv_cache sinkTokens     an attribute or a type, a parameter of it that may be absent
    !talc.kv_cache memory                                     a case of a parameter that is an enumeration
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import random_block

# Features that random blocks cannot have, and the tests that cover them.
ELSEWHERE = {
    '#talc.file': 'values in files: check_stored_blocks.py', '#talc.codes': 'the same: check_quantized.py',
    '#talc.quantized': 'the same: check_quantized.py',
    'talc.experts rounding': 'set by quantize-activations: check_quantized_matmul.py',
    '!talc.kv_cache layout': 'chosen by targets, behind stage optimize: layout-kv-cache.mlir',
    '!talc.kv_cache recurrence': 'read and written by ops with states alone: recurrent_models.py',
    'talc.kv_cache offset': 'assigned in stage bufferize: plan-memory.mlir', 'talc.weight offset': 'the same',
    'talc.weight format': 'written by assign-formats: assign-formats.mlir', 'talc.derive format': 'the same',
    'talc.weight quantize_to': 'the same', 'talc.weight importance': 'the same', 'talc.weight divergence': 'the same',
}
OPTIONAL = {'Optional', 'Variadic', 'OptionalAttr', 'UnitAttr', 'DefaultValuedAttr'}


def spelled(parameter):
    """A parameter as the assembly format writes it: sinkTokens is sink_tokens."""
    return re.sub('(?<=[a-z])(?=[A-Z])', '_', parameter).lower()


class Definition:
    """The options that the records of TableGen say there are."""

    def __init__(self, records):
        self.records, self.options = records, set()
        for name in records['!instanceof']['Talc_Op']:
            self.read_op(records[name])
        for sign, kind in (('#', 'Talc_Attr'), ('!', 'Talc_Type')):
            for name in records['!instanceof'][kind]:
                self.read_parameters(f'{sign}talc.{records[name]["mnemonic"]}', records[name])

    def kinds(self, name):
        """The classes of a record."""
        return {name, *self.records[name]['!superclasses']}

    def cases(self, name):
        """The cases of an enumeration, or of an attribute or parameter that is one."""
        record = self.records[name]
        enum = (record.get('enum') or {}).get('def') or name
        return [self.records[case['def']]['str'] for case in self.records[enum].get('enumerants', [])]

    def read_op(self, op):
        name = f'talc.{op["opName"]}'
        self.options.add(name)
        for kind, argument in op['arguments']['args']:
            kinds = self.kinds(kind['def'])
            if kinds & OPTIONAL:
                self.options.add(f'{name} {argument}')
            if kinds & {'Optional', 'Variadic'}:
                self.options.add(f'{name} no {argument}')
            self.options |= {f'{name} {argument} {case}' for case in self.cases(kind['def'])}

    def read_parameters(self, name, record):
        """Reads parameters, and the cases of those that are enumerations; the default case is not printed."""
        self.options.add(name)
        enums = {f'{enum["cppNamespace"]}::{enum["className"]}': enum['!name']
                 for enum in map(self.records.get, self.records['!instanceof']['Talc_Enum'])}
        for argument in (record.get('parameters') or {'args': []})['args']:
            kind, parameter = argument if isinstance(argument[0], dict) else argument[::-1]
            if not isinstance(kind, dict):  # a type of C++
                continue
            found = self.records[kind['def']]
            if found['cppType'] in enums:
                default = (found['defaultValue'] or '').split('::')[-1]
                self.options |= {f'{name} {case}' for case in self.cases(enums[found['cppType']]) if case != default}
            elif self.kinds(kind['def']) & {'OptionalParameter', 'DefaultValuedParameter'}:
                self.options.add(f'{name} {parameter}')


def definition(root):
    tblgen, file = os.path.realpath(shutil.which('llvm-tblgen')), os.path.join(root, 'dialects', 'talc', 'TalcOps.td')
    includes = ['-I', root, '-I', os.path.join(os.path.dirname(tblgen), '..', 'include')]
    result = subprocess.run([tblgen, '--dump-json', *includes, file], check=True, capture_output=True, text=True)
    return Definition(json.loads(result.stdout))


def parts(text):
    """Splits a text at the commas outside of brackets."""
    result, depth, last = [], 0, 0
    for at, letter in enumerate(text + ','):
        depth += letter in '<([{'
        depth -= letter in '>)]}'
        if letter == ',' and depth == 0:
            result.append(text[last:at].strip())
            last = at + 1
    return list(filter(None, result))


class Program:
    """The options that ops have, printed generically."""

    def __init__(self, known, text):
        self.known, self.options = known, set()
        for name, operands, properties in re.findall(r'"(talc\.\w+)"\((.*?)\) *(?:<\{(.*?)\}>)?(?= [:{(]|$)', text, re.M):
            self.read_op(name, operands, properties)
        for name, of in re.findall(r'([#!]talc\.\w+)(?=<(.*))?', text):
            self.options.add(name)
            words = of[:self.end(of)] if of else ''
            self.options |= {option for option in known.options if option.startswith(name + ' ') and
                             re.search(rf'\b{spelled(option.split()[1])}\b', words)}

    @staticmethod
    def end(text):
        """The index of the bracket that closes those in which the text begins."""
        depth = 0
        for at, letter in enumerate(text):
            depth += {'<': 1, '>': -1}.get(letter, 0)
            if depth < 0:
                return at
        return len(text)

    def read_op(self, name, operands, properties):
        """An attribute that has its default is absent."""
        op = next(r for r in map(self.known.records.get, self.known.records['!instanceof']['Talc_Op'])
                  if f'talc.{r["opName"]}' == name)
        given = dict((part.split(' = ') + ['unit'])[:2] for part in parts(properties))
        self.options.add(name)
        taken = [(kind['def'], argument) for kind, argument in op['arguments']['args']
                 if 'TypeConstraint' in self.known.kinds(kind['def'])]
        sizes = given.get('operandSegmentSizes')
        counts = list(map(int, re.findall(r'\d+', sizes.split(':')[1]))) if sizes else None
        for place, (kind, argument) in enumerate(taken):
            if self.known.kinds(kind) & {'Optional', 'Variadic'}:
                count = counts[place] if counts else len(parts(operands)) - len(taken) + 1
                self.options.add(f'{name} {argument}' if count else f'{name} no {argument}')
        for kind, argument in op['arguments']['args']:
            default, value = self.known.records[kind['def']].get('defaultValue'), given.get(argument)
            if value is None or self.is_default(value, default):
                continue
            self.options |= {f'{name} {argument}'}
            self.options |= {f'{name} {argument} {case}' for case in self.known.cases(kind['def'])
                             if re.search(rf'\b{case}\b', value)}

    @staticmethod
    def is_default(value, default):
        value = value.split(' : ')[0]
        try:
            return float(value) == float(default)
        except (TypeError, ValueError):
            return default == '{}' and value == 'array<i64>'


def print_generic(bin, text, *passes):
    result = subprocess.run([os.path.join(bin, 'talc-opt'), '-', '--split-input-file', '--mlir-print-op-generic', *passes],
                            input=text, check=True, capture_output=True, text=True)
    return result.stdout


def main():
    bin, root = sys.argv[1:]
    known, models = definition(root), []
    for seed in range(random_block.MODELS):
        models.append(random_block.build(random.Random(f'random-blocks {seed}'), random_block.BLOCKS).text())
    text = '// -----\n'.join(models)
    drawn = Program(known, print_generic(bin, text) + print_generic(bin, text, '--talc-optimize')).options
    tested = {option for option in known.options for name in ELSEWHERE if f'{option} '.startswith(f'{name} ')}
    missing = sorted(known.options - drawn - tested)
    for option in missing:
        print(f'{option}: in none of {random_block.MODELS} models of {random_block.BLOCKS} blocks; random_*.py draw them')
    for option in sorted(set(ELSEWHERE) - known.options):
        print(f'{option}: is listed here, but not defined')
    print(f'{len(known.options) - len(missing)} of {len(known.options)} options are drawn, '
          f'or tested elsewhere ({len(tested)})')
    return bool(missing)


if __name__ == '__main__':
    sys.exit(main())
