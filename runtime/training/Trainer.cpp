// SPDX-License-Identifier: Apache-2.0
// Runs steps of training and AdamW. All sums have a fixed order, so that threads do not change a bit.
#include "runtime/training/Trainer.h"

#include "runtime/training/AdamW.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace talc {

using namespace artifact;

constexpr uint64_t segmentElements = 1 << 14;
constexpr int32_t defaultTrainingTokens = 2048, maxStepSequences = 65536;

// ---- Areas

Status Trainer::create(const Model &model, const talc_trainer_options &options, std::unique_ptr<Trainer> &trainer) {
  if (model.kind() != ModelKind::Trainer)
    return Status::failure(TALC_ERROR_KIND,
                           "%s: was not compiled for training; compile it with --train, or use talc train",
                           model.name().c_str());
  std::unique_ptr<Trainer> created(new Trainer(model));
  uint64_t stored = model.info().weightBytes - model.info().tableBytes;
  if (Status status = created->trainingTables.open(model.artifact(), stored / sizeof(float)); status.failed())
    return status;
  created->stepTokens = options.step_tokens ? options.step_tokens : defaultTrainingTokens;
  WorkspaceOptions space = {};
  space.threads = options.threads;
  space.slots = static_cast<int32_t>(std::min<int64_t>(created->stepTokens, maxStepSequences));
  if (Status status = model.loaded().createWorkspace(space, created->workspace); status.failed())
    return status;
  if (Status status = created->allocate(); status.failed())
    return status;
  created->loadParameters();
  created->divideParameters();
  trainer = std::move(created);
  return {};
}

Status Trainer::allocate() {
  const unsigned char *stored = model.loaded().hostWeights();
  if (!stored)
    return Status::failure(TALC_ERROR_KIND, "%s: is trained on CPUs only; open it with the device cpu",
                           model.name().c_str());
  uint64_t bytes = trainingTables.header().areaFloats * sizeof(float),
           weightBytes = model.info().weightBytes - model.info().tableBytes;
  bool isWhole = weightCopy.growZeros(weightBytes);
  for (Mapping &memory : areas)
    isWhole = isWhole && memory.growZeros(bytes);
  if (!isWhole)
    return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for parameters, gradients and moments: %s",
                           model.name().c_str(), strerror(errno));
  memcpy(weightCopy.data(), stored, weightBytes);
  return {};
}

void Trainer::divideParameters() {
  for (const TrainingMatrix &parameter : trainingTables.parameters()) {
    uint64_t end = parameter.offset + parameter.rows * parameter.columns;
    for (uint64_t begin = parameter.offset; begin < end; begin += segmentElements)
      segments.push_back({begin, std::min(segmentElements, end - begin), parameter.rank > 1});
  }
  segmentSums.resize(segments.size());
}

template <typename Task> void Trainer::runTasks(size_t count, Task task) {
  workspace->runTasks(
      static_cast<int64_t>(count), [](void *context, int64_t index) { (*static_cast<Task *>(context))(index); }, &task);
}

void Trainer::loadParameters() {
  const auto &weights = trainingTables.weights();
  for (const TrainingMatrix &weight : weights)
    trainingTables.loadWeight(weight, this->weights(), area(TALC_PARAMETER));
}

// A task is a few panels of a weight.
void Trainer::storeWeights() {
  struct Part {
    const TrainingMatrix *weight;
    uint64_t begin, end;
  };
  std::vector<Part> parts;
  for (const TrainingMatrix &weight : trainingTables.weights()) {
    uint64_t rows = std::max<uint64_t>(1, (1 << 16) / weight.columns / weight.lanes) * weight.lanes;
    for (uint64_t begin = 0; begin < weight.rows; begin += rows)
      parts.push_back({&weight, begin, std::min(weight.rows, begin + rows)});
  }
  runTasks(parts.size(), [&](int64_t index) {
    const Part &part = parts[index];
    trainingTables.storeWeight(*part.weight, part.begin, part.end, area(TALC_PARAMETER), weights());
  });
}

void Trainer::read(size_t tensor, talc_trainer_part part, float *values) const {
  trainingTables.readTensor(tensor, area(part), part == TALC_PARAMETER, values);
}

void Trainer::write(size_t tensor, talc_trainer_part part, const float *values) {
  trainingTables.writeTensor(tensor, values, part == TALC_PARAMETER, area(part));
  if (part == TALC_PARAMETER)
    storeWeights();
}

// ---- Gradients

Status Trainer::checkSequences(const talc_training_sequence *sequences, int32_t count, int64_t &labels) const {
  const char *name = model.name().c_str();
  labels = 0;
  for (int32_t i = 0; i < count; ++i) {
    const talc_training_sequence &sequence = sequences[i];
    if (!sequence.ids || !sequence.labels || sequence.count < 1)
      return Status::failure(TALC_ERROR_ARGUMENT, "%s: sequence %d has no tokens or no labels", name, i);
    if (sequence.count > model.capacity())
      return Status::failure(TALC_ERROR_STATE_FULL, "%s: sequence %d has %d tokens, but the model takes %d", name, i,
                             sequence.count, model.capacity());
    if (Status status = model.checkIds(sequence.ids, sequence.count, model.info().vocabularySize, "sequence", i);
        status.failed())
      return status;
    for (int32_t t = 0; t < sequence.count; ++t) {
      auto limit = static_cast<int64_t>(trainingTables.header().labelCount);
      if (sequence.labels[t] >= limit)
        return Status::failure(TALC_ERROR_TOKEN, "%s: sequence %d: label %d is %d, outside 0 to %d", name, i, t,
                               sequence.labels[t], static_cast<int32_t>(limit - 1));
      labels += sequence.labels[t] >= 0;
    }
  }
  return labels > 0 ? Status() : Status::failure(TALC_ERROR_BATCH, "%s: no token has a label", name);
}

Status Trainer::accumulate(const talc_training_sequence *sequences, int32_t count, int64_t allLabels, double &loss) {
  int64_t labels = 0;
  if (Status status = checkSequences(sequences, count, labels); status.failed())
    return status;
  const float lossScale = 1.0F / static_cast<float>(allLabels > 0 ? allLabels : labels);
  loss = 0;
  for (int32_t begin = 0; begin < count;) {
    int32_t end = begin;
    for (int64_t tokens = 0; end < count && end - begin < maxStepSequences; ++end) {
      tokens += sequences[end].count;
      if (end > begin && tokens > stepTokens)
        break;
    }
    if (Status status = run(sequences + begin, end - begin, lossScale, loss); status.failed())
      return status;
    begin = end;
  }
  return {};
}

// The sequences of a step, laid end to end.
struct Trainer::Step {
  std::vector<int32_t> ids, labels, wanted;
  std::vector<StepToken> tokens;
  std::vector<Span> spans;

  void add(const talc_training_sequence &sequence) {
    auto first = static_cast<int32_t>(ids.size()), slot = static_cast<int32_t>(spans.size());
    for (int32_t t = 0; t < sequence.count; ++t) {
      if (sequence.labels[t] >= 0) {
        wanted.push_back(first + t);
        labels.push_back(sequence.labels[t]);
      }
      ids.push_back(sequence.ids[t]);
      tokens.push_back({t, slot, 0});
    }
    spans.push_back({first, sequence.count, 0, slot, 0, slot, 0, -1, 0});
  }
};

Status Trainer::run(const talc_training_sequence *sequences, int32_t count, float lossScale, double &loss) {
  Step in;
  for (int32_t i = 0; i < count; ++i)
    in.add(sequences[i]);
  if (in.labels.empty())
    return {};
  talc::Step step = {};
  step.entry = model.loaded().findEntry(entryNames::train);
  step.tokenCount = static_cast<int64_t>(in.ids.size());
  step.spanCount = static_cast<int64_t>(in.spans.size());
  step.inputs = {in.ids.data()};
  step.tokens = in.tokens.data();
  step.spans = in.spans.data();
  step.wanted[0] = {static_cast<int64_t>(in.wanted.size()), in.wanted.data()};
  step.training = {in.labels.data(), &lossScale, area(TALC_GRADIENT), weightCopy.data()};
  StepSize size = {in.ids.size(), {in.wanted.size()}};
  if (Status status = workspace->reserve(size); status.failed())
    return status;
  if (Status status = workspace->run(step); status.failed())
    return status;
  for (size_t i = 0; i < in.wanted.size(); ++i)
    loss += workspace->results(0)[i];
  return {};
}

void Trainer::clear() {
  runTasks(segments.size(), [this](int64_t index) {
    const Segment &segment = segments[index];
    std::fill_n(area(TALC_GRADIENT) + segment.begin, segment.count, 0.0F);
  });
}

// ---- Update

Status Trainer::update(const talc_update_settings &settings, double &norm) {
  runTasks(segments.size(), [this](int64_t index) {
    const Segment &segment = segments[index];
    segmentSums[index] = sumSquares(area(TALC_GRADIENT) + segment.begin, segment.count);
  });
  double sum = 0;
  for (double part : segmentSums)
    sum += part;
  norm = std::sqrt(sum);
  if (!std::isfinite(norm))
    return Status::failure(TALC_ERROR_RESULT,
                           "%s: update %lld: the norm of the gradients is not finite; take a lower learning rate",
                           model.name().c_str(), static_cast<long long>(updates + 1));
  AdamW rule(settings, norm, ++updates);
  runTasks(segments.size(), [&](int64_t index) {
    const Segment &segment = segments[index];
    auto from = [&](talc_trainer_part part) { return area(part) + segment.begin; };
    rule.update(from(TALC_PARAMETER), from(TALC_GRADIENT), from(TALC_FIRST_MOMENT), from(TALC_SECOND_MOMENT),
                segment.count, segment.isMatrix || settings.decays_all);
  });
  storeWeights();
  return {};
}

}  // namespace talc
