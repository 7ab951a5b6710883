// SPDX-License-Identifier: Apache-2.0
// The lock is held only to move a pointer; the thread that submits a request does its work.
#include "runtime/generation/RequestQueue.h"

namespace talc {

Status RequestQueue::submit(const Model &model, Request request, int64_t &number) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    number = ++submitted;
  }
  std::list<std::unique_ptr<ActiveRequest>> added(1);
  if (Status status = ActiveRequest::create(model, std::move(request), number, added.front()); status.failed())
    return status;
  std::lock_guard<std::mutex> lock(mutex);
  arrivals.splice(arrivals.end(), added);
  news.notify_one();
  return {};
}

void RequestQueue::cancel(int64_t number) {
  std::list<int64_t> added(1, number);
  std::lock_guard<std::mutex> lock(mutex);
  cancellations.splice(cancellations.end(), added);
  news.notify_one();
}

void RequestQueue::wait(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex);
  news.wait_for(lock, time, [this] { return hasNews(); });
}

void RequestQueue::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  news.wait(lock, [this] { return hasNews(); });
}

void RequestQueue::take(std::list<std::unique_ptr<ActiveRequest>> &arrived, std::list<int64_t> &cancelled) {
  std::lock_guard<std::mutex> lock(mutex);
  arrived.splice(arrived.end(), arrivals);
  cancelled.splice(cancelled.end(), cancellations);
}

size_t RequestQueue::waiting() const {
  std::lock_guard<std::mutex> lock(mutex);
  return arrivals.size();
}

}  // namespace talc
