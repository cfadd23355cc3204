// SPDX-License-Identifier: Apache-2.0
// kernel/utf8.h - how many bytes a character of UTF-8 has.
#ifndef KERNEL_UTF8_H
#define KERNEL_UTF8_H

#include "kernel/base.h"

SIM_C_BEGIN

// Returns the number of bytes of the UTF-8 character that begins at `bytes`, of which `left` >= 1
// can be read; 0: there is none. RFC 3629 allows the shortest form only, and no surrogates.
size_t sim_utf8_bytes(const unsigned char *bytes, size_t left);

SIM_C_END

#endif // KERNEL_UTF8_H
