// SPDX-License-Identifier: Apache-2.0
// Hashes the printed function with BLAKE3. Printing is fast and names everything by its content.
#include "compiler/targets/CodeKey.h"

#include "compiler/generators/GeneratedCode.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

using namespace mlir;

namespace talc::targets {

// A note: sizes of its name and content, its type, then both, each padded to 4 bytes.
static std::string buildIdIn(llvm::ArrayRef<uint8_t> notes) {
  auto padded = [](size_t size) { return (size + 3) & ~size_t(3); };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    memcpy(&head, notes.data(), sizeof(head));
    notes = notes.drop_front(sizeof(head));
    size_t name = padded(head.n_namesz), content = padded(head.n_descsz);
    if (name + content > notes.size())
      return "";
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(notes.data(), "GNU", 4) == 0)
      return llvm::toHex(notes.slice(name, head.n_descsz));
    notes = notes.drop_front(name + content);
  }
  return "";
}

// The build id that linkers leave in programs and libraries (ELF note NT_GNU_BUILD_ID), or size and time of a file
// without one.
static std::string fileIdentity(const dl_phdr_info &object) {
  for (const ElfW(Phdr) & segment : llvm::ArrayRef(object.dlpi_phdr, object.dlpi_phnum))
    if (segment.p_type == PT_NOTE) {
      auto *notes = reinterpret_cast<const uint8_t *>(object.dlpi_addr + segment.p_vaddr);
      if (std::string id = buildIdIn({notes, segment.p_memsz}); !id.empty())
        return id;
    }
  llvm::StringRef name = object.dlpi_name;
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(name.empty() ? "/proc/self/exe" : name, status))
    return name.str();
  return fmt::format("{} {} {}", name.str(), status.getSize(),
                     status.getLastModificationTime().time_since_epoch().count());
}

// The same text for the same build of this program and of every library that is loaded, LLVM among them.
static std::string buildIdentity() {
  std::string result;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *result) {
        *static_cast<std::string *>(result) += fileIdentity(*object) + ";";
        return 0;
      },
      &result);
  return result;
}

namespace {

class HashStream : public llvm::raw_ostream {
public:
  HashStream() { SetBufferSize(1 << 16); }
  ~HashStream() override { flush(); }

  std::string digits() {
    flush();
    return llvm::toHex(hash.final(), /*LowerCase=*/true);
  }

private:
  void write_impl(const char *text, size_t size) override {
    hash.update({reinterpret_cast<const uint8_t *>(text), size});
    bytes += size;
  }
  uint64_t current_pos() const override { return bytes; }

  llvm::BLAKE3 hash;
  uint64_t bytes = 0;
};

}  // namespace

// Prints what the code of a function depends on in a symbol it refers to: the type and the generator of a function, the
// offset of a weight or a KV cache.
static void printReference(HashStream &stream, Operation *symbol, const OpPrintingFlags &form) {
  stream << symbol->getName() << " " << SymbolTable::getSymbolName(symbol) << " ";
  if (auto function = dyn_cast<FunctionOpInterface>(symbol))
    stream << function.getFunctionType() << " " << symbol->getAttr(generatorAttr);
  else if (Attribute offset = symbol->getAttr(offsetAttr))
    stream << offset;
  else
    symbol->print(stream, form);
  stream << "\n";
}

// The address of a sequence's keys and values depends on the size of all KV caches.
static bool usesKvCaches(Operation *function) {
  auto uses = [](Operation *op) {
    bool isCache = llvm::any_of(op->getOperandTypes(), [](Type type) { return isa<KvCacheType>(type); });
    return isCache ? WalkResult::interrupt() : WalkResult::advance();
  };
  return function->walk(uses).wasInterrupted();
}

CodeKeys::CodeKeys(ModuleOp module, llvm::StringRef stage, const Target &target) : module(module), symbols(module) {
  // A newline ends each part; no part has one of its own.
  llvm::raw_string_ostream(common) << buildIdentity() << "\n" << target.identity() << "\n" << stage << "\n";
}

std::string CodeKeys::key(FunctionOpInterface function) const {
  HashStream stream;
  stream << common;
  OpPrintingFlags form;
  form.printGenericOpForm().assumeVerified().useLocalScope();
  function->print(stream, form);
  stream << "\n";
  llvm::SmallSetVector<Operation *, 16> references;
  if (auto uses = SymbolTable::getSymbolUses(function.getOperation()))
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *symbol = symbols.lookup(use.getSymbolRef().getRootReference()))
        references.insert(symbol);
  for (Operation *symbol : references)
    printReference(stream, symbol, form);
  if (auto plan = module->getAttrOfType<DictionaryAttr>(planAttr); plan && usesKvCaches(function))
    stream << plan.get(slotBytesKey) << "\n";
  return stream.digits();
}

}  // namespace talc::targets
