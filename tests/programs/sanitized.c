// SPDX-License-Identifier: Apache-2.0
// tests/programs/sanitized.c - faults that AddressSanitizer finds: overflow, leak, memory; and
// stamps, a program for valgrind.
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t stamp(void)
{
    uint32_t low;
    uint32_t high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// Compares the time stamp counter with the clock, as perftest does. Sums are in vector registers
// while the counter is read.
static void compare_clocks(void)
{
    double ticks = 0;
    double times_ns = 0;
    for (int i = 1; i <= 100; i++) {
        const double begin_ns = now_ns();
        const uint64_t begin = stamp();
        double end_ns;
        do {
            end_ns = now_ns();
        } while (end_ns - begin_ns < 1000.0 * i);
        ticks += (double)(stamp() - begin);
        times_ns += end_ns - begin_ns;
    }
    printf("%.2f ticks a nanosecond\n", ticks / times_ns);
}

int main(int count, char **words)
{
    const char *const fault = count > 1 ? words[1] : "";
    struct ibv_device **const devices = ibv_get_device_list(NULL);
    if (devices == NULL) {
        return 2;
    }
    if (strcmp(fault, "overflow") == 0) {
        volatile char *memory = malloc(10);
        memory[count + 8] = 1; // one behind the end
        free((void *)(uintptr_t)memory);
    } else if (strcmp(fault, "leak") == 0) {
        char *volatile memory = malloc(10);
        printf("%d byte\n", memory != NULL);
        memory = NULL;
    } else if (strcmp(fault, "stamps") == 0) {
        compare_clocks();
    } else {
        for (;;) { // takes memory until it is ended
            char *volatile memory = malloc(1u << 20);
            memset(memory, 1, 1u << 20);
        }
    }
    ibv_free_device_list(devices);
    printf("done\n");
    return 0;
}
