// SPDX-License-Identifier: Apache-2.0
// programs/process/begin.c - prepares the parts of the library.

#include "programs/files/streams.h"
#include "programs/parts.h"
#include "programs/process/random.h"
#include "programs/process/signals.h"
#include "programs/spin/loops.h"
#include "programs/time/clocks.h"
#include "programs/time/tsc.h"
#include "programs/trace.h"

void parts_begin(void)
{
    random_begin();
    signals_begin();
    tsc_begin();
    clocks_begin();
    spin_begin();
    streams_begin();
    trace_begin();
}
