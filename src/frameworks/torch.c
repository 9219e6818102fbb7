/* PyTorch; see frameworks.h. */
#include "frameworks/torch.h"

#include <stddef.h>

/* Collective operators, c10d::allreduce_, and what the threads that run them call their
 * ranges, gloo:all_reduce. */
static const char *const collectives[] = { "c10d::", "gloo:", "nccl:", "mpi:", "ucc:", NULL };

const struct dw_framework dw_framework_torch = { .name = "torch", .collectives = collectives };
