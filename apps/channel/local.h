// SPDX-License-Identifier: Apache-2.0
// apps/channel/local.h - the local path of channels: a link of a GPU within its host, which streams
// of messages share, and messages that their receivers learn of later.
//
// The messages of a stream pass one after the other. Streams that have some share the link's time
// equally, as the thread blocks of a GPU do, each of which moves the data of one channel.
// docs/models/collectives.md
#ifndef APPS_CHANNEL_LOCAL_H
#define APPS_CHANNEL_LOCAL_H

#include "kernel/list.h"
#include "kernel/timer.h"
#include "nic/host.h"

typedef struct app__passers app__passers_t;
typedef struct app__passing app__passing_t;

// A message that passes the link: a part of its owner, which keeps it until it has passed.
struct app__passing {
    app__passing_t *next; // of the stream
    sim_time_t alone_ps;  // that it takes if no other stream has messages
    uint32_t width;       // streams that it stands for: each has such a message at the same time
    // Called when it has passed, in an event of the link's node; may free it, and put others.
    void (*passed)(app__passing_t *passing, sim_node_t *node);
};

// Messages that pass one after the other. All members but `packets` are 0 while there is none.
struct app__passers {
    app__passing_t *first;
    app__passing_t *last;
    app__passers_t *next; // of the link, in the order in which they began
    app__passers_t **place;
    uint64_t end;         // share of the link at which the first message has passed
    net_stream_t packets; // the messages, where accelerators are nodes of the network
};

typedef struct app__nvlink {
    sim_timer_t timer; // of the next message that has passed
    sim_node_t *node;
    net_node_t *packets;     // the host, if its accelerators are nodes of the network; else NULL
    uint32_t accelerator;    // of the rank; only with `packets`
    app__passers_t *streams; // that have messages
    app__passers_t **end;
    uint32_t count;      // streams that have messages, with those that a message stands for
    uint64_t first;      // least end of a stream; UINT64_MAX: none
    uint64_t share;      // time that each stream had since the link was idle, in ps / 1024
    sim_time_t since_ps; // when it was brought up to date; 0 while the link is idle
} app__nvlink_t;

// Fills an idle link of a node, which must stay where it is: that of an accelerator of `packets`,
// if that is not NULL.
void app__nvlink_init(app__nvlink_t *link, sim_node_t *node, net_node_t *packets,
                      uint32_t accelerator);

// A message whose receiver learns of it later: when it has passed an NVLink, or when its sender
// knows that it has arrived. It lies in a list of its receiver.
typedef struct app__coming {
    app__passing_t passing;
    net_put_t put;
    sim_timer_t timer;   // fires when the receiver learns of it
    sim_time_t delay_ps; // between the end of a link and the receiver
    sim_time_t block_ps; // when the thread block that moves it has done so; 0: with its last byte
    sim_link_t link;     // in the list of the receiver, or in that of spare ones
    void *from;          // for its owner
    void *to;            // for its owner
    uint32_t word;       // for its owner
} app__coming_t;

// Puts a message into a list: one of the spare ones, or a new one. fn, in an event of the
// receiver's host, ends it with app__coming_end.
app__coming_t *app__coming_begin(sim_list_t *spare, sim_list_t *list, sim_timer_fn fn);
// The way of a message within a host.
typedef struct app__local {
    app__nvlink_t *link; // of the sender, or of the receiver
    app__passers_t *stream;
    uint32_t to;         // accelerator of the receiver
    net_put_kind_t kind; // loads: the bytes come from `to`. The formula knows stores alone
    uint64_t rate_bps;   // of the link; with packets: of sums and messages that are spread
    uint64_t block_bps;  // of the thread block that moves the message; 0: that of the link
    uint32_t width;
    uint64_t key;        // of the group, with packets: of sums and messages that are spread
    uint32_t members;    // of the group
    sim_time_t delay_ps; // from the last byte's end of the link to the receiver, on an idle network
} app__local_t;
// Returns the time of so many bytes at a rate; 0: none.
static inline sim_time_t app__bits_ps(uint64_t bytes, uint64_t rate_bps)
{
    return rate_bps == 0 ? 0 : (sim_time_t)((double)bytes * 8 * 1e12 / (double)rate_bps);
}
// Lets a message of so many bytes pass, and arrive. Where accelerators are nodes of the network,
// their latency is a part of delay_ps.
void app__coming_pass(app__coming_t *coming, const app__local_t *way, uint64_t bytes);
// Returns the message of a timer.
static inline app__coming_t *app__coming_of(sim_timer_t *timer)
{
    return SIM_CONTAINER_OF(timer, app__coming_t, timer);
}
// Moves a message back from its list to the spare ones.
void app__coming_end(sim_list_t *spare, sim_list_t *list, app__coming_t *coming);
void app__comings_free(sim_list_t *list);

#endif // APPS_CHANNEL_LOCAL_H
