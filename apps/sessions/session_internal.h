// SPDX-License-Identifier: Apache-2.0
// apps/sessions/session_internal.h - the state of a session: transfers, channels that carry
// them, and programs of ranks.
#ifndef APPS_SESSIONS_SESSION_INTERNAL_H
#define APPS_SESSIONS_SESSION_INTERNAL_H

#include "apps/channel/channel.h"
#include "apps/report_rows.h"
#include "apps/session.h"

#define TRANSFERS_OF_BLOCK 1024u

typedef struct app__session_channel app__session_channel_t;
typedef struct app__session_run app__session_run_t; // channels.c

typedef struct app__session_transfer {
    app_session_t *session;
    uint64_t number; // in order of submission
    uint64_t place;  // in order of start; UINT64_MAX: not released
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint32_t source;
    uint32_t destination;
    uint32_t first_psn;
    uint32_t retransmitted; // packets
    uint32_t source_qp;     // numbers of queue pairs; 0: it has not begun
    uint32_t destination_qp;
    struct app__session_transfer *next; // to begin at its requester
    app__session_run_t *run;            // NULL: it is not in progress
    uint16_t source_port;               // 0: derived
    uint8_t priority;                   // or APP__AS_THE_NIC
    uint8_t verb;
    uint8_t outcome;
    uint8_t status;
    bool reuse;
    bool cancelled;
    struct app__session_program *program; // NULL: a transfer
} app__session_transfer_t;

// A program of ranks (program.c).
typedef struct app__session_program {
    app_t *app;
    uint64_t number; // of its transfer
    uint32_t rank_count;
    uint32_t ended;    // ranks below it have ended
    sim_time_t end_ps; // latest of them
    uint64_t failed;   // messages of them
    bool *told;        // ranks that have had their completion; NULL: ranks have none
    struct app__session_program *next; // of the open ones
} app__session_program_t;

// A channel of one transfer, or of several. It exists until its responder is done with it, too.
struct app__session_channel {
    app__channel_t channel; // its queue pair is NULL when the requester is done with it
    app__pair_t pair;
    app_session_t *session;
    app__session_channel_t *next;        // list of the session
    app__session_channel_t *previous;    // of the same list
    app__session_channel_t *next_shared; // list of the requester's side, where it is shared
    sim_time_t closed_ps; // end of the requester's queue pair; SIM_TIME_NEVER: not yet
    uint8_t priority;     // of its transfers, or APP__AS_THE_NIC
    bool reuse;
    uint32_t source_slot; // of QP numbers
    uint32_t destination_slot;
};

// QP numbers of one direction, and the channels that use them.
typedef struct app__session_slots {
    app__session_channel_t **channels; // NULL: the number is free
    uint32_t capacity;                 // power of two
    uint32_t next;                     // where to look for a free one
} app__session_slots_t;

// The state of a session at one interface.
typedef struct app__session_side {
    sim_timer_t timer;              // fires when the next transfer of this requester begins
    app__session_transfer_t *first; // released, in the order of their places
    app__session_transfer_t *last;
    app__endpoint_t *endpoint;      // NULL: the session does not use the interface
    uint64_t position;              // of the first QP number: requesters, then responders
    app__session_slots_t slots[2];  // of requesters and of responders
    app__session_channel_t *shared; // channels of this requester that transfers share
} app__session_side_t;

struct app_session {
    app_t app; // first
    app_runtime_t *runtime;
    uint64_t seed;
    uint64_t first_flow_id;
    app__session_side_t *sides; // by interface
    size_t side_count;
    app__session_transfer_t **blocks; // of TRANSFERS_OF_BLOCK transfers, which never move
    size_t block_count;
    size_t block_capacity;
    uint64_t count;
    uint64_t open;     // transfers that wait or run
    uint64_t *waiting; // heap of transfers by start
    size_t waiting_count;
    size_t waiting_capacity;
    uint64_t *placed; // transfers in the order of their places
    size_t placed_count;
    size_t placed_capacity;
    sim_time_t released_ps; // transfers before it have been released
    app_session_completion_t *ended;
    size_t ended_count;
    size_t ended_capacity;
    app_session_completion_t *taken; // the last list that was given out
    app__session_channel_t *channels;
    app__session_program_t *programs; // open
    app__session_program_t *resting;  // ended, and not retired; the oldest
    app__session_program_t *resting_last;
    size_t resting_count;
    uint64_t program_count; // so far
};

static inline app__session_transfer_t *app__session_transfer(const app_session_t *session,
                                                             uint64_t number)
{
    return &session->blocks[number / TRANSFERS_OF_BLOCK][number % TRANSFERS_OF_BLOCK];
}

// -- session.c

// Makes the next transfer; it begins at start_ps.
app__session_transfer_t *app__session_add(app_session_t *session, sim_time_t start_ps);
void app__session_put_completion(app_session_t *session, const app_session_completion_t *at);
// Notes how a transfer ended.
void app__session_end(app__session_transfer_t *transfer, app_session_outcome_t outcome,
                      nic_wc_status_t status, sim_time_t now_ps);

// -- program.c

// Notes the completions of programs whose ranks have ended.
void app__session_collect(app_session_t *session);
void app__session_cancel_program(app_session_t *session, app__session_transfer_t *transfer);
void app__session_programs_free(app_session_t *session);

// -- channels.c

extern const app__range_ops_t app__session_range_ops;

// Lets the session use an interface. Call it at planning.
void app__session_join(app_session_t *session, uint32_t interface);
// Begins a transfer in an event of its requester's host.
void app__session_start(app__session_transfer_t *transfer);
// Lets a transfer that may be in progress post nothing more.
void app__session_cancel(const app__session_transfer_t *transfer);
void app__session_channels_free(app_session_t *session);
uint16_t app__session_port(const app_session_t *session, const app__session_transfer_t *transfer);

#endif // APPS_SESSIONS_SESSION_INTERNAL_H
