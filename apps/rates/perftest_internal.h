// SPDX-License-Identifier: Apache-2.0
// apps/rates/perftest_internal.h - the struct of a perftest, shared by creation, run and report.
#ifndef APPS_RATES_PERFTEST_INTERNAL_H
#define APPS_RATES_PERFTEST_INTERNAL_H

#include "apps/channel/pair.h"
#include "kernel/report.h"
#include "nic/core.h"

typedef enum app__perftest_kind {
    APP__PERFTEST_WRITE_BW,
    APP__PERFTEST_READ_BW,
    APP__PERFTEST_SEND_BW,
    APP__PERFTEST_WRITE_LAT,
    APP__PERFTEST_READ_LAT,
    APP__PERFTEST_SEND_LAT,
    APP__PERFTEST_ATOMIC_BW,
    APP__PERFTEST_ATOMIC_LAT,
} app__perftest_kind_t;

// -c of the tools.
typedef enum app__perftest_connection {
    APP__PERFTEST_RC,
    APP__PERFTEST_UC,
    APP__PERFTEST_UD,
} app__perftest_connection_t;

#define APP__PERFTEST_ATOMIC_BYTES 8u
// The buffer of a queue pair with small messages, as in the tools. Messages go through it one after
// the other; each lies in a line of the processor's caches of its own. So do the words of atomics.
#define APP__PERFTEST_BUFFER_BYTES 4096u

#define APP__PERFTEST_SIZES_MAX 23u // 2 to 2^23, like perftest's -a

// One row of the printed table.
typedef struct app__perftest_row {
    uint64_t bytes;
    uint64_t iterations; // of all QPs
    // Bandwidth tests; peak_gbps is 0 where there are too many iterations to look for the peak.
    double peak_gbps;
    double average_gbps;
    double rate_mpps;
    // Latency tests.
    sim_time_t min_ps;
    sim_time_t max_ps;
    sim_time_t typical_ps; // median
    double average_ps;
    double deviation_ps;
    sim_time_t p99_ps;
    sim_time_t p999_ps;
} app__perftest_row_t;

typedef struct app__perftest_config {
    app__perftest_kind_t test;
    app__perftest_connection_t connection;
    bool both_ways; // -b: the server posts what the client posts
    char *from;
    char *to;
    uint64_t size_bytes; // SIM_AUTO: the default of the tool
    bool all;
    uint64_t iterations; // of each queue pair; SIM_AUTO: the default of the tool
    uint64_t tx_depth;
    uint64_t rx_depth; // SIM_AUTO: the default of the tool
    uint64_t post_list;
    uint64_t moderation;   // one message of so many has a completion
    uint64_t inline_bytes; // a longer payload is no inline one
    uint64_t qps;
    bool events; // -e: a completion channel says when to poll
    sim_time_t event_ps;
    sim_time_t start_ps;
    sim_time_t handshake_ps;
    sim_time_t stop_ps; // no message is posted from this time on; SIM_AUTO: none
    uint64_t priority;  // SIM_AUTO: that of the NIC
    uint64_t dscp;
} app__perftest_config_t;

typedef struct app__perftest app__perftest_t;

// A queue pair of one end, with its messages of the current size.
typedef struct app__perftest_qp {
    nic_qp_t *qp;
    uint64_t posted;
    uint64_t completed;
    uint64_t receives; // posted, of all sizes
} app__perftest_qp_t;

// A part of the loop of a test that runs on a core.
typedef enum app__perftest_part {
    APP__PERFTEST_POSTS,
    APP__PERFTEST_CALLS, // for an event
    APP__PERFTEST_WAITS,
    APP__PERFTEST_RECEIVES,
    APP__PERFTEST_COMPLETIONS,
} app__perftest_part_t;

// A queue as a completion channel knows it. A queue that is not armed has an event that the
// program has not taken.
typedef struct app__perftest_notice {
    bool armed;
    uint32_t left;   // completions that were there when the queue was armed
    uint64_t raised; // place of the event among those of the end
} app__perftest_notice_t;

// The client (APP__REQUESTER) or the server (APP__RESPONDER). Only events of its host touch it.
// Each end goes through the sizes by itself; the server does so in a test of both directions.
typedef struct app__perftest_end {
    app__perftest_t *test;
    app__endpoint_t *endpoint;
    app__perftest_qp_t *qps;
    nic_core_t *core; // the program's; NULL: it takes no time: an ideal NIC, and no events
    app__perftest_part_t next_part; // of the core's next step
    uint64_t words;                 // address of the words that the peer's atomics change
    uint32_t words_key;             // of their region
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    app__perftest_notice_t notices[2]; // of send_cq and recv_cq
    uint64_t raised;                   // events so far
    uint64_t writes;                   // that lie in memory, and that the core has not seen
    bool begun;
    sim_timer_t start_timer;
    uint32_t size_index;
    uint64_t posted; // messages of the current size, by all queue pairs
    uint64_t completed;
    uint64_t sends_outstanding; // latency tests
    bool ended;                 // by itself: all done, out of time, or failed
    sim_time_t *posted_ps;      // per message of the current size, if the end measures
    sim_time_t *completed_ps;
    app__perftest_row_t rows[APP__PERFTEST_SIZES_MAX];
    uint32_t row_count;
} app__perftest_end_t;

struct app__perftest {
    app_t app; // first
    app__perftest_config_t config;
    uint64_t sizes[APP__PERFTEST_SIZES_MAX];
    uint32_t size_count;
    app__perftest_end_t ends[2]; // by app__side_of_pair_t

    // Only events of the client's host touch the following fields.
    bool waiting;             // for the answer to the last ping
    sim_timer_t answer_timer; // fires when the server can no longer answer
    sim_time_t answer_ps; // longest time that an answer takes, repetitions included; 0: no limit
    uint64_t done;        // iterations of all sizes
    uint32_t status;

    // Only events of the server's host touch the following fields.
    uint64_t pings;
    uint64_t pongs_owed;
};

static inline bool app__perftest_is_latency(app__perftest_kind_t kind)
{
    return (kind >= APP__PERFTEST_WRITE_LAT && kind <= APP__PERFTEST_SEND_LAT) ||
           kind == APP__PERFTEST_ATOMIC_LAT;
}

// Returns whether the client's own completion ends a measured message, without an answer.
static inline bool app__perftest_is_fetch(app__perftest_kind_t kind)
{
    return kind == APP__PERFTEST_READ_LAT || kind == APP__PERFTEST_ATOMIC_LAT;
}

// Returns whether an end posts the messages that are measured: the client, and in a test of both
// directions the server, too.
static inline bool app__perftest_measures(const app__perftest_end_t *end)
{
    return end == &end->test->ends[APP__REQUESTER] || end->test->config.both_ways;
}

// Returns whether an end begins at the start of the test. With SENDs in both directions the server
// begins with the first message that comes, as the tool's does.
static inline bool app__perftest_starts(const app__perftest_end_t *end)
{
    return end == &end->test->ends[APP__REQUESTER] ||
           (end->test->config.both_ways && end->test->config.test != APP__PERFTEST_SEND_BW);
}

static inline uint64_t app__perftest_messages_of_size(const app__perftest_t *test)
{
    return test->config.iterations * test->config.qps;
}

// perftest.c: callbacks of the queue pairs and timers; ctx is an app__perftest_end_t.
nic_wr_opcode_t app__perftest_opcode_of(app__perftest_kind_t kind);
void app__perftest_post_receive(const app__perftest_end_t *end, app__perftest_qp_t *qp);
// Returns the number of receives that a queue pair begins with.
uint64_t app__perftest_receives(const app__perftest_config_t *config);
void app__perftest_completed(nic_cq_t *cq, void *ctx);
void app__perftest_received(nic_cq_t *cq, void *ctx);
void app__perftest_sees_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx);
bool app__perftest_take_step(nic_core_t *core, void *ctx);
void app__perftest_start_fired(sim_node_t *node, sim_timer_t *timer);
void app__perftest_answer_due(sim_node_t *node, sim_timer_t *timer);

// perftest_report.c: app__perftest_measure makes an end's row of the size that has just finished.
void app__perftest_measure(app__perftest_end_t *end);
extern const sim_report_table_t app__perftest_report;
void app__perftest_print(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

#endif // APPS_RATES_PERFTEST_INTERNAL_H
