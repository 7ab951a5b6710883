// SPDX-License-Identifier: Apache-2.0
// PTX text as it is written: kernels, variables, and statements whose opcodes nobody has looked at.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace talc::ptx {

struct Operand {
  enum class Kind { Name, Number, Address, List };
  Kind kind = Kind::Name;
  std::string name;               // of a register, variable or label; of an address: its base, or empty
  uint64_t number = 0;            // the bits of a number, or what an address adds to its base
  std::vector<Operand> elements;  // {a, b}, and a|b
};

struct Statement {
  int line = 0;
  std::string text;   // for messages
  std::string guard;  // %p1 of @%p1; empty: none
  bool guardNegated = false;
  std::string opcode;                  // ld
  std::vector<std::string> modifiers;  // global, v4, b32
  std::vector<Operand> operands;

  bool has(const char *modifier) const;
  std::string mnemonic() const;  // ld.global.v4.b32
};

struct Variable {
  std::string name, space;  // space: shared, global, const, local, param
  uint64_t alignment = 1, bytes = 0;
  std::vector<unsigned char> values;  // fewer than bytes: the rest is zero
};

struct RegisterRange {
  std::string prefix, type;  // %r, b32
  uint32_t count = 0;        // 0: one register that is called as the prefix
};

struct Function {
  std::string name;
  std::vector<Variable> parameters, variables;
  uint64_t maxThreads = 0;  // of a workgroup; 0: any
  std::vector<RegisterRange> registers;
  std::vector<Statement> statements;
  std::map<std::string, uint32_t> labels;                         // to statements
  std::map<std::string, std::vector<std::string>> branchTargets;  // of tables of labels
};

struct SourceText {
  std::vector<Variable> variables;
  std::vector<Function> kernels;
};

// Throws a Fault that names the line, where the text is not PTX or has more of it than this emulator knows.
SourceText parsePtx(const std::string &text);

}  // namespace talc::ptx
