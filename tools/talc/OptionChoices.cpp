// SPDX-License-Identifier: Apache-2.0
// Wraps CLI11's check of words.
#include "tools/talc/Commands.h"

#include "runtime/NearestWord.h"

namespace talc::tools {

CLI::Validator isMember(const std::vector<std::string> &words) {
  const CLI::Validator member = CLI::IsMember(words);
  return CLI::Validator(
      [member, words](std::string &word) {
        std::string problem = member(word);
        return problem.empty() ? problem : problem + suggestion(word, words);
      },
      member.get_description());
}

std::string gpuTarget(const std::string &device) {
  return device.rfind("cuda", 0) == 0 ? "nvptx" : device.rfind("vulkan", 0) == 0 ? "vulkan" : "";
}

std::string checkGpuOptions(const CLI::App &command, const std::string &device) {
  if (command.count("--device") == 0)
    return "";
  if (gpuTarget(device).empty())
    return "--device: '" + device + "' is not a GPU, expected cuda, cuda:N, vulkan or vulkan:N";
  return command.count("-t") > 0 ? "-t: does not go with --device, whose steps have no threads" : "";
}

std::vector<std::string> optionNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

}  // namespace talc::tools
