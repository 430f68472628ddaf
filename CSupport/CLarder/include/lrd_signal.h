// SPDX-License-Identifier: Apache-2.0
/* lrd_signal.h — lets one thread sleep until another one has something for it, once.
 *
 * The release store of lrd_signal_give() pairs with the acquire load of lrd_signal_is_given(): what
 * was written before the signal is there afterwards. The giver touches the signal until its call
 * returns, so it needs a hold on the memory of its own. */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

/// Zero at first.
typedef struct lrd_signal {
  _Atomic(uint32_t) given;
} lrd_signal;

/// Whether lrd_signal_wait() would return at once.
static inline bool lrd_signal_is_given(lrd_signal *signal) {
  return atomic_load_explicit(&signal->given, memory_order_acquire);
}

/// Sleeps until the signal is given.
static inline void lrd_signal_wait(lrd_signal *signal) {
  while (!lrd_signal_is_given(signal)) {
    lrd_park(&signal->given, 0, 0);
  }
}

/// Gives the signal. Never waits.
static inline void lrd_signal_give(lrd_signal *signal) {
  atomic_store_explicit(&signal->given, 1, memory_order_release);
  lrd_unpark_one(&signal->given);
}

#pragma clang assume_nonnull end
