// SPDX-License-Identifier: Apache-2.0
// Implements talc_training.h: checks arguments, completes settings, and calls the trainer.
#include "runtime/CApiTypes.h"
#include "runtime/StructSize.h"
#include "runtime/training/Trainer.h"

#include <cmath>

using talc::report;
using talc::Status;
using talc::wrongArgument;

struct talc_trainer : talc::ApiObject {
  std::unique_ptr<talc::Trainer> trainer;
};

namespace talc::capi {

constexpr int32_t maxStepTokens = 1 << 24;

talc_status talc_trainer_create(const talc_model *model, const talc_trainer_options *options, talc_trainer **trainer,
                                talc_error *error) try {
  if (!model || !trainer)
    return wrongArgument(__func__, "model or trainer is NULL", error);
  *trainer = nullptr;
  talc_trainer_options given;
  if (Status status = talc::readStruct(options, sizeof(given), "talc_trainer_options", given); status.failed())
    return report(status, error);
  if (given.threads < 0 || given.threads > talc::maxThreads || given.step_tokens < 0 ||
      given.step_tokens > maxStepTokens)
    return wrongArgument(__func__, "threads is not 0 to 1024, or step_tokens is not 0 to 2^24", error);
  if (given.threads == 0)
    given.threads = talc::defaultThreads();
  auto created = std::make_unique<talc_trainer>();
  if (Status status = talc::Trainer::create(model->model, given, created->trainer); status.failed())
    return report(status, error);
  *trainer = created.release();
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_trainer_destroy(talc_trainer *trainer) {
  delete trainer;
}

talc_status talc_trainer_accumulate(talc_trainer *trainer, const talc_training_sequence *sequences, int32_t count,
                                    int64_t all_labels, double *loss, talc_error *error) try {
  if (!trainer || !sequences || count < 1 || all_labels < 0)
    return wrongArgument(__func__, "trainer or sequences is NULL, count is not positive, or all_labels is negative",
                         error);
  double sum = 0;
  Status status = trainer->trainer->accumulate(sequences, count, all_labels, sum);
  if (loss)
    *loss = status.failed() ? 0 : sum;
  return report(status, error);
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_trainer_clear(talc_trainer *trainer) {
  if (trainer)
    trainer->trainer->clear();
}

// Replaces a setting that is 0 by its default, and TALC_NONE by 0. Returns whether it is in its range.
static bool complete(float &value, float standard, float limit) {
  value = value == 0 ? standard : value == TALC_NONE ? 0 : value;
  return std::isfinite(value) && value >= 0 && value < limit;
}

talc_status talc_trainer_update(talc_trainer *trainer, const talc_update_settings *settings, double *norm,
                                talc_error *error) try {
  if (!trainer)
    return wrongArgument(__func__, "trainer is NULL", error);
  talc_update_settings given;
  if (Status status = talc::readStruct(settings, sizeof(given), "talc_update_settings", given); status.failed())
    return report(status, error);
  constexpr float limit = 1e30F;
  if (!complete(given.learning_rate, 3e-4F, limit) || !complete(given.beta1, 0.9F, 1) ||
      !complete(given.beta2, 0.999F, 1) || !complete(given.epsilon, 1e-8F, limit) ||
      !complete(given.weight_decay, 0.01F, limit) || !complete(given.clip, 1, limit))
    return wrongArgument(__func__, "a setting is negative or not finite, or a beta is not below 1", error);
  double gradientNorm = 0;
  Status status = trainer->trainer->update(given, gradientNorm);
  if (norm)
    *norm = gradientNorm;
  return report(status, error);
} catch (...) {
  return talc::refusedMemory(error);
}

int32_t talc_trainer_tensor_count(const talc_trainer *trainer) {
  return trainer ? static_cast<int32_t>(trainer->trainer->tables().tensors().size()) : 0;
}

static bool hasTensor(const talc_trainer *trainer, int32_t index) {
  return index >= 0 && index < capi::talc_trainer_tensor_count(trainer);
}

talc_status talc_trainer_get_tensor(const talc_trainer *trainer, int32_t index, talc_trainer_tensor *tensor,
                                    talc_error *error) try {
  if (!tensor || !hasTensor(trainer, index))
    return wrongArgument(__func__, "trainer or tensor is NULL, or there is no tensor of this index", error);
  const talc::TrainingTables &tables = trainer->trainer->tables();
  *tensor = {};
  tensor->name = tables.tensorName(index).data();
  tensor->name_size = tables.tensorName(index).size();
  tensor->rank = static_cast<int32_t>(tables.tensors()[index].rank);
  for (int i = 0; i < 4; ++i)
    tensor->shape[i] = static_cast<int64_t>(tables.tensors()[index].shape[i]);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

static bool canCopy(const talc_trainer *trainer, int32_t index, talc_trainer_part part, const float *values,
                    size_t count) {
  return values && hasTensor(trainer, index) && part >= TALC_PARAMETER && part <= TALC_SECOND_MOMENT &&
         count == trainer->trainer->tables().tensorSize(index);
}

talc_status talc_trainer_read(const talc_trainer *trainer, int32_t index, talc_trainer_part part, float *values,
                              size_t count, talc_error *error) try {
  if (!canCopy(trainer, index, part, values, count))
    return wrongArgument(__func__, "there is no such tensor or part, or count is not the number of its values", error);
  trainer->trainer->read(index, part, values);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_trainer_write(talc_trainer *trainer, int32_t index, talc_trainer_part part, const float *values,
                               size_t count, talc_error *error) try {
  if (!canCopy(trainer, index, part, values, count))
    return wrongArgument(__func__, "there is no such tensor or part, or count is not the number of its values", error);
  trainer->trainer->write(index, part, values);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_trainer_save(const talc_trainer *trainer, const char *directory, talc_error *error) try {
  if (!trainer || !directory)
    return wrongArgument(__func__, "trainer or directory is NULL", error);
  return report(trainer->trainer->save(directory), error);
} catch (...) {
  return talc::refusedMemory(error);
}

}  // namespace talc::capi
