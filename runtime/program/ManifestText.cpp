// SPDX-License-Identifier: Apache-2.0
// Formats what talc compile recorded of the product, with the hashes that it has since then.
#include "runtime/program/Job.h"

#include <cinttypes>
#include <cstdio>

namespace talc::program {

static std::string hexText(uint64_t hash) {
  char text[24];
  snprintf(text, sizeof(text), "%016" PRIx64, hash);
  return text;
}

// The object of the manifest, with two members more.
static std::string manifestJson(const talc_manifest &manifest, std::string_view json) {
  std::string head = "{\n \"artifact_hash\": \"" + hexText(manifest.artifact_hash) + "\",\n \"weights_hash\": \"" +
                     hexText(manifest.weights_hash) + "\"";
  size_t position = 0;
  bool isObject = !json.empty() && json.front() == '{' &&
                  readJsonStrings(
                      json, [](const std::string *) { return nullptr; }, position);
  return isObject ? head + "," + std::string(json.substr(1)) : head + "\n}\n";
}

std::string manifestText(const talc_model *model, bool asJson) {
  talc_manifest manifest = {};
  manifest.struct_size = sizeof(manifest);
  talc_model_get_manifest(model, &manifest, nullptr);
  std::string_view json(manifest.json ? manifest.json : "", manifest.json_size);
  if (asJson)
    return manifestJson(manifest, json);
  std::string summary;
  size_t position = 0;
  readJsonStrings(
      json, [&](const std::string *key) { return key && *key == "summary" ? &summary : nullptr; }, position);
  return summary + "hashes      artifact " + hexText(manifest.artifact_hash) + ", weights " +
         hexText(manifest.weights_hash) + "\n";
}

}  // namespace talc::program
