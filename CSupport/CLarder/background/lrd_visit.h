// SPDX-License-Identifier: Apache-2.0
/* lrd_visit.h — what the one background thread of the process does when it visits a cache.
 *
 * It finishes the work that calls have left: entries in limbo that no writer came by to destroy,
 * tables half moved or far too large, pages that are nearly empty. And it makes in advance what a
 * growing cache will need: the next page of entries and the successor of a large table.
 *
 * A VISIT   1 removes some of what has expired (lrd_due.h), unless the clock is moved by hand
 *           2 draws tickets for fresh entries in all shards, and runs one fence
 *           3 in each shard: tidies the table, scans waiting entries and old tables, destroys what
 *             no reader holds. Before each: makes the pool's reserve page, if the pool wants one
 *           4 moves entries out of sparse pages (lrd_dense.h)
 *
 * WHAT IT TOUCHES
 *   entries      removes only what has expired; never evicts
 *   limbo        all of it, but not of a shard whose writers clean up themselves
 *   tables       moves and shrinks them, but leaves one alone that insertions are moving
 *   pool         makes the reserve page
 *   user code    the observer of what has expired, and the `deinit` of what it destroys. They run
 *                without a lock, and may use caches, as on any other thread
 *
 * LOCKS. It only tries the lock of a shard. It marks a busy one, so that the holder asks for a
 * visit when it leaves (lrd_lock.h), and visits the cache again in any case. For some things it
 * waits: to put what had expired into the limbo, once an observer has seen it; to scan and destroy
 * what was moved (lrd_pass.h), at the lock of the first shard; and at the end of that for a thread
 * that moves entries itself.
 *
 * While readers hold entries, locks are busy or memory is missing, it comes back to a cache ever
 * more rarely, but after a tenth of a second at the latest, or as soon as somebody asks. Where
 * writers clean up themselves it rests for some milliseconds, whoever asks. */
#pragma once

/// The thread's body: visits the caches that ask (lrd_request.h). Does not return.
void lrd_visit_run(void);
