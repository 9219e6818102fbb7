/*
 * Another profiler plugin of NCCL, to which dwell's passes on: it counts what it gets, and at the end prints it.
 * VERSION is the one version of the interface that it has.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../probes/nccl/interface.h"

#define WANTED (NCCL_COLLECTIVE | NCCL_KERNEL_CHANNEL)

static struct other {
	int type;
	const struct other *parent;
} made[4096];
static int count, stopped, channels, right_parents, states;

static int other_start(void *context, void **handle, struct nccl_event *event)
{
	struct other *at = &made[count++];

	at->type = VERSION == 4 ? event->type.byte : (int)event->type.word;
	at->parent = event->parent;
	if (at->type == NCCL_KERNEL_CHANNEL) {
		channels++;
		right_parents += at->parent >= made && at->parent < made + count && at->parent->type == NCCL_COLLECTIVE;
	}
	*handle = context == made ? at : NULL;
	return NCCL_SUCCESS;
}

static int other_stop(void *handle)
{
	stopped += handle >= (void *)made && handle < (void *)(made + count);
	return NCCL_SUCCESS;
}

static int other_state(void *handle, int state, void *arguments)
{
	(void)state, (void)arguments;
	states += handle >= (void *)made && handle < (void *)(made + count);
	return NCCL_SUCCESS;
}

static int other_end(void *context)
{
	fprintf(stderr, "other: %d events, %d of channels, %d with their collective, %d stopped, %d states, context %s\n", count,
	        channels, right_parents, stopped, states, context == made ? "right" : "wrong");
	return NCCL_SUCCESS;
}

#if VERSION == 4
static int other_init(void **context, int *mask, const char *name, uint64_t id, int nodes, int ranks, int rank, void *logger)
#else
static int other_init(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, void *logger)
#endif
{
	*context = made;
	*mask = WANTED;
	(void)name, (void)nodes, (void)rank, (void)logger;
	return id == 0x1234 && ranks == 2 ? NCCL_SUCCESS : 1;
}

#define EXPORT __attribute__((visibility("default")))
#if VERSION == 4
EXPORT const struct nccl_profiler_v4 ncclProfiler_v4 = { "other", other_init, other_start, other_stop, other_state, other_end };
#else
EXPORT const struct nccl_profiler_v5 ncclProfiler_v5 = { "other", other_init, other_start, other_stop, other_state, other_end };
#endif
