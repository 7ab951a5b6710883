// SPDX-License-Identifier: Apache-2.0
// The interface through which passes ask a compute op, so that none of them needs a list of these ops.
#ifndef COMPUTE_OP_INTERFACE
#define COMPUTE_OP_INTERFACE

include "mlir/IR/OpBase.td"

def ComputeOpInterface : OpInterface<"ComputeOpInterface"> {
  let cppNamespace = "::talc::kernel";
  let description = [{
    A compute op is computed by one loop nest over the tokens of a step. divide-work splits it into tasks, outline-kernels
    makes a function of it, insert-barriers asks what it reads and writes (each of its memory effects is on an operand),
    mark-kernels lists what it costs. linalg.generic and memref.copy implement the interface, too.

    The operands are buffers whenever a method is called.
  }];
  let methods = [
    InterfaceMethod<"Arithmetic operations and bytes that it needs.", "::talc::kernel::OpCosts", "getCosts">,
    InterfaceMethod<"Prints the sizes that do not depend on the step, such as `768 x 2304 f32`, for reports.", "void", "printShapes",
                    (ins "::llvm::raw_ostream &":$out)>,
    InterfaceMethod<[{
      How workers may divide it. `rows` means that every row is computed independently: divide-work may then also let
      every worker compute all rows, into memory of its own.
    }], "::talc::kernel::Share", "getDivision", (ins), "", "return ::talc::kernel::Share::rows;">,
    InterfaceMethod<"The space that tasks with this share divide.", "::talc::kernel::TaskSpace", "getTaskSpace",
                    (ins "::talc::kernel::Share":$share), "",
                    "(void)share; return ::talc::kernel::TaskSpace::rows;">,
    InterfaceMethod<[{
      What is fused into it, such as `bias, gelu_tanh, residual`, for reports; empty if nothing is.
    }], "std::string", "getFused", (ins), "", "return {};">,
    InterfaceMethod<"Adds entries of its own to the op's dictionary in `talc.kernels`.", "void", "addFacts",
                    (ins "::mlir::NamedAttrList &":$facts), "", "(void)facts;">,
  ];
}

#endif // COMPUTE_OP_INTERFACE
