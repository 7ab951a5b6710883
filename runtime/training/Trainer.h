// SPDX-License-Identifier: Apache-2.0
// The areas of a model that is trained: runs steps that add to gradients, and changes parameters by them.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/memory/Mapping.h"
#include "runtime/talc_training.h"
#include "runtime/training/TrainingTables.h"

#include <memory>

namespace talc {

class Trainer {
public:
  static Status create(const Model &model, const talc_trainer_options &options, std::unique_ptr<Trainer> &trainer);

  Status accumulate(const talc_training_sequence *sequences, int32_t count, int64_t allLabels, double &loss);
  void clear();
  Status update(const talc_update_settings &settings, double &norm);

  const TrainingTables &tables() const { return trainingTables; }
  void read(size_t tensor, talc_trainer_part part, float *values) const;
  void write(size_t tensor, talc_trainer_part part, const float *values);
  // Writes a checkpoint. (Checkpoint.cpp)
  Status save(const std::string &directory) const;

private:
  struct Step;  // of some sequences
  // Neighboring elements of a parameter. Their number does not depend on threads.
  struct Segment {
    uint64_t begin, count;
    bool isMatrix;
  };

  explicit Trainer(const Model &model) : model(model) {}
  Status allocate();
  void divideParameters();
  Status checkSequences(const talc_training_sequence *sequences, int32_t count, int64_t &labels) const;
  Status run(const talc_training_sequence *sequences, int32_t count, float lossScale, double &loss);
  float *area(talc_trainer_part part) const { return reinterpret_cast<float *>(areas[part].data()); }
  float *weights() const { return reinterpret_cast<float *>(weightCopy.data()); }
  void loadParameters();
  void storeWeights();
  template <typename Task> void runTasks(size_t count, Task task);

  const Model &model;
  TrainingTables trainingTables;
  std::unique_ptr<Workspace> workspace;
  Mapping areas[4];    // by talc_trainer_part
  Mapping weightCopy;  // what steps read
  std::vector<Segment> segments;
  std::vector<double> segmentSums;
  int64_t updates = 0, stepTokens = 0;
};

}  // namespace talc
