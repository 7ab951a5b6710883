// SPDX-License-Identifier: Apache-2.0
// Reads members that makeManifest has set; what a model does not have gets no line.
#include "compiler/artifact/Summary.h"

#include "dialects/talc/ModuleKeys.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <vector>

using Json = nlohmann::ordered_json;

namespace talc {

static std::string text(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

static double number(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0;
}

static int64_t count(const Json &object, const char *key) {
  return static_cast<int64_t>(number(object, key));
}

static const Json &member(const Json &object, const char *key) {
  static const Json none;
  auto it = object.find(key);
  return it != object.end() ? *it : none;
}

static std::string joinWords(const Json &words, const char *separator) {
  std::string all;
  for (const Json &word : words)
    if (word.is_string())
      all += (all.empty() ? "" : separator) + word.get<std::string>();
  return all;
}

static std::string sizeText(double bytes) {
  constexpr double mebi = 1 << 20;
  return bytes < mebi ? fmt::format("{:.1f} KiB", bytes / 1024) : fmt::format("{:.1f} MiB", bytes / mebi);
}

static std::string modelText(const Json &manifest) {
  std::string family = text(manifest, "family"), kind = text(manifest, "kind");
  return fmt::format("{}{}{}{}", text(manifest, "name"), family.empty() ? "" : ", of family " + family,
                     kind.empty() ? "" : ", " + kind,
                     kind.empty() ? "" : " (" + joinWords(member(manifest, "phases"), ", ") + ")");
}

static std::string targetText(const Json &manifest) {
  std::string tuned = text(member(manifest, "target"), "tune");
  return joinWords(member(manifest, "targets"), ", ") + (tuned.empty() ? "" : ", tuned for " + tuned);
}

static std::string weightsText(const Json &manifest) {
  std::string all;
  for (const auto &[name, format] : member(manifest, "formats").items())
    all += fmt::format("{}{} {} ({} weights)", all.empty() ? "" : ", ", name, sizeText(number(format, "bytes")),
                       count(format, "weights"));
  return all;
}

static std::string kvText(const Json &manifest) {
  const Json &formats = member(manifest, "kv_formats");
  return formats.is_null()
             ? ""
             : fmt::format("keys {}, values {}; {} bytes a token", text(formats, "keys"), text(formats, "values"),
                           count(member(manifest, "plan"), planKeys::kvBytesPerToken));
}

static std::string contextText(const Json &manifest) {
  constexpr int64_t anyNumber = 1 << 30;
  int64_t length = count(manifest, "max_sequence"), longest = count(manifest, "longest_sequence");
  if (length >= anyNumber)
    return "any number of tokens";
  return fmt::format("{} tokens", length) + (longest > length ? fmt::format(", {} at most (--max-seq)", longest) : "");
}

static std::string vocabularyText(const Json &manifest) {
  int64_t source = count(manifest, "source_vocabulary");
  return fmt::format("{} tokens", count(manifest, "vocabulary")) +
         (source > 0 ? fmt::format(", of sources {}", source) : "");
}

static std::string resultsText(const Json &manifest) {
  std::string all;
  for (const Json &result : member(manifest, "results"))
    all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", text(result, "kind"), count(result, "width"));
  return all;
}

// --measure has found this.
static std::string measuredText(const Json &manifest) {
  const Json &measured = member(manifest, "measured");
  if (measured.is_null())
    return "";
  std::string all =
      fmt::format("{} predictions of {}, {} tokens of context", count(measured, measuredKeys::predictions),
                  text(measured, measuredKeys::text), count(measured, measuredKeys::context));
  if (measured.contains(measuredKeys::perplexity))
    all += fmt::format("; perplexity {:.4f} +- {:.4f}", number(measured, measuredKeys::perplexity),
                       number(measured, measuredKeys::error));
  if (measured.contains(measuredKeys::divergence))
    all +=
        fmt::format("; KL divergence from the model as it was {:.6f} +- {:.6f}, at most {:.4f}; same likeliest token "
                    "{:.2f} %",
                    number(measured, measuredKeys::divergence), number(measured, measuredKeys::divergenceError),
                    number(measured, measuredKeys::maxDivergence), 100 * number(measured, measuredKeys::sameTop));
  return all;
}

std::string summarize(const Json &manifest) {
  const Json &origin = member(manifest, "origin");
  std::string options = joinWords(member(origin, originKeys::options), " ");
  const std::pair<const char *, std::string> rows[] = {
      {"model", modelText(manifest)},
      {"made from", text(origin, originKeys::model)},
      {"options", origin.is_null() || !options.empty() ? options : "none"},
      {"compiled", fmt::format("{} by talc {}", text(manifest, "compiled"), text(manifest, "talc"))},
      {"target", targetText(manifest)},
      {"parameters", fmt::format("{}", count(manifest, "parameters"))},
      {"weights", weightsText(manifest)},
      {"KV cache", kvText(manifest)},
      {"context", contextText(manifest)},
      {"vocabulary", vocabularyText(manifest)},
      {"results", resultsText(manifest)},
      {"measured", measuredText(manifest)},
  };
  std::string all;
  for (const auto &[label, row] : rows)
    if (!row.empty())
      all += fmt::format("{:<12}{}\n", label, row);
  return all;
}

}  // namespace talc
