// SPDX-License-Identifier: Apache-2.0
/* lrd_reserve.h — the pages without entries that a pool keeps at hand: made in advance, and given
 * up when memory is short. */
#pragma once

#include "lrd_pool.h"

#pragma clang assume_nonnull begin

/// Makes a reserve page if the pool wants one, has no empty page and has fewer slots than expected.
/// True when it has made one. Locks `lock`. One thread at a time may call it.
bool lrd_reserve_prepare(lrd_pool *pool);

/// Frees the empty page, unless it awaits entries, and the reserve page, if there are any. Locks
/// `lock`.
void lrd_reserve_drop(lrd_pool *pool);

#pragma clang assume_nonnull end
