// SPDX-License-Identifier: Apache-2.0
// programs/time/rewrite.c - replaces instructions that read the time stamp counter by ud2.
//
// The bytes of rdtsc (0f 31) and rdtscp (0f 01 f9) occur inside of other instructions, too. Only
// those are replaced that Capstone decodes as such; it is loaded if it is installed. Without it,
// those are after which comes what compilers emit: the two halves of the result are joined.

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

typedef struct site {
    const uint8_t *code;
    unsigned length;
} site_t;

static site_t sites[SITES_MAX];
static unsigned site_count;
static bool rewrites;

bool rewrite_needed(void)
{
    return rewrites;
}

unsigned rewrite_length(const uint8_t *code)
{
    for (unsigned i = 0; i < site_count; i++) {
        if (sites[i].code == code) {
            return sites[i].length;
        }
    }
    return 0;
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

static void replace(const uint8_t *code, unsigned length)
{
    static const uint8_t ud2[2] = {0x0f, 0x0b};
    if (site_count < SITES_MAX && rewrite_length(code) == 0 && code_write(code, ud2, sizeof ud2)) {
        sites[site_count++] = (site_t){.code = code, .length = length};
    }
}

#ifdef ROCESIM_HAS_CAPSTONE

// Decodes the segment and replaces what reads the counter. Returns false without Capstone.
static bool rewrite_decoded(const uint8_t *begin, const uint8_t *end)
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
        if (instruction->id == X86_INS_RDTSC || instruction->id == X86_INS_RDTSCP) {
            replace((const uint8_t *)(uintptr_t)instruction->address, instruction->size);
        }
    }
    cs_free_(instruction, 1);
    (void)cs_close_(&engine);
    return true;
}

#else

static bool rewrite_decoded(const uint8_t *begin, const uint8_t *end)
{
    (void)begin;
    (void)end;
    return false;
}

#endif

static void rewrite_segment(const uint8_t *begin, const uint8_t *end)
{
    for (const uint8_t *at = begin; at + 3 <= end; at++) {
        at = memchr(at, 0x0f, (size_t)(end - at - 2));
        if (at == NULL) {
            return;
        }
        const unsigned length = at[1] == 0x31 ? 2 : at[1] == 0x01 && at[2] == 0xf9 ? 3 : 0;
        if (length != 0 && rewrite_decoded(begin, end)) {
            return;
        }
        if (length != 0 && is_joined(at + length, end)) {
            replace(at, length);
        }
    }
}

static int rewrite_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            const uint8_t *begin =
                (const uint8_t *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr);
            if (!code_is_own(begin) && strstr(object->dlpi_name, "linux-vdso") == NULL) {
                rewrite_segment(begin, begin + segment->p_filesz);
            }
        }
    }
    return 0;
}

void rewrite_all(void)
{
    rewrites = true;
    (void)dl_iterate_phdr(rewrite_object, NULL);
}
