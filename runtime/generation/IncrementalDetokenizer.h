// SPDX-License-Identifier: Apache-2.0
// The text of new tokens: in pieces as it becomes complete, or all of it at the end; cut where a stop text begins.
#pragma once

#include "runtime/generation/Request.h"
#include "runtime/tokenizer/TextStream.h"

#include <optional>

namespace talc {

class IncrementalDetokenizer {
public:
  // `request` must outlive the object.
  IncrementalDetokenizer(const Model &model, const Request &request);

  // Takes the next token. True: a stop text was found.
  bool push(int32_t id, DecodeScratch &scratch);
  // The text has ended; `ids` are all its new tokens.
  void finish(const int32_t *ids, size_t count, DecodeScratch &scratch);
  // What may be shown since the last call. Valid until the next call of any function.
  std::string_view take();

private:
  bool findStop(size_t from);
  size_t heldBack() const;

  const Tokenizer *const tokenizer;
  const Request &request;
  std::optional<TextStream> stream;
  std::string text;    // from what was not taken at the last push
  size_t taken = 0;    // bytes of it
  bool ended = false;  // nothing changes any more
};

}  // namespace talc
