// SPDX-License-Identifier: Apache-2.0
// The only mention of the system's libzstd; traces are read with it.
#include <zstd.h>
