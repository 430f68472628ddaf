/* SPDX-License-Identifier: Apache-2.0
 * CCallgrind.h — marks the part of a program that callgrind shall count. Outside of valgrind its
 * functions do nothing. Needs the headers of Debian's package valgrind. */
#ifndef LB_CCALLGRIND_H
#define LB_CCALLGRIND_H

/// Whether valgrind's headers were there when this was compiled.
#include <stdbool.h>
bool lb_callgrind_is_built(void);

/// Begins to count. Callgrind must have been started with --collect-atstart=no.
void lb_callgrind_begin(void);

/// Ends counting, and writes the counts since begin to a file of their own under this name.
void lb_callgrind_end(const char *name);

/// Between these two the program runs ten times as fast, and nothing can be counted.
void lb_callgrind_pause(void);
void lb_callgrind_resume(void);

#endif
