// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/computes.c - a program that test_program_threads.sh starts.
//
// Its loops compute: all registers but those for vectors, or all registers, are equal again and
// again, and no other thread has to act for the loops to end. The same loop then waits for one,
// and six processes hand on a turn by nothing but a number in common memory and sched_yield().
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUM 100000000
#define PROCESSES 6
#define ROUNDS 8

// Adds 1 to a number until it is `end`, or waits until it is `end` if `step` is 0.
__attribute__((noinline)) static void count(long *number, long step, long end)
{
    __asm__ volatile("1: add %1, (%0)\n"
                     "   pxor %%xmm0, %%xmm0\n"
                     "   movq %2, %%rax\n"
                     "   xorq (%0), %%rax\n"
                     "   movl $0, %%eax\n"
                     "   jne 1b\n"
                     :
                     : "r"(number), "r"(step), "r"(end)
                     : "rax", "xmm0", "memory", "cc");
}

static void *finish(void *number)
{
    usleep(50);
    atomic_store((_Atomic long *)number, SUM + 1);
    return NULL;
}

int main(void)
{
    const int all = PROT_READ | PROT_WRITE;
    long *number = mmap(NULL, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    atomic_int *turn = mmap(NULL, 4096, all, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    double sum = 0;
    while (sum < SUM) {
        sum += 1;
    }
    count(number, 1, SUM);
    printf("%g %ld\n", sum, *number);
    if (pthread_create(&thread, NULL, finish, number) != 0) {
        return 1;
    }
    count(number, 0, SUM + 1);
    (void)pthread_join(thread, NULL);
    printf("%ld\n", *number);
    fflush(stdout);
    for (int own = 0; own < PROCESSES; own++) {
        if (fork() == 0) {
            for (int round = 0; round < ROUNDS; round++) {
                while (atomic_load(turn) % PROCESSES != own) {
                    sched_yield();
                }
                atomic_fetch_add(turn, 1);
            }
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    printf("%d\n", atomic_load(turn));
    return atomic_load(turn) != PROCESSES * ROUNDS;
}
