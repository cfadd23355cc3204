// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/control/station.c - control messages between the hosts of a cluster
// (docs/models/mooncake.md).
//
// The real system uses TCP on a known port. Here each pair of hosts has a reliable queue pair whose
// numbers all hosts know: host i's number for peer j and generation g is i's position + j *
// GENERATIONS + g, on each NIC. A host creates its end when it has something to send; the first
// packet creates the other end. A channel that fails is set up again with the next generation,
// which also uses the next NIC of both hosts; the higher generation wins. Each failure in a row
// doubles the time until the next one, so that a long outage does not use up the generations.
#include "apps/mooncake/engine/control/station.h"

#include <string.h>

#include "apps/channel/pair.h"
#include "apps/hosts.h"
#include "apps/mooncake/engine/transfer_engine.h"

#define GENERATIONS UINT64_C(256)
#define RECEIVES 256u
#define POSTED_MAX 128u
#define SEND_AREA_BYTES (UINT64_C(1) << 38)
#define RECEIVE_AREA (UINT64_C(1) << 39)
#define ATTEMPTS 4u
#define CONTROL_TIMEOUT 7u // exponent: at least 0.5 ms
#define CONTROL_AHEAD_BITS (UINT64_C(32) * 1000 * 1000)
#define CONTROL_RETRIES 7u
#define BACKOFF_MAX 7u         // the timeout doubles with each failure in a row, up to so often
#define LOCAL_PS SIM_PS_PER_US // delay of a message from a host to itself
#define POLL_MAX 16u

struct app__mc_outgoing {
    app__mc_outgoing_t *next;
    app__mc_channel_t *channel;
    uint64_t address;               // while posted
    app__mc_outgoing_t **posted_at; // pointer to this outgoing in the list of posted ones
    app__mc_outgoing_t *posted_next;
    uint32_t attempts;
    bool given_up; // its queue pair is no longer that of the channel, and a copy of it waits
    size_t size;
    char *bytes;
};

// -- messages

static void keep_posted(app__mc_station_t *station, app__mc_outgoing_t *outgoing)
{
    outgoing->posted_at = &station->posted;
    outgoing->posted_next = station->posted;
    if (outgoing->posted_next != NULL) {
        outgoing->posted_next->posted_at = &outgoing->posted_next;
    }
    station->posted = outgoing;
}

static void forget_posted(app__mc_outgoing_t *outgoing)
{
    *outgoing->posted_at = outgoing->posted_next;
    if (outgoing->posted_next != NULL) {
        outgoing->posted_next->posted_at = outgoing->posted_at;
    }
}

static void outgoing_destroy(app__mc_outgoing_t *outgoing)
{
    sim_free(outgoing->bytes);
    sim_free(outgoing);
}

static void chores_soon(app__mc_station_t *station)
{
    if (!sim_timer_armed(&station->chores)) {
        sim_timer_arm(station->node, &station->chores, station->node->now_ps);
    }
}

void app__mc_bury(app__mc_station_t *station, nic_qp_t *qp)
{
    SIM_APPEND(station->dead, station->dead_count, station->dead_capacity, qp);
    chores_soon(station);
}

// -- channels

static app__mc_station_nic_t *nic_of(const app__mc_station_t *station, uint32_t generation)
{
    // The last NIC is used first, then the one before it.
    return &station->nics[station->nic_count - 1 - generation % station->nic_count];
}

static uint32_t number_of(const app__mc_station_t *station, uint32_t peer, uint32_t generation)
{
    return app__qp_number(nic_of(station, generation)->position + peer * GENERATIONS + generation);
}

// Returns the local ACK timeout in which a message gets through behind 4 MB of others.
static uint32_t control_timeout(const app__mc_station_nic_t *card)
{
    const uint64_t bps = nic_rate_bps(card->endpoint->nic);
    uint32_t exponent = CONTROL_TIMEOUT;
    while (exponent < 31 &&
           (UINT64_C(4096) << exponent) < CONTROL_AHEAD_BITS * UINT64_C(1000000000) / bps) {
        exponent++;
    }
    return exponent;
}

static void make_qp(app__mc_channel_t *channel)
{
    app__mc_station_t *const station = channel->station;
    const app__mc_station_t *const peer = &station->cluster->stations[channel->peer];
    const app__mc_station_nic_t *const card = nic_of(station, channel->generation);
    channel->qp = app__qp_create(
        card->endpoint, NIC_QPT_RC, number_of(station, channel->peer, channel->generation),
        POSTED_MAX, 0, &(app__queues_t){card->send_cq, card->recv_cq, card->receives, true});
    nic_qp_attr_t attr;
    nic_qp_attr_default(card->endpoint->nic, &attr);
    attr.dest_interface = nic_of(peer, channel->generation)->endpoint->interface;
    attr.dest_qp_num = number_of(peer, station->index, channel->generation);
    const uint32_t timeout = control_timeout(card) + channel->failures;
    attr.timeout = SIM_MIN(timeout, 31);
    attr.retry_cnt = CONTROL_RETRIES;
    attr.rnr_retry = 7;
    app__qp_connect(channel->qp, &attr);
}

static void post_outgoing(app__mc_channel_t *channel, app__mc_outgoing_t *outgoing)
{
    app__mc_station_t *const station = channel->station;
    const app__mc_station_nic_t *const card = nic_of(station, channel->generation);
    const uint64_t base = APP__MC_AREA + ((uint64_t)station->cluster->index << 40);
    const uint64_t aligned_bytes = (outgoing->size + 4095) / 4096 * 4096;
    if (station->next_address + aligned_bytes > SEND_AREA_BYTES) {
        station->next_address = 0;
    }
    outgoing->address = base + station->next_address;
    station->next_address += aligned_bytes;
    nic_memory_write(station->memory, outgoing->address, outgoing->bytes, outgoing->size);
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)outgoing,
        .opcode = NIC_WR_SEND,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {outgoing->address, outgoing->size, nic_mr_lkey(card->region)},
    };
    app__qp_post(channel->qp, &wr);
    outgoing->attempts++;
    channel->posted++;
    keep_posted(station, outgoing);
}

static void pump(app__mc_channel_t *channel)
{
    if (channel->waiting != NULL && channel->qp == NULL && !channel->broken) {
        make_qp(channel);
    }
    while (channel->waiting != NULL && !channel->broken && channel->posted < POSTED_MAX) {
        if (nic_qp_state(channel->qp) != NIC_QPS_RTS) {
            channel->broken = true;
            chores_soon(channel->station);
            return;
        }
        app__mc_outgoing_t *const outgoing = channel->waiting;
        channel->waiting = outgoing->next;
        if (channel->waiting == NULL) {
            channel->waiting_last = NULL;
        }
        post_outgoing(channel, outgoing);
    }
}

static void enqueue(app__mc_outgoing_t **first, app__mc_outgoing_t **last,
                    app__mc_outgoing_t *outgoing)
{
    outgoing->next = NULL;
    if (*last != NULL) {
        (*last)->next = outgoing;
    } else {
        *first = outgoing;
    }
    *last = outgoing;
}

void app__mc_send(app__mc_station_t *station, uint32_t peer, char *bytes, size_t size)
{
    if (station->crashed) {
        sim_free(bytes);
        return;
    }
    app__mc_outgoing_t *const outgoing = sim_alloc(sizeof(*outgoing));
    outgoing->bytes = bytes;
    outgoing->size = size;
    if (peer == station->index) {
        enqueue(&station->local, &station->local_last, outgoing);
        if (!sim_timer_armed(&station->local_timer)) {
            sim_timer_arm(station->node, &station->local_timer, station->node->now_ps + LOCAL_PS);
        }
        return;
    }
    app__mc_channel_t *const channel = &station->channels[peer];
    outgoing->channel = channel;
    enqueue(&channel->waiting, &channel->waiting_last, outgoing);
    pump(channel);
}

// Lets copies of the messages on a channel's queue pair, which it is about to lose, wait before
// others. The messages themselves stay until their completions come, or the run ends.
static void give_up_posted(app__mc_channel_t *channel)
{
    // The list begins with the youngest, and the oldest must be first at last.
    for (app__mc_outgoing_t *l = channel->station->posted; l != NULL; l = l->posted_next) {
        if (l->channel != channel || l->given_up) {
            continue;
        }
        l->given_up = true;
        if (l->attempts == ATTEMPTS) {
            continue;
        }
        app__mc_outgoing_t *const copy = sim_alloc(sizeof(*copy));
        *copy = (app__mc_outgoing_t){
            .next = channel->waiting,
            .channel = channel,
            .attempts = l->attempts,
            .size = l->size,
            .bytes = sim_alloc(l->size),
        };
        memcpy(copy->bytes, l->bytes, l->size);
        channel->waiting = copy;
        channel->waiting_last = channel->waiting_last == NULL ? copy : channel->waiting_last;
    }
    channel->posted = 0;
}

// Sets up a channel again. Messages posted on the old queue pair are sent again.
static void renew(app__mc_channel_t *channel, uint32_t generation)
{
    if (channel->posted > 0) {
        give_up_posted(channel);
    }
    if (channel->qp != NULL) {
        app__mc_bury(channel->station, channel->qp);
        channel->qp = NULL;
    }
    channel->generation = generation;
    channel->broken = false;
}

static void chores_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__mc_station_t *const station = SIM_CONTAINER_OF(timer, app__mc_station_t, chores);
    for (uint32_t i = 0; i < station->cluster->station_count; i++) {
        app__mc_channel_t *const channel = &station->channels[i];
        if (channel->broken && channel->posted == 0) {
            // The last generation stays broken: its messages are lost, and calls time out.
            if (channel->generation + 1 < GENERATIONS) {
                channel->failures += channel->failures < BACKOFF_MAX;
                renew(channel, channel->generation + 1);
                pump(channel);
            }
        } else if (!channel->broken && channel->qp != NULL) {
            pump(channel);
        }
    }
    for (size_t i = 0; i < station->dead_count; i++) {
        nic_qp_destroy(station->dead[i]);
    }
    station->dead_count = 0;
    sim_timer_cancel(station->node, &station->chores);
}

static void sent(nic_cq_t *cq, void *ctx)
{
    app__mc_station_nic_t *const card = ctx;
    app__mc_station_t *const station = card->station;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            app__mc_outgoing_t *const outgoing = (app__mc_outgoing_t *)(uintptr_t)wc[i].wr_id;
            app__mc_channel_t *const channel = outgoing->channel;
            nic_memory_forget(station->memory, outgoing->address, outgoing->size);
            forget_posted(outgoing);
            if (outgoing->given_up) {
                outgoing_destroy(outgoing);
                continue;
            }
            channel->posted--;
            const bool again = wc[i].status != NIC_WC_SUCCESS && outgoing->attempts < ATTEMPTS;
            if (wc[i].status == NIC_WC_SUCCESS) {
                channel->failures = 0;
            } else {
                channel->broken = channel->broken || channel->qp == NULL ||
                                  nic_qp_num(channel->qp) == wc[i].qp_num;
                chores_soon(station);
            }
            if (again && !station->crashed) {
                enqueue(&channel->waiting, &channel->waiting_last, outgoing);
            } else {
                outgoing_destroy(outgoing);
            }
            if (!channel->broken && !station->crashed) {
                pump(channel);
            }
        }
    }
}

// -- received messages

static uint64_t receive_address(const app__mc_station_t *station, uint64_t slot)
{
    return APP__MC_AREA + ((uint64_t)station->cluster->index << 40) + RECEIVE_AREA +
           slot * APP__MC_MESSAGE_MAX;
}

static void post_receive(const app__mc_station_nic_t *card, uint64_t slot)
{
    const uint64_t address = receive_address(card->station, card->nic * RECEIVES + slot);
    const nic_recv_wr_t wr = {
        .wr_id = slot,
        .sge = {address, APP__MC_MESSAGE_MAX, nic_mr_lkey(card->region)},
    };
    app__srq_post_receive(card->receives, &wr);
}

static uint32_t peer_of(const app__mc_station_nic_t *card, uint32_t qp_num)
{
    const uint32_t first = app__qp_number(card->position);
    return (uint32_t)((qp_num - first) / GENERATIONS);
}

static void received(nic_cq_t *cq, void *ctx)
{
    app__mc_station_nic_t *const card = ctx;
    app__mc_station_t *const station = card->station;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t slot = wc[i].wr_id;
            const uint64_t address = receive_address(station, card->nic * RECEIVES + slot);
            if (wc[i].status != NIC_WC_SUCCESS || station->crashed) {
                post_receive(card, slot);
                continue;
            }
            char *const bytes = sim_alloc((size_t)wc[i].byte_len + 1);
            nic_memory_read(station->memory, address, bytes, wc[i].byte_len);
            nic_memory_forget(station->memory, address, wc[i].byte_len);
            post_receive(card, slot);
            station->deliver(station, peer_of(card, wc[i].qp_num), bytes, wc[i].byte_len);
            sim_free(bytes);
        }
    }
}

static void local_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__mc_station_t *const station = SIM_CONTAINER_OF(timer, app__mc_station_t, local_timer);
    app__mc_outgoing_t *outgoing = station->local;
    station->local = NULL;
    station->local_last = NULL;
    while (outgoing != NULL) {
        app__mc_outgoing_t *const next = outgoing->next;
        station->deliver(station, station->index, outgoing->bytes, outgoing->size);
        outgoing_destroy(outgoing);
        outgoing = next;
    }
}

// -- queue pairs that a peer's packet creates

// Returns 0 if a packet may create the queue pair. Packets of an older generation than the current
// one, and all packets for a host that has lost power, are dropped.
static sim_time_t when_acceptable(const void *owner, uint32_t interface, uint64_t offset)
{
    (void)interface;
    const app__mc_station_nic_t *const card = owner;
    const app__mc_station_t *const station = card->station;
    const app__mc_channel_t *const channel = &station->channels[offset / GENERATIONS];
    const uint32_t generation = (uint32_t)(offset % GENERATIONS);
    const bool older =
        channel->qp != NULL ? generation <= channel->generation : generation < channel->generation;
    return station->crashed || older || nic_of(station, generation) != card ? SIM_TIME_NEVER : 0;
}

static void accept(void *owner, app__endpoint_t *endpoint, uint64_t offset, app__passive_t *passive)
{
    (void)endpoint;
    const app__mc_station_nic_t *const card = owner;
    app__mc_channel_t *const channel = &card->station->channels[offset / GENERATIONS];
    renew(channel, (uint32_t)(offset % GENERATIONS));
    make_qp(channel);
    passive->qp = channel->qp;
    chores_soon(channel->station); // waiting messages can be sent on it
}

// Returns false: the station destroys the queue pair itself.
static bool finished(void *owner, const app__passive_t *passive)
{
    (void)owner;
    (void)passive;
    return false;
}

static const app__range_ops_t range_ops = {
    .passive_from_ps = when_acceptable,
    .accept = accept,
    .finished = finished,
};

// -- the cluster's stations

sim_err_t app__mc_station_named(const app_mooncake_cluster_t *cluster, const char *name,
                                uint32_t *station)
{
    for (uint32_t i = 0; i < cluster->station_count; i++) {
        if (app__mc_engine_named(&cluster->stations[i], name) != NULL) {
            *station = i;
            return SIM_OK;
        }
    }
    return SIM_ERR_UNKNOWN;
}

app_mooncake_t *app__mc_engine_named(const app__mc_station_t *station, const char *name)
{
    for (app_mooncake_t *e = station->engines; e != NULL; e = e->next_on_station) {
        if (strcmp(e->name, name) == 0) {
            return e;
        }
    }
    return NULL;
}

static void make_nic(app__mc_station_t *station, uint32_t nic)
{
    app_mooncake_cluster_t *const cluster = station->cluster;
    app__mc_station_nic_t *const card = &station->nics[nic];
    const uint32_t interface = nic_interface(nic_at(station->host, nic));
    *card = (app__mc_station_nic_t){
        .station = station,
        .endpoint = app__endpoint_of(cluster->runtime, interface),
        .nic = nic,
    };
    const sim_err_t error =
        nic_mr_register(card->endpoint->pd, APP__MC_AREA + ((uint64_t)cluster->index << 40),
                        UINT64_C(1) << 40, NIC_ACCESS_LOCAL_WRITE, &card->region);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    card->send_cq = nic_cq_create(card->endpoint->nic, 1u << 20, sent, card);
    card->recv_cq = nic_cq_create(card->endpoint->nic, 1u << 20, received, card);
    card->receives = nic_srq_create(card->endpoint->pd, RECEIVES);
    for (uint64_t slot = 0; slot < RECEIVES; slot++) {
        post_receive(card, slot);
    }
    card->position =
        app__reserve_qps(card->endpoint, &range_ops, card, cluster->station_count * GENERATIONS);
}

sim_err_t app__mc_stations_create(app_mooncake_cluster_t *cluster, sim_message_t *message)
{
    for (uint32_t i = 0; i < cluster->station_count; i++) {
        app__mc_station_t *const station = &cluster->stations[i];
        station->cluster = cluster;
        station->index = i;
        station->node = &station->host->sim;
        station->memory = nic_host_memory(station->host);
        station->nic_count = nic_count(station->host);
        for (uint32_t j = 0; j < i; j++) {
            const net_node_t *const other = cluster->stations[j].host;
            if (other == station->host) {
                return sim_fail(message, SIM_ERR_INVALID,
                                "the cluster names host %s twice, expected different hosts",
                                station->host->sim.name);
            }
            if (!app__can_talk(cluster->net, nic_interface(nic_at(station->host, 0)),
                               nic_interface(nic_at(other, 0)))) {
                return app__cannot_talk(cluster->net, nic_interface(nic_at(station->host, 0)),
                                        nic_interface(nic_at(other, 0)), "the cluster", message);
            }
        }
    }
    for (uint32_t i = 0; i < cluster->station_count; i++) {
        app__mc_station_t *const station = &cluster->stations[i];
        sim_timer_init(&station->chores, chores_fired);
        sim_timer_init(&station->local_timer, local_fired);
        station->channels = sim_alloc_array(cluster->station_count, sizeof(*station->channels));
        for (uint32_t j = 0; j < cluster->station_count; j++) {
            station->channels[j] = (app__mc_channel_t){.station = station, .peer = j};
        }
        station->nics = sim_alloc_array(station->nic_count, sizeof(*station->nics));
        for (uint32_t n = 0; n < station->nic_count; n++) {
            make_nic(station, n);
        }
    }
    return SIM_OK;
}

void app__mc_station_crash(app__mc_station_t *station)
{
    station->crashed = true;
    for (uint32_t i = 0; i < station->cluster->station_count; i++) {
        if (station->channels[i].qp != NULL) {
            app__mc_bury(station, station->channels[i].qp);
            station->channels[i].qp = NULL;
        }
    }
}

static void free_outgoing(app__mc_outgoing_t *outgoing)
{
    while (outgoing != NULL) {
        app__mc_outgoing_t *const next = outgoing->next;
        outgoing_destroy(outgoing);
        outgoing = next;
    }
}

void app__mc_station_restore(app__mc_station_t *station)
{
    SIM_CHECK(station->crashed);
    station->crashed = false;
    app__mc_calls_forget(station);
    for (uint32_t i = 0; i < station->cluster->station_count; i++) {
        app__mc_channel_t *const channel = &station->channels[i];
        free_outgoing(channel->waiting);
        channel->waiting = NULL;
        channel->waiting_last = NULL;
        channel->posted = 0;
        channel->failures = 0;
        // The next generation is new to the peer, whose queue pair is that of the present one.
        channel->generation += channel->generation + 1 < GENERATIONS;
        channel->broken = false;
    }
}

void app__mc_stations_destroy(app_mooncake_cluster_t *cluster)
{
    for (uint32_t i = 0; i < cluster->station_count; i++) {
        app__mc_station_t *const station = &cluster->stations[i];
        free_outgoing(station->local);
        while (station->posted != NULL) { // the run ended before they completed
            app__mc_outgoing_t *const outgoing = station->posted;
            forget_posted(outgoing);
            outgoing_destroy(outgoing);
        }
        for (uint32_t j = 0; station->channels != NULL && j < cluster->station_count; j++) {
            free_outgoing(station->channels[j].waiting);
        }
        SIM_FREE_ALL(station->channels, station->nics, station->dead);
    }
}
