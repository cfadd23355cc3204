// SPDX-License-Identifier: Apache-2.0
// tests/programs/misfortune.c - a program that meets the misfortune that its first argument names.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void endless(void)
{
    for (volatile uint64_t i = 0;; i++) {
    }
}

static void exit_badly(void)
{
    exit(3);
}

static void be_killed(void)
{
    kill(getpid(), SIGKILL);
}

static void crash(void)
{
    *(volatile int *)(uintptr_t)8 = 1;
}

static void send_segv(void)
{
    kill(getpid(), SIGSEGV);
    sleep(1);
}

static void raise_segv(void)
{
    raise(SIGSEGV);
    sleep(1);
}

static void send_ill(void)
{
    kill(getpid(), SIGILL);
    sleep(1);
}

// Leaves a child that computes for ever.
static void fork_endless(void)
{
    if (fork() == 0) {
        endless();
    }
    sleep(1);
}

// Leaves a child that sleeps for ever.
static void fork_sleeping(void)
{
    if (fork() == 0) {
        for (;;) {
            pause();
        }
    }
    sleep(1);
}

static void fork_raw(void)
{
    // Not through the C library: nothing sees it.
    if (syscall(SYS_fork) == 0) {
        endless();
    }
}

// Sleeps for 3 s of real time.
static void be_late(void)
{
    const struct timespec time = {.tv_sec = 3};
    long result = SYS_nanosleep;
    __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0) : "rcx", "r11", "memory");
}

// Makes a child that takes long before it is one for the library.
static void fork_late(void)
{
    (void)pthread_atfork(NULL, NULL, be_late);
    if (fork() == 0) {
        exit(0);
    }
    exit(wait(NULL) > 0 ? 0 : 7);
}

// Makes a child that is killed while it makes one itself.
static void fork_lost(void)
{
    if (fork() == 0) {
        (void)pthread_atfork(be_killed, NULL, NULL);
        (void)fork();
    }
    exit(wait(NULL) > 0 ? 0 : 7);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold_lock(void *unused)
{
    pthread_mutex_lock(&lock);
    usleep(1000);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

// Makes a child while a handler of fork() waits for another thread.
static void fork_locked(void)
{
    pthread_t thread;
    int status = -1;
    (void)pthread_atfork(take_lock, NULL, NULL);
    (void)pthread_create(&thread, NULL, hold_lock, NULL);
    usleep(10);
    if (fork() == 0) {
        exit(5);
    }
    (void)wait(&status);
    (void)pthread_join(thread, NULL);
    exit(WEXITSTATUS(status) == 5 ? 0 : 7);
}

static void close_descriptors(void)
{
    for (unsigned int i = 0; i < 65536; i++) {
        close((int)i);
    }
    sleep(1);
    exit(0);
}

static void close_raw(void)
{
    syscall(SYS_close_range, 0u, ~0u, 0u);
    (void)socket(AF_INET, SOCK_STREAM, 0);
}

static void ignore_end(void)
{
    atexit(endless);
    exit(0);
}

static void ignore_signals(void)
{
    for (int number = 1; number < 32; number++) {
        (void)signal(number, SIG_IGN);
    }
    for (;;) {
        sleep(1000);
    }
}

static void print_much(void)
{
    static char line[65536];
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\n';
    for (int i = 0; i < 16384; i++) {
        if (write(1, line, sizeof(line)) < 0) {
            perror("write");
            exit(5);
        }
    }
}

static void allocate_all(void)
{
    for (;;) {
        char *const block = malloc(1u << 20);
        if (block == NULL) {
            fputs("no memory\n", stderr);
            exit(6);
        }
        memset(block, 1, 1u << 20);
    }
}

static unsigned depth_max = ~0u;

static unsigned recurse(unsigned depth)
{
    volatile char frame[65536];
    frame[0] = frame[sizeof(frame) - 1] = (char)depth;
    return depth < depth_max ? recurse(depth + 1) + (unsigned)frame[0] : 0;
}

static void overflow(void)
{
    depth_max = recurse(0);
}

static void sleep_long(void)
{
    sleep(100000);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*meet)(void);
    } cases[] = {
        {"exit", exit_badly},
        {"killed", be_killed},
        {"crash", crash},
        {"segv", send_segv},
        {"raise", raise_segv},
        {"ill", send_ill},
        {"fork-endless", fork_endless},
        {"fork-sleeping", fork_sleeping},
        {"fork-raw", fork_raw},
        {"fork-late", fork_late},
        {"fork-locked", fork_locked},
        {"fork-lost", fork_lost},
        {"endless", endless},
        {"close", close_descriptors},
        {"close-raw", close_raw},
        {"ignore-end", ignore_end},
        {"ignore-signals", ignore_signals},
        {"print", print_much},
        {"allocate", allocate_all},
        {"recurse", overflow},
        {"sleep", sleep_long},
    };
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].meet();
            return 0;
        }
    }
    return 99;
}
