// SPDX-License-Identifier: Apache-2.0
/* lrd_descriptor.h — file descriptors of the library's own, in a process whose program may close
 * all that it does not know, as daemons do, and open files that get the same numbers.
 *
 * A number is therefore used only while it is still that of the same file. Between the look and the
 * use the program may close it all the same; nothing can be done about that. Files that have no
 * identity of their own, such as eventfds, are taken for each other.
 *
 * Guard: that of whoever has one. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

typedef struct lrd_descriptor {
  int number; // -1: none
  uint64_t device, file;
} lrd_descriptor;

#define LRD_NO_DESCRIPTOR ((lrd_descriptor){.number = -1})

/// The descriptor of this number, which was just opened; none for -1.
lrd_descriptor lrd_descriptor_of(int number);

/// Makes a bell: who sleeps in poll() on `bell` wakes up when `rope` is pulled, or closed. Both
/// block nobody and are closed by exec(). They are sockets: pulling the rope of a pipe whose other
/// end is closed would raise SIGPIPE. False without one.
bool lrd_bell_make(lrd_descriptor *bell, lrd_descriptor *rope);

void lrd_bell_pull(const lrd_descriptor *rope);

/// Ends the ringing.
void lrd_bell_quiet(const lrd_descriptor *bell);

/// True when the number is still that of the same file. Keeps errno.
bool lrd_descriptor_is_own(const lrd_descriptor *descriptor);

/// Closes the descriptor if it is still the same file, and forgets it.
void lrd_descriptor_close(lrd_descriptor *descriptor);

#pragma clang assume_nonnull end
