// SPDX-License-Identifier: Apache-2.0
// tests/programs/loops.c - a program that test_programs_loops.sh starts on two simulated hosts.
//
// Both programs write numbers into each other's memory in turn, and wait for them by loops of
// instructions without a call: ROUNDS numbers for each form of a loop. Each prints its forms with
// what was written into their code, and the simulated time.
#include "tests/programs/pair.h"

#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#define ROUNDS 10
#define WORD_BYTES 4096

typedef void wait_fn(volatile uint64_t *word, uint64_t value);

static uint64_t words[2 * WORD_BYTES / sizeof(uint64_t)] __attribute__((aligned(WORD_BYTES), used));

// A form of a loop that waits until `word`, %rdi, has the value in %rsi. Vector registers and %rdx
// must survive.
#define FORM(name, text)                                         \
    extern wait_fn name, name##_end;                             \
    __asm__(".pushsection .text\n"                               \
            ".p2align 4\n" #name ":\n"                           \
            "    movq %rsi, %xmm6\n"                             \
            "    mov %rsi, %rdx\n" text "    movq %xmm6, %rax\n" \
            "    cmp %rsi, %rax\n"                               \
            "    jne 9f\n"                                       \
            "    cmp %rsi, %rdx\n"                               \
            "    jne 9f\n"                                       \
            "    ret\n"                                          \
            "9:  ud2\n" #name "_end: ret\n"                      \
            ".popsection\n")

FORM(short_loop, "1: cmp %rsi, (%rdi)\n jne 1b\n");
FORM(load_loop, "1: mov (%rdi), %rax\n cmp %rsi, %rax\n jne 1b\n");
FORM(byte_loop, "1: movzbl (%rdi), %eax\n cmp %sil, %al\n jne 1b\n cmp %rsi, (%rdi)\n jne 1b\n");
FORM(pause_loop, "1: pause\n cmp %rsi, (%rdi)\n jne 1b\n");
FORM(relative_loop, "1: cmp %rsi, words(%rip)\n jne 1b\n");
FORM(immediate_loop, "1: testl $0x7fffffff, 4(%rdi)\n jne 1b\n cmpl %esi, words(%rip)\n jne 1b\n");
FORM(near_loop, "1: cmp %rsi, (%rdi)\n je 2f\n jmp 1b\n .skip 200, 0x90\n 2:\n");
FORM(middle_loop, "jmp 2f\n 1: pause\n 2: cmp %rsi, (%rdi)\n jne 1b\n");
FORM(fixed_loop, "test %rsi, %rsi\n js 3f\n 1: cmp %rsi, (%rdi)\n 3: jne 1b\n pxor %xmm1, %xmm1\n");

// Forms of loops that count. Each leaves its loop without the value after so many iterations, and
// how many there were in `counted`.
static uint64_t bound = 1000000000;
static uint64_t counted;

#define PLAIN __attribute__((noinline, optimize("O0")))
#define FAST __attribute__((noinline, optimize("O2")))

#ifdef COUNTS_TOO
static volatile int done;

#define COUNTS(name, how)                                                   \
    how static void name(volatile uint64_t *word, uint64_t value)           \
    {                                                                       \
        uint64_t tries = 0;                                                 \
        while (*word != value && ++tries < bound) {                         \
        }                                                                   \
        counted = tries;                                                    \
    }                                                                       \
    how static void name##_down(volatile uint64_t *word, uint64_t value)    \
    {                                                                       \
        int left = (int)bound;                                              \
        while (*(volatile uint8_t *)word != (uint8_t)value && left-- > 0) { \
            __builtin_ia32_pause();                                         \
        }                                                                   \
        counted = (uint64_t)((int)bound - left);                            \
    }                                                                       \
    how static void name##_for(volatile uint64_t *word, uint64_t value)     \
    {                                                                       \
        uint32_t twos = 0;                                                  \
        uint64_t i = 0;                                                     \
        for (i = 0; i < bound && *word != value && !done; i++) {            \
            twos += 2;                                                      \
        }                                                                   \
        counted = twos == (uint32_t)(2 * i) ? i : 0;                        \
    }

COUNTS(plain, PLAIN)
COUNTS(fast, FAST)
#endif

static const struct {
    const char *name;
    wait_fn *wait;
    wait_fn *end;
} forms[] = {
    {"short", short_loop, short_loop_end},
    {"load", load_loop, load_loop_end},
    {"byte", byte_loop, byte_loop_end},
    {"pause", pause_loop, pause_loop_end},
    {"relative", relative_loop, relative_loop_end},
    {"immediate", immediate_loop, immediate_loop_end},
    {"near", near_loop, near_loop_end},
    {"middle", middle_loop, middle_loop_end},
    {"fixed", fixed_loop, fixed_loop_end},
#ifdef COUNTS_TOO
    {"count", fast, NULL},
    {"count-down", fast_down, NULL},
    {"count-for", fast_for, NULL},
    {"plain-count", plain, NULL},
    {"plain-count-down", plain_down, NULL},
    {"plain-count-for", plain_for, NULL},
#endif
};
#define FORMS (sizeof forms / sizeof forms[0])

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Returns what was written into the code of a form.
static const char *written(unsigned form, const uint8_t *before)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)forms[form].wait;
    if (forms[form].end == NULL) {
        return "before"; // the program began
    }
    const size_t bytes = (size_t)((const uint8_t *)(uintptr_t)forms[form].end - code);
    for (size_t i = 0; i < bytes; i++) {
        if (code[i] != before[i]) {
            return code[i] == 0xcc ? "int3" : code[i] == 0xe9 ? "jump" : "neither";
        }
    }
    return "nothing";
}

int main(int argc, char **argv)
{
    pair_begin(argc, argv);
    struct ibv_mr *mr =
        ibv_reg_mr(pd, words, sizeof words, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT(mr != NULL);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    const bool first = argc > 1;
    uint64_t *own = words + WORD_BYTES / sizeof(uint64_t);
    uint64_t value = 0;
    for (unsigned form = 0; form < FORMS; form++) {
        uint8_t before[512];
        memcpy(before, (const void *)(uintptr_t)forms[form].wait, sizeof before);
        for (unsigned round = 0; round < ROUNDS; round++) {
            value++;
            if (!first) {
                forms[form].wait(words, value);
            }
            *own = value;
            EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, WORD_BYTES, 8, &peer, 0) == 0);
            EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
            if (first) {
                forms[form].wait(words, value);
            }
        }
        printf("%s %s %lu ns %lu\n", forms[form].name, written(form, before),
               (unsigned long)now_ns(), (unsigned long)counted);
    }
    // Waits for what does not come.
    const unsigned long bounds[] = {20, 100000, 50000000};
    for (unsigned i = 0; i < 3; i++) {
        bound = bounds[i];
        for (unsigned form = 0; form < FORMS; form++) {
            const uint64_t begin_ns = now_ns();
            if (forms[form].end == NULL) {
                forms[form].wait(words, value + 1);
                printf("without %s %lu %lu ns\n", forms[form].name, (unsigned long)counted,
                       (unsigned long)(now_ns() - begin_ns));
            }
        }
    }
    return 0;
}
