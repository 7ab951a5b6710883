// SPDX-License-Identifier: Apache-2.0
// A call of a function with a stack of its own: it can pause on one thread and resume on another.
#pragma once

#include <cstddef>

namespace talc {

class Fiber {
public:
  using Function = void (*)(void *argument);

  // Generated code needs less than half of this (attention with the widest heads almost as much), and pages that
  // nothing touches cost nothing.
  static constexpr size_t stackBytes = 2 << 20;

  Fiber() = default;
  Fiber(const Fiber &) = delete;
  ~Fiber();
  // Allocates the stack; false if memory is refused.
  bool create();

  // The next resume() begins the call. The one before must have ended.
  void begin(Function newFunction, void *newArgument);
  // Runs until the function pauses or returns. Not for use on another fiber.
  void resume();
  // For use by the function: resume() returns.
  void pause();
  // Whether the function has returned.
  bool hasEnded() const { return ended; }

private:
  static void enter(void *fiber);

  Function function = nullptr;
  void *argument = nullptr;
  bool ended = true;
  unsigned char *stack = nullptr;
  void *own = nullptr, *caller = nullptr;  // stack pointers of the fiber and of its caller while they do not run
  [[maybe_unused]] void *sanitizerFiber = nullptr, *sanitizerCaller = nullptr;
};

}  // namespace talc
