// SPDX-License-Identifier: Apache-2.0
// The text of a persistent kernel: it goes through a table of pieces in memory, does their tasks by the text of their
// functions (TaskFunction.h), and waits in front of pieces with a barrier until all workgroups have come so far.
//
//   for each piece
//     task = workgroup + team * workgroups
//     do  if (task < tasks) switch (kernel of the piece)  what its function does
//         first = (workgroups + (claims of the piece)++) * teams,  task = first + team
//     while (first < tasks)
//     if (the next piece has a barrier)  arrivals += 1; wait until arrivals = workgroups * its number
//
// The first tasks lie as far apart as they can, since every multiprocessor has its own way to memory. Which team does a
// task changes nothing in its bits. Threads beyond the teams of a piece have no task. Arrival is a release and the end
// of waiting an acquire, both by the first thread; the barrier of the workgroup stands between it and the others, so
// that all of them see what any thread of the GPU wrote before. It is PTX since the order of memory is what matters
// here, and the same for all models but for the switch. Without a barrier of the GPU the threads of a workgroup still
// wait for each other: the next piece has other teams, with other parts of the shared memory.
#include "compiler/targets/nvptx/PersistentKernel.h"

#include "compiler/targets/nvptx/PtxRegisterPressure.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstddef>

namespace talc::nvptx {

using artifact::PersistentLaunch;
using artifact::persistentOwnBytes;
using Kernels = llvm::ArrayRef<gpu::EntryKernel>;

const char *const persistentDeclarations = "\n.extern .shared .align 16 .b8 talc_shared[];\n";

// Rows of one instruction of matrices: up to these a contraction takes as long as for one.
static constexpr uint32_t mostRows = 16;
// What every GPU from sm_80 on has for a workgroup.
static constexpr uint32_t mostShared = 96 << 10, cardRegisters = 1 << 16;

static_assert(offsetof(PersistentLaunch, teams) == 16 && offsetof(PersistentLaunch, barrier) == 20 &&
                  offsetof(PersistentLaunch, arguments) == 24 && sizeof(PersistentLaunch) == 32,
              "the text below reads it");

// While a task is done, nothing is kept in registers: the number of the piece and the place of its arguments lie in
// shared memory, and the rest is loaded again behind its code. What a team has of shared memory begins at a multiple of
// 16 bytes (TaskFunction.h). 0: name, 1: threads, 2: the switch, 3: bytes of the claim, 4: what is said of registers,
// 5: loadPlace, 6: shared bytes of all teams, 7: storeArguments.
static constexpr const char *text = R"(
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

// Of the piece with this number. 0: name
static constexpr const char *loadPlace = R"(	ld.param.b64 	%place, [{0}_pieces];
	cvta.to.global.u64 	%place, %place;
	mul.wide.u32 	%wide, %piece, 32;
	add.s64 	%place, %place, %wide;
)";

// For tasks of the piece (TaskFunction.cpp).
static constexpr const char *storeArguments = R"(	ld.global.b64 	%wide, [%place+24];
	st.shared.b64 	[talc_shared+8], %wide;
)";

// 0: number of the kernel, 1: what does a task
static constexpr const char *caseText = R"(	setp.ne.b32 	%holds, %kernel, {0};
	@%holds bra 	NOT_{0};
{1}	bra.uni 	DONE;
NOT_{0}:
)";

llvm::StringRef headOf(llvm::StringRef text) {
  constexpr llvm::StringLiteral last = ".address_size 64\n";
  size_t at = text.find(last);
  return at == llvm::StringRef::npos ? "" : text.take_front(at + last.size());
}

// Braces and what is between them: registers and labels of a function are its own there, too.
static std::string insideOf(llvm::StringRef function) {
  constexpr llvm::StringLiteral end = "\tret;\n";
  function = function.drop_front(std::min(function.find("\n{\n"), function.size() - 1) + 1);
  std::string text;
  for (size_t at = function.find(end); at != llvm::StringRef::npos; at = function.find(end)) {
    text += (function.take_front(at) + "\tbra \tDONE;\n").str();
    function = function.drop_front(at + end.size());
  }
  return text + function.str();
}

// Registers that a piece wants. Of many rows as many as its kernel would have alone, and some for what is around it. Of
// one row as many as live in its text, and a third more: ptxas moves loads forward, and took up to so many.
static uint32_t wantedRegisters(const gpu::EntryKernel &piece, bool manyRows) {
  constexpr uint32_t around = 24;
  if (manyRows)
    return piece.registers == 0 ? 0 : piece.registers + around;
  return static_cast<uint32_t>(ptxRegisterPressure(piece.taskCode)) * 4 / 3;
}

// Without a limit ptxas keeps some registers in memory so that more workgroups fit. That pays where a step has one row,
// whose kernels take few and wait for memory, unless its largest piece leaves room for one workgroup only; else there
// are as many as that wants, and those beyond that no other workgroup could use.
static std::string registerLimit(Kernels kernels, uint32_t threads) {
  constexpr uint32_t most = 255, unit = 8;
  const bool manyRows = llvm::any_of(
      kernels, [](const gpu::EntryKernel &piece) { return piece.kernel.grid.rows != artifact::noArgument; });
  uint32_t wanted = 0;
  for (const gpu::EntryKernel &piece : kernels)
    wanted = std::max(wanted, wantedRegisters(piece, manyRows));
  if (wanted == 0)
    return "";
  const uint32_t workgroups = std::max(cardRegisters / (threads * std::min(wanted, most)), 1U);
  if (!manyRows && workgroups > 1)
    return "";
  return llvm::formatv(".maxnreg {0}\n", std::min(most, cardRegisters / (threads * workgroups) / unit * unit)).str();
}

std::string makePersistentKernel(const std::string &name, Kernels kernels, gpu::PersistentKernel &whole) {
  for (const gpu::EntryKernel &piece : kernels)
    whole.threads = std::max(whole.threads, piece.kernel.threads);
  std::string cases;
  uint32_t teamBytes = 0;
  for (const auto &[number, piece, registers, taskCode] : kernels) {
    const uint32_t teams = teamsFor(piece, whole.threads, mostShared);
    if (teams == 0)
      return llvm::formatv("{0} takes {1} bytes of shared memory, expected at most {2}", piece.name, piece.sharedBytes,
                           mostShared - persistentOwnBytes);
    teamBytes = std::max(teamBytes, teams * piece.sharedBytes);
    cases += llvm::formatv(caseText, number, insideOf(taskCode)).str();
  }
  whole.dynamicBytes = teamBytes + persistentOwnBytes;
  whole.mostRows = mostRows;
  const llvm::StringRef head = headOf(kernels.front().taskCode);
  whole.code = head.str() + llvm::formatv(text, name, whole.threads, cases, persistentOwnBytes,
                                          registerLimit(kernels, whole.threads), llvm::formatv(loadPlace, name).str(),
                                          teamBytes, storeArguments)
                                .str();
  return "";
}

}  // namespace talc::nvptx
