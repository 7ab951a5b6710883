// SPDX-License-Identifier: Apache-2.0
// share-embedding: stores a table once that is also the LM head, and any other one in its storage format.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/StorageTypes.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_SHAREEMBEDDING
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "share-embedding");

using PackedTypes = llvm::DenseMap<StringAttr, RankedTensorType>;

// The name of the weight that a value is; null if the value does not come from a talc.get_weight.
StringAttr weightName(Value value) {
  auto get = value.getDefiningOp<GetWeightOp>();
  return get ? get.getNameAttr().getAttr() : StringAttr();
}

struct ShareEmbedding : talc::impl::ShareEmbeddingBase<ShareEmbedding> {
  void runOnOperation() override {
    StorageTypes storage(getOperation());
    PackedTypes packed = findPacked();
    getOperation().walk([&](EmbeddingOp embedding) { narrow(embedding, packed, storage); });
  }

  // The types of packed weights that linear layers use, in any function: an encoder may embed with the table that its
  // decoder projects with.
  PackedTypes findPacked() {
    PackedTypes packed;
    getOperation().walk([&](LinearOp linear) {
      auto derive = linear.getWeight().getDefiningOp<DeriveOp>();
      if (derive && isa<PackRecipeAttr>(derive.getRecipe()))
        if (StringAttr name = weightName(derive.getSources().front()))
          packed[name] = cast<RankedTensorType>(derive.getType());
    });
    return packed;
  }

  // embedding(ids, table)  ->  embedding(ids, pack(table)) or embedding(ids, convert(table))
  static void narrow(EmbeddingOp embedding, const PackedTypes &packed, StorageTypes &storage) {
    Value table = embedding.getTable();
    auto type = cast<RankedTensorType>(table.getType());
    if (type.getRank() != 2)
      return;
    StringAttr name = weightName(table);
    Attribute recipe = PackRecipeAttr::get(embedding.getContext());
    RankedTensorType wanted = name ? packed.lookup(name) : RankedTensorType();
    if (!wanted) {
      recipe = ConvertRecipeAttr::get(embedding.getContext());
      wanted = cast<RankedTensorType>(type.clone(storage.getType(table)));
    }
    if (wanted == type)
      return remarks.declined(embedding, [&] {
        return llvm::formatv("{0} is unchanged: no projection reads it, and it is stored as {1} already",
                             storedName(table), type.getElementType());
      });
    remarks.did(embedding, [&]() -> std::string {
      if (isa<PackRecipeAttr>(recipe))
        return storedName(table) + " is stored once, as the projection reads it";
      return llvm::formatv("{0} is stored as {1}", storedName(table), wanted.getElementType());
    });
    OpBuilder builder(embedding);
    embedding.getTableMutable().assign(DeriveOp::create(builder, embedding.getLoc(), wanted, recipe, table));
  }
};

}  // namespace
