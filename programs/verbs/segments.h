// SPDX-License-Identifier: Apache-2.0
// programs/verbs/segments.h - segments of System V: memory that programs of one host share by keys.
#ifndef PROGRAMS_VERBS_SEGMENTS_H
#define PROGRAMS_VERBS_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

// Does one of the system calls shmget, shmat, shmdt and shmctl. UCX makes these itself. Returns
// false if it is another one, or is not simulated here.
bool segments_call(long number, const long arguments[3], long *result);

// Returns the number of the attached segment whose pages are those of the file with this inode,
// plus 1; 0: there is none.
uint32_t segments_of_inode(uint64_t inode);

// Makes the file that is mapped at [begin, end) a segment, which the simulator can map, too.
// Returns its number, plus 1; 0: the file cannot be opened.
uint32_t segments_of_mapping(uint64_t begin, uint64_t end, uint64_t device, uint64_t inode);

#endif // PROGRAMS_VERBS_SEGMENTS_H
