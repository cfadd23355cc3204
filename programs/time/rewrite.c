// SPDX-License-Identifier: Apache-2.0
// programs/time/rewrite.c - replaces instructions that read the time stamp counter by ud2, and
// system calls of libraries that make them by themselves.
//
// The bytes of rdtsc (0f 31), rdtscp (0f 01 f9) and syscall (0f 05) occur inside of other
// instructions, too. Only those are replaced that Capstone decodes as such; it is loaded if it is
// installed. Without it, those are beside which stands what compilers emit: the two halves of a
// time are joined, and the number of a system call was loaded just before.

#include "programs/time/rewrite.h"

#ifdef ROCESIM_HAS_CAPSTONE
#include <capstone/capstone.h>
#endif
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "programs/process/code.h"
#include "programs/turn.h"

#define SITES_MAX 4096u
#define LOOK_BYTES 96u // within which the halves are joined
#define CALL_FUTEX 0xca

typedef struct site {
    const uint8_t *code;
    unsigned length;
    bool is_call; // else it reads the counter
} site_t;

static site_t sites[SITES_MAX];
static unsigned site_count;
static bool rewrites; // instructions that read the counter

// OpenMP's library calls futex() without the C library.
static bool makes_calls(const char *object)
{
    return strstr(object, "/libgomp.so") != NULL;
}

static const site_t *find(const uint8_t *code)
{
    for (unsigned i = 0; i < site_count; i++) {
        if (sites[i].code == code) {
            return &sites[i];
        }
    }
    return NULL;
}

unsigned rewrite_length(const uint8_t *code)
{
    const site_t *site = find(code);
    return site == NULL || site->is_call ? 0 : site->length;
}

bool rewrite_is_call(const uint8_t *code)
{
    const site_t *site = find(code);
    return site != NULL && site->is_call;
}

// Returns true if a shift by 32 bits follows soon, or, in code without optimisation, the halves of
// the result are stored.
static bool is_joined(const uint8_t *code, const uint8_t *end)
{
    for (const uint8_t *at = code; at + 4 <= end && at < code + LOOK_BYTES; at++) {
        if ((at[0] == 0x48 || at[0] == 0x49) && at[1] == 0xc1 && (at[2] & 0xf8) == 0xe0 &&
            at[3] == 0x20) {
            return true;
        }
    }
    return code + 2 <= end && code[0] == 0x89 && (code[1] == 0x45 || code[1] == 0x55);
}

// Returns true if the number of the system call was loaded shortly before.
static bool is_numbered(const uint8_t *code, const uint8_t *begin)
{
    static const uint8_t number[4] = {CALL_FUTEX};
    begin = code - begin > (ptrdiff_t)LOOK_BYTES ? code - LOOK_BYTES : begin;
    for (const uint8_t *at = begin; at + sizeof number <= code; at++) {
        if (memcmp(at, number, sizeof number) == 0) {
            return true;
        }
    }
    return false;
}

static void replace(const uint8_t *code, unsigned length, bool is_call)
{
    static const uint8_t ud2[2] = {0x0f, 0x0b};
    if (site_count < SITES_MAX && find(code) == NULL && code_write(code, ud2, sizeof ud2)) {
        sites[site_count++] = (site_t){.code = code, .length = length, .is_call = is_call};
    }
}

#ifdef ROCESIM_HAS_CAPSTONE

// Decodes the segment and replaces what reads the counter or, with `calls`, what makes a system
// call. Returns false without Capstone.
static bool rewrite_decoded(const uint8_t *begin, const uint8_t *end, bool calls)
{
    void *library = PROGRAM_NEXT(dlopen)("libcapstone.so.4", RTLD_NOW | RTLD_LOCAL);
    csh engine = 0;
    if (library == NULL) {
        return false;
    }
#define FUNCTION(name)                          \
    __typeof__(name) *name##_ = NULL;           \
    void *found_##name = dlsym(library, #name); \
    memcpy(&name##_, &found_##name, sizeof name##_);
    FUNCTION(cs_open)
    FUNCTION(cs_option)
    FUNCTION(cs_malloc)
    FUNCTION(cs_disasm_iter)
    FUNCTION(cs_free)
    FUNCTION(cs_close)
#undef FUNCTION
    if (cs_open_ == NULL || cs_option_ == NULL || cs_malloc_ == NULL || cs_disasm_iter_ == NULL ||
        cs_free_ == NULL || cs_close_ == NULL ||
        cs_open_(CS_ARCH_X86, CS_MODE_64, &engine) != CS_ERR_OK) {
        return false;
    }
    (void)cs_option_(engine, CS_OPT_SKIPDATA, CS_OPT_ON); // tables between functions
    cs_insn *instruction = cs_malloc_(engine);
    size_t left = (size_t)(end - begin);
    uint64_t address = (uintptr_t)begin;
    const uint8_t *at = begin;
    while (instruction != NULL && cs_disasm_iter_(engine, &at, &left, &address, instruction)) {
        const bool is_call = instruction->id == X86_INS_SYSCALL;
        const bool reads = instruction->id == X86_INS_RDTSC || instruction->id == X86_INS_RDTSCP;
        if ((is_call && calls) || (reads && rewrites)) {
            replace((const uint8_t *)(uintptr_t)instruction->address, instruction->size, is_call);
        }
    }
    cs_free_(instruction, 1);
    (void)cs_close_(&engine);
    return true;
}

#else

static bool rewrite_decoded(const uint8_t *begin, const uint8_t *end, bool calls)
{
    (void)begin;
    (void)end;
    (void)calls;
    return false;
}

#endif

static void rewrite_segment(const uint8_t *begin, const uint8_t *end, bool calls)
{
    for (const uint8_t *at = begin; at + 3 <= end; at++) {
        at = memchr(at, 0x0f, (size_t)(end - at - 2));
        if (at == NULL) {
            return;
        }
        const bool is_call = calls && at[1] == 0x05;
        const unsigned length = !rewrites                        ? 0
                                : at[1] == 0x31                  ? 2
                                : at[1] == 0x01 && at[2] == 0xf9 ? 3
                                                                 : 0;
        if ((is_call || length != 0) && rewrite_decoded(begin, end, calls)) {
            return;
        }
        if (is_call && is_numbered(at, begin)) {
            replace(at, 2, true);
        } else if (length != 0 && is_joined(at + length, end)) {
            replace(at, length, false);
        }
    }
}

static int rewrite_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    const bool calls = makes_calls(object->dlpi_name);
    for (unsigned i = 0; i < object->dlpi_phnum && (calls || rewrites); i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            const uint8_t *begin =
                (const uint8_t *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr);
            if (!code_is_own(begin) && strstr(object->dlpi_name, "linux-vdso") == NULL) {
                rewrite_segment(begin, begin + segment->p_filesz, calls);
            }
        }
    }
    return 0;
}

void rewrite_counters(void)
{
    rewrites = true;
}

void rewrite_all(void)
{
    (void)dl_iterate_phdr(rewrite_object, NULL);
}
