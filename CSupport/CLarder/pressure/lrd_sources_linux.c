// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_answer.h"
#include "lrd_sources.h"
#include "lrd_threshold.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint64_t second = 1000000000;
/// How long a level holds after a trigger. Triggers come every two seconds at most.
static const uint64_t held = 5 * second;
static const uint64_t period_of_averages = 2 * second, period_of_news = 1 * second;

/// Of two seconds, so much waited for memory, in microseconds. Windows of two seconds are all that
/// is granted to everybody.
static const char warning_trigger[] = "some 150000 2000000";
static const char critical_trigger[] = "full 200000 2000000";
/// Where averages are read: those over ten seconds, in hundredths of a percent. They are less than
/// the 7.5 % and 10 % of the triggers.
static const uint64_t warning_average = 500, critical_average = 800;
/// Parts of the limit that are used, in thousandths. Below `calm` a warning is over.
static const uint32_t calm = 800, warning_usage = 850, critical_usage = 920, plenty = 750;

static const char *const file_of[] = {
    [LRD_STALLS_OF_SYSTEM] = "memory",
    [LRD_STALLS_OF_GROUP] = "memory.pressure",
    [LRD_EVENTS_OF_GROUP] = "memory.events",
    [LRD_USAGE_OF_GROUP] = LRD_USAGE_FILE,
};

typedef struct folder {
  char path[LRD_PATH_BYTES + 16];
} folder;

static folder folder_of(const lrd_sources *sources, lrd_source_kind kind) {
  folder folder;
  if (kind == LRD_STALLS_OF_SYSTEM) {
    snprintf(folder.path, sizeof folder.path, "%s/proc/pressure", sources->root);
  } else {
    snprintf(folder.path, sizeof folder.path, "%s", sources->group.path);
  }
  return folder;
}

static void open_stalls(const lrd_sources *sources, lrd_source *source, const char *folder) {
  const char *trigger = source->level == LRD_CRITICAL ? critical_trigger : warning_trigger;
  const char *name = file_of[source->kind];
  char path[LRD_PATH_BYTES + 48];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (!sources->averages_only) {
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
      if (write(fd, trigger, strlen(trigger) + 1) >= 0) {
        source->fd = lrd_descriptor_of(fd);
        return;
      }
      close(fd);
    }
  }
  char text[256];
  source->averaged = lrd_file_read(folder, name, text, sizeof text) &&
                     lrd_number_after(text, "avg10") != LRD_UNKNOWN;
  source->error = source->averaged ? 0 : errno ? errno : EINVAL;
}

static void open_events(lrd_source *source, const char *folder) {
  source->fd = lrd_descriptor_of(lrd_file_open(folder, file_of[source->kind]));
  if (source->fd.number < 0) source->error = errno;
}

static void open_usage(const lrd_sources *sources, lrd_source *source) {
  uint32_t permille = source->level == LRD_CRITICAL ? critical_usage : warning_usage, used;
  source->averaged = lrd_group_used(&sources->group, &used);
  if (!source->averaged) source->error = errno ? errno : EINVAL;
  if (!source->averaged || sources->averages_only) return;
  // It will do without, a little later.
  int other, fd = lrd_threshold_open(&sources->group, permille, &other);
  source->fd = lrd_descriptor_of(fd);
  source->other = lrd_descriptor_of(other);
}

static void open_source(const lrd_sources *sources, lrd_source *source) {
  folder folder = folder_of(sources, source->kind);
  source->error = errno = 0;
  switch (source->kind) {
  case LRD_STALLS_OF_SYSTEM:
  case LRD_STALLS_OF_GROUP:
    open_stalls(sources, source, folder.path);
    break;
  case LRD_EVENTS_OF_GROUP:
    open_events(source, folder.path);
    break;
  case LRD_USAGE_OF_GROUP:
    open_usage(sources, source);
    break;
  case LRD_SOURCE_OF_SYSTEM:
    break;
  }
}

static void add(lrd_sources *sources, lrd_source_kind kind, int level) {
  lrd_source *source = &sources->source[sources->count++];
  *source = (lrd_source){
      .kind = kind, .level = level, .fd = LRD_NO_DESCRIPTOR, .other = LRD_NO_DESCRIPTOR};
  folder folder = folder_of(sources, kind);
  const char *suffix = level == LRD_CRITICAL ? " (critical)" : "";
  int length =
      snprintf(source->name, sizeof source->name, "%s/%s%s", folder.path, file_of[kind], suffix);
  if (length >= LRD_SOURCE_NAME_BYTES) strcpy(source->name + LRD_SOURCE_NAME_BYTES - 4, "...");
  open_source(sources, source);
}

/// The system's sources are the first two, and the group's follow.
enum { sources_of_system = 2 };

/// Finds the group and adds what it has.
static void add_group(lrd_sources *sources) {
  lrd_group_find(&sources->group, sources->root);
  if (!sources->group.path[0]) return;
  bool limited = lrd_group_limit(&sources->group) != LRD_UNKNOWN;
  if (sources->group.version == 2) {
    add(sources, LRD_STALLS_OF_GROUP, LRD_WARNING);
    add(sources, LRD_STALLS_OF_GROUP, LRD_CRITICAL);
    if (limited) add(sources, LRD_EVENTS_OF_GROUP, LRD_WARNING);
  } else if (limited) {
    add(sources, LRD_USAGE_OF_GROUP, LRD_WARNING);
    add(sources, LRD_USAGE_OF_GROUP, LRD_CRITICAL);
  }
}

void lrd_sources_open(lrd_sources *sources) {
  sources->count = 0;
  sources->usage_level = LRD_NORMAL;
  sources->read_at = 0;
  add(sources, LRD_STALLS_OF_SYSTEM, LRD_WARNING);
  add(sources, LRD_STALLS_OF_SYSTEM, LRD_CRITICAL);
  add_group(sources);
}

void lrd_sources_retry(lrd_sources *sources) {
  for (int i = 0; i < sources->count; i++)
    if (sources->source[i].error) open_source(sources, &sources->source[i]);
  for (int i = sources_of_system; i < sources->count; i++)
    if (!sources->source[i].error) return;
  // None of the group's is watched, so none has a descriptor that somebody sleeps on. The process
  // may be in another group now.
  sources->count = sources_of_system;
  add_group(sources);
}

static void close_source(lrd_source *source) {
  lrd_descriptor_close(&source->fd);
  lrd_descriptor_close(&source->other);
}

void lrd_sources_close(lrd_sources *sources) {
  for (int i = 0; i < sources->count; i++) close_source(&sources->source[i]);
  sources->count = 0;
}

bool lrd_sources_are_read(const lrd_sources *sources) {
  bool read = false;
  for (int i = 0; i < sources->count; i++) read |= sources->source[i].averaged;
  return read;
}

/// True for errors of the process or the moment, which say nothing about a file.
static bool will_pass(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR || error == EAGAIN;
}

static void lose(lrd_source *source, int error) {
  close_source(source);
  source->averaged = false;
  source->error = error ? error : ENODEV;
  source->until = 0;
}

void lrd_sources_look(lrd_sources *sources) {
  for (int i = 0; i < sources->count; i++) {
    lrd_source *source = &sources->source[i];
    if (source->fd.number >= 0 && !lrd_descriptor_is_own(&source->fd)) lose(source, EBADF);
  }
}

void lrd_source_woken(lrd_sources *sources, lrd_source *source, short events, uint64_t now) {
  char text[256];
  ssize_t length = 1;
  // Usage may fall without an event.
  sources->read_at = now;
  switch (source->kind) {
  case LRD_STALLS_OF_SYSTEM:
  case LRD_STALLS_OF_GROUP:
    if (events & POLLERR) {
      lose(source, ENODEV);
    } else {
      source->until = now + held;
    }
    break;
  case LRD_EVENTS_OF_GROUP:
    // Must be read to wait for the next one.
    length = pread(source->fd.number, text, sizeof text, 0);
    if (length <= 0) lose(source, length ? errno : ENODEV);
    break;
  case LRD_USAGE_OF_GROUP:
    length = read(source->fd.number, text, sizeof(uint64_t));
    // The last event of a group is its end: then its files are gone. A limit may come back.
    errno = 0;
    if (lrd_group_limit(&sources->group) == LRD_UNKNOWN && errno && !will_pass(errno)) {
      lose(source, errno);
    }
    break;
  case LRD_SOURCE_OF_SYSTEM:
    break;
  }
}

static bool group_is_short(const lrd_sources *sources) {
  uint32_t used;
  return lrd_group_used(&sources->group, &used) ? used >= plenty
                                                : lrd_system_is_short(sources->root);
}

static void read_averages(const lrd_sources *sources, lrd_source *source, uint64_t now) {
  bool full = source->level == LRD_CRITICAL;
  folder folder = folder_of(sources, source->kind);
  errno = 0;
  uint64_t value = lrd_stalls_average(folder.path, file_of[source->kind], full ? "full" : "some");
  if (value == LRD_UNKNOWN) {
    if (!will_pass(errno)) lose(source, errno);
  } else if (value >= (full ? critical_average : warning_average)) {
    source->until = now + period_of_averages + 1;
  }
}

static int usage_level(lrd_sources *sources) {
  uint32_t used;
  if (!lrd_group_used(&sources->group, &used)) {
    int error = errno;
    if (will_pass(error)) return sources->usage_level;
    for (int i = 0; error && i < sources->count; i++) {
      if (sources->source[i].kind == LRD_USAGE_OF_GROUP) lose(&sources->source[i], error);
    }
    return LRD_NORMAL;
  }
  if (used >= critical_usage) return LRD_CRITICAL;
  bool warned = sources->usage_level != LRD_NORMAL;
  return used >= (warned ? calm : warning_usage) ? LRD_WARNING : LRD_NORMAL;
}

int lrd_sources_level(lrd_sources *sources, uint64_t now) {
  sources->usage_level = usage_level(sources);
  int level = sources->usage_level;
  bool reads = false;
  for (int i = 0; i < sources->count; i++) {
    lrd_source *source = &sources->source[i];
    bool stalls = source->kind == LRD_STALLS_OF_SYSTEM || source->kind == LRD_STALLS_OF_GROUP;
    if (source->averaged && stalls) read_averages(sources, source, now);
    reads |= source->averaged;
    if (!stalls || source->until <= now || source->level <= level) continue;
    bool of_system = source->kind == LRD_STALLS_OF_SYSTEM;
    bool is_short = of_system ? lrd_system_is_short(sources->root) : group_is_short(sources);
    if (is_short) level = source->level;
  }
  sources->read_at = level != LRD_NORMAL ? now + period_of_news
                     : reads             ? now + period_of_averages
                                         : 0;
  return level;
}
#endif
