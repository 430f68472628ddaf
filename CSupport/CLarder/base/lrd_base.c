// SPDX-License-Identifier: Apache-2.0
#include "lrd_base.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void lrd_fail(const char *condition, const char *file, int line) {
  fprintf(stderr, "Larder: broken invariant at %s:%d: %s\n", file, line, condition);
  abort();
}
