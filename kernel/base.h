// SPDX-License-Identifier: Apache-2.0
// kernel/base.h - what every file of rocesim uses: time, errors, checks, memory.
//
// Time is picoseconds in a uint64_t (213 days). Rates are bit/s, sizes bytes, counts packets;
// other units exist only where text is parsed or printed.
//
// Three kinds of trouble (docs: ARCHITECTURE.md):
//   bad input from outside  -> a sim_err_t, with a message a person can act on;
//   a bug in this program   -> SIM_CHECK, which aborts with the expression and the values;
//   simulated misfortune    -> a result (a drop, a timeout), never an error code.
#ifndef KERNEL_BASE_H
#define KERNEL_BASE_H

#include <assert.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Enclose the declarations of a header, so that programs in C++ see them as C.
#ifdef __cplusplus
#define SIM_C_BEGIN extern "C" {
#define SIM_C_END }
#define SIM_C_CAST(like, pointer) ((decltype(+(like)))(pointer))
#else
#define SIM_C_BEGIN
#define SIM_C_END
#define SIM_C_CAST(like, pointer) (pointer)
#endif

SIM_C_BEGIN

typedef uint64_t sim_time_t; // picoseconds since the start of the simulation
// Holds the product of any two 64-bit numbers.
__extension__ typedef unsigned __int128 sim_wide_t;

#define SIM_TIME_NEVER UINT64_MAX
// The largest simulated time, 106.75 days: every run ends before it. A transmission or a timer that
// begins earlier may end up to 106.75 days later, so times never wrap.
#define SIM_TIME_END (UINT64_C(1) << 63)
#define SIM_PS_PER_NS UINT64_C(1000)
#define SIM_PS_PER_US UINT64_C(1000000)
#define SIM_PS_PER_MS UINT64_C(1000000000)
#define SIM_PS_PER_S UINT64_C(1000000000000)

#define SIM_LIKELY(x) __builtin_expect(!!(x), 1)
#define SIM_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SIM_ALWAYS_INLINE inline __attribute__((always_inline))
// Keeps a rare case out of a hot function, which then needs fewer registers and no stack frame.
#define SIM_NOINLINE __attribute__((noinline))
#define SIM_MUST_CHECK __attribute__((warn_unused_result))
#define SIM_PRINTF(format_index, first_index) \
    __attribute__((format(printf, format_index, first_index)))
// Return the smaller and the larger of two numbers of one type. Each is evaluated up to twice, so
// it may have no side effect.
#define SIM_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SIM_MAX(a, b) ((a) > (b) ? (a) : (b))
// The order of two numbers or pointers: -1, 0 or 1. An order by several keys has a weight for each,
// more than those behind it together: 2 * SIM_COMPARE(a->x, b->x) + SIM_COMPARE(a->y, b->y).
#define SIM_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))
#define SIM_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SIM_CONTAINER_OF(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
#define SIM_CACHE_LINE 64
#define SIM_PAGE_BYTES 4096

// Errors of functions that take input from outside. Zero is success.
// clang-format off
#define SIM_ERR_MAP(X)                                         \
    X(SIM_OK,            0, "no error")                        \
    X(SIM_ERR_INVALID,  -1, "invalid value")                   \
    X(SIM_ERR_RANGE,    -2, "value out of range")              \
    X(SIM_ERR_UNKNOWN,  -3, "unknown name")                    \
    X(SIM_ERR_EXISTS,   -4, "name already in use")             \
    X(SIM_ERR_STATE,    -5, "not possible in this state")      \
    X(SIM_ERR_IO,       -6, "input or output failed")          \
    X(SIM_ERR_STALLED,  -7, "the simulation stalled")          \
    X(SIM_ERR_FULL,     -8, "queue is full")
// clang-format on

typedef enum sim_err {
#define SIM_ERR_ENUM(name, value, text) name = value,
    SIM_ERR_MAP(SIM_ERR_ENUM)
#undef SIM_ERR_ENUM
} sim_err_t;

// Returns the fixed text of an error code; never NULL.
const char *sim_err_text(sim_err_t error);

// A message for a person, filled by the function that failed. Caller's memory.
typedef struct sim_message {
    char text[512];
    char about[64]; // the attribute whose value is wrong, with or without its table's prefix; or ""
    bool placed;    // text begins with the place in a file that was read: "FILE:LINE:COLUMN: "
} sim_message_t;

// Writes the message (truncating it) and returns error, so that a caller can write
// `return sim_fail(message, SIM_ERR_RANGE, "...")`. message may be NULL.
sim_err_t sim_fail(sim_message_t *message, sim_err_t error, const char *format, ...)
    SIM_PRINTF(3, 4);
// Writes a message about the value of one attribute and returns error. The text is `about` followed
// directly by what format says, such as ": 5, expected at most 4".
sim_err_t sim_fail_about(sim_message_t *message, sim_err_t error, const char *about,
                         const char *format, ...) SIM_PRINTF(4, 5);
// Writes a message about a place in a file, "FILE:LINE:COLUMN: " first, and returns error. Lines
// and columns count from 1.
sim_err_t sim_fail_in(sim_message_t *message, sim_err_t error, const char *file, uint64_t line,
                      uint64_t column, const char *format, ...) SIM_PRINTF(6, 7);

// Aborts if an invariant does not hold, which is a bug of this program. Always on.
#define SIM_CHECK(expression)                                        \
    do {                                                             \
        if (SIM_UNLIKELY(!(expression))) {                           \
            sim_check_failed(__FILE__, __LINE__, #expression, NULL); \
        }                                                            \
    } while (0)

// Checks likewise, with a formatted explanation that shows the values.
#define SIM_CHECKF(expression, ...)                                         \
    do {                                                                    \
        if (SIM_UNLIKELY(!(expression))) {                                  \
            sim_check_failed(__FILE__, __LINE__, #expression, __VA_ARGS__); \
        }                                                                   \
    } while (0)

// Checks what costs much (heap order, byte accounting) in debug, fuzz and sanitizer builds only.
#ifdef SIM_DEAR_CHECKS
#define SIM_ASSERT(expression) SIM_CHECK(expression)
#else
#define SIM_ASSERT(expression)    \
    do {                          \
        (void)sizeof(expression); \
    } while (0)
#endif

// Prints a failed check on stderr and aborts.
void sim_check_failed(const char *file, int line, const char *expression, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold, noreturn));

// Allocate zeroed memory and never return NULL: exhausted memory ends the program with a message
// that names the size asked for. Free with sim_free.
void *sim_alloc(size_t size_bytes) __attribute__((malloc, alloc_size(1)));
void *sim_alloc_array(size_t count, size_t size_bytes) __attribute__((malloc, alloc_size(1, 2)));
// Grows (or shrinks) memory of sim_alloc, or allocates it if `memory` is NULL. New bytes are not
// initialised. Invalidates `memory`.
void *sim_realloc_array(void *memory, size_t count, size_t size_bytes)
    __attribute__((alloc_size(2, 3)));
// Prints "rocesim: " and the text, a sentence without a full stop, and ends the program with status
// 1.
void sim_give_up(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
// Prints on stderr that there is no memory for count elements of a size, and exits with status 1.
void sim_out_of_memory(size_t count, size_t size_bytes) __attribute__((noreturn));
// Allocates zeroed memory, aligned to a cache line; from 1 MiB on it asks for huge pages. Free with
// sim_free.
void *sim_alloc_lines(size_t size_bytes) __attribute__((malloc, alloc_size(1)));
// Allocates zeroed memory, aligned to SIM_PAGE_BYTES, on small pages. Pages that nobody writes to
// take no memory. Free with sim_free_sparse, with the same size.
void *sim_alloc_sparse(size_t size_bytes) __attribute__((alloc_size(1)));
void sim_free_sparse(void *memory, size_t size_bytes); // NULL is allowed
// Gives freed memory back to the system, as far as the C library can. From then on, large memory
// takes none before it is written to. Call it after freeing much.
void sim_return_freed(void);
// Returns a copy of text; free with sim_free.
char *sim_strdup(const char *text) __attribute__((malloc));
// Returns what printf would print; free with sim_free.
char *sim_format(const char *format, ...) __attribute__((malloc)) SIM_PRINTF(1, 2);
char *sim_format_list(const char *format, va_list arguments) __attribute__((malloc))
SIM_PRINTF(1, 0);
void sim_free(void *memory); // NULL is allowed
// Frees several blocks. All pointers are read before the first block is freed, so the last one may
// be the struct that holds the others.
#define SIM_FREE_ALL(...) \
    sim_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void sim_free_all(void *const *blocks, size_t count);
// Frees each block of an array of pointers, which may be of any type, but not the array. The array
// may be NULL.
void sim_free_each(const void *pointers, size_t count);

// A growable array is three variables: a pointer to its elements, their number and its capacity, in
// elements, as a size_t or uint32_t. All zeros is an empty array. Free the pointer with sim_free.
// Appending costs O(1) amortised, and may move the elements.

// Appends an element to an array. `count` and `capacity` are lvalues that have no side effects.
#define SIM_APPEND(array, count, capacity, ...) \
    (SIM_GROW((array), (count), &(capacity)), (void)((array)[(count)++] = (__VA_ARGS__)))
// Make room for at least one more element, or for `count` elements in all. `capacity` is a pointer.
#define SIM_GROW(array, count, capacity) SIM_RESERVE((array), (size_t)(count) + 1, (capacity))
#define SIM_RESERVE(array, count, capacity) \
    ((array) = SIM_C_CAST(                  \
         array, sim_reserve((array), (count), (capacity), sizeof(*(capacity)), sizeof(*(array)))))
// Returns the array with room for at least `count` elements, moved if need be. Its capacity doubles
// until it suffices. *capacity is a number of capacity_bytes bytes, 4 or 8.
void *sim_reserve(void *memory, size_t count, void *capacity, size_t capacity_bytes,
                  size_t size_bytes);

// Returns whether a text ends with another one, or is equal to it.
bool sim_ends_with(const char *text, const char *end);

// Returns the ending of a noun behind a number: "" for one thing, "s" for others.
static inline const char *sim_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

// Mixes 64 bits so that every input bit changes every output bit (the finaliser of SplitMix64:
// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
static inline uint64_t sim_mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

SIM_C_END

#endif // KERNEL_BASE_H
