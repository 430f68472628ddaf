// SPDX-License-Identifier: Apache-2.0
#include "CCallgrind.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

bool lb_callgrind_is_built(void) { return true; }

void lb_callgrind_begin(void) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
}

void lb_callgrind_end(const char *name) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name);
}

void lb_callgrind_pause(void) { CALLGRIND_STOP_INSTRUMENTATION; }
void lb_callgrind_resume(void) { CALLGRIND_START_INSTRUMENTATION; }
#else
bool lb_callgrind_is_built(void) { return false; }
void lb_callgrind_begin(void) {}
void lb_callgrind_end(const char *name) { (void)name; }
void lb_callgrind_pause(void) {}
void lb_callgrind_resume(void) {}
#endif
