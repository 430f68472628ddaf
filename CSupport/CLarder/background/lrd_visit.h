// SPDX-License-Identifier: Apache-2.0
/* lrd_visit.h — what the one background thread of the process does when it visits a cache.
 *
 * It finishes the work that calls have left: entries in limbo that no writer came by to destroy,
 * tables half moved or far too large. And it makes in advance what a growing cache will need: the
 * next page of entries and the successor of a large table.
 *
 * A VISIT   1 removes some of what has expired (lrd_due.h), unless the clock is moved by hand
 *           2 draws tickets for fresh entries in all shards, and runs one fence
 *           3 in each shard: tidies the table, scans waiting entries and old tables, destroys what
 *             no reader holds. Before each: makes the pool's reserve page, if the pool wants one
 *
 * A visit only tries the locks of shards, but waits for the one of a shard to which it hands what
 * had expired and an observer has seen. It marks a busy lock, so that the holder asks for a
 * visit when it leaves (lrd_lock.h), and visits the cache again in any case. It leaves alone the
 * limbo of a shard whose writers clean up themselves, and a table that insertions are moving. (A
 * `deinit` that it runs may use caches, as on any other thread.) While readers hold entries, locks
 * are busy or memory is missing, it comes back to a cache ever more rarely, a tenth of a second at
 * most between visits, unless somebody asks. */
#pragma once

/// The thread's body: visits the caches that ask (lrd_request.h). Does not return.
void lrd_visit_run(void);
