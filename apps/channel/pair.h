// SPDX-License-Identifier: Apache-2.0
// apps/channel/pair.h - makes queue pairs for all applications, and says what both hosts know of
// two connected ones before the first packet.
//
// No message is exchanged to connect. Each host computes the same app__pair_t and makes its own
// end. The numbers come from ranges that are reserved at planning (app__reserve_qps). Ports and
// first PSNs follow one of two rules:
//   by a hash of the seed and a flow's number: app__flow_hash, app__port_of_hash, app__psn_of_hash
//   by the application's own hash of the numbers, with the port that the NIC derives from them (0)
#ifndef APPS_CHANNEL_PAIR_H
#define APPS_CHANNEL_PAIR_H

#include "apps/endpoints.h"

#define APP__AS_THE_NIC 0xff // priority, dscp: the values of a NIC
// Number of priorities that a requester may ask for: eight classes, and APP__AS_THE_NIC.
#define APP__PRIORITIES 9u

typedef enum app__side_of_pair { APP__REQUESTER, APP__RESPONDER } app__side_of_pair_t;

// Queues of a queue pair that are not those of its endpoint.
typedef struct app__queues {
    nic_cq_t *send_cq; // NULL: that of the endpoint
    nic_cq_t *recv_cq; // NULL: that of the endpoint
    nic_srq_t *srq;    // that receives come from; NULL: the queue pair's own
    bool all_signaled; // every send work request has a completion
} app__queues_t;

typedef struct app__pair {
    app__endpoint_t *ends[2]; // by app__side_of_pair_t
    uint32_t numbers[2];      // of the queue pairs
    nic_qp_type_t type;
    uint32_t access;            // nic_access_t bits that each end gives to the other
    uint32_t first_psn;         // of both directions
    uint32_t received_packets;  // packets that an earlier queue pair of the responder has received
    uint32_t received_messages; // messages that it has received; both 0: there was none
    uint32_t mtu_bytes;         // 0: each end has that of its NIC
    uint16_t source_port;       // UDP; 0: the NICs derive it from the numbers
    uint16_t hashed_port;       // port that load balancers hash as well; 0: none
    uint8_t priority;           // APP__AS_THE_NIC: each end has the priority and DSCP of its NIC
    uint8_t dscp;
    const app__queues_t *queues; // of the end that is made; NULL: those of its endpoint
} app__pair_t;

// Creates and connects one end of a pair. `sends` and `receives` are the numbers of work requests
// that it can hold.
nic_qp_t *app__pair_make(const app__pair_t *pair, app__side_of_pair_t side, uint32_t sends,
                         uint32_t receives);

// Creates a queue pair in the state RESET. `number` 0: the NIC chooses. queues NULL: the
// endpoint's. An error of the verbs ends the program.
nic_qp_t *app__qp_create(app__endpoint_t *endpoint, nic_qp_type_t type, uint32_t number,
                         uint32_t sends, uint32_t receives, const app__queues_t *queues);
// Connects a queue pair. An error of the verbs ends the program.
void app__qp_connect(nic_qp_t *qp, const nic_qp_attr_t *attr);

// Posts a work request, which must succeed: the caller keeps within the depth of the queue pair.
void app__qp_post(nic_qp_t *qp, const nic_send_wr_t *wr);
// Posts a receive to a queue pair, or to a shared receive queue. It must succeed.
void app__qp_post_receive(nic_qp_t *qp, const nic_recv_wr_t *wr);
void app__srq_post_receive(nic_srq_t *srq, const nic_recv_wr_t *wr);
#define APP__NO_BUFFER UINT64_MAX
// Posts `count` receives of `bytes` each into the buffer of the queue pair's number.
// APP__NO_BUFFER: they take nothing but the immediate values of WRITEs.
void app__qp_receive(nic_qp_t *qp, const app__endpoint_t *endpoint, uint64_t wr_id, uint64_t bytes,
                     uint32_t count);

// -- the rule of flows and of submitted transfers

// Returns a hash of the run's seed and of a flow's number, for values that differ between flows
// and that both ends know.
static inline uint64_t app__flow_hash(uint64_t seed, uint64_t number)
{
    return sim_mix64(seed ^ sim_mix64(number + 1));
}

static inline uint16_t app__port_of_hash(uint64_t hash)
{
    return (uint16_t)(ROCE_SOURCE_PORT_MIN + (hash & (UINT16_MAX - ROCE_SOURCE_PORT_MIN)));
}

// Returns the first PSN. It is random, as connection managers choose it, so wrapping is common.
static inline uint32_t app__psn_of_hash(uint64_t hash)
{
    return (uint32_t)(hash >> 32) & ROCE_PSN_MASK;
}

// Returns a number for what goes from one interface to another with a priority: flows that share a
// channel have it in place of a number of their own.
uint64_t app__pair_key(const net_t *net, uint32_t source, uint32_t destination, uint8_t priority);

// Returns the payload of a full packet between two interfaces: the smaller MTU of their NICs.
uint32_t app__pair_mtu_bytes(const net_t *net, uint32_t source, uint32_t destination);

// Returns the place of a priority among APP__PRIORITIES.
static inline uint32_t app__priority_place(uint8_t priority)
{
    return priority == APP__AS_THE_NIC ? APP__PRIORITIES - 1 : priority;
}

// Returns a requester's priority where it is APP__AS_THE_NIC, else the given one.
uint8_t app__priority_of(const net_t *net, uint32_t source, uint8_t priority);
// Returns the DSCP: the given one, that of the requester's NIC where neither it nor a priority is
// given, else eight times the priority.
uint8_t app__dscp_of(const net_t *net, uint32_t source, uint8_t priority, uint8_t dscp);

#endif // APPS_CHANNEL_PAIR_H
