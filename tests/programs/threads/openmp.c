// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/openmp.c - threads of OpenMP, for test_program_threads.sh.
//
// OpenMP's library of GCC waits by system calls of its own, and counts in loops before. Prints the
// sum, and the times at which the threads were together, which are those of the simulation.
#include <omp.h>
#include <stdio.h>

#define ROUNDS 50

int main(void)
{
    long sum = 0;
    long tasks = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(4) reduction(+ : sum)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 100; i++) {
            sum += i;
        }
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 5; i++) {
#pragma omp task shared(tasks)
#pragma omp critical
            tasks++;
        }
    }
    printf("sum %ld, tasks %ld, at %.9f s\n", sum, tasks, omp_get_wtime());
    return sum == ROUNDS * (4950 + 4) && tasks == ROUNDS * 5 ? 0 : 1;
}
