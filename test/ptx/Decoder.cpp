// SPDX-License-Identifier: Apache-2.0
// Gives registers, numbers and variables their places, and asks the files of instructions/ for each statement.
#include "test/ptx/Decoder.h"

#include "test/ptx/Fault.h"

#include <algorithm>
#include <cstring>

namespace talc::ptx {

// The registers of a warp: constants come first, so that they are copied at once. Until all statements are decoded
// nobody knows how many there are, so places of registers are counted from here.
constexpr uint64_t registerBase = 1 << 20;

static const std::pair<const char *, Special> specialNames[] = {
    {"%tid.x", Special::TidX},     {"%tid.y", Special::TidY},     {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},   {"%ntid.y", Special::NtidY},   {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaX},   {"%ctaid.y", Special::CtaY},   {"%ctaid.z", Special::CtaZ},
    {"%nctaid.x", Special::NctaX}, {"%nctaid.y", Special::NctaY}, {"%nctaid.z", Special::NctaZ},
    {"%laneid", Special::Lane},    {"%warpid", Special::Warp},
};

static uint32_t typeWidth(const RegisterRange &range) {
  if (range.type == "pred")
    return 0;
  int bits = atoi(range.type.c_str() + 1);
  if (bits != 16 && bits != 32 && bits != 64)
    throw Fault("registers of type ." + range.type + " are not known to the emulator");
  return bits / 8;
}

static uint64_t laneBytes(uint32_t width) {
  return width ? width * warpLanes : sizeof(uint32_t);
}

static uint64_t roundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Decoder::Decoder(const Function &function, const std::map<std::string, uint64_t> &globals,
                 const std::vector<Variable> &moduleShared)
    : function(function), globals(globals), kernel(new Kernel) {
  kernel->name = function.name;
  kernel->maxThreads = function.maxThreads;
  placeParameters();
  placeVariables(moduleShared);
  placeRegisters();
}

void Decoder::fail(const Statement &statement, const std::string &what) {
  throw SyntaxFault(statement.line, statement.text, what);
}

void Decoder::placeParameters() {
  for (const Variable &parameter : function.parameters) {
    uint64_t offset = roundUp(kernel->parameterBytes, std::max<uint64_t>(parameter.alignment, 1));
    kernel->parameters.push_back({offset, parameter.bytes});
    variables[parameter.name] = offset;
    kernel->parameterBytes = offset + parameter.bytes;
  }
}

// Dynamic shared memory, whose size a launch gives, comes behind the rest.
void Decoder::placeVariables(const std::vector<Variable> &moduleShared) {
  std::vector<Variable> all = moduleShared;
  all.insert(all.end(), function.variables.begin(), function.variables.end());
  for (bool dynamic : {false, true})
    for (const Variable &variable : all) {
      if ((variable.bytes == 0) != dynamic)
        continue;
      uint64_t &bytes = variable.space == "local" ? kernel->localBytes : kernel->sharedBytes;
      uint64_t offset = roundUp(bytes, std::max<uint64_t>(variable.alignment, 16));
      variables[variable.name] = offset;
      bytes = dynamic ? bytes : offset + variable.bytes;
      if (dynamic)
        kernel->sharedBytes = offset;
    }
}

void Decoder::placeRegisters() {
  uint64_t place = registerBase;
  for (const RegisterRange &range : function.registers) {
    uint32_t width = typeWidth(range), count = std::max(range.count, 1u);
    place = roundUp(place, 64);
    banks[range.prefix] = {width, range.count, place};
    place += laneBytes(width) * count;
  }
  kernel->registerBytes = roundUp(place, 64);
}

bool Decoder::findRegister(const std::string &name, uint32_t &place, uint32_t &bytes) const {
  size_t digits = name.find_last_not_of("0123456789") + 1;
  auto bank = banks.find(name);  // a register without a number
  uint32_t index = 0;
  if (bank == banks.end() || bank->second.count) {
    bank = banks.find(name.substr(0, digits));
    if (bank == banks.end() || digits == name.size())
      return false;
    index = static_cast<uint32_t>(atoi(name.c_str() + digits));
    if (index >= bank->second.count)
      return false;
  }
  bytes = bank->second.bytes;
  place = static_cast<uint32_t>(bank->second.place + index * laneBytes(bytes));
  return true;
}

bool Decoder::findSpecial(const std::string &name, uint32_t &place) {
  for (const auto &[specialName, which] : specialNames) {
    if (name != specialName)
      continue;
    auto [entry, isNew] = specials.try_emplace(name, 0);
    if (isNew) {
      entry->second = static_cast<uint32_t>(kernel->registerBytes);
      kernel->registerBytes += laneBytes(4);
      kernel->specials.push_back({which, entry->second});
    }
    place = entry->second;
    return true;
  }
  return false;
}

uint32_t Decoder::constant(uint64_t value, uint32_t bytes) {
  value = bytes == 0 ? (value ? UINT32_MAX : 0) : bytes < 8 ? value & ((1ull << 8 * bytes) - 1) : value;
  auto [entry, isNew] = constants.try_emplace({value, bytes}, 0);
  if (!isNew)
    return entry->second;
  size_t place = roundUp(kernel->constants.size(), bytes ? 64 : 4);
  entry->second = static_cast<uint32_t>(place);
  kernel->constants.resize(place + laneBytes(bytes));
  if (kernel->constants.size() > registerBase)
    throw Fault("more numbers in a kernel than the emulator has room for");
  for (uint64_t at = place; at < kernel->constants.size(); at += bytes ? bytes : 4)
    memcpy(&kernel->constants[at], &value, bytes ? bytes : 4);
  return entry->second;
}

uint32_t Decoder::symbol(const Statement &statement, const std::string &name, uint64_t offset, uint32_t bytes) {
  auto local = variables.find(name);
  if (local != variables.end())
    return constant(local->second + offset, bytes);
  auto global = globals.find(name);
  if (global == globals.end())
    fail(statement, "'" + name + "' is unknown");
  return constant(global->second + offset, bytes);
}

uint32_t Decoder::place(const Statement &statement, const Operand &operand, uint32_t bytes) {
  uint32_t offset = 0, width = 0;
  if (operand.kind == Operand::Kind::Number)
    return constant(operand.number, bytes);
  if (operand.kind != Operand::Kind::Name)
    fail(statement, "expected a register or a number");
  if (findRegister(operand.name, offset, width)) {
    if (width != bytes)
      fail(statement, operand.name + " has another width than the instruction");
    return offset;
  }
  if (bytes == 4 && findSpecial(operand.name, offset))
    return offset;
  return symbol(statement, operand.name, operand.number, bytes);
}

uint32_t Decoder::operandOffset(const Statement &statement, const Operand &operand, uint8_t &bytes) {
  uint32_t offset = 0, width = 0;
  if (operand.kind == Operand::Kind::Name && findRegister(operand.name, offset, width)) {
    bytes = static_cast<uint8_t>(width);
    return offset;
  }
  return place(statement, operand, bytes);
}

void Decoder::address(const Statement &statement, const Operand &operand, uint32_t &base, Instruction &instruction) {
  if (operand.kind != Operand::Kind::Address)
    fail(statement, "expected an address");
  uint32_t width = 0;
  instruction.offset = static_cast<int64_t>(operand.number);
  instruction.wide = true;
  if (operand.name.empty()) {
    base = constant(0, 8);
  } else if (findRegister(operand.name, base, width)) {
    instruction.wide = width == 8;
    if (width != 8 && width != 4)
      fail(statement, "an address has neither 32 nor 64 bits");
  } else {
    base = symbol(statement, operand.name, 0, 8);
  }
}

uint32_t Decoder::label(const Statement &statement, const std::string &name) const {
  auto it = function.labels.find(name);
  if (it == function.labels.end())
    fail(statement, "the label is nowhere");
  return it->second;
}

uint32_t Decoder::branchTable(const Statement &statement, const std::string &name) {
  auto it = function.branchTargets.find(name);
  if (it == function.branchTargets.end())
    fail(statement, "the table of labels is nowhere");
  std::vector<uint32_t> &table = kernel->branchTables.emplace_back();
  for (const std::string &target : it->second)
    table.push_back(label(statement, target));
  return static_cast<uint32_t>(kernel->branchTables.size() - 1);
}

static const LaneTable &laneTable() {
  static const LaneTable table = [] {
    LaneTable rows;
    for (auto add : {addIntegers, addBits, addFloats, addHalves, addComparisons})
      add(rows);
    return rows;
  }();
  return table;
}

static bool decodeLanes(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  auto row = laneTable().find(statement.mnemonic());
  if (row == laneTable().end())
    return false;
  const std::vector<uint8_t> &widths = row->second.widths;
  if (statement.operands.size() != widths.size())
    Decoder::fail(statement, "expected " + std::to_string(widths.size()) + " operands");
  instruction.execute = row->second.execute;
  instruction.kind = row->second.kind;
  for (size_t i = 0; i < widths.size(); ++i)
    instruction.operands[i] = decoder.place(statement, statement.operands[i], widths[i]);
  return true;
}

// The byte of a register that a store takes is its lower one, but ptxas 13.0 takes numbers of 16 bits for what is to be
// converted to a byte.
void Decoder::checkHalves(const Statement &statement) {
  const std::vector<std::string> &modifiers = statement.modifiers;
  if (modifiers.empty() || statement.operands.empty())
    return;
  const bool isByte = modifiers.back() == "b8" || modifiers.back() == "u8" || modifiers.back() == "s8";
  if (statement.opcode == "st" && isByte && halves.count(statement.operands.back().name))
    fail(statement, "stores the lower byte of a number of 16 bits, which ptxas converts to a byte instead");
  if (statement.opcode == "st")
    return;
  const size_t type = modifiers.size() - (statement.opcode == "cvt" && modifiers.size() > 1 ? 2 : 1);
  if (modifiers[type] == "f16" || modifiers[type] == "bf16")
    halves.insert(statement.operands[0].name);
}

Instruction Decoder::decode(const Statement &statement) {
  checkHalves(statement);
  Instruction instruction;
  instruction.line = statement.line;
  instruction.statement = static_cast<uint32_t>(kernel->texts.size());
  kernel->texts.push_back(statement.text);
  if (!statement.guard.empty()) {
    Operand guard;
    guard.name = statement.guard;
    instruction.guard = place(statement, guard, 0);
    instruction.guardNegated = statement.guardNegated;
  }
  for (auto decodes : {decodeLanes, decodeAccess, decodeMove, decodeConversion, decodeControl, decodeAsyncCopy,
                       decodeAtomic, decodeExchange, decodeMatrix})
    if (decodes(*this, statement, instruction))
      return instruction;
  fail(statement, "not known to the emulator");
}

// Constants end where registers begin.
void Decoder::finish() {
  const uint64_t shift = registerBase - roundUp(kernel->constants.size(), 64);
  auto move = [&](uint32_t &place) { place -= place != noPlace && place >= registerBase ? shift : 0; };
  for (Instruction &instruction : kernel->code) {
    move(instruction.guard);
    move(instruction.members);
    for (uint32_t &operand : instruction.operands)
      move(operand);
  }
  for (SpecialPlace &special : kernel->specials)
    move(special.place);
  kernel->registerBytes -= shift;
}

std::unique_ptr<Kernel> Decoder::run() {
  for (const Statement &statement : function.statements)
    kernel->code.push_back(decode(statement));
  Instruction end;
  end.flow = Flow::Exit;
  end.kind = InstructionClass::Branch;
  end.statement = static_cast<uint32_t>(kernel->texts.size());
  kernel->texts.push_back("the end of the kernel");
  kernel->code.push_back(end);
  finish();
  return std::move(kernel);
}

std::unique_ptr<Kernel> decodeKernel(const Function &function, const std::map<std::string, uint64_t> &globals,
                                     const std::vector<Variable> &shared) {
  return Decoder(function, globals, shared).run();
}

}  // namespace talc::ptx
