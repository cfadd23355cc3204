// SPDX-License-Identifier: Apache-2.0
// net/scale_up/accelerator.c - accelerators, and the switches that join them
// (docs/models/scale-up.md).
#include "net/port_queue.h"
#include "net/scale_up/flits.h"

#include <stdio.h>

static net__accelerator_t *accelerator_of(net__flit_node_t *node)
{
    return (net__accelerator_t *)(void *)node;
}

// -- sending: streams take turns, and each port takes the next train

// Returns the bytes of the next train of a stream.
static uint32_t next_bytes(const net__flit_node_t *node, const net_stream_t *stream)
{
    const net_put_t *const put = stream->sending;
    return (uint32_t)SIM_MIN(put->bytes - put->sent_bytes, (uint64_t)node->train_bytes);
}

// Returns the stream whose turn it is; NULL: none has something that may be asked for or sent.
static net_stream_t *next_stream(const net__accelerator_t *accelerator)
{
    net_stream_t *const latest = accelerator->latest;
    if (latest == NULL) {
        return NULL;
    }
    net_stream_t *stream = latest->next;
    while (stream->sending->kind == NET_PUT_LOAD && accelerator->loads_bytes != 0 &&
           accelerator->loads_bytes + next_bytes(&accelerator->base, stream) >
               accelerator->base.config->loads_bytes) {
        if (stream == latest) {
            return NULL;
        }
        stream = stream->next;
    }
    return stream;
}

// Takes a stream out of the round.
static void leave(net__accelerator_t *accelerator, net_stream_t *stream)
{
    net_stream_t *before = accelerator->latest;
    while (before->next != stream) {
        before = before->next;
    }
    before->next = stream->next;
    accelerator->latest = before == stream ? NULL : before;
    stream->next = NULL;
}

// Sends the next train of a stream, which is its turn's last.
static void send_next(net__accelerator_t *accelerator, net_port_t *port, net_stream_t *stream,
                      uint32_t bytes)
{
    net__flit_node_t *const node = &accelerator->base;
    net_put_t *const put = stream->sending;
    const bool load = put->kind == NET_PUT_LOAD;
    net_packet_t *const packet =
        net__train_new(node, put, NET__VC_REQUESTS, load ? 0 : bytes, load ? bytes : 0);
    packet->source = put->from;
    packet->destination = put->to;
    accelerator->loads_bytes += load ? bytes : 0;
    put->sent_bytes += bytes;
    if (put->sent_bytes == put->bytes) {
        stream->sending = put->next_sending;
    }
    if (stream->sending == NULL) {
        leave(accelerator, stream);
    } else {
        accelerator->latest = stream;
    }
    net__flit_send(node, port, packet);
}

static void accelerator_serve(net__flit_node_t *node, net_port_t *port)
{
    net__accelerator_t *const accelerator = accelerator_of(node);
    net_queued_t sent;
    if (port->down) {
        return;
    }
    // Answers take turns with requests.
    bool busy = port->turn != NET__VC_ANSWERS && net__flit_send_queued(node, port, &sent);
    net_stream_t *const stream = next_stream(accelerator);
    if (!busy && stream != NULL) {
        const net_put_t *const put = stream->sending;
        const uint32_t bytes = next_bytes(node, stream);
        const bool load = put->kind == NET_PUT_LOAD;
        if (net__flit_may_send(node, port, NET__VC_REQUESTS,
                               net__train_bytes(node, load ? 0 : bytes, load ? bytes : 0))) {
            port->turn = NET__VC_REQUESTS;
            send_next(accelerator, port, stream, bytes);
            busy = true;
        }
    }
    busy = busy || net__flit_send_queued(node, port, &sent);
    if (busy && (port->waiting != 0 || accelerator->latest != NULL)) {
        net_port_wake(port);
    }
}

static void serve_all(net__flit_node_t *node)
{
    for (uint32_t i = 0; i < node->node.port_count; i++) {
        if (net_port_idle(&node->node.ports[i])) {
            accelerator_serve(node, &node->node.ports[i]);
        } else {
            net_port_wake(&node->node.ports[i]);
        }
    }
}

static void accelerator_put(net__flit_node_t *node, net_put_t *put)
{
    net__accelerator_t *const accelerator = accelerator_of(node);
    net_stream_t *const stream = put->stream;
    put->next_sending = NULL;
    if (stream->sending != NULL) {
        stream->sending_last->next_sending = put;
        stream->sending_last = put;
        return;
    }
    stream->sending = stream->sending_last = put;
    if (accelerator->latest == NULL) {
        stream->next = stream;
    } else {
        stream->next = accelerator->latest->next;
        accelerator->latest->next = stream;
    }
    accelerator->latest = stream;
    serve_all(node);
}

// -- receiving

// Tells the host that a message is complete when its last byte is there.
static void complete(net__accelerator_t *accelerator, net_put_t *put, sim_time_t rest_ps)
{
    sim_node_t *const sim = &accelerator->base.node.sim;
    const sim_time_t time_ps = sim->now_ps + rest_ps + accelerator->base.config->memory_ps;
    accelerator->told_ps = SIM_MAX(time_ps, accelerator->told_ps);
    sim_happened(sim, 'u', accelerator->told_ps, put->bytes);
    sim_send(sim, accelerator->to_host, accelerator->told_ps, put);
}

static void answer(net__flit_node_t *node, net_port_t *port, const net_packet_t *request)
{
    net_packet_t *const packet =
        net__train_new(node, request->train.put, NET__VC_ANSWERS, request->train.wanted_bytes, 0);
    packet->source = request->destination;
    packet->destination = request->source;
    net_queue_push(port, packet);
    net__flit_wake(node, port);
}

static void accelerator_train(net__flit_node_t *node, net_port_t *ingress, net_packet_t *packet)
{
    net__accelerator_t *const accelerator = accelerator_of(node);
    net_put_t *const put = packet->train.put;
    SIM_CHECK(packet->destination == accelerator->number);
    net__flit_free(node, ingress->index, packet->priority, packet->frame_bytes);
    if (packet->train.wanted_bytes != 0) {
        answer(node, ingress, packet);
    } else {
        put->arrived_bytes += packet->payload_bytes;
        if (put->arrived_bytes == put->bytes) {
            complete(accelerator, put, net__train_rest_ps(node, ingress, packet->frame_bytes));
        }
        if (put->kind == NET_PUT_LOAD) {
            accelerator->loads_bytes -= packet->payload_bytes;
            serve_all(node);
        }
    }
    net_packet_deliver_empty(&node->node, packet);
}

static void accelerator_built(net__flit_node_t *node)
{
    net__accelerator_t *const accelerator = accelerator_of(node);
    net_node_t *const host = accelerator->host;
    sim_t *const sim = net_sim(node->node.net);
    const sim_time_t delay_ps = node->config->memory_ps;
    accelerator->to_host = sim_channel_create(sim, &node->node.sim, &host->sim,
                                              host->port_count + accelerator->number, delay_ps);
    host->accelerators->to_accelerator[accelerator->number] =
        sim_channel_create(sim, &host->sim, &node->node.sim, 2 * node->node.port_count, delay_ps);
}

static const net__flit_ops_t accelerator_ops = {
    .train = accelerator_train,
    .put = accelerator_put,
    .built = accelerator_built,
    .serve = accelerator_serve,
};

// -- switches

static void switch_serve(net__flit_node_t *node, net_port_t *port)
{
    net_queued_t sent;
    if (!port->down && net__flit_send_queued(node, port, &sent)) {
        net__flit_free(node, sent.ingress_port, port->turn, sent.frame_bytes);
        if (port->waiting != 0) {
            net_port_wake(port);
        }
    }
}

static void switch_train(net__flit_node_t *node, net_port_t *ingress, net_packet_t *packet)
{
    net_port_t *const egress = &node->node.ports[packet->destination];
    packet->ingress_port = ingress->index;
    net_queue_push(egress, packet);
    net__flit_wake(node, egress);
}

static const net__flit_ops_t switch_ops = {.train = switch_train, .serve = switch_serve};

// -- building

void net_scale_up_add(net_t *net, net_node_t *host, uint32_t count,
                      const net_scale_up_config_t *config)
{
    net_accelerators_t *const all = sim_alloc(sizeof(*all));
    const uint32_t switches = (uint32_t)net_scale_up_switches(config);
    SIM_CHECK(host->accelerators == NULL && count > 0);
    *all = (net_accelerators_t){
        .config = config,
        .count = count,
        .switch_count = switches,
        .nodes = sim_alloc_array(count + switches, sizeof(*all->nodes)),
        .to_accelerator = sim_alloc_array(count, sizeof(sim_channel_t *)),
    };
    host->accelerators = all;
    char name[192];
    for (uint32_t i = 0; i < count; i++) {
        net__accelerator_t *const accelerator = sim_alloc_lines(sizeof(*accelerator));
        accelerator->host = host;
        accelerator->number = i;
        (void)snprintf(name, sizeof(name), "%s-gpu%u", host->sim.name, i);
        net__flit_node_init(net, &accelerator->base, &accelerator_ops, config, name);
        all->nodes[i] = &accelerator->base.node;
    }
    for (uint32_t i = 0; i < switches; i++) {
        net__flit_node_t *const node = sim_alloc_lines(sizeof(*node));
        (void)snprintf(name, sizeof(name), "%s-switch%u", host->sim.name, i);
        net__flit_node_init(net, node, &switch_ops, config, name);
        all->nodes[count + i] = &node->node;
    }
}

void net_scale_up_free(net_node_t *host)
{
    if (host->accelerators != NULL) {
        sim_free(host->accelerators->nodes);
        sim_free(host->accelerators->to_accelerator);
        sim_free(host->accelerators);
    }
}

net_node_t *net_accelerator(const net_node_t *host, uint32_t number)
{
    SIM_CHECK(number < net_accelerator_count(host));
    return host->accelerators->nodes[number];
}

net_node_t *net_scale_up_switch(const net_node_t *host, uint32_t number)
{
    SIM_CHECK(host->accelerators != NULL && number < host->accelerators->switch_count);
    return host->accelerators->nodes[host->accelerators->count + number];
}

uint32_t net_accelerator_count(const net_node_t *host)
{
    return host->accelerators == NULL ? 0 : host->accelerators->count;
}

const net_scale_up_config_t *net_scale_up_config(const net_node_t *host)
{
    return host->accelerators == NULL ? NULL : host->accelerators->config;
}

// -- messages of the host

void net_put_send(net_node_t *host, net_stream_t *stream, net_put_t *put)
{
    const net_accelerators_t *const all = host->accelerators;
    SIM_CHECK(put->from < all->count && put->to < all->count && put->from != put->to);
    put->stream = stream;
    put->next = NULL;
    put->sent_bytes = 0;
    put->arrived_bytes = 0;
    put->here = false;
    if (stream->first == NULL) {
        stream->first = put;
    } else {
        stream->last->next = put;
    }
    stream->last = put;
    sim_send(&host->sim, all->to_accelerator[put->from], host->sim.now_ps + all->config->memory_ps,
             put);
}

void net_put_arrived(net_node_t *host, void *message)
{
    net_put_t *const put = message;
    net_stream_t *const stream = put->stream;
    put->here = true;
    while (stream->first != NULL && stream->first->here) {
        net_put_t *const first = stream->first;
        stream->first = first->next;
        sim_progress(&host->sim);
        first->arrived(first, &host->sim);
    }
}
