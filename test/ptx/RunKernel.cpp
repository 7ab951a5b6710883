// SPDX-License-Identifier: Apache-2.0
// ptx-run FILE [OPTION...] ARGUMENT...: runs a kernel on the emulator, for tests in PTX.
//
//   --kernel=NAME  --grid=X[,Y]  --block=X  --shared=BYTES  --cooperative  --backwards  --counts  --twice
//
// Arguments are those of the kernel: a number (7), or memory, TYPE:COUNT[:FILLING[=]]. TYPE is u32, f32 or u16; FILLING
// is zero (the default), index (0, 1, 2, ...), junk, or ones. Memory whose argument ends in '=' is printed at the end.
#include "test/ptx/Fault.h"
#include "test/ptx/Launch.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace talc::ptx;

namespace {

struct Buffer {
  std::string type;
  uint64_t address = 0, count = 0;
  bool printed = false;

  uint64_t width() const { return type == "u16" ? 2 : 4; }
};

struct Command {
  std::string file, kernel;
  LaunchShape shape;
  LaunchSettings settings;
  bool counts = false, time = false;
  std::vector<std::string> arguments;
};

// "NAME=", and the rest.
bool takeOption(const std::string &argument, const std::string &name, std::string &value) {
  if (argument.compare(0, name.size(), name) != 0)
    return false;
  value = argument.substr(name.size());
  return true;
}

Extent readExtent(const std::string &text) {
  Extent extent = {1, 1, 1};
  sscanf(text.c_str(), "%u,%u,%u", &extent[0], &extent[1], &extent[2]);
  return extent;
}

Command readCommand(int count, char **arguments) {
  Command command;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i], value;
    if (takeOption(argument, "--kernel=", command.kernel))
      continue;
    if (takeOption(argument, "--grid=", value))
      command.shape.grid = readExtent(value);
    else if (takeOption(argument, "--block=", value))
      command.shape.block = readExtent(value);
    else if (takeOption(argument, "--shared=", value))
      command.shape.dynamicShared = std::stoull(value);
    else if (argument == "--cooperative")
      command.shape.cooperative = true;
    else if (argument == "--backwards")
      command.settings.backwards = true;
    else if (argument == "--counts")
      command.counts = true;
    else if (argument == "--time")
      command.time = true;
    else if (command.file.empty())
      command.file = argument;
    else
      command.arguments.push_back(argument);
  }
  return command;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw Fault("cannot open " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void fill(unsigned char *target, const Buffer &buffer, const std::string &filling) {
  for (uint64_t i = 0; i < buffer.count && filling != "junk"; ++i) {
    uint64_t number = filling == "index" ? i : filling == "ones" ? 1 : 0;
    auto real = static_cast<float>(number);
    memcpy(target + i * buffer.width(), buffer.type == "f32" ? static_cast<void *>(&real) : &number, buffer.width());
  }
}

// TYPE:COUNT[:FILLING][=]
Buffer makeBuffer(std::string text, Memory &memory) {
  Buffer buffer;
  if (text.back() == '=') {
    buffer.printed = true;
    text.pop_back();
  }
  std::istringstream parts(text);
  std::string count, filling;
  std::getline(parts, buffer.type, ':');
  std::getline(parts, count, ':');
  std::getline(parts, filling);
  buffer.count = std::stoull(count);
  buffer.address = memory.allocate(buffer.count * buffer.width());
  fill(memory.find(buffer.address, 1), buffer, filling);
  return buffer;
}

void print(const Buffer &buffer, Memory &memory) {
  const unsigned char *bytes = memory.find(buffer.address, buffer.count * buffer.width());
  for (uint64_t i = 0; i < buffer.count; ++i) {
    uint32_t bits = 0;
    memcpy(&bits, bytes + i * buffer.width(), buffer.width());
    float real;
    memcpy(&real, &bits, sizeof(real));
    buffer.type == "f32" ? printf(i ? " %g" : "%g", static_cast<double>(real)) : printf(i ? " %u" : "%u", bits);
  }
  printf("\n");
}

void run(const Command &command) {
  Memory memory(1ull << 34);
  Module module(readFile(command.file), memory);
  const Kernel *kernel = module.find(command.kernel);
  if (!kernel)
    throw Fault("no kernel is called " + command.kernel);
  std::vector<unsigned char> parameters(kernel->parameterBytes);
  std::vector<Buffer> buffers;
  if (kernel->parameters.size() != command.arguments.size())
    throw Fault("the kernel has " + std::to_string(kernel->parameters.size()) + " parameters");
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const std::string &text = command.arguments[i];
    bool isBuffer = text.find(':') != std::string::npos;
    if (isBuffer)
      buffers.push_back(makeBuffer(text, memory));
    uint64_t value = isBuffer ? buffers.back().address : std::stoull(text);
    memcpy(&parameters[kernel->parameters[i].offset], &value, kernel->parameters[i].bytes);
  }
  Counts counts;
  auto begin = std::chrono::steady_clock::now();
  Launch launch(*kernel, command.shape, parameters.data(), memory, &counts[kernel->name]);
  launch.run(command.settings);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (const Buffer &buffer : buffers)
    if (buffer.printed)
      print(buffer, memory);
  if (command.counts)
    fputs(countsTable(counts).c_str(), stdout);
  if (command.time)
    printf("%.0f million instructions of threads a second\n",
           static_cast<double>(counts[kernel->name].threadInstructions) / seconds.count() / 1e6);
}

}  // namespace

int main(int count, char **arguments) try {
  run(readCommand(count, arguments));
  return 0;
} catch (const std::exception &fault) {
  fprintf(stderr, "ptx-run: %s\n", fault.what());
  return 1;
}
