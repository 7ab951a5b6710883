// SPDX-License-Identifier: Apache-2.0
// Decodes all kernels of a text once.
#include "test/ptx/Fault.h"
#include "test/ptx/Program.h"

#include <cstring>

namespace talc::ptx {

Module::Module(const std::string &text, Memory &memory) : memory(memory) {
  const SourceText source = parsePtx(text);
  std::vector<Variable> shared;
  for (const Variable &variable : source.variables) {
    if (variable.space == "shared") {
      shared.push_back(variable);
      continue;
    }
    uint64_t address = memory.allocate(variable.bytes);
    if (!address)
      throw Fault("no memory for the variable " + variable.name);
    globals[variable.name] = address;
    unsigned char *content = memory.find(address, variable.bytes);
    memset(content, 0, variable.bytes);
    memcpy(content, variable.values.data(), variable.values.size());
  }
  for (const Function &function : source.kernels)
    kernels.push_back(decodeKernel(function, globals, shared));
}

Module::~Module() {
  for (const auto &[name, address] : globals)
    memory.release(address);
}

const Kernel *Module::find(const std::string &name) const {
  for (const auto &kernel : kernels)
    if (kernel->name == name)
      return kernel.get();
  return nullptr;
}

uint64_t Module::address(const std::string &variable) const {
  auto it = globals.find(variable);
  return it == globals.end() ? 0 : it->second;
}

}  // namespace talc::ptx
