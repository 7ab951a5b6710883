// SPDX-License-Identifier: Apache-2.0
// What passes ask a piece, so that none of them has a list of pieces.
#ifndef COMPUTE_OP_INTERFACE
#define COMPUTE_OP_INTERFACE

include "mlir/IR/OpBase.td"

def ComputeOpInterface : OpInterface<"ComputeOpInterface"> {
  let cppNamespace = "::talc::kernel";
  let description = [{
    A piece is what one loop nest computes on the rows of a step. outline-kernels makes a function of it, divide-work
    gives every thread a share of it, insert-barriers asks what it reads and writes (its memory effects, of which every
    one is that of an operand), mark-kernels lists what it costs. linalg.generic and memref.copy are pieces, too.

    The operands are buffers when passes ask.
  }];
  let methods = [
    InterfaceMethod<"The operations and bytes that it needs.", "::talc::kernel::OpCosts", "getCosts">,
    InterfaceMethod<"Prints the sizes behind the rows, such as `768 x 2304 f32`, for reports.", "void", "printShapes",
                    (ins "::llvm::raw_ostream &":$out)>,
    InterfaceMethod<[{
      How threads may divide it. `rows` says that every row is computed by itself: divide-work may also let every thread
      compute all of it, into memory of its own.
    }], "::talc::kernel::Share", "getDivision", (ins), "", "return ::talc::kernel::Share::rows;">,
    InterfaceMethod<"What the tasks of such a share are parts of.", "::talc::kernel::TaskSpace", "getTaskSpace",
                    (ins "::talc::kernel::Share":$share), "",
                    "(void)share; return ::talc::kernel::TaskSpace::rows;">,
    InterfaceMethod<[{
      What it computes beside its own subject, such as `bias, gelu_tanh, residual`, for reports; empty: nothing.
    }], "std::string", "getFused", (ins), "", "return {};">,
    InterfaceMethod<"What else there is to say in `talc.kernels`: adds entries.", "void", "addFacts",
                    (ins "::mlir::NamedAttrList &":$facts), "", "(void)facts;">,
  ];
}

#endif // COMPUTE_OP_INTERFACE
