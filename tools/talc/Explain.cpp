// SPDX-License-Identifier: Apache-2.0
// talc explain: prints the page of an error code, which is part of the program (docs/errors/).
#include "runtime/NearestWord.h"
#include "tools/talc/Commands.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace talc::tools {

static const std::pair<const char *, const char *> pages[] = {
#include "tools/talc/ErrorPages.inc"
};

// Accepts T0201, t0201, 0201 and 201.
static std::string normalizeCode(const std::string &word) {
  std::string digits = word.substr(word.find_first_not_of("tT") == 1 ? 1 : 0);
  const bool isNumber = !digits.empty() && digits.size() <= 4 && digits.find_first_not_of("0123456789") == digits.npos;
  return isNumber ? "T" + std::string(4 - digits.size(), '0') + digits : word;
}

static int explain(const std::string &word) {
  const std::string code = normalizeCode(word);
  auto *page = std::find_if(std::begin(pages), std::end(pages), [&](const auto &entry) { return code == entry.first; });
  if (page != std::end(pages))
    return fputs(page->second, stdout) >= 0 && fflush(stdout) == 0 ? success : failed;
  std::vector<std::string> codes;
  for (const auto &entry : pages)
    codes.emplace_back(entry.first);
  fprintf(stderr, "error[T0701]: talc explain: '%s' is not the code of an error%s, expected one such as T0201\n",
          word.c_str(), suggestion(code, codes).c_str());
  return wrongUsage;
}

Action addExplain(CLI::App &app) {
  auto code = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand("explain", "explain the code of an error");
  command->set_help_flag("-h,--help", "print this help");
  command->footer("Example:\n  talc explain T0201");
  command->add_option("CODE", *code, "the code in the brackets of a message, such as T0201")->required();
  return [code] { return explain(*code); };
}

}  // namespace talc::tools
