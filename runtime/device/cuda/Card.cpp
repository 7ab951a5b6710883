// SPDX-License-Identifier: Apache-2.0
// The context is the card's primary one, which all of a process share.
#include "runtime/device/cuda/Card.h"

#include <cinttypes>

namespace talc::cuda {

static Status readCard(const Driver &driver, int32_t number, CardFacts &facts) {
  char name[128] = "";
  size_t memory = 0;
  Result result = driver.cuDeviceGet(&facts.device, number);
  auto then = [&](auto call) { result = result == Success ? call() : result; };
  then([&] { return driver.cuDeviceGetName(name, sizeof(name) - 1, facts.device); });
  then([&] { return driver.cuDeviceTotalMem_v2(&memory, facts.device); });
  then([&] { return driver.cuDeviceGetAttribute(&facts.major, CapabilityMajor, facts.device); });
  then([&] { return driver.cuDeviceGetAttribute(&facts.minor, CapabilityMinor, facts.device); });
  then([&] {
    return driver.cuDeviceGetAttribute(&facts.sharedPerWorkgroup, MaxSharedMemoryPerBlockOptin, facts.device);
  });
  then([&] { return driver.cuDeviceGetAttribute(&facts.processors, MultiprocessorCount, facts.device); });
  then([&] { return driver.cuDeviceGetAttribute(&facts.cooperative, CooperativeLaunch, facts.device); });
  facts.description = name;
  facts.memory = memory;
  if (result == Success)
    return {};
  return Status::failure(TALC_ERROR_DEVICE, "cuda:%d: the driver says nothing of it: %s", number,
                         driver.describe(result).c_str());
}

Status readCards(const Driver &driver, std::vector<CardFacts> &cards) {
  int32_t count = 0;
  if (Result result = driver.cuDeviceGetCount(&count); result != Success)
    return Status::failure(TALC_ERROR_DEVICE, "cuda: the driver counts no cards: %s", driver.describe(result).c_str());
  cards.resize(count > 0 ? static_cast<size_t>(count) : 0);
  for (size_t i = 0; i < cards.size(); ++i)
    if (Status status = readCard(driver, static_cast<int32_t>(i), cards[i]); status.failed())
      return status;
  return {};
}

Card::Card(const Driver &driver, int32_t number, CardFacts facts)
    : driver(driver), title("cuda:" + std::to_string(number)), known(std::move(facts)) {}

Status Card::open(int32_t number, std::shared_ptr<const Card> &card) {
  const Driver *driver = nullptr;
  std::vector<CardFacts> cards;
  if (Status status = Driver::open(driver); status.failed())
    return status;
  if (Status status = readCards(*driver, cards); status.failed())
    return status;
  if (static_cast<size_t>(number) >= cards.size())
    return Status::failure(TALC_ERROR_DEVICE, "cuda:%d: is not there: the driver has %zu card%s; see --devices", number,
                           cards.size(), cards.size() == 1 ? "" : "s");
  std::shared_ptr<Card> opened(new Card(*driver, number, cards[static_cast<size_t>(number)]));
  if (Result result = driver->cuDevicePrimaryCtxRetain(&opened->context, opened->known.device); result != Success) {
    opened->context = nullptr;
    return Status::failure(TALC_ERROR_DEVICE, "cuda:%d: cannot be used: %s", number, driver->describe(result).c_str());
  }
  card = std::move(opened);
  return {};
}

Card::~Card() {
  if (context)
    driver.cuDevicePrimaryCtxRelease_v2(known.device);
}

Status Card::use() const {
  return check(driver.cuCtxSetCurrent(context), "it was chosen for the thread");
}

Status Card::check(Result result, const char *what) const {
  if (result == Success)
    return {};
  talc_status code = result == OutOfMemory ? TALC_ERROR_MEMORY : TALC_ERROR_DEVICE_FAILED;
  return Status::failure(code, "%s (%s): failed when %s: %s", title.c_str(), known.description.c_str(), what,
                         driver.describe(result).c_str());
}

Status Card::available(uint64_t &bytes) const {
  size_t free = 0, total = 0;
  Status status = check(driver.cuMemGetInfo_v2(&free, &total), "asked for its memory");
  bytes = free;
  return status;
}

Status CardMemory::reserve(uint64_t wanted, const char *what) {
  if (wanted <= bytes)
    return {};
  release();
  Result result = card.driver.cuMemAlloc_v2(&begin, wanted);
  if (result == Success) {
    bytes = wanted;
    return {};
  }
  begin = 0;
  uint64_t available = 0;
  if (result != OutOfMemory || card.available(available).failed())
    return card.check(result, "memory was taken");
  return Status::failure(TALC_ERROR_MEMORY,
                         "%s (%s): no memory for %s: %" PRIu64 " bytes, but %" PRIu64
                         " are free; use weights in a smaller format, fewer or shorter sequences, or --device=cpu",
                         card.name().c_str(), card.facts().description.c_str(), what, wanted, available);
}

void CardMemory::release() {
  if (begin) {
    (void)card.use();
    (void)card.driver.cuMemFree_v2(begin);
  }
  begin = 0;
  bytes = 0;
}

}  // namespace talc::cuda
