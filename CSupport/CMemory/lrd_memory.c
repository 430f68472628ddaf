// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CMemory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { path_bytes = 4096 };

static const uint64_t unknown_size = (uint64_t)1 << 30;

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/// The number in the file; UINT64_MAX if it cannot be read or holds another text, such as "max".
static uint64_t number_in(const char *path) {
  uint64_t number = UINT64_MAX;
  FILE *file = fopen(path, "re");
  if (!file) return UINT64_MAX;
  if (fscanf(file, "%" SCNu64, &number) != 1) number = UINT64_MAX;
  fclose(file);
  return number;
}

/// The lowest limit of `group` and all groups around it, below a folder of `mount`.
static uint64_t limit_of(const char *mount, const char *folder, const char *group,
                         const char *file) {
  uint64_t limit = UINT64_MAX;
  for (size_t part = strlen(group);; part--) {
    if (!part || group[part] == '/' || !group[part]) {
      char path[path_bytes];
      int length =
          snprintf(path, sizeof path, "%s%s%.*s/%s", mount, folder, (int)part, group, file);
      if (length > 0 && length < path_bytes) limit = least(limit, number_in(path));
    }
    if (!part) return limit;
  }
}

/// True when "memory" is in the comma-separated list.
static bool names_memory(const char *controllers) {
  const char *found = strstr(controllers, "memory");
  if (!found || (found != controllers && found[-1] != ',')) return false;
  return found[6] == 0 || found[6] == ',';
}

uint64_t lrd_memory_of_groups(const char *membership, const char *mount) {
  FILE *file = fopen(membership, "re");
  if (!file) return UINT64_MAX;
  uint64_t limit = UINT64_MAX;
  char line[path_bytes];
  // A line is number:controllers:group. Version 2 names no controllers.
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    controllers++;
    if (!*controllers) {
      limit = least(limit, limit_of(mount, "", group, "memory.max"));
      // Where version 1 is mounted here, version 2 is in this folder.
      limit = least(limit, limit_of(mount, "/unified", group, "memory.max"));
    } else if (names_memory(controllers)) {
      limit = least(limit, limit_of(mount, "/memory", group, "memory.limit_in_bytes"));
    }
  }
  fclose(file);
  return limit;
}

uint64_t lrd_memory_size(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t size = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : unknown_size;
#if defined(__linux__)
  size = least(size, lrd_memory_of_groups("/proc/self/cgroup", "/sys/fs/cgroup"));
#endif
  return size;
}
