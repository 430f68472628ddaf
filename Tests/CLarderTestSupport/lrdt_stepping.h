// SPDX-License-Identifier: Apache-2.0
/* lrdt_stepping.h — calls a function after each instruction of another, by the trace flag. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

bool lrdt_stepping_available(void);

/// Runs `work`; after each of its instructions calls `look` with their number so far, from a signal
/// handler, until that returns false. Returns how often it was called. One thread at a time.
uint64_t lrdt_step(void (*work)(void *context), bool (*look)(void *context, uint64_t step),
                   void *context);

#pragma clang assume_nonnull end
