// SPDX-License-Identifier: Apache-2.0
// Owners of talc.h's objects. The program is an ordinary user of talc.h and calls nothing else of the runtime.
#pragma once

#include "runtime/talc.h"

#include <memory>

namespace talc::program {

struct Release {
  void operator()(talc_model *model) const { talc_model_close(model); }
  void operator()(talc_session *session) const { talc_session_destroy(session); }
  void operator()(talc_generator *generator) const { talc_generator_destroy(generator); }
};

using ModelHandle = std::unique_ptr<talc_model, Release>;
using SessionHandle = std::unique_ptr<talc_session, Release>;
using GeneratorHandle = std::unique_ptr<talc_generator, Release>;

}  // namespace talc::program
