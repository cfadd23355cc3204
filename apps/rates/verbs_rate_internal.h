// SPDX-License-Identifier: Apache-2.0
// apps/rates/verbs_rate_internal.h - the machines and threads that the files of verbs-rate share.
#ifndef APPS_RATES_VERBS_RATE_INTERNAL_H
#define APPS_RATES_VERBS_RATE_INTERNAL_H

#include "apps/machine_internal.h"
#include "kernel/report.h"

typedef enum app__rate_verb {
    APP__RATE_WRITE,
    APP__RATE_READ,
    APP__RATE_SEND,
    APP__RATE_FETCH_ADD
} app__rate_verb_t;

typedef struct app__rate_config {
    char *from;
    char *to;
    app__rate_verb_t verb;
    nic_qp_type_t transport;
    uint64_t bytes;
    uint64_t align;
    bool inlined;
    bool random_peer;
    bool whole_window;
    uint64_t threads;
    uint64_t qps;
    uint64_t window;
    uint64_t batch;
    uint64_t signal_every;
    uint64_t receivers;
    uint64_t receiver_qps;
    uint64_t counters;
    uint64_t region_bytes;
    app__span_t span;
} app__rate_config_t;

typedef struct app__rate app__rate_t;

typedef struct app__rate_sender {
    app__thread_t thread;
    app__rate_t *rate;
    nic_cq_t *cq;
    nic_qp_t **qps;
    uint32_t *peers; // per QP: index of its machine among `to`
    uint64_t *posted;
    uint64_t *done;   // per QP: operations known to be done by a completion
    bool *broken;     // per QP: it failed, so nothing more is posted to it
    uint32_t begin;   // operations done by all QPs when the span began; wraps around
    uint32_t end;     // operations done by all QPs when the span ended; wraps around
    unsigned samples; // samples taken: begin, then end
    uint32_t next_qp;
    sim_random_t random;
} app__rate_sender_t;

typedef struct app__rate_receiver {
    app__thread_t thread;
    app__rate_t *rate;
    nic_cq_t *cq;
    nic_qp_t **qps;
    uint32_t qp_count;
    uint32_t qp_capacity;
} app__rate_receiver_t;

struct app__rate {
    app_t app;                 // first
    app__rate_config_t config; // its texts last until the end of the creation
    bool inlined;
    uint32_t qps;
    uint32_t window;
    uint32_t batch;
    uint32_t signal_every;
    uint32_t from_count;
    uint32_t to_count;
    app__machine_t *from;
    app__machine_t *to;
    app__rate_sender_t *senders;
    uint32_t sender_count;
    app__rate_receiver_t *receivers;
    uint32_t receiver_count;
};

#define APP__RATE_RECEIVES 512u
#define APP__RATE_OFFSETS UINT64_C(65536)

// verbs_rate.c: turns of a thread that posts (ctx: the sender) and of one that receives (ctx: the
// receiver).
bool app__rate_send_on(nic_core_t *core, void *ctx);
bool app__rate_receive_on(nic_core_t *core, void *ctx);
// Counts a WRITE: a nic_qp_on_write callback whose ctx is the thread of a receiver.
void app__rate_count_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx);
// Samples the operations done at both ends of the measured span. ctx: the sender.
void app__rate_sample(const sim_node_t *node, sim_time_t time_ps, void *ctx);
// Returns the operations done within the span: 0 before it began, up to now if the run ended within
// it.
uint32_t app__rate_measured(const app__rate_sender_t *sender);
// Carries what senders and receivers counted to rank 0.
void app__rate_carry(app_t *app, sim_carry_t *carry);

// verbs_rate_report.c
extern const sim_report_table_t app__rate_report;

#endif // APPS_RATES_VERBS_RATE_INTERNAL_H
