// SPDX-License-Identifier: Apache-2.0
// Decodes a Statement into an Instruction; the files of instructions/ share it.
#pragma once

#include "test/ptx/Program.h"

#include <functional>
#include <set>
#include <unordered_map>

namespace talc::ptx {

class Decoder {
public:
  Decoder(const Function &function, const std::map<std::string, uint64_t> &globals,
          const std::vector<Variable> &moduleShared);
  std::unique_ptr<Kernel> run();

  [[noreturn]] static void fail(const Statement &statement, const std::string &what);

  // The place of an operand, of so many bytes a lane; 0 stands for a predicate.
  uint32_t place(const Statement &statement, const Operand &operand, uint32_t bytes);
  // The same of any width; it is stored in `bytes`.
  uint32_t operandOffset(const Statement &statement, const Operand &operand, uint8_t &bytes);
  // Stores base and offset of an address.
  void address(const Statement &statement, const Operand &operand, uint32_t &base, Instruction &instruction);
  uint32_t constant(uint64_t value, uint32_t bytes);
  uint32_t label(const Statement &statement, const std::string &name) const;
  uint32_t branchTable(const Statement &statement, const std::string &name);

private:
  struct Bank {  // of registers with a prefix
    uint32_t bytes, count;
    uint64_t place;
  };

  void placeRegisters();
  void placeVariables(const std::vector<Variable> &moduleShared);
  void placeParameters();
  bool findRegister(const std::string &name, uint32_t &place, uint32_t &bytes) const;
  bool findSpecial(const std::string &name, uint32_t &place);
  uint32_t symbol(const Statement &statement, const std::string &name, uint64_t offset, uint32_t bytes);
  void checkHalves(const Statement &statement);
  Instruction decode(const Statement &statement);
  void finish();

  const Function &function;
  const std::map<std::string, uint64_t> &globals;
  std::unique_ptr<Kernel> kernel;
  std::map<std::string, Bank> banks;
  std::map<std::string, uint64_t> variables;  // addresses in their spaces
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> constants;
  std::map<std::string, uint32_t> specials;
  std::set<std::string> halves;  // registers that hold numbers of 16 bits
};

// An instruction whose lanes are independent of each other: what executes it, and the bytes of its operands (0: a
// predicate), that of the result first.
struct LaneRow {
  Execute execute;
  InstructionClass kind;
  std::vector<uint8_t> widths;
};
using LaneTable = std::unordered_map<std::string, LaneRow>;

// One file each. They add mnemonics, but for modifiers that mean nothing here.
void addIntegers(LaneTable &table);
void addBits(LaneTable &table);
void addFloats(LaneTable &table);
void addHalves(LaneTable &table);
void addComparisons(LaneTable &table);

// One file each. False: the opcode is another's.
bool decodeMove(Decoder &decoder, const Statement &statement, Instruction &instruction);
bool decodeConversion(Decoder &decoder, const Statement &statement, Instruction &instruction);
bool decodeControl(Decoder &decoder, const Statement &statement, Instruction &instruction);
bool decodeAccess(Decoder &decoder, const Statement &statement, Instruction &instruction);
bool decodeAsyncCopy(Decoder &decoder, const Statement &statement, Instruction &instruction);
bool decodeAtomic(Decoder &decoder, const Statement &statement, Instruction &instruction);
bool decodeExchange(Decoder &decoder, const Statement &statement, Instruction &instruction);
bool decodeMatrix(Decoder &decoder, const Statement &statement, Instruction &instruction);

}  // namespace talc::ptx
