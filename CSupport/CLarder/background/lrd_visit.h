// SPDX-License-Identifier: Apache-2.0
/* lrd_visit.h — what the process's one background thread does when it visits a cache.
 *
 * It looks after what calls have left undone: entries in limbo that no writer came by to destroy,
 * tables half moved or far too large. And it makes beforehand what a growing cache will want: the
 * next page of entries and the successor of a large table.
 *
 * WHAT IT MAY TOUCH. Shard locks are only ever tried. A busy one is marked, so that its holder asks
 * again on leaving (lrd_lock.h), and the cache is visited again in any case. It does not touch what
 * writers turn over themselves: the limbo of a busy shard, a table that insertions are moving. It
 * uses no cache. (A `deinit` that it runs may: that behaves as on any other thread.)
 *
 * A VISIT   1 draws tickets for what is fresh in all shards, and runs one fence
 *           2 makes the pool's reserve page, if the pool wants one
 *           3 of each shard: tidies the table, scans what waits, destroys what is scanned
 * While readers hold on to entries it comes back ever more rarely, at least every tenth of a second,
 * unless writers are busy in other shards. */
#pragma once

/// The thread's body: visits whatever asks (lrd_request.h). Does not return.
void lrd_visit_run(void);
