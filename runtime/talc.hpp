// SPDX-License-Identifier: Apache-2.0
// talc.h for C++17: objects that free themselves, exceptions instead of statuses, strings and vectors instead of buffers.
// Header-only; everything is in talc::api, and get() gives the C object for what is missing here.
//
//   talc::api::Model model("app");
//   std::string text = model.generate("Once there was", [](std::string_view piece) { std::cout << piece; });
//
// What talc.h says of threads, lifetimes and values holds here, too: a model must outlive its sessions and generators.
// Objects can be moved, not copied. Functions throw Error where a function of talc.h fails, std::bad_alloc where memory
// runs out in this header.
#ifndef TALC_HPP
#define TALC_HPP

#include "talc.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace talc::api {

using Ids = std::vector<int32_t>;

// what() is the line that talc.h's talc_error has.
class Error : public std::runtime_error {
public:
  explicit Error(const talc_error &error) : std::runtime_error(error.text), code(error.status) {}
  talc_status status() const { return code; }

private:
  talc_status code;
};

// Throws if `call`, a function of talc.h but for its last argument, fails: check([&](talc_error *e) { return ...; }).
template <typename Call> void check(Call call) {
  talc_error error = {};
  if (call(&error) != TALC_OK)
    throw Error(error);
}

// Rows of a result, [count][width], in memory of the session: valid until its next step.
struct Rows {
  const float *data = nullptr;
  int32_t count = 0, width = 0;

  const float *operator[](int32_t row) const { return data + static_cast<size_t>(row) * static_cast<size_t>(width); }
};

class Model {
public:
  explicit Model(const std::string &path, talc_open_options options = {}) {
    options.struct_size = sizeof(options);
    talc_model *model = nullptr;
    check([&](talc_error *e) { return talc_model_open(path.c_str(), &options, &model, e); });
    handle.reset(model);
  }
  // Takes a model that NAME_open of a library with a model inside opened.
  explicit Model(talc_model *model) : handle(model) {}

  talc_model *get() const { return handle.get(); }

  talc_model_info info() const {
    talc_model_info result = {};
    result.struct_size = sizeof(result);
    check([&](talc_error *e) { return talc_model_get_info(get(), &result, e); });
    return result;
  }

  Ids tokenize(std::string_view text) const {
    int32_t count = 0;
    auto call = [&](int32_t *ids, int32_t capacity) {
      check([&](talc_error *e) { return talc_tokenize(get(), text.data(), text.size(), ids, capacity, &count, e); });
    };
    call(nullptr, 0);
    Ids ids(static_cast<size_t>(count));
    if (count > 0)
      call(ids.data(), count);
    return ids;
  }

  std::string detokenize(const Ids &ids) const {
    size_t size = 0;
    auto call = [&](char *text, size_t capacity) {
      check([&](talc_error *e) {
        return talc_detokenize(get(), ids.data(), static_cast<int32_t>(ids.size()), text, capacity, &size, e);
      });
    };
    call(nullptr, 0);
    std::string text(size, '\0');
    if (size > 0)
      call(text.data(), size);
    return text;
  }

  bool isEndToken(int32_t id) const { return talc_is_end_token(get(), id) != 0; }

  // The text that continues `prompt`, or answers to it. `onText` gets it piece by piece; what it throws ends the text and
  // comes out of here. `request` says what else is wanted; its text, on_event and user are set here.
  std::string generate(const std::string &prompt, std::function<void(std::string_view)> onText = nullptr,
                       talc_request request = {}) const;

private:
  struct Close {
    void operator()(talc_model *model) const { talc_model_close(model); }
  };
  std::unique_ptr<talc_model, Close> handle;
};

class Session {
public:
  explicit Session(const Model &model, talc_session_options options = {}) {
    const talc_model_info info = model.info();
    for (int32_t i = 0; i < info.result_count; ++i)
      widths[i] = info.results[i].width;
    options.struct_size = sizeof(options);
    talc_session *session = nullptr;
    check([&](talc_error *e) { return talc_session_create(model.get(), &options, &session, e); });
    handle.reset(session);
  }

  talc_session *get() const { return handle.get(); }

  // One step with tokens of one sequence; `rows`: those of the first result that are wanted.
  void evaluate(const Ids &ids, talc_rows rows = TALC_ROWS_LAST, int32_t slot = 0) {
    talc_sequence sequence = {};
    sequence.slot = slot;
    sequence.count = static_cast<int32_t>(ids.size());
    sequence.ids = ids.data();
    sequence.wanted[0].rows = rows;
    evaluate({sequence});
  }
  void evaluate(const std::vector<talc_sequence> &sequences) {
    check([&](talc_error *e) {
      return talc_evaluate(get(), sequences.data(), static_cast<int32_t>(sequences.size()), e);
    });
  }
  // The source of an encoder-decoder's text.
  void encode(const Ids &ids, int32_t slot = 0) {
    talc_sequence source = {};
    source.slot = slot;
    source.count = static_cast<int32_t>(ids.size());
    source.ids = ids.data();
    check([&](talc_error *e) { return talc_encode(get(), &source, 1, e); });
  }

  // Rows of the last step: of a result, for the index-th sequence.
  Rows result(int32_t result = 0, int32_t index = 0) const {
    Rows rows;
    rows.data = talc_result(get(), result, index, &rows.count);
    if (rows.data)
      rows.width = widths[result];
    return rows;
  }

  int32_t length(int32_t slot = 0) const { return talc_slot_length(get(), slot); }
  void reset(int32_t slot = 0) {
    check([&](talc_error *e) { return talc_slot_reset(get(), slot, e); });
  }
  void truncate(int32_t length, int32_t slot = 0) {
    check([&](talc_error *e) { return talc_slot_truncate(get(), slot, length, e); });
  }

private:
  struct Destroy {
    void operator()(talc_session *session) const { talc_session_destroy(session); }
  };
  int32_t widths[TALC_MAX_RESULTS] = {};
  std::unique_ptr<talc_session, Destroy> handle;
};

// Many requests at the same time, on all slots of a session of its own.
class Generator {
public:
  // Returns whether the request goes on. What it throws ends the request and comes out of step().
  using OnEvent = std::function<bool(const talc_event &)>;

  explicit Generator(const Model &model, talc_session_options sessionOptions = {}, talc_generator_options options = {})
      : session(model, sessionOptions) {
    options.struct_size = sizeof(options);
    talc_generator *generator = nullptr;
    check([&](talc_error *e) { return talc_generator_create(session.get(), &options, &generator, e); });
    handle.reset(generator);
  }

  talc_generator *get() const { return handle.get(); }

  // Returns the request's number. Its on_event and user are set here. For one thread at a time, unlike
  // talc_generator_submit.
  int64_t submit(talc_request request, OnEvent onEvent) {
    auto listener = std::make_unique<Listener>(Listener{std::move(onEvent), failure.get()});
    request.struct_size = sizeof(request);
    request.on_event = Listener::call;
    request.user = listener.get();
    int64_t number = 0;
    listeners.reserve(listeners.size() + 1);
    check([&](talc_error *e) { return talc_generator_submit(get(), &request, &number, e); });
    listeners.push_back(std::move(listener));
    return number;
  }
  int64_t submit(const std::string &prompt, OnEvent onEvent, talc_request request = {}) {
    request.text = prompt.c_str();
    request.text_size = prompt.size();
    return submit(request, std::move(onEvent));
  }

  void cancel(int64_t number) {
    check([&](talc_error *e) { return talc_generator_cancel(get(), number, e); });
  }

  // Waits until there is something to do, at most so many milliseconds.
  void wait(int32_t milliseconds = TALC_NONE) {
    check([&](talc_error *e) { return talc_generator_wait(get(), milliseconds, e); });
  }

  // One step of all requests. Returns how many have not ended.
  int32_t step() {
    int32_t unfinished = 0;
    check([&](talc_error *e) { return talc_generator_step(get(), &unfinished, e); });
    if (*failure)
      std::rethrow_exception(std::exchange(*failure, nullptr));
    if (unfinished == 0)
      listeners.clear();
    return unfinished;
  }
  void run() {
    while (step() > 0) {
    }
  }

private:
  struct Listener {
    OnEvent onEvent;
    std::exception_ptr *failure;

    static int32_t call(void *user, const talc_event *event) {
      auto *listener = static_cast<Listener *>(user);
      try {
        return listener->onEvent && !listener->onEvent(*event);
      } catch (...) {
        *listener->failure = std::current_exception();
        return 1;
      }
    }
  };
  struct Destroy {
    void operator()(talc_generator *generator) const { talc_generator_destroy(generator); }
  };

  Session session;
  std::unique_ptr<std::exception_ptr> failure = std::make_unique<std::exception_ptr>();
  std::vector<std::unique_ptr<Listener>> listeners;
  std::unique_ptr<talc_generator, Destroy> handle;
};

inline std::string Model::generate(const std::string &prompt, std::function<void(std::string_view)> onText,
                                   talc_request request) const {
  struct State {
    std::function<void(std::string_view)> onText;
    std::string text;
    std::exception_ptr failure;
  } state = {std::move(onText), {}, nullptr};
  request.struct_size = sizeof(request);
  request.text = prompt.c_str();
  request.text_size = prompt.size();
  request.user = &state;
  request.on_event = [](void *user, const talc_event *event) -> int32_t {
    auto &state = *static_cast<State *>(user);
    try {
      state.text.append(event->text, event->text_size);
      if (state.onText && event->text_size > 0)
        state.onText({event->text, event->text_size});
      return 0;
    } catch (...) {
      state.failure = std::current_exception();
      return 1;
    }
  };
  check([&](talc_error *e) { return talc_generate(get(), &request, e); });
  if (state.failure)
    std::rethrow_exception(state.failure);
  return std::move(state.text);
}

}  // namespace talc::api

#endif  // TALC_HPP
