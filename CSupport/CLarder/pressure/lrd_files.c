// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// What a number that is larger counts as.
static const uint64_t most = (uint64_t)1 << 63;

static bool join(char *path, const char *folder, const char *name) {
  int length = snprintf(path, LRD_PATH_BYTES, "%s/%s", folder, name);
  bool fits = length > 0 && length < LRD_PATH_BYTES;
  if (!fits) errno = ENAMETOOLONG;
  return fits;
}

int lrd_file_open(const char *folder, const char *name) {
  char path[LRD_PATH_BYTES];
  return join(path, folder, name) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

bool lrd_file_read(const char *folder, const char *name, char *text, size_t room) {
  int file = lrd_file_open(folder, name);
  if (file < 0) return false;
  ssize_t length = read(file, text, room - 1);
  close(file);
  if (length < 0) return false;
  text[length] = 0;
  return true;
}

uint64_t lrd_number_after(const char *text, const char *word) {
  size_t length = strlen(word);
  const char *at = text;
  while (length && (at = strstr(at, word))) {
    // At the beginning of a line or after a blank: "file" is no part of "inactive_file".
    bool begins = at == text || at[-1] == '\n' || at[-1] == ' ';
    at += length;
    if (begins && (*at == ' ' || *at == '=' || *at == ':')) break;
  }
  if (!at) return LRD_UNKNOWN;
  if (length) at++;
  while (*at == ' ') at++;
  if (*at < '0' || *at > '9') return LRD_UNKNOWN;
  uint64_t number = 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    if (number > (most - digit) / 10) return most;
    number = number * 10 + digit;
  }
  return number;
}

uint64_t lrd_stalls_average(const char *folder, const char *name, const char *who) {
  char text[256];
  if (!lrd_file_read(folder, name, text, sizeof text)) return LRD_UNKNOWN;
  const char *line = strstr(text, who);
  const char *at = line ? strstr(line, "avg10=") : NULL;
  if (!at) return LRD_UNKNOWN;
  uint64_t whole = lrd_number_after(at, "avg10"), hundredths = 0;
  if (whole > 100) return LRD_UNKNOWN;
  const char *point = strchr(at, '.');
  if (point && point[1] >= '0' && point[1] <= '9') hundredths = (uint64_t)(point[1] - '0') * 10;
  return whole * 100 + hundredths;
}

bool lrd_system_is_short(const char *root) {
  char text[512];
  if (!lrd_file_read(root, "proc/meminfo", text, sizeof text)) return true;
  uint64_t total = lrd_number_after(text, "MemTotal"),
           left = lrd_number_after(text, "MemAvailable");
  return total == LRD_UNKNOWN || left == LRD_UNKNOWN || left < total / 5;
}
