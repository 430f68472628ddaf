// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// A limit from here on is none: version 1 writes the most that it can count.
static const uint64_t no_limit = (uint64_t)1 << 60;

static uint64_t number_in(const char *folder, const char *name) {
  char text[64];
  return lrd_file_read(folder, name, text, sizeof text) ? lrd_number_after(text, "") : LRD_UNKNOWN;
}

uint64_t lrd_group_limit(const lrd_group *group) {
  if (!group->path[0]) return LRD_UNKNOWN;
  uint64_t limit =
      number_in(group->path, group->version == 1 ? "memory.limit_in_bytes" : "memory.max");
  uint64_t high = group->version == 1 ? LRD_UNKNOWN : number_in(group->path, "memory.high");
  if (high < limit) limit = high;
  return limit >= no_limit ? LRD_UNKNOWN : limit;
}

/// The group at `mount`/`path`, or the nearest one around it that has a limit. Without any, `path`
/// itself, if it tells of stalls.
static bool find_below(lrd_group *group, int version, const char *mount, const char *path) {
  lrd_group at = {.version = version};
  lrd_group own = {.version = version};
  size_t base = strlen(mount);
  int length = snprintf(at.path, sizeof at.path, "%s%s", mount, strcmp(path, "/") ? path : "");
  if (length < 0 || (size_t)length >= sizeof at.path) return false;
  for (;;) {
    int file = version == 2 ? lrd_file_open(at.path, "memory.pressure") : -1;
    if (file >= 0) close(file);
    if (file >= 0 && !own.path[0]) own = at;
    if (lrd_group_limit(&at) != LRD_UNKNOWN) {
      *group = at;
      return true;
    }
    char *last = strrchr(at.path + base, '/');
    if (!last) break;
    *last = 0;
  }
  // Another mount, or version 1, may have a limit.
  if (!group->path[0]) *group = own;
  return false;
}

/// True when "memory" is in the comma-separated list.
static bool names_memory(const char *controllers) {
  const char *found = strstr(controllers, "memory");
  if (!found || (found != controllers && found[-1] != ',')) return false;
  return found[6] == 0 || found[6] == ',';
}

/// Looks for a group by a line of /proc/self/cgroup, number:controllers:group. Version 2 names no
/// controllers. True when it has found one with a limit.
static bool find_by(lrd_group *group, const char *root, char *line) {
  line[strcspn(line, "\n")] = 0;
  char *controllers = strchr(line, ':'), mount[LRD_PATH_BYTES];
  char *path = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!path || path[1] != '/') return false;
  *path++ = 0;
  controllers++;
  if (names_memory(controllers)) {
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
    return find_below(group, 1, mount, path);
  }
  if (*controllers) return false;
  snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
  if (find_below(group, 2, mount, path)) return true;
  snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/unified", root);
  return find_below(group, 2, mount, path);
}

void lrd_group_find(lrd_group *group, const char *root) {
  memset(group, 0, sizeof *group);
  char path[LRD_PATH_BYTES + 32], *line = NULL;
  size_t room = 0;
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  // Where groups of version 1 are nested deeply, this is longer than a page.
  FILE *file = fopen(path, "re");
  if (!file) return;
  while (getline(&line, &room, file) >= 0 && !find_by(group, root, line)) {
  }
  free(line);
  fclose(file);
}

bool lrd_group_used(const lrd_group *group, uint32_t *permille) {
  errno = 0;
  uint64_t limit = lrd_group_limit(group);
  if (limit == LRD_UNKNOWN) return false;
  bool first = group->version == 1;
  uint64_t used = number_in(group->path, first ? "memory.usage_in_bytes" : "memory.current");
  if (used == LRD_UNKNOWN) return false;
  char text[4 * LRD_PATH_BYTES];
  if (lrd_file_read(group->path, "memory.stat", text, sizeof text)) {
    uint64_t idle = lrd_number_after(text, first ? "total_inactive_file" : "inactive_file");
    if (idle != LRD_UNKNOWN) used = idle < used ? used - idle : 0;
  } else if (errno != ENOENT) {
    return false;
  }
  bool full = !limit || used >= limit;
  *permille = full ? 1000 : (uint32_t)((unsigned __int128)used * 1000 / limit);
  return true;
}
