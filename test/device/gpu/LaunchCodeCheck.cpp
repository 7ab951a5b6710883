// SPDX-License-Identifier: Apache-2.0
// Tables of launches from hostile artifacts: each is refused with what is wrong, or harmless.
#include "runtime/device/gpu/LaunchCode.h"
#include "test/runtime/FakeGpuCode.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>

namespace talc::test {

using namespace artifact;

static ModelInfo facts() {
  ModelInfo facts = {};
  facts.kind = static_cast<uint32_t>(ModelKind::EncoderDecoder);
  facts.weightBytes = 4096;
  facts.kvBytesPerSlot = 1024;
  facts.arenaBytesPerToken = 64;
  facts.arenaBytesFixed = facts.arenaBytesPerThread = 128;
  return facts;
}

static std::string readTables(const Bytes &bytes) {
  LaunchCode code;
  return code.read(bytes.data(), bytes.size(), facts());
}

static bool refuses(FakeGpuTables tables, const char *part) {
  std::string wrong = readTables(makeGpuCode(tables));
  return expect(wrong.find(part) != std::string::npos, std::string("expected '") + part + "', found '" + wrong + "'");
}

template <typename Change> static FakeGpuTables changed(Change change) {
  FakeGpuTables tables = makeGpuTables();
  change(tables);
  return tables;
}

static bool refusesWrongTables() {
  using T = FakeGpuTables;
  bool good = refuses(changed([](T &t) { t.header.magic[7] = '9'; }), "has other tables than this runtime knows");
  good &= refuses(changed([](T &t) { t.header.kernelCount = UINT32_MAX; }), "an impossible number of kernels");
  good &= refuses(changed([](T &t) { t.header.argumentCount = 1 << 20; }), "is too short for its tables");
  good &= refuses(changed([](T &t) { t.header.moduleCount = 17; }), "an impossible number of kernels");
  good &= refuses(changed([](T &t) { t.module.bytes = UINT64_MAX; }), "module outside the section");
  good &= refuses(changed([](T &t) { t.module.bytes = 0; }), "module outside the section");
  good &= refuses(changed([](T &t) { t.kernel.module = 1; }), "a kernel whose module is missing");
  good &= refuses(changed([](T &t) { memset(t.kernel.name, 'x', sizeof(t.kernel.name)); }), "whose name has no end");
  good &= refuses(changed([](T &t) { t.kernel.threads = 2048; }), "impossible number of threads");
  good &= refuses(changed([](T &t) { t.kernel.grid.divisor = 0; }), "an impossible grid");
  good &= refuses(changed([](T &t) { t.kernel.grid.rows = 5; }), "an impossible grid");
  good &= refuses(changed([](T &t) { t.kernel.grid.rows = 1; }), "whose number of rows is an address");
  good &= refuses(changed([](T &t) { t.launch.kernel = 1; }), "a kernel that it does not have");
  good &= refuses(changed([](T &t) { t.launch.firstArgument = 1; }), "without all its arguments");
  good &= refuses(changed([](T &t) { t.arguments[1].base = 99; }), "an argument of an unknown kind");
  good &= refuses(changed([](T &t) { t.arguments[1].fixed = 4096; }), "lies outside its buffer");
  good &= refuses(changed([](T &t) { t.arguments[1].fixed = -1; }), "an argument of an unknown kind");
  good &= refuses(changed([](T &t) { t.arguments[2].perToken = 1; }), "lies outside its buffer");
  good &= refuses(changed([](T &t) { t.entries[2].launchCount = 2; }), "launches outside its table");
  good &= refuses(changed([](T &t) { t.entries[0].name[0] = 'x'; }), "lacks an entry of the model");
  good &= refuses(changed([](T &t) { t.entries[1].persistentKernel = 1; }), "an impossible persistent kernel");
  good &= refuses(changed([](T &t) { t.entries[1].persistentKernel = 0; }), "an impossible persistent kernel");
  good &= refuses(changed([](T &t) {
                    t.kernel.argumentCount = persistentArguments;
                    t.kernel.grid.rows = noArgument;
                    t.entries[1].persistentKernel = 0;
                  }),
                  "a persistent kernel without room for its pieces");
  return good;
}

// Whatever passes gives numbers without overflow, and grids that can be launched or are known to be too large.
static void use(const LaunchCode &code) {
  LaunchValues values = {};
  values.tokens = INT32_MAX;
  for (uint64_t &base : values.bases)
    base = UINT32_MAX;
  for (const LaunchEntry &entry : code.entries())
    for (uint32_t i = 0; i < entry.launchCount; ++i)
      (void)code.gridX(code.launch(entry.firstLaunch + i), values);
}

bool checkLaunchCode(const Arguments &) {
  const Bytes valid = makeGpuCode(makeGpuTables());
  bool good = expect(readTables(valid).empty(), "valid tables") && refusesWrongTables();
  for (size_t size = 0; size < sizeof(FakeGpuTables); ++size)
    good &= expect(!readTables(Bytes(valid.begin(), valid.begin() + static_cast<long>(size))).empty(), "cut tables");
  for (size_t i = 0; i < sizeof(FakeGpuTables); ++i)
    for (unsigned char byte : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      Bytes bytes = valid;
      bytes[i] = byte;
      LaunchCode code;
      if (code.read(bytes.data(), bytes.size(), facts()).empty())
        use(code);
    }
  return good;
}

}  // namespace talc::test
