// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/files/nvme_cm.h - connections of NVMe over RDMA: messages of the
// communication manager, and queue pairs with memory for capsules.
#ifndef APPS_MOONCAKE_ENGINE_FILES_NVME_CM_H
#define APPS_MOONCAKE_ENGINE_FILES_NVME_CM_H

#include "apps/mooncake/engine/control/station.h"
#include "apps/mooncake/engine/peers/context.h"
#include "kernel/bytes.h"

#define APP__NVME_DEPTH 128u        // commands of a queue
#define APP__NVME_SLOT_BYTES 2048u  // room for a capsule
#define APP__NVME_COMMAND_BYTES 64u // submission queue entry
#define APP__NVME_CONNECT_BYTES 1024u
#define APP__NVME_ANSWER_BYTES 16u // completion queue entry
#define APP__NVME_BLOCK_BYTES 512u // logical block

typedef enum app__nvme_opcode {
    APP__NVME_WRITE = 0x01,
    APP__NVME_READ = 0x02,
    APP__NVME_FABRICS = 0x7f,
} app__nvme_opcode_t;

// -- the communication manager (nvme_cm.c): management datagrams between QPs 1

typedef enum app__cm_attribute {
    APP__CM_REQUEST = 0x10,
    APP__CM_REJECT = 0x12,
    APP__CM_REPLY = 0x13,
    APP__CM_READY = 0x14,
    APP__CM_LEAVE = 0x15, // DREQ
    APP__CM_LEFT = 0x16,  // DREP
} app__cm_attribute_t;

typedef struct app__cm_message {
    app__cm_attribute_t attribute;
    uint32_t nic;       // of the receiving host
    uint32_t interface; // of the sender
    uint32_t local_id;  // the sender's
    uint32_t remote_id; // the receiver's; not in a request
    uint32_t qp_num;    // the sender's; of requests and replies
    uint16_t queue_id;  // of requests
} app__cm_message_t;

// Lets a station exchange messages over a NIC, from now on.
void app__cm_open(app__mc_station_t *station, uint32_t nic);
void app__cm_close(app__mc_station_t *station);
// Sends a message from a NIC to the NIC of an interface. message->nic is not read.
void app__cm_send(app__mc_station_t *station, uint32_t nic, uint32_t interface,
                  const app__cm_message_t *message);
// Returns an id that no other connection of the station has.
uint32_t app__cm_new_id(app__mc_station_t *station);

// A queue pair with a slot of memory for each capsule that is sent, and for each that is received.
typedef struct app__nvme_pair {
    app__mc_context_t *context;
    nic_qp_t *qp; // NULL: none
    nic_cq_t *cq;
    uint64_t address; // of its memory
} app__nvme_pair_t;

// Makes the queue pair, which calls `fn` with its completions.
void app__nvme_pair_make(app__nvme_pair_t *pair, app__mc_context_t *context, nic_cq_fn fn,
                         void *ctx);
// Connects it and posts its receives. False: the numbers cannot be connected.
bool app__nvme_pair_connect(app__nvme_pair_t *pair, uint32_t interface, uint32_t qp_num);
void app__nvme_pair_bury(app__nvme_pair_t *pair);
// Sends the capsule that is written into a slot.
void app__nvme_pair_send(app__nvme_pair_t *pair, uint32_t slot, const void *bytes, uint64_t size);
// Reads a received capsule and posts its slot again.
void app__nvme_pair_take(app__nvme_pair_t *pair, uint64_t slot, void *bytes, uint64_t size);
#define APP__NVME_RECEIVED (UINT64_C(1) << 62) // bit of the wr_id of receives; the rest is the slot
#define APP__NVME_SENT (UINT64_C(1) << 63)     // bit of the wr_id of sent capsules

#endif // APPS_MOONCAKE_ENGINE_FILES_NVME_CM_H
