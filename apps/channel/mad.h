// SPDX-License-Identifier: Apache-2.0
// apps/channel/mad.h - messages of the connection manager as bytes of management datagrams.
//
// Source: InfiniBand Architecture Specification volume 1, 13.4.3 (datagrams) and 12.6 to 12.11
// (messages); annex A11 for the header in front of the private data of requests.
#ifndef APPS_CHANNEL_MAD_H
#define APPS_CHANNEL_MAD_H

#include "kernel/base.h"

#define APP__MAD_BYTES 256u
#define APP__MAD_PRIVATE_MAX 224u
#define APP__MAD_IP_BYTES 36u // of the private data of a request: the addresses and the port

// Attributes of the management class of communication.
typedef enum app__mad_kind {
    APP__MAD_REQ = 0x10, // asks for a connection
    APP__MAD_MRA,        // asks for patience
    APP__MAD_REJ,        // refuses a connection
    APP__MAD_REP,        // accepts a connection
    APP__MAD_RTU,        // completes a connection
    APP__MAD_DREQ,       // ends a connection
    APP__MAD_DREP,       // answers a DREQ
    APP__MAD_SIDR_REQ,   // asks for the queue pair of a service for datagrams
    APP__MAD_SIDR_REP,
} app__mad_kind_t;

// Messages that a REJ or MRA is about, and reasons of refusals (12.6.7.2).
enum { APP__MAD_ABOUT_REQ, APP__MAD_ABOUT_REP, APP__MAD_ABOUT_NOTHING };
enum {
    APP__REJ_TIMEOUT = 4,
    APP__REJ_NO_SERVICE = 8,
    APP__REJ_STALE = 10,
    APP__REJ_CONSUMER = 28,
};
// Results of SIDR_REP (12.11.2.1).
enum { APP__SIDR_DONE, APP__SIDR_NO_SERVICE, APP__SIDR_REJECTED };

// Fields that a kind of message does not have are 0.
typedef struct app__mad {
    app__mad_kind_t kind;
    uint64_t transaction;
    uint64_t local_id;  // the sender's; the request of a SIDR_REQ
    uint64_t remote_id; // the receiver's; the request of a SIDR_REP
    uint64_t service_id;
    uint64_t guid; // of the sender's NIC
    uint64_t qp_num;
    uint64_t qkey;
    uint64_t psn;
    uint64_t responder_resources;
    uint64_t initiator_depth;
    uint64_t flow_control;
    uint64_t retry_count;
    uint64_t rnr_retry_count;
    uint64_t srq;
    uint64_t response_timeout; // of both sides, as a code: 4.096 us x 2^code
    uint64_t cm_retries;
    uint64_t path_mtu; // as a code: 128 x 2^code bytes
    uint64_t path_rate;
    uint64_t traffic_class;
    uint64_t service_level;
    uint64_t ack_timeout;
    uint64_t about; // REJ, MRA: the message
    uint64_t reason;
    uint64_t service_timeout; // MRA
    uint64_t status;          // SIDR_REP
    uint8_t own_gid[16];
    uint8_t peer_gid[16];
    uint8_t private_data[APP__MAD_PRIVATE_MAX];
} app__mad_t;

// Returns the room for private data in a kind of message, in bytes.
uint32_t app__mad_room(app__mad_kind_t kind);
void app__mad_write(const app__mad_t *mad, uint8_t bytes[APP__MAD_BYTES]);
// Returns false if the datagram is no message of the connection manager.
bool app__mad_read(const uint8_t bytes[APP__MAD_BYTES], app__mad_t *mad);

#endif // APPS_CHANNEL_MAD_H
