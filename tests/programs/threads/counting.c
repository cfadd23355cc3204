// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/counting.c - two threads that count while they wait for each other.
//
// Each sets a flag and waits for the other one's, ROUNDS times. The first thread sleeps before its
// first flag, the second one before its last one. The program prints how far the two counted, and
// the simulated time.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define BOUND 100000000

static volatile int first_flag;
static volatile int second_flag;
static uint64_t second_count;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *run_second(void *unused)
{
    for (int round = 1; round <= ROUNDS; round++) {
        uint64_t tries = 0;
        for (tries = 0; tries < BOUND && first_flag != round; tries++) {
        }
        second_count += tries;
        if (round == ROUNDS) {
            usleep(30);
        }
        second_flag = round;
    }
    return unused;
}

int main(void)
{
    const uint64_t begin_ns = now_ns();
    uint64_t first_count = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, run_second, NULL);
    usleep(50);
    for (int round = 1; round <= ROUNDS; round++) {
        uint64_t tries = 0;
        first_flag = round;
        for (tries = 0; tries < BOUND && second_flag != round; tries++) {
            __builtin_ia32_pause();
        }
        first_count += tries;
    }
    pthread_join(thread, NULL);
    printf("%lu %lu %lu\n", (unsigned long)first_count, (unsigned long)second_count,
           (unsigned long)(now_ns() - begin_ns));
    return 0;
}
