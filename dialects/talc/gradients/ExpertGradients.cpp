// SPDX-License-Identifier: Apache-2.0
// Rules of experts and of the router that chooses them.
#include "dialects/talc/gradients/Differentiable.h"

using namespace mlir;

namespace talc {

namespace {

struct RouteGradient : Rule<RouteGradient, RouteOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const { return {cast<RouteOp>(op).getX(), op->getResult(0)}; }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto route = cast<RouteOp>(op);
    Value x = vjp.value(route.getX());
    vjp.add(route.getX(), RouteDgradOp::create(vjp.builder, op->getLoc(), x.getType(), gradients.front(), x,
                                               vjp.value(route.getResult()), route.getNormalizedAttr()));
    return success();
  }
};

struct ExpertsGradient : Rule<ExpertsGradient, ExpertsOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const {
    auto experts = cast<ExpertsOp>(op);
    return {experts.getX(), experts.getRoutes()};
  }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto experts = cast<ExpertsOp>(op);
    if (!experts.getUp() || experts.getRounding())
      return op->emitOpError("is packed or rounds, for which there is no gradient");
    llvm::SmallVector<Value> weights = {experts.getGate(), experts.getUp(), experts.getDown()}, buffers, biases;
    llvm::append_range(weights, experts.getBiases());
    for (Value weight : weights)
      if (Value buffer = vjp.buffer(weight))
        buffers.push_back(buffer);
    for (Value bias : experts.getBiases())
      biases.push_back(vjp.value(bias));
    Value x = vjp.value(experts.getX()), routes = vjp.value(experts.getRoutes());
    Value gate = vjp.value(weights[0]), up = vjp.value(weights[1]), down = vjp.value(weights[2]);
    if (vjp.wants(experts.getX()) || vjp.wants(experts.getRoutes())) {
      auto inputs =
          ExpertsDgradOp::create(vjp.builder, op->getLoc(), x.getType(), routes.getType(), experts.getKindAttr(),
                                 gradients.front(), x, routes, gate, up, down, biases, experts.getClampAttr());
      vjp.add(experts.getX(), inputs.getDx());
      vjp.add(experts.getRoutes(), inputs.getDroutes());
    }
    if (buffers.empty())
      return success();
    if (buffers.size() != weights.size())
      return op->emitOpError("has trained and frozen weights, for which there is no gradient; freeze all or none");
    ExpertsWgradOp::create(vjp.builder, op->getLoc(), experts.getKindAttr(), gradients.front(), x, routes, gate, up,
                           down, biases, buffers, experts.getClampAttr());
    return success();
  }
};

}  // namespace

void attachExpertGradients(MLIRContext &context) {
  RouteOp::attachInterface<RouteGradient>(context);
  ExpertsOp::attachInterface<ExpertsGradient>(context);
}

}  // namespace talc
