// SPDX-License-Identifier: Apache-2.0
// Turns new tokens into text: in parts as it becomes complete, or all of it at the end; cut where a stop text begins.
#pragma once

#include "runtime/generation/Request.h"
#include "runtime/tokenizer/TextStream.h"

#include <optional>

namespace talc {

class IncrementalDetokenizer {
public:
  // `request` must outlive the object.
  IncrementalDetokenizer(const Model &model, const Request &request);

  // Takes the next token. Returns true when a stop text was found. Without memory this and finish() can be called
  // again.
  bool push(int32_t id, DecodeScratch &scratch);
  // The text has ended; `ids` are all its new tokens.
  void finish(const int32_t *ids, size_t count, DecodeScratch &scratch);
  // The text that may be shown since the last call. Valid until the next call of any function.
  std::string_view take();

private:
  bool findStop(size_t from);
  size_t heldBack() const;

  const Tokenizer *const tokenizer;
  const Request &request;
  std::optional<TextStream> stream;
  std::string text;       // begins with what was not taken before the last push
  size_t takenBytes = 0;  // bytes of it
  bool ended = false;     // nothing changes any more
};

}  // namespace talc
