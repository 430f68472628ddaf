// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_fifo.c — first in, first out. Hits change nothing. */
#include "lrd_policies.h"
#include "lrd_queues.h"

const lrd_policy lrd_policy_fifo = {
    .hits_most = LRD_HITS_IGNORED,
    .steps_most = 1,
    .victim = lrd_queues_victim,
    .exchange = lrd_queues_exchange,
    LRD_POLICY_OF_ONE_QUEUE,
};
