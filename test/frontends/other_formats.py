# SPDX-License-Identifier: Apache-2.0
"""Files and directories of other formats: what talc says that they are, and what to do. other_formats.py TALC DIRECTORY."""
import os
import subprocess
import sys

ZIP = b'PK\3\4' + bytes(26)
CTRANSLATE2 = b'\6\0\0\0\x10\0TransformerSpec\0\1\0\0\0'
OPENVINO = b'<?xml version="1.0"?>\n<net name="Model0" version="11">\n'
SAFETENSORS = (2).to_bytes(8, 'little') + b'{}'
UNPACK, ORIGINAL, SAVE, DIRECTORY = 'unpack it first', 'the model that it was made from', 'save_pretrained', 'talc compile DIR'
# The name of a file, its content, what it is, and what to do.
FILES = [
    ('m.zip', ZIP, 'is a ZIP archive', UNPACK),
    ('m.tar', bytes(257) + b'ustar\00000', 'is a tar archive', UNPACK),
    ('m.tar.gz', b'\x1f\x8b\x08\0', 'is a gzip archive', UNPACK),
    ('m.tar.zst', b'\x28\xb5\x2f\xfd', 'is a zstd archive', UNPACK),
    ('m.7z', b'7z\xbc\xaf\x27\x1c', 'is a 7-Zip archive', UNPACK),
    ('m.rar', b'Rar!\x1a\7\1\0', 'is a RAR archive', UNPACK),
    ('empty.zip', b'', 'has the name of a ZIP archive', UNPACK),
    ('zip.onnx', ZIP, 'is a ZIP archive', UNPACK),
    ('m.onnx', b'\x08\7\x12\7pytorch', 'is an ONNX model', ORIGINAL),
    ('onnx', b'\x08\x0a\x12\7pytorch', 'is an ONNX model', ORIGINAL),
    ('m.ort', b'\x20\0\0\0ORTM', 'is an ONNX model', ORIGINAL),
    ('m.tflite', b'\x20\0\0\0TFL3', 'is a TensorFlow Lite model', ORIGINAL),
    ('m.mlmodel', b'\x08\4\x12\7', 'is a Core ML model', ORIGINAL),
    ('pytorch_model.bin', ZIP + b'pytorch_model/data.pkl', 'is a checkpoint of PyTorch', 'convert it to safetensors'),
    ('old.pth', b'\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9 j\xa8P\x19.', 'is a checkpoint of PyTorch', SAVE),
    ('zero.pt', b'', 'has the name of a checkpoint of PyTorch', SAVE),
    ('tf_model.h5', b'\x89HDF\r\n\x1a\n', 'is a checkpoint of TensorFlow', SAVE),
    ('saved_model.pb', b'\x08\1\x12\7', 'is a model of TensorFlow', SAVE),
    ('flax_model.msgpack', b'\x83', 'is a checkpoint of Flax', SAVE),
    ('rust_model.ot', b'', 'is a checkpoint of rust-bert', ORIGINAL),
    ('model.bin', CTRANSLATE2, 'is a model of CTranslate2', ORIGINAL),
    ('vino.xml', OPENVINO, 'is an OpenVINO model', ORIGINAL),
    ('vino.bin', b'\1\2\3\4', 'is an OpenVINO model', ORIGINAL),
    ('weights.npz', ZIP + b'embed.npy', 'is a NumPy archive, as the first models of MLX', ORIGINAL),
    ('m.llamafile', b"MZqFpD='\n", 'is a llamafile', 'name the .gguf file'),
    ('old-ggml.bin', b'tjgg', 'is a GGML file', 'download a GGUF file'),
    ('page', b'<!DOCTYPE html><html>', 'is a web page', 'download'),
    ('pointer.bin', b'version https://git-lfs.github.com/spec/v1\n', 'is a pointer of Git LFS', 'git lfs pull'),
    ('alone.safetensors', SAFETENSORS, 'is a file of weights (safetensors)', DIRECTORY),
    ('tokenizer.json', b'{}', 'is a tokenizer', DIRECTORY),
    ('generation_config.json', b'{}', 'is a configuration', DIRECTORY),
    ('notes.md', b'# notes', 'is neither a model directory, a GGUF file nor an .mlir file', ''),
]
MODEL = {'config.json': b'{}', 'model.safetensors': SAFETENSORS, 'tokenizer.json': b'{}', 'pytorch_model.bin': b''}
# Files, what is named, and what is found in the message: those that belong to a model name its directory.
BESIDE = [
    (MODEL, 'model.safetensors', 'is a file of weights (safetensors); {}: talc compile @'),
    (MODEL, 'tokenizer.json', 'is a tokenizer; {}: talc compile @'),
    (MODEL, 'config.json', 'is a configuration; {}: talc compile @'),
    (MODEL, 'pytorch_model.bin', 'has the name of a checkpoint of PyTorch; {}: talc compile @'),
    ({**MODEL, 'onnx/model.onnx': b''}, 'onnx/model.onnx', 'has the name of an ONNX model; {}: talc compile @'),
    ({'m/' + name: content for name, content in MODEL.items()} | {'m.tar.gz': b'\x1f\x8b'}, 'm.tar.gz',
     'is a gzip archive; {}: talc compile @/m'),
]
# Files, and what is said of their directory.
DIRECTORIES = [
    ({'model.onnx': b'\x08\7\x12\7pytorch', 'config.json': b'{}'}, "'model.onnx', an ONNX model; talc compiles the model"),
    ({'onnx/model.onnx': b'', 'onnx/model_q4.onnx': b'', 'config.json': b'{}'}, "'onnx/model.onnx', an ONNX model"),
    ({'pytorch_model.bin': b'', 'onnx/model.onnx': b'', 'config.json': b'{}'}, "'pytorch_model.bin', a checkpoint of PyTorch"),
    ({'tf_model.h5': b'\x89HDF\r\n\x1a\n', 'config.json': b'{}'}, "'tf_model.h5', a checkpoint of TensorFlow"),
    ({'model.bin': CTRANSLATE2, 'config.json': b'{}'}, "'model.bin', a model of CTranslate2"),
    ({'model.xml': OPENVINO, 'model.bin': b'\1'}, "'model.xml', an OpenVINO model"),
    ({'weights.npz': ZIP + b'a.npy', 'config.json': b'{}'}, "'weights.npz', a NumPy archive"),
    ({'model.zip': ZIP}, "'model.zip', a ZIP archive; unpack it first"),
]


def write(root, files):
    for name, content in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(content)


def expect(talc, path, *texts):
    """Whether talc refuses the model with one line that holds the texts."""
    result = subprocess.run([talc, 'compile', path, '--stop-after=import'], capture_output=True, text=True, timeout=60)
    is_line = result.stderr.startswith('error[T0') and result.stderr.count('\n') == 1
    if result.returncode == 1 and is_line and all(text in result.stderr for text in texts):
        return True
    print(f'{path}: expected {texts}; found {result.returncode}: {result.stderr}')
    return False


def main(talc, directory):
    write(directory + '/alone', {name: content for name, content, *_ in FILES})
    good = [expect(talc, f'{directory}/alone/{name}', f'{name}: {what}', remedy) for name, _, what, remedy in FILES]
    for i, (files, name, text) in enumerate(BESIDE):
        root = f'{directory}/beside{i}'
        write(root, files)
        text = text.format('name the directory of the model that talc reads').replace('@', root) + '\n'
        good.append(expect(talc, f'{root}/{name}', text))
    for i, (files, text) in enumerate(DIRECTORIES):
        write(f'{directory}/holds{i}', files)
        good.append(expect(talc, f'{directory}/holds{i}', text))
    return 0 if all(good) else 1


sys.exit(main(*sys.argv[1:]))
