/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c — a pool that could not be compacted for lack of memory is sparse again once it has been
 * full in between and as much has left as before.
 *
 * Compiled with the library's private headers. */
#include "check.h"
#include "lrd_alloc.h"
#include "lrd_vacancy.h"

enum { SLOTS = 200000, KEPT = 20 }; /* one slot in KEPT stays */

static bool is_sparse(lrd_pool *pool) {
  lrd_lock_acquire(&pool->lock);
  bool sparse = lrd_pool_is_sparse_locked(pool);
  lrd_lock_release(&pool->lock);
  return sparse;
}

int main(void) {
  lrd_platform_start();
  static lrd_pool pool;
  static uint32_t ids[SLOTS];
  CHECK(lrd_pool_open(&pool, (lrd_layout){.bytes = 64, .alignment = 8}));
  for (uint32_t i = 0; i < SLOTS; i++) CHECK(lrd_pool_take(&pool, &ids[i], 1) == 1);
  CHECK(!is_sparse(&pool));
  for (int round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < SLOTS; i++) {
      if (i % KEPT) lrd_pool_give(&pool, &ids[i], 1);
    }
    CHECK(is_sparse(&pool));
    lrd_alloc_fail_after(0);
    lrd_vacancy_make(&pool, LRD_SPARSE_BYTES / 2);
    lrd_alloc_fail_after(-1);
    CHECK(!is_sparse(&pool)); /* nothing can be won */
    for (uint32_t i = 0; i < SLOTS; i++) {
      if (i % KEPT) CHECK(lrd_pool_take(&pool, &ids[i], 1) == 1);
    }
    CHECK(!is_sparse(&pool));
  }
  lrd_pool_give(&pool, ids, SLOTS);
  lrd_pool_close(&pool);
  return 0;
}
