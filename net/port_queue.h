// SPDX-License-Identifier: Apache-2.0
// net/port_queue.h - the queues of a port's classes.
#ifndef NET_PORT_QUEUE_H
#define NET_PORT_QUEUE_H

#include "net/port.h"

SIM_C_BEGIN

// -- queues

// Updates several_bytes_max after a packet was queued while another class waits.
void net__port_several_wait(net_port_t *port);

// Makes room when the tail has reached `stop`: turns to the ring's begin, or grows the ring.
void net__queue_turn(net_port_t *port, net_class_t *queue);
// Copies the first entries of the queue, at most count_max; returns how many.
uint32_t net_queue_peek(const net_class_t *queue, net_queued_t *first, uint32_t count_max);

static inline net_queued_t *net__queued(const net_class_t *queue, uint32_t at_bytes)
{
    return (net_queued_t *)(void *)((char *)queue->ring + at_bytes);
}

// Returns the first entry of a class that has packets waiting.
static inline const net_queued_t *net_queue_head(const net_class_t *queue)
{
    return net__queued(queue, queue->head);
}

// Appends a packet to a class's queue. The caller then calls net__class_waits.
static SIM_ALWAYS_INLINE void net__queue_join(net_port_t *port, net_class_t *queue,
                                              net_packet_t *packet)
{
    if (SIM_UNLIKELY(queue->tail == queue->stop)) {
        net__queue_turn(port, queue);
    }
    *net__queued(queue, queue->tail) =
        (net_queued_t){packet, packet->frame_bytes, packet->ingress_port, packet->marks};
    queue->tail += (uint32_t)sizeof(net_queued_t);
    const uint64_t bytes = queue->bytes + packet->frame_bytes;
    queue->bytes = bytes;
    if (SIM_UNLIKELY(bytes > queue->bytes_max)) {
        queue->bytes_max = bytes;
    }
}

static inline void net__class_waits(net_port_t *port, uint32_t priority)
{
    port->waiting |= (uint8_t)(1u << priority);
    if (SIM_UNLIKELY((port->waiting & (port->waiting - 1)) != 0)) {
        net__port_several_wait(port);
    }
}

static inline void net_queue_push(net_port_t *port, net_packet_t *packet)
{
    net__queue_join(port, port->classes[packet->priority], packet);
    net__class_waits(port, packet->priority);
    net_port_trace(port, NET_TRACE_ENQUEUE, packet, 0);
}

// Returns the entry that joined last; NULL: the class is empty, or the entry cannot be taken back
// because the ring has turned behind it.
static inline const net_queued_t *net_queue_last(const net_class_t *queue)
{
    return queue->bytes == 0 || queue->tail == 0
               ? NULL
               : net__queued(queue, queue->tail - (uint32_t)sizeof(net_queued_t));
}

// Takes back the entry of net_queue_last. The caller owns the packet.
net_queued_t net_queue_take_last(net_port_t *port, uint32_t priority);

// Removes the first entry of a class that has packets waiting. The caller owns the packet.
static SIM_ALWAYS_INLINE net_queued_t net__queue_take(net_port_t *port, net_class_t *queue,
                                                      uint32_t priority)
{
    const net_queued_t *const head = net_queue_head(queue);
    const net_queued_t queued = *head;
    __builtin_prefetch((const char *)head + SIM_CACHE_LINE);
    queue->bytes -= queued.frame_bytes;
    queue->head += (uint32_t)sizeof(queued);
    if (queue->bytes == 0) {
        queue->head = queue->tail = 0;
        queue->stop = queue->end;
        port->waiting &= (uint8_t) ~(1u << priority);
    } else if (SIM_UNLIKELY(queue->head == queue->end)) {
        queue->head = 0;
    }
    return queued;
}

static inline net_queued_t net_queue_take(net_port_t *port, uint32_t priority)
{
    return net__queue_take(port, port->classes[priority], priority);
}

static inline net_packet_t *net_queue_pop(net_port_t *port, uint32_t priority)
{
    return net_queue_take(port, priority).packet;
}

// Returns the class to serve next among `candidates` (not 0): strict classes first, highest number
// first, then deficit weighted round robin (Shreedhar and Varghese, SIGCOMM 1995). head_bytes[p],
// the size of the frame that class p would send, is read for candidates only.
uint32_t net_port_choose(net_port_t *port, uint8_t candidates, const uint32_t *head_bytes);

SIM_C_END

#endif // NET_PORT_QUEUE_H
