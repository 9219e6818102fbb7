/*
 * libdwell-nccl: a plugin for NCCL's profiler interface (interface.h). `dwell run` names it in
 * NCCL_PROFILER_PLUGIN.
 *
 * A collective of NCCL is enqueued by a thread of the program and runs on the device. NCCL says when it
 * is enqueued. Its proxy thread sees when the channels of its kernel begin and end, which makes the kernels slower: with
 * NCCL 2.31.2 by 4 to 13%. So dwell asks for that only with DWELL_NCCL_CHANNELS=1. Then both moments are
 * recorded as ranges of no length that belong to the same collective, so that the collective lasts from
 * the first to the last. Collectives of a group may be enqueued together and end in any order, so one
 * range around each is not possible.
 *
 * NCCL's own sequence numbers are counted for each function. Here the collectives of a communicator are
 * counted together; all ranks enqueue them in the same order.
 *
 * NCCL loads one plugin only. Another one, which it would have loaded, gets its events from here (chain.h).
 */
#include "chain.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

#include "format/keys.h"

#define DWN_API __attribute__((visibility("default")))
#define EVENTS 4096u /* events that are under way; older ones are forgotten */
#define HANDLES (1u << 17) /* the same of the other plugin, whose events are many */

struct communicator {
	char name[96];
	uint32_t group; /* 0: not known yet */
	uint64_t sequence;
	int ranks;
	int mask; /* what dwell asked for */
	struct dwn_next *next;
};

enum kind { NOTHING, OPERATION, CHANNEL };

/* What dwell knows of one. */
struct event {
	enum kind kind;
	struct event *parent;   /* of a channel */
	uint64_t number;        /* of its use: tells a reused place from the old one */
	uint64_t parent_number;
	uint32_t site, group;
	uint64_t sequence, bytes;
	int32_t channels; /* atomic: how many have not ended */
};

static struct event events[EVENTS];
static struct dwn_handle handles[HANDLES];
static uint64_t event_count, handle_count; /* atomic */

static struct event *nccl_take_event(void)
{
	uint64_t number = __atomic_add_fetch(&event_count, 1, __ATOMIC_RELAXED);
	struct event *event = &events[number % EVENTS];

	*event = (struct event){ .number = number };
	return event;
}

/* ---- communicators --------------------------------------------------------------------------------- */

struct place {
	int version, nodes, ranks, rank;
	uint64_t id;
	const char *name;
	void *logger;
};

static int nccl_init(void **context, int *mask, const struct place *place, const char *version)
{
	struct communicator *made = calloc(1, sizeof *made);
	const char *channels = getenv("DWELL_NCCL_CHANNELS");

	dwell_meta(DW_KEY_NCCL, version);
	*context = made;
	*mask = made ? NCCL_COLLECTIVE | NCCL_POINT : 0;
	if (!made)
		return NCCL_SUCCESS;
	if (channels && strcmp(channels, "1") == 0)
		*mask |= NCCL_KERNEL_CHANNEL;
	snprintf(made->name, sizeof made->name, "%.64s%sNCCL %016llx", place->name ? place->name : "",
	         place->name && *place->name ? " " : "", (unsigned long long)place->id);
	made->ranks = place->ranks;
	made->mask = *mask;
	made->next = dwn_next_init(place->version, place->id, place->name, place->nodes, place->ranks, place->rank, place->logger,
	                           mask);
	return NCCL_SUCCESS;
}

static int nccl_init_v4(void **context, int *mask, const char *name, uint64_t id, int nodes, int ranks,
                        int rank, void *logger)
{
	const struct place place = { 4, nodes, ranks, rank, id, name, logger };

	return nccl_init(context, mask, &place, "profiler interface 4");
}

static int nccl_init_v5(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks,
                        int rank, void *logger)
{
	const struct place place = { 5, nodes, ranks, rank, id, name, logger };

	return nccl_init(context, mask, &place, "profiler interface 5 or 6");
}

static int nccl_init_v6(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks,
                        int rank, void *logger)
{
	const struct place place = { 6, nodes, ranks, rank, id, name, logger };

	return nccl_init(context, mask, &place, "profiler interface 5 or 6");
}

static int nccl_end(void *context)
{
	struct communicator *communicator = context;

	if (communicator)
		dwn_next_end(communicator->next);
	free(context);
	return NCCL_SUCCESS;
}

/* ---- what an operation is ------------------------------------------------------------------------ */

/* Bytes of a type by its name: "ncclFloat32", "ncclFloat8e4m3". */
static uint64_t nccl_type_bytes(const char *type)
{
	const char *digits = type ? strpbrk(type, "0123456789") : NULL;
	int bits = digits ? atoi(digits) : 8;

	return bits >= 8 ? (uint64_t)bits / 8 : 1;
}

/* The id of the range for a function; the interface does not say how long its name is valid. */
static uint32_t nccl_site(const char *function)
{
	char name[64];

	snprintf(name, sizeof name, "nccl%.48s", function ? function : "");
	return dwell_intern(DWELL_CATEGORY_COMMUNICATION, name, NULL);
}

/* `count` of these functions is that of one rank. */
static bool nccl_is_of_ranks(const char *function)
{
	return function && (strcmp(function, "AllGather") == 0 || strcmp(function, "ReduceScatter") == 0 ||
	                    strcmp(function, "AlltoAll") == 0);
}

static void nccl_record(const struct event *event)
{
	unsigned began = dwell_begin_id(event->site, DWELL_CATEGORY_COMMUNICATION);

	if (began)
		dwell_collective(event->group, event->sequence, event->bytes);
	dwell_end_id(began);
}

static struct event *nccl_start_operation(struct communicator *communicator, const struct nccl_event *from,
                                          bool collective)
{
	struct event *event = nccl_take_event();
	const char *function = collective ? from->u.collective.function : from->u.point.function;

	if (!communicator->group)
		communicator->group = dwell_intern_group(communicator->name);
	event->site = nccl_site(function);
	event->group = communicator->group;
	if (collective) {
		event->sequence = __atomic_add_fetch(&communicator->sequence, 1, __ATOMIC_RELAXED);
		event->bytes = from->u.collective.count * nccl_type_bytes(from->u.collective.type) *
		               (nccl_is_of_ranks(function) ? (uint64_t)communicator->ranks : 1);
		event->channels = from->u.collective.channels;
	} else {
		event->bytes = from->u.point.count * nccl_type_bytes(from->u.point.type);
	}
	event->kind = OPERATION;
	nccl_record(event);
	return event;
}

static struct event *nccl_start_channel(const struct nccl_event *from)
{
	const struct dwn_handle *of = from->parent;
	struct event *parent = of ? of->own : NULL, *event;

	if (!parent || parent->kind != OPERATION)
		return NULL;
	event = nccl_take_event();
	event->parent = parent;
	event->parent_number = parent->number;
	event->kind = CHANNEL;
	return event;
}

static int nccl_start(void *context, void **handle, struct nccl_event *event, uint64_t type)
{
	struct communicator *communicator = context;
	struct dwn_handle made = { NULL, NULL };

	*handle = NULL;
	if (!communicator)
		return NCCL_SUCCESS;
	if (type == NCCL_COLLECTIVE || type == NCCL_POINT)
		made.own = nccl_start_operation(communicator, event, type == NCCL_COLLECTIVE);
	else if (type == NCCL_KERNEL_CHANNEL && communicator->mask & NCCL_KERNEL_CHANNEL)
		made.own = nccl_start_channel(event);
	made.next = dwn_next_start(communicator->next, event, type);
	if (made.own || made.next) {
		struct dwn_handle *at = &handles[__atomic_add_fetch(&handle_count, 1, __ATOMIC_RELAXED) % HANDLES];

		*at = made;
		*handle = at;
	}
	return NCCL_SUCCESS;
}

static int nccl_start_v4(void *context, void **handle, struct nccl_event *event)
{
	return nccl_start(context, handle, event, event->type.byte);
}

static int nccl_start_v5(void *context, void **handle, struct nccl_event *event)
{
	return nccl_start(context, handle, event, event->type.word);
}

/* The end of the last channel is the end of the collective. The end of the operation itself is only that
 * of its enqueueing. */
static int nccl_stop(void *handle)
{
	const struct dwn_handle *at = handle;
	struct event *event = at ? at->own : NULL, *parent = event ? event->parent : NULL;

	if (at)
		dwn_next_stop(at->next);
	if (!event || event->kind != CHANNEL)
		return NCCL_SUCCESS;
	event->kind = NOTHING;
	if (parent->number == event->parent_number && parent->sequence &&
	    __atomic_sub_fetch(&parent->channels, 1, __ATOMIC_ACQ_REL) == 0)
		nccl_record(parent);
	return NCCL_SUCCESS;
}

static int nccl_state(void *handle, int state, void *arguments)
{
	const struct dwn_handle *at = handle;

	if (at)
		dwn_next_state(at->next, state, arguments);
	return NCCL_SUCCESS;
}

DWN_API const struct nccl_profiler_v4 ncclProfiler_v4 = { "dwell", nccl_init_v4, nccl_start_v4, nccl_stop,
	                                                      nccl_state, nccl_end };
DWN_API const struct nccl_profiler_v5 ncclProfiler_v5 = { "dwell", nccl_init_v5, nccl_start_v5, nccl_stop,
	                                                      nccl_state, nccl_end };
DWN_API const struct nccl_profiler_v5 ncclProfiler_v6 = { "dwell", nccl_init_v6, nccl_start_v5, nccl_stop,
	                                                      nccl_state, nccl_end };
