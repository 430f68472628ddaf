// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
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

bool lrd_bell_make(lrd_descriptor *bell, lrd_descriptor *rope) {
  int ends[2];
#if defined(__linux__)
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return false;
#else
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
  }
#endif
#if defined(SO_NOSIGPIPE)
  setsockopt(ends[1], SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
  *bell = lrd_descriptor_of(ends[0]);
  *rope = lrd_descriptor_of(ends[1]);
  if (lrd_descriptor_is_own(bell) && lrd_descriptor_is_own(rope)) return true;
  // fstat() is denied.
  *bell = *rope = LRD_NO_DESCRIPTOR;
  close(ends[0]);
  close(ends[1]);
  return false;
}

void lrd_bell_pull(const lrd_descriptor *rope) {
#if defined(MSG_NOSIGNAL)
  const int flags = MSG_NOSIGNAL;
#else
  const int flags = 0;
#endif
  char one = 1;
  // A bell that rings already may take no more.
  if (lrd_descriptor_is_own(rope) && send(rope->number, &one, 1, flags) < 0) return;
}

void lrd_bell_quiet(const lrd_descriptor *bell) {
  char rung[64];
  if (lrd_descriptor_is_own(bell) && recv(bell->number, rung, sizeof rung, 0) < 0) return;
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
