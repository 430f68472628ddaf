// SPDX-License-Identifier: Apache-2.0
/* lrd_sources.h — what the system tells about memory, as file descriptors to sleep on.
 *
 * LINUX. Each source is one of
 *   stalls of the system, or of the own control group (PSI): a trigger wakes when tasks have waited
 *     for memory for too long. Where triggers are refused, averages are read every two seconds.
 *   events of the own group (version 2): a limit was reached
 *   the own group's usage (version 1): read every two seconds, and a threshold wakes. That alone
 *     would not do: it counts files that can be dropped as well, so usage may be past it for long
 *     before memory is short, and it stays where it is when the limit changes
 * Stalls count only while memory is short indeed: for the system, when less than a fifth is
 * available; for a group with a limit, when three quarters of it are used. Others thrash inside
 * limits of their own, and proactive reclaim stalls whom it likes.
 *
 * A source that vanishes, or whose descriptor the program has closed, is closed and named as gone.
 * All of it is for one thread at a time. */
#pragma once

#include "lrd_descriptor.h"
#include "lrd_group.h"

#pragma clang assume_nonnull begin

enum { LRD_SOURCES_MOST = 8, LRD_SOURCE_NAME_BYTES = 256 };

typedef enum lrd_source_kind {
  LRD_STALLS_OF_SYSTEM,
  LRD_STALLS_OF_GROUP,
  LRD_EVENTS_OF_GROUP,
  LRD_USAGE_OF_GROUP,
  LRD_SOURCE_OF_SYSTEM, // Darwin's: it calls by itself
} lrd_source_kind;

typedef struct lrd_source {
  char name[LRD_SOURCE_NAME_BYTES];
  lrd_source_kind kind;
  int level;            // what it wakes for
  lrd_descriptor fd;    // to sleep on
  lrd_descriptor other; // belongs to it
  bool averaged;        // is read every two seconds
  int error;            // why it is not watched, 0 if it is
  uint64_t until;       // its level holds so long
} lrd_source;

typedef struct lrd_sources {
  lrd_source source[LRD_SOURCES_MOST];
  int count;
  lrd_group group;
  int usage_level; // that of the group's usage when it was last read
  char root[LRD_PATH_BYTES];
  bool averages_only;
  uint64_t read_at; // when averages and usage are read again, 0: only when something has happened
} lrd_sources;

/// Opens what there is. `root` and `averages_only` are set by the caller; the rest is overwritten.
void lrd_sources_open(lrd_sources *sources);
void lrd_sources_close(lrd_sources *sources);

/// Tries once more what could not be opened, or was lost. Finds the group again if none of its
/// sources is watched.
void lrd_sources_retry(lrd_sources *sources);

/// True when something of the source is watched by being read.
bool lrd_sources_are_read(const lrd_sources *sources);

/// Loses the sources whose descriptors the program has closed.
void lrd_sources_look(lrd_sources *sources);

/// Notes that the descriptor of a source has woken the caller: `events` of poll().
void lrd_source_woken(lrd_sources *sources, lrd_source *source, short events, uint64_t now);

/// The level now. Sets `read_at`.
int lrd_sources_level(lrd_sources *sources, uint64_t now);

#pragma clang assume_nonnull end
