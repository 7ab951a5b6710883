// SPDX-License-Identifier: Apache-2.0
// ptx-checks: single instructions, each on known values. A case is the text of an instruction, whose operands stand in
// registers of the types that it names, and what comes out.
#include "test/ptx/Fault.h"
#include "test/ptx/Launch.h"
#include "test/ptx/instructions/HalfFloats.h"

#include <cinttypes>
#include <cstdio>
#include <sstream>

using namespace talc::ptx;

namespace {

struct Case {
  const char *instruction;  // "add.s32", or with literal operands "setp.lt.f32 p"
  const char *types;        // of the result and of sources: b16, b32, b64, pred
  std::vector<uint64_t> sources;
  uint64_t expected;
};

constexpr uint64_t one = 0x3f800000, two = 0x40000000, three = 0x40400000, nan = 0x7fc00000, infinite = 0x7f800000;

const Case cases[] = {
    {"add.s32", "b32 b32 b32", {7, 0xffffffff}, 6},
    {"add.s64", "b64 b64 b64", {1ull << 40, 5}, (1ull << 40) + 5},
    {"add.s16", "b16 b16 b16", {0xffff, 2}, 1},
    {"sub.s32", "b32 b32 b32", {3, 5}, 0xfffffffe},
    {"mul.lo.s32", "b32 b32 b32", {0x10001, 0x10001}, 0x20001},
    {"mul.hi.u32", "b32 b32 b32", {0xffffffff, 0xffffffff}, 0xfffffffe},
    {"mul.hi.s32", "b32 b32 b32", {0xffffffff, 5}, 0xffffffff},
    {"mul.hi.u64", "b64 b64 b64", {1ull << 63, 6}, 3},
    {"mul.wide.s32", "b64 b32 b32", {0xffffffff, 3}, static_cast<uint64_t>(-3)},
    {"mul.wide.u32", "b64 b32 b32", {0xffffffff, 3}, 0x2fffffffdull},
    {"mul.wide.u16", "b32 b16 b16", {0xffff, 0xffff}, 0xfffe0001},
    {"mad.lo.s32", "b32 b32 b32 b32", {3, 4, 5}, 17},
    {"mad.wide.u32", "b64 b32 b32 b64", {3, 4, 1ull << 33}, (1ull << 33) + 12},
    {"mad.lo.s64", "b64 b64 b64 b64", {3, static_cast<uint64_t>(-4), 5}, static_cast<uint64_t>(-7)},
    {"div.s32", "b32 b32 b32", {0xfffffff9, 2}, 0xfffffffd},
    {"div.u32", "b32 b32 b32", {0xfffffff9, 2}, 0x7ffffffc},
    {"rem.s32", "b32 b32 b32", {0xfffffff9, 2}, 0xffffffff},
    {"rem.u64", "b64 b64 b64", {1000, 7}, 6},
    {"min.s32", "b32 b32 b32", {0xffffffff, 1}, 0xffffffff},
    {"min.u32", "b32 b32 b32", {0xffffffff, 1}, 1},
    {"max.s64", "b64 b64 b64", {static_cast<uint64_t>(-1), 1}, 1},
    {"neg.s32", "b32 b32", {5}, 0xfffffffb},
    {"abs.s32", "b32 b32", {0xfffffffb}, 5},
    {"and.b32", "b32 b32 b32", {0xf0f0, 0xff00}, 0xf000},
    {"or.b64", "b64 b64 b64", {1ull << 40, 1}, (1ull << 40) + 1},
    {"xor.b16", "b16 b16 b16", {0xff, 0xf0}, 0xf},
    {"not.b32", "b32 b32", {0xffff}, 0xffff0000},
    {"shl.b32", "b32 b32 b32", {1, 31}, 0x80000000},
    {"shl.b32", "b32 b32 b32", {1, 32}, 0},
    {"shr.u32", "b32 b32 b32", {0x80000000, 31}, 1},
    {"shr.s32", "b32 b32 b32", {0x80000000, 40}, 0xffffffff},
    {"shr.u64", "b64 b64 b32", {1ull << 63, 60}, 8},
    {"shf.l.wrap.b32", "b32 b32 b32 b32", {0x80000000, 1, 1}, 3},
    {"shf.r.wrap.b32", "b32 b32 b32 b32", {2, 1, 1}, 0x80000001},
    {"bfe.u32", "b32 b32 b32 b32", {0xabcd, 4, 8}, 0xbc},
    {"bfe.s32", "b32 b32 b32 b32", {0x80, 4, 4}, 0xfffffff8},
    {"bfe.s32", "b32 b32 b32 b32", {0x80000000, 28, 8}, 0xfffffff8},
    {"bfi.b32", "b32 b32 b32 b32 b32", {0xf, 0, 8, 4}, 0xf00},
    {"prmt.b32", "b32 b32 b32 b32", {0x44332211, 0x88776655, 0x7510}, 0x88662211},
    {"prmt.b32", "b32 b32 b32 b32", {0x80, 0, 0x8888}, 0xffffffff},
    {"popc.b64", "b32 b64", {0xff00ff00ff00ull}, 24},
    {"clz.b32", "b32 b32", {1}, 31},
    {"clz.b64", "b32 b64", {0}, 64},
    {"brev.b32", "b32 b32", {1}, 0x80000000},
    {"setp.lt.s32", "pred b32 b32", {0xffffffff, 0}, 1},
    {"setp.lt.u32", "pred b32 b32", {0xffffffff, 0}, 0},
    {"setp.ge.s64", "pred b64 b64", {5, 5}, 1},
    {"setp.eq.b16", "pred b16 b16", {5, 5}, 1},
    {"setp.lt.f32", "pred b32 b32", {one, nan}, 0},
    {"setp.ltu.f32", "pred b32 b32", {one, nan}, 1},
    {"setp.ne.f32", "pred b32 b32", {nan, one}, 0},
    {"setp.neu.f32", "pred b32 b32", {nan, one}, 1},
    {"setp.nan.f32", "pred b32 b32", {one, one}, 0},
    {"setp.gt.f16", "pred b16 b16", {0x4000, 0x3c00}, 1},
    {"selp.b32", "b32 b32 b32 pred", {3, 4, 1}, 3},
    {"selp.b64", "b64 b64 b64 pred", {3, 4, 0}, 4},
    {"add.rn.f32", "b32 b32 b32", {one, two}, three},
    {"sub.f32", "b32 b32 b32", {three, two}, one},
    {"mul.rn.f32", "b32 b32 b32", {two, two}, 0x40800000},
    {"fma.rn.f32", "b32 b32 b32 b32", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
    {"fma.rn.f64", "b64 b64 b64 b64", {0x4000000000000000, 0x4000000000000000, 0x3ff0000000000000}, 0x4014000000000000},
    {"div.rn.f32", "b32 b32 b32", {three, two}, 0x3fc00000},
    {"rcp.rn.f32", "b32 b32", {two}, 0x3f000000},
    {"sqrt.rn.f32", "b32 b32", {0x40800000}, two},
    {"rsqrt.approx.f32", "b32 b32", {0x40800000}, 0x3f000000},
    {"ex2.approx.f32", "b32 b32", {three}, 0x41000000},
    {"lg2.approx.f32", "b32 b32", {0x41000000}, three},
    {"tanh.approx.f32", "b32 b32", {infinite}, one},
    {"max.f32", "b32 b32 b32", {nan, one}, one},
    {"max.NaN.f32", "b32 b32 b32", {one, nan}, nan},
    {"min.f32", "b32 b32 b32", {two, one}, one},
    {"neg.f32", "b32 b32", {one}, 0xbf800000},
    {"abs.f32", "b32 b32", {0xbf800000}, one},
    {"copysign.f32", "b32 b32 b32", {0x80000000, one}, 0xbf800000},
    {"add.f16", "b16 b16 b16", {0x3c00, 0x4000}, 0x4200},
    {"fma.rn.bf16x2", "b32 b32 b32 b32", {0x3f804000, 0x40004000, 0x3f803f80}, 0x404040a0},
    {"cvt.s64.s32", "b64 b32", {0xffffffff}, static_cast<uint64_t>(-1)},
    {"cvt.u64.u32", "b64 b32", {0xffffffff}, 0xffffffff},
    {"cvt.u32.u64", "b32 b64", {0x1234567890ull}, 0x34567890},
    {"cvt.s32.s8", "b32 b32", {0x180}, 0xffffff80},
    {"cvt.u16.u32", "b16 b32", {0x12345}, 0x2345},
    {"cvt.rn.f32.s32", "b32 b32", {0xffffffff}, 0xbf800000},
    {"cvt.rn.f32.u32", "b32 b32", {0xffffffff}, 0x4f800000},
    {"cvt.rzi.s32.f32", "b32 b32", {0xbfc00000}, 0xffffffff},
    {"cvt.rni.s32.f32", "b32 b32", {0x40200000}, 2},
    {"cvt.rmi.f32.f32", "b32 b32", {0xbfc00000}, 0xc0000000},
    {"cvt.rzi.u32.f32", "b32 b32", {0xbf800000}, 0},
    {"cvt.rzi.s32.f32", "b32 b32", {infinite}, 0x7fffffff},
    {"cvt.sat.f32.f32", "b32 b32", {three}, one},
    {"cvt.f32.f16", "b32 b16", {0x3c00}, one},
    {"cvt.f32.bf16", "b32 b16", {0x3f80}, one},
    {"cvt.rn.f16.f32", "b16 b32", {0x477ff000}, 0x7c00},
    {"cvt.rn.f16.f32", "b16 b32", {0x33800000}, 1},
    {"cvt.rn.bf16.f32", "b16 b32", {0x3f808000}, 0x3f80},
    {"cvt.rn.bf16.f32", "b16 b32", {0x3f818000}, 0x3f82},
    {"cvt.rn.bf16x2.f32", "b32 b32 b32", {one, two}, 0x3f804000},
    {"cvt.rn.f16x2.f32", "b32 b32 b32", {one, two}, 0x3c004000},
    {"cvt.f64.f32", "b64 b32", {one}, 0x3ff0000000000000},
    {"cvt.rn.f32.f64", "b32 b64", {0x3ff0000010000000}, one},
};

std::vector<std::string> words(const char *text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;)
    result.push_back(word);
  return result;
}

// Sources are parameters; the result goes to the first 8 bytes of memory.
std::string makeKernel(const Case &test) {
  std::vector<std::string> types = words(test.types);
  std::string parameters = ".param .u64 out", loads, operands = "%d";
  for (size_t i = 1; i < types.size(); ++i) {
    std::string name = "s" + std::to_string(i), type = types[i] == "pred" ? "b32" : types[i];
    parameters += ", .param ." + type + " " + name;
    loads += ".reg ." + type + " %" + name + "x;\n.reg ." + types[i] + " %" + name + "p;\nld.param." + type + " %" +
             name + "x, [" + name + "];\n";
    loads += types[i] == "pred" ? "setp.ne.b32 %" + name + "p, %" + name + "x, 0;\n"
                                : "mov." + type + " %" + name + "p, %" + name + "x;\n";
    operands += ", %" + name + "p";
  }
  std::string store = types[0] == "pred" ? ".reg .b32 %w;\nselp.b32 %w, 1, 0, %d;\nst.global.b32 [%out], %w;\n"
                                         : "st.global." + types[0] + " [%out], %d;\n";
  return ".visible .entry test(" + parameters + ")\n{\n.reg .b64 %out;\n.reg ." + types[0] + " %d;\n" + loads +
         "ld.param.u64 %out, [out];\n" + test.instruction + " " + operands + ";\n" + store + "ret;\n}\n";
}

bool check(const Case &test, Memory &memory) {
  Module module(makeKernel(test), memory);
  const Kernel &kernel = *module.find("test");
  uint64_t out = memory.allocate(8), result = 0;
  memset(memory.find(out, 8), 0, 8);
  std::vector<unsigned char> parameters(kernel.parameterBytes);
  memcpy(parameters.data(), &out, sizeof(out));
  for (size_t i = 0; i < test.sources.size(); ++i)
    memcpy(&parameters[kernel.parameters[i + 1].offset], &test.sources[i], kernel.parameters[i + 1].bytes);
  Launch(kernel, {}, parameters.data(), memory, nullptr).run({});
  memcpy(&result, memory.find(out, 8), 8);
  if (result != test.expected)
    fprintf(stderr, "failed: %s: found %" PRIx64 ", expected %" PRIx64 "\n", test.instruction, result, test.expected);
  return result == test.expected;
}

}  // namespace

int main() try {
  Memory memory(1 << 20);
  bool passed = true;
  for (const Case &test : cases)
    passed &= check(test, memory);
  return passed ? 0 : 1;
} catch (const Fault &fault) {
  fprintf(stderr, "failed: %s\n", fault.what());
  return 1;
}
