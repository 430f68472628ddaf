// SPDX-License-Identifier: Apache-2.0
/* lrdt_grace.h — grace periods step by step, and the process's own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A step of a script: a fence begins or ends (`who` counts from 0), or the one ticket is drawn.
typedef enum lrdt_grace_act { LRDT_BEGIN, LRDT_END, LRDT_DRAW } lrdt_grace_act;

typedef struct lrdt_grace_step {
  lrdt_grace_act act;
  uint32_t who;
} lrdt_grace_step;

/// Runs a script, of at most 8 fences, on grace periods of its own. True when the ticket has passed
/// at the end. The script draws it.
bool lrdt_grace_passes(const lrdt_grace_step *steps, uint32_t count);

/// The process's grace periods: draws a ticket, asks for one, runs a fence.
uint64_t lrdt_grace_draw(void);
bool lrdt_grace_has_passed(uint64_t ticket);
void lrdt_grace_run(void);

#pragma clang assume_nonnull end
