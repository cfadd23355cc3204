// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams/routes.c - prints the routes of the host (AF_NETLINK), which UCX asks for.
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// The macros of the kernel cast so.
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wcast-align"

// Receives a message whose size it asks for first. Returns its size.
static ssize_t receive(int file, char *bytes)
{
    const ssize_t size = recv(file, NULL, 0, MSG_PEEK | MSG_TRUNC);
    return recv(file, bytes, 65536, 0) == size ? size : -1;
}

static void print_route(const struct nlmsghdr *head)
{
    const struct rtmsg *route = NLMSG_DATA(head);
    int bytes = (int)RTM_PAYLOAD(head);
    char text[64] = "";
    int interface = 0;
    for (const struct rtattr *at = RTM_RTA(route); RTA_OK(at, bytes); at = RTA_NEXT(at, bytes)) {
        if (at->rta_type == RTA_DST) {
            inet_ntop(route->rtm_family, RTA_DATA(at), text, sizeof text);
        } else if (at->rta_type == RTA_OIF) {
            memcpy(&interface, RTA_DATA(at), sizeof interface);
        }
    }
    printf("%s/%d interface %d type %d\n", text, route->rtm_dst_len, interface, route->rtm_type);
}

// Sends a request and prints the answers. Returns false if there is no end of them.
static int ask(int file, unsigned short type)
{
    static char bytes[65536] __attribute__((aligned(8)));
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
    } request = {.head = {sizeof request, type, NLM_F_REQUEST | NLM_F_DUMP, 7, 0},
                 .route = {.rtm_family = AF_INET}};
    if (send(file, &request, sizeof request, 0) != (ssize_t)sizeof request) {
        return 0;
    }
    for (;;) {
        ssize_t left = receive(file, bytes);
        struct nlmsghdr *head = (struct nlmsghdr *)(void *)bytes;
        for (; left > 0 && NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
            if (head->nlmsg_seq != 7) {
                return 0;
            }
            if (head->nlmsg_type == NLMSG_DONE) {
                return puts("done") >= 0;
            }
            if (head->nlmsg_type == NLMSG_ERROR) {
                return printf("error %d\n", ((struct nlmsgerr *)NLMSG_DATA(head))->error) >= 0;
            }
            print_route(head);
        }
        if (left < 0) {
            return 0;
        }
    }
}

int main(void)
{
    const struct sockaddr_nl own = {.nl_family = AF_NETLINK};
    const int file = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    if (file < 0 || bind(file, (const struct sockaddr *)&own, sizeof own) != 0) {
        return 1;
    }
    return ask(file, RTM_GETROUTE) && ask(file, RTM_GETNEIGH) ? 0 : 2;
}
