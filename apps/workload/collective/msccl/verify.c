// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/verify.c - executes a program on symbols: does it do its
// collective?
//
// A chunk of a buffer holds a symbol: which chunk of the input it comes from, and the set of ranks
// whose data are summed up in it. Messages arrive in order, and any number of them waits.
#include "apps/workload/collective/msccl/msccl.h"

#include <stdlib.h>
#include <string.h>

#define EMPTY UINT32_MAX
#define CHUNKS_MAX (UINT64_C(1) << 22) // of all buffers, and sent

typedef struct symbol {
    uint32_t number; // EMPTY: nothing
    uint64_t *set;   // bits of the ranks that are summed up
} symbol_t;

// The messages of a connection that were sent and not taken.
typedef struct queue {
    uint64_t key; // sender, receiver and lane: queue_key
    uint32_t *numbers;
    uint64_t *sets;
    size_t head;
    size_t count;
    size_t capacity;
    size_t set_capacity;
} queue_t;

typedef struct machine {
    const app__msccl_t *msccl;
    const app__program_file_t *program;
    uint32_t words; // of a set
    uint32_t per;   // chunks of a rank's part
    size_t *base;   // per rank and buffer: its first chunk
    size_t *end;    // per rank and buffer: the chunk behind its last
    uint32_t *numbers;
    uint64_t *sets;
    uint64_t *line;  // per chunk: of the step that wrote it last; 0: none did
    uint64_t *sum;   // a set that is being made
    uint32_t *done;  // per block: steps that it has taken
    queue_t *queues; // of the connections on which something is sent, by key
    size_t queue_count;
    sim_message_t *message;
} machine_t;

// -- where things are

static size_t place(const machine_t *machine, uint32_t rank, uint8_t buffer, uint32_t chunk)
{
    return machine->base[(size_t)rank * APP__MSCCL_BUFFERS + buffer] + chunk;
}

static bool is_inside(const machine_t *machine, uint32_t rank, uint8_t buffer, size_t at)
{
    return at < machine->end[(size_t)rank * APP__MSCCL_BUFFERS + buffer];
}

static symbol_t symbol_at(const machine_t *machine, size_t at)
{
    return (symbol_t){machine->numbers[at], machine->sets + at * machine->words};
}

static void write_symbol(machine_t *machine, size_t at, const symbol_t *symbol, size_t step)
{
    machine->line[at] = machine->msccl->step_line[step];
    machine->numbers[at] = symbol->number;
    memmove(machine->sets + at * machine->words, symbol->set, machine->words * sizeof(uint64_t));
}

// Lays out the buffers of all ranks; returns their chunks. In place, input and output are one.
static size_t lay_out(machine_t *machine)
{
    const app__program_file_t *const program = machine->program;
    size_t next = 0;
    for (uint32_t r = 0; r < program->ranks; r++) {
        const uint32_t *const chunks = &machine->msccl->chunks[r * APP__MSCCL_BUFFERS];
        size_t *const base = &machine->base[(size_t)r * APP__MSCCL_BUFFERS];
        size_t *const end = &machine->end[(size_t)r * APP__MSCCL_BUFFERS];
        if (program->in_place) {
            const uint32_t both = SIM_MAX(chunks[0], chunks[1]);
            const bool gathers = program->kind == APP__COLL_ALL_GATHER && chunks[0] < both;
            const bool scatters = program->kind == APP__COLL_REDUCE_SCATTER && chunks[1] < both;
            base[APP__BUFFER_INPUT] = next + (gathers ? (size_t)r * machine->per : 0);
            base[APP__BUFFER_OUTPUT] = next + (scatters ? (size_t)r * machine->per : 0);
            next += both;
            end[APP__BUFFER_INPUT] = next;
            end[APP__BUFFER_OUTPUT] = next;
        } else {
            for (uint32_t b = APP__BUFFER_INPUT; b <= APP__BUFFER_OUTPUT; b++) {
                base[b] = next;
                next += chunks[b];
                end[b] = next;
            }
        }
        base[APP__BUFFER_SCRATCH] = next;
        next += chunks[APP__BUFFER_SCRATCH];
        end[APP__BUFFER_SCRATCH] = next;
    }
    return next;
}

// -- what is there at first, and at the end

typedef struct wanted {
    size_t at;       // chunk
    uint32_t number; // of the symbol
    uint32_t only;   // the rank that it holds; EMPTY: all
} wanted_t;

// Returns how many chunks a rank has at first, and at the end.
static uint32_t count_of(const machine_t *machine, uint32_t rank, bool at_end)
{
    const app__program_file_t *const program = machine->program;
    switch (program->kind) {
    case APP__COLL_ALL_GATHER:
        return at_end ? program->chunks : machine->per;
    case APP__COLL_REDUCE_SCATTER:
        return at_end ? machine->per : program->chunks;
    case APP__COLL_BROADCAST:
        return at_end || rank == 0 ? program->chunks : 0;
    case APP__COLL_REDUCE:
        return !at_end || rank == 0 ? program->chunks : 0;
    case APP__COLL_ALL_REDUCE:
    case APP__COLL_ALL_TO_ALL:
    case APP__COLL_BARRIER:
    case APP__COLL_COUNT:
    default:
        return program->chunks;
    }
}

// Returns what chunk `i` of a rank's input holds at first, or of its output at the end.
static wanted_t wanted_of(const machine_t *machine, uint32_t rank, uint32_t i, bool at_end)
{
    const app__program_file_t *const program = machine->program;
    const uint32_t per = machine->per;
    const app__coll_kind_t kind = program->kind;
    const uint8_t buffer = at_end ? APP__BUFFER_OUTPUT : APP__BUFFER_INPUT;
    wanted_t wanted = {place(machine, rank, buffer, i), i, at_end ? EMPTY : rank};
    if (kind == APP__COLL_ALL_GATHER) {
        wanted.number = at_end ? i : rank * per + i;
        wanted.only = at_end ? i / per : rank;
    } else if (kind == APP__COLL_REDUCE_SCATTER && at_end) {
        wanted.number = rank * per + i;
    } else if (kind == APP__COLL_ALL_TO_ALL) {
        wanted.only = at_end ? i / per : rank;
        wanted.number = wanted.only * program->chunks + (at_end ? rank * per + i % per : i);
    } else if (kind == APP__COLL_BROADCAST) {
        wanted.only = 0;
    }
    return wanted;
}

static bool has_rank(const uint64_t *set, uint32_t rank)
{
    return (set[rank / 64] >> rank % 64 & 1) != 0;
}

// -- steps

static sim_err_t fail(const machine_t *machine, size_t step, uint32_t rank, const char *problem)
{
    return sim_fail_in(machine->message, SIM_ERR_INVALID, machine->msccl->file_name,
                       machine->msccl->step_line[step], 1,
                       "gpu %u: %s, expected a program that does its collective", rank, problem);
}

// Adds a symbol to machine->sum. Returns what is wrong with that; NULL: nothing.
static const char *add_symbol(machine_t *machine, uint32_t number, const symbol_t *symbol)
{
    if (symbol->number == EMPTY) {
        return "the step reduces a chunk that holds nothing yet";
    }
    if (symbol->number != number) {
        return "the step reduces two different chunks";
    }
    for (uint32_t w = 0; w < machine->words; w++) {
        if ((machine->sum[w] & symbol->set[w]) != 0) {
            return "the step adds the data of a rank twice";
        }
        machine->sum[w] |= symbol->set[w];
    }
    return NULL;
}

static void push(machine_t *machine, queue_t *queue, const symbol_t *symbol)
{
    SIM_GROW(queue->numbers, queue->count, &queue->capacity);
    while (queue->set_capacity < (queue->count + 1) * machine->words) {
        SIM_GROW(queue->sets, queue->set_capacity, &queue->set_capacity);
    }
    queue->numbers[queue->count] = symbol->number;
    memcpy(queue->sets + queue->count * machine->words, symbol->set,
           machine->words * sizeof(*queue->sets));
    queue->count++;
}

static uint64_t queue_key(uint32_t from, uint32_t to, uint32_t lane)
{
    return ((uint64_t)from << 10 | to) << 32 | lane;
}

static int compare_queues(const void *a, const void *b)
{
    const uint64_t one = ((const queue_t *)a)->key;
    const uint64_t two = ((const queue_t *)b)->key;
    return one < two ? -1 : one > two;
}

// Returns the queue of a connection; NULL: nothing is ever sent on it.
static queue_t *queue_of(const machine_t *machine, uint32_t from, uint32_t to, uint32_t lane)
{
    const queue_t wanted = {.key = queue_key(from, to, lane)};
    if (machine->queue_count == 0) {
        return NULL;
    }
    return bsearch(&wanted, machine->queues, machine->queue_count, sizeof(wanted), compare_queues);
}

// Does one chunk of a step. Returns what is wrong; NULL: nothing.
static const char *do_chunk(machine_t *machine, uint32_t rank, const app__step_t *step, queue_t *in,
                            queue_t *out, uint32_t i)
{
    const size_t from = place(machine, rank, step->from_buffer, step->from_chunk + i);
    const size_t to = place(machine, rank, step->to_buffer, step->to_chunk + i);
    if (!is_inside(machine, rank, step->from_buffer, from) ||
        !is_inside(machine, rank, step->to_buffer, to)) {
        return "the step leaves the buffer";
    }
    const symbol_t local = symbol_at(machine, from);
    symbol_t value = local;
    if ((step->what & APP__STEP_RECV) != 0) {
        value = (symbol_t){in->numbers[in->head], in->sets + in->head * machine->words};
        in->head++;
    }
    if ((step->what & APP__STEP_REDUCE) != 0) {
        const symbol_t other = (step->what & APP__STEP_RECV) != 0 ? local : symbol_at(machine, to);
        if (value.number == EMPTY) {
            return "the step reduces a chunk that holds nothing yet";
        }
        memcpy(machine->sum, value.set, machine->words * sizeof(*machine->sum));
        const char *const wrong = add_symbol(machine, value.number, &other);
        if (wrong != NULL) {
            return wrong;
        }
        value.set = machine->sum;
    }
    if (value.number == EMPTY) {
        return "the step sends or copies a chunk that holds nothing yet";
    }
    if ((step->what & (APP__STEP_STORE | APP__STEP_COPY)) != 0 || step->what == APP__STEP_REDUCE) {
        write_symbol(machine, to, &value, (size_t)(step - machine->program->steps));
    }
    if ((step->what & APP__STEP_SEND) != 0) {
        push(machine, out, &value);
    }
    return NULL;
}

static bool is_ready(const machine_t *machine, uint32_t first, const app__step_t *step,
                     const queue_t *in)
{
    if (step->wait_block != APP__NO_BLOCK &&
        machine->done[first + step->wait_block] <= step->wait_step) {
        return false;
    }
    const uint32_t messages = (step->what & APP__STEP_SIGNAL) != 0 ? 1 : step->count;
    return (step->what & APP__STEP_RECV) == 0 || (in != NULL && in->count - in->head >= messages);
}

// Does a step that is ready. Returns what is wrong; NULL: nothing.
static const char *do_step(machine_t *machine, uint32_t rank, const app__step_t *step, queue_t *in,
                           queue_t *out)
{
    if ((step->what & APP__STEP_SIGNAL) != 0) {
        const symbol_t signal = {0, machine->sum};
        if ((step->what & APP__STEP_RECV) != 0) {
            in->head++;
        } else {
            push(machine, out, &signal);
        }
        return NULL;
    }
    for (uint32_t i = 0; step->what != 0 && i < step->count; i++) {
        const char *const wrong = do_chunk(machine, rank, step, in, out, i);
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

// Takes the steps of a block that can be taken; adds their number to *steps.
static sim_err_t run_block(machine_t *machine, uint32_t rank, uint32_t block, uint64_t *steps)
{
    const app__program_file_t *const program = machine->program;
    const app__block_t *const own = &program->blocks[block];
    for (; machine->done[block] < own->steps; machine->done[block]++, (*steps)++) {
        const size_t index = (size_t)own->step_first + machine->done[block];
        const app__step_t *const step = &program->steps[index];
        queue_t *const in =
            (step->what & APP__STEP_RECV) != 0
                ? queue_of(machine, step->recv_peer, rank, own->channel + step->recv_lane)
                : NULL;
        queue_t *const out =
            (step->what & APP__STEP_SEND) != 0
                ? queue_of(machine, rank, step->send_peer, own->channel + step->send_lane)
                : NULL;
        if (!is_ready(machine, program->block_first[rank], step, in)) {
            return SIM_OK;
        }
        const char *const wrong = do_step(machine, rank, step, in, out);
        if (wrong != NULL) {
            return fail(machine, index, rank, wrong);
        }
    }
    return SIM_OK;
}

static sim_err_t run_all(machine_t *machine)
{
    const app__program_file_t *const program = machine->program;
    sim_err_t error = SIM_OK;
    for (uint64_t steps = 1; steps > 0 && error == SIM_OK;) {
        steps = 0;
        for (uint32_t r = 0; r < program->ranks && error == SIM_OK; r++) {
            for (uint32_t b = program->block_first[r];
                 b < program->block_first[r + 1] && error == SIM_OK; b++) {
                error = run_block(machine, r, b, &steps);
            }
        }
    }
    for (uint32_t r = 0; r < program->ranks && error == SIM_OK; r++) {
        for (uint32_t b = program->block_first[r]; b < program->block_first[r + 1]; b++) {
            if (machine->done[b] < program->blocks[b].steps) {
                return fail(machine, (size_t)program->blocks[b].step_first + machine->done[b], r,
                            "the step waits for a message or a step that never comes");
            }
        }
    }
    return error;
}

// -- the whole

// Makes a queue for each connection on which something is sent.
static void connect(machine_t *machine)
{
    const app__program_file_t *const program = machine->program;
    size_t capacity = 0;
    for (uint32_t r = 0; r < program->ranks; r++) {
        for (uint32_t b = program->block_first[r]; b < program->block_first[r + 1]; b++) {
            const app__block_t *const block = &program->blocks[b];
            for (uint32_t s = 0; s < block->steps; s++) {
                const app__step_t *const step = &program->steps[block->step_first + s];
                const uint64_t key =
                    queue_key(r, step->send_peer, block->channel + step->send_lane);
                const size_t count = machine->queue_count;
                if ((step->what & APP__STEP_SEND) != 0 &&
                    (count == 0 || machine->queues[count - 1].key != key)) {
                    SIM_APPEND(machine->queues, machine->queue_count, capacity,
                               (queue_t){.key = key});
                }
            }
        }
    }
    if (machine->queue_count > 0) {
        qsort(machine->queues, machine->queue_count, sizeof(*machine->queues), compare_queues);
    }
    size_t kept = 0;
    for (size_t i = 0; i < machine->queue_count; i++) {
        if (kept == 0 || machine->queues[kept - 1].key != machine->queues[i].key) {
            machine->queues[kept++] = machine->queues[i];
        }
    }
    machine->queue_count = kept;
}

static sim_err_t fill_inputs(machine_t *machine)
{
    for (uint32_t r = 0; r < machine->program->ranks; r++) {
        for (uint32_t i = 0; i < count_of(machine, r, false); i++) {
            const wanted_t wanted = wanted_of(machine, r, i, false);
            if (!is_inside(machine, r, APP__BUFFER_INPUT, wanted.at)) {
                return sim_fail_in(machine->message, SIM_ERR_INVALID, machine->msccl->file_name,
                                   machine->msccl->gpu_line[r], 1,
                                   "gpu %u has too few input chunks, expected %u", r,
                                   count_of(machine, r, false));
            }
            machine->numbers[wanted.at] = wanted.number;
            machine->sets[wanted.at * machine->words + r / 64] |= UINT64_C(1) << r % 64;
        }
    }
    return SIM_OK;
}

// Checks that every rank has the result.
static sim_err_t check_outputs(const machine_t *machine)
{
    const uint32_t ranks = machine->program->ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        for (uint32_t i = 0; i < count_of(machine, r, true); i++) {
            const wanted_t wanted = wanted_of(machine, r, i, true);
            const bool inside = is_inside(machine, r, APP__BUFFER_OUTPUT, wanted.at);
            bool good = inside && machine->numbers[wanted.at] == wanted.number;
            for (uint32_t q = 0; q < ranks && good; q++) {
                good = has_rank(machine->sets + wanted.at * machine->words, q) ==
                       (wanted.only == EMPTY || wanted.only == q);
            }
            if (!good) {
                const bool written = inside && machine->line[wanted.at] != 0;
                return sim_fail_in(machine->message, SIM_ERR_INVALID, machine->msccl->file_name,
                                   written ? machine->line[wanted.at] : machine->msccl->gpu_line[r],
                                   1,
                                   "gpu %u has not the result in chunk %u of its output at the "
                                   "end%s, expected a program that does its collective",
                                   r, i, written ? " (this step wrote it last)" : "");
            }
        }
    }
    return SIM_OK;
}

static sim_err_t run(machine_t *machine, size_t chunks)
{
    const app__program_file_t *const program = machine->program;
    machine->numbers = sim_alloc_array(chunks + 1, sizeof(*machine->numbers));
    machine->sets = sim_alloc_array((chunks + 1) * machine->words, sizeof(*machine->sets));
    machine->line = sim_alloc_array(chunks + 1, sizeof(*machine->line));
    machine->sum = sim_alloc_array(machine->words, sizeof(*machine->sum));
    machine->done = sim_alloc_array(program->block_count + 1, sizeof(*machine->done));
    for (size_t i = 0; i < chunks; i++) {
        machine->numbers[i] = EMPTY;
    }
    connect(machine);
    sim_err_t error = fill_inputs(machine);
    if (error == SIM_OK) {
        error = run_all(machine);
    }
    if (error == SIM_OK) {
        error = check_outputs(machine);
    }
    for (size_t q = 0; q < machine->queue_count; q++) {
        sim_free(machine->queues[q].numbers);
        sim_free(machine->queues[q].sets);
    }
    SIM_FREE_ALL(machine->numbers, machine->sets, machine->line, machine->sum, machine->done,
                 machine->queues);
    return error;
}

sim_err_t app__msccl_verify(const app__msccl_t *msccl, sim_message_t *message)
{
    const app__program_file_t *const program = msccl->program;
    const bool has_parts = program->kind == APP__COLL_ALL_GATHER ||
                           program->kind == APP__COLL_REDUCE_SCATTER ||
                           program->kind == APP__COLL_ALL_TO_ALL;
    machine_t machine = {
        .msccl = msccl,
        .program = program,
        .words = (program->ranks + 63) / 64,
        .per = program->chunks < program->ranks ? 1 : program->chunks / program->ranks,
        .message = message,
    };
    if (has_parts && program->chunks % program->ranks != 0) {
        return sim_fail_in(message, SIM_ERR_INVALID, msccl->file_name, msccl->gpu_line[0], 1,
                           "a loop has %u chunks, expected a multiple of the %u gpus",
                           program->chunks, program->ranks);
    }
    const size_t buffers = (size_t)program->ranks * APP__MSCCL_BUFFERS;
    machine.base = sim_alloc_array(buffers, sizeof(*machine.base));
    machine.end = sim_alloc_array(buffers, sizeof(*machine.end));
    const size_t chunks = lay_out(&machine);
    const sim_err_t error =
        chunks > CHUNKS_MAX || msccl->chunks_sent > CHUNKS_MAX
            ? sim_fail_in(message, SIM_ERR_RANGE, msccl->file_name, msccl->gpu_line[0], 1,
                          "the program is too large to be verified, expected up to %u chunks in "
                          "all buffers, and as many sent",
                          (uint32_t)CHUNKS_MAX)
            : run(&machine, chunks);
    sim_free(machine.base);
    sim_free(machine.end);
    return error;
}
