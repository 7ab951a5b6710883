// SPDX-License-Identifier: Apache-2.0
// A kernel in the form that runs: instructions whose operands are places in the registers of a warp.
//
// A register is an array of a value for each lane; a predicate is one word with a bit for each lane. Numbers, addresses
// of variables and special registers (%tid.x) are such arrays, too, filled before a warp begins, so that an instruction
// asks nothing about its operands: it loops over 32 lanes of arrays.
#pragma once

#include "test/ptx/Counts.h"
#include "test/ptx/Memory.h"
#include "test/ptx/Syntax.h"

#include <memory>
#include <string>
#include <vector>

namespace talc::ptx {

constexpr int warpLanes = 32;
constexpr uint32_t noPlace = UINT32_MAX;

class Warp;
struct Instruction;
// Executes an instruction for the lanes of a mask, which is not 0.
using Execute = void (*)(Warp &warp, const Instruction &instruction, uint32_t mask);

// Control flow: which instruction the lanes of a warp execute next.
enum class Flow : uint8_t {
  Next,         // lanes go on by themselves
  Together,     // lanes wait for each other first: those of the mask in `members`, or all that are left
  Branch,       // to `target`
  BranchTable,  // to one of the kernel's tables
  Exit,
  Barrier,  // operands: its number; for how many threads, or noPlace
};

enum class Space : uint8_t { Global, Shared, Local, Parameter, Generic };

struct Instruction {
  Execute execute = nullptr;
  Flow flow = Flow::Next;
  InstructionClass kind = InstructionClass::Integer;
  Space space = Space::Global;
  bool guardNegated = false, wide = false;  // wide: addresses have 64 bits
  bool yields = false;                      // others have their turn, for whom somebody may wait
  uint8_t count = 1;                        // elements of a vector, matrices, ...
  uint8_t bytes = 0, registerBytes = 0;     // of an element in memory, and of the registers that hold it
  uint8_t variant = 0;                      // what else an instruction is told
  uint32_t guard = noPlace, members = noPlace, target = 0;
  int32_t line = 0;
  uint32_t statement = 0;    // for messages
  int64_t offset = 0;        // of an address
  int64_t sourceOffset = 0;  // of the second one, if there are two
  uint32_t operands[16] = {};
};

// A special register of the warp, or of its lanes.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaX,
  CtaY,
  CtaZ,
  NctaX,
  NctaY,
  NctaZ,
  Lane,
  Warp
};

struct SpecialPlace {
  Special which;
  uint32_t place;
};

struct Parameter {
  uint64_t offset, bytes;
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<std::string> texts;  // of statements
  std::vector<std::vector<uint32_t>> branchTables;
  std::vector<Parameter> parameters;
  uint64_t parameterBytes = 0, maxThreads = 0;
  // Registers of a warp begin with `constants`; special registers and the rest follow.
  std::vector<unsigned char> constants;
  std::vector<SpecialPlace> specials;
  uint64_t registerBytes = 0, localBytes = 0, sharedBytes = 0;
};

// The kernels of a text; its global variables get memory.
class Module {
public:
  // Throws a SyntaxFault.
  Module(const std::string &text, Memory &memory);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const Kernel *find(const std::string &name) const;
  // 0: none.
  uint64_t address(const std::string &variable) const;

private:
  Memory &memory;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::map<std::string, uint64_t> globals;
};

// `globals`: addresses of variables. `shared`: those of the module.
std::unique_ptr<Kernel> decodeKernel(const Function &function, const std::map<std::string, uint64_t> &globals,
                                     const std::vector<Variable> &shared);

}  // namespace talc::ptx
