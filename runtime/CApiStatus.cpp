// SPDX-License-Identifier: Apache-2.0
// Names of codes, and versions: what talc.h can tell without a model.
#include "runtime/talc.h"

const char *talc_version(void) {
  return TALC_VERSION;
}

int32_t talc_version_number(void) {
  return TALC_VERSION_NUMBER;
}

const char *talc_status_name(talc_status status) {
#define STATUS(name)                                                                                                   \
  { name, #name }
  static constexpr struct {
    talc_status status;
    const char *name;
  } names[] = {STATUS(TALC_OK),
               STATUS(TALC_ERROR_ARGUMENT),
               STATUS(TALC_ERROR_FILE),
               STATUS(TALC_ERROR_STATE_FULL),
               STATUS(TALC_ERROR_DAMAGED),
               STATUS(TALC_ERROR_VERSION),
               STATUS(TALC_ERROR_CPU),
               STATUS(TALC_ERROR_TOKEN),
               STATUS(TALC_ERROR_BATCH),
               STATUS(TALC_ERROR_MEMORY),
               STATUS(TALC_ERROR_TEXT),
               STATUS(TALC_ERROR_NO_TOKENIZER),
               STATUS(TALC_ERROR_OUTPUT),
               STATUS(TALC_ERROR_USAGE),
               STATUS(TALC_ERROR_THREADS),
               STATUS(TALC_ERROR_LOGITS),
               STATUS(TALC_ERROR_CAPACITY),
               STATUS(TALC_ERROR_KIND),
               STATUS(TALC_ERROR_SOURCE),
               STATUS(TALC_ERROR_SHARED),
               STATUS(TALC_ERROR_RESULT),
               STATUS(TALC_ERROR_ABORTED),
               STATUS(TALC_ERROR_DEVICE),
               STATUS(TALC_ERROR_DEVICE_FAILED),
               STATUS(TALC_ERROR_DEFECT)};
#undef STATUS
  for (const auto &entry : names)
    if (entry.status == status)
      return entry.name;
  return "unknown";
}
