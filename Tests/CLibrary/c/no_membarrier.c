// SPDX-License-Identifier: Apache-2.0
/* no_membarrier.c — runs a program where membarrier(2) is missing, as in some sandboxes:
 *
 *     no_membarrier PROGRAM ARGUMENT... */
#include "check.h"
#include "lrdt_platform.h"

#include <unistd.h>

int main(int argc, char **argv) {
  CHECK(argc > 1 && lrdt_forbid_membarrier());
  execv(argv[1], argv + 1);
  perror(argv[1]);
  return 1;
}
