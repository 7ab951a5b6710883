// SPDX-License-Identifier: Apache-2.0
// Verifiers of the MoE ops.
#include "dialects/talc/OpChecks.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

LogicalResult RouteOp::verify() {
  int64_t count = getCount(), width = features(getX());
  int64_t groups = getGroups(), kept = getTopkGroups(), best = getGroupBest();
  if (groups < 1 || width % groups != 0 || kept < 1 || kept > groups || best < 1 || best > width / groups)
    return emitOpError() << "keeps " << kept << " of " << groups << " groups of " << width << " features by their "
                         << best << " largest";
  if (count < 1 || count > width / groups * kept)
    return emitOpError() << "chooses " << count << " of " << width / groups * kept << " features";
  return getBias() ? expect(*this, "length of the bias", rows(getBias()), width) : success();
}

// The number of outputs of E experts that are stored one after the other, as rows of a matrix or as panels.
template <typename Op>
static LogicalResult verifyExperts(Op op, StringRef what, Value weight, int64_t inputs, int64_t outputs,
                                   int64_t perLane) {
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t experts = features(op.getRoutes());
  if (depth(weight) < 0)
    return op.emitOpError() << "has the weight " << type << ", expected matrices or panels";
  int64_t lanes = type.getRank() == 3 ? type.getDimSize(2) / perLane : 1;
  if (lanes <= 0 || (type.getRank() == 3 && type.getDimSize(2) % perLane != 0))
    return op.emitOpError() << "has a weight with panels of " << type.getDimSize(2) << " lanes";
  if (failed(expect(op, ("depth of the " + what).str(), depth(weight), inputs)))
    return failure();
  return expect(op, ("size of the " + what).str(), type.getDimSize(0), experts * llvm::divideCeil(outputs, lanes));
}

template <typename Op> static LogicalResult verifyBiases(Op op, int64_t inner, int64_t outputs) {
  if (!(op.getClamp().convertToDouble() >= 0))
    return op.emitOpError() << "has the clamp " << op.getClamp().convertToDouble() << ", expected a number >= 0";
  if (op.getBiases().empty())
    return success();
  if (op.getBiases().size() != 3)
    return op.emitOpError() << "has " << op.getBiases().size() << " biases, expected those of gate, up and down";
  int64_t experts = features(op.getRoutes()), lengths[] = {experts * inner, experts * inner, experts * outputs};
  for (auto [bias, length] : llvm::zip(op.getBiases(), lengths))
    if (failed(expect(op, "length of a bias", rows(bias), length)))
      return failure();
  return success();
}

static LogicalResult verifyRounding(ExpertsOp op, int64_t inner) {
  std::optional<Type> element = op.getRounding();
  if (!element)
    return success();
  if (op.getUp() || !isQuantizedActivation(*element))
    return op.emitOpError() << "quantizes to " << *element
                            << ", expected a type of quantized activations, and packed weights";
  if (inner % getStorageFormat(*element)->jointValues() == 0)
    return success();
  return op.emitOpError() << "quantizes " << inner << " features, expected a multiple of "
                          << getStorageFormat(*element)->jointValues();
}

LogicalResult ExpertsOp::verify() {
  int64_t experts = features(getRoutes()), chosen = getChosen(), inner = depth(getDown());
  if (chosen < 1 || chosen > experts)
    return emitOpError() << "chooses " << chosen << " of " << experts << " experts";
  if (inner < 1 || features(getX()) < 1)
    return emitOpError("sums 0 features");
  bool packed = !getUp();
  if (packed != (cast<RankedTensorType>(getGate().getType()).getRank() == 3))
    return emitOpError("expected two matrices, gate and up, or one packed weight");
  if (getUp() && getUp().getType() != getGate().getType())
    return emitOpError() << "has a gate of type " << getGate().getType() << " and an up projection of type "
                         << getUp().getType();
  if (failed(verifyExperts(*this, "gate", getGate(), features(getX()), inner, packed ? 2 : 1)) ||
      failed(verifyExperts(*this, "down projection", getDown(), inner, features(getResult()), 1)) ||
      failed(expect(*this, "row count of the routes", rows(getRoutes()), rows(getX()))) ||
      failed(verifyBiases(*this, inner, features(getResult()))) || failed(verifyRounding(*this, inner)))
    return failure();
  return expect(*this, "row count of the result", rows(getResult()), rows(getX()));
}

// The weights of a gradient of experts, which are not packed.
template <typename Op> static LogicalResult verifyGradient(Op op) {
  int64_t inner = depth(op.getDown()), outputs = features(op.getGradient());
  if (inner < 1 || features(op.getX()) < 1)
    return op.emitOpError("sums 0 features");
  if (op.getUp().getType() != op.getGate().getType())
    return op.emitOpError() << "has a gate of type " << op.getGate().getType() << " and an up projection of type "
                            << op.getUp().getType();
  if (failed(verifyExperts(op, "gate", op.getGate(), features(op.getX()), inner, 1)) ||
      failed(verifyExperts(op, "down projection", op.getDown(), inner, outputs, 1)))
    return failure();
  return verifyBiases(op, inner, outputs);
}

LogicalResult ExpertsDgradOp::verify() {
  return verifyGradient(*this);
}

LogicalResult ExpertsWgradOp::verify() {
  llvm::SmallVector<Value> weights = {getGate(), getUp(), getDown()};
  llvm::append_range(weights, getBiases());
  if (failed(verifyGradient(*this)) ||
      failed(expect(*this, "number of buffers", getBuffers().size(), static_cast<int64_t>(weights.size()))))
    return failure();
  for (auto [buffer, weight] : llvm::zip_equal(getBuffers(), weights))
    if (cast<MemRefType>(buffer.getType()).getShape() != cast<RankedTensorType>(weight.getType()).getShape())
      return emitOpError() << "has the buffer " << buffer.getType() << " of a weight " << weight.getType();
  return success();
}

}  // namespace talc
