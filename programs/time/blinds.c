// SPDX-License-Identifier: Apache-2.0
// programs/time/blinds.c - blinds: while they are closed, a program sees nothing but clocks.
//
// Pages of registered memory may not be touched, which raises SIGSEGV, and each system call raises
// SIGSYS (Linux's syscall user dispatch, from 5.11 on).

#include "programs/time/blinds.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "programs/process/signals.h"
#include "programs/system.h"
#include "programs/turn.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

#define PAGE_BYTES ((uintptr_t)4096)
#define RANGES 16u
#define STACK_BYTES ((uintptr_t)1 << 16) // below a stack's end that is in use
#define CALL_BYTES 2                     // of the instruction
#define DISPATCHED 2                     // si_code; SYS_USER_DISPATCH in new headers

typedef struct range {
    uint32_t handle;
    uintptr_t begin;
    uintptr_t end;
} range_t;

volatile bool blinds_on;

static range_t ranges[RANGES];
static uint32_t range_count;
static uint32_t others; // that found no room
static bool possible;
static volatile char selector; // 1: system calls raise signals

void blinds_add(uint32_t handle, uintptr_t address, size_t length)
{
    if (range_count == RANGES) {
        others++;
        return;
    }
    const uintptr_t end = (address + length + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    ranges[range_count++] =
        (range_t){.handle = handle, .begin = address & ~(PAGE_BYTES - 1), .end = end};
}

void blinds_remove(uint32_t handle)
{
    uint32_t i = 0;
    while (i < range_count && ranges[i].handle != handle) {
        i++;
    }
    if (i < range_count) {
        ranges[i] = ranges[--range_count];
    } else {
        others -= others != 0;
    }
}

static bool lies_in(const range_t *range, uintptr_t address, uintptr_t before)
{
    return range->begin < address && address < range->end + before;
}

// Returns true if the library needs the memory itself: the stack, or variables of the thread.
static bool is_needed(const range_t *range)
{
    return lies_in(range, (uintptr_t)__builtin_frame_address(0), STACK_BYTES) ||
           lies_in(range, (uintptr_t)&errno, PAGE_BYTES);
}

// Returns false if the kernel refuses that, as it does for pages that are gone.
static bool protect(int protection)
{
    bool done = true;
    for (uint32_t i = 0; i < range_count; i++) {
        done = system_call(SYS_mprotect, ranges[i].begin, ranges[i].end - ranges[i].begin,
                           protection) == 0 &&
               done;
    }
    return done;
}

void blinds_open(void)
{
    if (!blinds_on) {
        return;
    }
    const int error = errno;
    selector = 0; // first: a signal may come here
    blinds_on = false;
    (void)protect(PROT_READ | PROT_WRITE);
    (void)system_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
    errno = error;
}

bool blinds_close(void)
{
    if (blinds_on) {
        return true;
    }
    for (uint32_t i = 0; i < range_count; i++) {
        if (is_needed(&ranges[i])) {
            return false;
        }
    }
    const int error = errno;
    selector = 0;
    if (others == 0 && possible &&
        system_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) ==
            0) {
        blinds_on = true;
        if (protect(PROT_NONE) && blinds_on) {
            selector = 1;
        } else { // pages are gone, or a handler of a signal has opened the blinds
            blinds_on = true;
            blinds_open();
        }
    }
    errno = error;
    return blinds_on;
}

bool blinds_touched(uintptr_t address)
{
    bool found = false;
    for (uint32_t i = 0; i < range_count && blinds_on; i++) {
        found = found || (ranges[i].begin <= address && address < ranges[i].end);
    }
    if (found) {
        turn_settle();
    }
    return found;
}

static bool on_call(siginfo_t *info, ucontext_t *context)
{
    if (info->si_code != DISPATCHED) {
        return false;
    }
    turn_settle();
    context->uc_mcontext.gregs[REG_RIP] -= CALL_BYTES; // makes the call again
    return true;
}

void blinds_begin(bool in_valgrind)
{
    possible = !in_valgrind;
    signals_own(SIGSYS, on_call);
}
