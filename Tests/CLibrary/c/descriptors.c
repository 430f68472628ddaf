/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.c — a program that closes all descriptors that it does not know, as daemons do, and
 * opens files that get the same numbers; and one that cancels threads in calls about pressure. */
#include "check.h"

#include <fcntl.h>
#include <larder.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 12, LIMIT = 1000 };

static larder_cache *heeding(void) {
  larder_config config = LARDER_CONFIG_INIT;
  larder_pressure_response response = LARDER_PRESSURE_RESPONSE_INIT;
  larder_cache *cache;
  config.count_limit = LIMIT;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  CHECK(larder_set_pressure_response(cache, &response) == LARDER_OK);
  return cache;
}

static uint64_t limit_of(larder_cache *cache) {
  uint64_t limit;
  CHECK(larder_get_effective_count_limit(cache, &limit) == LARDER_OK);
  return limit;
}

/* Pressure comes and goes. The limit rises again only if the thread that raises it wakes up. */
static void press(larder_cache *cache) {
  CHECK(larder_report_pressure(LARDER_CRITICAL) == LARDER_OK);
  uint64_t lowered = limit_of(cache);
  CHECK(lowered < LIMIT);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  while (limit_of(cache) == lowered) usleep(10000);
}

static void close_all(void) {
  for (int number = 3; number < 1024; number++) close(number);
}

static void open_files(int *files) {
  char path[] = "/tmp/larder.XXXXXX";
  files[0] = mkstemp(path);
  CHECK(files[0] >= 0 && unlink(path) == 0);
  for (int i = 1; i < FILES; i++) CHECK((files[i] = dup(files[0])) >= 0);
}

/* They are open, and nobody has written to them. */
static void check_files(const int *files) {
  struct stat facts;
  for (int i = 0; i < FILES; i++) CHECK(fstat(files[i], &facts) == 0 && facts.st_size == 0);
}

static void check_closed(void) {
  int files[FILES];
  larder_cache *cache = heeding();
  press(cache);
  close_all();
  press(cache);
  close_all();
  open_files(files);
  press(cache);
  check_files(files);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    check_files(files);
    press(cache);
    check_files(files);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
  close_all();
  open_files(files);
  /* The thread has closed what it listened to by the time the limit rises. */
  CHECK(larder_listen(0) == LARDER_OK);
  press(cache);
  check_files(files);
  CHECK(larder_destroy(cache) == LARDER_OK);
}

static void *set(void *cache) {
  larder_pressure_response response = LARDER_PRESSURE_RESPONSE_INIT;
  pthread_cancel(pthread_self());
  larder_set_pressure_response(cache, &response);
  pthread_testcancel();
  return NULL;
}

static void *report(void *cache) {
  (void)cache;
  pthread_cancel(pthread_self());
  larder_report_pressure(LARDER_WARNING);
  pthread_testcancel();
  return NULL;
}

static void cancel_in(void *(*body)(void *), larder_cache *cache) {
  pthread_t thread;
  void *result;
  CHECK(pthread_create(&thread, NULL, body, cache) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) _exit(0);
  CHECK(waitpid(child, NULL, 0) == child);
}

static void check_cancelled(void) {
  larder_config config = LARDER_CONFIG_INIT;
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  cancel_in(set, cache);
  cancel_in(report, cache);
  CHECK(larder_destroy(cache) == LARDER_OK);
}

int main(void) {
  alarm(300); /* whoever sleeps for ever is found out */
  check_cancelled();
  check_closed();
  return 0;
}
