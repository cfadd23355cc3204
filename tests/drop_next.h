// SPDX-License-Identifier: Apache-2.0
// tests/drop_next.h - the loss of one chosen packet on a link, for tests of what follows it.
#ifndef TESTS_DROP_NEXT_H
#define TESTS_DROP_NEXT_H

#include "net/node.h"

// Makes the count-th RoCE packet that the port sends from now on get lost (1: the next). A later
// call for the port replaces an earlier one that has not lost its packet yet. Before the run. It
// sets the port's loss rate for the time of that packet, so it does not go with other losses.
void test_drop_next(net_port_t *port, uint64_t count);

#endif // TESTS_DROP_NEXT_H
