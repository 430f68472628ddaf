// SPDX-License-Identifier: Apache-2.0
/* thresholds.c — a control group of version 1 whose limit is lifted for a while, by files of a fake
 * root. A threshold wakes at what was the limit before.
 *
 * Compiled with the library's private headers. */
#include "check.h"
#include "lrd_answer.h"
#include "lrd_sources.h"

#if defined(__linux__)
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP "/sys/fs/cgroup/memory/a"

enum { USAGE = 2, SOURCES }; // after those of the system: that for a warning, and one more

static char root[] = "/tmp/larder.XXXXXX";
static const char *const folders[] = {
    "/proc", "/proc/self", "/sys", "/sys/fs", "/sys/fs/cgroup", "/sys/fs/cgroup/memory", GROUP};
static const char *const files[] = {"/proc/self/cgroup", GROUP "/memory.limit_in_bytes",
                                    GROUP "/memory.usage_in_bytes", GROUP "/cgroup.event_control"};
enum {
  COUNT_FOLDERS = sizeof folders / sizeof *folders,
  COUNT_FILES = sizeof files / sizeof *files
};

static const char *path_of(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s%s", root, name);
  return path;
}

static void put(const char *name, const char *text) {
  FILE *file = fopen(path_of(name), "w");
  CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* The group with such a limit, or without one, of which 960,000 bytes are used. */
static void set_limit(const char *limit) {
  put(GROUP "/memory.limit_in_bytes", limit);
  put(GROUP "/memory.usage_in_bytes", "960000\n");
}

/* The system counts both events up, as it does when usage crosses the bounds, or the group ends. */
static void wake(lrd_sources *sources) {
  uint64_t one = 1;
  for (int i = USAGE; i <= SOURCES; i++) {
    lrd_source *source = &sources->source[i];
    CHECK(write(source->fd.number, &one, sizeof one) == sizeof one);
    lrd_source_woken(sources, source, POLLIN, 1);
  }
}

/* Both are still slept on, and read. */
static bool are_watched(const lrd_sources *sources) {
  for (int i = USAGE; i <= SOURCES; i++) {
    const lrd_source *source = &sources->source[i];
    if (source->fd.number < 0 || !source->averaged || source->error) return false;
  }
  return true;
}

int main(void) {
  static lrd_sources sources;
  CHECK(mkdtemp(root));
  for (int i = 0; i < COUNT_FOLDERS; i++) CHECK(mkdir(path_of(folders[i]), 0700) == 0);
  put("/proc/self/cgroup", "4:memory:/a\n");
  put(GROUP "/cgroup.event_control", "");
  set_limit("1000000\n");
  strcpy(sources.root, root);
  lrd_sources_open(&sources);
  CHECK(sources.count == SOURCES + 1 && are_watched(&sources));
  CHECK(lrd_sources_level(&sources, 1) == LRD_CRITICAL);
  set_limit("9223372036854771712\n");
  wake(&sources);
  CHECK(lrd_sources_level(&sources, 1) == LRD_NORMAL && are_watched(&sources));
  set_limit("1000000\n");
  CHECK(lrd_sources_level(&sources, 1) == LRD_CRITICAL);
  CHECK(unlink(path_of(GROUP "/memory.limit_in_bytes")) == 0);
  wake(&sources);
  CHECK(lrd_sources_level(&sources, 1) == LRD_NORMAL);
  for (int i = USAGE; i <= SOURCES; i++) {
    CHECK(sources.source[i].fd.number < 0 && sources.source[i].error);
  }
  lrd_sources_close(&sources);
  for (int i = 0; i < COUNT_FILES; i++) unlink(path_of(files[i]));
  for (int i = COUNT_FOLDERS; i--;) CHECK(rmdir(path_of(folders[i])) == 0);
}
#else
int main(void) {}
#endif
