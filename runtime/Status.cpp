// SPDX-License-Identifier: Apache-2.0
// Formats the text of a failure.
#include "runtime/Status.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace talc {

// A short string needs no memory.
static std::string copyAsFarAsPossible(const char *text, size_t codeSize) noexcept try { return text; } catch (...) {
  return {text, codeSize};
}

Status Status::failure(talc_status code, const char *format, ...) {
  char text[4096];  // a list of languages is long; a talc_error keeps what it has room for
  int length = snprintf(text, sizeof(text), "error[T%04d]: ", static_cast<int>(code));
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, sizeof(text) - length, format, arguments);
  va_end(arguments);
  Status result;
  result.status = code;
  result.message = copyAsFarAsPossible(text, length - strlen(": "));
  return result;
}

Status Status::from(talc_status code, const talc_error &error) {
  Status result;
  if (code == TALC_OK)
    return result;
  result.status = code;
  result.message = error.text;
  return result;
}

}  // namespace talc
