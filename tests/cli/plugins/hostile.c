// SPDX-License-Identifier: Apache-2.0
// tests/cli/plugins/hostile.c - a plug-in that does harm, in one of many ways: $HOSTILE_CASE.
//
// $HOSTILE_MARK is a file that must never come to be, $HOSTILE_VICTIM one that must stay.
#define _GNU_SOURCE

#include "world/plugin.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct state {
    nic_cc_t cc; // first
    uint64_t numbers[4];
    sim_timer_t timer;
} state_t;

static int number; // of the case
static char mark_path[256];
static char touch[300];
static char victim_path[256];
static volatile uint64_t zero; // unknown to the compiler
static void *volatile nothing;

static void mark(void) // writes where nothing may be written
{
    const int file = open(mark_path, O_WRONLY | O_CREAT, 0666);
    if (file >= 0) {
        (void)!write(file, "x", 1);
        (void)close(file);
    }
}

static void *run_thread(void *context)
{
    mark();
    return context;
}

static int deeper(int n)
{
    volatile char room[4096];
    room[0] = (char)n;
    return n < 0 ? 0 : deeper(n + 1) + room[0];
}

static void loop_forever(void)
{
    while (zero == 0) {
    }
}

static void handler(int signal_number)
{
    (void)signal_number;
    loop_forever();
}

static void armed(sim_node_t *node, sim_timer_t *timer)
{
    sim_timer_arm(node, timer, node->now_ps + (number == 40 ? 0 : 1000));
}

static void set_rate(nic_cc_t *cc, double bps, bool tells)
{
    cc->rate_bps = (uint64_t)bps;
    if (tells) {
        nic_cc_rate_changed(cc);
    }
}

static void fill(state_t *state, size_t from, size_t size)
{
    memset((char *)state + sizeof(*state) + from, (int)zero, size);
}

static void harm(nic_cc_t *cc)
{
    state_t *const state = (state_t *)(void *)cc;
    struct iovec vector = {(void *)(uintptr_t)&zero, sizeof(zero)};
    pthread_t thread;
    sigset_t all;
    // clang-format off
    switch (number) {
    case 1: *(volatile int *)nothing = 1; break;
    case 2: (void)deeper(1); break;
    case 3: loop_forever(); break;
    case 6: while (zero == 0) { (void)sleep(1000); } break;
    case 7: fill(state, 0, 1); break;
    case 8: fill(state, 60, 20); break;
    case 9: cc->ops = nothing; break;
    case 10: cc->line_bps *= 10; break;
    case 11: set_rate(cc, 0, false); break;
    case 12: set_rate(cc, (double)cc->line_bps * 1.5, false); break;
    case 13: set_rate(cc, sqrt(-1.0 - (double)zero), false); break;
    case 14: cc->rate_bps = (uint64_t)-1000; break;
    case 15: set_rate(cc, 0, true); break;
    case 16: cc->rate_bps = cc->rate_bps / zero; break;
    case 17: abort();
    case 18: exit(0);
    case 19: _exit(0);
    case 20: (void)raise(SIGKILL); break;
    case 21: (void)kill(getppid(), SIGKILL); break;
    case 22: if (fork() == 0) { mark(); _exit(0); } break;
    case 23: (void)execl("/bin/touch", "touch", mark_path, (char *)NULL); break;
    case 24: (void)!system(touch); break; // NOLINT(cert-env33-c)
    case 25: (void)socket(AF_INET, SOCK_STREAM, 0); break;
    case 26: (void)open("/etc/passwd", O_RDONLY); break;
    case 27: mark(); abort();
    case 28: (void)unlink(victim_path); abort();
    case 30: for (;;) { memset(malloc(1 << 20), 1, 1 << 20); } break;
    case 31: (void)pthread_create(&thread, NULL, run_thread, NULL); break;
    case 32: sigfillset(&all); (void)sigprocmask(SIG_BLOCK, &all, NULL); loop_forever(); break;
    case 33: (void)signal(SIGSEGV, handler); *(volatile int *)nothing = 1; break;
    case 34: (void)process_vm_writev(getppid(), &vector, 1, &vector, 1, 0); break;
    case 35: (void)setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}); break;
    case 36: free((char *)cc + 8); break;
    case 39: sim_timer_init(&state->timer, armed); armed(cc->node, &state->timer); break;
    case 40: sim_timer_init(&state->timer, armed); armed(cc->node, &state->timer); break;
    case 41: ((void (*)(void))(uintptr_t)zero)(); break;
    case 42: __builtin_trap();
    case 43: ((nic_cc_ops_t *)(uintptr_t)cc->ops)->name = "x"; *(char *)(uintptr_t) "text" = 'x'; break;
    case 44: (void)close(STDERR_FILENO); *(volatile int *)nothing = 1; break;
    case 45: (void)syscall(SYS_io_uring_setup, 1, nothing); break;
    case 46: memset((char *)cc - 256, 0xff, 256); break;
    case 47: (void)rename(victim_path, mark_path); abort();
    case 48: (void)alarm(0); loop_forever(); break;
    default: break;
    }
    // clang-format on
}

static void begin(nic_cc_t *cc)
{
    harm(cc);
}

// -- harm that begins with loading

__attribute__((constructor)) static void constructed(void)
{
    const char *const text = getenv("HOSTILE_CASE");
    const char *const mark_text = getenv("HOSTILE_MARK");
    const char *const victim_text = getenv("HOSTILE_VICTIM");
    number = text != NULL ? (int)strtol(text, NULL, 10) : 0;
    (void)snprintf(mark_path, sizeof(mark_path), "%s", mark_text != NULL ? mark_text : "");
    (void)snprintf(touch, sizeof(touch), "touch '%s'", mark_path);
    (void)snprintf(victim_path, sizeof(victim_path), "%s", victim_text != NULL ? victim_text : "");
    if (number == 4) {
        loop_forever();
    }
    if (number == 29) {
        mark();
        (void)unlink(victim_path);
        abort();
    }
    if (number == 49) {
        (void)socket(AF_INET, SOCK_STREAM, 0);
    }
}

static const sim_attr_t rows[] = {{.path = "nic.hostile.x",
                                   .type = SIM_ATTR_COUNT,
                                   .offset = 1000000,
                                   .default_text = "1",
                                   .help = "x"}};
static const sim_attr_table_t attrs = {"nic.hostile", "node", 8, rows, 1};

static nic_cc_ops_t hostile = {"hostile", sizeof(state_t), .start = begin};

WORLD_PLUGIN
{
    if (number == 5) {
        loop_forever();
    }
    if (number == 38) {
        return SIM_ERR_INVALID;
    }
    if (number == 50) {
        return SIM_OK; // and adds nothing
    }
    hostile.attrs = number == 37 ? &attrs : NULL;
    return world_registry_add_cc(registry, &hostile, error);
}
