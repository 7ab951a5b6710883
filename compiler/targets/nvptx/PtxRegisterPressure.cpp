// SPDX-License-Identifier: Apache-2.0
// Liveness analysis over the blocks of a kernel: a block ends at a branch or in front of a label.
//
//   live in = used before it is defined, or live out and not defined;   live out = live in of the successors
//
// Stores, branches and the like define nothing; every other instruction defines its first operand, which may be a list
// in braces. A predicated instruction may keep the old value of what it defines, so it uses it, too.
#include "compiler/targets/nvptx/PtxRegisters.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using llvm::StringRef;

namespace talc::nvptx {

namespace {

using Registers = std::set<StringRef>;

struct Instruction {
  Registers defined, used;
};

struct Block {
  std::vector<Instruction> instructions;
  StringRef target;  // of a branch at its end
  bool fallsThrough = true;
  Registers in;
};

// The registers that a text mentions, without predicates and special registers (%tid.x).
Registers registersIn(StringRef text) {
  Registers registers;
  for (size_t at = text.find('%'); at != StringRef::npos; at = text.find('%', at + 1)) {
    StringRef name = text.drop_front(at).take_front(1 + text.drop_front(at + 1).take_while(llvm::isAlnum).size());
    if (!name.starts_with("%p") && llvm::isDigit(name.back()) && !text.drop_front(at + name.size()).starts_with("."))
      registers.insert(name);
  }
  return registers;
}

bool definesNothing(StringRef opcode) {
  for (StringRef name : {"st.", "bra", "ret", "bar", "red.", "cp.async", "membar", "fence", "prefetch", "trap"})
    if (opcode.starts_with(name))
      return true;
  return false;
}

Instruction parse(StringRef text, bool isPredicated) {
  StringRef opcode = text.take_until(llvm::isSpace), operands = text.drop_front(opcode.size()).ltrim();
  Instruction result;
  if (!definesNothing(opcode)) {
    size_t end = operands.starts_with("{") ? operands.find('}') : operands.find(',');
    result.defined = registersIn(operands.take_front(end));
    operands = end == StringRef::npos ? "" : operands.drop_front(end);
  }
  result.used = registersIn(operands);
  if (isPredicated)
    result.used.insert(result.defined.begin(), result.defined.end());
  return result;
}

struct Kernel {
  std::vector<Block> blocks = std::vector<Block>(1);
  llvm::StringMap<size_t> labels;

  void add(StringRef line) {
    bool isPredicated = line.consume_front("@");
    if (isPredicated)
      line = line.drop_until(llvm::isSpace).ltrim();
    Block &block = blocks.back();
    block.instructions.push_back(parse(line, isPredicated));
    bool isBranch = line.starts_with("bra");
    if (!isBranch && line != "ret")
      return;
    if (isBranch)
      block.target = line.drop_until([](char c) { return c == '$'; });
    block.fallsThrough = isPredicated;
    blocks.emplace_back();
  }

  explicit Kernel(StringRef ptx) {
    llvm::SmallVector<StringRef> lines;
    ptx.split(lines, '\n');
    size_t begin = 0;  // of an instruction, which may span several lines
    for (StringRef line : lines) {
      size_t end = line.end() - ptx.begin();
      line = line.split("//").first.trim();
      if (line.starts_with("$") && line.consume_back(":")) {
        blocks.emplace_back();
        labels[line] = blocks.size() - 1;
      } else if (!line.empty() && !line.ends_with(";") && !line.ends_with("{") && !line.starts_with(".")) {
        continue;
      } else if (line.ends_with(";") && !line.starts_with(".")) {
        add(ptx.slice(begin, end).split(';').first.trim());
      }
      begin = end;
    }
  }

  Registers liveOut(size_t number) const {
    const Block &block = blocks[number];
    Registers live;
    if (block.fallsThrough && number + 1 < blocks.size())
      live = blocks[number + 1].in;
    if (auto target = labels.find(block.target); target != labels.end())
      live.insert(blocks[target->second].in.begin(), blocks[target->second].in.end());
    return live;
  }
};

int64_t count32Bits(const Registers &registers) {
  return std::count_if(registers.begin(), registers.end(), [](StringRef name) { return name.contains('d'); }) +
         static_cast<int64_t>(registers.size());
}

// Walks a block backward from what is alive at its end to what is alive at its begin.
Registers walkBackward(const Block &block, Registers live, int64_t &maximum) {
  for (auto at = block.instructions.rbegin(); at != block.instructions.rend(); ++at) {
    Registers both = live;
    both.insert(at->defined.begin(), at->defined.end());
    maximum = std::max(maximum, count32Bits(both));
    for (StringRef name : at->defined)
      live.erase(name);
    live.insert(at->used.begin(), at->used.end());
  }
  maximum = std::max(maximum, count32Bits(live));
  return live;
}

}  // namespace

int64_t ptxRegisterPressure(StringRef ptx) {
  Kernel kernel(ptx);
  int64_t maximum = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = kernel.blocks.size(); i-- > 0;) {
      Registers in = walkBackward(kernel.blocks[i], kernel.liveOut(i), maximum);
      changed |= in != kernel.blocks[i].in;
      kernel.blocks[i].in = std::move(in);
    }
  }
  return maximum;
}

}  // namespace talc::nvptx
