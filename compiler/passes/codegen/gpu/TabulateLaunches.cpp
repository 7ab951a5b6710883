// SPDX-License-Identifier: Apache-2.0
// tabulate-launches: turns functions that call kernels into lists of launches.
//
//   func @layer(%step, %x: memref<?x64xf32>, ...) {          func private @layer {kernel.launches = [
//     %y = kernel.arena %step rows %n at 256 plus 0            {call = @norm_0, mark = 7, arguments = [
//     call @norm_0(%step, %x, %y)                       ->       {argument = 0}, {argument = 1}, {argument = 2},
//     kernel.mark %step 7                                        {base = "arena", per_token = 256},
//   }                                                            {base = "number", per_token = 1}]}] }
//
// A buffer is passed as PassedBuffer.h says: its address, then the sizes that its type does not say. All of these are
// linear in the tokens of the step, so that a list is data, and running it takes no code on the host. A launch waits
// for earlier ones where there is a barrier, or always, unless barriers are known to suffice for a dynamic schedule.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/PassedBuffer.h"
#include "dialects/Invariant.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelDialect.h"
#include "runtime/device/gpu/LaunchTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_TABULATELAUNCHES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::PassedBuffer;
using talc::artifact::LaunchBase;
namespace kernel = talc::kernel;
namespace keys = talc::kernel::launchKeys;

namespace {

// base or argument, + fixed + perToken * tokens of the step
struct Linear {
  LaunchBase base = LaunchBase::Number;
  std::optional<int64_t> argument = {};
  int64_t fixed = 0, perToken = 0;
};

Linear number(int64_t value) {
  return {LaunchBase::Number, {}, value, 0};
}

// The parts of a buffer that a kernel may be passed.
struct Described {
  Linear address, offset;
  SmallVector<Linear> sizes, strides;
};

// The number of values that an argument of a type is passed as.
int64_t valueCount(Type type) {
  MemRefType buffer = talc::bufferType(type);
  return buffer ? static_cast<int64_t>(PassedBuffer(buffer).parts().size()) : 1;
}

// The index of the first value of an argument.
int64_t firstValue(FunctionOpInterface function, unsigned argument) {
  int64_t index = 0;
  for (Type type : function.getArgumentTypes().take_front(argument))
    index += valueCount(type);
  return index;
}

// Traces values to their origin.
class Tracer {
public:
  explicit Tracer(func::FuncOp function) : function(function), module(function->getParentOfType<ModuleOp>()) {}

  // The values to pass for an operand.
  FailureOr<SmallVector<Linear>> passed(Value operand) {
    MemRefType type = talc::bufferType(operand.getType());
    if (!type) {
      FailureOr<Linear> scalar = scalarOf(operand);
      return failed(scalar) ? FailureOr<SmallVector<Linear>>(failure()) : SmallVector<Linear>{*scalar};
    }
    FailureOr<Described> buffer = describe(operand);
    if (failed(buffer))
      return failure();
    SmallVector<Linear> values;
    for (PassedBuffer::Part part : PassedBuffer(type).parts())
      values.push_back(fieldOf(*buffer, part));
    return values;
  }

private:
  static Linear fieldOf(const Described &buffer, PassedBuffer::Part part) {
    switch (part.field) {
    case PassedBuffer::Field::address:
      return buffer.address;
    case PassedBuffer::Field::offset:
      return buffer.offset;
    case PassedBuffer::Field::size:
      return buffer.sizes[part.dimension];
    case PassedBuffer::Field::stride:
      return buffer.strides[part.dimension];
    }
    talc::endByDefect("every field is passed");
  }

  static LogicalResult unknown(Value value) {
    return emitError(value.getLoc()) << "the result of '" << value.getDefiningOp()->getName()
                                     << "' cannot be an argument of a launch";
  }

  Linear argument(BlockArgument value, int64_t part) {
    return {LaunchBase::Number, firstValue(function, value.getArgNumber()) + part, 0, 0};
  }

  int64_t offsetOf(FlatSymbolRefAttr symbol) {
    Operation *operation = module.lookupSymbol(symbol.getAttr());
    auto offset = operation ? operation->getAttrOfType<IntegerAttr>(talc::offsetAttr) : IntegerAttr();
    return offset ? offset.getInt() : 0;
  }

  FailureOr<Linear> scalarOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return this->argument(argument, 0);
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return number(*constant);
    return TypeSwitch<Operation *, FailureOr<Linear>>(value.getDefiningOp())
        .Case([&](kernel::TokenCountOp) {
          return Linear{LaunchBase::Number, {}, 0, 1};
        })
        .Case([&](kernel::OutputCountOp op) { return Linear{resultBase(LaunchBase::Wanted0, op.getOutput())}; })
        .Case([&](kernel::KvCacheOp op) {
          return Linear{LaunchBase::KvCache, {}, offsetOf(op.getNameAttr()), 0};
        })
        .Case([&](memref::DimOp op) -> FailureOr<Linear> {
          FailureOr<Described> buffer = describe(op.getSource());
          std::optional<int64_t> dimension = getConstantIntValue(op.getIndex());
          if (failed(buffer) || !dimension)
            return failure();
          return buffer->sizes[*dimension];
        })
        .Default([&](Operation *) { return unknown(value); });
  }

  // Sizes, strides and offset as the type tells them.
  static Described known(MemRefType type, Linear address) {
    Described buffer;
    buffer.address = address;
    auto [strides, offset] = type.getStridesAndOffset();
    buffer.offset = number(offset);
    for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
      buffer.sizes.push_back(number(size));
      buffer.strides.push_back(number(stride));
    }
    return buffer;
  }

  Described ofArgument(BlockArgument value) {
    auto type = cast<MemRefType>(value.getType());
    Described buffer = known(type, argument(value, 0));
    for (auto [i, part] : llvm::enumerate(PassedBuffer(type).parts())) {
      Linear passed = argument(value, static_cast<int64_t>(i));
      if (part.field == PassedBuffer::Field::offset)
        buffer.offset = passed;
      else if (part.field == PassedBuffer::Field::size)
        buffer.sizes[part.dimension] = passed;
      else if (part.field == PassedBuffer::Field::stride)
        buffer.strides[part.dimension] = passed;
    }
    return buffer;
  }

  FailureOr<Described> withRows(Described buffer, Value rows) {
    if (!rows)
      return buffer;
    FailureOr<Linear> count = scalarOf(rows);
    if (failed(count))
      return failure();
    buffer.sizes.front() = *count;
    return buffer;
  }

  FailureOr<Described> describe(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
    auto type = cast<MemRefType>(value.getType());
    return TypeSwitch<Operation *, FailureOr<Described>>(value.getDefiningOp())
        .Case([&](kernel::WeightOp op) {
          return known(type, {LaunchBase::Weights, {}, offsetOf(op.getNameAttr()), 0});
        })
        .Case([&](kernel::OutputOp op) {
          Described buffer = known(type, {resultBase(LaunchBase::Result0, op.getOutput())});
          buffer.sizes.front() = {resultBase(LaunchBase::Wanted0, op.getOutput())};
          return buffer;
        })
        .Case([&](kernel::ArenaOp op) {
          // There is one worker, whose own memory begins where that of all does.
          auto fixed = static_cast<int64_t>(op.getFixed()), perToken = static_cast<int64_t>(op.getPerToken());
          return withRows(known(type, {LaunchBase::Arena, {}, fixed, perToken}), op.getRows());
        })
        .Case([&](memref::SubViewOp op) { return ofView(op); })
        .Case([&](memref::CastOp op) { return describe(op.getSource()); })
        .Default([&](Operation *) { return unknown(value); });
  }

  // Offsets and strides of views are known; a size may follow from the step.
  FailureOr<Described> ofView(memref::SubViewOp op) {
    FailureOr<Described> source = describe(op.getSource());
    auto [strides, offset] = op.getType().getStridesAndOffset();
    if (ShapedType::isDynamic(offset) || llvm::any_of(strides, ShapedType::isDynamic))
      return unknown(op.getResult());
    if (failed(source))
      return failure();
    Described buffer = known(op.getType(), source->address);
    for (auto [i, size] : llvm::enumerate(op.getMixedSizes()))
      if (auto dynamic = dyn_cast<Value>(size)) {
        FailureOr<Linear> count = scalarOf(dynamic);
        if (failed(count))
          return failure();
        buffer.sizes[i] = *count;
      }
    return buffer;
  }

  func::FuncOp function;
  ModuleOp module;
};

struct TabulateLaunches : talc::impl::TabulateLaunchesBase<TabulateLaunches> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> lists;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernel::kernelOpAttr))
        countRows(function);
      else
        lists.push_back(function);
    }
    // Bodies are erased last: tabulating a list needs the signatures of others.
    SmallVector<ArrayAttr> tables;
    for (func::FuncOp function : lists) {
      FailureOr<ArrayAttr> table = function.isExternal() ? ArrayAttr() : tabulate(function);
      if (failed(table))
        return signalPassFailure();
      tables.push_back(*table);
    }
    for (auto [function, table] : llvm::zip(lists, tables))
      replace(function, table);
  }

  // From here on `rows_argument` of a grid is an index among the values that a kernel is passed.
  void countRows(func::FuncOp function) {
    kernel::LaunchAttr launch = kernel::LaunchAttr::lookup(function);
    kernel::GridAttr grid = launch ? launch.getGrid() : kernel::GridAttr();
    if (!grid || !grid.hasRows())
      return;
    auto argument = static_cast<unsigned>(grid.getRowsArgument());
    SmallVector<PassedBuffer::Part> parts =
        PassedBuffer(cast<MemRefType>(function.getArgumentTypes()[argument])).parts();
    auto size = llvm::find_if(
        parts, [](PassedBuffer::Part part) { return part.field == PassedBuffer::Field::size && part.dimension == 0; });
    int64_t value = firstValue(function, argument) + (size - parts.begin());
    grid = kernel::GridAttr::get(&getContext(), value, grid.getDivisor(), grid.getPlus(), grid.getY());
    function->setAttr(kernel::LaunchAttr::attrName, launch.withGrid(grid));
  }

  Attribute attributeOf(const Linear &value) {
    Builder b(&getContext());
    NamedAttrList fields;
    if (value.argument)
      fields.append(keys::argument, b.getI64IntegerAttr(*value.argument));
    else
      fields.append(keys::base, b.getStringAttr(kernel::baseNames[static_cast<uint32_t>(value.base)]));
    if (value.fixed != 0)
      fields.append(keys::fixed, b.getI64IntegerAttr(value.fixed));
    if (value.perToken != 0)
      fields.append(keys::perToken, b.getI64IntegerAttr(value.perToken));
    return fields.getDictionary(&getContext());
  }

  FailureOr<ArrayAttr> tabulate(func::FuncOp function) {
    Builder b(&getContext());
    Tracer tracer(function);
    SmallVector<Attribute> launches;
    const bool everywhere = !function->hasAttr(kernel::dynamicScheduleAttr);
    bool waits = everywhere;
    for (Operation &op : function.front()) {
      waits |= isa<kernel::BarrierOp>(op);
      auto call = dyn_cast<func::CallOp>(op);
      if (!call)
        continue;
      SmallVector<Attribute> arguments;
      for (Value operand : call.getOperands()) {
        FailureOr<SmallVector<Linear>> values = tracer.passed(operand);
        if (failed(values))
          return failure();
        for (const Linear &value : *values)
          arguments.push_back(attributeOf(value));
      }
      NamedAttrList launch;
      launch.append(keys::call, call.getCalleeAttr());
      launch.append(keys::arguments, b.getArrayAttr(arguments));
      if (auto mark = dyn_cast_or_null<kernel::MarkOp>(call->getNextNode()))
        launch.append(keys::mark, b.getI64IntegerAttr(static_cast<int64_t>(mark.getKernel())));
      if (waits)
        launch.append(keys::waits, b.getI64IntegerAttr(1));
      waits = everywhere;
      launches.push_back(launch.getDictionary(&getContext()));
    }
    talc::PassRemarks("codegen", "tabulate-launches").did(function, [&] {
      return llvm::formatv("{0} calls become launches", launches.size());
    });
    return b.getArrayAttr(launches);
  }

  // Leaves a declaration with the list.
  void replace(func::FuncOp function, ArrayAttr table) {
    if (table) {
      function.eraseBody();
      function->setAttr(kernel::launchesAttr, table);
    }
    function.setPrivate();
    function.setType(FunctionType::get(&getContext(), {}, {}));
  }
};

}  // namespace
