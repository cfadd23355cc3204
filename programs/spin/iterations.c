// SPDX-License-Identifier: Apache-2.0
// programs/spin/iterations.c - how long a loop that counts goes on if no memory changes.
//
// Two iterations are executed to find the slopes: by how much each register and each place in
// memory changes. A third one is executed with these slopes. It shows whether each result is linear
// (the state at its end is that at its beginning plus the slopes), and for how many iterations each
// condition stays as it is and no number overflows. Limits are lower bounds: the caller looks ahead
// again from there.

#include "programs/spin/iterations.h"

#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#define STEPS_MAX 160u // of an iteration
#define REPEATS 3u     // iterations after which the flags are those of the loop

// The flags tell how two numbers compare. After an addition, only whether the result is
// zero or negative is known. At the beginning they may be those of the processor.
typedef struct flags {
    bool known;
    bool raw;
    uint64_t of_processor;
    bool of_result;
    unsigned bits;
    iteration_number_t left;
    iteration_number_t right;
} flags_t;

typedef struct walk {
    iteration_state_t *state;
    flags_t flags;
    bool bad;       // does something that is not known
    uint64_t limit; // iterations after this one in which all is as in this one
} walk_t;

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t sign_extend(uint64_t value, unsigned bits)
{
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    value &= mask_of(bits);
    return (value ^ sign) - sign;
}

static bool is_negative(uint64_t slope)
{
    return slope >> 63 != 0;
}

static void limit_to(walk_t *walk, uint64_t limit)
{
    walk->limit = limit < walk->limit ? limit : walk->limit;
}

// Limits the walk to iterations in which a number that is now `value` stays in first..last.
static void limit_range(walk_t *walk, uint64_t value, uint64_t slope, uint64_t first, uint64_t last)
{
    if (slope != 0) {
        limit_to(walk, is_negative(slope) ? (value - first) / (0 - slope) : (last - value) / slope);
    }
}

// -- operands

static uint64_t load(uint64_t address, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)(uintptr_t)address, bytes);
    return value;
}

// Returns the place in memory, which is added if there is none; NULL: it overlaps with another one.
static iteration_cell_t *cell_at(walk_t *walk, uint64_t address, unsigned bytes)
{
    iteration_state_t *state = walk->state;
    for (uint32_t i = 0; i < state->cell_count; i++) {
        iteration_cell_t *cell = &state->cells[i];
        if (cell->address == address && cell->bytes == bytes) {
            return cell;
        }
        if (address < cell->address + cell->bytes && cell->address < address + bytes) {
            return NULL;
        }
    }
    if (state->cell_count == ITERATION_CELLS) {
        return NULL;
    }
    const uint64_t value = load(address, bytes);
    iteration_cell_t *cell = &state->cells[state->cell_count++];
    *cell = (iteration_cell_t){.address = address,
                               .bytes = (uint8_t)bytes,
                               .before = value,
                               .number.value = value};
    return cell;
}

static iteration_number_t address_of(const walk_t *walk, const iteration_operand_t *operand)
{
    iteration_number_t sum = {.value = operand->value};
    if (operand->base != ITERATION_NONE) {
        sum.value += walk->state->registers[operand->base].value;
        sum.slope += walk->state->registers[operand->base].slope;
    }
    if (operand->index != ITERATION_NONE) {
        sum.value += walk->state->registers[operand->index].value * operand->scale;
        sum.slope += walk->state->registers[operand->index].slope * operand->scale;
    }
    return sum;
}

static iteration_cell_t *cell_of(walk_t *walk, const iteration_operand_t *operand)
{
    const iteration_number_t address = address_of(walk, operand);
    iteration_cell_t *cell =
        address.slope != 0 ? NULL : cell_at(walk, address.value, operand->bytes);
    walk->bad = walk->bad || cell == NULL;
    return cell;
}

static iteration_number_t get(walk_t *walk, const iteration_operand_t *operand)
{
    iteration_number_t number = {.value = operand->value};
    if (operand->kind == ITERATION_REGISTER) {
        number = walk->state->registers[operand->base];
    } else if (operand->kind == ITERATION_MEMORY) {
        const iteration_cell_t *cell = cell_of(walk, operand);
        number = cell == NULL ? (iteration_number_t){0} : cell->number;
    }
    number.value &= mask_of(operand->bytes * 8u);
    return number;
}

static void set(walk_t *walk, const iteration_operand_t *operand, iteration_number_t number)
{
    const unsigned bits = operand->bytes * 8u;
    const uint64_t mask = mask_of(bits);
    number.value &= mask;
    if (operand->kind == ITERATION_MEMORY) {
        iteration_cell_t *cell = cell_of(walk, operand);
        if (cell != NULL) {
            cell->number = number;
            cell->written = true;
        }
        return;
    }
    iteration_number_t *place = &walk->state->registers[operand->base];
    if (bits < 64) { // the register as a whole is linear while the part does not overflow
        limit_range(walk, number.value, number.slope, 0, mask);
    }
    if (bits < 32) {
        walk->bad = walk->bad || place->slope != number.slope;
        number.value |= place->value & ~mask;
    }
    *place = number;
}

// -- conditions

static void limit_equal(walk_t *walk, iteration_number_t difference, unsigned bits)
{
    if (difference.slope == 0) {
        return;
    }
    if (difference.value == 0) {
        limit_to(walk, 0);
    } else {
        limit_range(walk, difference.value, difference.slope, 1, mask_of(bits));
    }
}

// Returns whether left < right (or left <= right, if `equal`) without signs.
static bool is_below(walk_t *walk, iteration_number_t left, iteration_number_t right, bool equal,
                     unsigned bits)
{
    const bool below = left.value < right.value || (equal && left.value == right.value);
    bool moving_below = below;
    if (left.slope == 0 && right.slope == 0) {
        return below;
    }
    if (left.slope != 0 && right.slope != 0) {
        walk->bad = true;
        return below;
    }
    if (left.slope == 0) { // the right one moves
        const iteration_number_t fixed = left;
        left = right;
        right = fixed;
        equal = !equal;
        moving_below = !below;
    }
    // The moving one is in 0..last, or above.
    const uint64_t last = equal ? right.value : right.value - 1;
    if (moving_below) {
        limit_range(walk, left.value, left.slope, 0, last);
    } else {
        limit_range(walk, left.value, left.slope, last + 1, mask_of(bits));
    }
    return below;
}

// Returns whether the condition (the low 4 bits of the opcode of a jump) holds.
static bool holds(walk_t *walk, unsigned condition)
{
    const flags_t *flags = &walk->flags;
    const unsigned bits = flags->bits;
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    iteration_number_t left = flags->left;
    iteration_number_t right = flags->right;
    iteration_number_t difference = {.value = (left.value - right.value) & mask_of(bits),
                                     .slope = left.slope - right.slope};
    bool result = false;
    if (flags->raw) {
        return iteration_jumps(condition, flags->of_processor);
    }
    switch (condition & 0xe) {
    case 0x4: // equal
        limit_equal(walk, difference, bits);
        result = difference.value == 0;
        break;
    case 0x8: // negative
        result = !is_below(walk, difference, (iteration_number_t){.value = sign}, false, bits);
        break;
    case 0x2: // below
    case 0x6:
    case 0xc: // less
    case 0xe:
        walk->bad = walk->bad || flags->of_result;
        if (condition >= 0xc) {
            left.value ^= sign;
            right.value ^= sign;
        }
        result =
            is_below(walk, left, right, (condition & 0xe) == 0x6 || (condition & 0xe) == 0xe, bits);
        break;
    default:
        walk->bad = true;
    }
    return result != ((condition & 1) != 0);
}

// -- instructions

static void calculate(walk_t *walk, const iteration_code_t *code)
{
    const unsigned bits = code->to.bytes * 8u;
    const iteration_number_t left = get(walk, &code->to);
    const iteration_number_t right = get(walk, &code->from);
    iteration_number_t result = left;
    flags_t flags = {.known = true, .bits = bits, .left = left, .right = right};
    const bool same = code->to.kind == ITERATION_REGISTER &&
                      code->from.kind == ITERATION_REGISTER && code->to.base == code->from.base;
    const bool subtracts = code->op == ITERATION_SUB || code->op == ITERATION_CMP;
    if (code->op == ITERATION_ADD) {
        result.value += right.value;
        result.slope += right.slope;
    } else if (subtracts) {
        result.value -= right.value;
        result.slope -= right.slope;
    } else { // the bits of numbers that change are not linear
        walk->bad = walk->bad || (!same && (left.slope != 0 || right.slope != 0));
        result.value = code->op == ITERATION_XOR  ? left.value ^ right.value
                       : code->op == ITERATION_OR ? left.value | right.value
                                                  : left.value & right.value;
        result.slope = code->op == ITERATION_XOR ? 0 : left.slope;
    }
    result.value &= mask_of(bits);
    if (!subtracts) {
        flags.left = result;
        flags.right = (iteration_number_t){0};
    }
    flags.of_result = code->op == ITERATION_ADD || code->keeps_carry;
    walk->flags = flags;
    if (code->op != ITERATION_CMP && code->op != ITERATION_TEST) {
        set(walk, &code->to, result);
    }
}

static void move(walk_t *walk, const iteration_code_t *code)
{
    iteration_number_t number = get(walk, &code->from);
    const unsigned bits = code->from.bytes * 8u;
    if (code->op == ITERATION_MOVE_SIGN) {
        const uint64_t sign = UINT64_C(1) << (bits - 1);
        limit_range(walk, number.value ^ sign, number.slope, 0, mask_of(bits));
        number.value = sign_extend(number.value, bits);
    } else if (code->from.bytes < code->to.bytes) {
        limit_range(walk, number.value, number.slope, 0, mask_of(bits));
    }
    set(walk, &code->to, number);
}

static void move_if(walk_t *walk, const iteration_code_t *code)
{
    walk->bad = walk->bad || !walk->flags.known;
    const bool moves = !walk->bad && holds(walk, code->condition);
    const iteration_number_t other =
        code->op == ITERATION_SET_IF ? (iteration_number_t){0} : get(walk, &code->to);
    const iteration_number_t number =
        code->op == ITERATION_SET_IF ? (iteration_number_t){.value = 1} : get(walk, &code->from);
    set(walk, &code->to, moves ? number : other);
}

static void exchange(walk_t *walk, const iteration_code_t *code)
{
    const iteration_operand_t rax = {.kind = ITERATION_REGISTER,
                                     .bytes = code->to.bytes,
                                     .base = REG_RAX};
    const bool compares = code->op == ITERATION_COMPARE_EXCHANGE;
    const iteration_number_t to = get(walk, &code->to);
    const iteration_number_t from = get(walk, &code->from);
    if (compares) {
        calculate(walk, &(iteration_code_t){.op = ITERATION_CMP, .to = rax, .from = code->to});
    }
    if (!compares || holds(walk, 0x4)) {
        set(walk, &code->to, from);
    }
    if (!compares || !holds(walk, 0x4)) {
        set(walk, compares ? &rax : &code->from, to);
    }
}

// Executes one iteration. Returns false if it leaves the loop.
static bool iterate(walk_t *walk, const iteration_code_t *codes, uint32_t count)
{
    uint32_t at = 0;
    for (uint32_t steps = 0; steps < STEPS_MAX && !walk->bad; steps++) {
        const iteration_code_t *code = &codes[at];
        const bool is_last = ++at == count;
        bool jumps = code->op == ITERATION_JUMP;
        if (code->op == ITERATION_MOVE || code->op == ITERATION_MOVE_SIGN) {
            move(walk, code);
        } else if (code->op == ITERATION_LEA) {
            set(walk, &code->to, address_of(walk, &code->from));
        } else if (code->op == ITERATION_JUMP_IF) {
            walk->bad = walk->bad || !walk->flags.known;
            jumps = !walk->bad && holds(walk, code->condition);
        } else if (code->op == ITERATION_MOVE_IF || code->op == ITERATION_SET_IF) {
            move_if(walk, code);
        } else if (code->op == ITERATION_EXCHANGE || code->op == ITERATION_COMPARE_EXCHANGE) {
            exchange(walk, code);
        } else if (code->op != ITERATION_NOP && code->op != ITERATION_JUMP) {
            calculate(walk, code);
        }
        if (jumps && code->target == ITERATION_NONE) {
            return false;
        }
        if (is_last) {
            return jumps;
        }
        at = jumps ? code->target : at;
    }
    walk->bad = true;
    return true;
}

static iteration_result_t run(iteration_state_t *state, const iteration_code_t *codes,
                              uint32_t count, uint64_t *limit)
{
    walk_t walk = {.state = state, .limit = INT64_MAX};
    const bool goes_on = iterate(&walk, codes, count);
    *limit = walk.limit;
    return walk.bad ? ITERATION_UNKNOWN : goes_on ? ITERATION_GOES_ON : ITERATION_LEAVES;
}

// Sets the slopes of `state` to how `after` differs from it.
static void find_slopes(iteration_state_t *state, const iteration_state_t *after)
{
    for (uint32_t i = 0; i < ITERATION_REGISTERS; i++) {
        state->registers[i].slope = after->registers[i].value - state->registers[i].value;
    }
    for (uint32_t i = 0; i < state->cell_count; i++) {
        const uint64_t change = after->cells[i].number.value - state->cells[i].number.value;
        state->cells[i].number.slope = sign_extend(change, state->cells[i].bytes * 8u);
    }
}

// Returns true if `end` is the state after `state` by its slopes.
static bool is_linear(const iteration_state_t *state, const iteration_state_t *end)
{
    bool linear = state->cell_count == end->cell_count;
    for (uint32_t i = 0; i < ITERATION_REGISTERS; i++) {
        const iteration_number_t then = state->registers[i];
        linear = linear && end->registers[i].slope == then.slope &&
                 end->registers[i].value == then.value + then.slope;
    }
    for (uint32_t i = 0; i < state->cell_count && linear; i++) {
        const iteration_number_t then = state->cells[i].number;
        const iteration_number_t now = end->cells[i].number;
        linear = now.slope == then.slope &&
                 ((now.value - then.value - then.slope) & mask_of(state->cells[i].bytes * 8u)) == 0;
    }
    return linear;
}

static void begin(iteration_state_t *state, const long long *registers)
{
    state->cell_count = 0;
    for (uint32_t i = 0; i < ITERATION_REGISTERS; i++) {
        state->registers[i] = (iteration_number_t){.value = (uint64_t)registers[i]};
    }
}

iteration_result_t iteration_repeats(const iteration_code_t *codes, uint32_t count,
                                     const long long *registers)
{
    iteration_state_t state;
    walk_t walk = {
        .state = &state,
        .flags = {.known = true, .raw = true, .of_processor = (uint64_t)registers[REG_EFL]}};
    begin(&state, registers);
    bool same = true;
    for (unsigned i = 0; i < REPEATS && same && !walk.bad; i++) {
        same = iterate(&walk, codes, count);
    }
    if (!same && !walk.bad) {
        return ITERATION_LEAVES;
    }
    for (uint32_t i = 0; i < ITERATION_REGISTERS; i++) {
        same = same && state.registers[i].value == (uint64_t)registers[i];
    }
    for (uint32_t i = 0; i < state.cell_count; i++) {
        same = same && state.cells[i].number.value == state.cells[i].before;
    }
    return same && !walk.bad ? ITERATION_GOES_ON : ITERATION_UNKNOWN;
}

iteration_result_t iteration_foresee(const iteration_code_t *codes, uint32_t count,
                                     const long long *registers, iteration_forecast_t *forecast)
{
    iteration_state_t *next = &forecast->next;
    iteration_state_t after;
    uint64_t limit = 0;
    begin(next, registers);
    iteration_result_t result = run(next, codes, count, &limit);
    after = *next;
    result = result == ITERATION_GOES_ON ? run(&after, codes, count, &limit) : result;
    if (result != ITERATION_GOES_ON) {
        return result;
    }
    find_slopes(next, &after);
    after = *next;
    result = run(&after, codes, count, &limit);
    if (result != ITERATION_GOES_ON || !is_linear(next, &after)) {
        return ITERATION_UNKNOWN;
    }
    forecast->count = limit + 1;
    forecast->looks = false;
    for (uint32_t i = 0; i < next->cell_count; i++) {
        forecast->looks = forecast->looks || !next->cells[i].written;
    }
    return ITERATION_GOES_ON;
}

void iteration_advance(const iteration_forecast_t *forecast, uint64_t count, long long *registers)
{
    const iteration_state_t *next = &forecast->next;
    for (uint32_t i = 0; i < ITERATION_REGISTERS; i++) {
        const uint64_t value = next->registers[i].value + next->registers[i].slope * (count - 1);
        registers[i] = (long long)value;
    }
    for (uint32_t i = 0; i < next->cell_count; i++) {
        const iteration_cell_t *cell = &next->cells[i];
        const uint64_t value = cell->number.value + cell->number.slope * (count - 1);
        if (cell->written && load(cell->address, cell->bytes) == cell->before) {
            memcpy((void *)(uintptr_t)cell->address, &value, cell->bytes);
        }
    }
}

bool iteration_has_come(const iteration_forecast_t *forecast, uint64_t count,
                        const long long *registers)
{
    const iteration_state_t *next = &forecast->next;
    bool equal = true;
    for (uint32_t i = 0; i < ITERATION_REGISTERS; i++) {
        const iteration_number_t number = next->registers[i];
        equal = equal && (uint64_t)registers[i] == number.value + number.slope * (count - 1);
    }
    for (uint32_t i = 0; i < next->cell_count && equal; i++) {
        const iteration_cell_t *cell = &next->cells[i];
        const uint64_t value = cell->number.value + cell->number.slope * (count - 1);
        equal = !cell->written ||
                load(cell->address, cell->bytes) == (value & mask_of(cell->bytes * 8u));
    }
    return equal;
}

bool iteration_jumps(unsigned code, uint64_t flags)
{
    const bool carry = (flags & 0x1) != 0;
    const bool parity = (flags & 0x4) != 0;
    const bool zero = (flags & 0x40) != 0;
    const bool sign = (flags & 0x80) != 0;
    const bool overflow = (flags & 0x800) != 0;
    const bool conditions[] = {overflow,
                               carry,
                               zero,
                               carry || zero,
                               sign,
                               parity,
                               sign != overflow,
                               zero || sign != overflow};
    return conditions[code >> 1] != ((code & 1) != 0);
}

// Returns true for a jump to an address in a register or in memory, but no library's function.
static bool is_branch(const uint8_t *code)
{
    code += *code == 0x3e ? 1 : 0;          // notrack
    code += (*code & 0xf0) == 0x40 ? 1 : 0; // REX
    return *code == 0xff && (code[1] & 0x38) == 0x20 && (code[1] & 0xc7) != 0x05;
}

bool iteration_branches(const uintptr_t *instructions, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && !is_branch((const uint8_t *)instructions[i])) {
        i++;
    }
    return i < count;
}
