// SPDX-License-Identifier: Apache-2.0
// Passes new requests and cancellations from other threads to the thread that generates.
#pragma once

#include "runtime/generation/ActiveRequest.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace talc {

class RequestQueue {
public:
  // Creates an active request with the next number.
  Status submit(const Model &model, Request request, int64_t &number);
  void cancel(int64_t number);

  // Moves what has come since the last call to the ends of the lists. Takes no memory, so that nothing can be lost.
  void take(std::list<std::unique_ptr<ActiveRequest>> &arrived, std::list<int64_t> &cancelled);
  // Waits until there is something to take, or the time is over.
  void wait(std::chrono::milliseconds time);
  void wait();
  // The number of requests that were not taken yet.
  size_t waiting() const;

private:
  bool hasNews() const { return !arrivals.empty() || !cancellations.empty(); }

  mutable std::mutex mutex;
  std::condition_variable news;
  int64_t submitted = 0;
  std::list<std::unique_ptr<ActiveRequest>> arrivals;
  std::list<int64_t> cancellations;
};

}  // namespace talc
