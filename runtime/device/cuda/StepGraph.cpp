// SPDX-License-Identifier: Apache-2.0
// Errors during capture are ignored: unless the driver only lacks graphs, the launch itself fails again and reports
// them.
#include "runtime/device/cuda/StepGraph.h"

namespace talc::cuda {

bool StepGraph::holds(EntryIndex entry, const LaunchValues &values, Stream stream,
                      const std::function<Status()> &launchAll) {
  const Key key = {entry, values};
  const bool repeated = key == ofLast;
  ofLast = key;
  if (recorded && key == ofRecorded)
    return true;
  if (tries == 0 || !repeated)
    return false;
  release();
  ofRecorded = key;
  --tries;
  if (!record(stream, launchAll))
    return false;
  tries = maxTries;
  return true;
}

// Other threads may do what they like meanwhile. A stream records until it is told to end, whatever went wrong.
bool StepGraph::record(Stream stream, const std::function<Status()> &launchAll) {
  const Driver &driver = gpu.driver;
  if (Result result = driver.cuStreamBeginCapture_v2(stream, CaptureThreadLocal); result != Success) {
    tries = result == NotSupported ? 0 : tries;
    return false;
  }
  const bool launched = !launchAll().failed();
  Graph graph = nullptr;
  const bool ended = driver.cuStreamEndCapture(stream, &graph) == Success && graph;
  if (launched && ended && driver.cuGraphInstantiateWithFlags(&recorded, graph, 0) != Success)
    recorded = nullptr;
  if (ended)
    (void)driver.cuGraphDestroy(graph);
  return recorded;
}

Status StepGraph::start(Stream stream) const {
  return gpu.check(gpu.driver.cuGraphLaunch(recorded, stream), "the launches of a step began");
}

void StepGraph::release() {
  if (recorded) {
    (void)gpu.use();
    (void)gpu.driver.cuGraphExecDestroy(recorded);
  }
  recorded = nullptr;
}

}  // namespace talc::cuda
