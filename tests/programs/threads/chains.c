// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/chains.c - threads that hand a turn on by flags, without a call.
//
// Three threads wait for each other in a ring, ROUNDS times for each form of a loop. Each turn adds
// to a sum, so a turn that two threads have at once, or none, makes it wrong. With LIBRARY, the
// file is a library with some of the forms, which the program loads: chains LIBRARY.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define THREADS 3
#define ROUNDS 100

typedef void turns_fn(int self);

typedef struct form {
    const char *name;
    turns_fn *turns;
    uint64_t begin; // the first flag
} form_t;

static volatile uint64_t flags[THREADS];
static volatile uint64_t sum;

static void clear(uint64_t begin)
{
    for (int i = 0; i < THREADS; i++) {
        flags[i] = i == 0 ? begin : 0;
    }
    sum = 0;
}

static void hand_on(int self, uint64_t value)
{
    sum += value;
    flags[(self + 1) % THREADS] = 1;
}

// A ring of flags that are 0 or 1: `loop` waits until flags[self] is not 0.
#define RING(name, loop)                                  \
    static void name(int self)                            \
    {                                                     \
        for (uint64_t k = 1; k <= ROUNDS; k++) {          \
            volatile uint64_t *const flag = &flags[self]; \
            loop;                                         \
            *flag = 0;                                    \
            hand_on(self, k);                             \
        }                                                 \
    }

static __attribute__((noinline)) uint64_t read_flag(int number)
{
    return flags[number];
}

RING(plain, while (*flag == 0){})
RING(
    pauses, while (*flag == 0) { __builtin_ia32_pause(); })
RING(calls, while (read_flag(self) == 0){})
RING(atomic, while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0){})
RING(swaps, while (!__sync_bool_compare_and_swap(flag, 1, 2)){})
RING(sets, __asm__ volatile("1: cmpq $0, (%0)\n sete %%al\n movzbl %%al, %%eax\n"
                            "test %%eax, %%eax\n jne 1b\n"
                            :
                            : "r"(flag)
                            : "eax", "memory", "cc"))
RING(selects, __asm__ volatile("1: mov (%0), %%rax\n test %%rax, %%rax\n mov $2, %%ecx\n"
                               "mov $3, %%edx\n cmove %%ecx, %%edx\n cmp $2, %%edx\n je 1b\n"
                               :
                               : "r"(flag)
                               : "eax", "ecx", "edx", "memory", "cc"))

// A ring of numbers that grow.
static void numbers(int self)
{
    for (uint64_t k = 1; k <= ROUNDS; k++) {
        while (flags[self] != k) {
        }
        sum += k;
        flags[(self + 1) % THREADS] = self == THREADS - 1 ? k + 1 : k;
    }
}

#ifdef COUNTS_TOO
// A loop that gives up, in which turns are counted.
static void counts(int self)
{
    for (uint64_t k = 1; k <= ROUNDS; k++) {
        uint64_t tries = 0;
        while (flags[self] == 0 && ++tries < 1000000000) {
        }
        flags[self] = 0;
        hand_on(self, tries < 1000000000 ? k : 0);
    }
}
#endif

#ifdef LIBRARY

const form_t loaded[] = {
    {"loaded", plain, 1},
    {"loaded-numbers", numbers, 1},
#ifdef COUNTS_TOO
    {"loaded-counts", counts, 1},
#endif
    {NULL, NULL, 0},
};

void loaded_begin(uint64_t begin)
{
    clear(begin);
}

uint64_t loaded_sum(void)
{
    return sum;
}

#else

static volatile int lock;

// Adds to the sum if it is the thread's turn.
static int take_turn(int self, uint64_t k)
{
    const int mine = flags[0] % THREADS == (uint64_t)self;
    if (mine) {
        sum += k;
        flags[0]++;
    }
    return mine;
}

// Locks that are taken again and again until it is the thread's turn.
static void swap_locks(int self)
{
    for (uint64_t k = 1; k <= ROUNDS; k++) {
        for (int mine = 0; !mine;) {
            while (!__sync_bool_compare_and_swap(&lock, 0, 1)) {
                __builtin_ia32_pause();
            }
            mine = take_turn(self, k);
            __sync_lock_release(&lock);
        }
    }
}

static void exchange_locks(int self)
{
    for (uint64_t k = 1; k <= ROUNDS; k++) {
        for (int mine = 0; !mine;) {
            while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0) {
            }
            mine = take_turn(self, k);
            __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
        }
    }
}

static void tickets(int self)
{
    (void)self;
    for (uint64_t k = 1; k <= ROUNDS; k++) {
        const uint64_t mine = __atomic_fetch_add(&flags[1], 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&flags[2], __ATOMIC_ACQUIRE) != mine) {
        }
        sum += k;
        __atomic_fetch_add(&flags[2], 1, __ATOMIC_RELEASE);
    }
}

static void barriers(int self)
{
    (void)self;
    for (uint64_t k = 1; k <= ROUNDS; k++) {
        const uint64_t generation = flags[0];
        if (__atomic_add_fetch(&flags[1], 1, __ATOMIC_SEQ_CST) == THREADS) {
            flags[1] = 0;
            sum += k * THREADS;
            flags[0] = generation + 1;
        } else {
            while (flags[0] == generation) {
            }
        }
    }
}

static const form_t forms[] = {
    {"plain", plain, 1},
    {"numbers", numbers, 1},
#ifdef COUNTS_TOO
    {"counts", counts, 1},
#endif
    {"pauses", pauses, 1},
    {"calls", calls, 1},
    {"atomic", atomic, 1},
    {"swaps", swaps, 1},
    {"sets", sets, 1},
    {"selects", selects, 1},
    {"swap-locks", swap_locks, 0},
    {"exchange-locks", exchange_locks, 0},
    {"tickets", tickets, 0},
    {"barriers", barriers, 0},
};

static const form_t *form;

static void *run(void *number)
{
    form->turns((int)(intptr_t)number);
    return NULL;
}

static void run_all(const form_t *which)
{
    pthread_t threads[THREADS];
    form = which;
    for (intptr_t i = 0; i < THREADS; i++) {
        (void)pthread_create(&threads[i], NULL, run, (void *)i);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static void print(uint64_t result)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%s %lu %ld%09ld\n", form->name, (unsigned long)result, (long)now.tv_sec, now.tv_nsec);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        clear(forms[i].begin);
        run_all(&forms[i]);
        print(sum);
    }
    // Twice, since the library may come to the same addresses again.
    for (int again = 0; argc > 1 && again < 2; again++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (library == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        const form_t *loaded = dlsym(library, "loaded");
        void (*begin)(uint64_t) = (void (*)(uint64_t))dlsym(library, "loaded_begin");
        uint64_t (*loaded_sum)(void) = (uint64_t(*)(void))dlsym(library, "loaded_sum");
        for (int i = 0; loaded[i].name != NULL; i++) {
            begin(loaded[i].begin);
            run_all(&loaded[i]);
            print(loaded_sum());
        }
        (void)dlclose(library);
    }
    return 0;
}

#endif
