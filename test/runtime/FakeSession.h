// SPDX-License-Identifier: Apache-2.0
// A session with a fake model, and what FakeCode.cpp must compute.
#pragma once

#include "runtime/talc.h"
#include "test/runtime/FakeArtifact.h"

namespace talc::test {

class FakeSession {
public:
  // Writes an artifact to `path` and opens it; `session` is null and `error` filled when that fails.
  FakeSession(const std::string &path, FakeOptions options, int32_t slots);
  // Opens an artifact that is there, with any code.
  FakeSession(const std::string &path, int32_t slots);
  ~FakeSession();
  FakeSession(const FakeSession &) = delete;
  FakeSession &operator=(const FakeSession &) = delete;

  talc_model *model = nullptr;
  talc_session *session = nullptr;
  talc_error error = {};

private:
  void open(const std::string &path, int32_t slots);
};

// A text, or source, as the fake model keeps it: one cell per token.
using Cells = std::vector<uint32_t>;
Cells makeCells(const std::vector<int32_t> &ids, const std::vector<int32_t> &types = {});

// A row of a result: what follows from a source and the cells that the token at `position` sees. The model has no
// cycle.
struct SeenTokens {
  Cells source, cells;
  size_t visible, position;
};
std::vector<float> fakeResult(const SeenTokens &seen, int32_t vocabulary, int32_t result, int32_t width);

}  // namespace talc::test
