// SPDX-License-Identifier: Apache-2.0
// apps/periods.h - skips what repeats in the middle of long messages: `fast-forward`, mode exact.
#ifndef APPS_PERIODS_H
#define APPS_PERIODS_H

#include "apps/skips.h"
#include "nic/host.h"

SIM_C_BEGIN

typedef struct app_periods app_periods_t;

// Lets a run whose options have `splits` skip periods. Before the run; both arguments outlive it.
app_periods_t *app_periods_create(const net_t *net, app_skips_t *skips);
void app_periods_destroy(app_periods_t *periods); // NULL is allowed

SIM_C_END

#endif // APPS_PERIODS_H
