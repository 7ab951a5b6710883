// SPDX-License-Identifier: Apache-2.0
// The result of every function of the runtime that can fail: a stable code and one line of text.
#pragma once

#include "runtime/talc.h"

#include <string>

namespace talc {

class [[nodiscard]] Status {
public:
  Status() = default;  // success

  // `format` says what failed, where, what was expected, and what to do; "error[T0403]: " is put before it. Throws
  // nothing: where memory is refused, the text is the code alone.
  static Status failure(talc_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

  // Converts what a function of talc.h reported.
  static Status from(talc_status code, const talc_error &error);

  bool failed() const { return status != TALC_OK; }
  talc_status code() const { return status; }
  const std::string &text() const { return message; }

private:
  talc_status status = TALC_OK;
  std::string message;
};

}  // namespace talc
