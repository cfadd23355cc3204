// SPDX-License-Identifier: Apache-2.0
// apps/channel/gsi.h - the QP 1 of a NIC, over which the applications of a host exchange management
// datagrams with those of other hosts (InfiniBand Architecture Specification volume 1, 13.5).
#ifndef APPS_CHANNEL_GSI_H
#define APPS_CHANNEL_GSI_H

#include "apps/channel/mad.h"
#include "apps/endpoints.h"

typedef struct app__gsi app__gsi_t;

#define APP__GSI_BYTES (UINT64_C(2) * 256 * APP__MAD_BYTES) // room for what it sends and receives

// Takes a message that came from an interface. Returns false if it is another listener's.
typedef bool (*app__gsi_fn)(void *ctx, const app__mad_t *mad, uint32_t interface);

// Belongs to an application, and lies in its memory.
typedef struct app__gsi_listener {
    app__gsi_fn fn;
    void *ctx;
    bool last; // gets what no other takes. One for each NIC
    struct app__gsi_listener *next;
} app__gsi_listener_t;

// Adds a listener to the QP 1 of the endpoint's NIC. The first one makes the QP, with
// APP__GSI_BYTES of the host's memory from `address` on, in the region of `lkey`.
void app__gsi_open(app__endpoint_t *endpoint, uint64_t address, uint32_t lkey,
                   app__gsi_listener_t *listener);
// Removes a listener, and forgets the QP 1 with the last one: the run has ended.
void app__gsi_close(app__endpoint_t *endpoint, const app__gsi_listener_t *listener);
nic_qp_t *app__gsi_qp(const app__gsi_t *gsi);
// Sends a message to an interface of another NIC. It may be lost.
void app__gsi_send(app__gsi_t *gsi, uint32_t interface, const uint8_t bytes[APP__MAD_BYTES]);

#endif // APPS_CHANNEL_GSI_H
