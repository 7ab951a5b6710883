// SPDX-License-Identifier: Apache-2.0
// Inputs are numbered from 0; finished ones are freed, so that a stream may continue forever.
#include "runtime/program/input/Inputs.h"

#include <algorithm>
#include <cstdio>

namespace talc::program {

// The number of lines that are ordered at a time: enough for some batches, but few to wait for, since results keep the
// file's order.
constexpr ptrdiff_t sortedLines = 256;

void Inputs::take(std::vector<Prompt> inputs) {
  for (Prompt &prompt : inputs) {
    order.push_back(count());
    prompts.push_back(std::move(prompt));
  }
}

Status Inputs::open(const std::string &path, bool linesAreJson, bool linesMayBePairs, Check wanted) {
  readsLines = true;
  readsJson = linesAreJson;
  takesPairs = linesMayBePairs;
  name = shownName(path);
  check = std::move(wanted);
  return reader.open(path);
}

Status Inputs::fetch(bool waits) {
  lines.clear();
  if (!readsLines)
    return {};
  if (Status status = reader.read(waits, lines); status.failed())
    return status;
  auto begin = static_cast<ptrdiff_t>(order.size());
  for (std::string &line : lines)
    if (Status status = addLine(std::move(line)); status.failed())
      return status;
  auto longer = [&](size_t a, size_t b) {
    size_t ofA = (*this)[a].ids.size(), ofB = (*this)[b].ids.size();
    return ofA != ofB ? ofA > ofB : a < b;
  };
  for (ptrdiff_t end; begin < static_cast<ptrdiff_t>(order.size()); begin = end) {
    end = std::min<ptrdiff_t>(begin + sortedLines, order.size());
    std::sort(order.begin() + begin, order.begin() + end, longer);
  }
  return {};
}

// A text that is wrong does not stop the others.
static bool concernsOneLine(const Status &status) {
  return status.code() == TALC_ERROR_TEXT || status.code() == TALC_ERROR_STATE_FULL ||
         status.code() == TALC_ERROR_USAGE;
}

Status Inputs::readLine(std::string line, const std::string &place, Prompt &prompt) {
  JsonLine parsed;
  if (!readsJson)
    parsed.text = std::move(line);
  else if (Status status = line.empty() ? Status() : readJsonLine(line, place, parsed); status.failed())
    return status;
  if (parsed.pair && !takesPairs)
    return Status::failure(TALC_ERROR_TEXT, "%s: has a second text, but this model reads no pairs", place.c_str());
  prompt.text = std::move(parsed.text);
  return tokenizeLine(model, rules, place, parsed.pair ? &*parsed.pair : nullptr, prompt);
}

Status Inputs::addLine(std::string line) {
  size_t input = count();
  Prompt prompt;
  std::string place = name + ": line " + std::to_string(input + 1);
  Status status = readLine(std::move(line), place, prompt);
  if (!status.failed())
    beginTokens.settle(prompt, place);
  prefix.putBefore(prompt);
  if (!status.failed() && !prompt.ids.empty())
    status = check(prompt, place);
  if (status.failed() && !concernsOneLine(status))
    return status;
  if (status.failed()) {
    fprintf(stderr, "%s\n", status.text().c_str());
    code = failed++ == 0 ? status.code() : code;
    prompt = {};
    prompt.error = status.text();
  }
  (prompt.ids.empty() ? empty : order).push_back(input);
  prompts.push_back(std::move(prompt));
  return {};
}

void Inputs::release(size_t input) {
  prompts[input - first] = {};
  while (!prompts.empty() && prompts.front().ids.empty()) {
    prompts.pop_front();
    ++first;
  }
}

static size_t takeFront(std::deque<size_t> &queue) {
  size_t front = queue.front();
  queue.pop_front();
  return front;
}

size_t Inputs::takeNext() {
  return takeFront(order);
}

std::optional<size_t> Inputs::takeEmpty() {
  return empty.empty() ? std::nullopt : std::optional<size_t>(takeFront(empty));
}

}  // namespace talc::program
