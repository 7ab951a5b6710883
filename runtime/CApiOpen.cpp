// SPDX-License-Identifier: Apache-2.0
// Implements the functions of talc.h that open models.
#include "runtime/CApiTypes.h"
#include "runtime/EmbeddedModel.h"
#include "runtime/StructSize.h"

using talc::report;
using talc::Status;
using talc::wrongArgument;

// The size of the struct in the first version of talc.h.
constexpr size_t firstOptions = 3 * sizeof(int32_t);

// `read` is a function that fills an ArtifactBytes.
template <typename Read>
static talc_status openModel(Read read, const talc_open_options *options, talc_model **model, talc_error *error) {
  auto opened = std::make_unique<talc_model>();
  talc_open_options given;
  Status status = talc::readStruct(options, firstOptions, "talc_open_options", given);
  if (!status.failed())
    status = read(opened->model.source());
  if (!status.failed())
    status = opened->model.open({given.skip_weights_check == 0, given.copy_weights != 0},
                                given.device ? given.device : "auto", {given.on_progress, given.progress_user});
  if (!status.failed())
    *model = opened.release();
  return report(status, error);
}

namespace talc {

talc_status openEmbedded(const unsigned char *begin, const talc_open_options *options, talc_model **model,
                         talc_error *error) try {
  if (!model)
    return wrongArgument("NAME_open", "model is NULL", error);
  *model = nullptr;
  return openModel([&](ArtifactBytes &bytes) { return bytes.useEmbedded(begin); }, options, model, error);
} catch (...) {
  return refusedMemory(error);
}

}  // namespace talc

talc_status talc_model_open(const char *path, const talc_open_options *options, talc_model **model,
                            talc_error *error) try {
  if (!model)
    return wrongArgument(__func__, "model is NULL", error);
  *model = nullptr;
  if (!path || !*path)
    return wrongArgument(__func__, "path is NULL or empty", error);
  return openModel([&](talc::ArtifactBytes &bytes) { return bytes.openPath(path); }, options, model, error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_model_open_descriptor(int32_t descriptor, const talc_open_options *options, talc_model **model,
                                       talc_error *error) try {
  if (!model)
    return wrongArgument(__func__, "model is NULL", error);
  *model = nullptr;
  return openModel([&](talc::ArtifactBytes &bytes) { return bytes.openDescriptor(descriptor); }, options, model, error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_model_open_memory(const void *bytes, size_t size, const talc_open_options *options, talc_model **model,
                                   talc_error *error) try {
  if (!model)
    return wrongArgument(__func__, "model is NULL", error);
  *model = nullptr;
  if (!bytes)
    return wrongArgument(__func__, "bytes is NULL", error);
  return openModel([&](talc::ArtifactBytes &source) { return source.useMemory(bytes, size); }, options, model, error);
} catch (...) {
  return talc::refusedMemory(error);
}
