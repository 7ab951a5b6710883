// SPDX-License-Identifier: Apache-2.0
// What talc uses of NVIDIA's driver interface, declared by itself: no file of a toolkit is needed to build it. Names,
// numbers and types are those of the driver's documentation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace talc::cuda {

enum Result : int32_t {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  UnsupportedPtxVersion = 222,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  NotSupported = 801,
  SystemDriverMismatch = 803,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  Unknown = 999,
};

enum DeviceAttribute : int32_t {
  MaxSharedMemoryPerBlock = 8,
  MultiprocessorCount = 16,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  CooperativeLaunch = 95,
  MaxSharedMemoryPerBlockOptin = 97,
};

enum FunctionAttribute : int32_t {
  FunctionSharedBytes = 1,
  FunctionLocalBytes = 3,
  FunctionRegisters = 4,
  FunctionMaxDynamicSharedBytes = 8,
};

enum StreamFlag : unsigned { StreamNonBlocking = 1 };
enum CaptureMode : int32_t { CaptureThreadLocal = 1 };

enum JitOption : int32_t { JitErrorLogBuffer = 5, JitErrorLogBufferBytes = 6 };

using Device = int32_t;
using Address = uint64_t;  // on the device; 0: none
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using Graph = struct GraphObject *;
using GraphExec = struct GraphExecObject *;

// Name in the library, and type. A driver without one of them is not used.
#define TALC_CUDA_FUNCTIONS(FUNCTION)                                                                                  \
  FUNCTION(cuInit, unsigned flags)                                                                                     \
  FUNCTION(cuDriverGetVersion, int32_t *version)                                                                       \
  FUNCTION(cuGetErrorName, Result error, const char **name)                                                            \
  FUNCTION(cuGetErrorString, Result error, const char **text)                                                          \
  FUNCTION(cuDeviceGetCount, int32_t *count)                                                                           \
  FUNCTION(cuDeviceGet, Device *device, int32_t ordinal)                                                               \
  FUNCTION(cuDeviceGetName, char *name, int32_t size, Device device)                                                   \
  FUNCTION(cuDeviceTotalMem_v2, size_t *bytes, Device device)                                                          \
  FUNCTION(cuDeviceGetAttribute, int32_t *value, DeviceAttribute attribute, Device device)                             \
  FUNCTION(cuDevicePrimaryCtxRetain, Context *context, Device device)                                                  \
  FUNCTION(cuDevicePrimaryCtxRelease_v2, Device device)                                                                \
  FUNCTION(cuCtxSetCurrent, Context context)                                                                           \
  FUNCTION(cuMemGetInfo_v2, size_t *available, size_t *total)                                                          \
  FUNCTION(cuModuleLoadDataEx, Module *module, const void *image, unsigned count, JitOption *options, void **values)   \
  FUNCTION(cuModuleUnload, Module module)                                                                              \
  FUNCTION(cuModuleGetFunction, Function *function, Module module, const char *name)                                   \
  FUNCTION(cuFuncGetAttribute, int32_t *value, FunctionAttribute attribute, Function function)                         \
  FUNCTION(cuFuncSetAttribute, Function function, FunctionAttribute attribute, int32_t value)                          \
  FUNCTION(cuMemAlloc_v2, Address *address, size_t bytes)                                                              \
  FUNCTION(cuMemFree_v2, Address address)                                                                              \
  FUNCTION(cuMemHostAlloc, void **memory, size_t bytes, unsigned flags)                                                \
  FUNCTION(cuMemFreeHost, void *memory)                                                                                \
  FUNCTION(cuMemcpyHtoDAsync_v2, Address target, const void *source, size_t bytes, Stream stream)                      \
  FUNCTION(cuMemcpyDtoHAsync_v2, void *target, Address source, size_t bytes, Stream stream)                            \
  FUNCTION(cuMemsetD8Async, Address target, unsigned char value, size_t bytes, Stream stream)                          \
  FUNCTION(cuStreamCreate, Stream *stream, unsigned flags)                                                             \
  FUNCTION(cuStreamDestroy_v2, Stream stream)                                                                          \
  FUNCTION(cuStreamSynchronize, Stream stream)                                                                         \
  FUNCTION(cuEventCreate, Event *event, unsigned flags)                                                                \
  FUNCTION(cuEventDestroy_v2, Event event)                                                                             \
  FUNCTION(cuEventRecord, Event event, Stream stream)                                                                  \
  FUNCTION(cuEventSynchronize, Event event)                                                                            \
  FUNCTION(cuEventElapsedTime, float *milliseconds, Event begin, Event end)                                            \
  FUNCTION(cuLaunchKernel, Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,         \
           unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters, void **extra)     \
  FUNCTION(cuLaunchCooperativeKernel, Function function, unsigned gridX, unsigned gridY, unsigned gridZ,               \
           unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters)  \
  FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor, int32_t *blocks, Function function, int32_t blockSize,         \
           size_t dynamicBytes)

// Functions that only newer drivers have.
#define TALC_CUDA_GRAPH_FUNCTIONS(FUNCTION)                                                                            \
  FUNCTION(cuStreamBeginCapture_v2, Stream stream, CaptureMode mode)                                                   \
  FUNCTION(cuStreamEndCapture, Stream stream, Graph *graph)                                                            \
  FUNCTION(cuGraphInstantiateWithFlags, GraphExec *exec, Graph graph, unsigned long long flags)                        \
  FUNCTION(cuGraphLaunch, GraphExec exec, Stream stream)                                                               \
  FUNCTION(cuGraphExecDestroy, GraphExec exec)                                                                         \
  FUNCTION(cuGraphDestroy, Graph graph)

}  // namespace talc::cuda
