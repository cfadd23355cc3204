// SPDX-License-Identifier: Apache-2.0
// programs/process/code.c - changes to the code of the program, by the kernel's file of its memory.

#include "programs/process/code.h"

#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <unistd.h>

#include "programs/process/descriptors.h"
#include "programs/system.h"

static int memory = -1;
static uintptr_t own_begin;
static uintptr_t own_end;
static const uint8_t *added_begin;
static const uint8_t *added_end;

bool code_write(const void *code, const void *bytes, size_t count)
{
    if (memory < 0) {
        memory = descriptors_hide(
            (int)system_call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC));
    }
    return memory >= 0 &&
           system_call(SYS_pwrite64, memory, bytes, count, (uintptr_t)code) == (long)count;
}

void code_forked(void)
{
    if (memory >= 0) {
        descriptors_close(memory);
        memory = -1;
        (void)code_write(NULL, NULL, 0);
    }
}

// Notes where the object lies that contains this function.
static int find_own(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
        const uintptr_t end = begin + segment->p_memsz;
        if (segment->p_type == PT_LOAD && (uintptr_t)find_own >= begin &&
            (uintptr_t)find_own < end) {
            own_begin = begin;
            own_end = end;
            return 1;
        }
    }
    return 0;
}

// The linker sets both for CODE_OF_PROGRAM.
extern const uint8_t forwarders_begin[] __asm__("__start_forwarders")
    __attribute__((visibility("hidden")));
extern const uint8_t forwarders_end[] __asm__("__stop_forwarders")
    __attribute__((visibility("hidden")));

bool code_is_own(const void *code)
{
    if (own_end == 0) {
        (void)dl_iterate_phdr(find_own, NULL);
    }
    const uint8_t *at = code;
    if (at >= added_begin && at < added_end) {
        return true;
    }
    return (uintptr_t)code >= own_begin && (uintptr_t)code < own_end &&
           (at < forwarders_begin || at >= forwarders_end);
}

void code_add_own(const void *begin, const void *end)
{
    added_begin = begin;
    added_end = end;
}
