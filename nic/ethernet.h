// SPDX-License-Identifier: Apache-2.0
// nic/ethernet.h - whole Ethernet frames of programs beside the queue pairs of a NIC.
#ifndef NIC_ETHERNET_H
#define NIC_ETHERNET_H

#include "net/ethernet.h"
#include "nic/nic.h"

SIM_C_BEGIN

// Takes a frame that has arrived, in an event of the NIC's host. bytes, in which ECN and TTL are
// those of the arrival, are valid during the call.
typedef void (*nic_ethernet_fn)(nic_t *nic, const uint8_t *bytes, uint32_t size_bytes, void *ctx);
// Lets a program take the whole frames that come for a NIC. Before the run. SIM_ERR_INVALID: the
// NIC cannot have them; the message says why.
SIM_MUST_CHECK sim_err_t nic_on_ethernet(nic_t *nic, nic_ethernet_fn fn, void *ctx,
                                         sim_message_t *message);
// Returns the maximum number of bytes of a frame without its FCS, which follows from the NIC's MTU.
uint32_t nic_ethernet_bytes_max(const nic_t *nic);
// Sends a frame to an interface, in an event of the NIC's host; it is padded to Ethernet's minimum.
// In its class, it goes before packets of queue pairs. Returns false, and counts the frame as
// dropped, if it would be behind more than waiting_max_bytes in the queue of its class.
bool nic_send_ethernet(nic_t *nic, uint32_t destination, const uint8_t *bytes, uint32_t size_bytes,
                       uint64_t waiting_max_bytes);

SIM_C_END

#endif // NIC_ETHERNET_H
