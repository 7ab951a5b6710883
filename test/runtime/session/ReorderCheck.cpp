// SPDX-License-Identifier: Apache-2.0
// PATH: after talc_reorder every sequence goes on as if all its tokens had been evaluated in its own slot, whatever
// happens in the others; memory in use is never overwritten and comes back at the end. PATH is where artifacts are
// written.
#include "test/runtime/FakeSession.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>

namespace talc::test {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t vocabulary = 260, longest = 48;

FakeOptions makeOptions(artifact::ModelKind kind) {
  FakeOptions options;
  options.kind = kind;
  options.maxSequence = longest;
  return options;
}

talc_status reorder(FakeSession &fake, const Ids &slots, const Ids &parents) {
  return talc_reorder(fake.session, slots.data(), parents.data(), static_cast<int32_t>(slots.size()), &fake.error);
}

uint64_t stateUsed(const FakeSession &fake) {
  talc_session_memory memory = {};
  talc_session_get_memory(fake.session, &memory, nullptr, nullptr);
  return memory.state_used;
}

// Evaluates `ids` in a slot; the last row must be what follows from `text`, which ends with them.
bool extend(FakeSession &fake, int32_t slot, const Ids &ids, const Ids &text, const Ids &source = {}) {
  talc_sequence sequence = tokens(slot, static_cast<int32_t>(ids.size()), ids.data());
  if (!expect(talc_evaluate(fake.session, &sequence, 1, &fake.error) == TALC_OK, fake.error.text))
    return false;
  const float *logits = talc_logits(fake.session, 0, nullptr);
  SeenTokens seen = {makeCells(source), makeCells(text), text.size(), text.size() - 1};
  return expect(fakeResult(seen, vocabulary, 0, vocabulary) == std::vector<float>(logits, logits + vocabulary),
                "slot " + std::to_string(slot) + " after " + std::to_string(text.size()) + " tokens");
}

// The same numbers in every run.
struct Numbers {
  uint64_t state = 88172645463325252ull;
  int32_t below(int32_t limit) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<int32_t>(state % static_cast<uint64_t>(limit));
  }
};

bool encode(FakeSession &fake, int32_t slot, const Ids &source) {
  talc_sequence sequence = tokens(slot, static_cast<int32_t>(source.size()), source.data(), TALC_ROWS_NONE);
  return talc_encode(fake.session, &sequence, 1, &fake.error) == TALC_OK;
}

// Beam search with parents at random. One batch per step in `fake`, whose slots 0 to 3 hold the texts; `plain`
// evaluates every text from its first token. The bits must be the same.
class RandomSearch {
public:
  RandomSearch(FakeSession &fake, FakeSession &plain, int32_t vocabulary, const Ids &source)
      : fake(fake), plain(plain), vocabulary(vocabulary), source(source) {}

  bool run(int steps) {
    texts.assign(beams, {50, 51, 52});
    talc_sequence prompt = tokens(0, 3, texts[0].data());
    bool good = expect(source.empty() || encode(fake, 0, source), fake.error.text) &&
                expect(talc_evaluate(fake.session, &prompt, 1, &fake.error) == TALC_OK, fake.error.text) &&
                expect(reorder(fake, {0, 1, 2, 3}, {0, 0, 0, 0}) == TALC_OK, fake.error.text);
    for (int i = 0; good && i < steps; ++i)
      good = extendAll() && isRight() && takeParents();
    return good;
  }

private:
  static constexpr int32_t beams = 4;

  bool extendAll() {
    std::vector<talc_sequence> batch;
    for (int32_t i = 0; i < beams; ++i) {
      texts[i].push_back(numbers.below(vocabulary));
      batch.push_back(tokens(i, 1, &texts[i].back()));
    }
    return expect(talc_evaluate(fake.session, batch.data(), beams, &fake.error) == TALC_OK, fake.error.text);
  }

  bool isRight() {
    bool good = true;
    for (int32_t i = 0; good && i < beams; ++i) {
      talc_slot_reset(plain.session, 0, nullptr);
      talc_sequence whole = tokens(0, static_cast<int32_t>(texts[i].size()), texts[i].data());
      good = expect((source.empty() || encode(plain, 0, source)) &&
                        talc_evaluate(plain.session, &whole, 1, &plain.error) == TALC_OK,
                    plain.error.text);
      const float *actual = talc_logits(fake.session, i, nullptr), *expected = talc_logits(plain.session, 0, nullptr);
      good = good && expect(memcmp(expected, actual, vocabulary * sizeof(float)) == 0,
                            "beam " + std::to_string(i) + " after " + std::to_string(texts[i].size()) + " tokens");
    }
    return good;
  }

  bool takeParents() {
    Ids parents;
    std::vector<Ids> next;
    for (int32_t i = 0; i < beams; ++i) {
      parents.push_back(numbers.below(beams));
      next.push_back(texts[parents[i]]);
    }
    texts = next;
    return expect(reorder(fake, {0, 1, 2, 3}, parents) == TALC_OK, fake.error.text);
  }

  FakeSession &fake, &plain;
  const int32_t vocabulary;
  const Ids source;
  Numbers numbers;
  std::vector<Ids> texts;
};

// Another sequence in the session does not notice.
bool checkNeighbour(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::Decoder), 5),
      plain(path, makeOptions(artifact::ModelKind::Decoder), 1);
  bool good = expect(fake.session && plain.session, fake.error.text) && extend(fake, 4, {1, 2}, {1, 2}) &&
              RandomSearch(fake, plain, vocabulary, {}).run(40) && extend(fake, 4, {9}, {1, 2, 9});
  for (int32_t slot = 0; slot < 5; ++slot)
    talc_slot_reset(fake.session, slot, nullptr);
  return good && expect(stateUsed(fake) == 0, "memory after all slots were reset");
}

// Two slots that use each other: each can be reset, and neither is overwritten before the other is.
bool checkReset(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::Decoder), 2);
  talc_error &e = fake.error;
  if (!expect(fake.session, e.text))
    return false;
  bool good = extend(fake, 0, {5, 6}, {5, 6}) && extend(fake, 1, {7, 8}, {7, 8});
  good = good && expect(reorder(fake, {0, 1}, {1, 0}) == TALC_OK, e.text);
  good = good && extend(fake, 0, {9}, {7, 8, 9}) && expect(stateUsed(fake) == 2 * 16 * 4, "state of two sequences");
  const int32_t id = 3;
  talc_sequence next = tokens(0, 1, &id);
  talc_slot_reset(fake.session, 0, nullptr);
  good = good &&
         expect(talc_slot_length(fake.session, 0) == 0 && stateUsed(fake) == 2 * 16 * 4, "a slot in use was reset");
  good &= fails(talc_evaluate(fake.session, &next, 1, &e), TALC_ERROR_SHARED, e, "slot 0, whose tokens or source");
  good &= fails(reorder(fake, {0, 1}, {1, 1}), TALC_ERROR_SHARED, e, "slot 0 was reset");
  good = good && extend(fake, 1, {10, 11}, {5, 6, 10, 11});
  talc_slot_reset(fake.session, 1, nullptr);
  good = good && expect(stateUsed(fake) == 0, "memory after both slots were reset");
  return good && extend(fake, 0, {3}, {3}) && extend(fake, 1, {4}, {4});
}

bool checkErrors(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::Decoder), 3),
      encoder(path, makeOptions(artifact::ModelKind::Encoder), 2);
  talc_error &e = fake.error;
  if (!expect(fake.session && encoder.session, e.text))
    return false;
  bool good = extend(fake, 0, {5, 6}, {5, 6}) && extend(fake, 1, {7, 8, 9}, {7, 8, 9});
  good &= fails(reorder(fake, {0, 0}, {0, 0}), TALC_ERROR_BATCH, e, "slot 0 stands in the list twice");
  good &= fails(reorder(fake, {2, 3}, {2, 2}), TALC_ERROR_BATCH, e, "slot 3, but the session has slots 0 to 2");
  good &= fails(reorder(fake, {2, -1}, {2, 2}), TALC_ERROR_BATCH, e, "slot -1");
  good &=
      fails(reorder(fake, {2, 1}, {1, 0}), TALC_ERROR_BATCH, e, "the parent 0 of slot 1 is none of the slots listed");
  good &= fails(reorder(fake, {2}, {7}), TALC_ERROR_BATCH, e, "the parent 7 of slot 2");
  good &= fails(reorder(fake, {2, 0, 1}, {0, 1, 1}), TALC_ERROR_BATCH, e,
                "slot 0 holds 2 tokens, but its parent 1 holds 3");
  good &= fails(reorder(fake, {0, 2}, {2, 0}), TALC_ERROR_BATCH, e, "slot 0 holds 2 tokens, but its parent 2 holds 0");
  good &= fails(reorder(encoder, {0, 1}, {1, 0}), TALC_ERROR_KIND, encoder.error, "but this is an encoder");
  good &= fails(talc_reorder(fake.session, nullptr, nullptr, 1, &e), TALC_ERROR_ARGUMENT, e, "NULL");
  good &= expect(talc_slot_length(fake.session, 2) == 0, "a failed reordering changed a slot");
  return good && extend(fake, 0, {1}, {5, 6, 1}) && extend(fake, 1, {1}, {7, 8, 9, 1});
}

// Sources follow their texts, and are kept for as long as one of these is.
bool checkSources(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::EncoderDecoder), 3);
  talc_error &e = fake.error;
  const Ids first = {30, 31, 32}, second = {40};
  bool good = expect(fake.session && encode(fake, 0, first) && encode(fake, 1, second), e.text);
  good = good && expect(reorder(fake, {0, 1, 2}, {1, 0, 0}) == TALC_OK, e.text);
  good =
      good && extend(fake, 0, {5}, {5}, second) && extend(fake, 1, {6}, {6}, first) && extend(fake, 2, {7}, {7}, first);
  good = good && expect(reorder(fake, {0, 1, 2}, {2, 0, 1}) == TALC_OK, e.text);
  good = good && extend(fake, 0, {8}, {7, 8}, first) && extend(fake, 1, {9}, {5, 9}, second);
  good = good && expect(!encode(fake, 0, second), "a source in use was replaced");
  good &= fails(TALC_ERROR_SHARED, TALC_ERROR_SHARED, e, "source 0 is in slot 0, whose tokens or source");
  talc_slot_reset(fake.session, 0, nullptr);
  good = good && extend(fake, 2, {1}, {6, 1}, first) && extend(fake, 1, {1}, {5, 9, 1}, second);
  talc_slot_reset(fake.session, 2, nullptr);
  talc_slot_reset(fake.session, 1, nullptr);
  good = good && expect(stateUsed(fake) == 0, "memory after all slots were reset");
  return good && expect(encode(fake, 0, second), e.text) && extend(fake, 0, {2}, {2}, second);
}

// Any calls in any order. What is refused changes nothing; what is done has the right results.
class RandomCalls {
public:
  explicit RandomCalls(FakeSession &fake) : fake(fake) {}

  bool run(int calls) {
    bool good = true;
    for (int i = 0; good && i < calls; ++i) {
      int32_t choice = numbers.below(12), slot = numbers.below(slots);
      good = choice == 0   ? resetSlot(slot)
             : choice == 1 ? encodeSource(slot)
             : choice < 5  ? reorderSome()
                           : append(slot);
    }
    for (int32_t slot = 0; slot < slots; ++slot)
      talc_slot_reset(fake.session, slot, nullptr);
    return good && expect(stateUsed(fake) == 0, "memory after all slots were reset") &&
           expect(reordered > calls / 50 && refused > calls / 50,
                  "calls both done and refused: " + std::to_string(reordered) + " and " + std::to_string(refused));
  }

private:
  static constexpr int32_t slots = 5;

  Ids randomIds(int32_t maxCount) {
    Ids ids(1 + numbers.below(maxCount));
    for (int32_t &id : ids)
      id = numbers.below(vocabulary);
    return ids;
  }

  bool resetSlot(int32_t slot) {
    talc_slot_reset(fake.session, slot, nullptr);
    texts[slot].clear(), sources[slot].clear();
    return true;
  }

  bool encodeSource(int32_t slot) {
    Ids source = randomIds(4);
    if (!encode(fake, slot, source))
      return refusedFor(TALC_ERROR_SHARED);
    texts[slot].clear(), sources[slot] = source;
    return true;
  }

  bool append(int32_t slot) {
    Ids ids = randomIds(3), text = texts[slot];
    text.insert(text.end(), ids.begin(), ids.end());
    talc_sequence sequence = tokens(slot, static_cast<int32_t>(ids.size()), ids.data(), TALC_ROWS_NONE);
    if (sources[slot].empty())
      return talc_evaluate(fake.session, &sequence, 1, &fake.error) != TALC_OK &&
             (fake.error.status == TALC_ERROR_SOURCE || refusedFor(TALC_ERROR_SHARED));
    if (text.size() > longest)
      return resetSlot(slot);
    texts[slot] = text;
    return extend(fake, slot, ids, text, sources[slot]);
  }

  bool reorderSome() {
    Ids list, parents;
    for (int32_t slot = 0; slot < slots; ++slot)
      if (numbers.below(2))
        list.push_back(slot);
    for (size_t i = 0; i < list.size(); ++i)
      parents.push_back(list[numbers.below(static_cast<int32_t>(list.size()))]);
    if (list.empty())
      return true;
    if (reorder(fake, list, parents) != TALC_OK)
      return fake.error.status == TALC_ERROR_SHARED ? refusedFor(TALC_ERROR_SHARED) : refusedFor(TALC_ERROR_BATCH);
    const std::vector<Ids> oldTexts = texts, oldSources = sources;
    for (size_t i = 0; i < list.size(); ++i)
      texts[list[i]] = oldTexts[parents[i]], sources[list[i]] = oldSources[parents[i]];
    ++reordered;
    return true;
  }

  bool refusedFor(talc_status status) {
    ++refused;
    return expect(fake.error.status == status, fake.error.text);
  }

  FakeSession &fake;
  Numbers numbers;
  std::vector<Ids> texts = std::vector<Ids>(slots), sources = std::vector<Ids>(slots);
  int reordered = 0, refused = 0;
};

}  // namespace

bool checkReorder(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  bool good = checkNeighbour(path) && checkReset(path) && checkErrors(path) && checkSources(path);
  FakeSession fake(path, makeOptions(artifact::ModelKind::EncoderDecoder), 5);
  return good && expect(fake.session, fake.error.text) && RandomCalls(fake).run(20000);
}

// ARTIFACT with compiled code.
bool checkSearch(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  FakeSession beams(path, 4), plain(path, 1);
  talc_model_info info = {};
  if (!expect(beams.session && plain.session, beams.error.text) ||
      talc_model_get_info(beams.model, &info, nullptr) != TALC_OK)
    return false;
  Ids source = info.kind == TALC_MODEL_ENCODER_DECODER ? Ids{30, 20, 40, 25, 60, 7, 8} : Ids();
  return RandomSearch(beams, plain, info.vocabulary_size, source).run(80);
}

}  // namespace talc::test
