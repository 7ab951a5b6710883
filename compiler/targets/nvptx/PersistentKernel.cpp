// SPDX-License-Identifier: Apache-2.0
// The code of a persistent kernel. It walks a table of launches in memory, does their tasks by the inlined bodies of
// task functions (TaskFunction.h), and waits in front of launches with a barrier until all workgroups have arrived.
//
//   for each launch
//     task = workgroup + team * workgroups
//     do  if (task < tasks) switch (kernel of the launch)  body of its task function
//         first = (workgroups + (claims of the launch)++) * teams,  task = first + team
//     while (first < tasks)
//     if (the next launch has a barrier)  arrivals += 1; wait until arrivals = workgroups * its number
//
// The first tasks of neighboring workgroups are neighbors, so that all multiprocessors load from memory. Results do not
// depend on which team does a task. Threads beyond the teams of a launch have no task. Arrival is a release and the end
// of waiting an acquire, both by the first thread; the barrier of the workgroup orders it with the other threads, so
// that all of them see what any thread of the GPU wrote before. It is written in PTX since the order of memory accesses
// is what matters, and the same for all models but for the switch. Without a GPU-wide barrier the threads of a
// workgroup still wait for each other: the next launch has other teams, with other parts of the shared memory.
#include "compiler/targets/nvptx/PersistentKernel.h"

#include "compiler/passes/schedule/gpu/GpuFacts.h"
#include "compiler/targets/nvptx/PtxModule.h"
#include "compiler/targets/nvptx/PtxRegisters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstddef>

namespace talc::nvptx {

using artifact::PersistentLaunch;
using artifact::persistentOwnBytes;
using Kernels = llvm::ArrayRef<gpu::EntryKernel>;

const char *const persistentDeclarations = "\n.extern .shared .align 16 .b8 talc_shared[];\n";

// The rows of one MMA: up to so many, a matmul takes as long as for one.
static constexpr uint32_t maxTokens = MmaSyncM16N8K16::m;

static_assert(offsetof(PersistentLaunch, teams) == 16 && offsetof(PersistentLaunch, barrier) == 20 &&
                  offsetof(PersistentLaunch, arguments) == 24 && sizeof(PersistentLaunch) == 32,
              "the code below reads it");

// While a task runs, nothing stays in registers: the index of the launch and the address of its arguments are in shared
// memory, and the rest is loaded again after the task. The shared memory of a team is aligned to 16 bytes
// (TaskFunction.h). 0: name, 1: threads, 2: the switch, 3: bytes of the kernel itself, 4: register limit, 5:
// loadLaunch, 6: shared bytes of all teams, 7: storeArguments.
static constexpr const char *kernelTemplate = R"(
.visible .entry {0}(
	.param .u64 {0}_pieces,
	.param .u64 {0}_count,
	.param .u64 {0}_counters
)
.reqntid {1}
{4}{{
	.reg .pred 	%holds;
	.reg .b32 	%thread, %group, %workgroups, %piece, %count, %kernel, %columns, %tasks, %threads, %bytes, %team,
		%teams, %task, %column, %row, %begin, %goal, %arrived;
	.reg .b64 	%place, %counters, %shared, %wide;

	mov.b32 	%piece, 0;
	mov.u32 	%thread, %tid.x;
	setp.ne.b32 	%holds, %thread, 0;
	@%holds bra 	FIRST_PIECE;
	st.shared.b32 	[talc_shared+4], %piece;
{5}{7}FIRST_PIECE:
	bar.sync 	0;

NEXT_PIECE:
{5}	ld.global.b32 	%threads, [%place+12];
	mov.u32 	%thread, %tid.x;
	mov.u32 	%group, %ctaid.x;
	mov.u32 	%workgroups, %nctaid.x;
	div.u32 	%team, %thread, %threads;
	mad.lo.s32 	%task, %team, %workgroups, %group;

NEXT_TASK:
	ld.global.v4.b32 	{{%kernel, %columns, %tasks, %threads}, [%place];
	ld.global.b32 	%teams, [%place+16];
	mov.u32 	%thread, %tid.x;
	div.u32 	%team, %thread, %threads;
	setp.ge.u32 	%holds, %team, %teams;
	@%holds bra 	DONE;
	setp.ge.u32 	%holds, %task, %tasks;
	@%holds bra 	DONE;
	mov.b32 	%bytes, {6};
	div.u32 	%bytes, %bytes, %teams;
	and.b32 	%bytes, %bytes, -16;
	mul.lo.s32 	%bytes, %bytes, %team;
	cvt.u64.u32 	%wide, %bytes;
	mov.b64 	%shared, talc_shared;
	add.s64 	%shared, %shared, %wide;
	add.s64 	%shared, %shared, {3};
	rem.u32 	%column, %task, %columns;
	div.u32 	%row, %task, %columns;
{2}
DONE:
	ld.shared.b32 	%piece, [talc_shared+4];
{5}	ld.global.v2.b32 	{{%tasks, %threads}, [%place+8];
	ld.global.b32 	%teams, [%place+16];
	mov.u32 	%workgroups, %nctaid.x;
	mul.lo.s32 	%begin, %workgroups, %teams;
	setp.ge.u32 	%holds, %begin, %tasks;
	@%holds bra 	END_OF_PIECE;
	bar.sync 	0;
	mov.u32 	%thread, %tid.x;
	setp.ne.b32 	%holds, %thread, 0;
	@%holds bra 	CLAIMED;
	ld.param.b64 	%counters, [{0}_counters];
	cvta.to.global.u64 	%counters, %counters;
	mul.wide.u32 	%wide, %piece, 4;
	add.s64 	%wide, %counters, %wide;
	atom.relaxed.gpu.global.add.u32 	%begin, [%wide+4], 1;
	add.s32 	%begin, %begin, %workgroups;
	mul.lo.s32 	%begin, %begin, %teams;
	st.shared.b32 	[talc_shared], %begin;
CLAIMED:
	bar.sync 	0;
	ld.shared.b32 	%begin, [talc_shared];
	div.u32 	%team, %thread, %threads;
	add.s32 	%task, %begin, %team;
	setp.lt.u32 	%holds, %begin, %tasks;
	@%holds bra 	NEXT_TASK;

END_OF_PIECE:
	add.s32 	%piece, %piece, 1;
	add.s64 	%place, %place, 32;
	ld.param.b32 	%count, [{0}_count];
	setp.ge.u32 	%holds, %piece, %count;
	@%holds bra 	END_OF_STEP;
	bar.sync 	0;
	mov.u32 	%thread, %tid.x;
	setp.ne.b32 	%holds, %thread, 0;
	@%holds bra 	ARRIVED;
	st.shared.b32 	[talc_shared+4], %piece;
	ld.global.b32 	%goal, [%place+20];
	setp.eq.b32 	%holds, %goal, 0;
	@%holds bra 	NEXT_ARGUMENTS;
	ld.param.b64 	%counters, [{0}_counters];
	cvta.to.global.u64 	%counters, %counters;
	red.release.gpu.global.add.u32 	[%counters], 1;
NEXT_ARGUMENTS:
{7}	setp.eq.b32 	%holds, %goal, 0;
	@%holds bra 	ARRIVED;
	mov.u32 	%workgroups, %nctaid.x;
	mul.lo.s32 	%goal, %goal, %workgroups;
	ld.param.b64 	%counters, [{0}_counters];
	cvta.to.global.u64 	%counters, %counters;
WAITING:
	ld.acquire.gpu.global.b32 	%arrived, [%counters];
	setp.lt.u32 	%holds, %arrived, %goal;
	@%holds bra 	WAITING;
ARRIVED:
	bar.sync 	0;
	bra.uni 	NEXT_PIECE;

END_OF_STEP:
	ret;
}
)";

// The address of the launch. 0: name
static constexpr const char *loadLaunch = R"(	ld.param.b64 	%place, [{0}_pieces];
	cvta.to.global.u64 	%place, %place;
	mul.wide.u32 	%wide, %piece, 32;
	add.s64 	%place, %place, %wide;
)";

// Where tasks find the address of their arguments (TaskFunction.cpp).
static constexpr const char *storeArguments = R"(	ld.global.b64 	%wide, [%place+24];
	st.shared.b64 	[talc_shared+8], %wide;
)";

// 0: index of the kernel, 1: inlined body
static constexpr const char *caseTemplate = R"(	setp.ne.b32 	%holds, %kernel, {0};
	@%holds bra 	NOT_{0};
{1}	bra.uni 	DONE;
NOT_{0}:
)";

// The registers that a task needs: in prefill those of its kernel, and some for the code around it; in decode those
// that are alive in its code and a third more, since ptxas moves loads ahead.
static uint32_t requiredRegisters(const gpu::EntryKernel &kernel, llvm::StringRef body, bool hasManyRows) {
  constexpr uint32_t surrounding = 24;
  if (hasManyRows)
    return kernel.maxRegisters == 0 ? 0 : kernel.maxRegisters + surrounding;
  return static_cast<uint32_t>(ptxRegisterPressure(body)) * 4 / 3;
}

// Without a limit ptxas spills some registers so that more workgroups fit. That pays in decode, whose tasks need few
// registers and wait for memory, unless the largest task allows one workgroup only. Else there are as many workgroups
// as the largest task allows, with all the registers that these can use.
static std::string limitRegisters(uint32_t required, uint32_t threads, bool hasManyRows, const GpuFacts &facts) {
  if (required == 0)
    return "";
  const auto registers = static_cast<uint32_t>(facts.registers);
  const auto maxRegisters = static_cast<uint32_t>(facts.maxRegisters);
  const uint32_t workgroups = std::max(registers / (threads * std::min(required, maxRegisters)), 1U);
  if (!hasManyRows && workgroups > 1)
    return "";
  return llvm::formatv(".maxnreg {0}\n", facts.registersForThreads(threads * workgroups)).str();
}

std::string makePersistentKernel(const std::string &name, Kernels kernels, const GpuFacts &facts,
                                 gpu::PersistentKernel &persistent) {
  const auto maxShared = static_cast<uint32_t>(facts.maxSharedBytes);
  const bool hasManyRows = llvm::any_of(
      kernels, [](const gpu::EntryKernel &kernel) { return kernel.kernel.grid.rows != artifact::noArgument; });
  for (const gpu::EntryKernel &kernel : kernels)
    persistent.threads = std::max(persistent.threads, kernel.kernel.threads);
  std::string cases;
  PtxModule code;
  uint32_t teamBytes = 0, registers = 0;
  for (const gpu::EntryKernel &kernel : kernels) {
    auto task = PtxModule::parse(kernel.taskCode);
    if (!task)
      return llvm::toString(task.takeError());
    const uint32_t teams = teamsFor(kernel.kernel, persistent.threads, maxShared);
    if (teams == 0)
      return llvm::formatv("{0} takes {1} bytes of shared memory, expected at most {2}", kernel.kernel.name,
                           kernel.kernel.sharedBytes, maxShared - persistentOwnBytes);
    const PtxFunction &function = task->functions.front();
    code.header = task->header;
    teamBytes = std::max(teamBytes, teams * kernel.kernel.sharedBytes);
    registers = std::max(registers, requiredRegisters(kernel, kernel.taskCode, hasManyRows));
    cases += llvm::formatv(caseTemplate, kernel.index, function.inlinedBody("DONE")).str();
  }
  persistent.dynamicBytes = teamBytes + persistentOwnBytes;
  persistent.maxTokens = maxTokens;
  std::string text = llvm::formatv(kernelTemplate, name, persistent.threads, cases, persistentOwnBytes,
                                   limitRegisters(registers, persistent.threads, hasManyRows, facts),
                                   llvm::formatv(loadLaunch, name).str(), teamBytes, storeArguments)
                         .str();
  code.functions.push_back({name, /*declaration=*/"", std::move(text)});
  persistent.code = code.text();
  return "";
}

}  // namespace talc::nvptx
