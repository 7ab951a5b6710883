// SPDX-License-Identifier: Apache-2.0
// Writes and reads objects. One function names the fields of each struct, for both directions.
#include "compiler/targets/gpu/GpuObject.h"

#include "compiler/Error.h"

#include <cstring>

namespace talc::gpu {

namespace {

constexpr char magic[8] = {'T', 'A', 'L', 'C', 'O', 'B', 'J', '1'};
enum Kind : uint64_t { kernelKind = 1, listKind = 2 };

class Writer {
public:
  std::vector<char> bytes{std::begin(magic), std::end(magic)};

  template <typename T> bool number(T &value) {
    const auto word = static_cast<uint64_t>(value);
    const char *begin = reinterpret_cast<const char *>(&word);
    bytes.insert(bytes.end(), begin, begin + sizeof(word));
    return true;
  }
  bool text(std::string &value) {
    size_t size = value.size();
    number(size);
    bytes.insert(bytes.end(), value.begin(), value.end());
    return true;
  }
  template <typename T> bool resize(std::vector<T> &values) {
    size_t size = values.size();
    return number(size);
  }
};

class Reader {
public:
  explicit Reader(llvm::StringRef bytes) : rest(bytes) {}

  template <typename T> bool number(T &value) {
    uint64_t word = 0;
    if (rest.size() < sizeof(word))
      return false;
    std::memcpy(&word, rest.data(), sizeof(word));
    rest = rest.drop_front(sizeof(word));
    value = static_cast<T>(word);
    return true;
  }
  bool text(std::string &value) {
    size_t size = 0;
    if (!number(size) || rest.size() < size)
      return false;
    value = rest.take_front(size).str();
    rest = rest.drop_front(size);
    return true;
  }
  // Every element has a byte at least.
  template <typename T> bool resize(std::vector<T> &values) {
    size_t size = 0;
    if (!number(size) || rest.size() < size)
      return false;
    values.resize(size);
    return true;
  }
  bool isAtEnd() const { return rest.empty(); }

private:
  llvm::StringRef rest;
};

template <typename Stream> bool visit(Stream &s, KernelObject &o) {
  artifact::LaunchGrid &grid = o.kernel.grid;
  return s.text(o.name) && s.number(o.kernel.threads) && s.number(o.kernel.sharedBytes) &&
         s.number(o.kernel.argumentCount) && s.number(grid.rows) && s.number(grid.divisor) && s.number(grid.plus) &&
         s.number(grid.y) && s.number(o.maxRegisters) && s.text(o.code) && s.text(o.taskCode);
}

template <typename Stream> bool visit(Stream &s, ListArgument &o) {
  return s.number(o.isValueOfList) && s.number(o.index) && s.number(o.fixed) && s.number(o.perToken);
}

template <typename Stream> bool visit(Stream &s, ListLaunch &o) {
  bool isComplete = s.text(o.callee) && s.number(o.mark) && s.number(o.waits) && s.resize(o.arguments);
  for (ListArgument &argument : o.arguments)
    isComplete = isComplete && visit(s, argument);
  return isComplete;
}

template <typename Stream> bool visit(Stream &s, LaunchList &o) {
  bool isComplete = s.text(o.name) && s.resize(o.launches);
  for (ListLaunch &launch : o.launches)
    isComplete = isComplete && visit(s, launch);
  return isComplete;
}

template <typename T> targets::ObjectCode write(Kind kind, T object) {
  Writer writer;
  writer.number(kind);
  visit(writer, object);
  return {{writer.bytes.begin(), writer.bytes.end()}, {}};
}

template <typename T> llvm::Expected<std::variant<KernelObject, LaunchList>> read(Reader &reader) {
  T object;
  if (!visit(reader, object) || !reader.isAtEnd())
    return internalError("an object for GPUs is damaged");
  return object;
}

}  // namespace

targets::ObjectCode serialize(const KernelObject &object) {
  return write(kernelKind, object);
}

targets::ObjectCode serialize(const LaunchList &object) {
  return write(listKind, object);
}

llvm::Expected<std::variant<KernelObject, LaunchList>> parseObject(const targets::ObjectCode &object) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(object.bytes.data()), object.bytes.size());
  if (!bytes.consume_front(llvm::StringRef(magic, sizeof(magic))))
    return internalError("an object for GPUs does not begin with its magic bytes");
  Reader reader(bytes);
  uint64_t kind = 0;
  reader.number(kind);
  if (kind == kernelKind)
    return read<KernelObject>(reader);
  if (kind == listKind)
    return read<LaunchList>(reader);
  return internalError("an object for GPUs has the unknown kind {}", kind);
}

}  // namespace talc::gpu
