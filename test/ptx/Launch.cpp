// SPDX-License-Identifier: Apache-2.0
// Workgroups begin in their order, or in the opposite one, as others end.
#include "test/ptx/Launch.h"

#include "test/ptx/Fault.h"

#include <algorithm>

namespace talc::ptx {

static uint64_t volume(const Extent &extent) {
  return static_cast<uint64_t>(extent[0]) * extent[1] * extent[2];
}

Workgroup::Workgroup(Launch &launch, Extent place)
    : launch(launch), place(place), shared(launch.kernel.sharedBytes + launch.shape.dynamicShared) {
  auto threads = static_cast<uint32_t>(volume(launch.shape.block));
  for (uint32_t first = 0; first < threads; first += warpLanes)
    warps.push_back(std::make_unique<Warp>(*this, first / warpLanes, std::min<uint32_t>(warpLanes, threads - first)));
}

bool Workgroup::ended() const {
  return std::all_of(warps.begin(), warps.end(), [](const auto &warp) { return warp->ended(); });
}

// When all threads have come to it, or as many as it is for. Threads that have ended never do.
bool Workgroup::passBarrier(uint32_t barrier, uint32_t threads) {
  uint32_t there = 0, arrived = 0;
  bool all = true;
  for (const auto &warp : warps) {
    const uint32_t waiting = warp->waiting(barrier);
    all &= waiting == warp->living() && !warp->ended();
    arrived += waiting ? warpLanes : 0;  // warps come whole
    there |= waiting ? 1u << warp->number : 0;
  }
  if (threads ? arrived != threads : !all)
    return false;
  for (const auto &warp : warps)
    warp->passBarrier(barrier);
  shared.passBarrier(there);
  ++launch.progress;
  if (launch.counts)
    ++launch.counts->barriers;
  return true;
}

bool Workgroup::passBarriers() {
  bool any = false;
  for (const auto &warp : warps) {
    uint32_t barrier = 0, threads = 0;
    for (uint32_t from = 0; warp->findBarrier(from, barrier, threads); from = barrier + 1)
      any |= passBarrier(barrier, threads);
  }
  return any;
}

bool Workgroup::turn(uint64_t instructions) {
  bool any = false;
  for (const auto &warp : warps)
    any |= warp->run(instructions);
  return passBarriers() || any;
}

void Workgroup::failStuck() const {
  throw Fault("kernel " + launch.kernel.name + ", workgroup " + std::to_string(place[0]) + "," +
              std::to_string(place[1]) + "," + std::to_string(place[2]) +
              ": some threads wait at a barrier, others have ended");
}

Launch::Launch(const Kernel &kernel, const LaunchShape &shape, const unsigned char *parameters, Memory &memory,
               KernelCounts *counts)
    : kernel(kernel), shape(shape), parameters(parameters), memory(memory), counts(counts) {}

std::unique_ptr<Workgroup> Launch::begin(uint64_t index) {
  const Extent &grid = shape.grid;
  auto x = static_cast<uint32_t>(index % grid[0]), y = static_cast<uint32_t>(index / grid[0] % grid[1]),
       z = static_cast<uint32_t>(index / grid[0] / grid[1]);
  return std::make_unique<Workgroup>(*this, Extent{x, y, z});
}

void Launch::run(const LaunchSettings &settings) {
  const uint64_t total = volume(shape.grid), places = shape.cooperative ? total : settings.residents;
  if (counts) {
    ++counts->launches;
    counts->workgroups += total;
    counts->warps += total * ((volume(shape.block) + warpLanes - 1) / warpLanes);
  }
  std::vector<std::unique_ptr<Workgroup>> residents;
  uint64_t begun = 0, lastProgress = 0, idleTurns = 0;
  while (begun < total || !residents.empty()) {
    for (; begun < total && residents.size() < places; ++begun)
      residents.push_back(begin(settings.backwards ? total - 1 - begun : begun));
    for (const auto &workgroup : residents)
      if (!workgroup->turn(settings.turn))
        workgroup->failStuck();
    residents.erase(
        std::remove_if(residents.begin(), residents.end(), [](const auto &workgroup) { return workgroup->ended(); }),
        residents.end());
    idleTurns = progress == lastProgress ? idleTurns + 1 : 0;
    lastProgress = progress;
    if (idleTurns > settings.patience)
      throw Fault("kernel " + kernel.name + ": hangs: no thread stores anything or passes a barrier");
  }
}

}  // namespace talc::ptx
