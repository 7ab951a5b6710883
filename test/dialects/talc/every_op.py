# SPDX-License-Identifier: Apache-2.0
"""every_op.py ROOT: reads the definitions of the talc dialect and looks for each op, recipe and source of weights where
it must be defined or tested."""
import glob
import os
import random
import re
import sys

ROOT = sys.argv[1]
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ('test/numerics/dialect', 'test/numerics')]
import op_models  # noqa: E402


def text(*patterns):
    paths = [path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern))]
    assert paths, patterns
    return '\n'.join(open(path).read() for path in paths)


def models():
    """The texts of models around every case of op_models."""
    return '\n'.join(op_models.build([name], random.Random(seed)).text() for name in op_models.CASES for seed in range(2))


def main():
    interpreter = text('compiler/reference/*.cpp')
    printed = text('test/dialects/talc/round-trip.mlir', 'test/dialects/talc/round-trip-recurrences.mlir')
    refused = text('test/dialects/talc/invalid-*.mlir')
    numeric = models()
    missing = []

    def expect(what, where, found):
        if not found:
            missing.append(f'{what} does not occur in {where}')

    ops = re.findall(r'def Talc_(\w+) : Talc_Op<"(\w+)"',
                     text('dialects/talc/TalcOps.td', 'dialects/talc/AttentionOps.td', 'dialects/talc/QuantizeOp.td',
                          'dialects/talc/RecurrenceOps.td'))
    for name, mnemonic in ops:
        op = f'talc.{mnemonic}'
        expect(op, 'compiler/reference', re.search(rf'\b{name}\b', interpreter))
        expect(op, 'round-trip.mlir', re.search(rf'{op}\b', printed))
        expect(op, 'a message of invalid-*.mlir', f"'{op}' op" in refused)
        expect(op, 'the models of op_models.py', re.search(rf'{op}\b', numeric))
    # Operations of backward functions: their values are tested with the rules that make them (numerics/gradients).
    gradientTest = text('test/dialects/talc/round-trip-gradients.mlir')
    gradients = re.findall(r'def Talc_(\w+) : Talc_(?:Wgrad)?Op<"(\w+)"', text('dialects/talc/gradients/GradientOps.td'))
    for name, mnemonic in gradients:
        expect(f'talc.{mnemonic}', 'compiler/reference', re.search(rf'\b{name}\b', interpreter))
        expect(f'talc.{mnemonic}', 'round-trip-gradients.mlir', re.search(rf'talc\.{mnemonic}\b', gradientTest))
    weights = re.findall(r'def Talc_(\w+(?:Source|Recipe|Scaling)) : Talc_Attr<"\w+", "(\w+)"',
                         text('dialects/talc/TalcDialect.td'))
    stored = text('test/artifact/recipes.mlir', 'test/artifact/check_quantized.py')
    for name, mnemonic in weights:
        attribute = f'#talc.{mnemonic}'
        expect(attribute, 'compiler/reference', f'{name}Attr' in interpreter)
        expect(attribute, 'round-trip.mlir', attribute in printed)
        expect(attribute, 'test/artifact/recipes.mlir or check_quantized.py', attribute in stored)
        # Files: numerics/families/families.test, numerics/formats/quantized.test.
        expect(attribute, 'the models of op_models.py', attribute in numeric or name in ('FileSource', 'QuantizedSource'))
    enums = re.findall(r'def Talc_(\w+Kind) : Talc_Enum<[^[]*\[(.*?)\]>', text('dialects/talc/TalcDialect.td'), re.S)
    for kind, cases in enums:
        if kind == 'CodeKind':  # of numbers in files
            continue
        for case in re.findall(r'I32EnumAttrCase<"(\w+)"', cases):
            expect(f'{kind} {case}', 'the models of op_models.py', re.search(rf'talc\.\w+ {case} %', numeric))
    assert len(ops) > 20 and len(gradients) > 20 and len(weights) > 12, 'the definitions are written in another way than this test expects'
    print('\n'.join(missing))
    return bool(missing)


if __name__ == '__main__':
    sys.exit(main())
