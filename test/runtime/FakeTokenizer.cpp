// SPDX-License-Identifier: Apache-2.0
// Builds a tokenizer section by hand: ids are the bytes of the text.
#include "runtime/tokenizer/TokenizerFormat.h"
#include "test/runtime/FakeArtifact.h"

#include <cstdio>
#include <cstring>

namespace talc::test {

using namespace tokenizer;

template <typename T> static Slice append(Bytes &bytes, const std::vector<T> &items) {
  bytes.resize((bytes.size() + 7) / 8 * 8);
  Slice slice = {static_cast<uint32_t>(bytes.size()), static_cast<uint32_t>(items.size())};
  auto *begin = reinterpret_cast<const unsigned char *>(items.data());
  bytes.insert(bytes.end(), begin, begin + items.size() * sizeof(T));
  return slice;
}

static void addTokens(std::vector<char> &pool, std::vector<Token> &tokens) {
  for (int id = 0; id <= endToken; ++id) {
    char text[8];
    snprintf(text, sizeof(text), id < endToken ? "<0x%02X>" : "</s>", id);
    auto offset = static_cast<uint32_t>(pool.size());
    pool.insert(pool.end(), text, text + strlen(text));
    uint32_t flags = tokenPresent | (id < endToken ? 0u : tokenSpecial | tokenAdded);
    tokens.push_back({{offset, static_cast<uint32_t>(strlen(text))}, flags});
  }
}

Bytes makeByteTokenizer() {
  Header header = {};
  std::vector<char> pool;
  std::vector<Token> tokens;
  addTokens(pool, tokens);
  Bytes bytes(sizeof(Header));
  memcpy(header.magic, sectionMagic, sizeof(sectionMagic));
  header.version = tokenizer::formatVersion;
  header.pool = append(bytes, pool);
  header.tokens = append(bytes, tokens);
  header.mergeFirst = append(bytes, std::vector<uint32_t>(tokens.size() + 1));
  header.sets = append(bytes, std::vector<CharSet>(1));  // whitespace: none
  header.decoders = append(bytes, std::vector<Op>{{uint32_t(DecodeOp::ByteFallback), 0, 0, {}, {}},
                                                  {uint32_t(DecodeOp::Fuse), 0, 0, {}, {}}});
  header.single = append(bytes, std::vector<TemplateItem>{{uint32_t(ItemKind::SequenceA), 0, 0}});
  header.wordCharacters = none;
  header.model = {uint32_t(ModelKind::Bpe), modelByteFallback, none, 0, none, none, {}, {}, {}};
  for (uint32_t byte = 0; byte < 256; ++byte)
    header.model.byteTokens[byte] = byte;
  header.sectionSize = static_cast<uint32_t>(bytes.size());
  memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

}  // namespace talc::test
