// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrdt_stepping.h"

#if defined(__linux__) && defined(__x86_64__) && !__has_feature(thread_sanitizer)

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

enum { trace_flag = 0x100 };

static bool (*looks)(void *context, uint64_t step);
static void *looks_at;
static volatile uint64_t steps;

/// The system clears the flag for the handler and restores it on return.
static void on_trap(int signal, siginfo_t *info, void *machine) {
  (void)signal;
  (void)info;
  int before = errno;
  ucontext_t *context = machine;
  steps++;
  if (!looks(looks_at, steps)) context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)trace_flag;
  errno = before;
}

bool lrdt_stepping_available(void) {
  return true;
}

uint64_t lrdt_step(void (*work)(void *), bool (*look)(void *, uint64_t), void *context) {
  struct sigaction before, stepping = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigemptyset(&stepping.sa_mask);
  sigaction(SIGTRAP, &stepping, &before);
  looks = look;
  looks_at = context;
  steps = 0;
  // Past the red zone, where the compiler may keep values below the stack pointer.
  __asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
                   "pushfq\n\t"
                   "orq $0x100, (%%rsp)\n\t"
                   "popfq\n\t"
                   "lea 128(%%rsp), %%rsp" ::
                       : "memory", "cc");
  work(context);
  __asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
                   "pushfq\n\t"
                   "andq $~0x100, (%%rsp)\n\t"
                   "popfq\n\t"
                   "lea 128(%%rsp), %%rsp" ::
                       : "memory", "cc");
  sigaction(SIGTRAP, &before, NULL);
  return steps;
}

#else

bool lrdt_stepping_available(void) {
  return false;
}

uint64_t lrdt_step(void (*work)(void *), bool (*look)(void *, uint64_t), void *context) {
  (void)look;
  work(context);
  return 0;
}

#endif
