// SPDX-License-Identifier: Apache-2.0
// The kernel dialect: how the ops of a step are computed on a machine.
#ifndef KERNEL_DIALECT
#define KERNEL_DIALECT

include "dialects/talc/KvLayout.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::talc::kernel";
  let summary = "fused compute ops of a step, and what they read of the running step";
  let description = [{
    Three layers in one dialect. The *compute ops* (`matmul`, `attention`, `norm`, ...; ComputeOps.td) are
    destination-style ops on tensors, later on buffers; each is computed by one loop nest. `tasks` says how the iteration
    space of a compute op is split among workers. The *step ops* (`span`, `keys`, `weight`, ...) read the running step
    (runtime/device/cpu/StepContext.h) once the loops exist.

    A step is one parallel program: every worker runs all of it and does its share of every compute op. Workers are
    fibers on a CPU and workgroups on a GPU.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::talc::TalcDialect"];
}

class Kernel_Type<string typeName, string typeMnemonic> : TypeDef<Kernel_Dialect, typeName> {
  let mnemonic = typeMnemonic;
}

def Kernel_Step : Kernel_Type<"Step", "step">, BuildableType<"$_builder.getType<::talc::kernel::StepType>()"> {
  let summary = "the running step: this worker, the sequences, and the memory of the model";
}

def Kernel_GatherIndex : I32EnumAttr<"GatherIndex", "what selects the row of the table", [
  I32EnumAttrCase<"ids", 0>, I32EnumAttrCase<"positions", 1>, I32EnumAttrCase<"outputs", 2>,
  I32EnumAttrCase<"types", 3>, I32EnumAttrCase<"counted", 4>]> {
  let cppNamespace = "::talc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_GatherIndexAttr : EnumAttr<Kernel_Dialect, Kernel_GatherIndex, "by">;

def Kernel_Share : I32EnumAttr<"Share", "which part of a compute op a worker does", [
  I32EnumAttrCase<"all", 0>,        // everything, into memory of its own
  I32EnumAttrCase<"rows", 1>,       // its rows
  I32EnumAttrCase<"columns", 2>,    // its columns of every row
  I32EnumAttrCase<"heads", 3>,      // its key-value heads, or blocks of their queries
  I32EnumAttrCase<"adaptive", 4>]>{ // its rows if the step has many tokens (kernel.token_parallel), else its columns
  let cppNamespace = "::talc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_ShareAttr : EnumAttr<Kernel_Dialect, Kernel_Share, "share">;

def Kernel_TaskSpace : I32EnumAttr<"TaskSpace", "the space that the tasks of a compute op divide; see kernel.tasks", [
  I32EnumAttrCase<"rows", 0>, I32EnumAttrCase<"heads", 1>, I32EnumAttrCase<"tiles", 2>,
  I32EnumAttrCase<"queries", 3>, I32EnumAttrCase<"keys", 4>]> {
  let cppNamespace = "::talc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_TaskSpaceAttr : EnumAttr<Kernel_Dialect, Kernel_TaskSpace, "over">;

def Kernel_KvPanels : AttrDef<Kernel_Dialect, "KvPanels", [DeclareAttrInterfaceMethods<Talc_KvLayoutInterface>]> {
  let mnemonic = "kv_panels";
  let summary = "KV-cache layout: keys and values in panels of a fixed number of tokens";
  let description = [{
    `#kernel.kv_panels<16 x f32>`: a slot holds the keys [panels, heads, width, 16], then the values
    [panels, heads, 16, width rounded up to a multiple of 16]. `#kernel.kv_panels<16 x f16, f32>` stores keys in f16 and
    values in f32. A register tile reads the 16 tokens of a head side by side. All heads of 16 tokens are adjacent, so
    that a short sequence touches few pages and its cache lines fall into different cache sets.
  }];
  let parameters = (ins "int64_t":$tokens, "::mlir::Type":$keys, "::mlir::Type":$values);
  let assemblyFormat = "`<` $tokens `x` custom<KvPanelElements>($keys, $values) `>`";
  let genVerifyDecl = 1;
}

def Kernel_Matrices : AttrDef<Kernel_Dialect, "Matrices", [DeclareAttrInterfaceMethods<Talc_KvLayoutInterface>]> {
  let mnemonic = "matrices";
  let summary = "layout of a compressive memory: [heads, 2, width + 1, width] of f32";
  let description = [{
    For each head the memory of all earlier segments, then the one that the open segment is building: the matrix, and
    after its rows the normalization vector (see `talc.memory`).
  }];
}

def Kernel_Columns : AttrDef<Kernel_Dialect, "Columns", [DeclareAttrInterfaceMethods<Talc_KvLayoutInterface>]> {
  let mnemonic = "columns";
  let summary = "layout of the state of a recurrence: blocks of a fixed number of columns, in f32";
  let description = [{
    `#kernel.columns<32>`: [heads, width / 32 rounded up, capacity, 32]. A task takes one block of a head, which it reads
    as one ascending stream.
  }];
  let parameters = (ins "int64_t":$columns);
  let assemblyFormat = "`<` $columns `>`";
  let genVerifyDecl = 1;
}

def Kernel_Plan : AttrDef<Kernel_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "tuning parameters: how the loops of a compute op are cut";
  let description = [{
    `#kernel.plan<block_rows = 192, tile_rows = 6>`: the target defines which parameters an op has and their ranges
    (`assign-plans`). A plan decides in which order results are computed and where partial sums are kept, never their
    values. The one exception is `block_keys` of attention, because key blocks are summed one after the other.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$parameters);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    // None if the plan does not have the parameter.
    std::optional<int64_t> parameter(::llvm::StringRef name) const;
  }];
}

#endif // KERNEL_DIALECT
