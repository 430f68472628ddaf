// SPDX-License-Identifier: Apache-2.0
// The only mention of the system's jemalloc; it is linked behind the trait `Jemalloc`.
#include <jemalloc/jemalloc.h>
