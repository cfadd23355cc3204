// SPDX-License-Identifier: Apache-2.0
// studio/server/library/sweep_names.h - names of runs that say what distinguishes them.
#ifndef STUDIO_SERVER_LIBRARY_SWEEP_NAMES_H
#define STUDIO_SERVER_LIBRARY_SWEEP_NAMES_H

// Returns the values that distinguish a run from the others of its sweep, such as "hpcc,
// bytes=1MiB, seed 2". table is the sweep's runs.csv, and run the run's folder, such as p1-s2.
// Returns NULL if the table does not have the run, or if all runs have the same values. Free the
// text with sim_free.
char *studio_sweep_run_name(const char *table, const char *run);

#endif // STUDIO_SERVER_LIBRARY_SWEEP_NAMES_H
