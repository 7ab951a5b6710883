# SPDX-License-Identifier: Apache-2.0
"""Runs a GGUF model in llama.cpp once for every line on standard input, and prints how many seconds it took:
llama_rounds.py PACKAGES MODEL.gguf THREADS prompt|decode TOKENS PAST

The libraries are those of npm's node-llama-cpp, called without JavaScript and without choosing tokens. Their structs
are those of llama.h of the release VERSION.
"""
import ctypes
import pathlib
import sys
import time
from ctypes import POINTER, c_bool, c_float, c_int8, c_int32, c_size_t, c_uint32, c_void_p

VERSION = 'v0.5.0'
FLASH_ATTENTION = 1


def fields(kind, names):
    return [(name, kind) for name in names.split()]


class ModelParameters(ctypes.Structure):
    _fields_ = [*fields(c_void_p, 'devices overrides'), *fields(c_int32, 'gpu_layers split load lazy gpu'),
                *fields(c_void_p, 'tensor_split progress progress_data key_values'),
                *fields(c_bool, 'vocab_only check_tensors use_extra_bufts no_host no_alloc load_mtp')]


class ContextParameters(ctypes.Structure):
    _fields_ = [*fields(c_uint32, 'context batch part sequences snapshots outputs outputs_per_sequence'),
                *fields(c_int32, 'threads threads_batch type rope_type pooling attention flash_attention'),
                *fields(c_float, 'rope_base rope_scale yarn_ext yarn_attn yarn_fast yarn_slow'),
                ('yarn_context', c_uint32), ('defragment', c_float), *fields(c_void_p, 'callback callback_data'),
                *fields(c_int32, 'type_k type_v'), *fields(c_void_p, 'abort abort_data'),
                *fields(c_bool, 'embeddings offload_kqv no_perf op_offload swa_full unified'),
                ('samplers', c_void_p), ('sampler_count', c_size_t), ('other', c_void_p)]


class Batch(ctypes.Structure):
    _fields_ = [('count', c_int32), ('tokens', POINTER(c_int32)), ('embeddings', POINTER(c_float)),
                ('positions', POINTER(c_int32)), ('sequence_counts', POINTER(c_int32)), ('sequences', c_void_p),
                ('wanted', POINTER(c_int8))]


class PoolParameters(ctypes.Structure):
    _fields_ = [('processors', c_bool * 512), ('threads', c_int32), ('priority', c_int32), ('poll', c_uint32),
                ('strict', c_bool), ('paused', c_bool)]


def function(library, name, result, *arguments):
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


class Model:
    def __init__(self, packages, path, threads, tokens):
        folder = pathlib.Path(packages) / 'node_modules/@node-llama-cpp/linux-x64/bins/linux-x64'
        base, ggml, llama = (ctypes.CDLL(str(folder / f'lib{name}.so'), mode=ctypes.RTLD_GLOBAL)
                             for name in ('ggml-base', f'ggml.{VERSION}', f'llama.{VERSION}'))
        self.quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, c_void_p)(lambda *_: None)
        function(llama, 'llama_log_set', None, c_void_p, c_void_p)(self.quiet, None)
        function(ggml, 'ggml_backend_load_all_from_path', None, ctypes.c_char_p)(str(folder).encode())
        parameters = function(llama, 'llama_model_default_params', ModelParameters)()
        parameters.gpu_layers = 0
        load = function(llama, 'llama_model_load_from_file', c_void_p, ctypes.c_char_p, ModelParameters)
        self.model = load(str(path).encode(), parameters)
        parameters = function(llama, 'llama_context_default_params', ContextParameters)()
        parameters.context, parameters.batch, parameters.part = tokens + 8, tokens, tokens
        parameters.threads = parameters.threads_batch = threads
        parameters.flash_attention = FLASH_ATTENTION
        begin = function(llama, 'llama_init_from_model', c_void_p, c_void_p, ContextParameters)
        self.context = self.model and begin(self.model, parameters)
        if not self.context:
            raise SystemExit(f'llama_rounds.py: llama.cpp cannot load {path}')
        self.keep_threads(base, ggml, llama, threads)
        self.state = function(llama, 'llama_get_memory', c_void_p, c_void_p)(self.context)
        self.forget = function(llama, 'llama_memory_clear', None, c_void_p, c_bool)
        self.batch = function(llama, 'llama_batch_get_one', Batch, POINTER(c_int32), c_int32)
        self.decode = function(llama, 'llama_decode', c_int32, c_void_p, Batch)
        self.wait = function(llama, 'llama_synchronize', None, c_void_p)

    def keep_threads(self, base, ggml, llama, threads):
        """Without a pool of its own a context starts threads for every step."""
        registry = function(ggml, 'ggml_backend_reg_by_name', c_void_p, ctypes.c_char_p)(b'CPU')
        address = function(base, 'ggml_backend_reg_get_proc_address', c_void_p, c_void_p, ctypes.c_char_p)
        make = ctypes.CFUNCTYPE(c_void_p, POINTER(PoolParameters))(address(registry, b'ggml_threadpool_new'))
        parameters = function(base, 'ggml_threadpool_params_default', PoolParameters, c_int32)(threads)
        pool = make(ctypes.byref(parameters))
        function(llama, 'llama_attach_threadpool', None, c_void_p, c_void_p, c_void_p)(self.context, pool, pool)

    def evaluate(self, tokens):
        numbers = (c_int32 * len(tokens))(*tokens)  # the batch points to them
        if self.decode(self.context, self.batch(numbers, len(tokens))) != 0:
            raise SystemExit('llama_rounds.py: llama.cpp failed')
        self.wait(self.context)


def main():
    packages, path, threads, kind, tokens, past = sys.argv[1:]
    threads, tokens, past = int(threads), int(tokens), int(past)
    model = Model(packages, path, threads, tokens + past)

    def ids(count):
        return [300 + i * 7919 % 20000 for i in range(count)]

    steps = [[token] for token in ids(tokens)] if kind == 'decode' else [ids(tokens)]
    for _ in sys.stdin:
        model.forget(model.state, True)
        if past > 0:
            model.evaluate(ids(past))
        begin = time.perf_counter()
        for step in steps:
            model.evaluate(step)
        print(f'{time.perf_counter() - begin:.9f}', flush=True)


if __name__ == '__main__':
    main()
