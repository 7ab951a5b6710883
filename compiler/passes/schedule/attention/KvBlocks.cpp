// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a state's keys and values lie.
#include "compiler/passes/schedule/attention/KvBlocks.h"

namespace talc {

BlockAddress KvBlocks::keyPlace(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value feature,
                                Value token) const {
  Value block = e.mul(e.div(feature, keys.blockValues), keys.blockBytes * layout.tokens);
  return {bytes, std::move(outer), e.add(begin, block), layout.tokens, token, e.rem(feature, keys.blockValues)};
}

BlockAddress KvBlocks::valuePlace(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value token,
                                  Value feature) const {
  Value block = e.mul(e.div(feature, values.blockValues), values.blockBytes);
  block = e.add(e.mul(token, values.byteSize(layout.paddedWidth)), block);
  return {bytes, std::move(outer), e.add(begin, block), 1, e.index(0), e.rem(feature, values.blockValues)};
}

}  // namespace talc
