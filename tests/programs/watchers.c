// SPDX-License-Identifier: Apache-2.0
// tests/programs/watchers.c - processes that wait for events of a port, for test_events.sh.
//
// The program opens the device and forks a child, which opens it, too, and has a copy of the first
// context. Each prints the events of its own context. Its link goes down and up again.
#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ibv_context *open_device(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    return list == NULL || list[0] == NULL ? NULL : ibv_open_device(list[0]);
}

// Prints two events. Returns the number of those that failed.
static int watch(const char *name, struct ibv_context *context)
{
    int failures = context == NULL ? 2 : 0;
    for (int i = 0; i < 2 && failures == 0; i++) {
        struct ibv_async_event event;
        if (ibv_get_async_event(context, &event) != 0) {
            failures++;
            break;
        }
        printf("%s: %s\n", name, ibv_event_type_str(event.event_type));
        ibv_ack_async_event(&event);
    }
    fflush(stdout);
    return failures;
}

int main(void)
{
    struct ibv_context *context = open_device();
    const pid_t child = fork();
    if (child == 0) {
        _exit(watch("child", open_device()));
    }
    const int failures = watch("parent", context);
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? failures + WEXITSTATUS(status)
                                                                    : 1;
}
