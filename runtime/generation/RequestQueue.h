// SPDX-License-Identifier: Apache-2.0
// Passes new requests and cancellations from other threads to the thread that generates.
#pragma once

#include "runtime/generation/ActiveRequest.h"

#include <mutex>

namespace talc {

class RequestQueue {
public:
  // Creates an active request with the next number.
  Status submit(const Model &model, Request request, int64_t &number);
  void cancel(int64_t number);

  // Moves what has come since the last call into the lists, which are emptied first.
  void take(std::vector<std::unique_ptr<ActiveRequest>> &arrived, std::vector<int64_t> &cancelled);
  // The number of requests that were not taken yet.
  size_t waiting() const;

private:
  mutable std::mutex mutex;
  int64_t submitted = 0;
  std::vector<std::unique_ptr<ActiveRequest>> arrivals;
  std::vector<int64_t> cancellations;
};

}  // namespace talc
