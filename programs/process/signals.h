// SPDX-License-Identifier: Apache-2.0
// programs/process/signals.h - the program's handlers of signals, behind one of the library.
//
// Signals of the program's timers come when the simulator says so. A signal that comes while the
// thread is in a call waits until the call has returned. SIGSEGV, SIGILL, SIGTRAP, SIGSYS and the
// signal of the search for loops belong to the library, which passes on what is not its own.
#ifndef PROGRAMS_PROCESS_SIGNALS_H
#define PROGRAMS_PROCESS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define SIGNALS_SPIN 63 // fires after processor time without a call

// Handles a signal of the library. Returns false if it is the program's.
typedef bool (*signals_own_fn)(siginfo_t *info, ucontext_t *context);

// Number of handlers of the program that ran in the calling thread, and of those that interrupt a
// call (no SA_RESTART).
extern __thread uint64_t signals_handled __attribute__((tls_model("initial-exec")));
extern __thread uint64_t signals_interrupts __attribute__((tls_model("initial-exec")));

// Prepares the library's handlers.
void signals_begin(void);

// Installs a handler of the library.
void signals_own(int signal, signals_own_fn handler);

// Sets the value that the program's handler finds with this signal; none if `timer` is false.
void signals_set_value(int signal, bool timer, union sigval value);

// Gives the calling thread a stack for handlers of signals, and takes it back.
void signals_begin_stack(bool is_first);
void signals_end_stack(void);

#endif // PROGRAMS_PROCESS_SIGNALS_H
