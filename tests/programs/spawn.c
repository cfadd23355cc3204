// SPDX-License-Identifier: Apache-2.0
// tests/programs/spawn.c - children of posix_spawn() and popen(). Prints what they print and their
// ends; a child sleeps for 1 ms of simulated time. Another one answers by the C library's streams,
// 1 ms after each line. A third one has a timer in common with its parent.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void spawn(const char *script)
{
    char words[][8] = {"sh", "-c"};
    char *copy = strdup(script);
    char *const list[] = {words[0], words[1], copy, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t child = 0;
    int status = 0;
    char text[64] = "";
    if (pipe(ends) != 0) {
        exit(1);
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    const int error = posix_spawnp(&child, "sh", &actions, NULL, list, environ);
    close(ends[1]);
    const ssize_t got = error == 0 ? read(ends[0], text, sizeof text - 1) : 0;
    text[got < 0 ? 0 : got] = '\0';
    const int found = error == 0 && waitpid(child, &status, 0) == child;
    printf("spawn: error %d, child %d, \"%s\", status %d\n", error, found,
           strtok(text, "\n") == NULL ? "" : text, WEXITSTATUS(status));
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    free(copy);
}

static void answer_lines(void)
{
    char line[64];
    int error = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        usleep(1000);
        errno = 0;
        printf("answer to %s", line);
        fflush(stdout);
        error |= errno;
    }
    const int input = fileno(stdin);
    printf("error %d, input %d, output %d, ", error, input, fileno(stdout));
    printf("again %d\n", freopen("/dev/null", "r", stdin) == stdin); // flushed by the end
}

static void ask_lines(const char *program)
{
    int to[2];
    int from[2];
    char text[64];
    if (pipe(to) != 0 || pipe(from) != 0) {
        exit(1);
    }
    const pid_t child = fork();
    if (child == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        execl(program, program, "answers", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    const double before_ms = now_ms();
    for (int i = 0; i < 3; i++) {
        const int length = snprintf(text, sizeof text, "line %d\n", i);
        ssize_t got = write(to[1], text, (size_t)length);
        got = read(from[0], text, sizeof text);
        printf("%.*s", (int)got, text);
    }
    const double took_ms = now_ms() - before_ms;
    close(to[1]);
    printf("%s%.*s",
           took_ms > 3 && took_ms < 3.1 ? "three lines took 3 ms\n"
                                        : "three lines took another time\n",
           (int)read(from[0], text, sizeof text), text);
    close(from[0]);
    (void)waitpid(child, NULL, 0);
}

// Reads a timer that a child has, too, while the child sleeps and wakes.
static void share_timer(void)
{
    const struct itimerspec each = {{0, 1000000}, {0, 1000000}};
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct pollfd ready = {.fd = timer, .events = POLLIN};
    uint64_t sum = 0;
    int reads = 0;
    if (timerfd_settime(timer, 0, &each, NULL) != 0 || fork() == 0) {
        for (int i = 0; i < 50; i++) {
            usleep(300);
        }
        _exit(0);
    }
    for (int i = 0; i < 10; i++) {
        uint64_t expirations = 0;
        reads += poll(&ready, 1, -1) == 1 &&
                 read(timer, &expirations, sizeof expirations) == sizeof expirations;
        sum += expirations;
    }
    printf("timer of two processes: %d reads, %d expirations\n", reads, (int)sum);
    close(timer);
    (void)wait(NULL);
}

int main(int count, char **arguments)
{
    char line[64] = "";
    if (count > 1) {
        answer_lines();
        return 0;
    }
    char *none[] = {line, NULL};
    pid_t child;
    spawn("echo spawned; exit 3");
    ask_lines(arguments[0]);
    share_timer();
    printf("missing: %d\n", posix_spawn(&child, "/nowhere/at/all", NULL, NULL, none, environ));
    const double before_ms = now_ms();
    // NOLINTNEXTLINE(cert-env33-c)
    FILE *in = popen("sleep 0.001; cat /proc/sys/kernel/hostname; exit 4", "r");
    if (in == NULL || fgets(line, sizeof line, in) == NULL) {
        return 1;
    }
    const int status = pclose(in);
    line[strcspn(line, "\n")] = '\0';
    printf("popen: \"%s\", status %d, %s\n", line, WEXITSTATUS(status),
           now_ms() - before_ms >= 1 ? "after 1 ms" : "at once");
    fflush(stdout);
    // NOLINTNEXTLINE(cert-env33-c)
    FILE *out = popen("cat", "w");
    if (out == NULL) {
        return 1;
    }
    fprintf(out, "written to cat\n");
    return pclose(out) == 0 ? 0 : 1;
}
