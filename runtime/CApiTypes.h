// SPDX-License-Identifier: Apache-2.0
// Types that the functions of talc.h share: the objects behind its pointers, and how failures are reported.
#pragma once

#include "runtime/CApiTable.h"
#include "runtime/device/cpu/Cores.h"
#include "runtime/sampling/SamplingScratch.h"
#include "runtime/session/Session.h"

#include <algorithm>
#include <cstdio>

struct talc_model : talc::ApiObject {
  talc::Model model;
};

struct talc_session : talc::ApiObject {
  std::unique_ptr<talc::Session> session;
  talc::SamplingScratch scratch;  // for everything that samples from the session's logits
};

namespace talc {

constexpr int32_t maxThreads = 1024;

inline int32_t maxUsableThreads() {
  return std::min(threadLimit(), maxThreads);
}

inline int32_t defaultThreads() {
  return std::min(usableCores(), maxUsableThreads());
}

inline talc_status report(const Status &status, talc_error *error) {
  if (status.failed() && error) {
    error->status = status.code();
    snprintf(error->text, sizeof(error->text), "%s", status.text().c_str());
  }
  return status.code();
}

// The result of a function of talc.h that catches an exception. The runtime itself throws none; the standard library
// does when memory is refused. Allocates nothing.
inline talc_status refusedMemory(talc_error *error) {
  if (error) {
    error->status = TALC_ERROR_MEMORY;
    snprintf(error->text, sizeof(error->text),
             "error[T0408]: the system refused memory; free some, or use smaller texts and batches");
  }
  return TALC_ERROR_MEMORY;
}

inline talc_status wrongArgument(const char *function, const char *what, talc_error *error) {
  return report(Status::failure(TALC_ERROR_ARGUMENT, "%s: %s", function, what), error);
}

}  // namespace talc
