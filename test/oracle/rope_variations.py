# SPDX-License-Identifier: Apache-2.0
"""Variations of rotary positions, in the keys that files have had since 2023 and in those of today."""
import tiny

HALF = tiny.WIDTH // tiny.HEADS // 2
SHORT, LONG = [1.0 + 0.1 * i for i in range(HALF)], [2.0 + 0.5 * i for i in range(HALF)]
SCALINGS = {
    'linear': {'factor': 4.0},
    'dynamic': {'factor': 4.0},
    'yarn': {'factor': 4.0, 'original_max_position_embeddings': 16},
    'yarn without original context': {'factor': 4.0},
    'yarn attention_factor': {'factor': 4.0, 'original_max_position_embeddings': 16, 'attention_factor': 0.7},
    'yarn betas': {'factor': 4.0, 'original_max_position_embeddings': 16, 'beta_fast': 4.0, 'beta_slow': 0.5},
    'yarn mscale': {'factor': 4.0, 'original_max_position_embeddings': 16, 'mscale': 0.8, 'mscale_all_dim': 0.5},
    'yarn mscale_all_dim': {'factor': 4.0, 'original_max_position_embeddings': 16, 'mscale': 1.0,
                            'mscale_all_dim': 1.0},
    'yarn truncate': {'factor': 4.0, 'original_max_position_embeddings': 16, 'truncate': False},
    'llama3': {'factor': 4.0, 'low_freq_factor': 1.0, 'high_freq_factor': 4.0, 'original_max_position_embeddings': 16},
    'longrope': {'short_factor': SHORT, 'long_factor': LONG, 'factor': 4.0, 'original_max_position_embeddings': 16},
    'longrope attention_factor': {'short_factor': SHORT, 'long_factor': LONG, 'attention_factor': 0.7,
                                  'original_max_position_embeddings': 16},
    'proportional': {'factor': 2.0, 'partial_rotary_factor': 0.5},
    'default partial_rotary_factor': {'partial_rotary_factor': 0.5},
    'unknown': {'factor': 2.0},
}


def rope_variations(raw):
    """(key, label, keys that change): each scaling as rope_scaling with type or rope_type, and as rope_parameters."""
    for label, keys in SCALINGS.items():
        kind = label.split()[0]
        limit = {}
        if kind in ('longrope',) and 'original_max_position_embeddings' in raw:
            limit = {'original_max_position_embeddings': 16}
        yield 'rope_scaling', f'type {label}', {'rope_scaling': {'type': kind, **keys}, **limit}
        yield 'rope_scaling', f'rope_type {label}', {'rope_scaling': {'rope_type': kind, **keys}, **limit}
        yield 'rope_parameters', label, {'rope_parameters': {'rope_type': kind, 'rope_theta': 100.0, **keys}, **limit}
    yield 'rope_parameters', 'theta', {'rope_parameters': {'rope_type': 'default', 'rope_theta': 100.0}}
    yield 'rope_parameters', 'theta without type', {'rope_parameters': {'rope_theta': 100.0}}
    yield 'rope_parameters', 'theta beside', {'rope_parameters': {'rope_type': 'default'}, 'rope_theta': 100.0}
    yield 'rope_parameters', 'theta twice', {'rope_parameters': {'rope_type': 'default', 'rope_theta': 100.0},
                                             'rope_theta': 500.0}
    yield 'rope_parameters', 'linear, old scaling too', {
        'rope_parameters': {'rope_type': 'linear', 'factor': 4.0, 'rope_theta': 100.0},
        'rope_scaling': {'rope_type': 'linear', 'factor': 2.0}}
    yield 'rope_parameters', 'null', {'rope_parameters': None, 'rope_theta': 100.0}


def layer_rope_variations():
    """The same where each type of layer has its own object; full layers are scaled, or those with windows."""
    windows = {'rope_type': 'default', 'rope_theta': 30.0}
    for label, keys in {'default': {}, **SCALINGS}.items():
        scaled = {'rope_type': label.split()[0], 'rope_theta': 100.0, **keys}
        for name, other in ('full_attention', 'sliding_attention'), ('sliding_attention', 'full_attention'):
            yield 'rope_parameters', f'{name} {label}', {'rope_parameters': {name: scaled, other: windows}}
        both = {'full_attention': scaled, 'sliding_attention': scaled}
        yield 'rope_parameters', f'both {label}', {'rope_parameters': both}
