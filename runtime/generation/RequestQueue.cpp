// SPDX-License-Identifier: Apache-2.0
// The lock is held only to move a pointer; the thread that submits a request does its work.
#include "runtime/generation/RequestQueue.h"

namespace talc {

Status RequestQueue::submit(const Model &model, Request request, int64_t &number) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    number = ++submitted;
  }
  std::unique_ptr<ActiveRequest> generation;
  if (Status status = ActiveRequest::create(model, std::move(request), number, generation); status.failed())
    return status;
  std::lock_guard<std::mutex> lock(mutex);
  arrivals.push_back(std::move(generation));
  return {};
}

void RequestQueue::cancel(int64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  cancellations.push_back(number);
}

void RequestQueue::take(std::vector<std::unique_ptr<ActiveRequest>> &arrived, std::vector<int64_t> &cancelled) {
  arrived.clear(), cancelled.clear();
  std::lock_guard<std::mutex> lock(mutex);
  arrived.swap(arrivals);
  cancelled.swap(cancellations);
}

size_t RequestQueue::waiting() const {
  std::lock_guard<std::mutex> lock(mutex);
  return arrivals.size();
}

}  // namespace talc
