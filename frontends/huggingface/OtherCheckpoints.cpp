// SPDX-License-Identifier: Apache-2.0
// Knows checkpoints of other programs by their files and keys.
#include "frontends/huggingface/OtherCheckpoints.h"

#include "frontends/Json.h"
#include "frontends/ModelDirectory.h"
#include "frontends/OtherFormats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace talc {

using nlohmann::json;

static bool hasModel(const ModelDirectory &directory) {
  return directory.contains("config.json") && directory.hasSafetensors();
}

// The files with an ending; of a split GGUF file only the first part.
static std::vector<std::string> filesNamed(const ModelDirectory &directory, llvm::StringRef ending) {
  std::vector<std::string> result;
  for (std::string &name : directory.names()) {
    llvm::StringRef rest = name;
    bool isLater = rest.contains("-of-") && rest.ends_with(".gguf") && !rest.contains("-00001-of-");
    if (rest.ends_with(ending) && !isLater)
      result.push_back(std::move(name));
  }
  return result;
}

// Each says what the directory is and what to do; empty if it is something else.

// A model of transformers with such a file is the other model with the adapter, too.
static std::string adapterText(const ModelDirectory &directory) {
  constexpr const char *file = "adapter_config.json";
  constexpr uint64_t limit = 1 << 24;
  if (!directory.contains(file))
    return {};
  Diagnostics ignored;
  auto text = directory.readText(file, limit, ignored);
  auto object = text ? parseJsonObject(*text, file, ImportError::ConfigFile, ignored) : std::nullopt;
  json base = object ? object->value("base_model_name_or_path", json()) : json();
  return fmt::format("is a LoRA adapter ({}) of {}, not a model; merge it into that with PEFT (merge_and_unload, then "
                     "save_pretrained) and compile the result",
                     file, base.is_string() ? quotedText(base.get<std::string>()) : "another model");
}

static std::string ggufText(const ModelDirectory &directory) {
  constexpr size_t mostShown = 8;
  std::vector<std::string> files = filesNamed(directory, ".gguf");
  if (files.empty() || directory.hasSafetensors())
    return {};
  std::vector<std::string> shown;
  for (const std::string &file : files)
    shown.push_back(quotedText(file));
  if (shown.size() > mostShown) {
    shown.resize(mostShown);
    shown.push_back(fmt::format("{} more", files.size() - mostShown));
  }
  return fmt::format("is a folder of GGUF files; name the one to compile: {}", fmt::join(shown, ", "));
}

static std::string mistralText(const ModelDirectory &directory) {
  std::vector<std::string> files = filesNamed(directory, ".safetensors");
  bool isMistral = llvm::any_of(files, [](llvm::StringRef name) { return name.starts_with("consolidated"); });
  if (!isMistral || hasModel(directory))
    return {};
  return "has a checkpoint with Mistral's own names (consolidated.safetensors, params.json); download config.json and "
         "model*.safetensors of the same model, or write them with convert_mistral_weights_to_hf.py of transformers";
}

static std::string cacheText(const ModelDirectory &directory) {
  if (!directory.contains("snapshots") || !directory.contains("blobs") || directory.contains("config.json"))
    return {};
  Diagnostics ignored;
  auto snapshots = directory.folder("snapshots", ignored);
  std::vector<std::string> names = snapshots ? snapshots->names() : std::vector<std::string>();
  return fmt::format("is a model's folder in the Hugging Face cache; name a snapshot in it, such as snapshots/{}",
                     names.empty() ? "COMMIT" : names.front());
}

// A file with a model of another format.
struct OtherFile {
  std::string name;
  FoundFormat found;

  // The most certain comes first: what bytes tell is more than what names tell. Then the order of the table counts.
  bool operator<(const OtherFile &other) const {
    return std::pair(!found.isContent, found.format) < std::pair(!other.found.isContent, other.found.format);
  }
};

static std::vector<OtherFile> otherFiles(const ModelDirectory &directory, const std::string &prefix) {
  constexpr size_t mostFiles = 100;  // each stays open as long as the directory
  std::vector<OtherFile> result;
  std::vector<std::string> names = directory.names();
  names.resize(std::min(names.size(), mostFiles));
  for (const std::string &name : names) {
    Diagnostics ignored;
    OpenFile file = directory.openFile(name, ignored);
    std::string head(std::min<uint64_t>(file.size(), formatHeadBytes), '\0');
    if (file && !file.read(0, head.data(), head.size()))
      continue;
    FoundFormat found = findOtherFormat(name, head);
    if (found.format && found.format->use == FormatUse::OtherModel)
      result.push_back({prefix + name, found});
  }
  return result;
}

// A model in formats that talc does not read, in the directory or in folders such as onnx.
static std::string otherFormatText(const ModelDirectory &directory) {
  constexpr size_t mostFolders = 16;
  if (directory.hasSafetensors())
    return {};
  std::vector<OtherFile> files = otherFiles(directory, "");
  std::vector<std::string> names = directory.names();
  for (size_t i = 0; files.empty() && i < std::min(names.size(), mostFolders); ++i) {
    Diagnostics ignored;
    if (auto folder = directory.folder(names[i], ignored))
      files = hasModel(*folder) ? std::vector<OtherFile>() : otherFiles(*folder, names[i] + "/");
  }
  if (files.empty())
    return {};
  const OtherFile &told = *llvm::min_element(files);
  return fmt::format("has neither model.safetensors nor model.safetensors.index.json, but {}, {}; {}",
                     quotedText(told.name), told.found.format->name, told.found.format->remedy);
}

bool reportOtherDirectory(const ModelDirectory &directory, Diagnostics &diagnostics) {
  for (auto *describe : {adapterText, ggufText, mistralText, cacheText, otherFormatText})
    if (std::string text = describe(directory); !text.empty()) {
      diagnostics.error(ImportError::ModelDirectory, fmt::format("{}: {}", directory.path(), text));
      return true;
    }
  return false;
}

// MLX stores its parameters twice, without the name of a method.
bool reportOtherConfig(const json &config, Diagnostics &diagnostics) {
  auto isMlx = [&](const char *key) {
    auto it = config.find(key);
    return it != config.end() && it->is_object() && !it->contains("quant_method") && it->contains("bits") &&
           it->contains("group_size");
  };
  if (!isMlx("quantization"))
    return false;
  diagnostics.error(ImportError::ConfigUnsupported,
                    "config.json: key 'quantization': is of a checkpoint that MLX quantized, which talc does not read; "
                    "take the original model or a GGUF file of it, or write plain weights with `mlx_lm.convert "
                    "--dequantize`");
  return true;
}

}  // namespace talc
