// SPDX-License-Identifier: Apache-2.0
// The formulas of FakeCode.cpp a second time.
#include "test/runtime/FakeSession.h"

#include <cstdio>

namespace talc::test {

FakeSession::FakeSession(const std::string &path, FakeOptions options, int32_t slots) {
  options.code = TALC_FAKE_CODE;
  remove(path.c_str());  // what another session has mapped must not change
  if (writeBytes(path, assemble(makeSections(options))))
    open(path, slots);
  else
    snprintf(error.text, sizeof(error.text), "cannot write %s", path.c_str());
}

FakeSession::FakeSession(const std::string &path, int32_t slots) {
  open(path, slots);
}

void FakeSession::open(const std::string &path, int32_t slots) {
  talc_session_options options = {sizeof(talc_session_options), 3, slots};
  if (talc_model_open(path.c_str(), nullptr, &model, &error) == TALC_OK)
    talc_session_create(model, &options, &session, &error);
}

FakeSession::~FakeSession() {
  talc_session_destroy(session);
  talc_model_close(model);
}

constexpr uint32_t cellsPerType = 100003;

Cells makeCells(const std::vector<int32_t> &ids, const std::vector<int32_t> &types) {
  Cells cells;
  for (size_t i = 0; i < ids.size(); ++i)
    cells.push_back(ids[i] + 1 + cellsPerType * (types.empty() ? 0 : types[i]));
  return cells;
}

static uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

std::vector<float> fakeResult(const SeenTokens &seen, int32_t vocabulary, int32_t result, int32_t width) {
  uint32_t hash = 1;
  for (uint32_t cell : seen.source)
    hash = mix(hash ^ cell);
  for (size_t i = 0; i < seen.visible; ++i)
    hash = mix(hash ^ seen.cells[i]);
  hash = mix(hash ^ static_cast<uint32_t>(seen.position)) + result;
  uint32_t id = seen.cells[seen.position] % cellsPerType - 1;
  std::vector<float> row(width);
  for (int32_t i = 0; i < width; ++i) {
    float noise = static_cast<float>(mix(hash ^ static_cast<uint32_t>(i)) & 0xffff) / 65536.0f;
    row[i] = static_cast<int32_t>(id + 1) % vocabulary == i ? noise + 2.0f : noise;
  }
  return row;
}

}  // namespace talc::test
