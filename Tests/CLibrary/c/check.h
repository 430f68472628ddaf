/* SPDX-License-Identifier: Apache-2.0 */
/* check.h — CHECK ends the program, and prints the line that does not hold. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#endif
