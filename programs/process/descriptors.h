// SPDX-License-Identifier: Apache-2.0
// programs/process/descriptors.h - descriptors that belong to the library.
//
// They have high numbers, and programs that close all that is open, or copy something over them,
// get EBADF.
#ifndef PROGRAMS_PROCESS_DESCRIPTORS_H
#define PROGRAMS_PROCESS_DESCRIPTORS_H

#include <stdbool.h>

// The first number that belongs to the library.
#define DESCRIPTORS_HIDDEN 1000

// Moves a descriptor to a number that belongs to the library, and returns it.
int descriptors_hide(int descriptor);

// Closes a descriptor of the library.
void descriptors_close(int descriptor);

// Returns true if the descriptor belongs to the library.
bool descriptors_hidden(int descriptor);

#endif // PROGRAMS_PROCESS_DESCRIPTORS_H
