// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrdt_platform.h"

#include "lrd_lane.h"
#include "lrd_platform.h"

#if defined(__linux__)
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool lrdt_forbid_membarrier(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
         syscall(SYS_membarrier, 0, 0, 0) == -1;
}
#else
bool lrdt_forbid_membarrier(void) {
  return !lrd_platform_asymmetric;
}
#endif

#if defined(__GLIBC__)
#include <pthread.h>

bool lrdt_set_stack_bytes(size_t bytes) {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return false;
  bool set = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
             pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  return set;
}

size_t lrdt_stack_bytes(void) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}
#else
bool lrdt_set_stack_bytes(size_t bytes) {
  (void)bytes;
  return false;
}

size_t lrdt_stack_bytes(void) {
  return 0;
}
#endif

bool lrdt_has_asymmetric_fence(void) {
  return lrd_platform_asymmetric;
}

void lrdt_lose_thread_variables(void) {
  lrd_self = NULL;
  for (int i = 0; i < LRD_NEAR_LANES; i++) lrd_near[i] = (lrd_near_lane){0};
}

uint32_t lrdt_thread_number(void) {
  return lrd_self || lrd_thread_register() ? lrd_self->index : UINT32_MAX;
}

bool lrdt_thread_is_solitary(void) {
  return lrd_thread_is_solitary();
}
