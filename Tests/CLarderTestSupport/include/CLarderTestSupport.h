// SPDX-License-Identifier: Apache-2.0
/* CLarderTestSupport.h — what tests must see of the core's structures that Swift cannot import. */
#pragma once

#include "CLarder.h"
#include "lrdt_advisor.h"
#include "lrdt_compact.h"
#include "lrdt_grace.h"
#include "lrdt_inside.h"
#include "lrdt_items.h"
#include "lrdt_platform.h"
#include "lrdt_play.h"
#include "lrdt_use.h"
