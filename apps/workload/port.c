// SPDX-License-Identifier: Apache-2.0
// apps/workload/port.c - the order and the gaps of the messages of a NIC.
//
// Without a gap and with send-order: in-turn, messages pass at once: the NIC itself orders them.
// In order, a message is posted in pieces while fewer than send-window bytes are outstanding, so
// that the next message of the NIC begins when the last pieces of this one are on their way.
#include "apps/workload/internal.h"

#define PIECES_OF_WINDOW 4u
#define PIECE_UNIT_BYTES 4096u // pieces end where packets end

static uint64_t piece_bytes(const app__workload_t *workload)
{
    const uint64_t bytes = workload->options.send_window_bytes / PIECES_OF_WINDOW;
    return bytes < PIECE_UNIT_BYTES ? PIECE_UNIT_BYTES : bytes - bytes % PIECE_UNIT_BYTES;
}

// Posts a piece of the NIC's first message. Returns false if it has to wait for a completion.
static bool post_in_order(app__port_t *port, const app__item_t *first, bool *all)
{
    app__workload_t *const workload = port->rank->workload;
    const uint64_t left = first->bytes - port->sent_bytes;
    const uint64_t most = piece_bytes(workload);
    const uint64_t bytes = SIM_MIN(left, most);
    if (port->outstanding_bytes > 0 &&
        port->outstanding_bytes + bytes > workload->options.send_window_bytes) {
        return false;
    }
    if (!app__link_post(&workload->links[first->about], first->word, bytes, bytes == left)) {
        return false;
    }
    port->outstanding_bytes += bytes;
    port->sent_bytes += bytes;
    *all = bytes == left;
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
    while (port->sends.count > 0) {
        const app__item_t first = app__fifo_first(&port->sends);
        const bool data = first.word <= APP__WORD_OP;
        const bool begins = port->sent_bytes == 0;
        bool all = true;
        if (data && begins && node->now_ps < port->send_ps) {
            sim_timer_arm(node, &port->send_timer, port->send_ps);
            return;
        }
        if (in_order) {
            if (!post_in_order(port, &first, &all)) {
                return;
            }
        } else {
            app__link_put(&workload->links[first.about], first.word);
        }
        if (data && begins) {
            port->send_ps = node->now_ps + workload->options.loggp.gap_ps;
        }
        if (all) {
            (void)app__fifo_take(&port->sends);
            port->sent_bytes = 0;
        }
    }
}

void app__port_send(app__port_t *port, app__link_t *link, uint32_t word)
{
    const app__workload_options_t *const options = &port->rank->workload->options;
    const bool answers = (word & ~APP__WORD_OP) == APP__WORD_CLEAR_TO_SEND;
    if (answers || (options->loggp.gap_ps == 0 && options->send_order == APP__SEND_IN_TURN)) {
        app__link_put(link, word);
        return;
    }
    if (port->sends.capacity == 0) {
        sim_timer_init(&port->send_timer, send_fired);
    }
    app__fifo_put(&port->sends, (app__item_t){{app__word_bytes(port->rank, word)},
                                              word,
                                              (uint32_t)(link - port->rank->workload->links)});
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
    SIM_CHECK(port->rank->node == node && port->arrivals.count > 0);
    const app__item_t message = app__fifo_take(&port->arrivals);
    if (port->arrivals.count > 0) {
        sim_timer_arm(node, timer, app__fifo_first(&port->arrivals).time_ps);
    }
    port->rank->workload->arrived(port->rank, message.about, message.word);
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
    if (port->arrivals.count == 0 && taken_ps == now_ps) {
        workload->arrived(port->rank, source, word);
        return;
    }
    if (port->arrivals.capacity == 0) {
        sim_timer_init(&port->receive_timer, receive_fired);
    }
    app__fifo_put(&port->arrivals, (app__item_t){{taken_ps}, word, source});
    if (port->arrivals.count == 1) {
        sim_timer_arm(port->rank->node, &port->receive_timer, taken_ps);
    }
}

void app__port_fini(app__port_t *port)
{
    sim_free(port->sends.items);
    sim_free(port->arrivals.items);
}
