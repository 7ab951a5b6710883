// SPDX-License-Identifier: Apache-2.0
// The attribute that says how a kernel is launched on a GPU, and what its code may take of the GPU.
#ifndef KERNEL_LAUNCH_ATTR
#define KERNEL_LAUNCH_ATTR

include "dialects/kernel/KernelDialect.td"

def Kernel_Grid : AttrDef<Kernel_Dialect, "Grid"> {
  let mnemonic = "grid";
  let summary = "the number of workgroups of a launch, in two dimensions";
  let description = [{
    `#kernel.grid<rows_argument = 1, divisor = 8, y = 6>`: x = plus + ceil(rows / divisor), where `rows` is the first
    dimension of the kernel's argument 1, and y = 6. `tabulate-launches` replaces the argument by the index of its size
    among the values that the kernel is passed. Without `rows_argument`, x = plus.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "-1">:$rows_argument,
                    DefaultValuedParameter<"int64_t", "1">:$divisor, DefaultValuedParameter<"int64_t", "0">:$plus,
                    DefaultValuedParameter<"int64_t", "1">:$y);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasRows() const { return getRowsArgument() >= 0; }
  }];
}

def Kernel_Launch : AttrDef<Kernel_Dialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "how a kernel is launched on a GPU, and what its code may take of the GPU";
  let description = [{
    `expand-workgroups` puts `kernel.launch` on a kernel's function, `distribute-workgroups` adds the grid:

    - `threads`: threads of a workgroup
    - `grid`: workgroups of a launch
    - `max_registers`: registers that a thread may take. Without a limit ptxas may spill so that more workgroups fit.
    - `keep_loops`: the driver's compiler must not unroll loops, since it would run out of registers.
    - `narrow_indices`: registers are scarce, so that indices take 32 bits where they can (`narrow-indices`).
    - `argument_count`: values that the kernel is passed, of kernels that are not functions any more
    - `tile`: the shape of a task, for listings
  }];
  let parameters = (ins "int64_t":$threads, OptionalParameter<"::talc::kernel::GridAttr">:$grid,
                    DefaultValuedParameter<"int64_t", "0">:$max_registers,
                    DefaultValuedParameter<"bool", "false">:$keep_loops,
                    DefaultValuedParameter<"bool", "false">:$narrow_indices,
                    DefaultValuedParameter<"int64_t", "0">:$argument_count,
                    OptionalParameter<"::mlir::StringAttr">:$tile);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral attrName = "kernel.launch";

    // The attribute of a kernel; null: it has none.
    static LaunchAttr lookup(::mlir::Operation *op) { return op->getAttrOfType<LaunchAttr>(attrName); }

    LaunchAttr withGrid(GridAttr grid) const;
    LaunchAttr withArgumentCount(int64_t count) const;
  }];
}

#endif // KERNEL_LAUNCH_ATTR
