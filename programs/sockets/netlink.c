// SPDX-License-Identifier: Apache-2.0
// programs/sockets/netlink.c - the routes of the program's host: one to the network of each
// interface, and one to each of its own addresses.
//
// The program has one end of a pair of local sockets. The library reads its requests from the other
// end when the program receives, and writes the answers there.

#include "programs/sockets/netlink.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "programs/process/descriptors.h"
#include "programs/system.h"

#define REQUEST_BYTES 4096u
#define ANSWER_BYTES 8192u // of one message; the kernel's have at least 8 KiB of room
#define V4_BYTES 4u
#define V6_BYTES 16u

int netlink_open(void)
{
    int ends[2];
    if (system_call(SYS_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return -1;
    }
    endpoint_t *socket = endpoint_create(ends[0], ENDPOINT_NETLINK);
    if (socket == NULL) {
        system_call(SYS_close, ends[0]);
        system_call(SYS_close, ends[1]);
        return -1;
    }
    socket->signal_fd = descriptors_hide(ends[1]);
    return ends[0];
}

// An answer under construction.
typedef struct answer {
    uint32_t bytes;
    _Alignas(struct nlmsghdr) uint8_t text[ANSWER_BYTES];
} answer_t;

static void put_attribute(answer_t *answer, uint16_t type, const void *value, uint16_t bytes)
{
    const struct rtattr head = {.rta_len = (uint16_t)RTA_LENGTH(bytes), .rta_type = type};
    memcpy(answer->text + answer->bytes, &head, sizeof head);
    memcpy(answer->text + answer->bytes + RTA_LENGTH(0), value, bytes);
    answer->bytes += RTA_SPACE(bytes);
}

// Adds a route to the first `bits` of an address.
static void put_route(answer_t *answer, const struct nlmsghdr *request, unsigned int interface,
                      int family, const uint8_t *address, uint32_t bits, bool local)
{
    const uint16_t length = family == AF_INET ? V4_BYTES : V6_BYTES;
    const uint32_t begin = answer->bytes;
    const uint32_t table = local ? RT_TABLE_LOCAL : RT_TABLE_MAIN;
    const struct rtmsg route = {.rtm_family = (uint8_t)family,
                                .rtm_dst_len = (uint8_t)bits,
                                .rtm_table = (uint8_t)table,
                                .rtm_protocol = RTPROT_KERNEL,
                                .rtm_scope = local ? RT_SCOPE_HOST : RT_SCOPE_LINK,
                                .rtm_type = local ? RTN_LOCAL : RTN_UNICAST};
    uint8_t network[V6_BYTES] = {0};
    if (begin + NLMSG_SPACE(sizeof route) + 2 * RTA_SPACE(sizeof table) + RTA_SPACE(length) >
        sizeof answer->text) {
        return;
    }
    memcpy(network, address, bits / 8);
    answer->bytes += NLMSG_SPACE(sizeof route);
    put_attribute(answer, RTA_TABLE, &table, sizeof table);
    put_attribute(answer, RTA_DST, network, length);
    put_attribute(answer, RTA_OIF, &interface, sizeof interface);
    const struct nlmsghdr head = {.nlmsg_len = answer->bytes - begin,
                                  .nlmsg_type = RTM_NEWROUTE,
                                  .nlmsg_flags = NLM_F_MULTI,
                                  .nlmsg_seq = request->nlmsg_seq};
    memcpy(answer->text + begin, &head, sizeof head);
    memcpy(answer->text + begin + NLMSG_LENGTH(0), &route, sizeof route);
}

static void put_routes(answer_t *answer, const struct nlmsghdr *request, int family)
{
    struct ifaddrs *interfaces;
    if (getifaddrs(&interfaces) != 0) {
        return;
    }
    for (const struct ifaddrs *at = interfaces; at != NULL; at = at->ifa_next) {
        const bool v4 = at->ifa_addr->sa_family == AF_INET;
        // The address begins behind the port, and that of IPv6 behind the flow, too.
        const uint8_t *address =
            (const uint8_t *)at->ifa_addr + (v4 ? offsetof(struct sockaddr_in, sin_addr)
                                                : offsetof(struct sockaddr_in6, sin6_addr));
        const bool loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
        const unsigned int index = if_nametoindex(at->ifa_name);
        if (family == AF_UNSPEC || at->ifa_addr->sa_family == family) {
            put_route(answer, request, index, at->ifa_addr->sa_family, address,
                      8 * (v4 ? V4_BYTES : V6_BYTES), true);
            // The masks of getifaddrs(): 8 bits of IPv4, 64 of IPv6.
            put_route(answer, request, index, at->ifa_addr->sa_family, address, v4 ? 8 : 64,
                      loopback);
        }
    }
    freeifaddrs(interfaces);
}

// Writes the answers to a request: the routes and an end, or an error.
static void answer_one(int peer, const struct nlmsghdr *request, size_t bytes)
{
    const bool is_dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    answer_t answer = {0};
    if (request->nlmsg_type == RTM_GETROUTE && is_dump) {
        const uint8_t *family = (const uint8_t *)request + NLMSG_LENGTH(0);
        put_routes(&answer, request, bytes > NLMSG_LENGTH(0) ? *family : AF_UNSPEC);
        if (answer.bytes != 0) {
            system_call(SYS_sendto, peer, answer.text, answer.bytes, MSG_DONTWAIT, NULL, 0);
        }
    }
    const bool known = request->nlmsg_type == RTM_GETROUTE && is_dump;
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
    } end = {.error = {.error = known ? 0 : -EOPNOTSUPP, .msg = *request}};
    end.head = (struct nlmsghdr){.nlmsg_len = known ? NLMSG_LENGTH(sizeof(int)) : sizeof end,
                                 .nlmsg_type = known ? NLMSG_DONE : NLMSG_ERROR,
                                 .nlmsg_flags = known ? NLM_F_MULTI : 0,
                                 .nlmsg_seq = request->nlmsg_seq};
    system_call(SYS_sendto, peer, &end, end.head.nlmsg_len, MSG_DONTWAIT, NULL, 0);
}

void netlink_answer(const endpoint_t *socket)
{
    _Alignas(struct nlmsghdr) uint8_t text[REQUEST_BYTES];
    for (;;) {
        const long got = system_call(SYS_recvfrom, socket->signal_fd, text, sizeof text,
                                     MSG_DONTWAIT, NULL, NULL);
        if (got < (long)sizeof(struct nlmsghdr)) {
            return;
        }
        answer_one(socket->signal_fd, (const struct nlmsghdr *)(const void *)text, (size_t)got);
    }
}
