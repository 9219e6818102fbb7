/* PyTorch; see frameworks.h. */
#include "frameworks/torch.h"

#include <stddef.h>

/* Collective operators, such as c10d::allreduce_, and the ranges of the threads that run them, such
 * as gloo:all_reduce. */
static const char *const collectives[] = { "c10d::", "gloo:", "nccl:", "mpi:", "ucc:", NULL };

const struct dw_framework dw_framework_torch = { .name = "torch", .collectives = collectives };
