// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/events.c - a ring of messages, and the streams that read it.
#include "studio/server/runs/events.h"

#include "studio/server/accounts/accounts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RING 2048u
#define WATCHERS_MAX 256u
#define WATCHERS_PER_USER_MAX 16u
#define ALIVE_S 10 // seconds between comments, whose failed write shows that a client is gone

typedef struct message {
    int64_t run;
    int64_t owner;
    bool shared;
    char *text; // as it is sent
    size_t length;
} message_t;

struct studio_events {
    pthread_mutex_t lock;
    pthread_cond_t news;
    message_t ring[RING];
    uint64_t next;     // number of the next message; the first is 1
    int64_t *watchers; // users, one entry per stream
    size_t watcher_count;
    size_t watcher_capacity;
};

typedef struct watcher {
    studio_t *studio;
    studio_user_t user;
    int64_t run;
    int64_t held_ms; // when the user's login was last found valid
    uint64_t at;     // number of the next message to read
    char *pending;
    size_t pending_at;
    size_t pending_length;
} watcher_t;

studio_events_t *studio_events_create(void)
{
    studio_events_t *const events = sim_alloc(sizeof(*events));
    pthread_condattr_t attributes;
    SIM_CHECK(pthread_mutex_init(&events->lock, NULL) == 0);
    SIM_CHECK(pthread_condattr_init(&attributes) == 0);
    SIM_CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    SIM_CHECK(pthread_cond_init(&events->news, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
    events->next = 1;
    return events;
}

void studio_events_destroy(studio_events_t *events)
{
    if (events == NULL) {
        return;
    }
    for (size_t i = 0; i < RING; i++) {
        sim_free(events->ring[i].text);
    }
    (void)pthread_cond_destroy(&events->news);
    (void)pthread_mutex_destroy(&events->lock);
    sim_free(events->watchers);
    sim_free(events);
}

void studio_events_wake(studio_events_t *events)
{
    SIM_CHECK(pthread_mutex_lock(&events->lock) == 0);
    (void)pthread_cond_broadcast(&events->news);
    SIM_CHECK(pthread_mutex_unlock(&events->lock) == 0);
}

void studio_events_publish(studio_events_t *events, int64_t run, int64_t owner, bool shared,
                           const char *event, const char *json)
{
    SIM_CHECK(strpbrk(json, "\r\n") == NULL && strpbrk(event, "\r\n") == NULL);
    SIM_CHECK(pthread_mutex_lock(&events->lock) == 0);
    message_t *const message = &events->ring[events->next % RING];
    sim_free(message->text);
    message->text =
        sim_format("id: %" PRIu64 "\nevent: %s\ndata: %s\n\n", events->next, event, json);
    message->length = strlen(message->text);
    message->run = run;
    message->owner = owner;
    message->shared = shared;
    events->next++;
    (void)pthread_cond_broadcast(&events->news);
    SIM_CHECK(pthread_mutex_unlock(&events->lock) == 0);
}

// -- watching

static bool enter(studio_events_t *events, int64_t user)
{
    SIM_CHECK(pthread_mutex_lock(&events->lock) == 0);
    size_t same = 0;
    for (size_t i = 0; i < events->watcher_count; i++) {
        same += events->watchers[i] == user;
    }
    const bool room = events->watcher_count < WATCHERS_MAX && same < WATCHERS_PER_USER_MAX;
    if (room) {
        SIM_APPEND(events->watchers, events->watcher_count, events->watcher_capacity, user);
    }
    SIM_CHECK(pthread_mutex_unlock(&events->lock) == 0);
    return room;
}

static void leave(void *ctx)
{
    watcher_t *const watcher = ctx;
    studio_events_t *const events = watcher->studio->events;
    SIM_CHECK(pthread_mutex_lock(&events->lock) == 0);
    for (size_t i = 0; i < events->watcher_count; i++) {
        if (events->watchers[i] == watcher->user.id) {
            events->watchers[i] = events->watchers[--events->watcher_count];
            break;
        }
    }
    SIM_CHECK(pthread_mutex_unlock(&events->lock) == 0);
    sim_free(watcher->pending);
    sim_free(watcher);
}

static bool is_for(const watcher_t *watcher, const message_t *message)
{
    const bool visible = message->shared || message->owner == watcher->user.id ||
                         watcher->user.role == STUDIO_ROLE_ADMINISTRATOR;
    return visible && (watcher->run == 0 || watcher->run == message->run);
}

// Asks a client that missed messages to ask anew.
static size_t put_resync(char *buffer)
{
    static const char resync[] = "event: resync\ndata: {}\n\n";
    memcpy(buffer, resync, sizeof(resync) - 1);
    return sizeof(resync) - 1;
}

// Copies new messages into buffer as far as they fit. Needs the lock.
static size_t take_news(watcher_t *watcher, char *buffer, size_t size_bytes)
{
    studio_events_t *const events = watcher->studio->events;
    size_t filled = 0;
    if (watcher->at + RING <= events->next) {
        watcher->at = events->next;
        return put_resync(buffer);
    }
    while (watcher->at < events->next) {
        const message_t *const message = &events->ring[watcher->at % RING];
        if (is_for(watcher, message)) {
            if (message->length > size_bytes && filled == 0) {
                watcher->at++; // a message that never fits would block all later ones
                return put_resync(buffer);
            }
            if (message->length > size_bytes - filled) {
                break;
            }
            memcpy(buffer + filled, message->text, message->length);
            filled += message->length;
        }
        watcher->at++;
    }
    return filled;
}

static ssize_t fill_pending(watcher_t *watcher, char *buffer, size_t size_bytes)
{
    size_t count = watcher->pending_length - watcher->pending_at;
    count = SIM_MIN(count, size_bytes);
    memcpy(buffer, watcher->pending + watcher->pending_at, count);
    watcher->pending_at += count;
    if (watcher->pending_at == watcher->pending_length) {
        sim_free(watcher->pending);
        watcher->pending = NULL;
    }
    return (ssize_t)count;
}

static ssize_t fill(void *ctx, char *buffer, size_t size_bytes)
{
    static const char alive[] = ": alive\n\n";
    watcher_t *const watcher = ctx;
    studio_events_t *const events = watcher->studio->events;
    const int64_t now_ms = studio_clock_ms();
    if (now_ms - watcher->held_ms >= ALIVE_S * 1000) {
        watcher->held_ms = now_ms;
        if (!studio_user_holds(watcher->studio, &watcher->user)) {
            return 0; // the stream ends after a logout
        }
    }
    if (watcher->pending != NULL) {
        return fill_pending(watcher, buffer, size_bytes);
    }
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ALIVE_S;
    int waited = 0;
    SIM_CHECK(pthread_mutex_lock(&events->lock) == 0);
    size_t filled = take_news(watcher, buffer, size_bytes);
    while (filled == 0 && waited == 0 && !atomic_load(&watcher->studio->stopping)) {
        waited = pthread_cond_timedwait(&events->news, &events->lock, &until);
        filled = take_news(watcher, buffer, size_bytes);
    }
    SIM_CHECK(pthread_mutex_unlock(&events->lock) == 0);
    if (atomic_load(&watcher->studio->stopping)) {
        return 0;
    }
    if (filled > 0) {
        return (ssize_t)filled;
    }
    memcpy(buffer, alive, sizeof(alive) - 1);
    return (ssize_t)sizeof(alive) - 1;
}

// Returns the number from which a returning client continues; next for a new client.
static uint64_t resume_at(const studio_request_t *request, uint64_t next)
{
    const char *const last = studio_request_header(request, "Last-Event-ID");
    const unsigned long long number = last == NULL ? 0 : strtoull(last, NULL, 10);
    return number == 0 || number >= next || number + RING <= next ? next : number + 1;
}

int studio_events_answer(studio_request_t *request, studio_response_t *response, int64_t run,
                         char *first)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    if (!enter(studio->events, user->id)) {
        sim_free(first);
        studio_response_header(response, "Retry-After", "10");
        return studio_response_error(response, 503,
                                     "too many clients watch events; try again later");
    }
    watcher_t *const watcher = sim_alloc(sizeof(*watcher));
    watcher->studio = studio;
    watcher->user = *user;
    watcher->run = run;
    watcher->held_ms = studio_clock_ms();
    watcher->pending = first;
    watcher->pending_length = strlen(first);
    SIM_CHECK(pthread_mutex_lock(&studio->events->lock) == 0);
    watcher->at = resume_at(request, studio->events->next);
    SIM_CHECK(pthread_mutex_unlock(&studio->events->lock) == 0);
    studio_response_header(response, "X-Accel-Buffering", "no");
    return studio_response_stream(response, 200, "text/event-stream", fill, leave, watcher);
}
