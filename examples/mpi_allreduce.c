// SPDX-License-Identifier: Apache-2.0
// examples/mpi_allreduce.c - an all-reduce by MPI, timed and checked. docs/programs.md runs it.
//
//     mpicc -O2 -o mpi_allreduce examples/mpi_allreduce.c
//     mpirun -np 16 --hostfile hosts ./mpi_allreduce 67108864

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank = 0;
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 1048576;
    const size_t count = bytes / sizeof(float);
    float *own = malloc(bytes);
    float *sum = malloc(bytes);
    if (own == NULL || sum == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        own[i] = (float)(rank + 1);
    }
    // The first one connects the ranks.
    MPI_Allreduce(own, sum, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_s = MPI_Wtime();
    MPI_Allreduce(own, sum, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double own_s = MPI_Wtime() - begin_s;
    double longest_s = 0;
    MPI_Reduce(&own_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += sum[i] != (float)(size * (size + 1)) / 2;
    }
    if (rank == 0) {
        printf("all-reduce of %zu bytes on %d ranks: %.1f us\n", bytes, size, longest_s * 1e6);
    }
    if (wrong != 0) {
        printf("rank %d: %zu sums are wrong\n", rank, wrong);
    }
    free(own);
    free(sum);
    MPI_Finalize();
    return wrong != 0;
}
