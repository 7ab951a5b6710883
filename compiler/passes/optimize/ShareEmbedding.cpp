// SPDX-License-Identifier: Apache-2.0
// share-embedding: a table that is also the vocabulary projection is stored once, any other one as narrow as the
// weights.
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/StorageTypes.h"
#include "dialects/talc/TalcDialect.h"

namespace talc {
#define GEN_PASS_DEF_SHAREEMBEDDING
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

using PackedTypes = llvm::DenseMap<StringAttr, Type>;

// The name of the weight whose value this is; null if it is not fetched here.
StringAttr weightName(Value value) {
  auto get = value.getDefiningOp<GetWeightOp>();
  return get ? get.getNameAttr().getAttr() : StringAttr();
}

struct ShareEmbedding : talc::impl::ShareEmbeddingBase<ShareEmbedding> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<StorageTypes> storage = StorageTypes::create(getOperation(), weights);
    if (failed(storage))
      return signalPassFailure();
    PackedTypes packed = findPacked();
    getOperation().walk([&](EmbeddingOp embedding) { narrow(embedding, packed, *storage); });
  }

  // The packed forms of weights that some linear layer uses, in whatever function: an encoder may embed with the table
  // that its decoder projects with.
  PackedTypes findPacked() {
    PackedTypes packed;
    getOperation().walk([&](LinearOp linear) {
      auto derive = linear.getWeight().getDefiningOp<DeriveOp>();
      if (derive && isa<PackRecipeAttr>(derive.getRecipe()))
        if (StringAttr name = weightName(derive.getSources().front()))
          packed[name] = derive.getType();
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
    Type wanted = name ? packed.lookup(name) : Type();
    if (!wanted) {
      recipe = ConvertRecipeAttr::get(embedding.getContext());
      wanted = type.clone(storage.of(table));
    }
    if (wanted == type)
      return;
    OpBuilder builder(embedding);
    embedding.getTableMutable().assign(DeriveOp::create(builder, embedding.getLoc(), wanted, recipe, table));
  }
};

}  // namespace
