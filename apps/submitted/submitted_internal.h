// SPDX-License-Identifier: Apache-2.0
// apps/submitted/submitted_internal.h - what a program submits during the run: transfers, and
// programs of ranks.
#ifndef APPS_SUBMITTED_SUBMITTED_INTERNAL_H
#define APPS_SUBMITTED_SUBMITTED_INTERNAL_H

#include "apps/report_rows.h"
#include "apps/submitted.h"
#include "apps/submitted/transfer_channels.h"

#define TRANSFERS_OF_BLOCK 1024u

// A transfer that begins after another.
typedef struct app__submitted_follower {
    struct app__submitted_transfer *transfer;
    struct app__submitted_follower *next; // behind the same transfer
} app__submitted_follower_t;

typedef struct app__submitted_transfer {
    app_submitted_t *submitted;
    uint64_t number; // in order of submission
    uint64_t place;  // in order of start; UINT64_MAX: not released
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t end_ps;
    sim_time_t delivered_ps;                  // when the last piece came; SIM_TIME_NEVER: not yet
    uint64_t pieces_due;                      // pieces that have not come to the responder
    struct app__submitted_transfer *next_due; // of its channel
    uint32_t source;
    uint32_t destination;
    uint32_t first_psn;
    uint32_t retransmitted; // packets
    uint32_t source_qp;     // numbers of queue pairs; 0: it has not begun
    uint32_t destination_qp;
    uint32_t turns[2]; // among the transfers from its source, and to its destination, by place
    struct app__submitted_transfer *next; // to begin at its requester
    app__submitted_follower_t *followers;
    uint32_t leaders;          // transfers that have to end before it begins
    app__submitted_run_t *run; // NULL: it is not in progress
    uint16_t source_port;      // 0: derived
    uint8_t priority;          // or APP__AS_THE_NIC
    uint8_t verb;
    uint8_t outcome;
    uint8_t status;
    bool reuse;
    bool delivery; // is a completion, too
    bool told;     // its delivery has had its completion
    bool cancelled;
    bool shortened;                         // cancelled before all of its pieces were sent
    struct app__submitted_program *program; // NULL: a transfer
} app__submitted_transfer_t;

// A program of ranks (program.c).
typedef struct app__submitted_program {
    app_t *app;
    uint64_t number; // of its transfer
    uint32_t rank_count;
    uint32_t ended;    // ranks below it have ended
    sim_time_t end_ps; // latest of them
    uint64_t failed;   // messages of them
    bool *told;        // ranks that have had their completion; NULL: ranks have none
    struct app__submitted_program *next; // of the open ones
} app__submitted_program_t;

// The transfers that an interface requests.
typedef struct app__submitted_interface {
    sim_timer_t timer; // fires when the next transfer of this requester begins or stops
    app__submitted_transfer_t *cancelled; // while they run; to be stopped at cancel_ps
    sim_time_t cancel_ps;
    app__submitted_transfer_t *first; // released, in the order of their places
    app__submitted_transfer_t *last;
    app__endpoint_t *endpoint;        // NULL: nobody may submit for the interface
    uint64_t position;                // of the first QP number: requesters, then responders
    app__submitted_slots_t slots[2];  // of requesters and of responders
    app__submitted_channel_t *shared; // channels of this requester that transfers share
} app__submitted_interface_t;

struct app_submitted {
    app_t app; // first
    app_runtime_t *runtime;
    uint64_t seed;
    uint64_t first_flow_id;
    app__submitted_interface_t *interfaces; // by interface
    size_t interface_count;
    app__submitted_transfer_t **blocks; // of TRANSFERS_OF_BLOCK transfers, which never move
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
    sim_time_t now_ps;  // everything before it has happened
    bool to_completion; // the present step ends with a completion
    uint64_t followers; // transfers that wait for others
    app_submitted_completion_t *ended;
    size_t ended_count;
    size_t ended_capacity;
    app_submitted_completion_t *taken; // the last list that was given out
    app__submitted_channel_t *channels;
    app__submitted_program_t *programs; // open
    app__submitted_program_t *resting;  // ended, and not retired; the oldest
    app__submitted_program_t *resting_last;
    size_t resting_count;
    uint64_t program_count; // so far
};

static inline app__submitted_transfer_t *app__submitted_transfer(const app_submitted_t *submitted,
                                                                 uint64_t number)
{
    return &submitted->blocks[number / TRANSFERS_OF_BLOCK][number % TRANSFERS_OF_BLOCK];
}

// -- application.c

// Puts a transfer that begins at its start_ps among those that wait for their time.
void app__submitted_wait(app__submitted_transfer_t *transfer);
// Makes the next transfer; it begins at start_ps.
app__submitted_transfer_t *app__submitted_add(app_submitted_t *submitted, sim_time_t start_ps);
void app__submitted_put_completion(app_submitted_t *submitted,
                                   const app_submitted_completion_t *at);
// Notes that the last byte of a transfer came at now_ps, and its completion if it is to have one.
void app__submitted_deliver(app__submitted_transfer_t *transfer, sim_time_t now_ps);
// Notes how a transfer ended, without its followers.
void app__submitted_note_end(app__submitted_transfer_t *transfer, app_submitted_outcome_t outcome,
                             nic_wc_status_t status, sim_time_t now_ps);
// Notes how a transfer ended. Its followers begin, or are cancelled.
void app__submitted_end(app__submitted_transfer_t *transfer, app_submitted_outcome_t outcome,
                        nic_wc_status_t status, sim_time_t now_ps);

// -- programs.c

// Notes the completions of programs whose ranks have ended.
void app__submitted_collect(app_submitted_t *submitted);
void app__submitted_cancel_program(app_submitted_t *submitted, app__submitted_transfer_t *transfer);
void app__submitted_programs_free(app_submitted_t *submitted);

#endif // APPS_SUBMITTED_SUBMITTED_INTERNAL_H
