// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

lrd_descriptor lrd_descriptor_of(int number) {
  lrd_descriptor descriptor = {.number = number};
  struct stat facts;
  if (number < 0 || fstat(number, &facts) != 0) return descriptor;
  descriptor.device = (uint64_t)facts.st_dev;
  descriptor.file = (uint64_t)facts.st_ino;
  return descriptor;
}

bool lrd_descriptor_pipe(lrd_descriptor *reads, lrd_descriptor *writes) {
  int ends[2];
#if defined(__linux__)
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return false;
#else
  if (pipe(ends) != 0) return false;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
  }
#endif
  *reads = lrd_descriptor_of(ends[0]);
  *writes = lrd_descriptor_of(ends[1]);
  return true;
}

bool lrd_descriptor_is_own(const lrd_descriptor *descriptor) {
  if (descriptor->number < 0) return false;
  int before = errno;
  struct stat facts;
  bool same = fstat(descriptor->number, &facts) == 0 &&
              (uint64_t)facts.st_dev == descriptor->device &&
              (uint64_t)facts.st_ino == descriptor->file;
  errno = before;
  return same;
}

void lrd_descriptor_close(lrd_descriptor *descriptor) {
  if (lrd_descriptor_is_own(descriptor)) close(descriptor->number);
  *descriptor = LRD_NO_DESCRIPTOR;
}
