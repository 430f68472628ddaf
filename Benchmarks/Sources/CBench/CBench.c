// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CBench.h"

#include <dlfcn.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <stddef.h>
#include <stdio.h>

static volatile uint64_t sink;

void lb_consume(uint64_t value) { sink = value; }

uint64_t lb_anonymous_bytes(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "re");
  if (!file) return 0;
  char line[128];
  unsigned long long kilobytes = 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "Anonymous: %llu kB", &kilobytes) == 1) break;
  fclose(file);
  return (uint64_t)kilobytes * 1024;
}

// Looked up at run time, so that this package needs neither jemalloc's header nor its trait.
typedef int control_function(const char *, void *, size_t *, void *, size_t);

static control_function *jemalloc_control(void) {
  return (control_function *)dlsym(RTLD_DEFAULT, "mallctl");
}

uint64_t lb_allocated_bytes(void) {
  control_function *control = jemalloc_control();
  if (!control) {
#if defined(__GLIBC__)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
  }
  uint64_t epoch = 1;
  if (control("epoch", NULL, NULL, &epoch, sizeof epoch) != 0) return 0;
  size_t allocated = 0, size = sizeof allocated;
  if (control("stats.allocated", &allocated, &size, NULL, 0) != 0) return 0;
  return allocated;
}

const char *lb_jemalloc_version(void) {
  control_function *control = jemalloc_control();
  const char *version = NULL;
  size_t size = sizeof version;
  if (!control || control("version", &version, &size, NULL, 0) != 0) return NULL;
  return version;
}
