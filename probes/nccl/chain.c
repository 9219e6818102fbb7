/* Another profiler plugin of NCCL; see chain.h. */
#include "chain.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPES_OF_4 0xffu /* version 4 has one byte for a type */

struct dwn_next {
	void *context;
	uint64_t mask; /* what it asks for */
};

/* The library, and its functions; the same in all versions but for init(). */
static struct {
	bool looked;
	int version; /* 0: there is none */
	const struct nccl_profiler_v4 *v4;
	const struct nccl_profiler_v5 *v5;
	nccl_start_event *start;
	nccl_stop_event *stop;
	nccl_record_state *record;
	nccl_finalize *finalize;
} chain;

/* As NCCL does: a path, or what stands in the name of a library. */
static void *chain_open(const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	char file[512];

	if (!library && snprintf(file, sizeof file, "libnccl-profiler-%s.so", name) < (int)sizeof file)
		library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* The version that NCCL uses, else the latest one before it. */
static void chain_look(int version)
{
	const char *name = getenv("DWELL_NCCL_NEXT");
	void *library = name && *name ? chain_open(name) : NULL, *found = NULL;
	char symbol[32];

	chain.looked = true;
	for (; library && !found && version >= 4; version--) {
		snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
		found = dlsym(library, symbol);
		chain.version = found ? version : 0;
	}
	if (chain.version == 4) {
		chain.v4 = found;
		chain.start = chain.v4->start, chain.stop = chain.v4->stop;
		chain.record = chain.v4->record, chain.finalize = chain.v4->finalize;
	} else if (chain.version) {
		chain.v5 = found;
		chain.start = chain.v5->start, chain.stop = chain.v5->stop;
		chain.record = chain.v5->record, chain.finalize = chain.v5->finalize;
	}
}

struct dwn_next *dwn_next_init(int version, uint64_t id, const char *name, int nodes, int ranks, int rank, void *logger,
                               int *mask)
{
	struct dwn_next *next;
	int wanted = 0, result;

	if (!chain.looked)
		chain_look(version);
	next = chain.version ? calloc(1, sizeof *next) : NULL;
	if (!next)
		return NULL;
	result = chain.version == 4 ? chain.v4->init(&next->context, &wanted, name, id, nodes, ranks, rank, logger)
	                            : chain.v5->init(&next->context, id, &wanted, name, nodes, ranks, rank, logger);
	if (result != NCCL_SUCCESS) {
		free(next);
		return NULL;
	}
	next->mask = (uint64_t)wanted & (chain.version == 4 ? TYPES_OF_4 : UINT64_MAX);
	*mask |= (int)next->mask;
	return next;
}

/* The parent is one of dwell's handles, so it is another one while the plugin looks at the event. A copy would lack what
 * the interface has beyond struct nccl_event. */
void *dwn_next_start(struct dwn_next *next, struct nccl_event *event, uint64_t type)
{
	struct dwn_handle *parent = event->parent;
	uint64_t word = event->type.word;
	void *handle = NULL;
	int result;

	if (!next || !(next->mask & type))
		return NULL;
	event->parent = parent ? parent->next : NULL;
	if (chain.version == 4)
		event->type.word = (uint8_t)type;
	result = chain.start(next->context, &handle, event);
	event->parent = parent;
	event->type.word = word;
	return result == NCCL_SUCCESS ? handle : NULL;
}

void dwn_next_stop(void *handle)
{
	if (handle)
		chain.stop(handle);
}

void dwn_next_state(void *handle, int state, void *arguments)
{
	if (handle && chain.record)
		chain.record(handle, state, arguments);
}

void dwn_next_end(struct dwn_next *next)
{
	if (next && chain.finalize)
		chain.finalize(next->context);
	free(next);
}
