// SPDX-License-Identifier: Apache-2.0
// Hashes the printed program with BLAKE3. Printing is fast and names everything by its content.
#include "compiler/targets/cpu/CodeKey.h"

#include "compiler/targets/cpu/BuildIdentity.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace talc::cpu {

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

// Those that say what a program does with results, or where the model comes from, do not matter to the code.
static void printAttributes(HashStream &stream, ModuleOp module) {
  const llvm::StringLiteral others[] = {nameAttr, directoryAttr, generationAttr, labelsAttr, poolingAttr};
  for (NamedAttribute attribute : module->getAttrs())
    if (!llvm::is_contained(others, attribute.getName().getValue()))
      stream << attribute.getName() << " = " << attribute.getValue() << "\n";
}

// Code finds a weight by its place; what stands there does not matter.
static void printWeight(HashStream &stream, WeightOp weight) {
  if (Attribute offset = weight->getAttr("talc.offset"))
    stream << weight.getSymName() << " " << weight.getType() << " " << offset << "\n";
}

std::string codeKey(ModuleOp module, llvm::StringRef stage, const targets::Target &target) {
  HashStream stream;
  // A newline ends each part; no part has one of its own.
  stream << buildIdentity() << "\n"
         << target.cpu << "\n"
         << target.features << "\n"
         << target.tune << "\n"
         << target.vectorLanes << "\n"
         << target.cacheBytes << "\n"
         << stage << "\n";
  printAttributes(stream, module);
  OpPrintingFlags form;
  form.printGenericOpForm().assumeVerified().useLocalScope();
  for (Operation &op : module.getOps()) {
    if (auto weight = dyn_cast<WeightOp>(op)) {
      printWeight(stream, weight);
      continue;
    }
    op.print(stream, form);
    stream << "\n";
  }
  return stream.digits();
}

}  // namespace talc::cpu
