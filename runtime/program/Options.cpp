// SPDX-License-Identifier: Apache-2.0
// Parses the command line by the table of options.
#include "runtime/NearestWord.h"
#include "runtime/program/OptionChecks.h"
#include "runtime/program/OptionTable.h"

#include <algorithm>
#include <string_view>

namespace talc::program {

// All names that an option can have, for one that has none of them.
static std::vector<std::string> listNames(const std::vector<OptionSection> &sections) {
  std::vector<std::string> names;
  for (const OptionSection &section : sections)
    for (const Option &option : section.options)
      names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

static const Option *findOption(const std::vector<OptionSection> &sections, std::string_view name) {
  for (const OptionSection &section : sections)
    for (const Option &option : section.options)
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end())
        return &option;
  return nullptr;
}

// The option at `arguments[at]`, and the place of its value if that is an argument of its own.
static Status parseOption(const std::vector<OptionSection> &sections, int count, char **arguments, int &at,
                          Options &options) {
  std::string name = arguments[at];
  size_t equals = name.compare(0, 2, "--") == 0 ? name.find('=') : std::string::npos;
  const Option *option = findOption(sections, std::string_view(name).substr(0, equals));
  if (!option)
    return wrongUsage("unknown option '" + name + "'" + suggestion(name.substr(0, equals), listNames(sections)));
  const std::string &known = option->names.front();
  options.given.push_back({known, option->kinds});
  if (!option->value && equals != std::string::npos)
    return wrongUsage("option '" + known + "' takes no value");
  if (option->value && equals == std::string::npos && ++at == count)
    return wrongUsage("option '" + name + "' needs a value");
  std::string value = !option->value ? "" : equals == std::string::npos ? arguments[at] : name.substr(equals + 1);
  std::string expected = option->read(value);
  if (!expected.empty())
    return wrongUsage("option '" + known + "' has the value '" + value + "', expected " + expected);
  return {};
}

Status parseOptions(int count, char **arguments, Options &options) {
  const std::vector<OptionSection> sections = listOptions(options);
  for (int i = 1; i < count; ++i)
    if (Status status = parseOption(sections, count, arguments, i, options); status.failed())
      return status;
  bool asksFacts =
      options.action == Action::Help || options.action == Action::Version || options.action == Action::Devices;
  return asksFacts ? Status() : checkOptions(options);
}

}  // namespace talc::program
