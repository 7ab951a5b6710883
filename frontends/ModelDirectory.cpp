// SPDX-License-Identifier: Apache-2.0
// Opens the files of a model without leaving its directory.
#include "frontends/ModelDirectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace talc {

OpenFile::OpenFile(int number, uint64_t size)
    : descriptor(new int(number),
                 [](const int *open) {
                   close(*open);
                   delete open;
                 }),
      bytes(size) {}

uint64_t OpenFile::storedBytes() const {
  constexpr uint64_t blockBytes = 512;
  struct stat facts;
  bool isKnown = descriptor && fstat(*descriptor, &facts) == 0 && facts.st_blocks > 0;  // some file systems do not say
  return isKnown ? std::min(bytes, static_cast<uint64_t>(facts.st_blocks) * blockBytes) : bytes;
}

bool OpenFile::read(uint64_t offset, void *destination, size_t count) const {
  if (!descriptor)
    return false;
  auto *bytesLeft = static_cast<char *>(destination);
  while (count > 0) {
    ssize_t got = pread(*descriptor, bytesLeft, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    bytesLeft += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
  return true;
}

bool OpenFile::equals(uint64_t offset, const OpenFile &other, uint64_t otherOffset, uint64_t count) const {
  constexpr uint64_t block = 1 << 20;
  std::string mine(std::min(block, count), '\0'), others(mine);
  for (uint64_t done = 0; done < count; done += block) {
    size_t size = std::min(block, count - done);
    if (!read(offset + done, mine.data(), size) || !other.read(otherOffset + done, others.data(), size) ||
        memcmp(mine.data(), others.data(), size) != 0)
      return false;
  }
  return true;
}

const char *const lfsPointerText = "is a pointer of Git LFS, not the file itself; fetch it with `git lfs pull`";

bool OpenFile::isLfsPointer() const {
  constexpr std::string_view begin = "version https://git-lfs.github.com/spec/";
  char bytes[begin.size()];
  return read(0, bytes, sizeof(bytes)) && std::string_view(bytes, sizeof(bytes)) == begin;
}

// The path from CACHE/snapshots/COMMIT, or from a folder in it, to CACHE/blobs.
static std::string blobsOfSnapshot(std::string_view path) {
  constexpr std::string_view snapshots = "/snapshots/";
  std::string result = "../../blobs";
  for (size_t at = path.rfind(snapshots); at != std::string_view::npos && at > 0; at = path.rfind(snapshots, at - 1)) {
    std::string_view rest = path.substr(at + snapshots.size());
    struct stat facts;
    if (stat((std::string(path.substr(0, at)) + "/blobs").c_str(), &facts) != 0)
      continue;
    for (auto folders = std::count(rest.begin(), rest.end(), '/'); folders > 0; --folders)
      result = "../" + result;
    break;
  }
  return result;
}

std::optional<ModelDirectory> ModelDirectory::open(const std::string &path, Diagnostics &diagnostics) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char *resolved = descriptor < 0 ? nullptr : realpath(path.c_str(), nullptr);
  if (!resolved) {
    diagnostics.error(ImportError::ModelDirectory,
                      fmt::format("{}: cannot be opened as a directory: {}", path, strerror(errno)));
    if (descriptor >= 0)
      close(descriptor);
    return std::nullopt;
  }
  ModelDirectory directory(descriptor, resolved, blobsOfSnapshot(resolved));
  free(resolved);
  return directory;
}

ModelDirectory::ModelDirectory(ModelDirectory &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), absolutePath(std::move(other.absolutePath)),
      opened(std::move(other.opened)), blobs(std::move(other.blobs)) {}

ModelDirectory::~ModelDirectory() {
  if (descriptor >= 0)
    close(descriptor);
}

std::optional<ModelDirectory> ModelDirectory::folder(const std::string &name, Diagnostics &diagnostics) const {
  int opened =
      isPlainName(name) ? openat(descriptor, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
  if (opened >= 0)
    return ModelDirectory(opened, absolutePath + "/" + name, "../" + blobs);
  diagnostics.error(ImportError::ModelDirectory,
                    fmt::format("{}: {} is not a folder in the model's directory", absolutePath, quotedText(name)));
  return std::nullopt;
}

std::string ModelDirectory::name() const {
  return absolutePath.substr(absolutePath.rfind('/') + 1);
}

bool ModelDirectory::isPlainName(const std::string &file) {
  return !file.empty() && file.size() <= NAME_MAX && file[0] != '.' &&
         file.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

bool ModelDirectory::contains(const std::string &file) const {
  struct stat facts;
  return fstatat(descriptor, file.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> ModelDirectory::names() const {
  constexpr size_t maxNames = 10'000;
  std::vector<std::string> result;
  int copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = copy < 0 ? nullptr : fdopendir(copy);
  for (dirent *entry; stream && result.size() < maxNames && (entry = readdir(stream));)
    if (isPlainName(entry->d_name))
      result.emplace_back(entry->d_name);
  if (stream)
    closedir(stream);
  else if (copy >= 0)
    close(copy);
  std::sort(result.begin(), result.end());
  return result;
}

// Whether a folder is that with the files of a model in the cache: models--NAME/blobs.
static bool isBlobsOfModel(std::string_view folder) {
  constexpr std::string_view end = "/blobs", begin = "models--";
  if (folder.size() <= end.size() || folder.substr(folder.size() - end.size()) != end)
    return false;
  std::string_view parent = folder.substr(0, folder.size() - end.size());
  return parent.substr(parent.rfind('/') + 1).substr(0, begin.size()) == begin;
}

// Follows a link of the Hugging Face cache: snapshots/<commit>/<file> -> ../../blobs/<hash>. Such a link leads nowhere
// else, since nothing but a hash names the file.
int ModelDirectory::openBlob(const std::string &file, std::string &link) const {
  char target[PATH_MAX];
  ssize_t length = readlinkat(descriptor, file.c_str(), target, sizeof(target) - 1);
  std::string_view path(target, length < 0 ? 0 : static_cast<size_t>(length));
  size_t slash = path.rfind('/');
  std::string parent(path.substr(0, slash)), blob(slash == std::string_view::npos ? "" : path.substr(slash + 1));
  bool isHash = !blob.empty() && blob.find_first_not_of("0123456789abcdef") == std::string::npos;
  struct stat cache, folderFacts;
  bool isOwn = fstatat(descriptor, blobs.c_str(), &cache, 0) == 0 &&
               fstatat(descriptor, parent.c_str(), &folderFacts, 0) == 0 && cache.st_dev == folderFacts.st_dev &&
               cache.st_ino == folderFacts.st_ino;
  if (!isHash || !(parent == blobs || isOwn || isBlobsOfModel(parent)))
    return -1;
  link = path;
  int folder = openat(descriptor, parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0)
    return -1;
  int opened = openat(folder, blob.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  close(folder);
  return opened;
}

OpenFile ModelDirectory::openFile(const std::string &file, Diagnostics &diagnostics) const {
  if (auto place = opened.find(file); place != opened.end())
    return place->second;
  auto refuse = [&](std::string_view reason) {
    diagnostics.error(ImportError::ModelDirectory, fmt::format("{}: {}", absolutePath + "/" + file, reason));
    return OpenFile();
  };
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  int number = openat(descriptor, file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (number < 0 && errno == ELOOP) {
    std::string link;
    number = openBlob(file, link);
    if (number < 0 && !link.empty() && errno == ENOENT)
      return refuse(fmt::format("is a link to {}, which is missing; download the model again", link));
    if (number < 0)
      return refuse("is a symbolic link, expected a regular file; copy the model with `cp -rL`");
  }
  if (number < 0)
    return refuse(fmt::format("cannot be opened: {}", strerror(errno)));
  struct stat facts;
  bool isOpen = fstat(number, &facts) == 0;
  if (!isOpen || !S_ISREG(facts.st_mode)) {
    close(number);
    return refuse("is not a regular file");
  }
  return opened[file] = OpenFile(number, static_cast<uint64_t>(facts.st_size));
}

std::optional<std::string> ModelDirectory::readText(const std::string &file, uint64_t limit,
                                                    Diagnostics &diagnostics) const {
  OpenFile opened = openFile(file, diagnostics);
  if (!opened)
    return std::nullopt;
  if (opened.isLfsPointer()) {
    diagnostics.error(ImportError::ModelDirectory, fmt::format("{}: {}", file, lfsPointerText));
    return std::nullopt;
  }
  std::string text(opened.size() <= limit ? opened.size() : 0, '\0');
  if (opened.size() <= limit && opened.read(0, text.data(), text.size()))
    return text;
  diagnostics.error(ImportError::ModelDirectory,
                    opened.size() > limit
                        ? fmt::format("{}: has {} bytes, expected at most {}", file, opened.size(), limit)
                        : fmt::format("{}: cannot be read", file));
  return std::nullopt;
}

}  // namespace talc
