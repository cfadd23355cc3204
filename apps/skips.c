// SPDX-License-Identifier: Apache-2.0
// apps/skips.c - counts spans that a run could not skip.
#include "apps/skips.h"

#include <string.h>

void app_skips_refuse(app_skips_t *skips, const char *reason)
{
    size_t at = 0;
    while (at < skips->refused_count && strcmp(skips->refused[at].reason, reason) != 0) {
        at++;
    }
    if (at == skips->refused_count) {
        SIM_CHECK(at < APP_SKIP_REASONS_MAX);
        skips->refused[skips->refused_count++] = (app_skip_refusal_t){reason, 0};
    }
    skips->refused[at].count++;
}

void app_skips_settle(app_skips_t *skips)
{
    void (*const settle)(app_skips_t *) = skips->settle;
    skips->settle = NULL;
    if (settle != NULL) {
        settle(skips);
    }
}
