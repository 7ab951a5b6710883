// SPDX-License-Identifier: Apache-2.0
// Texts go into the page compressed one by one, since a program has megabytes in late stages; the browser unpacks those
// that are looked at. What the page does with them is in page/page.js.
#include "tools/talc/inspect/InspectPage.h"

#include "tools/talc/inspect/Html.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"

#include <nlohmann/json.hpp>

namespace talc::tools {

using Json = nlohmann::ordered_json;

static const char *const pageTemplate =
#include "tools/talc/inspect/Page.html.inc"
    ;
static const char *const pageStyle =
#include "tools/talc/inspect/Page.css.inc"
    ;
static const char *const pageScript =
#include "tools/talc/inspect/Page.js.inc"
    ;

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
  for (const PassRecorder::Change &change : pass.changes) {
    Json same = Json::array();
    for (const SameLines &run : change.same)
      same.push_back({run.before, run.after, run.count});
    changes.push_back({{"function", change.function},
                       {"before", change.before},
                       {"after", change.after},
                       {"linesBefore", lines(change.before)},
                       {"linesAfter", lines(change.after)},
                       {"same", std::move(same)}});
  }
  return {{"stage", pass.stage},   {"name", pass.name},       {"summary", pass.summary},      {"seconds", pass.seconds},
          {"failed", pass.failed}, {"remarks", pass.remarks}, {"changes", std::move(changes)}};
}

static Json describe(const KernelUse &use) {
  return {{"kernel", use.entry.name}, {"function", use.function}, {"calls", use.entry.calls}, {"stored", use.stored}};
}

// The data of the script, which no name in it can end.
static std::string renderData(const PassRecorder &recorder) {
  bool compressed = llvm::compression::zlib::isAvailable();
  Json passes = Json::array(), texts = Json::array(), uses = Json::array();
  for (const PassRecorder::PassRecord &pass : recorder.passes())
    passes.push_back(describe(pass, recorder.listingKinds()));
  for (const std::string &text : recorder.listingKinds())
    texts.push_back(pack(text, compressed));
  for (const KernelUse &use : recorder.kernelUses())
    uses.push_back(describe(use));
  Json data = {{"compressed", compressed}, {"passes", passes}, {"uses", uses}, {"texts", texts}};
  std::string text = data.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace), safe;
  for (char c : text)
    safe += c == '<' ? "\\u003c" : std::string(1, c);
  return safe;
}

// The template with @NAME@ replaced; what stands for it is not looked at again.
static std::string fill(llvm::StringRef text, llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> parts) {
  std::string filled;
  while (!text.empty()) {
    auto part = llvm::find_if(parts, [&](const auto &part) { return text.starts_with(part.first); });
    filled += part == parts.end() ? text.substr(0, 1).str() : part->second;
    text = text.drop_front(part == parts.end() ? 1 : part->first.size());
  }
  return filled;
}

std::string renderPage(const PassRecorder &recorder, const PageHead &head) {
  auto name = recorder.facts().find("talc.name");
  return fill(pageTemplate, {{"@TITLE@", escapeHtml(name == recorder.facts().end() ? head.model : name->second)},
                             {"@STYLE@", pageStyle},
                             {"@OVERVIEW@", renderOverview(recorder, head)},
                             {"@DATA@", renderData(recorder)},
                             {"@SCRIPT@", pageScript}});
}

}  // namespace talc::tools
