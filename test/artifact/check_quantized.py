# SPDX-License-Identifier: Apache-2.0
"""check_quantized.py TALC DIRECTORY FRONTENDS [METHOD...]: checkpoints of every method of quantization, whose values are computed here
from their definitions, in double precision and with one rounding; what talc stores and what it decodes has these bits.
All methods, or some of METHODS. FRONTENDS is the folder of make_safetensors.py.
"""
import json
import os
import random
import struct
import subprocess
import sys

sys.path.append(sys.argv[3])
import block_formats
from artifact import read_weights
from block_formats import E2M1, bf16, e4m3, e8m0, f, f16
from check_blocks import Program, floats
from make_safetensors import pack, write_model

# All variants, of which block_formats has some.
block_formats.GROUPED[:] = [f'{kind}_{size}_{rounded}' for kind in ('fp8', 'int4', 'int4z', 'int8', 'int8z', 'nvfp4')
                            for size in (32, 64, 128, 256) for rounded in ('bf16', 'f16')]
block_formats.add_formats()
LAYER = 'model.layers.0.'
SHAPES = {'self_attn.q_proj': (32, 128), 'self_attn.k_proj': (32, 128), 'self_attn.v_proj': (32, 128),
          'self_attn.o_proj': (128, 32), 'mlp.gate_proj': (96, 128), 'mlp.up_proj': (96, 128),
          'mlp.down_proj': (128, 96)}
PLAIN = {'model.embed_tokens': (16, 128), 'model.norm': (128,), LAYER + 'input_layernorm': (128,),
         LAYER + 'post_attention_layernorm': (128,)}
CONFIG = {'model_type': 'llama', 'vocab_size': 16, 'hidden_size': 128, 'intermediate_size': 96, 'num_hidden_layers': 1,
          'num_attention_heads': 4, 'num_key_value_heads': 4, 'head_dim': 8, 'max_position_embeddings': 64,
          'rms_norm_eps': 1e-5, 'tie_word_embeddings': True, 'torch_dtype': 'bfloat16'}


def bits(numbers, width, total=None):
    """Numbers of a few bits as a string of bytes, the lowest bits first."""
    word = 0
    for i, number in enumerate(numbers):
        word |= (number & (1 << width) - 1) << i * width
    return word.to_bytes(total or -(-len(numbers) * width // 8), 'little')


def table(rows, columns, make):
    return [[make(r, c) for c in range(columns)] for r in range(rows)]


def transposed(rows):
    return [list(column) for column in zip(*rows)]


def flat(rows):
    return [x for row in rows for x in row]


KINDS = {'F32': lambda x: struct.pack('<f', x), 'F16': lambda x: struct.pack('<e', x),
         'BF16': lambda x: struct.pack('<f', x)[2:]}
ROUND = {'F32': f, 'F16': f16, 'BF16': bf16}


def numbers(kind, rows):
    """A tensor of floats: (type, shape, bytes)."""
    return kind, [len(rows), len(rows[0])], b''.join(KINDS[kind](x) for x in flat(rows))


def words_along(rows, width):
    """Words of 32 bits along every row."""
    words = -(-len(rows[0]) * width // 32)
    return 'I32', [len(rows), words], b''.join(bits(row, width, 4 * words) for row in rows)


def words_down(rows, width):
    """Words of 32 bits down every column."""
    columns = [bits(column, width, -(-len(rows) * width // 32) * 4) for column in zip(*rows)]
    words = len(columns[0]) // 4
    return 'I32', [words, len(columns)], b''.join(column[4 * w:4 * w + 4] for w in range(words) for column in columns)


def swapped(rows):
    """AWQ's order of eight columns."""
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    return words_along([[row[c // 8 * 8 + order[c % 8]] for c in range(len(row))] for row in rows], 4)


def embedding(count):
    """Numbers for norms and the table, which differ from token to token."""
    return [0.5 + i * 7 % 31 / 50 for i in range(count)]


class Method:
    """A configuration, and of a module its tensors and the values that they mean."""

    def __init__(self, name, config, make, formats):
        self.name, self.config, self.make, self.formats = name, config, make, formats


def scales_of(choose, kind, rows, columns):
    return table(rows, columns, lambda r, c: ROUND[kind](choose.uniform(0.001, 0.02)))


def gptq(width, size, kind='F16', version=1, order=False, symmetric=False):
    def make(n, k, choose):
        gs = size if size > 0 else k
        groups = -(-k // gs)
        q = table(k, n, lambda r, c: choose.randrange(1 << width))
        zero = table(groups, n, lambda r, c: 1 << width - 1 if symmetric else choose.randrange(1, (1 << width) - 1))
        s = scales_of(choose, kind, groups, n)
        g = [r // gs for r in range(k)]
        if order:
            choose.shuffle(g)
        values = table(n, k, lambda r, c: ROUND[kind]((q[c][r] - zero[g[c]][r]) * s[g[c]][r]))
        stored = [[z - (2 - version) for z in row] for row in zero]
        parts = {'qweight': words_down(q, width), 'qzeros': words_along(stored, width), 'scales': numbers(kind, s),
                 'g_idx': ('I32', [k], struct.pack(f'<{k}i', *g))}
        return parts, values
    config = {'quant_method': 'gptq', 'bits': width, 'group_size': size, 'desc_act': order, 'sym': symmetric,
              'checkpoint_format': 'gptq' if version == 1 else 'gptq_v2'}
    return config, make


def awq(size, version='gemm', zeros=True):
    def make(n, k, choose):
        groups = k // size
        q = table(n, k, lambda r, c: choose.randrange(16))
        zero = table(n, groups, lambda r, c: choose.randrange(16) if zeros else 8)
        s = scales_of(choose, 'F16', n, groups)
        values = table(n, k, lambda r, c: f16((q[r][c] - zero[r][c // size]) * s[r][c // size]))
        if version == 'gemm':
            parts = {'qweight': swapped(transposed(q)), 'qzeros': swapped(transposed(zero)),
                     'scales': numbers('F16', transposed(s))}
        else:
            words = -(-groups // 8)
            words = words if size >= 128 else -(-words // 2) * 2 if size == 64 else -(-words // 4) * 4
            missing = [0] * (8 * words - groups)
            parts = {'qweight': words_along(q, 4), 'qzeros': words_along([row + missing for row in zero], 4),
                     'scales': numbers('F16', [row + missing for row in s])}
        if not zeros:
            del parts['qzeros']
        return parts, values
    return {'quant_method': 'awq', 'bits': 4, 'group_size': size, 'zero_point': zeros, 'version': version}, make


def compressed(form, arguments, make):
    return {'quant_method': 'compressed-tensors', 'format': form, 'quantization_status': 'compressed',
            'config_groups': {'group_0': {'targets': ['Linear'], 'weights': arguments}}, 'ignore': ['lm_head']}, make


def packed(width, size, kind='BF16', symmetric=True, order=False):
    def make(n, k, choose):
        gs = size if size > 0 else k
        low = -(1 << width - 1)
        q = table(n, k, lambda r, c: choose.randrange(low, -low))
        s = scales_of(choose, kind, n, k // gs)
        zero = table(n, k // gs, lambda r, c: 0 if symmetric else choose.randrange(low, -low))
        g = [c // gs for c in range(k)]
        if order:
            choose.shuffle(g)
        values = table(n, k, lambda r, c: ROUND[kind]((q[r][c] - zero[r][g[c]]) * s[r][g[c]]))
        parts = {'weight_packed': words_along([[x - low for x in row] for row in q], width),
                 'weight_scale': numbers(kind, s), 'weight_shape': ('I64', [2], struct.pack('<2q', n, k))}
        if not symmetric:
            parts['weight_zero_point'] = words_down([[z - low for z in row] for row in zero], width)
        if order:
            parts['weight_g_idx'] = 'I32', [k], struct.pack(f'<{k}i', *g)
        return parts, values
    arguments = {'num_bits': width, 'type': 'int', 'symmetric': symmetric, 'group_size': size,
                 'strategy': 'group' if size > 0 else 'channel'}
    return compressed('pack-quantized', arguments, make)


def int8(kind='BF16', symmetric=True):
    def make(n, k, choose):
        q = table(n, k, lambda r, c: choose.randrange(-128, 128))
        s = scales_of(choose, kind, n, 1)
        zero = [0 if symmetric else choose.randrange(-128, 128) for _ in range(n)]
        values = table(n, k, lambda r, c: ROUND[kind]((q[r][c] - zero[r]) * s[r][0]))
        parts = {'weight': ('I8', [n, k], bytes(x & 255 for x in flat(q))), 'weight_scale': numbers(kind, s)}
        if not symmetric:
            parts['weight_zero_point'] = 'I8', [n, 1], bytes(z & 255 for z in zero)
        return parts, values
    return compressed('int-quantized', {'num_bits': 8, 'type': 'int', 'symmetric': symmetric, 'strategy': 'channel'}, make)


def fp8_codes(choose, n, k):
    return table(n, k, lambda r, c: choose.choice([x for x in range(256) if x & 127 != 127]))


def fp8_grid(n, k, rows, columns, kind, rounded, choose):
    q = fp8_codes(choose, n, k)
    s = scales_of(choose, kind, -(-n // rows), -(-k // columns))
    return q, s, table(n, k, lambda r, c: rounded(f(e4m3(q[r][c]) * s[r // rows][c // columns])))


def fp8(kind, block=128):
    def make(n, k, choose):
        q, s, values = fp8_grid(n, k, block, block, kind, bf16, choose)
        return {'weight': ('F8_E4M3', [n, k], bytes(flat(q))), 'weight_scale_inv': numbers(kind, s)}, values
    return {'quant_method': 'fp8', 'fmt': 'e4m3', 'weight_block_size': [block, block],
            'activation_scheme': 'dynamic'}, make


def fp8_tensor():
    def make(n, k, choose):
        q, s, values = fp8_grid(n, k, n, k, 'F32', bf16, choose)
        return {'weight': ('F8_E4M3', [n, k], bytes(flat(q))),
                'weight_scale': ('F32', [], struct.pack('<f', s[0][0])),
                'input_scale': ('F32', [], struct.pack('<f', 1.0))}, values
    return {'quant_method': 'fp8', 'activation_scheme': 'static'}, make


def fp8_channel(kind='BF16'):
    def make(n, k, choose):
        q, s, values = fp8_grid(n, k, 1, k, kind, ROUND[kind], choose)
        return {'weight': ('F8_E4M3', [n, k], bytes(flat(q))), 'weight_scale': numbers(kind, s)}, values
    return compressed('float-quantized', {'num_bits': 8, 'type': 'float', 'symmetric': True, 'strategy': 'channel'}, make)


def fp4_codes(choose, n, k):
    return table(n, k, lambda r, c: choose.randrange(16))


def nvfp4(factor):
    def make(n, k, choose):
        q = fp4_codes(choose, n, k)
        s = table(n, k // 16, lambda r, c: choose.randrange(1, 127))
        gs = f(factor)
        values = table(n, k, lambda r, c: bf16(f(E2M1[q[r][c]] * f(e4m3(s[r][c // 16]) / gs))))
        return {'weight_packed': ('U8', [n, k // 2], b''.join(bits(row, 4) for row in q)),
                'weight_scale': ('F8_E4M3', [n, k // 16], bytes(flat(s))),
                'weight_global_scale': ('F32', [1], struct.pack('<f', gs)),
                'input_global_scale': ('F32', [1], struct.pack('<f', 1.0))}, values
    arguments = {'num_bits': 4, 'type': 'float', 'symmetric': True, 'strategy': 'tensor_group', 'group_size': 16}
    return compressed('nvfp4-pack-quantized', arguments, make)


NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
FP4 = [f(x / 12) for x in (0, 0.0625, 8, 12, 4, 6, 2, 3, -0.0, -0.0625, -8, -12, -4, -6, -2, -3)]


def singles(values):
    return 'F32', [len(values)], struct.pack(f'<{len(values)}f', *values)


def bitsandbytes(kind, rounded, block=64, nested=False):
    """Blocks go on from row to row; the first number of a byte is its upper half."""
    codes = {'nf4': NF4, 'fp4': FP4}[kind]
    types = {'F16': 'float16', 'BF16': 'bfloat16', 'F32': 'float32'}

    def make(n, k, choose):
        q = [choose.randrange(16) for _ in range(n * k)]
        blocks = -(-n * k // block)
        state = {'quant_type': kind, 'blocksize': block, 'dtype': types[rounded], 'shape': [n, k]}
        parts = {'weight': ('U8', [n * k // 2, 1], bytes(q[i] << 4 | q[i + 1] for i in range(0, n * k, 2))),
                 'weight.quant_map': singles(codes)}
        if nested:
            size, offset = 8, f(0.0123)
            table = [f(choose.uniform(-1, 1)) for _ in range(256)]
            factors = [f(choose.uniform(0.001, 0.002)) for _ in range(-(-blocks // size))]
            stored = [choose.randrange(256) for _ in range(blocks)]
            s = [f(f(table[x] * factors[i // size]) + offset) for i, x in enumerate(stored)]
            parts.update({'weight.absmax': ('U8', [blocks], bytes(stored)), 'weight.nested_absmax': singles(factors),
                          'weight.nested_quant_map': singles(table)})
            state.update(nested_blocksize=size, nested_dtype='float32', nested_offset=0.0123)
        else:
            s = [f(choose.uniform(0.001, 0.02)) for _ in range(blocks)]
            parts['weight.absmax'] = singles(s)
        text = json.dumps(state).encode()
        parts[f'weight.quant_state.bitsandbytes__{kind}'] = 'U8', [len(text)], text
        at = lambda i: ROUND[rounded](f(codes[q[i]] * s[i // block]))
        return parts, table_of(n, k, at)

    config = {'quant_method': 'bitsandbytes', 'load_in_4bit': True, 'bnb_4bit_quant_type': kind, 'bnb_4bit_use_double_quant': nested}
    return config, make


def table_of(n, k, at):
    return [[at(r * k + c) for c in range(k)] for r in range(n)]


def llm_int8():
    def make(n, k, choose):
        q = table(n, k, lambda r, c: choose.randrange(-127, 128))
        s = [f(choose.uniform(0.1, 2)) for _ in range(n)]
        values = table(n, k, lambda r, c: f(f(q[r][c] * s[r]) * f(7.874015718698502e-3)))
        return {'weight': ('I8', [n, k], bytes(x & 255 for x in flat(q))), 'SCB': singles(s),
                'weight_format': ('U8', [], b'\0')}, values
    return {'quant_method': 'bitsandbytes', 'load_in_8bit': True, 'llm_int8_threshold': 6.0}, make


def modelopt(algorithm):
    return {'quant_method': 'modelopt', 'quant_algo': algorithm, 'ignore': ['lm_head'], 'producer': {'name': 'modelopt'}}


def modelopt_fp8(scale=None, rows=False):
    """Scales are rounded to the model's type before they multiply."""
    def make(n, k, choose):
        q = fp8_codes(choose, n, k)
        s = [f(scale or choose.uniform(0.001, 0.02)) for _ in range(n if rows else 1)]
        values = table(n, k, lambda r, c: bf16(f(e4m3(q[r][c]) * bf16(s[r % len(s)]))))
        return {'weight': ('F8_E4M3', [n, k], bytes(flat(q))),
                'weight_scale': singles(s) if rows else ('F32', [], struct.pack('<f', s[0])),
                'input_scale': ('F32', [], struct.pack('<f', 1.0))}, values
    return modelopt('FP8_PER_CHANNEL_PER_TOKEN' if rows else 'FP8'), make


def modelopt_nvfp4():
    def make(n, k, choose):
        q = fp4_codes(choose, n, k)
        s = table(n, k // 16, lambda r, c: choose.randrange(1, 127))
        factor = f(0.000437)
        values = table(n, k, lambda r, c: bf16(f(E2M1[q[r][c]] * f(e4m3(s[r][c // 16]) * factor))))
        return {'weight': ('U8', [n, k // 2], b''.join(bits(row, 4) for row in q)),
                'weight_scale': ('F8_E4M3', [n, k // 16], bytes(flat(s))),
                'weight_scale_2': ('F32', [], struct.pack('<f', factor))}, values
    return dict(modelopt('NVFP4'), config_groups={'group_0': {'weights': {'num_bits': 4}}}), make


def gptq_dynamic():
    """The matrices down_proj, which alone are 128 by 96, have 8 bits."""
    config, make = gptq(4, 32)
    wide = gptq(8, 16)[1]
    dynamic = {r'+:.*\.(?:down)_proj$': {'bits': 8, 'group_size': 16}, r'-:model\.layers\.[1-9]\d*\.': {}}
    return dict(config, dynamic=dynamic), lambda n, k, choose: (wide if (n, k) == (128, 96) else make)(n, k, choose)


def mxfp4():
    def make(n, k, choose):
        q = fp4_codes(choose, n, k)
        s = table(n, k // 32, lambda r, c: choose.randrange(100, 130))
        values = table(n, k, lambda r, c: f(E2M1[q[r][c]] * e8m0(s[r][c // 32])))
        return {'weight_packed': ('U8', [n, k // 2], b''.join(bits(row, 4) for row in q)),
                'weight_scale': ('U8', [n, k // 32], bytes(flat(s)))}, values
    arguments = {'num_bits': 4, 'type': 'float', 'symmetric': True, 'strategy': 'group', 'group_size': 32}
    return compressed('mxfp4-pack-quantized', arguments, make)


METHODS = [
    Method('gptq-4-32', *gptq(4, 32), {'int4z_32_f16'}),
    Method('gptq-4-128-v2', *gptq(4, 128, version=2), {'int4z_128_f16', 'int4z_32_f16'}),  # 96 columns have a shorter group
    Method('gptq-4-sym', *gptq(4, 32, symmetric=True), {'int4_32_f16'}),
    Method('gptq-4-order', *gptq(4, 32, order=True), {'f16', 'int4z_32_f16'}),
    Method('gptq-8-row', *gptq(8, -1, kind='BF16'), {'int8z_128_bf16', 'int8z_32_bf16'}),
    Method('gptq-3', *gptq(3, 32), {'f16'}),
    Method('awq-gemm', *awq(32), {'int4z_32_f16'}),
    Method('awq-gemv', *awq(32, 'gemv'), {'int4z_32_f16'}),
    Method('awq-middle', *awq(32, zeros=False), {'int4_32_f16'}),
    Method('packed-4', *packed(4, 32), {'int4_32_bf16'}),
    Method('packed-4-zeros', *packed(4, 32, 'F16', symmetric=False), {'int4z_32_f16'}),
    Method('packed-4-order', *packed(4, 32, order=True), {'bf16', 'int4_32_bf16'}),
    Method('packed-8', *packed(8, -1), {'int8_128_bf16', 'int8_32_bf16'}),
    Method('int8', *int8(), {'int8_128_bf16', 'int8_32_bf16'}),
    Method('int8-zeros', *int8('F16', symmetric=False), {'int8z_128_f16', 'int8z_32_f16'}),
    Method('fp8-deepseek', *fp8('F32'), {'fp8_128_bf16', 'fp8_32_bf16'}),
    Method('fp8-qwen', *fp8('BF16', 32), {'fp8_32_bf16'}),
    Method('fp8-tensor', *fp8_tensor(), {'fp8_128_bf16', 'fp8_32_bf16'}),
    Method('fp8-channel', *fp8_channel(), {'fp8_128_bf16', 'fp8_32_bf16'}),
    Method('nvfp4', *nvfp4(1344.0), {'nvfp4_64_bf16', 'bf16'}),
    Method('nvfp4-divided', *nvfp4(2288.55884), {'bf16'}),
    Method('mxfp4', *mxfp4(), {'mxfp4'}),
    Method('nf4', *bitsandbytes('nf4', 'BF16'), {'bf16'}),
    Method('nf4-nested', *bitsandbytes('nf4', 'F16', nested=True), {'f16'}),
    Method('fp4', *bitsandbytes('fp4', 'F32', 128), {'f32'}),
    Method('llm-int8', *llm_int8(), {'f32'}),
    Method('modelopt-fp8', *modelopt_fp8(), {'bf16', 'fp8_128_bf16', 'fp8_32_bf16'}),
    Method('modelopt-fp8-exact', *modelopt_fp8(0.015625), {'fp8_128_bf16', 'fp8_32_bf16'}),
    Method('modelopt-fp8-rows', *modelopt_fp8(rows=True), {'bf16'}),
    Method('modelopt-nvfp4', *modelopt_nvfp4(), {'nvfp4_64_bf16', 'bf16'}),
    Method('gptq-dynamic', *gptq_dynamic(), {'int4z_32_f16', 'f16'}),
]


def write(directory, method, change=None):
    """The checkpoint, and the values of its quantized matrices by name."""
    choose, values, tensors = random.Random(method.name), {}, {}
    for name, shape in PLAIN.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensors[f'{name}.weight'] = 'F32', list(shape), struct.pack(f'<{count}f', *embedding(count))
    for name, (n, k) in SHAPES.items():
        parts, values[f'{LAYER}{name}.weight'] = method.make(n, k, choose)
        tensors.update((f'{LAYER}{name}.{part}', tensor) for part, tensor in parts.items())
    config = json.loads(json.dumps(dict(CONFIG, quantization_config=method.config)))
    if change:
        change(config['quantization_config'], tensors)
    entries, data = {}, b''
    for name, (kind, shape, content) in tensors.items():
        entries[name] = {'dtype': kind, 'shape': shape, 'data_offsets': [len(data), len(data) + len(content)]}
        data += content
    write_model(directory, config, {'model.safetensors': pack(entries, data)})
    return values


def imported(talc, directory):
    """The weights of files, as the program has them: by name what follows the type."""
    result = subprocess.run([talc, 'compile', directory, '--stop-after=import'], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f'{directory}: {result.stderr}')
    lines = (line.split(' = ', 1) for line in result.stdout.splitlines() 
             if '#talc.quantized' in line or '#talc.lookup' in line)
    return {line[0].split('@')[1].split(' :')[0].strip('"'): line[1] for line in lines}


def check(talc, directory, method):
    model = os.path.join(directory, method.name)
    values, program, formats = write(model, method), Program(model), set()
    sources = imported(talc, model)
    assert set(sources) == set(values), f'{method.name}: {set(sources) ^ set(values)}'
    for name, source in sources.items():
        shape = SHAPES[name.removeprefix(LAYER).removesuffix('.weight')]
        element = source.split('elementType = ')[1].split(',')[0]
        kind = element.removeprefix('!talc.stored<').removesuffix('>')
        formats.add(kind)
        count = shape[0] * shape[1]
        size = count // block_formats.VALUES[kind] * block_formats.BYTES[kind] if kind in block_formats.VALUES else count * FLOATS[kind][1]
        program.add(f'"{name}"', shape, 'f32', source)
        program.add(f'"{name}.decoded"', shape, 'f32', f'#talc.convert of [@"{name}"]', 4 * count)
        program.add(f'"{name}.taken"', shape, element, f'#talc.convert of [@"{name}"]', size)
    assert formats <= method.formats, f'{method.name}: {formats}, expected {method.formats}'
    app, result = program.compile(talc)
    assert result.returncode == 0, f'{method.name}: {result.stderr}'
    found = read_weights(app)
    for name, expected in values.items():
        wanted = floats(flat(expected))
        assert found[f'{name}.decoded'][2] == wanted, f'{method.name}: {name} has other values'
        kind, _, content = found[f'{name}.taken']
        decoded = decode(kind, content)
        assert floats(decoded) == wanted, f'{method.name}: {name} stored as {kind} has other values'


FLOATS = {'bf16': ('H', 2), 'f16': ('e', 2), 'f32': ('f', 4)}


def decode(kind, content):
    if kind in block_formats.VALUES:
        return block_formats.decode(kind, content)
    code, size = FLOATS[kind]
    numbers = struct.unpack(f'<{len(content) // size}{code}', content)
    if kind == 'bf16':
        return [struct.unpack('<f', struct.pack('<I', half << 16))[0] for half in numbers]
    return list(numbers)


if __name__ == '__main__':
    for method in METHODS:
        if len(sys.argv) <= 4 or method.name in sys.argv[4:]:
            check(sys.argv[1], sys.argv[2], method)
