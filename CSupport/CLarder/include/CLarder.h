// SPDX-License-Identifier: Apache-2.0
/* CLarder.h — the core of Larder: hashes, entries, links, costs, locks. No keys, no values, no
 * Swift. These headers are all that Swift and the C library use; CONTRIBUTING.md draws the rooms
 * that the sources are in. */
#pragma once

#include "lrd_alloc.h"
#include "lrd_compact.h"
#include "lrd_expire.h"
#include "lrd_flights.h"
#include "lrd_hash.h"
#include "lrd_insertion.h"
#include "lrd_life.h"
#include "lrd_local_insert.h"
#include "lrd_local_lookup.h"
#include "lrd_lookup.h"
#include "lrd_matches.h"
#include "lrd_outcall.h"
#include "lrd_policies.h"
#include "lrd_pressure.h"
#include "lrd_process.h"
#include "lrd_refresh.h"
#include "lrd_removal.h"
#include "lrd_reserve.h"
#include "lrd_retrofit.h"
#include "lrd_shortway.h"
#include "lrd_shrink.h"
#include "lrd_signal.h"
#include "lrd_statistics.h"
#include "lrd_sweep.h"
#include "lrd_timing.h"
#include "lrd_tour.h"
#include "lrd_trim.h"
#include "lrd_use.h"
