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
 * WHAT IT TOUCHES. It removes only what has expired, and never evicts.
 *   holding            may touch
 *   a shard's lock     limbo: adds what has expired; moves other entries on, unless the shard's
 *                      writers clean up themselves; takes out tables
 *                      root, next, `moved` of the root, unless insertions move a table that grows;
 *                      `moved_seen`
 *                      timer and wheel: takes out what has expired, and notes when to look again
 *                      order and sums: entries that expire leave, copies take the places of others
 *   the first shard's  beside these, `moved_free` of the cache
 *   `compacting`       which pages are vacated or hollow; with a shard's lock `moved`, `moved_out`
 *   the pool's lock    all of the pool: the reserve page, free slots, pages of its own
 *   the queue's lock   the queue of requests, and the request that it puts back there
 *   no lock            fences, hazards of all threads, new tables; `density`, which is its own;
 *                      user code: the observer of what has expired, and the `deinit` of what it
 *                      destroys. They may use caches, as on any other thread
 *   the last reference the whole cache, if its owner has closed it: takes it out of the list of all
 *                      caches, under the list's lock, destroys what is left, and frees it
 *
 * LOCKS. It only tries the lock of a shard. It marks a busy one, so that the holder asks for a
 * visit when it leaves (lrd_lock.h), and visits the cache again in any case. With a table or with
 * overflow buckets in its hands it tries a thousand times, and yields in between. Five times it
 * waits, the first two at the lock of a shard:
 *   after an expiry, at the lock of its shard: to put what an observer has seen into the limbo, to
 *   return a scan to it, and to take from it what is too much (lrd_garbage_finish())
 *   after a move, at the lock of the first shard: to scan and destroy what was moved (lrd_pass.h)
 *   at the end of the moves: for a thread that moves entries itself
 *   after a scan, with entries that readers hold: tries the lock of their shard, and naps, until it
 *   can return them
 *   after user code that has used a cache: it ends its lanes as a thread that exits does, which
 *   takes the lock of the list of caches and those of shards that wait for its notes
 *
 * While readers hold entries, locks are busy or memory is missing, it comes back to a cache ever
 * more rarely, but after a tenth of a second at the latest, or as soon as somebody asks. Where
 * writers clean up themselves it rests for some milliseconds, whoever asks. */
#pragma once

/// The thread's body: visits the caches that ask (lrd_request.h). Does not return.
void lrd_visit_run(void);
