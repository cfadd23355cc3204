// SPDX-License-Identifier: Apache-2.0
// programs/spin/counting.c - loops that count while they wait for memory.
//
// A loop whose state never repeats is not found by its registers (loops.c), and how far it had
// counted when it was found would depend on the speed of this machine. So these loops are found
// before the program begins: Capstone decodes the code, and an int3 is planted at each short jump
// back over instructions that may be those of such a loop. There the loop's future is computed
// (iterations.c). If it does nothing but count by constants and look at memory, the thread waits in
// simulated time for a change of memory, or until a condition of the loop changes, and then has the
// counters of that time. An int3 at a loop that does something else is removed.

#include "programs/spin/counting.h"

#ifdef ROCESIM_HAS_CAPSTONE
#include <capstone/capstone.h>
#endif
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "programs/process/code.h"
#include "programs/spin/iterations.h"
#include "programs/system.h"
#include "programs/turn.h"

#define LOOPS_MAX 128u
#define FOUND_MAX 2048u                     // in an object, before they are looked at closely
#define TEXT_BYTES_MAX (UINT64_C(16) << 20) // of an object
#define ITERATION_PS (2 * TURN_PS_PER_NS)   // the time of an iteration
#define PAUSE_PS (40 * TURN_PS_PER_NS)      // of each pause in it
#define SEARCHED_MAX 256u                   // pieces of code
#define FREE_MAX 1000u                      // iterations left that take no time
#define UNKNOWN_MAX 8u    // visits to a loop that does something else, after which it is left alone
#define VISITS_MAX 65536u // visits in a row without a wait, after which it is left alone

typedef struct loop {
    const uint8_t *head;
    const uint8_t *jump; // back to the head; an int3 is planted there
    uint8_t byte;        // what the int3 replaces
    uint8_t jump_bytes;
    uint8_t condition; // of the jump; 255: always
    bool planted;
    uint64_t iteration_ps;
    uint32_t unknown;
    uint32_t visits;
    uint32_t count;
    iteration_code_t codes[ITERATION_CODES_MAX];
} loop_t;

// The latest wait of the thread.
typedef struct last {
    const loop_t *loop;
    uint64_t calls;
    uint64_t count;  // iterations of the forecast after which the thread comes here again
    int64_t left_ps; // that passed and is less than an iteration, or was taken in advance
    iteration_forecast_t forecast;
} last_t;

static loop_t loops[LOOPS_MAX];
static uint32_t loop_count;
static __thread last_t last __attribute__((tls_model("initial-exec")));

// -- the search

#ifdef ROCESIM_HAS_CAPSTONE

// The instructions before the one that is decoded.
typedef struct recent {
    uint64_t address;
    bool known; // may be one of such a loop
} recent_t;

typedef struct decoder {
    csh engine;
    cs_insn *instruction;
    __typeof__(cs_open) *open;
    __typeof__(cs_option) *option;
    __typeof__(cs_malloc) *make;
    __typeof__(cs_disasm_iter) *next;
    bool tried;
} decoder_t;

static decoder_t decoder;
static const uint8_t *searched[SEARCHED_MAX];
static uint32_t searched_count;

static bool open_decoder(void)
{
    if (decoder.tried) {
        return decoder.instruction != NULL;
    }
    decoder.tried = true;
    void *library = PROGRAM_NEXT(dlopen)("libcapstone.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        turn_shared->undecoded = 1;
        return false;
    }
#define FIND(member, name)                             \
    {                                                  \
        void *found = dlsym(library, name);            \
        memcpy(&decoder.member, &found, sizeof found); \
        if (found == NULL) {                           \
            return false;                              \
        }                                              \
    }
    FIND(open, "cs_open")
    FIND(option, "cs_option")
    FIND(make, "cs_malloc")
    FIND(next, "cs_disasm_iter")
#undef FIND
    if (decoder.open(CS_ARCH_X86, CS_MODE_64, &decoder.engine) != CS_ERR_OK) {
        return false;
    }
    (void)decoder.option(decoder.engine, CS_OPT_DETAIL, CS_OPT_ON); // memory for details
    decoder.instruction = decoder.make(decoder.engine);
    (void)decoder.option(decoder.engine, CS_OPT_DETAIL, CS_OPT_OFF);
    (void)decoder.option(decoder.engine, CS_OPT_SKIPDATA, CS_OPT_ON); // tables between functions
    return decoder.instruction != NULL;
}

// Returns what an instruction does; false: it is none of such a loop.
static bool op_of(const cs_insn *instruction, iteration_op_t *op)
{
    static const struct {
        unsigned id;
        iteration_op_t op;
    } known[] = {
        {X86_INS_NOP, ITERATION_NOP},          {X86_INS_PAUSE, ITERATION_NOP},
        {X86_INS_MOV, ITERATION_MOVE},         {X86_INS_MOVABS, ITERATION_MOVE},
        {X86_INS_MOVZX, ITERATION_MOVE},       {X86_INS_MOVSX, ITERATION_MOVE_SIGN},
        {X86_INS_MOVSXD, ITERATION_MOVE_SIGN}, {X86_INS_CDQE, ITERATION_MOVE_SIGN},
        {X86_INS_LEA, ITERATION_LEA},          {X86_INS_ADD, ITERATION_ADD},
        {X86_INS_INC, ITERATION_ADD},          {X86_INS_SUB, ITERATION_SUB},
        {X86_INS_DEC, ITERATION_SUB},          {X86_INS_CMP, ITERATION_CMP},
        {X86_INS_AND, ITERATION_AND},          {X86_INS_OR, ITERATION_OR},
        {X86_INS_XOR, ITERATION_XOR},          {X86_INS_TEST, ITERATION_TEST},
        {X86_INS_JMP, ITERATION_JUMP},
    };
    const uint8_t *bytes = instruction->bytes;
    if ((bytes[0] & 0xf0) == 0x70 || (bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80)) {
        *op = ITERATION_JUMP_IF;
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (instruction->id == known[i].id) {
            *op = known[i].op;
            return *op != ITERATION_JUMP || bytes[0] == 0xeb || bytes[0] == 0xe9;
        }
    }
    return false;
}

// Returns where a jump leads to; NULL: the instruction is no jump of a known place.
static const uint8_t *target_of(const cs_insn *instruction)
{
    const uint8_t *bytes = instruction->bytes;
    const uint8_t *end = (const uint8_t *)(uintptr_t)instruction->address + instruction->size;
    int32_t distance = 0;
    if ((bytes[0] & 0xf0) == 0x70 || bytes[0] == 0xeb) {
        return end + (int8_t)bytes[1];
    }
    if (bytes[0] == 0xe9 || (bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80)) {
        memcpy(&distance, bytes + instruction->size - sizeof distance, sizeof distance);
        return end + distance;
    }
    return NULL;
}

// Returns the index of a register in gregset_t; ITERATION_NONE: it is none of the general ones.
static uint8_t register_of(unsigned id)
{
    static const uint16_t ids[ITERATION_REGISTERS][4] = {
        [REG_R8] = {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
        [REG_R9] = {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
        [REG_R10] = {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
        [REG_R11] = {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
        [REG_R12] = {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
        [REG_R13] = {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
        [REG_R14] = {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
        [REG_R15] = {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
        [REG_RDI] = {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
        [REG_RSI] = {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
        [REG_RBP] = {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
        [REG_RBX] = {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
        [REG_RDX] = {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
        [REG_RAX] = {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
        [REG_RCX] = {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
        [REG_RSP] = {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
    };
    for (uint8_t i = 0; i < ITERATION_REGISTERS; i++) {
        for (unsigned width = 0; width < 4; width++) {
            if (ids[i][width] == id) {
                return i;
            }
        }
    }
    return ITERATION_NONE;
}

// Translates an operand. Returns false if it is an unusual one.
static bool translate_operand(const cs_insn *instruction, unsigned number, iteration_operand_t *to)
{
    const cs_x86_op *from = &instruction->detail->x86.operands[number];
    *to = (iteration_operand_t){.base = ITERATION_NONE,
                                .index = ITERATION_NONE,
                                .scale = 1,
                                .bytes = from->size};
    if (from->type == X86_OP_IMM) {
        to->kind = ITERATION_VALUE;
        to->value = (uint64_t)from->imm;
        to->bytes = instruction->detail->x86.operands[0].size;
        return true;
    }
    if (from->type == X86_OP_REG) {
        to->kind = ITERATION_REGISTER;
        to->base = register_of(from->reg);
        return to->base != ITERATION_NONE;
    }
    to->kind = ITERATION_MEMORY;
    to->value = (uint64_t)from->mem.disp;
    to->scale = (uint8_t)from->mem.scale;
    if (from->mem.base == X86_REG_RIP) {
        to->value += instruction->address + instruction->size;
    } else if (from->mem.base != X86_REG_INVALID) {
        to->base = register_of(from->mem.base);
    }
    to->index = from->mem.index == X86_REG_INVALID ? ITERATION_NONE : register_of(from->mem.index);
    return from->type == X86_OP_MEM && from->mem.segment == X86_REG_INVALID &&
           instruction->detail->x86.addr_size == 8 && from->size <= 8;
}

// Translates an instruction. Returns false if it is none of such a loop.
static bool translate(const cs_insn *instruction, iteration_code_t *code)
{
    const cs_x86 *detail = &instruction->detail->x86;
    *code = (iteration_code_t){.target = ITERATION_NONE};
    if (!op_of(instruction, &code->op) || detail->prefix[0] == X86_PREFIX_LOCK) {
        return false;
    }
    if (code->op == ITERATION_NOP || code->op == ITERATION_JUMP) {
        return true;
    }
    if (code->op == ITERATION_JUMP_IF) {
        code->condition = instruction->bytes[instruction->bytes[0] == 0x0f ? 1 : 0] & 0xf;
        return true;
    }
    if (instruction->id == X86_INS_CDQE) {
        code->to = (iteration_operand_t){.kind = ITERATION_REGISTER, .bytes = 8, .base = REG_RAX};
        code->from = code->to;
        code->from.bytes = 4;
        return true;
    }
    if (instruction->id == X86_INS_INC || instruction->id == X86_INS_DEC) {
        code->keeps_carry = true;
        code->from = (iteration_operand_t){.kind = ITERATION_VALUE,
                                           .value = 1,
                                           .bytes = detail->operands[0].size};
        return translate_operand(instruction, 0, &code->to);
    }
    return detail->op_count == 2 && translate_operand(instruction, 0, &code->to) &&
           translate_operand(instruction, 1, &code->from);
}

// Sets the targets of the jumps of a loop. Returns false if one leads into an instruction.
static bool find_targets(loop_t *loop, const uint8_t *const *targets, const uint8_t *const *places)
{
    for (uint32_t i = 0; i < loop->count; i++) {
        const bool inside =
            targets[i] != NULL && targets[i] >= loop->head && targets[i] <= loop->jump;
        for (uint32_t j = 0; j < loop->count && inside; j++) {
            if (places[j] == targets[i]) {
                loop->codes[i].target = (uint8_t)j;
            }
        }
        if (inside && loop->codes[i].target == ITERATION_NONE) {
            return false;
        }
    }
    return true;
}

// Decodes a loop with all details, and plants an int3 if it may be one that waits.
static void add_loop(const uint8_t *head, const uint8_t *jump)
{
    static const uint8_t int3 = 0xcc;
    const uint8_t *targets[ITERATION_CODES_MAX] = {NULL};
    const uint8_t *places[ITERATION_CODES_MAX] = {NULL};
    loop_t *loop = &loops[loop_count];
    const cs_insn *instruction = decoder.instruction;
    const uint8_t *at = head;
    size_t left = (size_t)(jump - head) + 16;
    uint64_t address = (uintptr_t)head;
    bool counts = false;
    bool looks = false;
    *loop = (loop_t){.head = head, .jump = jump, .byte = *jump, .iteration_ps = ITERATION_PS};
    while (at <= jump) {
        iteration_code_t *code = &loop->codes[loop->count];
        if (loop->count == ITERATION_CODES_MAX ||
            !decoder.next(decoder.engine, &at, &left, &address, decoder.instruction) ||
            !translate(instruction, code)) {
            return;
        }
        const bool adds = code->op == ITERATION_ADD || code->op == ITERATION_SUB;
        counts = counts || adds || code->op == ITERATION_LEA;
        looks = looks || (code->from.kind == ITERATION_MEMORY && code->op != ITERATION_LEA) ||
                code->to.kind == ITERATION_MEMORY;
        loop->iteration_ps += instruction->id == X86_INS_PAUSE ? PAUSE_PS : 0;
        places[loop->count] = (const uint8_t *)(uintptr_t)instruction->address;
        targets[loop->count++] = target_of(instruction);
    }
    loop->jump_bytes = (uint8_t)instruction->size;
    loop->condition = loop->codes[loop->count - 1].op == ITERATION_JUMP
                          ? ITERATION_NONE
                          : loop->codes[loop->count - 1].condition;
    if (counts && looks && places[loop->count - 1] == jump && find_targets(loop, targets, places) &&
        code_write(jump, &int3, sizeof int3)) {
        loop->planted = true;
        loop_count++;
    }
}

// Looks for jumps back over instructions that are known, in one pass without details.
static void find_loops(const uint8_t *begin, const uint8_t *end)
{
    static struct {
        const uint8_t *head;
        const uint8_t *jump;
    } found[FOUND_MAX];
    uint32_t found_count = 0;
    recent_t recent[ITERATION_CODES_MAX] = {{0}};
    uint32_t number = 0;
    const uint8_t *at = begin;
    size_t left = (size_t)(end - begin);
    uint64_t address = (uintptr_t)begin;
    const cs_insn *instruction = decoder.instruction;
    (void)decoder.option(decoder.engine, CS_OPT_DETAIL, CS_OPT_OFF);
    while (found_count < FOUND_MAX &&
           decoder.next(decoder.engine, &at, &left, &address, decoder.instruction)) {
        iteration_op_t op = ITERATION_NOP;
        const bool known = op_of(instruction, &op);
        const uint8_t *target = known ? target_of(instruction) : NULL;
        recent[number % ITERATION_CODES_MAX] = (recent_t){instruction->address, known};
        for (uint32_t i = 0; i < ITERATION_CODES_MAX && i <= number && target != NULL; i++) {
            const recent_t *before = &recent[(number - i) % ITERATION_CODES_MAX];
            if (!before->known || before->address < (uintptr_t)target) {
                break;
            }
            if (before->address == (uintptr_t)target && i != 0 && !code_is_own(target)) {
                found[found_count].head = target;
                found[found_count++].jump = (const uint8_t *)(uintptr_t)instruction->address;
            }
        }
        number++;
    }
    (void)decoder.option(decoder.engine, CS_OPT_DETAIL, CS_OPT_ON);
    for (uint32_t i = 0; i < found_count && loop_count < LOOPS_MAX; i++) {
        add_loop(found[i].head, found[i].jump);
    }
}

// Returns true for programs and libraries of the distribution.
static bool is_of_system(const char *object)
{
    static const char *const folders[] = {"/lib",     "/usr/lib",  "/bin/",  "/sbin/",
                                          "/usr/bin", "/usr/sbin", "linux-", "/usr/libexec"};
    char program[512] = "";
    if (*object == '\0') { // the program itself
        (void)system_call(SYS_readlink, "/proc/self/exe", program, sizeof program - 1);
        object = program;
    }
    bool found = false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        found = found || strncmp(object, folders[i], strlen(folders[i])) == 0;
    }
    return found;
}

// Returns true for the library's other form, which lies in the folder of this one.
static bool is_of_library(const char *object)
{
    Dl_info own;
    const char *slash = dladdr(&loop_count, &own) != 0 ? strrchr(own.dli_fname, '/') : NULL;
    const size_t length = slash == NULL ? 0 : (size_t)(slash - own.dli_fname) + 1;
    return length != 0 && strncmp(object, own.dli_fname, length) == 0 &&
           strchr(object + length, '/') == NULL;
}

static bool is_loaded(const uint8_t *code)
{
    Dl_info info;
    return dladdr(code, &info) != 0;
}

// Returns true if the code was searched before, else notes it.
static bool was_searched(const uint8_t *begin)
{
    for (uint32_t i = 0; i < searched_count; i++) {
        if (searched[i] == begin) {
            return true;
        }
    }
    if (searched_count < SEARCHED_MAX) {
        searched[searched_count++] = begin;
    }
    return false;
}

// Forgets the code and the loops of libraries that were closed.
static void forget_closed(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < searched_count; i++) {
        if (is_loaded(searched[i])) {
            searched[kept++] = searched[i];
        }
    }
    searched_count = kept;
    for (uint32_t i = 0; i < loop_count; i++) {
        if (loops[i].planted && !is_loaded(loops[i].jump)) {
            loops[i] = (loop_t){0};
        }
    }
}

static int search_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    const bool wanted = !is_of_system(object->dlpi_name) && !is_of_library(object->dlpi_name);
    for (unsigned i = 0; i < object->dlpi_phnum && wanted; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uint8_t *begin = (const uint8_t *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
            segment->p_filesz <= TEXT_BYTES_MAX && !code_is_own(begin) && !was_searched(begin) &&
            open_decoder()) {
            find_loops(begin, begin + segment->p_filesz);
        }
    }
    return 0;
}

void counting_begin(void)
{
    forget_closed();
    (void)dl_iterate_phdr(search_object, NULL);
}

void counting_open(void)
{
    uintptr_t here = (uintptr_t)counting_open;
    iteration_code_t codes[ITERATION_CODES_MAX];
    if (open_decoder()) {
        (void)counting_translate(&here, 1, here, codes); // Capstone makes its tables
    }
}

// -- loops that do not count

static iteration_operand_t register_operand(uint8_t index)
{
    return (iteration_operand_t){.kind = ITERATION_REGISTER, .bytes = 8, .base = index};
}

// Moves the stack pointer, without a change of flags.
static iteration_code_t move_stack(int64_t bytes)
{
    return (iteration_code_t){.op = ITERATION_LEA,
                              .target = ITERATION_NONE,
                              .to = register_operand(REG_RSP),
                              .from = {.kind = ITERATION_MEMORY,
                                       .bytes = 8,
                                       .base = REG_RSP,
                                       .index = ITERATION_NONE,
                                       .value = (uint64_t)bytes}};
}

// Translates an instruction of a function's beginning or end. Returns the number of codes; 0: it is
// another one.
static uint32_t translate_stack(const cs_insn *instruction, iteration_code_t *codes)
{
    iteration_operand_t top = {.kind = ITERATION_MEMORY,
                               .bytes = 8,
                               .base = REG_RSP,
                               .index = ITERATION_NONE,
                               .scale = 1};
    iteration_code_t move = {.op = ITERATION_MOVE, .target = ITERATION_NONE, .to = top};
    switch (instruction->id) {
    case X86_INS_ENDBR64:
        codes[0] = (iteration_code_t){.op = ITERATION_NOP};
        return 1;
    case X86_INS_RET: // to where the call of the trace came from
        codes[0] = move_stack(8);
        return instruction->bytes[0] == 0xc3 ? 1 : 0;
    case X86_INS_CALL:
        move.from = (iteration_operand_t){.kind = ITERATION_VALUE,
                                          .bytes = 8,
                                          .value = instruction->address + 5};
        codes[0] = move_stack(-8);
        codes[1] = move;
        return instruction->bytes[0] == 0xe8 ? 2 : 0;
    case X86_INS_PUSH:
        codes[0] = move_stack(-8);
        codes[1] = move;
        return translate_operand(instruction, 0, &codes[1].from) &&
                       codes[1].from.kind == ITERATION_REGISTER && codes[1].from.bytes == 8
                   ? 2
                   : 0;
    case X86_INS_POP:
        move.from = top;
        codes[0] = move;
        codes[1] = move_stack(8);
        return translate_operand(instruction, 0, &codes[0].to) &&
                       codes[0].to.kind == ITERATION_REGISTER && codes[0].to.bytes == 8
                   ? 2
                   : 0;
    case X86_INS_LEAVE:
        top.base = REG_RBP;
        top.value = 0;
        codes[0] = move_stack(8);
        codes[0].from.base = REG_RBP;
        codes[1] = (iteration_code_t){.op = ITERATION_MOVE,
                                      .target = ITERATION_NONE,
                                      .to = register_operand(REG_RBP),
                                      .from = top};
        return 2;
    default:
        return 0;
    }
}

// Translates an instruction with a condition or an exchange. Returns false if it is another one.
static bool translate_other(const cs_insn *instruction, iteration_code_t *code)
{
    const cs_x86 *detail = &instruction->detail->x86;
    unsigned at = 0;
    while (at < 5 && instruction->bytes[at] != 0x0f) {
        at++;
    }
    const uint8_t opcode = instruction->bytes[at + 1];
    *code = (iteration_code_t){.target = ITERATION_NONE, .condition = opcode & 0xf};
    if (instruction->id == X86_INS_XCHG || instruction->id == X86_INS_CMPXCHG) {
        code->op =
            instruction->id == X86_INS_XCHG ? ITERATION_EXCHANGE : ITERATION_COMPARE_EXCHANGE;
    } else if (instruction->bytes[at] == 0x0f && (opcode & 0xf0) == 0x40) {
        code->op = ITERATION_MOVE_IF;
    } else if (instruction->bytes[at] == 0x0f && (opcode & 0xf0) == 0x90) {
        code->op = ITERATION_SET_IF;
        return translate_operand(instruction, 0, &code->to);
    } else {
        return false;
    }
    return detail->op_count == 2 && translate_operand(instruction, 0, &code->to) &&
           translate_operand(instruction, 1, &code->from);
}

uint32_t counting_translate(const uintptr_t *places, uint32_t count, uintptr_t first,
                            iteration_code_t *codes)
{
    uint32_t begin = 0;
    uint32_t used = 0;
    while (begin < count && places[begin] != first) {
        begin++;
    }
    if (decoder.instruction == NULL || begin == count) {
        return 0;
    }
    (void)decoder.option(decoder.engine, CS_OPT_DETAIL, CS_OPT_ON);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = (const uint8_t *)places[(begin + i) % count];
        const uintptr_t next = places[(begin + i + 1) % count];
        size_t left = 15;
        uint64_t address = (uintptr_t)at;
        if (used + 3 > ITERATION_CODES_MAX ||
            !decoder.next(decoder.engine, &at, &left, &address, decoder.instruction)) {
            return 0;
        }
        iteration_code_t *code = &codes[used++];
        if (translate(decoder.instruction, code)) {
            if (code->op == ITERATION_JUMP_IF) { // the condition under which the thread leaves
                code->condition ^= next == (uintptr_t)target_of(decoder.instruction);
            } else if (code->op == ITERATION_JUMP) {
                code->op = ITERATION_NOP;
            }
        } else if (!translate_other(decoder.instruction, code)) {
            const uint32_t more = translate_stack(decoder.instruction, code);
            if (more == 0) {
                return 0;
            }
            used += more - 1;
        }
    }
    codes[used++] = (iteration_code_t){.op = ITERATION_JUMP};
    return used;
}

#else

void counting_begin(void)
{
    turn_shared->undecoded = 1;
}

void counting_open(void)
{
}

uint32_t counting_translate(const uintptr_t *places, uint32_t count, uintptr_t first,
                            iteration_code_t *codes)
{
    (void)places;
    (void)count;
    (void)first;
    (void)codes;
    return 0;
}

#endif

// -- visits

bool counting_overlaps(const uint8_t *code, unsigned length)
{
    for (uint32_t i = 0; i < loop_count; i++) {
        const loop_t *loop = &loops[i];
        if (loop->planted && ((loop->jump >= code && loop->jump < code + length) ||
                              (loop->head > code && loop->head < code + length))) {
            return true;
        }
    }
    return false;
}

static void uproot(loop_t *loop)
{
    if (code_write(loop->jump, &loop->byte, 1)) {
        loop->planted = false;
    }
}

// Waits until something may have changed memory, at most for `count` iterations. Returns how many
// have passed.
static uint64_t wait_for(const loop_t *loop, uint64_t count, bool again)
{
    program_call_t call = {
        .flags = again ? PROGRAM_WAIT_WROTE_NOTHING : 0,
        .wait = {.mask = PROGRAM_ON_MEMORY | PROGRAM_ON_SIGNAL, .timeout_ps = PROGRAM_NEVER}};
    const uint64_t begin_ps = turn_now_ps();
    turn_shared->acted |= !again;
    last.left_ps = again ? last.left_ps : 0;
    if (count < (UINT64_C(1) << 62) / loop->iteration_ps) {
        call.wait.timeout_ps = count * loop->iteration_ps - (uint64_t)last.left_ps;
    }
    (void)turn_wait_call(&call);
    turn_act(); // time has passed, so looks at a clock are not in a row
    const int64_t left_ps = last.left_ps + (int64_t)(turn_now_ps() - begin_ps);
    const uint64_t passed = left_ps < 0 ? 0 : (uint64_t)left_ps / loop->iteration_ps;
    count = passed < count ? passed : count;
    // The thread itself executes one more iteration.
    last.left_ps = left_ps - (int64_t)((count + 1) * loop->iteration_ps);
    return count;
}

// Lets the loop go on from its first instruction.
static void go_on(loop_t *loop, long long *registers)
{
    const bool again = last.loop == loop && last.calls == turn_calls &&
                       iteration_has_come(&last.forecast, last.count, registers);
    iteration_forecast_t forecast;
    const iteration_result_t result =
        iteration_foresee(loop->codes, loop->count, registers, &forecast);
    if (result == ITERATION_UNKNOWN || (result == ITERATION_GOES_ON && !forecast.looks)) {
        loop->unknown++;
        if (loop->unknown == UNKNOWN_MAX || result == ITERATION_GOES_ON) {
            uproot(loop);
        }
    }
    if (result != ITERATION_GOES_ON || !loop->planted) {
        return;
    }
    uint64_t passed = forecast.count;
    loop->visits = 0;
    if (again || passed > FREE_MAX) {
        passed = wait_for(loop, passed, again);
        last.loop = loop;
        last.calls = turn_calls;
        last.count = passed + 1;
        last.forecast = forecast;
    }
    if (passed != 0) {
        iteration_advance(&forecast, passed, registers);
    }
    if (last.loop != NULL &&
        iteration_foresee(loop->codes, loop->count, registers, &forecast) == ITERATION_LEAVES) {
        last.loop = NULL; // the thread may write before it comes back in the same state
    }
}

bool counting_visit(long long *registers)
{
    const uint8_t *place = (const uint8_t *)(uintptr_t)registers[REG_RIP] - 1;
    loop_t *loop = loops;
    while (loop < loops + loop_count && loop->jump != place) {
        loop++;
    }
    if (loop == loops + loop_count) {
        return false;
    }
    const bool jumps = loop->condition == ITERATION_NONE ||
                       iteration_jumps(loop->condition, (uint64_t)registers[REG_EFL]);
    registers[REG_RIP] = (long long)(uintptr_t)(jumps ? loop->head : place + loop->jump_bytes);
    loop->visits++;
    if (loop->visits > VISITS_MAX && loop->planted) {
        uproot(loop);
    }
    if (jumps && loop->planted && turn_on() && !turn_busy()) {
        go_on(loop, registers);
    }
    return true;
}
