// SPDX-License-Identifier: Apache-2.0
#include "lrd_grace.h"

lrd_grace lrd_grace_periods;

void lrd_grace_fence(void) {
  uint64_t number = lrd_grace_begin(&lrd_grace_periods);
  lrd_fence_heavy();
  lrd_grace_end(&lrd_grace_periods, number);
}
