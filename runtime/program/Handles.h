// SPDX-License-Identifier: Apache-2.0
// Owners of talc.h's objects. The program is an ordinary user of talc.h: it calls nothing else of the runtime.
#pragma once

#include "runtime/talc.h"

#include <memory>

namespace talc::program {

struct Release {
  void operator()(talc_model *model) const { talc_model_close(model); }
  void operator()(talc_session *session) const { talc_session_destroy(session); }
  void operator()(talc_sampler *sampler) const { talc_sampler_destroy(sampler); }
  void operator()(talc_beam_search *search) const { talc_beam_search_destroy(search); }
  void operator()(talc_text_stream *stream) const { talc_text_stream_destroy(stream); }
};

using ModelHandle = std::unique_ptr<talc_model, Release>;
using SessionHandle = std::unique_ptr<talc_session, Release>;
using SamplerHandle = std::unique_ptr<talc_sampler, Release>;
using BeamSearchHandle = std::unique_ptr<talc_beam_search, Release>;
using TextStreamHandle = std::unique_ptr<talc_text_stream, Release>;

}  // namespace talc::program
