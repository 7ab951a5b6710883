// SPDX-License-Identifier: Apache-2.0
// The definitions of operations have this in common: the types of their operands, and a trait.
#ifndef TALC_OPERANDS
#define TALC_OPERANDS

include "dialects/talc/TalcDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

// A ranked tensor whose dimensions are static from dimension `from` on.
class Talc_Static<int from> : CPred<"!::llvm::any_of(::llvm::cast<::mlir::RankedTensorType>($_self).getShape()"
                                    ".drop_front(" # from # "), ::mlir::ShapedType::isDynamic)">;
class Talc_TensorOf<list<Type> elements, int rank, int from, string what>
    : ConfinedType<RankedTensorOf<elements>, [HasAnyRankOfPred<[rank]>, Talc_Static<from>], what>;

def Talc_Activations : Talc_TensorOf<[F32], 2, 1, "activations [tokens, features] of f32 with a known number of features">;

// A weight: elements of a storage format.
def Talc_StoredElement : Type<CPred<"::talc::getStorageFormat($_self)">, "values of a storage format">;
def Talc_Weights : ConfinedType<RankedTensorOf<[Talc_StoredElement]>, [],
                                "a weight: a tensor of f32, f16, bf16 or another storage format">;
def Talc_Matrix : Talc_TensorOf<[Talc_StoredElement], 2, 0, "a matrix of known size">;
def Talc_Vector : Talc_TensorOf<[F32], 1, 0, "a vector of f32 of known length">;
def Talc_TokenIds : Talc_TensorOf<[I32], 1, 1, "token ids [tokens] of i32">;

// Each row of the result follows from the same row of the first operand.
def Talc_KeepsRows : NativeOpTrait<"KeepsRows"> { let cppNamespace = "::talc"; }

class Talc_Op<string opName, list<Trait> traits = []> : Op<Talc_Dialect, opName, traits>;

#endif // TALC_OPERANDS
