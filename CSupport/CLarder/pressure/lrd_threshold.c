// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_threshold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/// Has the group count `event` up when its usage, which `usage` is open to read, crosses a bound.
static bool order(const lrd_group *group, int event, int usage, uint64_t bound) {
  char path[LRD_PATH_BYTES + 32], text[96];
  snprintf(path, sizeof path, "%s/cgroup.event_control", group->path);
  int control = open(path, O_WRONLY | O_CLOEXEC);
  if (control < 0) return false;
  int length = snprintf(text, sizeof text, "%d %d %llu", event, usage, (unsigned long long)bound);
  ssize_t written = write(control, text, (size_t)length);
  int why = written < 0 ? errno : EIO;
  close(control);
  errno = why;
  return written == length;
}

int lrd_threshold_open(const lrd_group *group, uint32_t permille, int *other) {
  uint64_t bound = lrd_group_limit(group) / 1000 * permille;
  int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  *other = lrd_file_open(group->path, LRD_USAGE_FILE);
  if (event >= 0 && *other >= 0 && order(group, event, *other, bound)) return event;
  int why = errno;
  if (event >= 0) close(event);
  if (*other >= 0) close(*other);
  *other = -1;
  errno = why;
  return -1;
}
#endif
