// SPDX-License-Identifier: Apache-2.0
// programs/verbs/ah.c - address handles.

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs/sockets/names.h"
#include "programs/verbs/objects.h"

int verbs_resolve_peer(const struct ibv_ah_attr *attr, uint8_t gid[16])
{
    if (attr->is_global != 0) {
        memcpy(gid, attr->grh.dgid.raw, 16);
        return attr->grh.sgid_index < PROGRAM_GIDS ? 0 : EINVAL;
    }
    // RoCE addresses peers by their GIDs only; drivers refuse others, too.
    if (!turn_has_lids()) {
        static bool told;
        if (!told) {
            turn_say(
                "rocesim: the program names a peer by its LID, without a GRH, which RoCE refuses "
                "(EINVAL); with 'programs: {infiniband: on}' ports have LIDs");
        }
        told = true;
        return EINVAL;
    }
    memset(gid, 0, 16); // a LID that nobody has
    if (attr->dlid != 0 && attr->dlid <= turn_shared->host_count) {
        memcpy(gid, turn_host(attr->dlid - 1u)->address, 16);
    }
    return 0;
}

// Returns true for the address of a multicast group.
static bool is_group(const uint8_t address[16])
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, v4, sizeof v4) == 0 ? address[12] >> 4 == 14 : address[0] == 0xff;
}

PROGRAM_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    static uint32_t handles;
    verbs_ah_t *ah = calloc(1, sizeof *ah);
    int error = ah == NULL            ? ENOMEM
                : attr->port_num != 1 ? EINVAL
                                      : verbs_resolve_peer(attr, ah->gid);
    // The kernel looks for the peer's MAC address, and finds none. That of a group follows from its
    // address.
    error = error == 0 && !is_group(ah->gid) && !names_is_host(ah->gid) ? EHOSTUNREACH : error;
    if (error != 0) {
        free(ah);
        errno = error;
        return NULL;
    }
    if (turn_enter("ibv_create_ah")) {
        turn_charge_call();
    }
    ah->base = (struct ibv_ah){.context = pd->context, .pd = pd, .handle = ++handles};
    ah->attr = *attr;
    ((verbs_pd_t *)pd)->address_handles++;
    return &ah->base;
}

PROGRAM_EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
    ((verbs_pd_t *)ah->pd)->address_handles--;
    free(ah);
    return 0;
}

// Copies the sender's address from the 40 bytes before a datagram: an IPv6 header, or an IPv4
// header in the last 20 of them. Returns the traffic class.
static uint8_t peer_of_grh(const struct ibv_grh *grh, struct ibv_global_route *route)
{
    const uint8_t *bytes = (const uint8_t *)grh;
    const uint8_t *v4 = bytes + 20;
    if (bytes[0] >> 4 != 6 && v4[0] >> 4 == 4) {
        memset(route->dgid.raw, 0, sizeof route->dgid.raw);
        memset(route->dgid.raw + 10, 0xff, 2);
        memcpy(route->dgid.raw + 12, v4 + 12, 4);
        return v4[1];
    }
    const uint32_t head = be32toh(grh->version_tclass_flow);
    route->dgid = grh->sgid;
    route->flow_label = head & 0xfffff;
    return (uint8_t)(head >> 20 & 0xff);
}

PROGRAM_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
                                       struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
    (void)context;
    memset(attr, 0, sizeof *attr);
    attr->port_num = port;
    if (turn_has_lids()) { // on Ethernet, wc->sl is no service level
        attr->dlid = wc->slid;
        attr->sl = wc->sl;
        attr->src_path_bits = wc->dlid_path_bits;
    }
    if ((wc->wc_flags & IBV_WC_GRH) == 0 || grh == NULL) {
        return 0;
    }
    attr->is_global = 1;
    attr->grh.traffic_class = peer_of_grh(grh, &attr->grh);
    attr->grh.hop_limit = 255;
    return 0;
}

PROGRAM_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
                                                    struct ibv_grh *grh, uint8_t port)
{
    struct ibv_ah_attr attr;
    if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) != 0) {
        return NULL;
    }
    return ibv_create_ah(pd, &attr);
}

int verbs_put_peer(program_post_t *record, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
    if (ah == NULL) {
        return EINVAL;
    }
    const struct ibv_ah_attr *attr = &((const verbs_ah_t *)(void *)ah)->attr;
    record->remote_qpn = qpn;
    record->remote_qkey = qkey;
    record->service_level = attr->sl;
    record->traffic_class = attr->grh.traffic_class;
    memcpy(record->remote_gid, ((const verbs_ah_t *)(void *)ah)->gid, sizeof record->remote_gid);
    return 0;
}

PROGRAM_EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *context,
                                               struct ibv_ah_attr *attr,
                                               uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vlan)
{
    (void)context;
    // The simulated network finds its way by addresses: the MAC address is made of the address.
    mac[0] = 2;
    mac[1] = 0;
    memcpy(mac + 2, attr->grh.dgid.raw + 12, 4);
    if (vlan != NULL) {
        *vlan = 0xffff;
    }
    return 0;
}
