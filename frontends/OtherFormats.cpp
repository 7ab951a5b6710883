// SPDX-License-Identifier: Apache-2.0
// The table of other formats. Each magic is of the format's specification, or of the program that writes it.
#include "frontends/OtherFormats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

using namespace std::string_view_literals;

namespace talc {

constexpr const char *takeOriginal =
    "talc compiles the model that it was made from: download that model's config.json, *.safetensors and tokenizer "
    "files, and name their directory (talc compile DIR)";
constexpr const char *unpack =
    "unpack it first, then name the directory with config.json, or the .gguf file, in it (talc compile DIR)";
constexpr const char *saveAgain =
    "read it with a release of transformers that knows its framework (below 5: from_pretrained with from_tf or "
    "from_flax), write it with save_pretrained, and name that directory (talc compile DIR)";
constexpr const char *nameDirectory =
    "name the directory with config.json and all files of the model (talc compile DIR)";

using Use = FormatUse;

// Formats that use the container of another come before it, and more frequent ones before those that begin alike.
static const OtherFormat otherFormats[] = {
    {"a checkpoint of PyTorch",
     "it can run code when it is read, so convert it to safetensors: export it from transformers with "
     "save_pretrained, and name that directory (talc compile DIR)",
     {".bin", ".pt", ".pth", ".ckpt", "pytorch_model.bin.index.json"},
     {{0, "PK\3\4"sv, "data.pkl"},
      {0, "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9"sv},
      {0, "\x80\2}q"sv},
      {0, "\x80\2c"sv},
      {0, "\x80\4\x95"sv}}},
    {"a model of CTranslate2", takeOriginal, {}, {{1, "\0\0\0??"sv, "Spec\0"sv}}},
    {"an OpenVINO model", takeOriginal, {"openvino_model.bin", ".xml"}, {{0, "<?xml"sv, "<net "}, {0, "<net "sv}}},
    {"a Keras model", saveAgain, {".keras"}, {{0, "PK\3\4"sv, "keras_version"}}},
    {"a NumPy archive, as the first models of MLX",
     takeOriginal,
     {".npz", ".npy"},
     {{0, "PK\3\4"sv, ".npy"}, {0, "\x93NUMPY"sv}}},
    {"a checkpoint of TensorFlow", saveAgain, {".h5", ".hdf5"}, {{0, "\x89HDF\r\n\x1a\n"sv}}},
    {"a model of TensorFlow", saveAgain, {"saved_model.pb", ".pb", ".ckpt.index", ".ckpt.meta"}, {{0, "\x08\1\x12"sv}}},
    {"a checkpoint of Flax", saveAgain, {".msgpack"}, {}},
    {"a checkpoint of rust-bert", takeOriginal, {".ot"}, {}},
    {"an ONNX model", takeOriginal, {".onnx", ".onnx_data", ".onnx.data", ".ort"}, {{0, "\x08?\x12"sv}, {4, "ORTM"sv}}},
    {"a Core ML model", takeOriginal, {".mlmodel"}, {{0, "\x08?\x12"sv}}},
    {"a TensorFlow Lite model", takeOriginal, {".tflite", ".litertlm"}, {{4, "TFL3"sv}, {0, "LITERTLM"sv}}},
    {"a program of ExecuTorch", takeOriginal, {".pte"}, {{4, "ET12"sv}}},
    {"an engine of TensorRT", takeOriginal, {".engine", ".plan"}, {{0, "ftrt"sv}}},
    {"a llamafile",
     "it is an executable around a GGUF file: unpack that (a llamafile is also a ZIP archive), and name the "
     ".gguf file (talc compile FILE.gguf)",
     {".llamafile"},
     {{0, "MZqFpD='"sv}, {0, "jartsr='"sv}}},
    {"a GGML file, which was before GGUF",
     "download a GGUF file of the model, or convert it with llama.cpp's convert_llama_ggml_to_gguf.py, and name the "
     ".gguf file (talc compile FILE.gguf)",
     {".ggml"},
     {{0, "lmgg"sv}, {0, "fmgg"sv}, {0, "tjgg"sv}, {0, "algg"sv}}},
    {"a tar archive", unpack, {".tar", ".nemo"}, {{257, "ustar"sv}}},
    {"a ZIP archive", unpack, {".zip"}, {{0, "PK\3\4"sv}, {0, "PK\5\6"sv}}},
    {"a gzip archive", unpack, {".gz", ".tgz"}, {{0, "\x1f\x8b"sv}}},
    {"a bzip2 archive", unpack, {".bz2", ".tbz2"}, {{0, "BZh?1AY&SY"sv}}},
    {"an xz archive",
     unpack,
     {".xz", ".txz"},
     {{0, "\xfd"sv
          "7zXZ\0"sv}}},
    {"a zstd archive", unpack, {".zst"}, {{0, "\x28\xb5\x2f\xfd"sv}}},
    {"a 7-Zip archive", unpack, {".7z"}, {{0, "7z\xbc\xaf\x27\x1c"sv}}},
    {"a RAR archive", unpack, {".rar"}, {{0, "Rar!\x1a\7"sv}}},
    {"a pointer of Git LFS, not the file itself",
     "fetch the file with `git lfs pull`",
     {},
     {{0, "version https://git-lfs.github.com/spec/"sv}},
     Use::Nothing},
    {"a web page, not the file that it shows",
     "download that, for instance with `hf download`",
     {".html"},
     {{0, "<!DOCTYPE html"sv}, {0, "<!doctype html"sv}, {0, "<html"sv}},
     Use::Nothing},
    {"a file of weights (safetensors)", nameDirectory, {".safetensors"}, {{5, "\0\0\0{"sv}}, Use::PartOfModel},
    {"the index of a model's weights", nameDirectory, {".safetensors.index.json"}, {}, Use::PartOfModel},
    {"a tokenizer",
     nameDirectory,
     {"tokenizer.json", "tekken.json", ".tiktoken", "tokenizer.model", "spiece.model", ".spm", "vocab.txt",
      "vocab.json", "merges.txt", "sentencepiece.bpe.model"},
     {},
     Use::PartOfModel},
    {"a configuration", nameDirectory, {".json"}, {}, Use::PartOfModel},
};

static bool hasMagic(std::string_view head, const FileMagic &magic) {
  if (head.size() < magic.offset + magic.bytes.size())
    return false;
  for (size_t i = 0; i < magic.bytes.size(); ++i)
    if (magic.bytes[i] != '?' && magic.bytes[i] != head[magic.offset + i])
      return false;
  return head.find(magic.text) != std::string_view::npos;
}

FoundFormat findOtherFormat(std::string_view name, std::string_view head) {
  const std::string lower = llvm::StringRef(name).lower();
  FoundFormat found;
  size_t mostAgreement = 0, longest = 0;
  for (const OtherFormat &format : otherFormats) {
    size_t ending = 0;
    for (std::string_view known : format.endings)
      if (llvm::StringRef(lower).ends_with(known))
        ending = std::max(ending, known.size());
    bool isContent = llvm::any_of(format.magics, [&](const FileMagic &magic) { return hasMagic(head, magic); });
    size_t agreement = 2 * size_t(isContent) + size_t(ending > 0);
    // The longest ending counts where names alone tell: tokenizer.json says more than .json.
    bool isBetter = agreement > mostAgreement || (agreement == 1 && mostAgreement == 1 && ending > longest);
    if (!isBetter)
      continue;
    found = {&format, isContent};
    mostAgreement = agreement;
    longest = ending;
  }
  return found;
}

}  // namespace talc
