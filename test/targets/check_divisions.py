# SPDX-License-Identifier: Apache-2.0
"""check_divisions.py ALONE BOTH: the code for processors of a program for them alone is that of one for GPUs, too, which lists the
kernels of both: what each family of machines divides in its own way."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'artifact'))
import artifact  # noqa: E402


def pieces(kernels):
    return sorted({kernel['piece'] for kernel in kernels if kernel.get('phase') == 'decode' or 'phase' not in kernel})


def main():
    alone, both = sys.argv[1:]
    code = artifact.read_sections(alone)['code']
    with open(both, 'rb') as file:
        assert code in file.read(), 'the code for processors differs'
    manifest, own = (json.loads(artifact.read_sections(path)['manifest']) for path in (both, alone))
    assert manifest['kernels'] == own['kernels'] and 'kernels_of' not in own
    assert all(manifest['plan'][figure] >= own['plan'][figure] for figure in own['plan'])
    print('processors:', *pieces(manifest['kernels']))
    for target, kernels in manifest['kernels_of'].items():
        print(f'{target}:', *pieces(kernels))


main()
