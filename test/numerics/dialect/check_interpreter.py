# SPDX-License-Identifier: Apache-2.0
"""check_interpreter.py TALC-INTERPRET [SEEDS [NAME]]: compares the interpreter with plain_math on every case of
op_models and on random blocks, all tokens at once and in steps."""
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import op_models
import prompts
import random_block

# Both compute in double precision; the interpreter prints six digits after the point.
TOLERANCE = 2e-6
# Tables of angles are rounded to f32.
TABLE_TOLERANCE = 2e-5


def interpret(program, path, batch, options):
    """The rows of each result of each prompt."""
    output = subprocess.run([program, path, *prompts.arguments(batch), '--rows=all,all', *options], check=True,
                            capture_output=True, text=True).stdout
    return [[[float(v) for v in row.split()] for row in part.splitlines()[1:]] for part in output.split('prompt')[1:]]


def difference(expected, found):
    """The largest difference, relative to the largest magnitude."""
    flat = lambda results: [v for rows in results for row in rows for v in row]
    a, b = flat(expected), flat(found)
    if len(a) != len(b):
        return float('inf')
    return max(abs(p - q) for p, q in zip(a, b)) / max(1.0, max(map(abs, a)))


def check(program, name, model, batch, splits, directory):
    path = os.path.join(directory, 'model.mlir')
    with open(path, 'w') as file:
        file.write(model.text())
    expected = [rows for prompt in batch for rows in model.evaluate(prompt)]
    tolerance = TABLE_TOLERANCE if '_table' in model.text() else TOLERANCE
    worst = max(difference(expected, interpret(program, path, batch, options)) for options in splits)
    if worst <= tolerance:
        return True
    print(f'{name}: differs by {worst:.2e}: {" ".join(prompts.arguments(batch))}')
    return False


def main():
    program, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    only = sys.argv[3] if len(sys.argv) > 3 else ''
    failures, count = 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(seeds):
            for name in [*op_models.CASES, 'random-block']:
                if only not in name:
                    continue
                generator = random.Random(f'{name} {seed}')
                model = (op_models.build([name], generator) if name in op_models.CASES else
                         random_block.build(generator, blocks=1))
                batch = prompts.ragged_batch(generator, model, 12)
                # Attention among the rows of a step sees nothing of other steps.
                splits = [[]] if model.is_encoder else [[], ['--split=3,1,2']] + [['--split=1']] * (seeds > 1)
                failures += not check(program, f'{name} {seed}', model, batch, splits, directory)
                count += 1
    print(f'{count - failures} of {count} agree')
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
