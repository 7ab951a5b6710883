// SPDX-License-Identifier: Apache-2.0
// The function of a shared library that opens its model. Its name is a reserved one until talc compile gives it that of
// the library, NAME_open.
#include "runtime/EmbeddedModel.h"
#include "runtime/artifact/ArtifactFormat.h"

extern "C" TALC_API talc_status TALC_RESERVED_OPEN(const talc_open_options *options, talc_model **model,
                                                   talc_error *error) {
  return talc::openEmbedded(talc_embedded_artifact, options, model, error);
}
