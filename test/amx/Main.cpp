// SPDX-License-Identifier: Apache-2.0
// amx-run PROGRAM [ARGUMENT...]: runs a program of x86-64 as on a processor that has AMX beside what this one has.
// AMX's instructions, the questions whether it is there and the request for its registers are answered by a tracer; all
// else is the processor's. AMX in libraries works; questions of libraries get the processor's own answers.
#include "test/amx/Tracer.h"

#include <cstdio>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: amx-run PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  pid_t process = fork();
  if (process == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    _exit(127);
  }
  int status = 0;
  if (process < 0 || waitpid(process, &status, 0) != process || !WIFSTOPPED(status))
    return 127;
  return amx::Tracer(process).run();
}
