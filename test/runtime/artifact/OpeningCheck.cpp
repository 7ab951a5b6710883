// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: opened by its name, by a descriptor that is closed then, and in memory, a model says the same.
#include "test/runtime/FakeArtifact.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace talc::test {
namespace {

std::vector<float> computeLogits(talc_model *model) {
  const int32_t ids[] = {5, 7, 9};
  talc_session *session = nullptr;
  talc_model_info info = {};
  talc_sequence sequence = tokens(0, 3, ids);
  std::vector<float> result;
  talc_model_get_info(model, &info, nullptr);
  if (talc_session_create(model, nullptr, &session, nullptr) == TALC_OK &&
      talc_evaluate(session, &sequence, 1, nullptr) == TALC_OK) {
    const float *logits = talc_logits(session, 0, nullptr);
    result.assign(logits, logits + info.results[0].width);
  }
  talc_session_destroy(session);
  talc_model_close(model);
  return result;
}

bool checkDescriptor(const std::string &path, const std::vector<float> &expected) {
  talc_model *model = nullptr;
  talc_error e = {};
  int file = open(path.c_str(), O_RDONLY);
  bool good = expect(talc_model_open_descriptor(file, nullptr, &model, &e) == TALC_OK, e.text);
  close(file);
  good = good && expect(computeLogits(model) == expected, "a model of a descriptor");
  return fails(talc_model_open_descriptor(-1, nullptr, &model, &e), TALC_ERROR_FILE, e,
               "descriptor -1: cannot be opened") &&
         good;
}

bool checkMemory(const std::string &path, const std::vector<float> &expected) {
  talc_model *model = nullptr;
  talc_error e = {};
  const Bytes bytes = readBytes(path);
  auto *memory = static_cast<unsigned char *>(aligned_alloc(64, (bytes.size() / 64 + 2) * 64));
  memcpy(memory, bytes.data(), bytes.size());
  bool good = true;
  for (int32_t copies : {0, 1}) {
    talc_open_options options = {};
    options.copy_weights = copies;
    good = good && expect(talc_model_open_memory(memory, bytes.size(), &options, &model, &e) == TALC_OK, e.text) &&
           expect(computeLogits(model) == expected, "a model in memory");
  }
  good &= expect(memcmp(memory, bytes.data(), bytes.size()) == 0, "the memory is as it was");
  for (size_t size : {size_t(0), size_t(20), size_t(5000), bytes.size() - 100000})
    if (size < bytes.size())
      good &= expect(talc_model_open_memory(memory, size, nullptr, &model, &e) == TALC_ERROR_DAMAGED,
                     "memory that was cut");
  memmove(memory + 4, memory, bytes.size());
  good &= fails(talc_model_open_memory(memory + 4, bytes.size(), nullptr, &model, &e), TALC_ERROR_ARGUMENT, e,
                "expected a multiple of 64");
  free(memory);
  return fails(talc_model_open_memory(nullptr, 9, nullptr, &model, &e), TALC_ERROR_ARGUMENT, e, "bytes is NULL") &&
         good;
}

// Whatever the heads of an ELF file or an artifact say, opening ends with a model or an error.
bool checkHeads(const std::string &path) {
  const Bytes bytes = readBytes(path);
  auto *memory = static_cast<unsigned char *>(aligned_alloc(64, (bytes.size() / 64 + 1) * 64));
  memcpy(memory, bytes.data(), bytes.size());
  talc_open_options options = {};
  options.skip_weights_check = 1;
  bool good = true;
  int refused = 0;
  for (size_t at = 0; at < 768; ++at)
    for (unsigned char value : {0x00, 0x7f, 0xff}) {
      talc_model *model = nullptr;
      talc_error e = {};
      memory[at] = value;
      talc_status status = talc_model_open_memory(memory, bytes.size(), &options, &model, &e);
      good &= expect(status == TALC_OK || strncmp(e.text, "error[T04", 9) == 0, "byte " + std::to_string(at));
      refused += status != TALC_OK;
      talc_model_close(model);
      memory[at] = bytes[at];
    }
  free(memory);
  return expect(refused > 50, "damaged heads are refused") && good;
}

}  // namespace

bool checkOpening(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  talc_model *model = nullptr;
  talc_error e = {};
  if (!expect(talc_model_open(path.c_str(), nullptr, &model, &e) == TALC_OK, e.text))
    return false;
  const std::vector<float> expected = computeLogits(model);
  bool good = expect(!expected.empty(), "logits");
  good &= fails(talc_model_open(nullptr, nullptr, &model, &e), TALC_ERROR_ARGUMENT, e, "path is NULL or empty");
  return checkDescriptor(path, expected) && checkMemory(path, expected) && checkHeads(path) && good;
}

}  // namespace talc::test
