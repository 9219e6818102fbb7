/*
 * ranks.h - training by several processes of this machine, each with a part of every
 * batch. Gradients and loss are averaged over the ranks after each backward pass, by
 * three operations at the end of that phase, through memory that all ranks share. A
 * rank that ends early ends the others.
 */
#pragma once

#include "graph.h"

struct ranks;

/* Forks `count` - 1 ranks; what comes after runs in each. Before threads are made, files opened and anything recorded. */
struct ranks *ranks_start(int count);
/* 0: the process that was started. */
int ranks_own(const struct ranks *ranks);

/* Appends the operations that average what the trained parameters' gradients and the
 * tensors `scalars` (`count` floats of their own) hold. `ranks` NULL: nothing. */
void ranks_append(struct ranks *ranks, struct graph *graph, struct tensor *const *scalars,
				  int count);

/* For an operation of one's own: `values` become their averages over the ranks. At most as
 * many bytes as the gradients. `ranks` must have been given to ranks_append(). */
void ranks_average(struct ranks *ranks, double *values, size_t count);
int ranks_count(const struct ranks *ranks); /* NULL: 1 */

/* Rank 0 waits for the others' end. */
void ranks_finish(struct ranks *ranks);
