// SPDX-License-Identifier: Apache-2.0
// tests/programs/udp.c - a program that exchanges datagrams: `udp` answers three of them,
// `udp HOST` sends three in different ways.

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 7000

static void show_interfaces(int socket)
{
    struct ifreq entries[8];
    struct ifconf list = {.ifc_len = sizeof entries, .ifc_req = entries};
    if (ioctl(socket, SIOCGIFCONF, &list) != 0) {
        perror("SIOCGIFCONF");
    }
    for (size_t i = 0; i < (size_t)list.ifc_len / sizeof *entries; i++) {
        struct sockaddr_in mask;
        struct ifreq flags = entries[i];
        struct ifreq index = entries[i];
        struct ifreq netmask = entries[i];
        if (ioctl(socket, SIOCGIFFLAGS, &flags) != 0 || ioctl(socket, SIOCGIFINDEX, &index) != 0 ||
            ioctl(socket, SIOCGIFNETMASK, &netmask) != 0) {
            perror("SIOCGIF");
        }
        memcpy(&mask, &netmask.ifr_netmask, sizeof mask);
        printf("%s: index %d, mask %s%s\n", entries[i].ifr_name, index.ifr_ifindex,
               inet_ntoa(mask.sin_addr), (flags.ifr_flags & IFF_LOOPBACK) != 0 ? ", loopback" : "");
    }
}

static void serve(int socket)
{
    const struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    if (bind(socket, (const struct sockaddr *)&own, sizeof own) != 0) {
        perror("bind");
    }
    for (int i = 0; i < 3; i++) {
        char bytes[64];
        char name[64] = "?";
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        const ssize_t got =
            recvfrom(socket, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length);
        (void)getnameinfo((const struct sockaddr *)&from, length, name, sizeof name, NULL, 0, 0);
        printf("%zd bytes of %s: %.*s\n", got, name, (int)got, bytes);
        (void)sendto(socket, bytes, (size_t)got, 0, (const struct sockaddr *)&from, length);
    }
}

static void ask(int socket, const char *host)
{
    char answer[64];
    struct addrinfo *found;
    const struct addrinfo wish = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    if (getaddrinfo(host, "7000", &wish, &found) != 0) {
        return;
    }
    (void)sendto(socket, "one", 3, 0, found->ai_addr, found->ai_addrlen);
    printf("answer of %zd bytes\n", recv(socket, answer, sizeof answer, 0));
    struct iovec places[] = {{.iov_base = (char[]){"tw"}, .iov_len = 2},
                             {.iov_base = (char[]){"o."}, .iov_len = 2}};
    const struct msghdr message = {.msg_name = found->ai_addr,
                                   .msg_namelen = found->ai_addrlen,
                                   .msg_iov = places,
                                   .msg_iovlen = 2};
    (void)sendmsg(socket, &message, 0);
    printf("answer of %zd bytes, cut to 2\n", recv(socket, answer, 2, MSG_TRUNC));
    (void)connect(socket, found->ai_addr, found->ai_addrlen);
    (void)send(socket, "three", 5, 0);
    printf("answer of %zd bytes\n", read(socket, answer, sizeof answer));
    freeaddrinfo(found);
}

int main(int argc, char **argv)
{
    const int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    if (argc > 1) {
        ask(datagrams, argv[1]);
    } else {
        show_interfaces(datagrams);
        serve(datagrams);
    }
    return 0;
}
