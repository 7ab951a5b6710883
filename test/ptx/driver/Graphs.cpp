// SPDX-License-Identifier: Apache-2.0
// Streams that record their work, and graphs that put it into streams again.
#include "test/ptx/driver/Interface.h"

namespace talc::cuda {

Result cuStreamBeginCapture_v2(Stream stream, CaptureMode) {
  FAKE_CUDA_ENTER();
  if (stream->recording)
    return InvalidValue;
  stream->recording = std::make_unique<GraphObject>();
  return Success;
}

// A call that fails ends the recording, too.
Result cuStreamEndCapture(Stream stream, Graph *graph) {
  std::unique_ptr<GraphObject> recorded = std::move(stream->recording);
  *graph = nullptr;
  FAKE_CUDA_ENTER();
  if (!recorded)
    return InvalidValue;
  *graph = recorded.release();
  driver.graphs.insert(*graph);
  return Success;
}

Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph, unsigned long long flags) {
  FAKE_CUDA_ENTER();
  if (flags != 0 || driver.graphs.count(graph) == 0)
    return InvalidValue;
  *exec = new GraphExecObject{graph->work};
  driver.graphExecs.insert(*exec);
  return Success;
}

Result cuGraphLaunch(GraphExec exec, Stream stream) {
  FAKE_CUDA_ENTER();
  if (driver.graphExecs.count(exec) == 0)
    return InvalidValue;
  for (const std::function<Result()> &next : exec->work)
    stream->add(next);
  return Success;
}

Result cuGraphExecDestroy(GraphExec exec) {
  ptx::Driver &driver = ptx::Driver::get();
  if (driver.graphExecs.erase(exec) == 0)
    return InvalidValue;
  delete exec;
  return driver.enter(__func__);
}

Result cuGraphDestroy(Graph graph) {
  ptx::Driver &driver = ptx::Driver::get();
  if (driver.graphs.erase(graph) == 0)
    return InvalidValue;
  delete graph;
  return driver.enter(__func__);
}

}  // namespace talc::cuda
