// SPDX-License-Identifier: Apache-2.0
// topologies/file_readers.h - the readers of topology files of other simulators.
#ifndef TOPOLOGIES_FILE_READERS_H
#define TOPOLOGIES_FILE_READERS_H

#include "topologies/file_internal.h"

SIM_MUST_CHECK sim_err_t topo__file_read_hpcc(topo__file_reader_t *reader);
SIM_MUST_CHECK sim_err_t topo__file_read_htsim(topo__file_reader_t *reader);

#endif // TOPOLOGIES_FILE_READERS_H
