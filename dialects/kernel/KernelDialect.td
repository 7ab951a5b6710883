// SPDX-License-Identifier: Apache-2.0
// The kernel dialect: how the pieces of a step are computed on a machine.
#ifndef KERNEL_DIALECT
#define KERNEL_DIALECT

include "dialects/talc/KvLayout.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::talc::kernel";
  let summary = "fused pieces of a step, and what they need of the running step";
  let description = [{
    Three layers in one dialect. The *piece* ops (`matmul`, `attention`, `norm`, ...; ComputeOps.td)
    are destination-style ops on tensors, later on buffers; each is what one loop nest computes. `tasks` says into
    what parts a piece falls, and which worker does which. The *step* ops (`span`, `keys`, `weight`, ...) read the running
    step (runtime/device/cpu/StepContext.h) when the loops exist.

    A step is one parallel program: every worker runs all of it and does its share of every piece. Workers are the
    threads of a processor.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::talc::TalcDialect"];
}

class Kernel_Type<string typeName, string typeMnemonic> : TypeDef<Kernel_Dialect, typeName> {
  let mnemonic = typeMnemonic;
}

def Kernel_Step : Kernel_Type<"Step", "step">, BuildableType<"$_builder.getType<::talc::kernel::StepType>()"> {
  let summary = "the running step: this thread, the sequences, and the memory of the model";
}

def Kernel_GatherIndex : I32EnumAttr<"GatherIndex", "what picks the row of the table", [
  I32EnumAttrCase<"ids", 0>, I32EnumAttrCase<"positions", 1>, I32EnumAttrCase<"outputs", 2>,
  I32EnumAttrCase<"types", 3>, I32EnumAttrCase<"counted", 4>]> {
  let cppNamespace = "::talc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_GatherIndexAttr : EnumAttr<Kernel_Dialect, Kernel_GatherIndex, "by">;

def Kernel_Share : I32EnumAttr<"Share", "what a worker does of a piece", [
  I32EnumAttrCase<"all", 0>,        // everything, into memory of its own
  I32EnumAttrCase<"rows", 1>,       // its rows
  I32EnumAttrCase<"columns", 2>,    // its columns of every row
  I32EnumAttrCase<"heads", 3>,      // its key-value heads, or blocks of their queries
  I32EnumAttrCase<"adaptive", 4>]>{ // its rows if the step has many of them (kernel.token_parallel), else columns
  let cppNamespace = "::talc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_ShareAttr : EnumAttr<Kernel_Dialect, Kernel_Share, "share">;

def Kernel_TaskSpace : I32EnumAttr<"TaskSpace", "what the tasks of a piece are parts of; see kernel.tasks", [
  I32EnumAttrCase<"rows", 0>, I32EnumAttrCase<"heads", 1>, I32EnumAttrCase<"tiles", 2>,
  I32EnumAttrCase<"queries", 3>, I32EnumAttrCase<"keys", 4>]> {
  let cppNamespace = "::talc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_TaskSpaceAttr : EnumAttr<Kernel_Dialect, Kernel_TaskSpace, "over">;

def Kernel_KvPanels : AttrDef<Kernel_Dialect, "KvPanels", [DeclareAttrInterfaceMethods<Talc_KvLayoutInterface>]> {
  let mnemonic = "kv_panels";
  let summary = "keys and values of a state in panels of so many tokens";
  let description = [{
    `#kernel.kv_panels<16 x f32>`: of a slot first the keys [panels, heads, width, 16], then the values
    [panels, heads, 16, width rounded up to whole lines of 16]; `#kernel.kv_panels<16 x f16, f32>`: keys in f16, values in
    f32. A register tile reads the 16 tokens of a head side by
    side, and all heads of 16 tokens lie side by side: a short text takes few pages, and its lines fall into different
    sets of the caches.
  }];
  let parameters = (ins "int64_t":$tokens, "::mlir::Type":$keys, "::mlir::Type":$values);
  let assemblyFormat = "`<` $tokens `x` custom<KvPanelElements>($keys, $values) `>`";
  let genVerifyDecl = 1;
}

def Kernel_Matrices : AttrDef<Kernel_Dialect, "Matrices", [DeclareAttrInterfaceMethods<Talc_KvLayoutInterface>]> {
  let mnemonic = "matrices";
  let summary = "the memory of a state: [heads, 2, width + 1, width] of f32";
  let description = [{
    For each head what earlier segments left, then what the open one will: the matrix, and behind its rows the vector that
    divides (see `talc.memory`).
  }];
}

def Kernel_Plan : AttrDef<Kernel_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "the numbers that say how the loops of a piece are cut";
  let description = [{
    `#kernel.plan<block_rows = 192, tile_rows = 6>`: which numbers a piece has, and what they may be, its target says
    (`assign-plans`). A plan decides in which order results are computed and where they wait, never what they are; the
    one exception is `block_keys` of attention, whose blocks are summed up one by one.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$parameters);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    // None: the plan has no such number.
    std::optional<int64_t> parameter(::llvm::StringRef name) const;
  }];
}

#endif // KERNEL_DIALECT
