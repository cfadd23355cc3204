// SPDX-License-Identifier: Apache-2.0
// net/scale_up/accelerator.c - accelerators: they send the messages of their host in trains, and
// tell it what has arrived (docs/models/scale-up.md).
#include "kernel/timer.h"
#include "net/port_queue.h"
#include "net/scale_up/kinds.h"

#define PACE_BURST_PS SIM_PS_PER_US // messages with a pace catch up with it within this time

// The streams of an accelerator: those of messages that take any port, and by pace those of groups.
enum { TURN_ANY, TURN_SUM, TURN_SPREAD, TURN_COUNT };

// The streams that send their next train by one port, the one that has waited longest first.
typedef struct queue {
    net_stream_t *first;
    net_stream_t *last;
    uint64_t number; // of the first stream
} queue_t;

// The streams of groups that share a pace.
typedef struct pacer {
    sim_timer_t timer;   // first; armed while ready_ps is to come
    sim_time_t ready_ps; // when the next of their trains may be sent
    queue_t *queues;     // by port
    uint64_t entered;    // streams that have joined a queue so far
} pacer_t;

// An accelerator: it takes turns between the streams that have something to send.
typedef struct accelerator {
    net__flit_node_t base; // first
    net_node_t *host;
    uint32_t number;
    uint8_t turn; // kind of the stream that has sent last
    // The stream for any port that has sent last, behind which their round begins. NULL: nothing to
    // send.
    net_stream_t *latest;
    pacer_t pacers[TURN_COUNT];
    uint64_t loads_bytes; // asked for and not here
    bool packs;           // messages of a stream share packets of so many bytes
    uint64_t packed_bytes;
    sim_channel_t *to_host;
    sim_time_t told_ps; // when the latest message reaches the host
} accelerator_t;

static accelerator_t *accelerator_of(net__flit_node_t *node)
{
    return (accelerator_t *)(void *)node;
}

// -- rounds: streams take turns, and each port takes the next train

static uint32_t turn_of(const net_stream_t *stream)
{
    return stream->port == NET_NO_PORT      ? TURN_ANY
           : stream->kind == NET_PUT_SPREAD ? TURN_SPREAD
                                            : TURN_SUM;
}

static bool is_ready(const accelerator_t *accelerator, const pacer_t *pacer)
{
    return pacer->ready_ps <= accelerator->base.node.sim.now_ps;
}

// Returns the bytes of the next train of a stream.
static uint32_t next_bytes(const net__flit_node_t *node, const net_stream_t *stream)
{
    return (uint32_t)SIM_MIN(stream->left_bytes, (uint64_t)node->train_bytes);
}

// Returns whether the next train of a stream may be sent or asked for now.
static bool may_go(const accelerator_t *accelerator, const net_stream_t *stream)
{
    return stream->kind != NET_PUT_LOAD || accelerator->loads_bytes == 0 ||
           accelerator->loads_bytes + next_bytes(&accelerator->base, stream) <=
               accelerator->base.config->loads_bytes;
}

// Returns the stream for any port whose turn it is; NULL: none may send.
static net_stream_t *next_of_any(const accelerator_t *accelerator)
{
    net_stream_t *const latest = accelerator->latest;
    net_stream_t *stream = latest == NULL ? NULL : latest->next;
    while (stream != NULL && SIM_UNLIKELY(!may_go(accelerator, stream))) {
        stream = stream == latest ? NULL : stream->next;
    }
    return stream;
}

// Returns the stream that a port serves next.
static net_stream_t *next_stream(const accelerator_t *accelerator, const net_port_t *port)
{
    net_stream_t *stream = NULL;
    for (uint32_t i = 1; i <= TURN_COUNT && stream == NULL; i++) {
        const uint32_t turn = (accelerator->turn + i) % TURN_COUNT;
        if (turn == TURN_ANY) {
            stream = next_of_any(accelerator);
        } else if (is_ready(accelerator, &accelerator->pacers[turn])) {
            stream = accelerator->pacers[turn].queues[port->index].first;
        }
    }
    return stream;
}

// Returns whether a port has something to send once it is idle. The timers of paces serve it else.
static bool has_streams(const accelerator_t *accelerator, uint32_t port)
{
    bool has = accelerator->latest != NULL;
    for (uint32_t turn = TURN_SUM; turn < TURN_COUNT; turn++) {
        const pacer_t *const pacer = &accelerator->pacers[turn];
        has = has || (pacer->queues[port].first != NULL && is_ready(accelerator, pacer));
    }
    return has;
}

static void enter(accelerator_t *accelerator, net_stream_t *stream)
{
    if (stream->port == NET_NO_PORT) {
        net_stream_t *const latest = accelerator->latest;
        stream->next = latest == NULL ? stream : latest->next;
        if (latest != NULL) {
            latest->next = stream;
        }
        accelerator->latest = stream;
        return;
    }
    pacer_t *const pacer = &accelerator->pacers[turn_of(stream)];
    queue_t *const queue = &pacer->queues[stream->port];
    stream->next = NULL;
    stream->number = pacer->entered++;
    if (queue->first == NULL) {
        queue->first = stream;
        queue->number = stream->number;
    } else {
        queue->last->next = stream;
    }
    queue->last = stream;
}

// Removes a stream that sends: the first one of its queue.
static void leave(accelerator_t *accelerator, net_stream_t *stream)
{
    if (stream->port != NET_NO_PORT) {
        queue_t *const queue = &accelerator->pacers[turn_of(stream)].queues[stream->port];
        SIM_CHECK(queue->first == stream);
        queue->first = stream->next;
        queue->number = stream->next == NULL ? 0 : stream->next->number;
        return;
    }
    net_stream_t *before = accelerator->latest;
    while (before->next != stream) {
        before = before->next;
    }
    before->next = stream->next;
    accelerator->latest = before == stream ? NULL : before;
}

// -- sending

// Lets the first message of a stream take its turns.
static void begin(accelerator_t *accelerator, net_stream_t *stream, net_put_t *put)
{
    const uint32_t ports = accelerator->base.node.port_count;
    stream->sending = put;
    stream->left_bytes = put->bytes;
    stream->pace_bps = put->pace_bps;
    stream->from = put->from;
    stream->to = put->to;
    stream->kind = put->kind;
    stream->port = (uint16_t)(put->group == NULL ? NET_NO_PORT : put->group->number % ports);
    enter(accelerator, stream);
}

static void serve_all(net__flit_node_t *node)
{
    for (uint32_t i = 0; i < node->node.port_count; i++) {
        net__flit_wake(node, &node->node.ports[i]);
    }
}

// Notes a train of `bytes` of a stream with a pace.
static void pace(accelerator_t *accelerator, const net_stream_t *stream, uint32_t bytes)
{
    sim_node_t *const sim = &accelerator->base.node.sim;
    pacer_t *const pacer = &accelerator->pacers[turn_of(stream)];
    const sim_time_t least_ps = sim->now_ps - SIM_MIN(sim->now_ps, PACE_BURST_PS);
    pacer->ready_ps =
        SIM_MAX(pacer->ready_ps, least_ps) + (uint64_t)bytes * 8 * SIM_PS_PER_S / stream->pace_bps;
    if (pacer->ready_ps > sim->now_ps && !sim_timer_armed(&pacer->timer)) {
        sim_timer_arm(sim, &pacer->timer, pacer->ready_ps);
    }
}

// Returns the bytes of the next train of a stream. *more: messages that share its packet with the
// first one, and end with it.
static uint32_t pack(const accelerator_t *accelerator, const net_stream_t *stream, uint32_t *more)
{
    const net_put_t *const put = stream->sending;
    uint64_t bytes = next_bytes(&accelerator->base, stream);
    *more = 0;
    if (!accelerator->packs || stream->kind != NET_PUT_STORE || stream->left_bytes != put->bytes) {
        return (uint32_t)bytes;
    }
    const net_put_t *next = put->next_sending;
    while (next != NULL && bytes + next->bytes <= accelerator->packed_bytes) {
        bytes += next->bytes;
        next = next->next_sending;
        (*more)++;
    }
    return (uint32_t)bytes;
}

// Sends the next train of a stream, as pack() made it.
static void send_next(accelerator_t *accelerator, net_port_t *port, net_stream_t *stream,
                      uint32_t bytes, uint32_t more)
{
    net__flit_node_t *const node = &accelerator->base;
    const bool load = stream->kind == NET_PUT_LOAD;
    net_put_t *const put = stream->sending;
    net_packet_t *const packet =
        net__train_new(node, put, NET__VC_REQUESTS, load ? 0 : bytes, load ? bytes : 0);
    packet->source = stream->from;
    packet->destination = stream->to;
    if (SIM_UNLIKELY(put->group != NULL)) {
        const uint64_t number = (put->bytes - stream->left_bytes) / node->train_bytes;
        packet->train.grouped = 1;
        packet->train.number = number & INT32_MAX;
    }
    net_put_t *last = put;
    if (more > 0) {
        packet->train.number = more & INT32_MAX;
        for (uint32_t i = 0; i < more; i++) {
            last = last->next_sending;
        }
        stream->left_bytes = bytes;
    }
    if (stream->port != NET_NO_PORT) {
        pace(accelerator, stream, bytes);
    }
    accelerator->loads_bytes += load ? bytes : 0;
    accelerator->turn = (uint8_t)turn_of(stream);
    stream->left_bytes -= bytes;
    if (stream->left_bytes > 0 && put->group == NULL) {
        accelerator->latest = stream;
    } else if (stream->left_bytes > 0) {
        leave(accelerator, stream);
        stream->port = (uint16_t)((stream->port + 1u) % node->node.port_count);
        enter(accelerator, stream);
    } else {
        leave(accelerator, stream);
        stream->sending = NULL;
        if (last->next_sending != NULL) {
            begin(accelerator, stream, last->next_sending);
        }
    }
    net__flit_send(node, port, packet, NET__VC_REQUESTS, packet->frame_bytes);
    if (stream->sending != NULL && stream->port != NET_NO_PORT &&
        is_ready(accelerator, &accelerator->pacers[turn_of(stream)])) {
        net_port_wake(&node->node.ports[stream->port]); // which is another one for its next train
    }
}

// Sends a train of the stream that has waited longest, of those whose ports are idle. Returns
// false if there is none: ports that are busy look again when they are idle.
static bool send_longest(accelerator_t *accelerator, const pacer_t *pacer)
{
    net__flit_node_t *const node = &accelerator->base;
    net_port_t *best = NULL;
    uint64_t number = UINT64_MAX;
    for (uint32_t i = 0; i < node->node.port_count; i++) {
        net_port_t *const port = &node->node.ports[i];
        const queue_t *const queue = &pacer->queues[i];
        if (queue->first != NULL && queue->number < number && net_port_idle(port) && !port->down &&
            net__flit_may_send(node, port, NET__VC_REQUESTS,
                               net__train_bytes(node, next_bytes(node, queue->first), 0))) {
            best = port;
            number = queue->number;
        }
    }
    if (best != NULL) {
        net_stream_t *const stream = pacer->queues[best->index].first;
        best->turn = NET__VC_REQUESTS;
        send_next(accelerator, best, stream, next_bytes(node, stream), 0);
        return true;
    }
    for (uint32_t i = 0; i < node->node.port_count; i++) {
        net_port_t *const port = &node->node.ports[i];
        if (pacer->queues[i].first != NULL && !net_port_idle(port)) {
            net_port_wake(port);
        }
    }
    return false;
}

static void timer_fired(sim_node_t *node, sim_timer_t *timer)
{
    const pacer_t *const pacer = (const pacer_t *)(const void *)timer;
    accelerator_t *const accelerator = accelerator_of((net__flit_node_t *)(void *)node);
    bool sends = true;
    while (sends && is_ready(accelerator, pacer)) {
        sends = send_longest(accelerator, pacer);
    }
    if (!is_ready(accelerator, pacer) && !sim_timer_armed(timer)) {
        sim_timer_arm(node, timer, pacer->ready_ps); // a train was sent before the timer
    }
}

static void serve(net__flit_node_t *node, net_port_t *port)
{
    accelerator_t *const accelerator = accelerator_of(node);
    net_queued_t sent;
    if (port->down) {
        return;
    }
    // Answers take turns with requests.
    bool busy = port->turn != NET__VC_ANSWERS && net__flit_send_queued(node, port, &sent);
    net_stream_t *const stream = busy ? NULL : next_stream(accelerator, port);
    if (stream != NULL) {
        uint32_t more;
        const uint32_t bytes = pack(accelerator, stream, &more);
        const bool load = stream->kind == NET_PUT_LOAD;
        if (net__flit_may_send(node, port, NET__VC_REQUESTS,
                               net__train_bytes(node, load ? 0 : bytes, load ? bytes : 0))) {
            port->turn = NET__VC_REQUESTS;
            send_next(accelerator, port, stream, bytes, more);
            busy = true;
        }
    }
    busy = busy || net__flit_send_queued(node, port, &sent);
    if (busy && (port->waiting != 0 || has_streams(accelerator, port->index))) {
        net_port_wake(port);
    }
}

static void take_put(net__flit_node_t *node, net_put_t *put)
{
    accelerator_t *const accelerator = accelerator_of(node);
    net_stream_t *const stream = put->stream;
    put->next_sending = NULL;
    if (stream->sending != NULL) {
        stream->sending_last->next_sending = put;
        stream->sending_last = put;
        return;
    }
    stream->sending_last = put;
    begin(accelerator, stream, put);
    if (stream->port == NET_NO_PORT) {
        serve_all(node);
    } else if (is_ready(accelerator, &accelerator->pacers[turn_of(stream)])) {
        net__flit_wake(node, &node->node.ports[stream->port]);
    }
}

// -- receiving

// Tells the host that a message is complete when its last byte is there.
static void complete(accelerator_t *accelerator, net_put_t *put, sim_time_t rest_ps)
{
    sim_node_t *const sim = &accelerator->base.node.sim;
    const sim_time_t time_ps = sim->now_ps + rest_ps + accelerator->base.config->memory_ps;
    accelerator->told_ps = SIM_MAX(time_ps, accelerator->told_ps);
    sim_happened(sim, 'u', accelerator->told_ps, put->bytes);
    sim_send(sim, accelerator->to_host, accelerator->told_ps, put);
}

// Does so for a message and `more` that came in one packet with it.
static void complete_all(accelerator_t *accelerator, net_put_t *put, uint32_t more,
                         sim_time_t rest_ps)
{
    for (uint32_t i = 0; i <= more; i++) {
        net_put_t *const next = i < more ? put->next_sending : NULL;
        complete(accelerator, put, rest_ps);
        put = next;
    }
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

static void take_train(net__flit_node_t *node, net_port_t *ingress, net_packet_t *packet)
{
    accelerator_t *const accelerator = accelerator_of(node);
    net_put_t *const put = packet->train.put;
    SIM_CHECK(packet->destination == accelerator->number);
    net__flit_free(node, ingress->index, packet->priority, packet->frame_bytes);
    if (packet->train.wanted_bytes != 0) {
        answer(node, ingress, packet);
    } else if (packet->train.grouped == 0 && packet->train.number > 0) {
        complete_all(accelerator, put, packet->train.number,
                     net__train_rest_ps(node, ingress, packet->frame_bytes));
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

static void built(net__flit_node_t *node)
{
    accelerator_t *const accelerator = accelerator_of(node);
    net_node_t *const host = accelerator->host;
    sim_t *const sim = net_sim(node->node.net);
    const sim_time_t delay_ps = node->config->memory_ps;
    accelerator->to_host = sim_channel_create(sim, &node->node.sim, &host->sim,
                                              host->port_count + accelerator->number, delay_ps);
    host->accelerators->to_accelerator[accelerator->number] =
        sim_channel_create(sim, &host->sim, &node->node.sim, 2 * node->node.port_count, delay_ps);
    for (uint32_t turn = TURN_SUM; turn < TURN_COUNT; turn++) {
        accelerator->pacers[turn].queues = sim_alloc_array(node->node.port_count, sizeof(queue_t));
    }
    accelerator->turn = TURN_COUNT - 1;
}

static void fini(net__flit_node_t *node)
{
    for (uint32_t turn = TURN_SUM; turn < TURN_COUNT; turn++) {
        sim_free(accelerator_of(node)->pacers[turn].queues);
    }
}

static const net__flit_ops_t ops = {
    .train = take_train,
    .put = take_put,
    .built = built,
    .serve = serve,
    .fini = fini,
};

const net_node_t *net__accelerator_host(const net_node_t *node)
{
    const accelerator_t *const accelerator = (const accelerator_t *)(const void *)node;
    return net__is_flit_node(node) && accelerator->base.ops == &ops ? accelerator->host : NULL;
}

net__flit_node_t *net__accelerator_create(net_t *net, net_node_t *host, uint32_t number,
                                          const net_scale_up_config_t *config, const char *name)
{
    accelerator_t *const accelerator = sim_alloc_lines(sizeof(*accelerator));
    accelerator->host = host;
    accelerator->number = number;
    accelerator->packs = net_scale_up_packs(config);
    accelerator->packed_bytes = net_scale_up_packet_bytes(config);
    for (uint32_t i = TURN_SUM; i < TURN_COUNT; i++) {
        sim_timer_init(&accelerator->pacers[i].timer, timer_fired);
    }
    net__flit_node_init(net, &accelerator->base, &ops, config, name);
    return &accelerator->base;
}
