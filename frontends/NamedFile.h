// SPDX-License-Identifier: Apache-2.0
// Files that are named by a path: by the user, or by talc beside a model. Files of a model: see ModelDirectory.h.
#pragma once

#include "frontends/ModelDirectory.h"

#include <cstdint>
#include <optional>
#include <string>

namespace talc {

// Whoever wrote a model's directory may have put there what the user never asked for.
enum class NamedBy {
  User,  // on the command line: links are followed
  Talc,  // by its place: no link, and a file of the user, which nobody else may write
};

struct NamedFileRules {
  uint64_t limit;  // bytes
  NamedBy namedBy = NamedBy::User;
  bool isReadOnce = false;  // then it may also be a pipe or a terminal
};

// Opens a regular file. Returns none after a failure, of which `problem` says what is wrong with the file.
OpenFile openNamedFile(const std::string &path, std::string &problem);

// Reads a whole file. Never waits for the writer of a named pipe, unless the file is read once.
std::optional<std::string> readNamedFile(const std::string &path, const NamedFileRules &rules, std::string &problem);

}  // namespace talc
