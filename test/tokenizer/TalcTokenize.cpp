// SPDX-License-Identifier: Apache-2.0
// A program for the tests: compiles a tokenizer.json, or the tokenizer of a model directory or of a GGUF file, and
// encodes or decodes what stands on standard input.
//
//   talc-tokenize FILE MODE [OPTIONS]
//     check        compile and open only; prints the size of the section's vocabulary
//     encode       one text per line; prints its ids on one line
//     types        one text, or two with a tab between them, per line; prints id:type for every token
//     find         one spelling per line; prints the id of that token, or -1
//     special      prints the ids of all special tokens
//     decode       ids per line; prints the text
//     roundtrip    one text per line; prints decode(encode(text))
//     golden       lines {"text", "ids", "decoded", ...}; prints what differs and how many agree. A line {"patch": ...}
//                  applies a JSON merge patch to FILE for the lines that follow
//     stream       ids per line; prints the pieces that a TextStream gives, each in brackets
//     streams      random ids, in every cut; prints how many a TextStream and decoding at once read alike. Lines
//                  {"patch": ...} as above: the same for each of these tokenizers
//     corrupt      flips bytes of the section, encodes with what still opens; prints how many opened
//     repeat S N   encodes S repeated N times; prints the number of ids
//   OPTIONS: --json (lines are JSON strings), --no-special, --plain (special tokens in the text are text)
#include "frontends/gguf/Gguf.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/tokenizer/TokenizerCompiler.h"
#include "runtime/tokenizer/TextStream.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using Json = nlohmann::json;

namespace {

struct Options {
  bool json = false, addSpecial = true, parseSpecial = true;
};

int fail(const std::string &error) {
  std::cerr << error << "\n";
  return 1;
}

std::string readText(const std::string &line, const Options &options) {
  if (!options.json)
    return line;
  Json json = Json::parse(line, nullptr, false);
  return json.is_string() ? json.get<std::string>() : line;
}

void print(const std::vector<int32_t> &ids) {
  for (size_t i = 0; i < ids.size(); ++i)
    std::cout << (i ? " " : "") << ids[i];
  std::cout << "\n";
}

std::vector<int32_t> readIds(const std::string &line) {
  std::istringstream stream(line);
  std::vector<int32_t> ids;
  for (int32_t id; stream >> id;)
    ids.push_back(id);
  return ids;
}

bool printTypes(const talc::Tokenizer &tokenizer, const std::string &text, const Options &options, std::string &error) {
  std::vector<int32_t> ids, types;
  size_t tab = text.find('\t');
  bool isParsed = tab == std::string::npos
                      ? tokenizer.encode(text, ids, error, options.addSpecial, options.parseSpecial, &types)
                      : tokenizer.encodePair(text.substr(0, tab), text.substr(tab + 1), ids, types, error,
                                             options.addSpecial, options.parseSpecial);
  for (size_t i = 0; i < ids.size(); ++i)
    std::cout << (i ? " " : "") << ids[i] << ":" << types[i];
  std::cout << "\n";
  return isParsed;
}

int runLines(const talc::Tokenizer &tokenizer, const std::string &mode, const Options &options) {
  std::string error;
  for (std::string line; std::getline(std::cin, line);) {
    if (mode == "decode") {
      std::vector<int32_t> ids = readIds(line);
      std::cout << tokenizer.decode(ids.data(), ids.size(), !options.addSpecial) << "\n";
      continue;
    }
    if (mode == "stream") {
      talc::TextStream stream(tokenizer);
      talc::DecodeScratch scratch;
      for (int32_t id : readIds(line))
        std::cout << "[" << stream.push(id, scratch) << "]";
      std::cout << "[" << stream.finish(scratch) << "]\n";
      continue;
    }
    if (mode == "find") {
      std::cout << tokenizer.findToken(readText(line, options)) << "\n";
      continue;
    }
    std::vector<int32_t> ids;
    if (mode == "types") {
      if (!printTypes(tokenizer, readText(line, options), options, error))
        return fail(error);
      continue;
    }
    if (!tokenizer.encode(readText(line, options), ids, error, options.addSpecial, options.parseSpecial))
      return fail(error);
    if (mode == "encode")
      print(ids);
    else
      std::cout << tokenizer.decode(ids.data(), ids.size()) << "\n";
  }
  return 0;
}

// Whether one golden line holds; prints what does not.
bool agrees(const talc::Tokenizer &tokenizer, const Json &line) {
  auto text = line.value("text", std::string());
  std::vector<int32_t> ids;
  std::string error;
  bool ok = true;
  auto compare = [&](const char *what, const Json &found) {
    if (!line.contains(what) || line[what] == found)
      return;
    ok = false;
    std::cout << Json(text).dump() << "\n  " << what << " found    " << found.dump() << "\n  " << what << " expected "
              << line[what].dump() << "\n";
  };
  if (!tokenizer.encode(text, ids, error))
    return std::cout << error << "\n", false;
  compare("ids", ids);
  compare("decoded", tokenizer.decode(ids.data(), ids.size()));
  ids.clear();
  if (!tokenizer.encode(text, ids, error, false, false))
    return std::cout << error << "\n", false;
  compare("plain", ids);
  if (line.contains("second")) {
    std::vector<int32_t> pair, types;
    if (!tokenizer.encodePair(text, line.value("second", std::string()), pair, types, error))
      return false;
    compare("pair", pair);
    compare("types", types);
  }
  return ok;
}

// A tokenizer and the bytes that it interprets.
struct Compiled {
  std::vector<uint8_t> section;
  std::unique_ptr<talc::Tokenizer> tokenizer;

  bool open(std::optional<std::vector<uint8_t>> bytes, std::string &error) {
    if (!bytes)
      return false;
    section = std::move(*bytes);
    return section.empty() || talc::Tokenizer::open(section.data(), section.size(), tokenizer, error);
  }
  bool compile(const std::string &json, const std::string &name, std::string &error) {
    return open(talc::frontend::compileTokenizer(json, name, error), error);
  }
  // A tokenizer.json, a GGUF file or a model directory.
  bool compile(const std::string &path, std::string &error) {
    if (!std::filesystem::is_directory(path))
      return open(talc::isGguf(path) ? talc::compileGgufTokenizer(path, error)
                                     : talc::frontend::compileTokenizerFile(path, error),
                  error);
    std::vector<std::string> warnings;
    auto bytes = talc::frontend::compileTokenizerDirectory(path, error, &warnings);
    for (const std::string &warning : warnings)
      std::cerr << warning << "\n";
    return open(std::move(bytes), error);
  }
};

int runGolden(const std::string &path) {
  Compiled compiled;
  std::string error;
  if (!compiled.compile(path, error) || !compiled.tokenizer)
    return fail(error);
  size_t agreed = 0, count = 0;
  for (std::string text; std::getline(std::cin, text);) {
    Json line = Json::parse(text, nullptr, false);
    if (!line.is_object())
      return fail("no JSON object: " + text);
    if (line.contains("patch")) {
      Json patched = Json::parse(std::ifstream(path), nullptr, false);
      patched.merge_patch(line["patch"]);
      if (!compiled.compile(patched.dump(), path, error))
        return fail(error);
      continue;
    }
    agreed += agrees(*compiled.tokenizer, line);
    ++count;
  }
  std::cout << agreed << " of " << count << " agree\n";
  return agreed == count ? 0 : 1;
}

uint64_t nextRandom(uint64_t &state) {
  return state ^= state << 13, state ^= state >> 7, state ^= state << 17;
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The text that a stream gives for ids from `begin` on, of which those before are a prompt.
std::string streamFrom(const talc::Tokenizer &tokenizer, const std::vector<int32_t> &ids, size_t begin, bool skip) {
  talc::TextStream stream(tokenizer, skip);
  talc::DecodeScratch scratch;
  stream.follow(ids.data(), begin, scratch);
  std::string text;
  for (size_t i = begin; i < ids.size(); ++i)
    text += stream.push(ids[i], scratch);
  return text += stream.finish(scratch);
}

// Whether no text is lost, added or changed. A prompt whose text depends on what follows has no text of its own.
bool streamsAlike(const talc::Tokenizer &tokenizer, const std::vector<int32_t> &ids, bool skip) {
  std::string text = tokenizer.decode(ids.data(), ids.size(), skip);
  bool isAlike = streamFrom(tokenizer, ids, 0, skip) == text;
  for (size_t cut = 1; cut < ids.size(); ++cut) {
    std::string before = tokenizer.decode(ids.data(), cut, skip), after = streamFrom(tokenizer, ids, cut, skip);
    bool isSettled = text.compare(0, before.size(), before) == 0 && !endsWith(before, "\xEF\xBF\xBD");
    isAlike &= !isSettled || before + after == text;
  }
  if (!isAlike)
    print(ids);
  return isAlike;
}

// Half of the ids are among the first, where special tokens and bytes mostly are.
size_t countAlike(const talc::Tokenizer &tokenizer, size_t count) {
  uint64_t state = 88172645463325252ull;
  auto vocabulary = static_cast<uint64_t>(tokenizer.vocabularySize());
  size_t alike = 0;
  for (size_t text = 0; text < count; ++text) {
    std::vector<int32_t> ids(1 + nextRandom(state) % 24);
    for (int32_t &id : ids)
      id = static_cast<int32_t>(nextRandom(state) %
                                (nextRandom(state) % 2 ? vocabulary : std::min<uint64_t>(vocabulary, 260)));
    alike += streamsAlike(tokenizer, ids, text % 4 != 0);
  }
  return alike;
}

int runStreams(const std::string &path) {
  constexpr size_t count = 200;
  Compiled compiled;
  std::string error;
  if (!compiled.compile(path, error) || !compiled.tokenizer)
    return fail(error);
  size_t alike = countAlike(*compiled.tokenizer, count), all = count;
  for (std::string text; std::getline(std::cin, text);) {
    Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("patch"))
      continue;
    Json patched = Json::parse(std::ifstream(path), nullptr, false);
    patched.merge_patch(line["patch"]);
    if (!compiled.compile(patched.dump(), path, error))
      return fail(error);
    alike += countAlike(*compiled.tokenizer, count), all += count;
  }
  std::cout << alike << " of " << all << " texts alike\n";
  return alike == all ? 0 : 1;
}

// Damages the section in many ways; the point is that nothing crashes or hangs.
int runCorrupt(const std::vector<uint8_t> &section) {
  size_t opened = 0, refused = 0;
  uint64_t random = 88172645463325252ull;
  auto next = [&] { return random ^= random << 13, random ^= random >> 7, random ^= random << 17; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> damaged = section;
    size_t limit = round % 2 ? damaged.size() : std::min<size_t>(damaged.size(), 2048);
    for (int i = 0; i < 1 + round % 4; ++i)
      damaged[next() % limit] = static_cast<uint8_t>(next());
    std::unique_ptr<talc::Tokenizer> tokenizer;
    std::string error;
    std::vector<int32_t> ids;
    if (!talc::Tokenizer::open(damaged.data(), damaged.size(), tokenizer, error)) {
      if (refused++ == 0)
        std::cout << error << "\n";
      continue;
    }
    ++opened;
    tokenizer->encode("Once upon a time, l\xC3\xA9 \xE4\xBD\xA0\xE5\xA5\xBD 12345 <|endoftext|>", ids, error);
    tokenizer->decode(ids.data(), ids.size());
  }
  std::cout << "opened some: " << (opened > 0 ? "yes" : "no") << "\n";
  return 0;
}

int runRepeat(const talc::Tokenizer &tokenizer, const std::string &part, size_t count) {
  std::string text, error;
  for (size_t i = 0; i < count; ++i)
    text += part;
  std::vector<int32_t> ids;
  if (!tokenizer.encode(text, ids, error))
    return fail(error);
  std::cout << ids.size() << " ids\n";
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return fail("usage: talc-tokenize FILE MODE [OPTIONS]");
  Options options;
  for (int i = 3; i < argc; ++i) {
    options.json |= !std::strcmp(argv[i], "--json");
    if (!std::strcmp(argv[i], "--no-special"))
      options.addSpecial = false;
    if (!std::strcmp(argv[i], "--plain"))
      options.parseSpecial = false;
  }
  std::string error, mode = argv[2];
  if (mode == "golden")
    return runGolden(argv[1]);
  if (mode == "streams")
    return runStreams(argv[1]);
  Compiled compiled;
  if (!compiled.compile(argv[1], error))
    return fail(error);
  if (!compiled.tokenizer)
    return std::cout << "no tokenizer\n", 0;
  if (mode == "check")
    return std::cout << compiled.tokenizer->vocabularySize() << " tokens\n", 0;
  if (mode == "special")
    return print(compiled.tokenizer->specialTokens()), 0;
  if (mode == "corrupt")
    return runCorrupt(compiled.section);
  if (mode == "repeat" && argc >= 5)
    return runRepeat(*compiled.tokenizer, readText(argv[3], options), std::strtoul(argv[4], nullptr, 10));
  return runLines(*compiled.tokenizer, mode, options);
}
