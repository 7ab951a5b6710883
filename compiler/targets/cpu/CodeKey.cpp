// SPDX-License-Identifier: Apache-2.0
// Hashes the printed operations with BLAKE3. Printing is faster than translation and names everything by its content.
#include "compiler/targets/cpu/CodeKey.h"

#include "compiler/targets/cpu/BuildIdentity.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

std::string codeKey(ModuleOp module, const targets::Target &target, llvm::StringRef flags) {
  HashStream stream;
  // A newline ends each part; no part has one of its own.
  stream << buildIdentity() << "\n"
         << target.cpu << "\n"
         << target.features << "\n"
         << target.tune << "\n"
         << target.vectorLanes << "\n"
         << flags << "\n";
  OpPrintingFlags form;
  form.printGenericOpForm().assumeVerified().useLocalScope();
  for (Operation &op : module.getOps())
    if (isa_and_nonnull<LLVM::LLVMDialect>(op.getDialect())) {
      op.print(stream, form);
      stream << "\n";
    }
  return stream.digits();
}

}  // namespace talc::cpu
