// SPDX-License-Identifier: Apache-2.0
/* lrdc_policy.h — from the numbers of larder.h to the core's policies. */
#pragma once

#include "lrdc_cache.h"

/// The policy with that number. NULL when this build has none.
__attribute__((visibility("hidden"))) const lrd_policy *_Nullable lrdc_policy(uint32_t number);
