// SPDX-License-Identifier: Apache-2.0
// programs/spin/guards.c - int3 beside the path of a loop, which a thread meets when it leaves it.
//
// A guard stands where a conditional jump leads if it goes the other way. If that is a place on
// the path, too, the guard stands on the jump itself and decides; so it does on calls of functions
// whose addresses lie in memory. Loops with other jumps that depend on data have no guards.

#include "programs/spin/guards.h"

#include <string.h>

#include "programs/process/code.h"
#include "programs/spin/iterations.h"

#define GUARDS_MAX 96u // of a loop
#define INT3 0xcc

typedef enum kind { LEAVES, DECIDES, CALLS } kind_t;

typedef struct guard {
    uintptr_t place;
    kind_t kind;
    uint8_t byte;
    // DECIDES and CALLS
    uintptr_t next;   // on the path
    uintptr_t behind; // the instruction
    uintptr_t target; // of a jump
    uint8_t condition;
    uint8_t base;     // the register of a call, as in gregset_t
    bool in_register; // its address; else it lies `distance` behind the register
    int32_t distance;
} guard_t;

typedef struct set {
    guard_t guards[GUARDS_MAX];
    uint32_t count; // 0: there are none
} set_t;

static set_t sets[GUARDS_LOOPS];
static set_t *planted;

static const guard_t *find(const set_t *set, uintptr_t place)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->guards[i].place == place) {
            return &set->guards[i];
        }
    }
    return NULL;
}

static bool has(const uintptr_t *path, uint32_t count, uintptr_t place)
{
    for (uint32_t i = 0; i < count; i++) {
        if (path[i] == place) {
            return true;
        }
    }
    return false;
}

// Adds a guard. Returns false if that is not possible.
static bool add(set_t *set, guard_t guard, guards_taken_fn *taken)
{
    const guard_t *other = find(set, guard.place);
    if (other != NULL) {
        return other->kind == guard.kind && (guard.kind == LEAVES || other->next == guard.next);
    }
    if (set->count == GUARDS_MAX || taken(guard.place)) {
        return false;
    }
    guard.byte = *(const uint8_t *)guard.place;
    set->guards[set->count++] = guard;
    return true;
}

// Reads the address of a conditional jump's target. Returns its length; 0: it is none.
static unsigned read_jump(uintptr_t place, uintptr_t *target)
{
    const uint8_t *code = (const uint8_t *)place;
    if ((code[0] & 0xf0) == 0x70) {
        *target = place + 2 + code[1] - (code[1] < 0x80 ? 0u : 0x100u);
        return 2;
    }
    if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80) {
        int32_t distance;
        memcpy(&distance, code + 2, sizeof distance);
        *target = place + 6 + (uintptr_t)(intptr_t)distance;
        return 6;
    }
    return 0;
}

// Guards a call or jump whose target is in a register or in memory.
static bool guard_indirect(set_t *set, uintptr_t place, uintptr_t next, guards_taken_fn *taken)
{
    static const uint8_t registers[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                        REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                        REG_R12, REG_R13, REG_R14, REG_R15};
    const uint8_t *code = (const uint8_t *)place;
    const bool extended = (*code & 0xf0) == 0x40;
    const unsigned high = extended ? (*code & 1u) << 3 : 0;
    code += extended;
    const uint8_t form = code[1];
    const unsigned mode = form >> 6;
    const unsigned base = form & 7;
    if (mode == 0 && base == 5) {
        return true; // beside the code: the table of functions of libraries
    }
    if ((form >> 3 & 7) != 2 || (mode != 3 && base == 4)) {
        return false;
    }
    const unsigned bytes = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    int32_t distance = 0;
    if (mode == 1) {
        distance = code[2] < 0x80 ? code[2] : code[2] - 0x100;
    } else if (mode == 2) {
        memcpy(&distance, code + 2, sizeof distance);
    }
    return add(set,
               (guard_t){.place = place,
                         .kind = CALLS,
                         .next = next,
                         .behind = (uintptr_t)(code + 2 + bytes),
                         .base = registers[base + high],
                         .in_register = mode == 3,
                         .distance = distance},
               taken);
}

// Adds the guards of an instruction of the path. Returns false if that is not possible.
static bool guard(set_t *set, const uintptr_t *path, uint32_t count, uint32_t at,
                  guards_taken_fn *taken)
{
    const uintptr_t place = path[at];
    const uintptr_t next = path[at + 1];
    const uint8_t *code = (const uint8_t *)place;
    uintptr_t target = 0;
    const unsigned length = read_jump(place, &target);
    if (length != 0) {
        const uintptr_t behind = place + length;
        const uintptr_t other = next == target ? behind : target;
        if (next != target && next != behind) {
            return false;
        }
        if (other == next) {
            return true;
        }
        if (!has(path, count, other)) {
            return add(set, (guard_t){.place = other, .kind = LEAVES}, taken);
        }
        return add(set,
                   (guard_t){.place = place,
                             .kind = DECIDES,
                             .next = next,
                             .behind = behind,
                             .target = target,
                             .condition = code[length == 2 ? 0 : 1] & 0xf},
                   taken);
    }
    const uint8_t *plain = code + ((code[0] & 0xf0) == 0x40);
    if (plain[0] == 0xff && ((plain[1] >> 3 & 7) == 2 || (plain[1] >> 3 & 7) == 4)) {
        return guard_indirect(set, place, next, taken);
    }
    if ((code[0] == 0xf2 || code[0] == 0x3e) && code[1] == 0xff) {
        return code[2] == 0x25; // beside the code; others are those of a switch
    }
    // Jumps by counters, and system calls.
    return (code[0] & 0xfc) != 0xe0 && !(code[0] == 0x0f && code[1] == 0x05);
}

void guards_learn(uint32_t loop, const uintptr_t *path, uint32_t count, guards_taken_fn *taken)
{
    guards_remove();
    set_t *set = &sets[loop];
    set->count = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        if (!guard(set, path, count, i, taken)) {
            set->count = 0;
            return;
        }
    }
}

bool guards_plant(uint32_t loop)
{
    static const uint8_t int3 = INT3;
    set_t *set = &sets[loop];
    if (planted == set || set->count == 0) {
        return set->count != 0;
    }
    guards_remove();
    planted = set;
    for (uint32_t i = 0; i < set->count; i++) {
        const guard_t *guard = &set->guards[i];
        if (*(const volatile uint8_t *)guard->place != guard->byte ||
            !code_write((const void *)guard->place, &int3, 1)) {
            guards_remove();
            set->count = 0;
            return false;
        }
    }
    return true;
}

void guards_remove(void)
{
    const set_t *set = planted;
    planted = NULL;
    for (uint32_t i = 0; set != NULL && i < set->count; i++) {
        if (*(const volatile uint8_t *)set->guards[i].place == INT3) {
            (void)code_write((const void *)set->guards[i].place, &set->guards[i].byte, 1);
        }
    }
}

void guards_forget(void)
{
    guards_remove();
    for (uint32_t i = 0; i < GUARDS_LOOPS; i++) {
        sets[i].count = 0;
    }
}

// Does a call whose address is that of before.
static bool call(const guard_t *guard, greg_t *registers)
{
    uintptr_t address = (uintptr_t)registers[guard->base];
    if (!guard->in_register) {
        const void *place = (const void *)(address + (uintptr_t)(intptr_t)guard->distance);
        memcpy(&address, place, sizeof address);
    }
    if (address != guard->next) {
        return false;
    }
    registers[REG_RSP] -= (greg_t)sizeof guard->behind;
    memcpy((void *)(uintptr_t)registers[REG_RSP], &guard->behind, sizeof guard->behind);
    return true;
}

guards_result_t guards_meet(greg_t *registers)
{
    const uintptr_t place = (uintptr_t)registers[REG_RIP] - 1;
    const guard_t *guard = planted == NULL ? NULL : find(planted, place);
    if (guard == NULL) {
        return GUARDS_NONE;
    }
    bool passed = false;
    if (guard->kind == DECIDES) {
        const bool taken = iteration_jumps(guard->condition, (uint64_t)registers[REG_EFL]);
        passed = guard->next == (taken ? guard->target : guard->behind);
    } else if (guard->kind == CALLS) {
        passed = call(guard, registers);
    }
    registers[REG_RIP] = (greg_t)(passed ? guard->next : place);
    if (!passed) {
        guards_remove();
    }
    return passed ? GUARDS_PASSED : GUARDS_LEFT;
}
