// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: a process that was forked has a copy of a session, but none of its threads: it can destroy the copy, go on
// with it, or exit, and the parent's session goes on.
#include "test/runtime/RuntimeChecks.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace talc::test {
namespace {

using Logits = std::vector<float>;

Logits evaluate(talc_session *session, int32_t slot) {
  const int32_t ids[] = {5, 7, 9, 2, 3, 1, 8, 4, 6, 5, 5, 7};
  talc_sequence sequence = tokens(slot, 12, ids);
  if (talc_evaluate(session, &sequence, 1, nullptr) != TALC_OK)
    return {};
  const float *logits = talc_logits(session, 0, nullptr);
  return Logits(logits, logits + 4);
}

// Whether a child that does this ends well, and soon.
template <typename Body> bool inChild(const char *what, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  return expect(child > 0 && waitpid(child, &status, 0) == child, "forking") &&
         expect(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                std::string("a child that ") + what + ": " + std::to_string(status));
}

}  // namespace

bool checkForks(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_session *session = nullptr;
  talc_session_options options = {sizeof(talc_session_options), 3, 4};
  talc_error error = {};
  if (!expect(talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK &&
                  talc_session_create(model, &options, &session, &error) == TALC_OK,
              error.text))
    return false;
  const Logits expected = evaluate(session, 0);
  bool good = inChild("destroys a session", [&] {
    talc_session_destroy(session);
    talc_model_close(model);
    return true;
  });
  good &= inChild("goes on", [&] {
    const bool same = evaluate(session, 1) == expected;
    talc_session_destroy(session);
    return same;
  });
  good &= inChild("makes a session of its own", [&] {
    talc_session_destroy(session);
    talc_session *own = nullptr;
    const bool same = talc_session_create(model, &options, &own, nullptr) == TALC_OK && evaluate(own, 0) == expected;
    talc_session_destroy(own);
    return same;
  });
  good &= inChild("exits", []() -> bool { exit(0); });
  good &= expect(evaluate(session, 2) == expected, "the parent goes on");
  talc_session_destroy(session);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
