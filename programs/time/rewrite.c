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
#define TRY_FROM 48 // bytes before an instruction, from which code is decoded
#define TRIES 16    // further ones

typedef enum verdict { UNKNOWN, IS_NONE, IS_INSTRUCTION } verdict_t;

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

// The functions of Capstone that are used, by their names without cs_.
typedef struct decoder {
    __typeof__(cs_open) *open;
    __typeof__(cs_option) *option;
    __typeof__(cs_malloc) *malloc;
    __typeof__(cs_disasm_iter) *disasm_iter;
    csh engine;
    cs_insn *instruction; // NULL: there is no Capstone
} decoder_t;

static const decoder_t *decoder(void)
{
    static decoder_t found;
    static bool tried;
    void *library = tried ? NULL : PROGRAM_NEXT(dlopen)("libcapstone.so.4", RTLD_NOW | RTLD_LOCAL);
    tried = true;
    if (library != NULL) {
#define FUNCTION(name)                                   \
    void *place_of_##name = dlsym(library, "cs_" #name); \
    memcpy(&found.name, &place_of_##name, sizeof found.name);
        FUNCTION(open)
        FUNCTION(option)
        FUNCTION(malloc)
        FUNCTION(disasm_iter)
#undef FUNCTION
        if (found.open != NULL && found.option != NULL && found.malloc != NULL &&
            found.disasm_iter != NULL &&
            found.open(CS_ARCH_X86, CS_MODE_64, &found.engine) == CS_ERR_OK) {
            (void)found.option(found.engine, CS_OPT_SKIPDATA, CS_OPT_ON); // tables
            found.instruction = found.malloc(found.engine);
        }
    }
    return found.instruction == NULL ? NULL : &found;
}

// Returns whether the bytes at `code` are the instruction that they look like. Code that is decoded
// from a wrong place on is right again after some instructions, so several places are tried.
static verdict_t judge(const uint8_t *code, const uint8_t *begin, const uint8_t *end)
{
    const decoder_t *const with = decoder();
    unsigned tries = 0;
    unsigned hits = 0;
    for (ptrdiff_t before = TRY_FROM; with != NULL && before < TRY_FROM + TRIES; before++) {
        const uint8_t *at = code - begin > before ? code - before : begin;
        uint64_t address = (uintptr_t)at;
        size_t left = (size_t)(end - at);
        while (at < code &&
               with->disasm_iter(with->engine, &at, &left, &address, with->instruction)) {
        }
        tries++;
        hits += at == code;
    }
    return tries == 0 ? UNKNOWN : hits * 2 > tries ? IS_INSTRUCTION : IS_NONE;
}

#else

static verdict_t judge(const uint8_t *code, const uint8_t *begin, const uint8_t *end)
{
    (void)code;
    (void)begin;
    (void)end;
    return UNKNOWN;
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
        const unsigned length = is_call                          ? 2
                                : !rewrites                      ? 0
                                : at[1] == 0x31                  ? 2
                                : at[1] == 0x01 && at[2] == 0xf9 ? 3
                                                                 : 0;
        const verdict_t verdict = length == 0 ? IS_NONE : judge(at, begin, end);
        if (verdict == IS_INSTRUCTION ||
            (verdict == UNKNOWN &&
             (is_call ? is_numbered(at, begin) : is_joined(at + length, end)))) {
            replace(at, length, is_call);
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
