// SPDX-License-Identifier: Apache-2.0
// tests/programs/sanitized.c - faults that AddressSanitizer finds: overflow, leak, memory.
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
    const char *const fault = count > 1 ? words[1] : "";
    struct ibv_device **const devices = ibv_get_device_list(NULL);
    if (devices == NULL) {
        return 2;
    }
    if (strcmp(fault, "overflow") == 0) {
        volatile char *memory = malloc(10);
        memory[count + 8] = 1; // one behind the end
        free((void *)(uintptr_t)memory);
    } else if (strcmp(fault, "leak") == 0) {
        char *volatile memory = malloc(10);
        printf("%d byte\n", memory != NULL);
        memory = NULL;
    } else {
        for (;;) { // takes memory until it is ended
            char *volatile memory = malloc(1u << 20);
            memset(memory, 1, 1u << 20);
        }
    }
    ibv_free_device_list(devices);
    printf("done\n");
    return 0;
}
