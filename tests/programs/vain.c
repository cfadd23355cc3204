// SPDX-License-Identifier: Apache-2.0
// tests/programs/vain.c - programs that wait for what never comes, and do not stand still then.
//
// Usage: vain timer reads from a pipe that nobody writes to, beside a timer; vain connect HOST
// connects again and again to a port where nobody listens.
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void connect_in_vain(const char *host)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, "5000", &hints, &found) != 0) {
        return;
    }
    for (int error = -1; error != 0;) {
        const int made = socket(AF_INET, SOCK_STREAM, 0);
        error = connect(made, found->ai_addr, found->ai_addrlen);
        close(made);
        usleep(500);
    }
    freeaddrinfo(found);
}

int main(int count, char **arguments)
{
    const struct itimerspec each = {{.tv_nsec = 20000}, {.tv_nsec = 20000}};
    int ends[2];
    char byte;
    if (count > 2 && strcmp(arguments[1], "connect") == 0) {
        connect_in_vain(arguments[2]);
    } else if (timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0, &each, NULL) == 0 &&
               pipe(ends) == 0) {
        (void)read(ends[0], &byte, 1);
    }
    return 0;
}
