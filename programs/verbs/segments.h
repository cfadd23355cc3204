// SPDX-License-Identifier: Apache-2.0
// programs/verbs/segments.h - segments of System V, whose pages may have been registered.
#ifndef PROGRAMS_VERBS_SEGMENTS_H
#define PROGRAMS_VERBS_SEGMENTS_H

// Do what shmat() and shmdt() do. UCX replaces these functions and makes the system calls.
long segments_attach(int id, const void *wish, int flags);
long segments_detach(const void *address);

#endif // PROGRAMS_VERBS_SEGMENTS_H
