// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CBench.h"

#include <dlfcn.h>
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
uint64_t lb_jemalloc_allocated_bytes(void) {
  typedef int control_function(const char *, void *, size_t *, void *, size_t);
  control_function *control = (control_function *)dlsym(RTLD_DEFAULT, "mallctl");
  if (!control) return 0;
  uint64_t epoch = 1;
  if (control("epoch", NULL, NULL, &epoch, sizeof epoch) != 0) return 0;
  size_t allocated = 0, size = sizeof allocated;
  if (control("stats.allocated", &allocated, &size, NULL, 0) != 0) return 0;
  return allocated;
}
