// SPDX-License-Identifier: Apache-2.0
// What other threads want of the thread that generates: new requests, and that old ones be given up.
#pragma once

#include "runtime/generation/ActiveRequest.h"

#include <mutex>

namespace talc {

class RequestQueue {
public:
  // Creates a generation under the next number.
  Status submit(const Model &model, Request request, int64_t &number);
  void cancel(int64_t number);

  // Hands over what has come since the last call; the lists are emptied first.
  void take(std::vector<std::unique_ptr<ActiveRequest>> &arrived, std::vector<int64_t> &cancelled);
  // How many requests nobody has taken yet.
  size_t waiting() const;

private:
  mutable std::mutex mutex;
  int64_t submitted = 0;
  std::vector<std::unique_ptr<ActiveRequest>> arrivals;
  std::vector<int64_t> cancellations;
};

}  // namespace talc
