/* SPDX-License-Identifier: Apache-2.0 */
/* first_use.c — fork() while another thread makes its first use of the library, or reports memory
 * pressure for the first time. The child does the same, and forks again. Linked with
 * -Wl,--wrap=pthread_atfork: the other thread waits where the library has just asked to be told of
 * forks. */
#include "check.h"

#include <larder.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void handler(void);
int __real_pthread_atfork(handler *before, handler *parent, handler *child);
int __wrap_pthread_atfork(handler *before, handler *parent, handler *child);

static pthread_barrier_t asked, forked;
static int calls, last_call;

int __wrap_pthread_atfork(handler *before, handler *parent, handler *child) {
  int result = __real_pthread_atfork(before, parent, child);
  if (++calls == last_call) {
    pthread_barrier_wait(&asked);
    pthread_barrier_wait(&forked);
  }
  return result;
}

static void *use(void *unused) {
  larder_config config = LARDER_CONFIG_INIT;
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  CHECK(larder_set(cache, "key", 3, "value", 5, 0, NULL) == LARDER_OK);
  CHECK(larder_destroy(cache) == LARDER_OK);
  return unused;
}

static void expect_success(pid_t child) {
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* In a process of its own. */
static void fork_amid_call(void) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&asked, NULL, 2) == 0);
  CHECK(pthread_barrier_init(&forked, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, use, NULL) == 0);
  pthread_barrier_wait(&asked);
  pid_t child = fork();
  if (!child) {
    alarm(60); /* whoever waits for ever is found out */
    last_call = 0;
    use(NULL);
    pid_t grandchild = fork();
    if (!grandchild) {
      use(NULL);
      _exit(0);
    }
    expect_success(grandchild);
    _exit(0);
  }
  pthread_barrier_wait(&forked);
  CHECK(pthread_join(thread, NULL) == 0);
  expect_success(child);
}

int main(void) {
  /* So many calls there are. */
  pid_t counting = fork();
  if (!counting) {
    use(NULL);
    _exit(calls);
  }
  int status;
  CHECK(waitpid(counting, &status, 0) == counting && WIFEXITED(status));
  CHECK(WEXITSTATUS(status) > 0);
  for (last_call = 1; last_call <= WEXITSTATUS(status); last_call++) {
    pid_t process = fork();
    if (!process) {
      fork_amid_call();
      _exit(0);
    }
    expect_success(process);
  }
  return 0;
}
