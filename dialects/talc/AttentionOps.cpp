// SPDX-License-Identifier: Apache-2.0
// Verifiers of attention and compressive memories.
#include "dialects/talc/OpChecks.h"
#include "dialects/talc/gradients/Differentiable.h"

using namespace mlir;

namespace talc {

template <typename Op> static LogicalResult verifyBias(Op op) {
  int64_t heads = op.getHeads();
  if (!op.getBias())
    return op.getAbsolute() ? op.emitOpError("is absolute, but has no bias") : success();
  if (rows(op.getBias()) == heads && (op.getAbsolute() || features(op.getBias()) % 2 == 1))
    return success();
  return op.emitOpError() << "has the bias " << op.getBias().getType() << ", expected " << heads
                          << (op.getAbsolute() ? " heads by positions" : " heads by an odd number of distances");
}

static LogicalResult verifySinkTokens(AttentionOp op) {
  auto sinkTokens = static_cast<int64_t>(op.getSinkTokens());
  if (sinkTokens < 0 || (sinkTokens > 0) != static_cast<bool>(op.getSinkQueries()))
    return op.emitOpError() << "has " << sinkTokens
                            << " sink tokens, expected queries for them exactly if there are any";
  if (sinkTokens == 0)
    return success();
  if (op.getSinkQueries().getType() != op.getQueries().getType())
    return op.emitOpError() << "has sink queries of type " << op.getSinkQueries().getType() << ", expected "
                            << op.getQueries().getType();
  if (op.getWindow() == 0 || op.getMask() != MaskKind::causal || op.getBias())
    return op.emitOpError("has sink tokens: expected a window, the mask causal, and no bias");
  return success();
}

static LogicalResult verifyRowBias(AttentionOp op) {
  int64_t heads = op.getHeads();
  if (op.getZeroStart() && (!op.getRowBias() || op.getWindow() == 0 || op.getSinks()))
    return op.emitOpError("has keys that are zero at the start: expected a window, a bias for each row, and no sinks");
  if (!op.getRowBias())
    return success();
  if (op.getMask() != MaskKind::causal || op.getBias() || op.getSinkTokens() > 0)
    return op.emitOpError("has a bias for each row: expected the mask causal, no other bias, and no sink tokens");
  if (rows(op.getRowBias()) == rows(op.getQueries()) && features(op.getRowBias()) % heads == 0)
    return success();
  return op.emitOpError() << "has the row bias " << op.getRowBias().getType() << ", expected a row for each query and "
                          << heads << " heads of distances";
}

// Checks what attention and its gradient have in common.
template <typename Op> static LogicalResult verifyHeads(Op op) {
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads(), width = features(op.getQueries());
  if (heads <= 0 || kvHeads <= 0 || heads % kvHeads != 0)
    return op.emitOpError() << "shares " << kvHeads << " key-value heads among " << heads << " heads";
  if (width % heads != 0)
    return op.emitOpError() << "divides " << width << " features into " << heads << " heads";
  if (static_cast<int64_t>(op.getWindow()) < 0)
    return op.emitOpError() << "has the negative window " << static_cast<int64_t>(op.getWindow());
  if (!(op.getCap().convertToDouble() >= 0))
    return op.emitOpError() << "has the cap " << op.getCap().convertToDouble() << ", expected a number >= 0";
  if (op.getSinks() && failed(expect(op, "number of sinks", rows(op.getSinks()), heads)))
    return failure();
  int64_t keyWidth = width / heads * kvHeads;
  if (failed(verifyBias(op)) || failed(expect(op, "width of the keys", features(op.getKeys()), keyWidth)))
    return failure();
  return expect(op, "width of the values", features(op.getValues()), keyWidth);
}

LogicalResult AttentionOp::verify() {
  auto read = getKeys().getDefiningOp<KvReadOp>();
  bool ofSource = read && cast<KvCacheType>(read.getCache().getType()).getRole() == KvCacheRole::source;
  if (ofSource && (getMask() != MaskKind::full || getWindow() > 0 || getBias()))
    return emitOpError("reads a source, whose keys have no order among the queries: expected the mask full, no window "
                       "and no bias");
  return failed(verifyHeads(*this)) || failed(verifySinkTokens(*this)) ? failure() : verifyRowBias(*this);
}

LogicalResult AttentionDgradOp::verify() {
  if (getBuffer() && !getSinks())
    return emitOpError("has a buffer for the gradient of sinks, but no sinks");
  if (getBuffer() && getBuffer().getType().getShape() != ArrayRef<int64_t>{static_cast<int64_t>(getHeads())})
    return emitOpError() << "has the buffer " << getBuffer().getType() << " for the sinks of " << getHeads()
                         << " heads";
  return verifyHeads(*this);
}

LogicalResult MemoryOp::verify() {
  auto cache = cast<KvCacheType>(getCache().getType());
  int64_t heads = getHeads(), kvHeads = cache.getHeads();
  if (cache.getRole() != KvCacheRole::memory)
    return emitOpError() << "has the cache " << cache << ", expected one of the role memory";
  if (heads <= 0 || heads % kvHeads != 0)
    return emitOpError() << "shares " << kvHeads << " key-value heads among " << heads << " heads";
  if (failed(expect(*this, "width of the queries", features(getQueries()), heads * cache.getWidth())) ||
      failed(expect(*this, "width of the keys", features(getKeys()), kvHeads * cache.getWidth())))
    return failure();
  return expect(*this, "number of gates", length(getGates()), heads);
}

}  // namespace talc
