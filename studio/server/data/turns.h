// SPDX-License-Identifier: Apache-2.0
// studio/server/data/turns.h - requests that need much memory or time take turns: so many at once
// in all,
// fewer of one user, so that nobody's analyses take the server from the others.
#ifndef STUDIO_SERVER_DATA_TURNS_H
#define STUDIO_SERVER_DATA_TURNS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct studio_turns studio_turns_t;

studio_turns_t *studio_turns_create(void);
void studio_turns_destroy(studio_turns_t *turns); // nobody is in it

// Waits for a turn of the user's. False: too many wait already.
bool studio_turns_enter(studio_turns_t *turns, int64_t user);
void studio_turns_leave(studio_turns_t *turns, int64_t user);

#endif // STUDIO_SERVER_DATA_TURNS_H
