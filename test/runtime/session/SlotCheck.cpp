// SPDX-License-Identifier: Apache-2.0
// PATH: slots that are truncated, saved and loaded go on as if nothing else had happened; what cannot be is refused.
// PATH is where artifacts are written.
#include "test/runtime/FakeSession.h"
#include "test/runtime/RuntimeChecks.h"

namespace talc::test {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t vocabulary = 260;
const Ids source = {9, 8, 7, 6, 5};

FakeOptions makeOptions(artifact::ModelKind kind) {
  FakeOptions options;
  options.kind = kind;
  options.maxSequence = 64;
  return options;
}

Ids numbered(int32_t first, int32_t count) {
  Ids ids(count);
  for (int32_t i = 0; i < count; ++i)
    ids[i] = (first + 3 * i) % 250;
  return ids;
}

uint64_t stateUsed(const talc_session *session) {
  talc_session_memory memory = {};
  talc_session_get_memory(session, &memory, nullptr, nullptr);
  return memory.state_used;
}

bool encode(talc_session *session, int32_t slot) {
  talc_sequence sequence = tokens(slot, static_cast<int32_t>(source.size()), source.data(), TALC_ROWS_NONE);
  return expect(talc_encode(session, &sequence, 1, nullptr) == TALC_OK, "a source");
}

// Evaluates `ids` behind `text`, which the slot holds, and adds them to it; the last row must be what follows.
bool extend(talc_session *session, int32_t slot, const Ids &ids, Ids &text, const Ids &answersTo = {}) {
  talc_error error = {};
  talc_sequence sequence = tokens(slot, static_cast<int32_t>(ids.size()), ids.data());
  text.insert(text.end(), ids.begin(), ids.end());
  if (!expect(talc_evaluate(session, &sequence, 1, &error) == TALC_OK, error.text))
    return false;
  const float *logits = talc_logits(session, 0, nullptr);
  SeenTokens seen = {makeCells(answersTo), makeCells(text), text.size(), text.size() - 1};
  return expect(fakeResult(seen, vocabulary, 0, vocabulary) == std::vector<float>(logits, logits + vocabulary),
                "slot " + std::to_string(slot) + " with " + std::to_string(text.size()) + " tokens");
}

bool truncate(talc_session *session, int32_t slot, int32_t length, Ids &text) {
  talc_error error = {};
  text.resize(length);
  return expect(talc_slot_truncate(session, slot, length, &error) == TALC_OK, error.text) &&
         expect(talc_slot_length(session, slot) == length, "the length of a truncated slot");
}

bool checkTruncating(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::Decoder), 3);
  talc_session *session = fake.session;
  talc_error &e = fake.error;
  Ids text;
  bool good = extend(session, 0, numbered(1, 40), text) && truncate(session, 0, 7, text) &&
              expect(stateUsed(session) == 16 * 4, "memory of 7 tokens") &&
              extend(session, 0, numbered(90, 20), text) && truncate(session, 0, 27, text) &&
              extend(session, 0, numbered(5, 1), text) && truncate(session, 0, 0, text) &&
              expect(stateUsed(session) == 0, "memory of nothing") && extend(session, 0, numbered(77, 3), text);
  good &= fails(talc_slot_truncate(session, 0, 4, &e), TALC_ERROR_ARGUMENT, e, "holds 3 tokens");
  good &= fails(talc_slot_truncate(session, 0, -1, &e), TALC_ERROR_ARGUMENT, e, "to -1");
  return fails(talc_slot_truncate(session, 3, 0, &e), TALC_ERROR_BATCH, e, "slots 0 to 2") && good;
}

// Slot 1 goes on with what lies in slot 0.
bool checkTruncatingShared(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::Decoder), 2);
  talc_session *session = fake.session;
  talc_error &e = fake.error;
  const int32_t slots[] = {0, 1}, parents[] = {0, 0};
  Ids first;
  bool good = extend(session, 0, numbered(1, 20), first) &&
              expect(talc_reorder(session, slots, parents, 2, &e) == TALC_OK, e.text);
  Ids second = first;
  good = good && extend(session, 0, numbered(30, 4), first) && extend(session, 1, numbered(60, 4), second);
  good = good && truncate(session, 0, 20, first);  // what only slot 0 has
  good &= fails(talc_slot_truncate(session, 0, 10, &e), TALC_ERROR_SHARED, e, "other slots still use the later ones");
  size_t size = 0;
  good &= fails(talc_slot_save(session, 1, nullptr, 0, &size, &e), TALC_ERROR_SHARED, e, "are in several slots");
  good = good && truncate(session, 1, 10, second) && truncate(session, 0, 10, first);
  return good && extend(session, 0, numbered(100, 9), first) && extend(session, 1, numbered(140, 30), second);
}

bool checkTruncatingAnswers(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::EncoderDecoder), 1);
  Ids text;
  return encode(fake.session, 0) && extend(fake.session, 0, numbered(1, 5), text, source) &&
         truncate(fake.session, 0, 0, text) && extend(fake.session, 0, numbered(40, 18), text, source);
}

Bytes save(const talc_session *session, int32_t slot) {
  size_t size = 0;
  talc_error error = {};
  if (!expect(talc_slot_save(session, slot, nullptr, 0, &size, &error) == TALC_OK && size > 0, error.text))
    return {};
  Bytes bytes(size);
  expect(talc_slot_save(session, slot, bytes.data(), size, &size, &error) == TALC_OK, error.text);
  return bytes;
}

// Into another slot, and a session of another process, which has opened the same file.
bool checkLoading(const std::string &path, artifact::ModelKind kind) {
  bool answers = kind == artifact::ModelKind::EncoderDecoder;
  FakeSession fake(path, makeOptions(kind), 2), other(path, 2);
  const Ids answersTo = answers ? source : Ids();
  talc_error &e = fake.error;
  Ids text;
  if ((answers && !encode(fake.session, 0)) || !extend(fake.session, 0, numbered(1, 37), text, answersTo))
    return false;
  Bytes saved = save(fake.session, 0);
  bool good = true;
  for (talc_session *session : {fake.session, other.session}) {
    Ids copied = text, longer;
    if (!answers)
      good &= extend(session, 1, numbered(150, 50), longer);
    good &= expect(talc_slot_load(session, 1, saved.data(), saved.size(), &e) == TALC_OK, e.text) &&
            expect(talc_slot_length(session, 1) == 37, "the length of a loaded slot") &&
            extend(session, 1, numbered(99, 5), copied, answersTo);
  }
  return good && extend(fake.session, 0, numbered(11, 5), text, answersTo);
}

bool checkRefusedLoading(const std::string &path) {
  FakeOptions different = makeOptions(artifact::ModelKind::Decoder);
  different.cycle = "abc";
  FakeSession fake(path, makeOptions(artifact::ModelKind::Decoder), 2), other(path + ".other", different, 1);
  talc_error &e = fake.error;
  Ids text;
  bool good = extend(fake.session, 0, numbered(1, 20), text);
  Bytes saved = save(fake.session, 0), small(saved.size() - 1);
  size_t size = 0;
  good &=
      fails(talc_slot_save(fake.session, 0, small.data(), small.size(), &size, &e), TALC_ERROR_CAPACITY, e, "needed");
  good &= expect(size == saved.size(), "the needed capacity");
  good &= fails(talc_slot_load(other.session, 0, saved.data(), saved.size(), &e), TALC_ERROR_KIND, e, "another model");
  auto refused = [&](const Bytes &bytes) {
    return fails(talc_slot_load(fake.session, 1, bytes.data(), bytes.size(), &e), TALC_ERROR_DAMAGED, e, "damaged");
  };
  for (size_t at = 0; at < saved.size(); ++at) {
    Bytes changed = saved;
    changed[at] ^= 0x40;
    good &= refused(changed);
  }
  for (size_t length : {size_t(1), size_t(20), saved.size() - 1})
    good &= refused(Bytes(saved.begin(), saved.begin() + length));
  saved.push_back(0);
  good &= refused(saved) && expect(talc_slot_length(fake.session, 1) == 0, "a refused slot changed nothing");
  return fails(talc_slot_load(fake.session, 7, saved.data(), 9, &e), TALC_ERROR_BATCH, e, "slots 0 to 1") && good;
}

}  // namespace

bool checkSlots(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  bool good = checkTruncating(path + ".1") && checkTruncatingShared(path + ".2") && checkTruncatingAnswers(path + ".3");
  good &= checkLoading(path + ".4", artifact::ModelKind::Decoder);
  good &= checkLoading(path + ".5", artifact::ModelKind::EncoderDecoder);
  return checkRefusedLoading(path + ".6") && good;
}

}  // namespace talc::test
