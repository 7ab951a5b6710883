// SPDX-License-Identifier: Apache-2.0
// hoist-recipes: moves values that depend on weights alone out of functions, and makes them weights of the module.
//
// Functions are visited callees first: a talc.derive inside of a layer function moves to the calls of that function,
// where its operands are known, and from there to the next caller, until its operands are weights of the module.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/CallSites.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_HOISTRECIPES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// The suffix for the name of a weight that a recipe makes.
StringRef recipeSuffix(Attribute recipe) {
  return llvm::TypeSwitch<Attribute, StringRef>(recipe)
      .Case([](TransposeRecipeAttr) { return "transposed"; })
      .Case([](ConcatRecipeAttr) { return "merged"; })
      .Case([](InterleaveRecipeAttr) { return "interleaved"; })
      .Case([](PackRecipeAttr) { return "packed"; })
      .Case([](PadRecipeAttr) { return "padded"; })
      .Case([](ConvertRecipeAttr) { return "converted"; })
      .Case([](RotaryTableRecipeAttr) { return "rotary_table"; })
      .Case([](FillSourceAttr) { return "filled"; })
      .Default([](Attribute) { return "derived"; });
}

// The weights of a module. Equal recipes over equal sources share one weight.
class RecipeWeights {
public:
  explicit RecipeWeights(ModuleOp module) : symbols(module), insertion(module.getBody()->end()) {
    for (auto weight : module.getOps<WeightOp>())
      known.try_emplace(key(weight.getSource(), weight.getOfAttr(), weight.getType()), weight);
    auto functions = module.getOps<func::FuncOp>();
    if (!functions.empty())
      insertion = Block::iterator(*functions.begin());
  }

  // The name of the weight that `recipe` makes of the weights `of`.
  StringRef get(Location loc, Attribute recipe, ArrayRef<Attribute> of, Type type) {
    MLIRContext *context = loc.getContext();
    ArrayAttr sources = of.empty() ? ArrayAttr() : ArrayAttr::get(context, of);
    WeightOp &weight = known[key(recipe, sources, type)];
    if (weight)
      return weight.getSymName();
    std::string name = recipeSuffix(recipe).str();
    if (sources)
      name = (cast<FlatSymbolRefAttr>(of.front()).getValue() + "." + name).str();
    OpBuilder builder(context);
    weight = WeightOp::create(builder, loc, builder.getStringAttr(name), TypeAttr::get(type), recipe, sources,
                              builder.getStringAttr("private"));
    symbols.insert(weight, insertion);
    return weight.getSymName();
  }

private:
  static Attribute key(Attribute recipe, ArrayAttr of, Type type) {
    MLIRContext *context = recipe.getContext();
    return ArrayAttr::get(context, {recipe, of ? of : ArrayAttr::get(context, {}), TypeAttr::get(type)});
  }

  SymbolTable symbols;
  Block::iterator insertion;  // before the first function
  llvm::DenseMap<Attribute, WeightOp> known;
};

// Moves `derive` to the calls of its function, which gets the derived value as an argument instead.
bool moveToCalls(DeriveOp derive, func::FuncOp function, const CallSites &callSites) {
  bool isMovable = llvm::all_of(derive.getSources(), [&](Value source) {
    auto argument = dyn_cast<BlockArgument>(source);
    return argument ? argument.getOwner() == &function.front() : source.getDefiningOp<GetWeightOp>() != nullptr;
  });
  if (!isMovable)
    return false;
  auto deriveAtCall = [&](func::CallOp call) -> Value {
    OpBuilder builder(call);
    IRMapping sources;
    for (Value source : derive.getSources())
      if (auto argument = dyn_cast<BlockArgument>(source))
        sources.map(source, call.getOperand(argument.getArgNumber()));
      else
        builder.clone(*source.getDefiningOp(), sources);
    return builder.clone(*derive, sources)->getResult(0);
  };
  derive.replaceAllUsesWith(addArgument(callSites, function, derive.getType(), derive.getLoc(), deriveAtCall));
  derive.erase();
  return true;
}

// Replaces `derive`, whose sources are weights of the module, by a weight of the module.
bool moveToModule(DeriveOp derive, RecipeWeights &weights) {
  SmallVector<Attribute> of;
  for (Value source : derive.getSources()) {
    auto get = source.getDefiningOp<GetWeightOp>();
    if (!get)
      return false;
    of.push_back(get.getNameAttr());
  }
  OpBuilder builder(derive);
  StringRef name = weights.get(derive.getLoc(), derive.getRecipe(), of, derive.getType());
  derive.replaceAllUsesWith(GetWeightOp::create(builder, derive.getLoc(), derive.getType(), name).getResult());
  derive.erase();
  return true;
}

// Erases weights that no function uses, directly or through recipes. Returns their number.
int64_t eraseDeadWeights(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<WeightOp> worklist;
  llvm::SmallPtrSet<Operation *, 32> live;
  auto use = [&](FlatSymbolRefAttr name) {
    if (auto weight = symbols.lookup<WeightOp>(name.getAttr()); weight && live.insert(weight).second)
      worklist.push_back(weight);
  };
  module.walk([&](GetWeightOp get) { get.use_empty() ? get.erase() : use(get.getNameAttr()); });
  while (!worklist.empty())
    if (auto of = worklist.pop_back_val().getOf())
      llvm::for_each(of->getAsRange<FlatSymbolRefAttr>(), use);
  int64_t erased = 0;
  for (auto weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (!live.contains(weight)) {
      weight.erase();
      ++erased;
    }
  return erased;
}

struct HoistRecipes : talc::impl::HoistRecipesBase<HoistRecipes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(module);
    eliminateCommonSubExpressions(rewriter, dominance, module);  // equal recipes need only one argument
    CallSites callSites(module);
    RecipeWeights weights(module);
    for (func::FuncOp function : callSites.calleesFirst())
      if (failed(hoist(function, callSites, weights)))
        return signalPassFailure();
    for (func::FuncOp function : callSites.calleesFirst())
      if (!callSites.callsTo(function).empty())
        removeUnusedArguments(callSites, function);
    int64_t erased = eraseDeadWeights(module);
    for (auto weight : module.getOps<WeightOp>())
      weight->removeAttr(formatAttr);
    PassRemarks("optimize", "hoist-recipes").did(module, [&] {
      auto recipeWeights =
          llvm::count_if(module.getOps<WeightOp>(), [](WeightOp weight) { return weight.getOfAttr(); });
      return llvm::formatv("{0} weights are made of others by recipes; {1} unused weights are erased", recipeWeights,
                           erased)
          .str();
    });
    module.walk([&](DeriveOp derive) {
      derive.emitOpError("cannot leave its function, which calls itself");
      signalPassFailure();
    });
  }

  static LogicalResult hoist(func::FuncOp function, const CallSites &callSites, RecipeWeights &weights) {
    SmallVector<DeriveOp> derives;
    function.walk([&](DeriveOp derive) { derives.push_back(derive); });
    bool isCalled = !callSites.callsTo(function).empty();
    for (DeriveOp derive : derives)
      if (isCalled ? !moveToCalls(derive, function, callSites) : !moveToModule(derive, weights))
        return derive.emitOpError("derives from a value that is not a weight");
    return success();
  }
};

}  // namespace
