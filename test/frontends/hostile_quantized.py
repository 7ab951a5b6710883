# SPDX-License-Identifier: Apache-2.0
"""Quantized checkpoints that must be refused: hostile_quantized.py TALC DIRECTORY FORMATS [NAME...]: all, or some of
CASES. FORMATS is the folder of check_quantized.py, which makes good ones.
"""
import os
import struct
import sys

TALC, DIRECTORY, FORMATS, *ONLY = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.argv[3] = HERE
sys.path.append(FORMATS)
import check_quantized as good
import refusals

UP = 'model.layers.0.mlp.up_proj.'
NAN, INFINITE = float('nan'), float('inf')


def base(name):
    return next(method for method in good.METHODS if method.name == name)


def case(name, code, text, method, change):
    return name, code, text, lambda directory: good.write(directory, base(method), change)


def setting(*path_and_value):
    *path, value = path_and_value

    def change(config, tensors):
        for key in path[:-1]:
            config = config[key]
        config[path[-1]] = value
    return change


def tensor(part, kind=None, shape=None, content=None):
    """Another type, shape or begin of the bytes."""
    def change(config, tensors):
        old = tensors[UP + part]
        new = old[2] if content is None else content + old[2][len(content):]
        tensors[UP + part] = kind or old[0], shape or old[1], new
    return change


def without(part):
    def change(config, tensors):
        del tensors[UP + part]
    return change


def plain(config, tensors):
    """No tensor is quantized."""
    for name in list(tensors):
        if '_proj.' in name:
            del tensors[name]
    for name, (n, k) in good.SHAPES.items():
        tensors[f'{good.LAYER}{name}.weight'] = 'F32', [n, k], bytes(4 * n * k)


WEIGHTS = 'config_groups', 'group_0', 'weights'
HALF, SINGLE = '<e', '<f'


def bf16(x):
    return struct.pack('<f', x)[2:]


CASES = [
    case('method', 'T0105', "is 'quark'", 'gptq-4-32', setting('quant_method', 'quark')),
    case('method-number', 'T0103', 'expected a string', 'gptq-4-32', setting('quant_method', 4)),
    case('bits-5', 'T0105', "key 'bits': is 5", 'gptq-4-32', setting('bits', 5)),
    case('bits-text', 'T0103', "key 'bits'", 'gptq-4-32', setting('bits', '4')),
    case('bits-huge', 'T0104', "key 'bits'", 'gptq-4-32', setting('bits', 2**63)),
    case('bits-other', 'T0203', 'qweight', 'gptq-4-32', setting('bits', 8)),
    case('group-0', 'T0104', "key 'group_size'", 'gptq-4-32', setting('group_size', 0)),
    case('group-negative', 'T0104', "key 'group_size'", 'gptq-4-32', setting('group_size', -2)),
    case('group-huge', 'T0104', "key 'group_size'", 'gptq-4-32', setting('group_size', 2**31)),
    case('group-other', 'T0203', 'scales', 'gptq-4-32', setting('group_size', 64)),
    case('marlin', 'T0105', "key 'checkpoint_format'", 'gptq-4-32', setting('checkpoint_format', 'marlin')),
    case('dynamic-bits', 'T0203', 'qweight', 'gptq-4-32', setting('dynamic', {'.*': {'bits': 8}})),
    case('dynamic-none', 'T0203', 'says that it is not', 'gptq-4-32', setting('dynamic', {r'-:.*\.up_proj': {}})),
    case('dynamic-key', 'T0105', "key 'rotate'", 'gptq-4-32', setting('dynamic', {'.*': {'rotate': 8}})),
    case('dynamic-ahead', 'T0105', "the expression '(?!a)", 'gptq-4-32', setting('dynamic', {'(?!a).*': {}})),
    case('dynamic-deep', 'T0105', 'the expression', 'gptq-4-32', setting('dynamic', {'((a{1,255}){1,255}){1,255}': {}})),
    case('unknown-gptq', None, "key 'rotate' is not known", 'gptq-4-32', setting('rotate', True)),
    case('mistyped-gptq', 'T0103', "key 'true_sequential' is \"yes\", expected true or false", 'gptq-4-32',
         setting('true_sequential', 'yes')),
    case('adapter', 'T0105', "key 'adapter'", 'gptq-4-32', setting('adapter', {'name': 'lora'})),
    case('awq-backend', 'T0105', "key 'backend': is 'sometimes'", 'awq-gemm', setting('backend', 'sometimes')),
    case('act-order', 'T0105', "key 'actorder': is 'sometimes'", 'packed-4', setting(*WEIGHTS, 'actorder', 'sometimes')),
    case('act-order-null', None, '', 'packed-4', setting(*WEIGHTS, 'actorder', None)),
    case('act-order-weight', None, '', 'packed-4', setting(*WEIGHTS, 'actorder', 'weight')),
    case('block-0', 'T0104', "key 'block_structure'", 'packed-4', setting(*WEIGHTS, 'block_structure', [0, 0])),
    case('scale-type', 'T0105', "key 'scale_dtype': is 'torch.float64'", 'packed-4',
         setting(*WEIGHTS, 'scale_dtype', 'torch.float64')),
    case('weights-dynamic', 'T0105', "key 'dynamic': is true", 'packed-4', setting(*WEIGHTS, 'dynamic', True)),
    case('targets-number', 'T0103', "key 'targets'", 'packed-4', setting('config_groups', 'group_0', 'targets', [1])),
    case('group-key', 'T0105', "key 'rotate'", 'packed-4', setting('config_groups', 'group_0', 'rotate', 1)),
    case('activations', 'T0105', "key 'strategy': is 'sometimes'", 'packed-4',
         setting('config_groups', 'group_0', 'input_activations', {'strategy': 'sometimes'})),
    case('fp8-scheme', 'T0105', "key 'activation_scheme'", 'fp8-deepseek', setting('activation_scheme', 'sometimes')),
    case('fp8-scales', 'T0105', "key 'scale_fmt'", 'fp8-deepseek', setting('scale_fmt', 'log')),
    case('bnb-kind', 'T0105', "key 'bnb_4bit_quant_type': is 'nf3'", 'nf4', setting('bnb_4bit_quant_type', 'nf3')),
    case('bnb-state', 'T0203', 'lacks its quant_state', 'nf4', without('weight.quant_state.bitsandbytes__nf4')),
    case('bnb-state-json', 'T0207', 'not valid JSON', 'nf4',
         tensor('weight.quant_state.bitsandbytes__nf4', content=b'[')),
    case('bnb-map', 'T0207', 'expected -1 of nf4', 'nf4', tensor('weight.quant_map', content=struct.pack(SINGLE, NAN))),
    case('bnb-scale', 'T0207', 'the scale -1', 'nf4', tensor('weight.absmax', content=struct.pack(SINGLE, -1.0))),
    case('bnb-nested', 'T0204', 'nested_absmax', 'nf4-nested', without('weight.nested_absmax')),
    case('bnb-order', 'T0207', 'expected 0', 'llm-int8', tensor('weight_format', content=b'\2')),
    case('bnb-SCB', 'T0207', 'the scale inf', 'llm-int8', tensor('SCB', content=struct.pack(SINGLE, INFINITE))),
    case('modelopt-algorithm', 'T0105', "key 'quant_algo': is 'W4A8_AWQ'", 'modelopt-fp8', setting('quant_algo', 'W4A8_AWQ')),
    case('modelopt-factor', 'T0204', 'weight_scale_2', 'modelopt-nvfp4', without('weight_scale_2')),
    case('modelopt-scale', 'T0207', 'the scale nan', 'modelopt-fp8', tensor('weight_scale', content=struct.pack(SINGLE, NAN))),
    case('mislabelled', 'T0207', 'other checkpoint_format', 'gptq-4-sym', setting('checkpoint_format', 'gptq_v2')),
    case('zero-15', 'T0207', 'stored as 15', 'gptq-4-32', tensor('qzeros', content=b'\xff\xff\xff\xff')),
    case('order-without-groups', 'T0203', 'g_idx', 'gptq-4-order', without('g_idx')),
    case('group-outside', 'T0207', 'into group 99', 'gptq-4-order', tensor('g_idx', content=struct.pack('<i', 99))),
    case('group-below', 'T0207', 'into group -1', 'gptq-4-order', tensor('g_idx', content=struct.pack('<i', -1))),
    case('levels-type', 'T0205', 'dtype F32', 'gptq-4-32', tensor('qweight', kind='F32')),
    case('scale-nan', 'T0207', 'holds the scale nan', 'gptq-4-32', tensor('scales', content=struct.pack(HALF, NAN))),
    case('scale-infinite', 'T0207', 'the scale inf', 'awq-gemm', tensor('scales', content=struct.pack(HALF, INFINITE))),
    case('scale-missing', 'T0204', 'lacks tensor', 'awq-gemm', without('scales')),
    case('scale-turned', 'T0203', 'scales', 'gptq-4-32', tensor('scales', shape=[96, 4])),
    case('awq-version', 'T0105', "key 'version'", 'awq-gemm', setting('version', 'gemv_fast')),
    case('awq-bits', 'T0105', "key 'bits'", 'awq-gemm', setting('bits', 3)),
    case('no-groups', 'T0105', "key 'config_groups'", 'packed-4', setting('config_groups', {})),
    case('group-list', 'T0105', 'expected an object', 'packed-4', setting('config_groups', 'group_0', [])),
    case('format', 'T0105', "is 'marlin-24'", 'packed-4', setting('format', 'marlin-24')),
    case('status', 'T0105', "is 'frozen'", 'packed-4', setting('quantization_status', 'frozen')),
    case('transform', 'T0105', "key 'transform_config'", 'packed-4', setting('transform_config', {'a': 1})),
    case('unknown-key', 'T0105', "key 'rotate'", 'packed-4', setting(*WEIGHTS, 'rotate', True)),
    case('num-bits', 'T0105', "key 'num_bits'", 'packed-4', setting(*WEIGHTS, 'num_bits', 7)),
    case('packed-group-0', 'T0104', "key 'group_size'", 'packed-4', setting(*WEIGHTS, 'group_size', 0)),
    case('packed-group-7', 'T0203', 'not whole groups of 7', 'packed-4', setting(*WEIGHTS, 'group_size', 7)),
    case('strategy', 'T0105', "key 'strategy'", 'packed-4', setting(*WEIGHTS, 'strategy', 'attn_head')),
    case('strategy-tensor-group', 'T0105', "key 'strategy': is tensor_group", 'packed-4',
         setting(*WEIGHTS, 'strategy', 'tensor_group')),
    case('scale-negative', 'T0207', 'the scale -1', 'packed-4', tensor('weight_scale', content=bf16(-1.0))),
    case('groups-uneven', 'T0207', 'expected each of', 'packed-4-order',
         tensor('weight_g_idx', content=struct.pack('<40i', *40 * [0]))),
    case('fp4-group', 'T0105', "is 32, expected 16", 'nvfp4', setting(*WEIGHTS, 'group_size', 32)),
    case('mx-group', 'T0105', "is 16, expected 32", 'mxfp4', setting(*WEIGHTS, 'group_size', 16)),
    case('packed-shape', 'T0207', 'holds [1, -1], expected', 'packed-4',
         tensor('weight_shape', content=struct.pack('<2q', 1, -1))),
    case('symmetric-zeros', 'T0207', "key 'symmetric' is true", 'packed-4-zeros', setting(*WEIGHTS, 'symmetric', True)),
    case('awq-zeros', 'T0207', "key 'zero_point' is false", 'awq-gemm', setting('zero_point', False)),
    case('zeros-missing', 'T0204', 'weight_zero_point', 'packed-4-zeros', without('weight_zero_point')),
    case('global-zero', 'T0207', 'the scale 0', 'nvfp4', tensor('weight_global_scale', content=struct.pack(SINGLE, 0.0))),
    case('global-tiny', 'T0207', 'cannot be divided', 'nvfp4',
         tensor('weight_global_scale', content=struct.pack(SINGLE, 1e-40))),
    case('global-nan', 'T0207', 'the scale nan', 'nvfp4', tensor('weight_global_scale', content=struct.pack(SINGLE, NAN))),
    case('fp4-scale-nan', 'T0207', 'the scale nan', 'nvfp4', tensor('weight_scale', content=b'\x7f')),
    case('fp4-scale-negative', 'T0207', 'the scale -', 'nvfp4', tensor('weight_scale', content=b'\x81')),
    case('mx-scale-nan', 'T0207', 'the scale nan', 'mxfp4', tensor('weight_scale', content=b'\xff')),
    case('fp8-kind', 'T0105', "key 'fmt'", 'fp8-deepseek', setting('fmt', 'e5m2')),
    case('fp8-block-0', 'T0104', "key 'weight_block_size'", 'fp8-deepseek', setting('weight_block_size', [0, 128])),
    case('fp8-block-huge', 'T0104', "key 'weight_block_size'", 'fp8-deepseek', setting('weight_block_size', [2**40, 1])),
    case('fp8-block-other', 'T0203', 'weight_scale_inv', 'fp8-deepseek', setting('weight_block_size', [16, 128])),
    case('fp8-scale-missing', 'T0204', 'weight_scale', 'fp8-deepseek', without('weight_scale_inv')),
    case('fp8-scale-infinite', 'T0207', 'the scale inf', 'fp8-deepseek',
         tensor('weight_scale_inv', content=struct.pack(SINGLE, INFINITE))),
    case('nothing-quantized', 'T0104', 'but none is', 'gptq-4-32', plain),
]

chosen = [case for case in CASES if not ONLY or case[0] in ONLY]
sys.exit(1 if refusals.check(TALC, DIRECTORY, chosen) or not chosen else 0)
