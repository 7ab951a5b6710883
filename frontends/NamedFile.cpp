// SPDX-License-Identifier: Apache-2.0
// Opens first, so that nothing can change between the checks and the reading.
#include "frontends/NamedFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc {

static int openPath(const std::string &path, int flags, std::string &problem) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0)
    problem = errno == ELOOP && (flags & O_NOFOLLOW) ? "is a symbolic link, expected a regular file"
                                                     : fmt::format("cannot be read: {}", strerror(errno));
  return descriptor;
}

static std::string checkKind(int descriptor, const struct stat &facts, bool isReadOnce) {
  if (S_ISREG(facts.st_mode))
    return "";
  if (!isReadOnce)
    return "is not a regular file";
  return S_ISFIFO(facts.st_mode) || isatty(descriptor) ? "" : "is neither a regular file nor a pipe";
}

static std::string checkOwner(const struct stat &facts) {
  if (facts.st_uid != geteuid())
    return "belongs to another user";
  return facts.st_mode & (S_IWGRP | S_IWOTH) ? "can be written by others; take their right away with `chmod go-w`" : "";
}

// O_NONBLOCK: opening a named pipe must not wait for a writer.
static OpenFile openChecked(const std::string &path, const NamedFileRules &rules, std::string &problem) {
  int flags = O_NONBLOCK | (rules.namedBy == NamedBy::Talc ? O_NOFOLLOW : 0);
  int descriptor = openPath(path, flags, problem);
  struct stat facts;
  if (descriptor < 0)
    return {};
  bool isKnown = fstat(descriptor, &facts) == 0;
  OpenFile file(descriptor, isKnown ? static_cast<uint64_t>(facts.st_size) : 0);
  problem = isKnown ? checkKind(descriptor, facts, rules.isReadOnce) : "cannot be read";
  if (problem.empty() && rules.namedBy == NamedBy::Talc)
    problem = checkOwner(facts);
  if (!problem.empty())
    return {};
  if (S_ISREG(facts.st_mode))
    return file;
  int waiting = openPath(path, 0, problem);  // a pipe without a writer would look like an empty file
  return waiting < 0 ? OpenFile() : OpenFile(waiting, 0);
}

OpenFile openNamedFile(const std::string &path, std::string &problem) {
  return openChecked(path, {UINT64_MAX}, problem);
}

std::optional<std::string> readNamedFile(const std::string &path, const NamedFileRules &rules, std::string &problem) {
  OpenFile file = openChecked(path, rules, problem);
  if (!file)
    return std::nullopt;
  constexpr size_t block = 1 << 16;
  std::string text;
  text.reserve(std::min(file.size(), rules.limit) + block);
  for (ssize_t count = 1; count != 0 && text.size() <= rules.limit;) {
    size_t before = text.size();
    text.resize(before + block);
    count = ::read(file.descriptorNumber(), text.data() + before, block);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count >= 0 || errno == EINTR)
      continue;
    problem = fmt::format("cannot be read: {}", strerror(errno));
    return std::nullopt;
  }
  if (text.size() <= rules.limit)
    return text;
  problem = fmt::format("has more than {} bytes", rules.limit);
  return std::nullopt;
}

}  // namespace talc
