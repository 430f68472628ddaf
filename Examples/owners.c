// SPDX-License-Identifier: Apache-2.0
/* owners.c — lists the files of directories with their owners' names, as ls -l does. The system may
 * have to read files or ask a server for a name, and few users own most files, so it caches names.
 *
 *     cc owners.c $(pkg-config --cflags --libs larder) -o owners && ./owners /usr/bin /etc */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <larder.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static larder_cache *names;

/* Writes the name of a user into `name`, which has room for `room` bytes. */
static void find_name(uid_t user, char *name, size_t room) {
  uint64_t size;
  if (larder_read(names, &user, sizeof user, name, room, &size) == LARDER_OK) return;
  const struct passwd *entry = getpwuid(user);
  snprintf(name, room, "%s", entry ? entry->pw_name : "?");
  larder_set(names, &user, sizeof user, name, strlen(name) + 1, LARDER_COST_DEFAULT, NULL);
}

static void list(const char *path) {
  DIR *directory = opendir(path);
  if (!directory) {
    perror(path);
    return;
  }
  for (struct dirent *file; (file = readdir(directory));) {
    struct stat about;
    char name[256];
    if (fstatat(dirfd(directory), file->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    find_name(about.st_uid, name, sizeof name);
    printf("%-12s %s/%s\n", name, path, file->d_name);
  }
  closedir(directory);
}

int main(int argc, char **argv) {
  larder_config config = LARDER_CONFIG_INIT;
  config.count_limit = 1000; // users
  larder_status status = larder_create(&config, &names);
  if (status != LARDER_OK) {
    fprintf(stderr, "larder: %s\n", larder_status_text(status));
    return 1;
  }
  for (int i = 1; i < argc; i++) list(argv[i]);
  larder_statistics statistics = {.size = sizeof statistics};
  larder_get_statistics(names, &statistics);
  fprintf(stderr, "%" PRIu64 " names were in the cache, %" PRIu64 " were not\n", statistics.hits,
          statistics.misses);
  larder_destroy(names);
  return 0;
}
