// SPDX-License-Identifier: Apache-2.0
// The fake model for GPUs: the likeliest next token is the same as on CPUs, other logits are zero.
#include "test/runtime/FakeGpuCode.h"

#include <cstring>

namespace talc::test {

using namespace artifact;

// A workgroup per wanted row. Words of StepTables: 2 ids, 3 rows, 14 wanted rows; of the weights: 0 the vocabulary,
// from 6 on the next token of each. The token is stored in its sequence's state.
static const char *const text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry fake_step(.param .u64 step, .param .u64 weights, .param .u64 states, .param .u64 result, .param .u64 count)
.reqntid 32
{
  .reg .b32 %r<20>;
  .reg .b64 %rd<20>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [step];
  ld.param.u64 %rd2, [weights];
  ld.param.u64 %rd3, [states];
  ld.param.u64 %rd4, [result];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  ld.global.b32 %r3, [%rd1+56];
  add.s32 %r3, %r3, %r1;
  mul.wide.u32 %rd5, %r3, 4;
  add.s64 %rd5, %rd1, %rd5;
  ld.global.b32 %r4, [%rd5];
  ld.global.b32 %r5, [%rd1+8];
  add.s32 %r5, %r5, %r4;
  mul.wide.u32 %rd6, %r5, 4;
  add.s64 %rd6, %rd1, %rd6;
  ld.global.b32 %r6, [%rd6];
  mul.wide.u32 %rd7, %r6, 4;
  add.s64 %rd7, %rd2, %rd7;
  ld.global.b32 %r7, [%rd7+24];
  ld.global.b32 %r8, [%rd2];
  ld.global.b32 %r9, [%rd2+4];
  ld.global.b32 %r10, [%rd1+12];
  mad.lo.s32 %r10, %r4, 3, %r10;
  mul.wide.u32 %rd8, %r10, 4;
  add.s64 %rd8, %rd1, %rd8;
  ld.global.b32 %r11, [%rd8];
  ld.global.b32 %r12, [%rd8+4];
  mul.lo.s32 %r12, %r12, %r9;
  mad.lo.s32 %r12, %r11, 4, %r12;
  cvt.u64.u32 %rd9, %r12;
  add.s64 %rd9, %rd3, %rd9;
  setp.eq.s32 %p1, %r2, 0;
  @%p1 st.global.b32 [%rd9], %r6;
  mul.lo.s32 %r13, %r1, %r8;
  bra test;
next:
  setp.eq.s32 %p1, %r2, %r7;
  selp.b32 %r14, 0f3F800000, 0f00000000, %p1;
  add.s32 %r15, %r13, %r2;
  mul.wide.u32 %rd10, %r15, 4;
  add.s64 %rd10, %rd4, %rd10;
  st.global.b32 [%rd10], %r14;
  add.s32 %r2, %r2, 32;
test:
  setp.lt.s32 %p2, %r2, %r8;
  @%p2 bra next;
  ret;
}
)";

FakeGpuTables makeGpuTables() {
  FakeGpuTables tables = {};
  memcpy(tables.header.magic, launchMagic, sizeof(launchMagic));
  tables.header.kernelCount = 1;
  tables.header.entryCount = 3;
  tables.header.launchCount = 1;
  tables.header.argumentCount = 5;
  tables.header.moduleCount = 1;
  tables.module = {sizeof(tables), strlen(text)};
  strcpy(tables.kernel.name, "fake_step");
  tables.kernel.threads = 32;
  tables.kernel.argumentCount = 5;
  tables.kernel.grid = {4, 1, 0, 1};
  const char *const names[] = {"encode", "prefill", "decode"};
  for (size_t i = 0; i < 3; ++i) {
    strcpy(tables.entries[i].name, names[i]);
    tables.entries[i].launchCount = 1;
    tables.entries[i].persistentKernel = noKernel;
  }
  tables.launch = {0, 0, UINT32_MAX, 0};
  const LaunchBase bases[] = {LaunchBase::Step, LaunchBase::Weights, LaunchBase::KvCache, LaunchBase::Result0,
                              LaunchBase::Wanted0};
  for (size_t i = 0; i < 5; ++i)
    tables.arguments[i].base = static_cast<uint32_t>(bases[i]);
  return tables;
}

Bytes makeGpuCode(const FakeGpuTables &tables) {
  const auto *begin = reinterpret_cast<const unsigned char *>(&tables);
  Bytes bytes(begin, begin + sizeof(tables));
  bytes.insert(bytes.end(), text, text + strlen(text));
  return bytes;
}

}  // namespace talc::test
