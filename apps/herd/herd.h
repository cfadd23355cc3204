// SPDX-License-Identifier: Apache-2.0
// apps/herd/herd.h - HERD as an application: its servers with workers, and its clients.
//
// A client writes a request into the slot (worker, client, window slot) of a server's request
// region. The worker that polls it runs the store and answers by a datagram with the immediate
// worker << 16 | slot. Requests and answers are bytes in the hosts' memories (nic/memory.h). The
// NIC also shows a worker, by `ready`, which slots hold new requests; this only saves reading
// unchanged slots.
#ifndef APPS_HERD_HERD_H
#define APPS_HERD_HERD_H

#include "apps/herd/draw.h"
#include "apps/herd/parameters.h"
#include "apps/herd/store/mica.h"
#include "apps/herd/store/table.h"

typedef struct app__herd app__herd_t;
typedef struct app__herd_client app__herd_client_t;
typedef struct app__herd_peer app__herd_peer_t;
typedef struct app__herd_worker app__herd_worker_t;

// Maximum number of bytes that a GET's READs bring: six places, and a value after them.
#define APP__HERD_READ_MAX 8192u

// A server whose memory shows its workers' stores.
typedef struct app__herd_shown {
    const app__herd_t *herd;
    uint32_t server;
} app__herd_shown_t;

struct app__herd {
    app_t app;                 // first
    app__herd_config_t config; // resolved; its strings are not kept
    uint32_t server_count;
    uint32_t worker_count; // per server
    uint32_t client_count;
    uint32_t window;
    uint32_t ops_per_client;
    uint32_t receives;      // per client; over connections taken from each server's in turn
    uint32_t receive_bytes; // bytes per receive
    uint32_t slot_bytes;    // bytes per slot of the request region
    uint32_t answer_slot_bytes;
    uint32_t value_bytes; // 0: depends on the key
    uint32_t key_count;
    uint32_t skew_permille;
    uint64_t first_seed; // of all clients' draws and orders of keys
    bool large;
    bool reads;                          // GETs are READs
    uint32_t read_bytes;                 // maximum number of bytes of a GET's READs
    app_herd_table_image_t *table_image; // data that GETs read; NULL: GETs are not READs
    app_herd_table_t **tables;           // by server
    app__herd_shown_t *shown; // by server: makes its workers' stores visible in its memory
    uint64_t memory_address;  // of the region on each machine
    nic_cq_t **unused_cqs;    // by server: for queue pairs that nobody polls
    app__machine_t *machines; // servers first
    uint32_t machine_count;
    uint64_t *pcie_seen; // by server: PCIe bytes that the series already contains
    app__herd_worker_t *workers;
    app__herd_client_t *clients;
    app__herd_peer_t *peers; // by server, then client
    app_mica_config_t mica_config;
    app_mica_image_t *image;
    app_herd_zipf_t *zipf;
};

static inline bool app__herd_measured(const app__herd_t *herd, sim_time_t now_ps)
{
    return now_ps >= app__span_begin(&herd->config.span) &&
           now_ps < app__span_end(&herd->config.span);
}

// -- report.c

extern const sim_report_table_t app__herd_report;
void app__herd_flows(const app_t *app, app_flow_fn fn, void *ctx);
void app__herd_progress(const app_t *app, uint64_t *done, uint64_t *planned);
void app__herd_carry(app_t *app, sim_carry_t *carry);

// Warns of a timeout that is longer than the measured time, or shorter than a round trip.
void app__herd_note(const app__herd_t *herd, const app_context_t *context);

#endif // APPS_HERD_HERD_H
