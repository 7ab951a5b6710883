// SPDX-License-Identifier: Apache-2.0
// Lays the tokens of a step end to end, and holds the state between steps.
#include "compiler/reference/Interpreter.h"

#include "compiler/Error.h"
#include "compiler/reference/AttentionOps.h"
#include "compiler/reference/Evaluation.h"

#include <set>

namespace talc::reference {

Interpreter::Interpreter(mlir::ModuleOp module, Entries model, ActivationPrecision precision)
    : module(module), model(model), precision(precision), weights(module) {
  auto maxSequence = module->getAttrOfType<mlir::IntegerAttr>(maxSequenceAttr);
  if (module->hasAttr(segmentedAttr) && maxSequence)
    segment = maxSequence.getInt();
}

llvm::Expected<Interpreter> Interpreter::create(mlir::ModuleOp module, ActivationPrecision precision) {
  llvm::Expected<Entries> entries = Entries::find(module);
  if (!entries)
    return entries.takeError();
  return Interpreter(module, *entries, precision);
}

llvm::Error Interpreter::checkLength(const SequenceTokens &rows, bool isSource) {
  auto limit = module->getAttrOfType<mlir::IntegerAttr>(maxSequenceAttr);
  int64_t length = rows.length();
  if (limit && length > limit.getInt())
    return makeError(ErrorCode::Usage, "a sequence of {} tokens is longer than the model's {}", length, limit.getInt());
  for (auto state : module.getOps<KvCacheOp>()) {
    auto type = mlir::cast<KvCacheType>(state.getType());
    if (!type.holdsTokens() ||
        (type.getRole() != KvCacheRole::step && (type.getRole() == KvCacheRole::source) != isSource))
      continue;
    if (length > type.getCapacity() && !type.isRing())
      return makeError(ErrorCode::Usage, "a sequence of {} tokens does not fit in the state '{}' of {}", length,
                       state.getSymName().str(), type.getCapacity());
  }
  return llvm::Error::success();
}

static llvm::Error checkOutputTokens(const std::vector<int64_t> &outputTokens, int64_t tokens) {
  for (size_t i = 0; i < outputTokens.size(); ++i)
    if (outputTokens[i] < 0 || outputTokens[i] >= tokens || (i > 0 && outputTokens[i] <= outputTokens[i - 1]))
      return makeError(ErrorCode::Usage, "the outputTokens tokens of a sequence must be ascending and among its {}",
                       tokens);
  return llvm::Error::success();
}

static llvm::Error checkSequence(const Interpreter::Sequence &sequence, int64_t position, int64_t results) {
  auto tokens = static_cast<int64_t>(sequence.ids.size());
  if (tokens == 0)
    return makeError(ErrorCode::Usage, "a sequence brings no token to the step");
  if (!sequence.types.empty() && sequence.types.size() != sequence.ids.size())
    return makeError(ErrorCode::Usage, "a sequence of {} tokens has {} token types", tokens, sequence.types.size());
  if (sequence.prefix < 0 || (sequence.prefix > 0 && position > 0) || sequence.prefix > tokens)
    return makeError(ErrorCode::Usage, "a prefix of {} tokens does not come with the first {} of its sequence",
                     sequence.prefix, tokens);
  for (int64_t i = 0; i < std::min<int64_t>(results, sequence.outputTokens.size()); ++i)
    if (llvm::Error error = checkOutputTokens(sequence.outputTokens[i], tokens))
      return error;
  return llvm::Error::success();
}

llvm::Error Interpreter::addRows(const Sequence &sequence, bool isSource, StepSequences &step) {
  auto tokens = static_cast<int64_t>(sequence.ids.size());
  int sourceSlot = sequence.sourceSlot.value_or(sequence.slot);
  auto source = sourceLengths.find(sourceSlot);
  int64_t before = isSource ? 0 : position(sequence.slot);
  SequenceTokens rows{sequence.slot,
                      step.rows(),
                      tokens,
                      segment ? before % segment : before,
                      sequence.prefix,
                      sourceSlot,
                      source == sourceLengths.end() ? 0 : source->second,
                      segment ? before / segment : 0};
  if (llvm::Error error = checkLength(rows, isSource))
    return error;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    std::vector<int64_t> outputTokens =
        i < sequence.outputTokens.size() ? sequence.outputTokens[i] : std::vector<int64_t>{tokens - 1};
    for (int64_t token : outputTokens)
      step.outputs[i].push_back(rows.firstRow + token);
  }
  for (int64_t r = 0; r < tokens; ++r) {
    step.positions.push_back(rows.firstPosition + r);
    step.types.push_back(sequence.types.empty() ? 0 : sequence.types[r]);
  }
  step.sequences.push_back(rows);
  return llvm::Error::success();
}

llvm::Expected<StepSequences> Interpreter::layOut(llvm::ArrayRef<Sequence> sequences, bool sources) {
  StepSequences result;
  result.outputs.resize(sources ? 0 : results());
  std::set<int> slots;
  for (const Sequence &sequence : sequences) {
    if (!slots.insert(sequence.slot).second)
      return makeError(ErrorCode::Usage, "two sequences of a step share the slot {}", sequence.slot);
    if (llvm::Error error = checkSequence(sequence, sources ? 0 : position(sequence.slot), result.outputs.size()))
      return error;
    if (llvm::Error error = addRows(sequence, sources, result))
      return error;
  }
  return result;
}

llvm::Expected<std::vector<MatrixPtr>>
Interpreter::evaluate(mlir::func::FuncOp entry, llvm::ArrayRef<Sequence> sequences, const StepSequences &step) {
  std::vector<int32_t> ids;
  for (const Sequence &sequence : sequences)
    ids.insert(ids.end(), sequence.ids.begin(), sequence.ids.end());
  bool trains = entry.getNumArguments() == 3;
  TrainingStep training = {{}, gradients};
  for (const Sequence &sequence : sequences)
    training.labels.insert(training.labels.end(), sequence.labels.begin(), sequence.labels.end());
  if (trains && training.labels.size() != step.outputs.front().size())
    return makeError(ErrorCode::Usage, "{} labels for {} tokens", training.labels.size(), step.outputs.front().size());
  return Evaluation(step, ids, weights, states, precision, trains ? &training : nullptr).run(entry);
}

// A model that does not select the outputTokens rows itself returns all rows of the step.
static llvm::Expected<Matrix> selectOutputs(const Matrix &result, size_t output, const StepSequences &step) {
  const std::vector<int64_t> &outputTokens = step.outputs[output];
  if (result.rows == static_cast<int64_t>(outputTokens.size()))
    return result;
  if (result.rows == step.rows())
    return pick(result, outputTokens);
  return makeError(ErrorCode::Program, "result {} has {} rows, expected {}", output, result.rows, outputTokens.size());
}

llvm::Expected<std::vector<Matrix>> Interpreter::step(llvm::ArrayRef<Sequence> sequences) {
  return segment ? stepBySegments(sequences) : stepInSegments(sequences);
}

llvm::Expected<std::vector<Matrix>> Interpreter::stepInSegments(llvm::ArrayRef<Sequence> sequences) {
  llvm::Expected<StepSequences> layout = layOut(sequences, false);
  if (!layout)
    return layout.takeError();
  auto matrices = evaluate(model.decode && layout->rows() == 1 ? model.decode : model.entry, sequences, *layout);
  if (!matrices)
    return matrices.takeError();
  std::vector<Matrix> results;
  for (size_t i = 0; i < matrices->size(); ++i) {
    llvm::Expected<Matrix> result = selectOutputs(*(*matrices)[i], i, *layout);
    if (!result)
      return result.takeError();
    results.push_back(std::move(*result));
  }
  for (const SequenceTokens &sequence : layout->sequences)
    lengths[sequence.slot] += sequence.rows;
  return results;
}

llvm::Error Interpreter::encode(llvm::ArrayRef<Sequence> sources) {
  if (!model.encode)
    return makeError(ErrorCode::Usage, "the model takes no sources");
  llvm::Expected<StepSequences> layout = layOut(sources, true);
  if (!layout)
    return layout.takeError();
  for (const Sequence &source : sources)
    release(source.slot);
  auto nothing = evaluate(model.encode, sources, *layout);
  if (!nothing)
    return nothing.takeError();
  for (const SequenceTokens &source : layout->sequences)
    sourceLengths[source.slot] = source.rows;
  return llvm::Error::success();
}

int64_t Interpreter::position(int slot) const {
  auto length = lengths.find(slot);
  return length == lengths.end() ? 0 : length->second;
}

void Interpreter::release(int slot) {
  lengths.erase(slot);
  sourceLengths.erase(slot);
  for (auto &state : states)
    state.second.erase(slot);
}

}  // namespace talc::reference
