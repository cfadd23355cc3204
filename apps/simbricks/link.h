// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/link.h - one end of a link of SimBricks: a Unix socket, and two queues in memory
// that both processes share.
//
// The protocol is that of simbricks/simbricks, lib/simbricks/base and lib/simbricks/network,
// version 1. A message lies in an entry of a queue. Its last byte of the head says who owns the
// entry and which type the message has; its timestamp is the time of its arrival. Each side sends a
// message at least once per sync interval of simulated time, so the other side knows up to which
// time nothing more can come.
#ifndef APPS_SIMBRICKS_LINK_H
#define APPS_SIMBRICKS_LINK_H

#include "apps/simbricks/shared.h"

typedef struct app__link_config {
    const char *path; // of the socket
    bool listens;
    sim_time_t latency_ps; // of messages that leave
    sim_time_t sync_ps;    // longest time between two of them
} app__link_config_t;

typedef enum app__link_state {
    APP__LINK_CLOSED,
    APP__LINK_WAITS,  // for the other side to connect, or to listen
    APP__LINK_GREETS, // the introduction of the other side has not come
    APP__LINK_OPEN,
    APP__LINK_ENDED, // the other side has said that it ends
} app__link_state_t;

typedef struct app__queue {
    uint8_t *entries;
    uint64_t entry_bytes;
    uint64_t count;
    uint64_t at;
} app__queue_t;

typedef struct app__link {
    app__link_config_t config;
    app__link_state_t state;
    int listener; // -1: none
    int socket;   // -1: none
    int memory;   // file of the shared memory; -1: none
    uint8_t intro[128];
    size_t intro_bytes;
    app__shared_t shared;
    app__queue_t in;
    app__queue_t out;
    sim_time_t heard_ps; // the latest timestamp so far: nothing enters the network before it
    uint64_t late;       // number of messages with an earlier one, which count as at heard_ps
    sim_time_t sent_ps;  // time at which the latest one left
    bool sent;
    char error[256]; // why the link has failed; empty: it has not
} app__link_t;

// Outcome of app__link_take.
typedef enum app__link_got {
    APP__LINK_NOTHING,
    APP__LINK_FRAME,
    APP__LINK_OTHER, // a message that only says the time, or that the other side ends
    APP__LINK_FAILED // app__link_t.error says why
} app__link_got_t;

typedef struct app__link_frame {
    const uint8_t *bytes; // in shared memory, valid until app__link_done
    uint32_t size_bytes;
} app__link_frame_t;

// Begins to listen or to connect. Returns false if that is impossible.
bool app__link_begin(app__link_t *link, const app__link_config_t *config);
// Goes on with connecting, without waiting. Returns false if the link has failed.
bool app__link_greet(app__link_t *link);
// Takes the next message, without waiting. Its time is link->heard_ps.
app__link_got_t app__link_take(app__link_t *link, app__link_frame_t *frame);
// Gives the entry of the message that was taken back to the other side.
void app__link_done(app__link_t *link);
// Returns whether the other side has gone without saying so.
bool app__link_is_dead(const app__link_t *link);
// Returns whether a message can leave now; the other side may not have emptied its queue.
bool app__link_has_room(const app__link_t *link);
// Sends a frame, and a message that only says the time if one is due. There must be room.
void app__link_send(app__link_t *link, sim_time_t now_ps, const uint8_t *bytes,
                    uint32_t size_bytes);
bool app__link_sync_is_due(const app__link_t *link, sim_time_t now_ps);
void app__link_sync(app__link_t *link, sim_time_t now_ps);
// Returns the maximum number of bytes of a frame that leaves.
uint32_t app__link_frame_max(const app__link_t *link);
// Says that this side ends, if there is room for it, frees everything and removes the socket.
void app__link_end(app__link_t *link);

#endif // APPS_SIMBRICKS_LINK_H
