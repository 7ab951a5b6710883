# SPDX-License-Identifier: Apache-2.0
"""The ways in which config.json is written: as the library does today, as it did before, and without its defaults."""


def old_rope(config):
    """rope_parameters as rope_theta and rope_scaling."""
    result = dict(config)
    rope = result.pop('rope_parameters', None)
    if not isinstance(rope, dict) or any(isinstance(value, dict) for value in rope.values()):
        return None if rope else result
    rope = dict(rope)
    kind = rope.pop('rope_type', 'default')
    for name in ('rope_theta', 'partial_rotary_factor'):
        if name in rope:
            result[name] = rope.pop(name)
    result['rope_scaling'] = {'type': kind, **rope} if kind != 'default' else None
    return result


# Keys of types whose layers have rotary bases by their type.
OLD_BASES = {
    'gemma3_text': {'full_attention': 'rope_theta', 'sliding_attention': 'rope_local_base_freq'},
    'modernbert': {'full_attention': 'global_rope_theta', 'sliding_attention': 'local_rope_theta'},
}


def old_bases(config):
    """The same where each type of layer has its own base, for types whose files had keys for them."""
    rope, names = config.get('rope_parameters'), OLD_BASES.get(config['model_type'])
    if not names or not isinstance(rope, dict) or set(rope) != set(names):
        return old_rope(config)
    result = {key: value for key, value in config.items() if key != 'rope_parameters'}
    return {**result, **{names[kind]: rope[kind]['rope_theta'] for kind in names}}


def old_spelling(saved):
    result = old_bases(saved)
    if result is None:
        return None
    result.pop('layer_types', None)
    if 'dtype' in result:
        result['torch_dtype'] = result.pop('dtype')
    result['transformers_version'] = '4.40.0'
    return result


def spellings(raw, saved):
    """(name, config.json)"""
    yield 'as saved today', saved
    old = old_spelling(saved)
    if old is not None:
        yield 'as saved before', old
