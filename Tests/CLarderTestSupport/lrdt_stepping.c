// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrdt_stepping.h"

#include <stddef.h>

#if defined(__linux__) && defined(__x86_64__) && !__has_feature(thread_sanitizer)

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

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

typedef struct apart {
  void (*work)(void *context);
  void (*look)(void *context);
  void *context;
  uint64_t next; // the step after which the next child begins
  uint64_t stride;
  uint64_t stops;
  const char **verdict; // of the last child, in memory that it shares with its parent
  bool is_child;
} apart;

static void work_apart(void *context) {
  apart *this = context;
  this->work(this->context);
}

/// What became of a child. Its strings are where the parent has the same ones.
static const char *verdict_of(const apart *this, pid_t child) {
  int status;
  if (child < 0) return "there is no child";
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return "the child is lost";
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status)) return "the child did not get to its end";
  return *this->verdict;
}

static bool fork_at_stop(void *context, uint64_t step) {
  apart *this = context;
  if (step < this->next) return true;
  this->next += this->stride;
  this->stops++;
  // Not fork(): a signal handler may interrupt what handlers of pthread_atfork() rely on.
  pid_t child = _Fork();
  if (child) {
    *this->verdict = verdict_of(this, child);
    return !*this->verdict;
  }
  alarm(60); // a hang is a fault
  this->is_child = true;
  this->look(this->context);
  return false;
}

const char *lrdt_step_apart(void (*work)(void *), void (*look)(void *),
                            const char *(*judge)(void *), void *context, uint64_t first,
                            uint64_t stride, uint64_t *stops) {
  *stops = 0;
  int protection = PROT_READ | PROT_WRITE;
  void *shared = mmap(NULL, sizeof(char *), protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return "there is no memory to share with a child";
  apart this = {work, look, context, first, stride, .verdict = shared};
  lrdt_step(work_apart, fork_at_stop, &this);
  if (this.is_child) {
    *this.verdict = judge(context);
    _exit(0);
  }
  const char *fault = *this.verdict;
  munmap(shared, sizeof(char *));
  *stops = this.stops;
  return fault;
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

const char *lrdt_step_apart(void (*work)(void *), void (*look)(void *),
                            const char *(*judge)(void *), void *context, uint64_t first,
                            uint64_t stride, uint64_t *stops) {
  (void)look, (void)judge, (void)first, (void)stride;
  work(context);
  *stops = 0;
  return NULL;
}

#endif
