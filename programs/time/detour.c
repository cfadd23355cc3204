// SPDX-License-Identifier: Apache-2.0
// programs/time/detour.c - jumps in the place of instructions that read the time stamp counter, and
// of some in loops that wait.
//
// A signal for each rdtsc costs several microseconds, as one for each wait of a loop does. A jump
// has 5 bytes and rdtsc 2, so the next instructions have to move: they are executed in a stub
// nearby, which jumps back behind them. That is done only where they can be made to mean the same
// at another address, and where no jump leads to one of them but the first.

#include "programs/time/detour.h"

#include <cpuid.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs/process/code.h"
#include "programs/spin/counting.h"
#include "programs/system.h"
#include "programs/turn.h"

#define SEGMENTS_MAX 256u
#define SITES_MAX 256u // for which an attempt is made
#define JUMP_BYTES 5u
#define INSTRUCTION_MAX 15u
#define POOLS_MAX 16u
#define POOL_BYTES 4096u
#define POOL_STEP UINT64_C(0x10000) // between two places that are tried for a pool
#define POOL_TRIES 4096u
#define SCAN_BYTES ((ptrdiff_t)1 << 20) // on both sides, in which jumps are looked for
#define REACH ((ptrdiff_t)0x7fff0000)   // of a jump

#define OSXSAVE (1u << 27) // of leaf 1 of cpuid

// Memory for stubs. It begins with the addresses of the routines that they call.
typedef struct pool {
    uint8_t *memory;
    size_t used;
} pool_t;

static const uint8_t jump[] = {0xe9};

#define ROUTINES 2u
#define ROUTINE_BYTES ((ptrdiff_t)sizeof(void *))

static struct {
    const uint8_t *begin;
    const uint8_t *end;
} segments[SEGMENTS_MAX];
static unsigned segment_count;
static const uint8_t *sites[SITES_MAX];
static unsigned site_count;
static pool_t pools[POOLS_MAX];
static unsigned pool_count;
static bool usable;

// Calls detour_read() and returns its halves in eax and edx. Changes no other register: those of
// vectors are saved, since the C library uses all of them. 0xe7 stands for x87, SSE, AVX and
// AVX-512.
__asm__(".pushsection .text\n"
        ".type detour_enter, @function\n"
        "detour_enter:\n"
        "    pushfq\n"
        "    andq $~0x100, (%rsp)\n" // the search for loops may have begun here, and has ended
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %rcx\n"
        "    push %rsi\n"
        "    push %rdi\n"
        "    push %r8\n"
        "    push %r9\n"
        "    push %r10\n"
        "    push %r11\n"
        "    mov %rsp, %rbp\n"
        "    cld\n"
        "    sub $2752, %rsp\n"
        "    and $-64, %rsp\n"
        "    xor %eax, %eax\n"
        "    lea 512(%rsp), %rdi\n" // the header has to be zero
        "    mov $8, %ecx\n"
        "    rep stosq\n"
        "    mov $0xe7, %eax\n"
        "    xor %edx, %edx\n"
        "    xsave64 (%rsp)\n"
        "    call detour_read\n"
        "    mov %rax, %rbx\n"
        "    mov $0xe7, %eax\n"
        "    xor %edx, %edx\n"
        "    xrstor64 (%rsp)\n"
        "    mov %rbx, %rdx\n"
        "    shr $32, %rdx\n"
        "    mov %ebx, %eax\n"
        "    mov %rbp, %rsp\n"
        "    pop %r11\n"
        "    pop %r10\n"
        "    pop %r9\n"
        "    pop %r8\n"
        "    pop %rdi\n"
        "    pop %rsi\n"
        "    pop %rcx\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    popfq\n"
        "    ret\n"
        ".size detour_enter, . - detour_enter\n"
        ".popsection\n");
extern const uint8_t detour_enter[] __attribute__((visibility("hidden")));

// Does the same for detour_pass(), which gets the registers in the order of gregset_t.
__asm__(".pushsection .text\n"
        ".type detour_enter_loop, @function\n"
        "detour_enter_loop:\n"
        "    pushfq\n"
        "    andq $~0x100, (%rsp)\n"
        "    push $0\n" // RIP
        "    push %rsp\n"
        "    push %rcx\n"
        "    push %rax\n"
        "    push %rdx\n"
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %rsi\n"
        "    push %rdi\n"
        "    push %r15\n"
        "    push %r14\n"
        "    push %r13\n"
        "    push %r12\n"
        "    push %r11\n"
        "    push %r10\n"
        "    push %r9\n"
        "    push %r8\n"
        "    mov %rsp, %rbx\n"
        "    cld\n"
        "    sub $2752, %rsp\n"
        "    and $-64, %rsp\n"
        "    xor %eax, %eax\n"
        "    lea 512(%rsp), %rdi\n"
        "    mov $8, %ecx\n"
        "    rep stosq\n"
        "    mov $0xe7, %eax\n"
        "    xor %edx, %edx\n"
        "    xsave64 (%rsp)\n"
        "    mov %rbx, %rdi\n"
        "    mov %rsp, %rsi\n" // the registers of vectors
        "    call detour_pass\n"
        "    mov $0xe7, %eax\n"
        "    xor %edx, %edx\n"
        "    xrstor64 (%rsp)\n"
        "    mov %rbx, %rsp\n"
        "    pop %r8\n"
        "    pop %r9\n"
        "    pop %r10\n"
        "    pop %r11\n"
        "    pop %r12\n"
        "    pop %r13\n"
        "    pop %r14\n"
        "    pop %r15\n"
        "    pop %rdi\n"
        "    pop %rsi\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    pop %rdx\n"
        "    pop %rax\n"
        "    pop %rcx\n"
        "    lea 16(%rsp), %rsp\n" // RSP, RIP
        "    popfq\n"
        "    ret\n"
        ".size detour_enter_loop, . - detour_enter_loop\n"
        ".popsection\n");
extern const uint8_t detour_enter_loop[] __attribute__((visibility("hidden")));

// -- where the code is

static int find_code(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum && segment_count < SEGMENTS_MAX; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uint8_t *begin = (const uint8_t *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 && !code_is_own(begin)) {
            segments[segment_count].begin = begin;
            segments[segment_count].end = begin + segment->p_filesz;
            segment_count++;
        }
    }
    return 0;
}

void detour_find_code(void)
{
    segment_count = 0;
    (void)dl_iterate_phdr(find_code, NULL);
}

void detour_begin(void)
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    usable = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & OSXSAVE) != 0 &&
             code_write(NULL, NULL, 0); // opens the file of the memory
    detour_find_code();
}

// -- whether a jump is possible

// Returns the length of a ModR/M byte and what belongs to it; 0: the operand depends on the address
// of the instruction.
static unsigned operand_length(const uint8_t *at)
{
    const unsigned mode = *at >> 6;
    const unsigned base = *at & 7;
    unsigned length = 1;
    if (mode == 3) {
        return length;
    }
    if (mode == 0 && base == 5) {
        return 0;
    }
    if (base == 4) {
        length += mode == 0 && (at[1] & 7) == 5 ? 5 : 1;
    }
    return length + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

// Returns the length of an instruction that means the same at any address: moves, shifts and simple
// arithmetic of registers, as they follow rdtsc. 0: it is another one.
static unsigned movable_length(const uint8_t *code)
{
    const unsigned prefix = (*code & 0xf0) == 0x40 ? 1 : 0;
    const uint8_t opcode = code[prefix];
    const unsigned operand = operand_length(code + prefix + 1);
    switch (opcode) {
    case 0x01: // add
    case 0x03:
    case 0x09: // or
    case 0x0b:
    case 0x29: // sub
    case 0x2b:
    case 0x31: // xor
    case 0x33:
    case 0x63: // movslq
    case 0x89: // mov
    case 0x8b:
    case 0x8d: // lea
        return operand == 0 ? 0 : prefix + 1 + operand;
    case 0xc1: // shifts
        return operand == 0 ? 0 : prefix + 1 + operand + 1;
    default:
        return 0;
    }
}

// Returns the length of the instructions that have to move to make room for a jump; 0: they cannot.
static unsigned moved_length(const uint8_t *code, unsigned length)
{
    unsigned bytes = 0;
    while (length + bytes < JUMP_BYTES) {
        const unsigned next = movable_length(code + length + bytes);
        if (next == 0) {
            return 0;
        }
        bytes += next;
    }
    return bytes;
}

// Returns true if there may be a jump to a byte from `target` on, and before `target_end`. Bytes
// that only look like a jump count, too.
static bool is_target(const uint8_t *target, const uint8_t *target_end, const uint8_t *begin,
                      const uint8_t *end)
{
    if (counting_overlaps(target, (unsigned)(target_end - target))) {
        return true;
    }
    const size_t width = (size_t)(target_end - target);
    begin = target > begin && target - begin > SCAN_BYTES ? target - SCAN_BYTES : begin;
    end = target < end && end - target > SCAN_BYTES ? target + SCAN_BYTES : end;
    // A distance is the end of its instruction, and counts from there.
    for (const uint8_t *at = begin + 1; at + sizeof(int32_t) <= end; at++) {
        int32_t distance;
        memcpy(&distance, at, sizeof distance);
        if ((size_t)(at + sizeof distance + distance - target) < width &&
            (at[-1] == 0xe9 || at[-1] == 0xe8 ||
             (at - begin > 1 && at[-2] == 0x0f && (at[-1] & 0xf0) == 0x80))) {
            return true;
        }
    }
    begin = target - begin > 0x80 + 1 ? target - 0x80 - 1 : begin;
    end = end - target_end > 0x80 ? target_end + 0x80 : end;
    for (const uint8_t *at = begin; at + 2 <= end; at++) {
        const int distance = at[1] < 0x80 ? at[1] : at[1] - 0x100;
        if ((size_t)(at + 2 + distance - target) < width &&
            ((*at & 0xf0) == 0x70 || *at == 0xeb || (*at & 0xfc) == 0xe0)) {
            return true;
        }
    }
    return false;
}

// -- stubs

static bool is_near(const uint8_t *code, const uint8_t *other)
{
    return code - other < REACH && other - code < REACH;
}

// Returns the memory for a stub near `code`; NULL: there is none. `begin` is where the code's
// segment begins.
static pool_t *find_pool(const uint8_t *code, const uint8_t *begin, size_t bytes)
{
    for (unsigned i = 0; i < pool_count; i++) {
        if (is_near(code, pools[i].memory) && POOL_BYTES - pools[i].used >= bytes) {
            return &pools[i];
        }
    }
    uintptr_t place = (uintptr_t)begin & ~(uintptr_t)(POOL_STEP - 1);
    for (unsigned i = 0; i < POOL_TRIES && pool_count < POOLS_MAX && place > POOL_STEP; i++) {
        place -= POOL_STEP;
        const long got = system_call(SYS_mmap, place, POOL_BYTES, PROT_READ | PROT_EXEC,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == (long)place) {
            const uint8_t *const routines[ROUTINES] = {detour_enter, detour_enter_loop};
            pool_t *pool = &pools[pool_count++];
            *pool = (pool_t){.memory = (uint8_t *)place, .used = sizeof routines};
            return code_write(pool->memory, routines, sizeof routines) ? pool : NULL;
        }
        if (got != -1) {
            system_call(SYS_munmap, got, POOL_BYTES); // an old kernel, which chose another place
        }
    }
    return NULL;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

// Writes an opcode and the distance to `target`. `at` is a copy of `real`.
static uint8_t *put_relative(uint8_t *at, const uint8_t *real, const void *opcode, size_t bytes,
                             const uint8_t *target)
{
    at = put(at, opcode, bytes);
    const int32_t distance = (int32_t)(target - (real + bytes + sizeof(int32_t)));
    return put(at, &distance, sizeof distance);
}

// Writes the call of a routine. `stub` is where `at` will be.
static uint8_t *put_call(uint8_t *at, const uint8_t *stub, const uint8_t *routine)
{
    static const uint8_t below_red_zone[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
    static const uint8_t above_red_zone[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
    static const uint8_t call_by[] = {0xff, 0x15};
    const uint8_t *const begin = at;
    at = put(at, below_red_zone, sizeof below_red_zone);
    at = put_relative(at, stub + (at - begin), call_by, sizeof call_by, routine);
    return put(at, above_red_zone, sizeof above_red_zone);
}

// Adds a stub to the pool. Returns it; NULL: it could not be written.
static const uint8_t *add_stub(pool_t *pool, const uint8_t *code, size_t count)
{
    const uint8_t *const stub = pool->memory + pool->used;
    if (pool->used + count > POOL_BYTES || !code_write(stub, code, count)) {
        return NULL;
    }
    pool->used += count;
    return stub;
}

// Makes a stub that reads the counter, executes the instructions at `moved`, and jumps behind them.
static const uint8_t *make_stub(pool_t *pool, unsigned length, const uint8_t *moved, unsigned bytes)
{
    static const uint8_t clear_ecx[] = {0xb9, 0, 0, 0, 0};
    const uint8_t *const stub = pool->memory + pool->used;
    uint8_t code[64];
    uint8_t *at = put_call(code, stub, pool->memory);
    if (length == 3) { // rdtscp also reads the number of the processor
        at = put(at, clear_ecx, sizeof clear_ecx);
    }
    at = put(at, moved, bytes);
    at = put_relative(at, stub + (at - code), jump, sizeof jump, moved + bytes);
    return add_stub(pool, code, (size_t)(at - code));
}

// Returns the index of the program's segment that contains `code`, or segment_count.
static unsigned find_segment(const uint8_t *code)
{
    unsigned segment = 0;
    while (segment < segment_count &&
           (code < segments[segment].begin || code + INSTRUCTION_MAX * 2 > segments[segment].end)) {
        segment++;
    }
    return segment;
}

bool detour_make(const uint8_t *code, unsigned length)
{
    bool known = !usable || site_count == SITES_MAX;
    for (unsigned i = 0; i < site_count && !known; i++) {
        known = sites[i] == code;
    }
    const unsigned segment = find_segment(code);
    if (known || segment == segment_count) {
        return false;
    }
    sites[site_count++] = code;
    const uint8_t *const begin = segments[segment].begin;
    const uint8_t *const moved = code + length;
    const unsigned bytes = moved_length(code, length);
    if (bytes == 0 || is_target(moved, moved + bytes, begin, segments[segment].end)) {
        return false;
    }
    pool_t *const pool = find_pool(code, begin, 64);
    const uint8_t *const stub = pool == NULL ? NULL : make_stub(pool, length, moved, bytes);
    uint8_t replacement[3 + INSTRUCTION_MAX];
    memset(replacement, 0x90, sizeof replacement); // nop
    if (stub != NULL) {
        (void)put_relative(replacement, code, jump, sizeof jump, stub);
    }
    return stub != NULL && code_write(code, replacement, length + bytes);
}

// -- loops

// Returns the length of an instruction of a loop that can be moved; 0: it is another one. Sets
// *address to the place of a distance to an operand in it; 0: it has none.
static unsigned loop_length(const uint8_t *code, unsigned *address)
{
    const unsigned lock = *code == 0xf0 ? 1 : 0;
    const unsigned prefix = lock + ((code[lock] & 0xf0) == 0x40 ? 1 : 0);
    const uint8_t *at = code + prefix;
    unsigned immediate = 0;
    *address = 0;
    switch (*at) {
    case 0x0f:
        at++;
        if ((*at & 0xf6) != 0xb6 && *at != 0x1f &&          // movzx, movsx, nop
            (*at & 0xf0) != 0x40 && (*at & 0xf0) != 0x90 && // cmov, set
            (*at & 0xfe) != 0xb0 && (*at & 0xfe) != 0xc0) { // cmpxchg, xadd
            return 0;
        }
        break;
    case 0x86: // xchg
    case 0x87:
    case 0x38: // cmp
    case 0x39:
    case 0x3a:
    case 0x3b:
    case 0x84: // test
    case 0x85:
    case 0x88: // mov
    case 0x89:
    case 0x8a:
    case 0x8b:
        break;
    case 0x80: // arithmetic and cmp
    case 0x83:
        immediate = 1;
        break;
    case 0x81:
        immediate = 4;
        break;
    case 0xf6: // test
    case 0xf7:
        if ((at[1] & 0x38) != 0) {
            return 0;
        }
        immediate = *at == 0xf6 ? 1 : 4;
        break;
    case 0xf3:
        return prefix == 0 && at[1] == 0x90 ? 2 : 0; // pause
    default:
        return lock != 0 ? 0 : movable_length(code);
    }
    const unsigned before = (unsigned)(at + 1 - code);
    if ((at[1] & 0xc7) == 0x05) { // relative to the instruction
        *address = before + 1;
        return before + 5 + immediate;
    }
    return before + operand_length(at + 1) + immediate;
}

// Copies the instruction at `code` to `at`, which will be at `stub`, and means the same there.
// Returns what follows the copy, and the instruction's length; 0: it cannot be moved.
static uint8_t *move_one(const uint8_t *code, uint8_t *at, const uint8_t *stub, unsigned *length)
{
    const bool is_near = code[0] == 0x0f && (code[1] & 0xf0) == 0x80;
    int32_t distance = code[1] < 0x80 ? code[1] : code[1] - 0x100;
    if ((code[0] & 0xf0) == 0x70 || is_near) {
        const uint8_t opcode[] = {0x0f, (uint8_t)(0x80 | ((is_near ? code[1] : code[0]) & 0xf))};
        *length = is_near ? 6 : 2;
        if (is_near) {
            memcpy(&distance, code + 2, sizeof distance);
        }
        return put_relative(at, stub, opcode, sizeof opcode, code + *length + distance);
    }
    if (code[0] == 0xeb || code[0] == 0xe9) {
        *length = code[0] == 0xeb ? 2 : 5;
        if (code[0] == 0xe9) {
            memcpy(&distance, code + 1, sizeof distance);
        }
        return put_relative(at, stub, jump, sizeof jump, code + *length + distance);
    }
    unsigned address = 0;
    *length = loop_length(code, &address);
    uint8_t *const end = put(at, code, *length);
    if (address != 0) {
        memcpy(&distance, code + address, sizeof distance);
        distance += (int32_t)(code - stub);
        memcpy(at + address, &distance, sizeof distance);
    }
    return end;
}

bool detour_make_loop(const uint8_t *code, detour_loop_t *loop)
{
    const unsigned segment = find_segment(code);
    pool_t *const pool =
        !usable || segment == segment_count ? NULL : find_pool(code, segments[segment].begin, 128);
    if (pool == NULL) {
        return false;
    }
    const uint8_t *const stub = pool->memory + pool->used;
    uint8_t copy[128];
    uint8_t *at = put_call(copy, stub, pool->memory + ROUTINE_BYTES);
    const uintptr_t past = (uintptr_t)stub + (uintptr_t)(at - copy);
    unsigned bytes = 0;
    unsigned length = 1;
    while (bytes < JUMP_BYTES && length != 0) {
        at = move_one(code + bytes, at, stub + (at - copy), &length);
        bytes += length;
    }
    at = put_relative(at, stub + (at - copy), jump, sizeof jump, code + bytes);
    bool targeted =
        is_target(code + 1, code + bytes, segments[segment].begin, segments[segment].end);
    for (unsigned i = 0; i < pool_count && !targeted; i++) { // jumps that were moved
        const size_t used = pools[i].used < POOL_BYTES ? pools[i].used + 1 : POOL_BYTES;
        targeted = is_target(code + 1, code + bytes, pools[i].memory, pools[i].memory + used);
    }
    if (length == 0 || targeted || add_stub(pool, copy, (size_t)(at - copy)) == NULL) {
        return false;
    }
    *loop = (detour_loop_t){.length = bytes, .back = (uintptr_t)stub + 11, .past = past};
    memcpy(loop->before, code, bytes);
    memset(loop->after, 0x90, sizeof loop->after);
    (void)put_relative(loop->after, code, jump, sizeof jump, stub);
    return true;
}
