// SPDX-License-Identifier: Apache-2.0
// programs/sockets/netlink.c - the interfaces, addresses and routes of the program's host: a route
// to the network of each interface, and one to each of its own addresses.
//
// The program has one end of a pair of local sockets. The library reads its requests from the other
// end when the program receives, and writes the answers there.

#include "programs/sockets/netlink.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "programs/process/descriptors.h"
#include "programs/system.h"

#define REQUEST_BYTES 4096u
#define ANSWER_BYTES 8192u // of one message; the kernel's have at least 8 KiB of room
#define V4_BYTES 4u
#define V6_BYTES 16u
#define MAC_BYTES 6u
// These stand in linux/if.h, which does not go with net/if.h: RFC 2863's states, and a flag.
#define OPERATION_UNKNOWN 0
#define OPERATION_UP 6
#define LOWER_UP 0x10000u

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
    if (answer->bytes + RTA_SPACE(bytes) > sizeof answer->text) {
        return;
    }
    memcpy(answer->text + answer->bytes, &head, sizeof head);
    memcpy(answer->text + answer->bytes + RTA_LENGTH(0), value, bytes);
    answer->bytes += RTA_SPACE(bytes);
}

// Begins a message of a list, whose body has this size. Returns its place.
static uint32_t begin(answer_t *answer, uint32_t bytes)
{
    const uint32_t place = answer->bytes;
    answer->bytes += NLMSG_SPACE(bytes);
    return place;
}

// Ends the message, behind whose body all attributes stand.
static void end(answer_t *answer, uint32_t place, const struct nlmsghdr *request, uint16_t type,
                const void *body, uint32_t bytes)
{
    const bool is_list = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    const struct nlmsghdr head = {.nlmsg_len = answer->bytes - place,
                                  .nlmsg_type = type,
                                  .nlmsg_flags = is_list ? NLM_F_MULTI : 0,
                                  .nlmsg_seq = request->nlmsg_seq,
                                  .nlmsg_pid = (uint32_t)getpid()};
    memcpy(answer->text + place, &head, sizeof head);
    memcpy(answer->text + place + NLMSG_LENGTH(0), body, bytes);
}

// Adds a route to the first `bits` of an address.
static void put_route(answer_t *answer, const struct nlmsghdr *request, unsigned int interface,
                      int family, const uint8_t *address, uint32_t bits, bool local)
{
    const uint16_t length = family == AF_INET ? V4_BYTES : V6_BYTES;
    const uint32_t table = local ? RT_TABLE_LOCAL : RT_TABLE_MAIN;
    const struct rtmsg route = {.rtm_family = (uint8_t)family,
                                .rtm_dst_len = (uint8_t)bits,
                                .rtm_table = (uint8_t)table,
                                .rtm_protocol = RTPROT_KERNEL,
                                .rtm_scope = local ? RT_SCOPE_HOST : RT_SCOPE_LINK,
                                .rtm_type = local ? RTN_LOCAL : RTN_UNICAST};
    uint8_t network[V6_BYTES] = {0};
    memcpy(network, address, bits / 8);
    const uint32_t place = begin(answer, sizeof route);
    put_attribute(answer, RTA_TABLE, &table, sizeof table);
    put_attribute(answer, RTA_DST, network, length);
    put_attribute(answer, RTA_OIF, &interface, sizeof interface);
    end(answer, place, request, RTM_NEWROUTE, &route, sizeof route);
}

// Adds an address of an interface.
static void put_address(answer_t *answer, const struct nlmsghdr *request,
                        const struct ifaddrs *interface, const uint8_t *address)
{
    const int family = interface->ifa_addr->sa_family;
    const bool v4 = family == AF_INET;
    const bool loopback = (interface->ifa_flags & IFF_LOOPBACK) != 0;
    const struct ifaddrmsg body = {.ifa_family = (uint8_t)family,
                                   .ifa_prefixlen = v4 ? 8 : 64,
                                   .ifa_flags = IFA_F_PERMANENT,
                                   .ifa_scope = loopback ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
                                   .ifa_index = if_nametoindex(interface->ifa_name)};
    const uint16_t bytes = v4 ? V4_BYTES : V6_BYTES;
    const uint32_t place = begin(answer, sizeof body);
    put_attribute(answer, IFA_ADDRESS, address, bytes);
    if (v4) {
        put_attribute(answer, IFA_LOCAL, address, bytes);
        put_attribute(answer, IFA_LABEL, interface->ifa_name,
                      (uint16_t)(strlen(interface->ifa_name) + 1));
    }
    end(answer, place, request, RTM_NEWADDR, &body, sizeof body);
}

// Adds an interface. Returns false if there is none with this index.
static bool put_link(answer_t *answer, const struct nlmsghdr *request, int descriptor,
                     unsigned int index)
{
    struct ifreq mtu;
    struct ifreq mac;
    struct ifreq flags;
    char name[IF_NAMESIZE];
    const uint32_t queue = 1000;
    if (if_indextoname(index, name) == NULL) {
        return false;
    }
    memcpy(mtu.ifr_name, name, sizeof name);
    mac = mtu;
    flags = mtu;
    (void)ioctl(descriptor, SIOCGIFMTU, &mtu);
    (void)ioctl(descriptor, SIOCGIFHWADDR, &mac);
    (void)ioctl(descriptor, SIOCGIFFLAGS, &flags);
    const bool loopback = mac.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK;
    const uint8_t state = loopback ? OPERATION_UNKNOWN : OPERATION_UP;
    const uint8_t broadcast[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const uint8_t none[MAC_BYTES] = {0};
    const struct ifinfomsg body = {.ifi_type = mac.ifr_hwaddr.sa_family,
                                   .ifi_index = (int)index,
                                   .ifi_flags = (unsigned short)flags.ifr_flags | LOWER_UP};
    const uint32_t place = begin(answer, sizeof body);
    put_attribute(answer, IFLA_IFNAME, name, (uint16_t)(strlen(name) + 1));
    put_attribute(answer, IFLA_TXQLEN, &queue, sizeof queue);
    put_attribute(answer, IFLA_OPERSTATE, &state, sizeof state);
    put_attribute(answer, IFLA_MTU, &mtu.ifr_mtu, sizeof mtu.ifr_mtu);
    put_attribute(answer, IFLA_ADDRESS, mac.ifr_hwaddr.sa_data, MAC_BYTES);
    put_attribute(answer, IFLA_BROADCAST, loopback ? none : broadcast, MAC_BYTES);
    end(answer, place, request, RTM_NEWLINK, &body, sizeof body);
    return true;
}

// Returns the interface that a question names by its index or its name; 0: none.
static unsigned int link_of(const struct nlmsghdr *request, size_t bytes)
{
    const uint8_t *text = (const uint8_t *)request;
    const struct ifinfomsg *body = (const void *)(text + NLMSG_LENGTH(0));
    if (bytes < NLMSG_LENGTH(sizeof *body)) {
        return 0;
    }
    struct rtattr head;
    for (size_t at = NLMSG_SPACE(sizeof *body); at + sizeof head <= bytes;
         at += RTA_ALIGN(head.rta_len)) {
        memcpy(&head, text + at, sizeof head);
        if (head.rta_len < sizeof head || at + head.rta_len > bytes) {
            break;
        }
        if (head.rta_type == IFLA_IFNAME || head.rta_type == IFLA_ALT_IFNAME) {
            char name[IF_NAMESIZE] = "";
            const size_t size = head.rta_len - RTA_LENGTH(0);
            memcpy(name, text + at + RTA_LENGTH(0), size < sizeof name ? size : sizeof name - 1);
            return if_nametoindex(name);
        }
    }
    return (unsigned int)body->ifi_index;
}

// Adds what a list of addresses or routes has of each interface.
static void put_list(answer_t *answer, const struct nlmsghdr *request, int family)
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
        if (family != AF_UNSPEC && at->ifa_addr->sa_family != family) {
            continue;
        }
        if (request->nlmsg_type == RTM_GETADDR) {
            put_address(answer, request, at, address);
            continue;
        }
        put_route(answer, request, index, at->ifa_addr->sa_family, address,
                  8 * (v4 ? V4_BYTES : V6_BYTES), true);
        // The masks of getifaddrs(): 8 bits of IPv4, 64 of IPv6.
        put_route(answer, request, index, at->ifa_addr->sa_family, address, v4 ? 8 : 64, loopback);
    }
    freeifaddrs(interfaces);
}

// Adds the answers to a request. Returns the error.
static int put_answers(answer_t *answer, const struct nlmsghdr *request, size_t bytes)
{
    const bool is_list = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    const uint8_t *family = (const uint8_t *)request + NLMSG_LENGTH(0);
    switch (request->nlmsg_type) {
    case RTM_GETADDR:
    case RTM_GETROUTE:
        if (is_list) {
            put_list(answer, request, bytes > NLMSG_LENGTH(0) ? *family : AF_UNSPEC);
        }
        return is_list ? 0 : EOPNOTSUPP;
    case RTM_GETLINK:
        if (!is_list) {
            return put_link(answer, request, -1, link_of(request, bytes)) ? 0 : ENODEV;
        }
        for (unsigned int index = 1; put_link(answer, request, -1, index); index++) {
        }
        return 0;
    default:
        return EOPNOTSUPP;
    }
}

// Writes the answers to a request, and behind a list its end; or an error.
static void answer_one(int peer, const struct nlmsghdr *request, size_t bytes)
{
    answer_t answer = {0};
    const int error = put_answers(&answer, request, bytes);
    const bool is_list = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    if (answer.bytes != 0) {
        system_call(SYS_sendto, peer, answer.text, answer.bytes, MSG_DONTWAIT, NULL, 0);
    }
    if (error == 0 && !is_list) {
        return;
    }
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
    } last = {.error = {.error = -error, .msg = *request}};
    last.head = (struct nlmsghdr){.nlmsg_len = error == 0 ? NLMSG_LENGTH(sizeof(int)) : sizeof last,
                                  .nlmsg_type = error == 0 ? NLMSG_DONE : NLMSG_ERROR,
                                  .nlmsg_flags = error == 0 ? NLM_F_MULTI : 0,
                                  .nlmsg_seq = request->nlmsg_seq,
                                  .nlmsg_pid = (uint32_t)getpid()};
    system_call(SYS_sendto, peer, &last, last.head.nlmsg_len, MSG_DONTWAIT, NULL, 0);
}

void netlink_name(uint32_t process, struct sockaddr *address, socklen_t *bytes)
{
    const struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_pid = process};
    if (address != NULL) {
        memcpy(address, &name, *bytes < sizeof name ? *bytes : sizeof name);
        *bytes = sizeof name;
    }
}

bool netlink_has(int descriptor)
{
    const endpoint_t *endpoint = endpoint_of(descriptor);
    return endpoint != NULL && endpoint->kind == ENDPOINT_NETLINK;
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
