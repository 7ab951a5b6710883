// SPDX-License-Identifier: Apache-2.0
// Texts go into the page compressed one by one, since a program has megabytes in late stages; the browser unpacks those
// that are looked at.
#include "tools/talc/inspect/InspectPage.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"

#include <nlohmann/json.hpp>

namespace talc::tools {

using Json = nlohmann::ordered_json;

static std::string pack(llvm::StringRef text, bool compressed) {
  llvm::SmallVector<uint8_t> bytes(text.bytes_begin(), text.bytes_end());
  if (compressed) {
    llvm::SmallVector<uint8_t> packed;
    llvm::compression::zlib::compress(bytes, packed);
    bytes = std::move(packed);
  }
  return llvm::encodeBase64(bytes);
}

static Json describe(const PassRecorder::PassRecord &pass, const std::vector<std::string> &texts) {
  auto lines = [&](int text) { return text < 0 ? 0 : llvm::StringRef(texts[text]).count('\n'); };
  Json changes = Json::array();
  for (const PassRecorder::Change &change : pass.changes)
    changes.push_back({{"function", change.function},
                       {"before", change.before},
                       {"after", change.after},
                       {"linesBefore", lines(change.before)},
                       {"linesAfter", lines(change.after)}});
  return {{"stage", pass.stage},   {"name", pass.name},       {"summary", pass.summary}, {"seconds", pass.seconds},
          {"failed", pass.failed}, {"remarks", pass.remarks}, {"changes", changes}};
}

// The text with every `from` replaced.
static std::string replaceAll(std::string text, llvm::StringRef from, llvm::StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string renderPage(const PassRecorder &recorder, const std::string &title) {
  bool compressed = llvm::compression::zlib::isAvailable();
  Json passes = Json::array(), texts = Json::array();
  for (const PassRecorder::PassRecord &pass : recorder.passes())
    passes.push_back(describe(pass, recorder.texts()));
  for (const std::string &text : recorder.texts())
    texts.push_back(pack(text, compressed));
  std::string data = Json{{"compressed", compressed}, {"passes", passes}, {"texts", texts}}.dump(
      -1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  std::string escaped;
  llvm::raw_string_ostream stream(escaped);
  llvm::printHTMLEscaped(title, stream);
  // Names may hold what would end the script.
  return replaceAll(replaceAll(pageTemplate, "@TITLE@", escaped), "@DATA@", replaceAll(data, "<", "\\u003c"));
}

}  // namespace talc::tools
