// SPDX-License-Identifier: Apache-2.0
/* lrdc_status.c — the version, and the text of a status. */
#include "larder.h"

uint32_t larder_version(void) {
  return LARDER_VERSION;
}

const char *larder_status_text(larder_status status) {
  switch (status) {
  case LARDER_OK:
    return "done";
  case LARDER_REPLACED:
    return "stored in place of another value";
  case LARDER_NOT_FOUND:
    return "the key has no value";
  case LARDER_TOO_COSTLY:
    return "not stored: it costs more than the whole limit";
  case LARDER_TOO_SMALL:
    return "the buffer is too small for the value";
  case LARDER_STOPPED:
    return "stopped by the visitor";
  case LARDER_EXPIRED:
    return "the lifetime is over at once, and the key has no value now";
  case LARDER_OUT_OF_MEMORY:
    return "out of memory";
  case LARDER_BAD_ARGUMENT:
    return "a null pointer, a number without a meaning, or a policy that needs another limit";
  case LARDER_BAD_SIZE:
    return "the size in a structure is wrong";
  case LARDER_OUT_OF_RANGE:
    return "a limit, cost or number of shards is out of range";
  case LARDER_TOO_LONG:
    return "the key or value is too long";
  case LARDER_UNSUPPORTED:
    return "this build of the library cannot do that";
  case LARDER_WRONG_MODE:
    return "the cache's mode has no use for that";
  case LARDER_FOREIGN:
    return "not a cache of this copy of the library";
  case LARDER_CALLBACK_FAILED:
    return "key_retain failed";
  default:
    return "not a status";
  }
}
