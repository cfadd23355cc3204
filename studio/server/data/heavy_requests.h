// SPDX-License-Identifier: Apache-2.0
// studio/server/data/heavy_requests.h - turns for requests that need much memory or time: the
// number at once is limited, and lower per user, so that one user cannot block the others.
#ifndef STUDIO_SERVER_DATA_HEAVY_REQUESTS_H
#define STUDIO_SERVER_DATA_HEAVY_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct studio_turns studio_turns_t;

studio_turns_t *studio_turns_create(void);
void studio_turns_destroy(studio_turns_t *turns); // nobody may hold or wait for a turn

// Waits for a turn of the user; returns false if too many requests wait already.
bool studio_turns_enter(studio_turns_t *turns, int64_t user);
void studio_turns_leave(studio_turns_t *turns, int64_t user);

#endif // STUDIO_SERVER_DATA_HEAVY_REQUESTS_H
