// SPDX-License-Identifier: Apache-2.0
// programs/time/rewrite.c - replaces instructions that read the time stamp counter by ud2.
//
// The bytes of rdtsc (0f 31) and rdtscp (0f 01 f9) occur inside of other instructions, too. Only
// those are replaced after which comes what compilers emit: the two halves of the result are
// joined.

#include "programs/time/rewrite.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "programs/process/code.h"
#include "programs/turn.h"

#define SITES_MAX 4096u
#define LOOK_BYTES 24u // within which the halves are joined

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

// Returns true if shl $32,%rdx follows soon, or, in code without optimisation, mov %eax or %edx.
static bool is_joined(const uint8_t *code, const uint8_t *end)
{
    static const uint8_t shift[] = {0x48, 0xc1, 0xe2, 0x20};
    for (const uint8_t *at = code; at + sizeof shift <= end && at < code + LOOK_BYTES; at++) {
        if (memcmp(at, shift, sizeof shift) == 0) {
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

static void rewrite_segment(const uint8_t *begin, const uint8_t *end)
{
    for (const uint8_t *at = begin; at + 3 <= end; at++) {
        at = memchr(at, 0x0f, (size_t)(end - at - 2));
        if (at == NULL) {
            return;
        }
        const unsigned length = at[1] == 0x31 ? 2 : at[1] == 0x01 && at[2] == 0xf9 ? 3 : 0;
        if (length != 0 && is_joined(at + length, end)) {
            replace(at, length);
        }
    }
}

// Returns true if this is the library itself, or the kernel's page of functions.
static bool is_left_out(const struct dl_phdr_info *object)
{
    return strstr(object->dlpi_name, "librocesim-programs") != NULL ||
           strstr(object->dlpi_name, "linux-vdso") != NULL;
}

static int rewrite_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; !is_left_out(object) && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            const uint8_t *begin =
                (const uint8_t *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr);
            rewrite_segment(begin, begin + segment->p_filesz);
        }
    }
    return 0;
}

void rewrite_all(void)
{
    rewrites = true;
    (void)dl_iterate_phdr(rewrite_object, NULL);
}
