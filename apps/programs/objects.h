// SPDX-License-Identifier: Apache-2.0
// apps/programs/objects.h - what a process has made by verbs. A handle is an index plus 1; that of
// a queue pair is its number.
#ifndef APPS_PROGRAMS_OBJECTS_H
#define APPS_PROGRAMS_OBJECTS_H

#include "nic/verbs.h"
#include "programs/protocol.h"

typedef struct app__program app__program_t;
struct app__pr_thread;

typedef struct app__pr_pd {
    nic_pd_t *pd; // NULL: deallocated
    uint32_t users;
    struct app__process *process; // that gets the asynchronous events of its objects
} app__pr_pd_t;

typedef struct app__pr_mr {
    nic_mr_t *mr;   // NULL: deregistered
    uint32_t pd;    // of a region that was deregistered: the next handle that is free
    uint64_t shift; // address in host memory less the address that the process uses
} app__pr_mr_t;

// The completions that raise the next event of a queue.
typedef enum app__pr_armed {
    APP__PR_UNARMED,
    APP__PR_FOR_SOLICITED,
    APP__PR_FOR_ANY
} app__pr_armed_t;

typedef struct app__pr_cq {
    nic_cq_t *cq;
    app__program_t *program;
    struct app__pr_thread *owner; // its core polls the queue: the last thread that did
    uint64_t pollers;             // bit N % 64: thread N has polled it
    nic_wc_t *taken;              // out of cq, and not yet by the process: a ring
    uint32_t taken_first;
    uint32_t taken_count;
    uint32_t capacity;
    uint32_t users;
    app__pr_armed_t armed;
    bool failed;         // overflowed, and the process knows
    bool timed;          // its completions have times:
    sim_time_t *times;   // of those in cq and taken, a ring
    uint32_t time_first; // runs freely, as time_count does
    uint32_t time_count;
    uint32_t time_capacity; // a power of two
    bool gone;
} app__pr_cq_t;

typedef struct app__pr_srq {
    nic_srq_t *srq;
    app__program_t *program;
    uint32_t pd;
    uint32_t users;
    bool gone;
} app__pr_srq_t;

typedef struct app__pr_qp {
    nic_qp_t *qp; // NULL: destroyed
    app__program_t *program;
    nic_qp_type_t type;
    uint32_t pd;
    uint32_t send_cq;
    uint32_t recv_cq;
    uint32_t srq;      // 0: none
    program_qp_t attr; // as the process set it
    bool signal_all;   // all of its sends complete
    bool communicates; // a packet has come, and raised its event, if it had one
    bool notes_drain;  // the process wants an event when it is drained
    uint8_t refused;   // code of the fatal NAK that it sent; 0: none
    uint8_t priority;  // of its packets
    uint8_t dscp;
    uint16_t mtu_bytes;
    struct app__pr_open_flow
        *flows; // from flow_first on: those with unfinished work requests, by age
    size_t flow_first;
    size_t flow_count;
    size_t flow_capacity;
    uint64_t flow_target;   // destination of the latest work request, and its direction
    uint64_t flow_next_psn; // of the next work request, as nic_qp_una_psn counts
} app__pr_qp_t;

// QP numbers of one NIC that are reserved for a program.
typedef struct app__pr_numbers {
    uint32_t interface;
    uint32_t left;
    uint64_t position; // of the next one
} app__pr_numbers_t;

#endif // APPS_PROGRAMS_OBJECTS_H
