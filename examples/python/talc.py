# SPDX-License-Identifier: Apache-2.0
"""Compiled models in Python, by ctypes: this file and libtalc.so are all that is needed.

    import talc
    model = talc.Model('tales')                       # what `talc compile ... -o tales` wrote
    for piece in model.stream('Once there was', new_tokens=40):
        print(piece, end='', flush=True)
    print(model.generate('Once there was', temperature=0.8, seed=42))

    ids = model.tokenize('Once there was')
    rows = model.evaluate(ids)                        # logits of the last token, a list of floats
    print(model.detokenize([max(range(len(rows[-1])), key=rows[-1].__getitem__)]))

As a program it continues texts: python3 talc.py tales "Once there was". The library is libtalc.so of the installation, or
the file that TALC_LIBRARY names. A Model may be used by several threads, each call on its own."""
import ctypes
import ctypes.util
import os
import sys
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_float, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

NONE = -1  # TALC_NONE: no limit, off, greedy; where 0 means the model's default
ROWS_NONE, ROWS_LAST, ROWS_ALL, ROWS_FIRST = range(4)
EVENT_END, ENDING_FAILED = 3, 6


# ---- The structs of talc.h, in its order

class _Error(ctypes.Structure):
    _fields_ = [('status', c_int32), ('text', c_char * 1024)]


class _Sampling(ctypes.Structure):
    _fields_ = [('temperature', c_float), ('top_k', c_int32), ('top_p', c_float), ('min_p', c_float),
                ('repetition_penalty', c_float), ('seed', c_uint64), ('typical_p', c_float), ('reserved', c_int32 * 7)]


class _ResultInfo(ctypes.Structure):
    _fields_ = [('kind', c_int32), ('width', c_int32)]


class _ModelInfo(ctypes.Structure):
    """The beginning of talc_model_info; struct_size tells the library where it ends."""
    _fields_ = [('struct_size', c_uint32), ('name', c_char_p), ('kind', c_int32), ('result_count', c_int32),
                ('results', _ResultInfo * 2), ('vocabulary_size', c_int32), ('source_vocabulary_size', c_int32),
                ('token_types', c_int32), ('uses_prefix', c_int32), ('max_sequence', c_int32), ('has_tokenizer', c_int32),
                ('target', c_char_p), ('rest', c_char * 512)]


class _TextResult(ctypes.Structure):
    _fields_ = [('count', c_int32), ('ids', POINTER(c_int32)), ('score', c_double)]


class _Event(ctypes.Structure):
    _fields_ = [('request', c_int64), ('kind', c_int32), ('ending', c_int32), ('count', c_int32), ('ids', POINTER(c_int32)),
                ('text', c_void_p), ('text_size', c_size_t), ('log_probability', c_double), ('logit_rows', c_int32),
                ('result_count', c_int32), ('logits', POINTER(c_float)), ('results', POINTER(_TextResult)),
                ('error', POINTER(_Error))]


_OnEvent = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(_Event))


class _Request(ctypes.Structure):
    _fields_ = [('struct_size', c_uint32), ('count', c_int32), ('ids', POINTER(c_int32)), ('types', POINTER(c_int32)),
                ('text', c_char_p), ('text_size', c_size_t), ('beginning', POINTER(c_int32)), ('beginning_count', c_int32),
                ('prefix', c_int32), ('sampling', POINTER(_Sampling)), ('search', c_void_p), ('new_tokens', c_int32),
                ('ignore_end', c_int32), ('prompt_logits', c_int32), ('log_probabilities', c_int32), ('text_form', c_int32),
                ('stop_count', c_int32), ('stops', POINTER(c_char_p)), ('on_event', _OnEvent), ('user', c_void_p)]


class _Wanted(ctypes.Structure):
    _fields_ = [('rows', c_int32), ('listed_count', c_int32), ('listed', POINTER(c_int32))]


class _Sequence(ctypes.Structure):
    _fields_ = [('slot', c_int32), ('count', c_int32), ('ids', POINTER(c_int32)), ('wanted', _Wanted * 2),
                ('types', POINTER(c_int32)), ('prefix', c_int32), ('reserved', c_int32 * 3)]


class _OpenOptions(ctypes.Structure):
    _fields_ = [('struct_size', c_uint32), ('skip_weights_check', c_int32), ('copy_weights', c_int32), ('device', c_char_p),
                ('on_progress', c_void_p), ('progress_user', c_void_p)]


class _SessionOptions(ctypes.Structure):
    _fields_ = [('struct_size', c_uint32), ('threads', c_int32), ('slots', c_int32), ('reserved', c_uint32),
                ('allocator', c_void_p), ('should_abort', c_void_p), ('abort_user', c_void_p)]


class Error(Exception):
    """A function of the library failed; the text is its line, with the code in `status` (talc_status)."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


def _load():
    path = os.environ.get('TALC_LIBRARY') or ctypes.util.find_library('talc') or 'libtalc.so.0'
    library = ctypes.CDLL(path)
    library.talc_result.restype = POINTER(c_float)
    library.talc_version.restype = c_char_p
    for name in 'talc_model_close', 'talc_session_destroy', 'talc_generator_destroy':
        getattr(library, name).restype = None
        getattr(library, name).argtypes = [c_void_p]
    return library


_library = _load()


def _call(name, *arguments):
    error = _Error()
    if getattr(_library, name)(*arguments, byref(error)):
        raise Error(error.text.decode(errors='replace'), error.status)


def _array(ids):
    return (c_int32 * len(ids))(*ids)


def version():
    return _library.talc_version().decode()


class _Handle:
    """An object of the library, freed with this one. `owner` stays alive as long."""

    def __init__(self, pointer, free, owner=None):
        self.pointer, self.free, self.owner = pointer, free, owner

    def __del__(self):
        self.free(self.pointer)


class Model:
    """`device`: 'cpu', 'cuda', 'vulkan:1', ...; None: a GPU if the model has code for it. `threads`: 0: one per core."""

    def __init__(self, path, device=None, threads=0):
        options = _OpenOptions(struct_size=ctypes.sizeof(_OpenOptions), device=device.encode() if device else None)
        pointer = c_void_p()
        _call('talc_model_open', os.fsencode(path), byref(options), byref(pointer))
        self._handle = _Handle(pointer, _library.talc_model_close)
        self.threads = threads
        info = _ModelInfo(struct_size=ctypes.sizeof(_ModelInfo))
        _call('talc_model_get_info', pointer, byref(info))
        self.name, self.target = info.name.decode(), info.target.decode()
        self.kind = {1: 'decoder', 2: 'encoder', 3: 'encoder-decoder'}[info.kind]
        self.vocabulary_size, self.max_sequence = info.vocabulary_size, info.max_sequence
        self.widths = [info.results[i].width for i in range(info.result_count)]

    def tokenize(self, text):
        """The ids of a text, with those that the tokenizer adds."""
        data, count = text.encode(), c_int32()
        _call('talc_tokenize', self._handle.pointer, data, c_size_t(len(data)), None, 0, byref(count))
        ids = (c_int32 * count.value)()
        _call('talc_tokenize', self._handle.pointer, data, c_size_t(len(data)), ids, count, byref(count))
        return list(ids)

    def detokenize(self, ids):
        array, size = _array(ids), c_size_t()
        _call('talc_detokenize', self._handle.pointer, array, len(ids), None, c_size_t(0), byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        _call('talc_detokenize', self._handle.pointer, array, len(ids), text, size, byref(size))
        return text.raw[:size.value].decode()

    def _session(self, slots=1):
        options = _SessionOptions(struct_size=ctypes.sizeof(_SessionOptions), threads=self.threads, slots=slots)
        pointer = c_void_p()
        _call('talc_session_create', self._handle.pointer, byref(options), byref(pointer))
        return _Handle(pointer, _library.talc_session_destroy, self)

    def evaluate(self, ids, rows=ROWS_LAST, result=0):
        """The rows of a result (logits, hidden states, classes) for a sequence, lists of floats."""
        session, array, count = self._session(), _array(ids), c_int32()
        sequence = _Sequence(count=len(ids), ids=array)
        sequence.wanted[result].rows = rows
        _call('talc_evaluate', session.pointer, byref(sequence), 1)
        data, width = _library.talc_result(session.pointer, result, 0, byref(count)), self.widths[result]
        return [data[row * width:(row + 1) * width] for row in range(count.value)]

    def stream(self, prompt, new_tokens=0, stops=(), **sampling):
        """The pieces of the text that continues a prompt, or answers to it, as they come. `sampling`: temperature, top_k,
        top_p, min_p, typical_p, repetition_penalty, seed; what is not given is the model's own default."""
        session, pointer, pieces, failures = self._session(), c_void_p(), [], []
        _call('talc_generator_create', session.pointer, None, byref(pointer))
        generator = _Handle(pointer, _library.talc_generator_destroy, session)

        def on_event(_user, event):
            event = event.contents
            if event.text_size:
                pieces.append(ctypes.string_at(event.text, event.text_size).decode())
            if event.kind == EVENT_END and event.ending == ENDING_FAILED:
                failures.append(Error(event.error.contents.text.decode(errors='replace'), event.error.contents.status))
            return 0

        data, listener = prompt.encode(), _OnEvent(on_event)
        settings = _Sampling(**sampling)
        request = _Request(struct_size=ctypes.sizeof(_Request), text=data, text_size=len(data), new_tokens=new_tokens,
                           sampling=ctypes.pointer(settings), stop_count=len(stops), on_event=listener,
                           stops=(c_char_p * len(stops))(*[stop.encode() for stop in stops]))
        _call('talc_generator_submit', generator.pointer, byref(request), None)
        unfinished = c_int32(1)
        while unfinished.value:
            _call('talc_generator_step', generator.pointer, byref(unfinished))
            yield from pieces
            pieces.clear()
        if failures:
            raise failures[0]

    def generate(self, prompt, **settings):
        """All of stream() at once."""
        return ''.join(self.stream(prompt, **settings))


def main():
    if len(sys.argv) < 3:
        sys.exit('usage: talc.py MODEL PROMPT...')
    model = Model(sys.argv[1])
    for prompt in sys.argv[2:]:
        for piece in model.stream(prompt):
            print(piece, end='', flush=True)
        print()


if __name__ == '__main__':
    main()
