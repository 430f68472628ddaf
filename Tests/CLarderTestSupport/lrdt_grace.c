// SPDX-License-Identifier: Apache-2.0
#include "lrdt_grace.h"

#include "lrd_grace.h"

bool lrdt_grace_passes(const lrdt_grace_step *steps, uint32_t count) {
  lrd_grace grace = {0};
  uint64_t number[8] = {0}, ticket = UINT64_MAX;
  for (uint32_t i = 0; i < count; i++) {
    if (steps[i].act == LRDT_BEGIN) number[steps[i].who] = lrd_grace_begin(&grace);
    if (steps[i].act == LRDT_END) lrd_grace_end(&grace, number[steps[i].who]);
    if (steps[i].act == LRDT_DRAW) ticket = lrd_grace_ticket(&grace);
  }
  return lrd_grace_has_passed(&grace, ticket);
}

uint64_t lrdt_grace_draw(void) {
  return lrd_grace_ticket(&lrd_grace_periods);
}

bool lrdt_grace_has_passed(uint64_t ticket) {
  return lrd_grace_has_passed(&lrd_grace_periods, ticket);
}

void lrdt_grace_run(void) {
  lrd_grace_fence();
}
