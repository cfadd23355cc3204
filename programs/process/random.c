// SPDX-License-Identifier: Apache-2.0
// programs/process/random.c - random bytes that are the same in every run.

#include "programs/process/random.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include "programs/turn.h"

#define KERNEL_WORDS 2u   // of random bytes that the kernel gives each program
#define PROCESS_SHIFT 40u // a process draws fewer numbers

static uint64_t drawn;

// Returns number `index` of the sequence of the seed (splitmix64).
static uint64_t number_at(uint64_t index)
{
    uint64_t number = turn_shared->seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

void random_fill(void *bytes, size_t count)
{
    // Each process of the program has numbers of its own.
    const uint64_t own = (uint64_t)(getpid() - random_pid()) << PROCESS_SHIFT;
    for (size_t at = 0; at < count;) {
        const uint64_t number = number_at(own + ++drawn);
        const size_t step = count - at < sizeof number ? count - at : sizeof number;
        memcpy((char *)bytes + at, &number, step);
        at += step;
    }
}

void random_begin(void)
{
    void *bytes;
    const unsigned long place = getauxval(AT_RANDOM);
    memcpy(&bytes, &place, sizeof bytes);
    for (size_t i = 0; i < KERNEL_WORDS && bytes != NULL; i++) {
        const uint64_t number = number_at(UINT64_MAX - 1 - i);
        memcpy((char *)bytes + i * sizeof number, &number, sizeof number);
    }
}

pid_t random_pid(void)
{
    return (pid_t)(1000 + number_at(0) % 30000);
}

PROGRAM_EXPORT ssize_t getrandom(void *bytes, size_t count, unsigned int flags)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(getrandom)(bytes, count, flags);
    }
    random_fill(bytes, count);
    return (ssize_t)count;
}

PROGRAM_EXPORT int getentropy(void *bytes, size_t count)
{
    if (!turn_on() || count > 256) {
        return PROGRAM_NEXT(getentropy)(bytes, count);
    }
    random_fill(bytes, count);
    return 0;
}

// Headers before glibc 2.36 do not declare this function.
uint32_t arc4random(void);
PROGRAM_EXPORT uint32_t arc4random(void)
{
    uint32_t number;
    (void)!getrandom(&number, sizeof number, 0);
    return number;
}

void arc4random_buf(void *bytes, size_t count);
PROGRAM_EXPORT void arc4random_buf(void *bytes, size_t count)
{
    (void)!getrandom(bytes, count, 0);
}

uint32_t arc4random_uniform(uint32_t limit);
PROGRAM_EXPORT uint32_t arc4random_uniform(uint32_t limit)
{
    return limit < 2 ? 0 : (uint32_t)((uint64_t)arc4random() * limit >> 32);
}

// std::random_device::_M_getval(), which asks the processor.
#define DEVICE "_ZNSt13random_device9_M_getvalEv"
uint32_t draw_from_device(void *device) __asm__(DEVICE);
PROGRAM_EXPORT uint32_t draw_from_device(void *device)
{
    uint32_t (*next)(void *) = NULL;
    if (turn_on()) {
        return arc4random();
    }
    void *found = dlsym(RTLD_NEXT, DEVICE);
    memcpy(&next, &found, sizeof next);
    return next(device);
}
