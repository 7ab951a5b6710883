# SPDX-License-Identifier: Apache-2.0
"""infini_model.py FOLDER UPDATE: a random checkpoint with a memory of earlier segments, and examples for check_beams."""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import decoder_models


def main():
    folder, update = sys.argv[1:]
    checkpoint, config, _, names = decoder_models.infini({'segment_length': 5, 'update': update})
    checkpoint.write(folder, {**config, 'eos_token_id': 3}, names)
    with open(os.path.join(folder, 'golden.json'), 'w') as file:
        json.dump([{'prompt_ids': [5, 9, 11, 2, 7, 30]}, {'prompt_ids': [1, 40, 33]}], file)


if __name__ == '__main__':
    main()
