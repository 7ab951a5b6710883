// SPDX-License-Identifier: Apache-2.0
// Candidates are ordered by token, and so is every output.
#include "runtime/session/CandidateScores.h"

#include "runtime/sampling/TokenScores.h"

#include <cstring>

namespace talc {

using artifact::maxOutputs;

static int32_t tokenIndex(const talc_candidates &candidates, int32_t number) {
  return candidates.rows ? candidates.rows[number] : number;
}

Status CandidateScores::plan(const talc_sequence *sequences, const talc_candidates *candidates, int32_t count) {
  for (logits = 0; logits < model.resultCount(); ++logits)
    if (model.info().outputs[logits].kind == static_cast<uint32_t>(artifact::OutputKind::Logits))
      break;
  if (logits == model.resultCount())
    return Status::failure(TALC_ERROR_KIND, "%s: talc_score needs a model with logits, and this has none",
                           model.name().c_str());
  for (int32_t i = 0; i < count; ++i)
    if (Status status = check(sequences[i], candidates[i], i); status.failed())
      return status;
  lists.resize(count);
  wantedRows.assign(count, {});
  for (int32_t i = 0; i < count; ++i) {
    addRows(candidates[i], lists[i]);
    for (int64_t output = 0; output < maxOutputs; ++output)
      if (const std::vector<int32_t> &rows = lists[i][output]; !rows.empty())
        wantedRows[i][output] = {TALC_ROWS_LISTED, static_cast<int32_t>(rows.size()), rows.data()};
  }
  return {};
}

Status CandidateScores::check(const talc_sequence &sequence, const talc_candidates &candidates, int32_t index) const {
  const char *file = model.name().c_str();
  for (const talc_wanted &wanted : sequence.wanted) {
    int32_t rows;  // a program in C may have stored any number
    memcpy(&rows, &wanted.rows, sizeof(rows));
    if (rows != TALC_ROWS_NONE)
      return Status::failure(TALC_ERROR_ARGUMENT,
                             "%s: sequence %d asks for rows of results, which talc_score does not leave; expected "
                             "TALC_ROWS_NONE",
                             file, index);
  }
  for (int32_t reserved : candidates.reserved)
    if (reserved != 0)
      return Status::failure(TALC_ERROR_ARGUMENT, "%s: candidates of sequence %d: reserved is %d, expected 0", file,
                             index, reserved);
  if (candidates.count < 0 || (candidates.count > 0 && (!candidates.ids || !candidates.log_probabilities)))
    return Status::failure(TALC_ERROR_ARGUMENT,
                           "%s: sequence %d has %d candidates; expected 0, or more with ids and log_probabilities that "
                           "are not NULL",
                           file, index, candidates.count);
  for (int32_t i = 0, least = 0; i < candidates.count; least = tokenIndex(candidates, i++))
    if (tokenIndex(candidates, i) < least || tokenIndex(candidates, i) >= sequence.count)
      return Status::failure(TALC_ERROR_ARGUMENT,
                             "%s: candidate %d of sequence %d is in the row %d, expected %d to %d (ascending)", file, i,
                             index, tokenIndex(candidates, i), least, sequence.count - 1);
  return model.checkIds(candidates.ids, candidates.count, model.info().vocabularySize, "candidates of sequence", index);
}

// The outputs that a candidate's log-probability needs.
LogitParts::Sum CandidateScores::find(int32_t word) const {
  auto column = static_cast<uint32_t>(word);
  return parts.exist() ? parts.find(column) : LogitParts::Sum{{logits, column}, {-1, 0}};
}

void CandidateScores::addRows(const talc_candidates &candidates, Lists &lists) const {
  for (std::vector<int32_t> &rows : lists)
    rows.clear();
  for (int32_t i = 0; i < candidates.count; ++i) {
    LogitParts::Sum sum = find(candidates.ids[i]);
    for (int32_t output : {sum.first.output, sum.second.output})
      if (output >= 0 && (lists[output].empty() || lists[output].back() != tokenIndex(candidates, i)))
        lists[output].push_back(tokenIndex(candidates, i));
  }
}

namespace {

// The rows of a sequence's output, in order.
class RowReader {
public:
  void begin(const float *rows, size_t newWidth) {
    next = rows;
    width = newWidth;
  }

  // Moves to the row of a token no earlier than the one before; returns whether it is another one.
  bool take(int32_t token) {
    if (token == currentRow)
      return false;
    row = next;
    next += width;
    currentRow = token;
    return true;
  }
  float at(LogitParts::Place place, int32_t token) {
    take(token);
    return row[place.column];
  }
  double logProbability(LogitParts::Place place, int32_t token) {
    if (take(token))
      logarithms = LogProbabilities(row, width);
    return logarithms.of(static_cast<int32_t>(place.column));
  }

private:
  const float *next = nullptr, *row = nullptr;
  size_t width = 0;
  int32_t currentRow = -1;
  LogProbabilities logarithms;
};

}  // namespace

void CandidateScores::write(const talc_candidates &candidates,
                            const std::function<const float *(int32_t output)> &rowsOf) const {
  RowReader readers[maxOutputs];
  for (int32_t output = 0; output < maxOutputs; ++output)
    readers[output].begin(rowsOf(output), model.info().outputs[output].width);
  for (int32_t i = 0; i < candidates.count; ++i) {
    auto [first, second] = find(candidates.ids[i]);
    int32_t row = tokenIndex(candidates, i);
    float &result = candidates.log_probabilities[i];
    if (parts.exist())
      result = readers[first.output].at(first, row) + (second.output < 0 ? 0 : readers[second.output].at(second, row));
    else
      result = static_cast<float>(readers[first.output].logProbability(first, row));
  }
}

}  // namespace talc
