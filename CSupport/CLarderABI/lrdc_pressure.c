// SPDX-License-Identifier: Apache-2.0
/* lrdc_pressure.c — memory pressure: the level of the process, and what a cache does about it. */
#include "lrdc_cache.h"
#include "lrdc_value.h"

larder_status larder_report_pressure(int32_t level) {
  if (level < LARDER_NORMAL || level > LARDER_CRITICAL) return LARDER_BAD_ARGUMENT;
  lrd_pressure_report(level);
  return LARDER_OK;
}

larder_status larder_get_pressure(int32_t *level) {
  if (!level) return LARDER_BAD_ARGUMENT;
  *level = lrd_pressure_current();
  return LARDER_OK;
}

larder_status larder_listen(int32_t listens) {
  if (listens) {
    lrd_pressure_start();
  } else {
    lrd_pressure_stop();
  }
  return LARDER_OK;
}

larder_status larder_background(int32_t entered) {
  if (entered) {
    lrd_pressure_enter_background();
  } else {
    lrd_pressure_enter_foreground();
  }
  return LARDER_OK;
}

static bool is_fraction(double fraction) {
  return fraction >= 0 && fraction <= 1;
}

larder_status larder_set_pressure_response(larder_cache *cache,
                                           const larder_pressure_response *response) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  lrd_response core = {.heeds = response != NULL};
  if (response) {
    if (response->size < sizeof *response || response->size > LRDC_STRUCTURE_MOST) {
      return LARDER_BAD_SIZE;
    }
    for (uint64_t i = sizeof *response; i < response->size; i++) {
      if (((const char *)response)[i]) return LARDER_UNSUPPORTED;
    }
    if (!is_fraction(response->warning) || !is_fraction(response->critical) ||
        !is_fraction(response->background)) {
      return LARDER_BAD_ARGUMENT;
    }
    if (response->minimum_count > LARDER_LIMIT_MOST) return LARDER_OUT_OF_RANGE;
    core.asks = response->respond != NULL;
    core.asked = (uintptr_t)response->respond;
    core.least = response->minimum_count;
    core.at[LRD_WARNING].keep = response->warning;
    core.at[LRD_CRITICAL].keep = response->critical;
    core.at[LRD_BACKGROUND].keep = response->background;
  }
  lrd_cache_set_response(cache->core, &core);
  return LARDER_OK;
}

lrd_action lrdc_ask(void *context, int level, uintptr_t asked) {
  larder_cache *cache = context;
  lrdc_respond *respond = (lrdc_respond *)asked;
  double keep = 1;
  lrd_outcall call;
  if (lrd_outcall_begin(cache->core, &call)) {
    keep = respond(cache->config.context, level);
    lrd_outcall_end(cache->core, &call);
  }
  return (lrd_action){.keep = is_fraction(keep) ? keep : 1};
}

bool lrdc_is_held(void *context, const lrd_entry *entry) {
  (void)context;
  return lrdc_value_is_held(lrdc_value_of(entry));
}
