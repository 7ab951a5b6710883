// SPDX-License-Identifier: Apache-2.0
// kernel.attention: attention of the queries of a step over a KV cache.
#include "dialects/kernel/ops/ComputeOpChecks.h"
#include "dialects/talc/ModuleKeys.h"

using namespace mlir;

namespace talc::kernel {

// Split attention (flash decoding): the queries of a head are one task, and every key block has a row of init.
static LogicalResult verifySplit(AttentionOp op, int64_t block) {
  auto cache = cast<KvCacheType>(op.getCache().getType());
  int64_t heads = op.getHeads();
  if (!cache.getLayout())
    return op.emitOpError("splits the keys of a KV cache that has no layout; layout-kv-cache gives it one");
  int64_t tokens = cache.getLayout().getTokenGroup();
  if (failed(expectBlock(op, block, tokens)) || failed(expectOneRow(op, "queries", op.getQueries())))
    return failure();
  if (failed(expectPartialAttention(op, "init", op.getInit(), heads, cache.getWidth())))
    return failure();
  if (op.getSinkQueries())
    return op.emitOpError("splits the keys of queries that also see sink tokens");
  int64_t blocks = llvm::divideCeil(llvm::alignTo(cache.getCapacity(), tokens), block) + cache.isRing();
  return expect(op, "row count of init", getShapedType(op.getInit()).getDimSize(0), blocks);
}

static LogicalResult verifyBias(AttentionOp op) {
  if (!op.getBias())
    return success();
  if (failed(expectStored(op, "bias", op.getBias(), 2)))
    return failure();
  if (failed(expect(op, "row count of the bias", getShapedType(op.getBias()).getDimSize(0), op.getHeads())))
    return failure();
  if (op.getAbsolute() || features(op.getBias()) % 2 != 0)
    return success();
  return op.emitOpError() << "width of the bias is " << features(op.getBias())
                          << ", expected an odd number of distances";
}

// A ring holds the keys that a window covers.
static LogicalResult verifyRing(AttentionOp op, KvCacheType cache) {
  if (op.getSinks() && failed(expectVector(op, "sinks", op.getSinks(), op.getHeads())))
    return failure();
  if ((cache.getSinkTokens() > 0) != static_cast<bool>(op.getSinkQueries()))
    return op.emitOpError() << "is over a KV cache with " << cache.getSinkTokens()
                            << " sink tokens, expected queries for them exactly if there are any";
  if (op.getSinkQueries() && failed(expectSameShape(op, op.getQueries(), op.getSinkQueries())))
    return failure();
  int64_t window = op.getWindow();
  if (cache.isRing() && (op.getMask() != MaskKind::causal || window < 1 || window > cache.getWindow()))
    return op.emitOpError() << "is over a ring, expected the mask causal and a window of 1 to " << cache.getWindow();
  return success();
}

static LogicalResult verifyRowBias(AttentionOp op) {
  if (op.getZeroStart() && (!op.getRowBias() || op.getWindow() == 0 || op.getSinks()))
    return op.emitOpError("has keys that are zero at the start: expected a window, a bias for each row, and no sinks");
  if (!op.getRowBias())
    return success();
  if (op.getMask() != MaskKind::causal || op.getBias() || op.getSinkQueries() || op.getBlock())
    return op.emitOpError("has a bias for each row: expected the mask causal, no other bias, no sink tokens, and keys "
                          "that are not split");
  if (failed(expectActivations(op, "row bias", op.getRowBias())) ||
      failed(expectRows(op, "row count of the row bias", op.getRowBias(), op.getQueries())))
    return failure();
  return expectDivides(op, "heads", op.getHeads(), features(op.getRowBias()));
}

LogicalResult AttentionOp::verify() {
  auto cache = cast<KvCacheType>(getCache().getType());
  int64_t heads = getHeads(), block = getBlock().value_or(0);
  if (failed(expectActivations(*this, "queries", getQueries())) ||
      failed(expectDivides(*this, "heads", heads, features(getQueries()))))
    return failure();
  if (heads % cache.getHeads() != 0)
    return emitOpError() << "shares " << cache.getHeads() << " key-value heads among " << heads << " heads";
  if (failed(expect(*this, "width of a head", features(getQueries()) / heads, cache.getWidth())) ||
      failed(expectNatural(*this, "window", getWindow())) || failed(verifyBias(*this)))
    return failure();
  if (cache.getRole() == KvCacheRole::source && (getMask() != MaskKind::full || getWindow() > 0 || getBias()))
    return emitOpError("reads a source, whose keys have no order among the queries: expected the mask full, no window "
                       "and no bias");
  if (failed(expectLayout(*this, cache, getQueries())) || failed(verifyRing(*this, cache)) ||
      failed(verifyRowBias(*this)))
    return failure();
  return getBlock() ? verifySplit(*this, block) : expectSameShape(*this, getQueries(), getInit());
}

// Two multiply-adds for every pair, head and element: one for the score, one for the sum of values.
OpCosts AttentionOp::getCosts() {
  OpCosts costs;
  auto cache = cast<KvCacheType>(getCache().getType());
  costs.operations.perPair = 4 * getHeads() * cache.getWidth();
  costs.stored.perKey = cache.getTokenBytes();
  costs.stored.perCall = getBias() ? weightBytes(getBias()) : 0;
  costs.passed.perRow = 2 * rowBytes(getQueries()) + (getRowBias() ? rowBytes(getRowBias()) : 0);
  return costs;
}

void AttentionOp::printShapes(raw_ostream &out) {
  auto cache = cast<KvCacheType>(getCache().getType());
  out << getHeads() << "/" << cache.getHeads() << " heads x " << cache.getWidth();
  if (getWindow() > 0)
    out << " window " << getWindow();
  if (cache.getSinkTokens() > 0)
    out << " sink tokens " << cache.getSinkTokens();
  if (getSinks())
    out << " sinks";
  if (getBias())
    out << " bias";
  if (getRowBias())
    out << " row bias of " << features(getRowBias()) / static_cast<int64_t>(getHeads());
  if (getZeroStart())
    out << " zero start";
  if (getCap().convertToDouble() > 0)
    out << " cap " << getCap().convertToDouble();
}

Share AttentionOp::getDivision() {
  return Share::heads;
}

TaskSpace AttentionOp::getTaskSpace(Share) {
  return getBlock() ? TaskSpace::keys : TaskSpace::queries;
}

void AttentionOp::addFacts(NamedAttrList &facts) {
  Builder b(getContext());
  facts.append(kernelKeys::mask, b.getStringAttr(stringifyMaskKind(getMask())));
  facts.append(kernelKeys::window, b.getI64IntegerAttr(getWindow()));
  auto role = cast<KvCacheType>(getCache().getType()).getRole();
  facts.append(kernelKeys::keys, b.getStringAttr(stringifyKvCacheRole(role)));
}

}  // namespace talc::kernel
