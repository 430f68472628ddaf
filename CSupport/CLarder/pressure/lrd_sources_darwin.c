// SPDX-License-Identifier: Apache-2.0
#if !defined(__linux__)
#include "lrd_answer.h"
#include "lrd_sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if defined(__APPLE__)
#include <dispatch/dispatch.h>

#include <unistd.h>

/// Darwin's own level. The handler runs on a queue of the system and wakes the watcher by a
/// bell, which stays: the handler may be about to pull its rope. A child of fork() has no handler,
/// and no bell.
static dispatch_source_t system_source;
static _Atomic(int) system_level;
static lrd_descriptor bell, rope;
static pid_t owner;

static void changed(void *context) {
  (void)context;
  unsigned long flags = dispatch_source_get_data(system_source);
  int level = flags & DISPATCH_MEMORYPRESSURE_CRITICAL ? LRD_CRITICAL
              : flags & DISPATCH_MEMORYPRESSURE_WARN   ? LRD_WARNING
                                                       : LRD_NORMAL;
  LRD_STORE(&system_level, level);
  lrd_bell_pull(&rope);
}

static bool make_source(void) {
  if (!lrd_bell_make(&bell, &rope)) return false;
  system_source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_MEMORYPRESSURE, 0,
                             DISPATCH_MEMORYPRESSURE_NORMAL | DISPATCH_MEMORYPRESSURE_WARN |
                                 DISPATCH_MEMORYPRESSURE_CRITICAL,
                             dispatch_get_global_queue(QOS_CLASS_UTILITY, 0));
  if (!system_source) {
    lrd_descriptor_close(&bell);
    lrd_descriptor_close(&rope);
    return false;
  }
  owner = getpid();
  dispatch_source_set_event_handler_f(system_source, changed);
  dispatch_activate(system_source);
  return true;
}

static void open_system(lrd_source *source) {
  if (owner && owner != getpid()) return;
  if (!owner && !make_source()) return;
  source->fd = bell;
  source->error = 0;
}
#endif

void lrd_sources_open(lrd_sources *sources) {
  lrd_source *source = &sources->source[0];
  sources->count = 1;
  sources->read_at = 0;
  *source = (lrd_source){.kind = LRD_SOURCE_OF_SYSTEM, .error = 1};
  source->fd = source->other = LRD_NO_DESCRIPTOR;
  snprintf(source->name, sizeof source->name, "memory pressure of the system");
#if defined(__APPLE__)
  open_system(source);
#endif
}

void lrd_sources_retry(lrd_sources *sources) {
  lrd_source *source = &sources->source[0];
#if defined(__APPLE__)
  if (source->fd.number < 0) open_system(source);
#endif
  (void)source;
}

void lrd_sources_close(lrd_sources *sources) {
  sources->count = 0;
}

bool lrd_sources_are_read(const lrd_sources *sources) {
  (void)sources;
  return false;
}

void lrd_sources_look(lrd_sources *sources) {
  lrd_source *source = &sources->source[0];
  if (source->fd.number < 0 || lrd_descriptor_is_own(&source->fd)) return;
  source->fd = LRD_NO_DESCRIPTOR;
  source->error = EBADF;
}

void lrd_source_woken(lrd_sources *sources, lrd_source *source, short events, uint64_t now) {
  (void)events;
#if defined(__APPLE__)
  lrd_bell_quiet(&source->fd);
#endif
  (void)source;
  sources->read_at = now;
}

int lrd_sources_level(lrd_sources *sources, uint64_t now) {
  (void)now;
  sources->read_at = 0;
#if defined(__APPLE__)
  return LRD_LOAD(&system_level);
#else
  return LRD_NORMAL;
#endif
}
#endif
