// SPDX-License-Identifier: Apache-2.0
// Memory, copies, streams and events.
#include "test/ptx/driver/Interface.h"

#include <chrono>
#include <cstdlib>

namespace talc::cuda {

Result cuMemGetInfo_v2(size_t *available, size_t *total) {
  FAKE_CUDA_ENTER();
  *total = driver.memory.total();
  *available = driver.memory.total() - driver.memory.used();
  return Success;
}

Result cuMemAlloc_v2(Address *address, size_t bytes) {
  FAKE_CUDA_ENTER();
  if (bytes == 0)
    return InvalidValue;
  *address = driver.memory.allocate(bytes);
  return *address ? Success : OutOfMemory;
}

Result cuMemFree_v2(Address address) {
  ptx::Driver &driver = ptx::Driver::get();
  driver.finishAll();
  bool released = driver.memory.release(address);
  Result result = driver.enter(__func__);
  return released ? result : InvalidValue;
}

Result cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  FAKE_CUDA_ENTER();
  *memory = malloc(bytes);
  if (!*memory)
    return OutOfMemory;
  driver.hostMemory.insert(*memory);
  return Success;
}

Result cuMemFreeHost(void *memory) {
  ptx::Driver &driver = ptx::Driver::get();
  if (driver.hostMemory.erase(memory) == 0)
    return InvalidValue;
  free(memory);
  return driver.enter(__func__);
}

// The bytes on the device when the copy is made, which is later than the call.
static Result withBytes(Address address, size_t bytes, const std::function<void(unsigned char *)> &use) {
  unsigned char *host = ptx::Driver::get().memory.find(address, bytes);
  if (!host)
    return InvalidValue;
  use(host);
  return Success;
}

Result cuMemcpyHtoDAsync_v2(Address target, const void *source, size_t bytes, Stream stream) {
  FAKE_CUDA_ENTER();
  stream->add([=] { return withBytes(target, bytes, [=](unsigned char *host) { memcpy(host, source, bytes); }); });
  return Success;
}

Result cuMemcpyDtoHAsync_v2(void *target, Address source, size_t bytes, Stream stream) {
  FAKE_CUDA_ENTER();
  stream->add([=] { return withBytes(source, bytes, [=](unsigned char *host) { memcpy(target, host, bytes); }); });
  return Success;
}

Result cuMemsetD8Async(Address target, unsigned char value, size_t bytes, Stream stream) {
  FAKE_CUDA_ENTER();
  stream->add([=] { return withBytes(target, bytes, [=](unsigned char *host) { memset(host, value, bytes); }); });
  return Success;
}

Result cuStreamCreate(Stream *stream, unsigned) {
  FAKE_CUDA_ENTER();
  if (!driver.current)
    return InvalidContext;
  *stream = new StreamObject;
  driver.streams.insert(*stream);
  return Success;
}

Result cuStreamDestroy_v2(Stream stream) {
  ptx::Driver &driver = ptx::Driver::get();
  if (driver.streams.erase(stream) == 0)
    return InvalidValue;
  delete stream;
  return driver.enter(__func__);
}

Result cuStreamSynchronize(Stream stream) {
  FAKE_CUDA_ENTER();
  return driver.finish(*stream);
}

Result cuEventCreate(Event *event, unsigned) {
  FAKE_CUDA_ENTER();
  *event = new EventObject;
  driver.events.insert(*event);
  return Success;
}

Result cuEventDestroy_v2(Event event) {
  ptx::Driver &driver = ptx::Driver::get();
  if (driver.events.erase(event) == 0)
    return InvalidValue;
  delete event;
  return driver.enter(__func__);
}

Result cuEventRecord(Event event, Stream stream) {
  FAKE_CUDA_ENTER();
  event->stream = stream;
  event->reached = false;
  stream->add([event] {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    event->seconds = std::chrono::duration<double>(now).count();
    event->reached = true;
    return Success;
  });
  return Success;
}

Result cuEventSynchronize(Event event) {
  FAKE_CUDA_ENTER();
  return event->stream ? driver.finish(*event->stream) : Success;
}

Result cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  FAKE_CUDA_ENTER();
  if (!begin->reached || !end->reached)
    return NotReady;
  *milliseconds = static_cast<float>(1e3 * (end->seconds - begin->seconds));
  return Success;
}

}  // namespace talc::cuda
