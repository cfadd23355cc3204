// SPDX-License-Identifier: Apache-2.0
// studio/server/studio.c - names of roles, and the clocks of the server.
#include "studio/server/studio.h"

#include <string.h>
#include <time.h>

static const char *const role_names[] = {
    [STUDIO_ROLE_NONE] = "none",
    [STUDIO_ROLE_VIEWER] = "viewer",
    [STUDIO_ROLE_USER] = "user",
    [STUDIO_ROLE_ADMINISTRATOR] = "administrator",
};

const char *studio_role_name(studio_role_t role)
{
    SIM_CHECK((size_t)role < SIM_COUNT_OF(role_names));
    return role_names[role];
}

bool studio_role_find(const char *name, studio_role_t *role)
{
    for (size_t i = STUDIO_ROLE_VIEWER; i < SIM_COUNT_OF(role_names); i++) {
        if (strcmp(role_names[i], name) == 0) {
            *role = (studio_role_t)i;
            return true;
        }
    }
    return false;
}

static int64_t milliseconds(clockid_t clock)
{
    struct timespec now;
    SIM_CHECK(clock_gettime(clock, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t studio_now_ms(void)
{
    return milliseconds(CLOCK_REALTIME);
}

int64_t studio_clock_ms(void)
{
    return milliseconds(CLOCK_MONOTONIC);
}

double studio_seconds(void)
{
    struct timespec now;
    SIM_CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
