// SPDX-License-Identifier: Apache-2.0
// apps/workload/port.c - the order and the gaps of the messages of a NIC.
//
// Without a gap and with send-order: in-turn, messages pass at once: the NIC itself orders them.
// In order, a message is posted in pieces while fewer than send-window bytes are outstanding, so
// that the next message of the NIC begins when the last pieces of this one are on their way.
#include "apps/workload/port.h"
#include "apps/workload/channels.h"
#include "apps/workload/rank.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"

#define PIECES_OF_WINDOW 4u
#define PIECE_UNIT_BYTES 4096u // pieces end where packets end

uint64_t app__port_piece_bytes(const app__workload_options_t *options)
{
    const uint64_t bytes = options->send_window_bytes / PIECES_OF_WINDOW;
    if (options->send_order != APP__SEND_IN_ORDER || bytes > APP__PIECE_BYTES) {
        return APP__PIECE_BYTES;
    }
    return bytes < PIECE_UNIT_BYTES ? PIECE_UNIT_BYTES : bytes - bytes % PIECE_UNIT_BYTES;
}

// Posts a piece of the NIC's first message. Returns false if it has to wait for a completion.
static bool post_in_order(app__port_t *port, const app__port_send_t *first)
{
    app__workload_t *const workload = port->rank->workload;
    const uint64_t window_bytes = workload->options.send_window_bytes;
    const uint64_t begins_bytes = SIM_MIN(app__word_bytes(port->rank, first->word),
                                          app__port_piece_bytes(&workload->options));
    const uint64_t bytes =
        port->message == NULL ? begins_bytes : app__message_piece_bytes(port->message);
    if (port->outstanding_bytes > 0 && port->outstanding_bytes + bytes > window_bytes) {
        return false;
    }
    if (port->message == NULL) {
        port->message = app__rank_channel_begin(workload, first->channel, first->word);
    }
    if (!app__channel_post(port->message)) {
        return false;
    }
    port->outstanding_bytes += bytes;
    return true;
}

static void send_next(app__port_t *port);

static void send_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__port_t *const port = SIM_CONTAINER_OF(timer, app__port_t, send_timer);
    SIM_CHECK(port->rank->node == node);
    send_next(port);
}

// Sends as many messages as may be sent now.
static void send_next(app__port_t *port)
{
    app__workload_t *const workload = port->rank->workload;
    sim_node_t *const node = port->rank->node;
    const bool in_order = workload->options.send_order == APP__SEND_IN_ORDER;
    while (SIM_RING_COUNT(&port->sends) > 0) {
        const app__port_send_t first = SIM_RING_AT(&port->sends, port->sends.first);
        const bool data = first.word <= APP__WORD_OP;
        const bool begins = port->message == NULL || port->message->posted == 0;
        if (data && begins && node->now_ps < port->send_ps) {
            sim_timer_arm(node, &port->send_timer, port->send_ps);
            return;
        }
        if (in_order) {
            if (!post_in_order(port, &first)) {
                return;
            }
        } else {
            app__rank_channel_send(workload, first.channel, first.word);
        }
        if (data && begins) {
            port->send_ps = node->now_ps + workload->options.loggp.gap_ps;
        }
        if (port->message == NULL || port->message->posted == port->message->count) {
            (void)SIM_RING_POP(&port->sends);
            port->message = NULL;
        }
    }
}

void app__port_send(app__port_t *port, uint32_t channel, uint32_t word)
{
    app__workload_t *const workload = port->rank->workload;
    const app__workload_options_t *const options = &workload->options;
    const bool answers = (word & ~APP__WORD_OP) == APP__WORD_CLEAR_TO_SEND;
    if (answers || (options->loggp.gap_ps == 0 && options->send_order == APP__SEND_IN_TURN)) {
        app__rank_channel_send(workload, channel, word);
        return;
    }
    if (port->sends.capacity == 0) {
        sim_timer_init(&port->send_timer, send_fired);
    }
    SIM_RING_PUSH(&port->sends, (app__port_send_t){channel, word});
    send_next(port);
}

void app__port_completed(app__port_t *port, uint64_t bytes)
{
    if (port->rank->workload->options.send_order == APP__SEND_IN_ORDER) {
        SIM_CHECK(port->outstanding_bytes >= bytes);
        port->outstanding_bytes -= bytes;
        send_next(port);
    }
}

// -- receiving

static void receive_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__port_t *const port = SIM_CONTAINER_OF(timer, app__port_t, receive_timer);
    SIM_CHECK(port->rank->node == node && SIM_RING_COUNT(&port->arrivals) > 0);
    const app__port_arrival_t message = SIM_RING_POP(&port->arrivals);
    if (SIM_RING_COUNT(&port->arrivals) > 0) {
        sim_timer_arm(node, timer, SIM_RING_AT(&port->arrivals, port->arrivals.first).time_ps);
    }
    port->rank->workload->arrived(port->rank, message.source, message.word);
}

void app__port_arrived(app__port_t *port, uint32_t source, uint32_t word)
{
    app__workload_t *const workload = port->rank->workload;
    const sim_time_t now_ps = port->rank->node->now_ps;
    const sim_time_t gap_ps = workload->options.loggp.gap_ps;
    if (gap_ps == 0 || word > APP__WORD_OP) {
        workload->arrived(port->rank, source, word);
        return;
    }
    // LogGOPSim's gap follows a message, that of ATLAHS precedes it.
    const bool atlahs = workload->options.loggp.semantics == APP__SEMANTICS_ATLAHS;
    const sim_time_t free_ps = SIM_MAX(port->receive_ps, now_ps);
    const sim_time_t taken_ps = free_ps + (atlahs ? gap_ps : 0);
    port->receive_ps = free_ps + gap_ps;
    if (SIM_RING_COUNT(&port->arrivals) == 0 && taken_ps == now_ps) {
        workload->arrived(port->rank, source, word);
        return;
    }
    if (port->arrivals.capacity == 0) {
        sim_timer_init(&port->receive_timer, receive_fired);
    }
    SIM_RING_PUSH(&port->arrivals, (app__port_arrival_t){taken_ps, source, word});
    if (SIM_RING_COUNT(&port->arrivals) == 1) {
        sim_timer_arm(port->rank->node, &port->receive_timer, taken_ps);
    }
}

void app__port_fini(app__port_t *port)
{
    SIM_RING_FINI(&port->sends);
    SIM_RING_FINI(&port->arrivals);
}
