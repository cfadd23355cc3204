// SPDX-License-Identifier: Apache-2.0
// studio/server/data/heavy_requests.c - places for heavy requests; waiting ones look again when one
// leaves.
#include "studio/server/data/heavy_requests.h"

#include "kernel/base.h"

#include <pthread.h>

#define AT_ONCE 4u
#define OF_A_USER 2u
#define WAITING_MAX 32u
#define NOBODY 0

struct studio_turns {
    pthread_mutex_t lock;
    pthread_cond_t left;
    int64_t users[AT_ONCE]; // NOBODY: the place is free
    unsigned waiting;
};

studio_turns_t *studio_turns_create(void)
{
    studio_turns_t *const made = sim_alloc(sizeof(*made));
    SIM_CHECK(pthread_mutex_init(&made->lock, NULL) == 0);
    SIM_CHECK(pthread_cond_init(&made->left, NULL) == 0);
    return made;
}

void studio_turns_destroy(studio_turns_t *turns)
{
    (void)pthread_cond_destroy(&turns->left);
    (void)pthread_mutex_destroy(&turns->lock);
    sim_free(turns);
}

// Returns a free place that the user may take; AT_ONCE if there is none.
static unsigned place_for(const studio_turns_t *turns, int64_t user)
{
    unsigned own = 0;
    unsigned place = AT_ONCE;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        own += turns->users[i] == user;
        place = turns->users[i] == NOBODY ? i : place;
    }
    return own < OF_A_USER ? place : AT_ONCE;
}

bool studio_turns_enter(studio_turns_t *turns, int64_t user)
{
    SIM_CHECK(pthread_mutex_lock(&turns->lock) == 0);
    unsigned place = place_for(turns, user);
    const bool room = place < AT_ONCE || turns->waiting < WAITING_MAX;
    if (room) {
        turns->waiting++;
        while (place == AT_ONCE) {
            (void)pthread_cond_wait(&turns->left, &turns->lock);
            place = place_for(turns, user);
        }
        turns->waiting--;
        turns->users[place] = user;
    }
    SIM_CHECK(pthread_mutex_unlock(&turns->lock) == 0);
    return room;
}

void studio_turns_leave(studio_turns_t *turns, int64_t user)
{
    SIM_CHECK(pthread_mutex_lock(&turns->lock) == 0);
    unsigned place = 0;
    while (place < AT_ONCE && turns->users[place] != user) {
        place++;
    }
    SIM_CHECK(place < AT_ONCE);
    turns->users[place] = NOBODY;
    (void)pthread_cond_broadcast(&turns->left);
    SIM_CHECK(pthread_mutex_unlock(&turns->lock) == 0);
}
