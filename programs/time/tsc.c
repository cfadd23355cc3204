// SPDX-License-Identifier: Apache-2.0
// programs/time/tsc.c - the instructions rdtsc and rdtscp show simulated time.
//
// Linux can make them raise SIGSEGV (PR_SET_TSC). Some virtual machines accept that and do nothing,
// so it is tried at the start. Where it fails, the instructions are replaced by ud2. Each that has
// raised a signal is replaced by a jump, if that is possible.

#include "programs/time/tsc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "programs/process/signals.h"
#include "programs/time/blinds.h"
#include "programs/time/detour.h"
#include "programs/time/rewrite.h"
#include "programs/turn.h"

static volatile bool testing;
static volatile bool trapped; // the machine can trap the instructions
static bool in_valgrind;

uint64_t detour_read(void)
{
    (void)turn_enter_look("rdtsc");
    __extension__ typedef unsigned __int128 wide_t;
    return (uint64_t)((wide_t)turn_look_ps() * turn_shared->tsc_hz / TURN_PS_PER_S);
}

// Returns the length of the instruction that reads the counter at `code`, or 0.
static unsigned length_at(const uint8_t *code)
{
    if (code[0] == 0x0f && code[1] == 0x31) {
        return 2;
    }
    return code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

static const uint8_t *code_of(const ucontext_t *context)
{
    return (const uint8_t *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

// Does what the instruction does, with simulated time.
static void execute(ucontext_t *context, unsigned length)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!in_valgrind && detour_make(code_of(context), length)) {
        return; // to the jump
    }
    const uint64_t value = detour_read();
    registers[REG_RAX] = (greg_t)(value & UINT32_MAX);
    registers[REG_RDX] = (greg_t)(value >> 32);
    if (length == 3) {
        registers[REG_RCX] = 0;
    }
    registers[REG_RIP] += length;
}

// A general protection fault has no address and no code of a page. Other faults may be of blinds.
static bool on_segv(siginfo_t *info, ucontext_t *context)
{
    if (info->si_code != SI_KERNEL) {
        return blinds_touched((uintptr_t)info->si_addr);
    }
    const unsigned length = length_at(code_of(context));
    if (length == 0) {
        return false;
    }
    if (testing) {
        trapped = true;
        context->uc_mcontext.gregs[REG_RIP] += length;
        return true;
    }
    execute(context, length);
    return true;
}

// Makes the system call of an instruction that was replaced.
static void make_call(greg_t *registers)
{
    const int error = errno;
    const long result =
        syscall(registers[REG_RAX], registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                registers[REG_R10], registers[REG_R8], registers[REG_R9]);
    registers[REG_RAX] = result == -1 ? -errno : result;
    registers[REG_RIP] += 2;
    errno = error;
}

static bool on_ill(siginfo_t *info, ucontext_t *context)
{
    (void)info;
    if (rewrite_is_call(code_of(context))) {
        make_call(context->uc_mcontext.gregs);
        return true;
    }
    const unsigned length = rewrite_length(code_of(context));
    if (length == 0) {
        return false;
    }
    uint8_t vectors[512] __attribute__((aligned(16))); // valgrind does not keep them in a handler
    if (in_valgrind) {
        __asm__ volatile("fxsave64 %0" : "=m"(vectors));
    }
    execute(context, length);
    if (in_valgrind) {
        __asm__ volatile("fxrstor64 %0" : : "m"(vectors));
    }
    return true;
}

void tsc_trap(bool on)
{
    if (trapped) {
        (void)prctl(PR_SET_TSC, on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
    }
}

void tsc_begin(void)
{
    signals_own(SIGSEGV, on_segv);
    signals_own(SIGILL, on_ill);
    const char *preloaded = getenv("LD_PRELOAD");
    in_valgrind = preloaded != NULL && strstr(preloaded, "/vgpreload_core") != NULL;
    blinds_begin(in_valgrind);
    detour_begin();
    const char *way = getenv("ROCESIM_PROGRAM_TSC"); // for tests
    if ((way == NULL || strcmp(way, "rewrite") != 0) && !in_valgrind &&
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0) {
        testing = true;
        __asm__ volatile("rdtsc" : : : "eax", "edx");
        testing = false;
        if (!trapped) {
            (void)prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
        }
    }
    if (!trapped) {
        rewrite_counters();
    }
    rewrite_all();
}
