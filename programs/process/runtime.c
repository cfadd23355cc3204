// SPDX-License-Identifier: Apache-2.0
// programs/process/runtime.c - programs whose runtime makes system calls past the C library.

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "programs/parts.h"
#include "programs/turn.h"

#define ALIGNED(bytes) (((bytes) + 3) & ~(size_t)3)

// Returns true if notes of the program are of Go's linker.
static bool has_go_note(const char *at, size_t bytes)
{
    ElfW(Nhdr) note;
    for (const char *end = at + bytes; at + sizeof note < end;
         at += sizeof note + ALIGNED(note.n_namesz) + ALIGNED(note.n_descsz)) {
        memcpy(&note, at, sizeof note);
        if (note.n_namesz == 4 && memcmp(at + sizeof note, "Go\0", 4) == 0) {
            return true;
        }
    }
    return false;
}

void parts_refuse_runtime(void)
{
    const uintptr_t place = getauxval(AT_PHDR);
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)place;
    const size_t count = place == 0 ? 0 : getauxval(AT_PHNUM);
    uintptr_t base = 0;
    for (size_t i = 0; i < count; i++) {
        base = headers[i].p_type == PT_PHDR ? place - headers[i].p_vaddr : base;
    }
    for (size_t i = 0; i < count; i++) {
        if (headers[i].p_type == PT_NOTE &&
            has_go_note((const char *)(base + headers[i].p_vaddr), headers[i].p_memsz)) {
            turn_fail("the program was built by Go's own compiler, whose runtime makes system "
                      "calls past the C library, which cannot be simulated; gccgo (go build "
                      "-compiler gccgo) builds one that can");
        }
    }
}
