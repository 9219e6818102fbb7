/*
 * Nodes of CUDA graphs: by which ranges of the program they were made.
 *
 * The kernels of a graph come with the call that launched all of it. What they work for is known when a stream is captured: then
 * the program's operators run once, and CUDA makes a node for each kernel. CUPTI tells of each node in the thread that makes it.
 * A kernel's record has its node. Instantiating a graph, or copying it, may copy nodes: a copy is made where its original is.
 * Nodes that are made while no stream is captured, or anew while a graph is instantiated, belong to the launch.
 *
 * CUPTI calls back within calls of CUDA and may hold locks of its own. So callbacks only note, and records.c writes what they noted
 * when it has a buffer or is asked to.
 */
#include "cuda.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NODES 65536u    /* a power of two; places of as many nodes are known */
#define CAPTURES 16u    /* at once */
#define WAITING 32768u  /* noted and not written */

struct place { uint64_t node, begin_ns, made_ns; uint32_t tid; };

static struct {
	uint32_t lock; /* atomic */
	struct { uint32_t tid; uint64_t begin_ns; } captures[CAPTURES]; /* begin_ns 0: none */
	uint32_t instantiating[CAPTURES]; /* threads; 0: none */
	struct place nodes[NODES];
	struct place waiting[WAITING];
	uint32_t waiting_count;
	uint64_t lost;
} graphs;

static void graphs_lock(void)
{
	struct timespec pause = { 0, 20000 };

	while (__atomic_exchange_n(&graphs.lock, 1, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
}

static void graphs_unlock(void)
{
	__atomic_store_n(&graphs.lock, 0, __ATOMIC_RELEASE);
}

/* ---- what is going on --------------------------------------------------------------------------------------- */

static void graphs_begin_capture(uint32_t tid, uint64_t now_ns)
{
	unsigned free = CAPTURES;

	for (unsigned i = CAPTURES; i-- > 0;)
		if (!graphs.captures[i].begin_ns || graphs.captures[i].tid == tid)
			free = i;
	if (free == CAPTURES)
		return;
	graphs.captures[free].tid = tid;
	graphs.captures[free].begin_ns = now_ns;
}

static void graphs_end_capture(uint32_t tid)
{
	for (unsigned i = 0; i < CAPTURES; i++)
		if (graphs.captures[i].tid == tid)
			graphs.captures[i].begin_ns = 0;
}

/* When the capture began for which this thread works: its own, or the oldest, as in autograd's threads. 0: there is none. */
static uint64_t graphs_capture_of(uint32_t tid)
{
	uint64_t oldest = 0;

	for (unsigned i = 0; i < CAPTURES; i++) {
		uint64_t begin_ns = graphs.captures[i].begin_ns;

		if (begin_ns && graphs.captures[i].tid == tid)
			return begin_ns;
		if (begin_ns && (!oldest || begin_ns < oldest))
			oldest = begin_ns;
	}
	return oldest;
}

static void graphs_instantiate(uint32_t tid, bool begins)
{
	for (unsigned i = 0; i < CAPTURES; i++)
		if (graphs.instantiating[i] == (begins ? 0 : tid)) {
			graphs.instantiating[i] = begins ? tid : 0;
			return;
		}
}

static bool graphs_is_instantiating(uint32_t tid)
{
	for (unsigned i = 0; i < CAPTURES; i++)
		if (graphs.instantiating[i] == tid)
			return true;
	return false;
}

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

static struct place *graphs_place(uint64_t node)
{
	return &graphs.nodes[(node * 0x9e3779b97f4a7c15u) >> 48 & (NODES - 1)];
}

static void graphs_put(const struct place *place)
{
	struct place *known = graphs_place(place->node);

	if (known->node == place->node)
		return; /* the first one counts */
	*known = *place;
	if (graphs.waiting_count < WAITING)
		graphs.waiting[graphs.waiting_count++] = *place;
	else
		graphs.lost++;
}

static void graphs_take_node(const struct cupti_graph_data *data, bool copied, uint32_t tid, uint64_t now_ns)
{
	struct place place = { .made_ns = now_ns, .tid = tid };
	uint64_t node = 0, original = 0;

	/* Not under the lock: CUPTI may have one of its own. */
	if (dwc_cupti.call.cuptiGetGraphNodeId(data->node, &node) != CUPTI_OK || !node ||
	    (copied && dwc_cupti.call.cuptiGetGraphNodeId(data->original_node, &original) != CUPTI_OK))
		return;
	graphs_lock();
	place.node = node;
	if (copied && graphs_place(original)->node == original) {
		place = *graphs_place(original);
		place.node = node;
		graphs_put(&place);
	} else if (!copied && !graphs_is_instantiating(tid)) {
		place.begin_ns = graphs_capture_of(tid);
		if (place.begin_ns)
			graphs_put(&place);
	}
	graphs_unlock();
}

static void graphs_take_resource(uint32_t id, const struct cupti_resource *resource, uint32_t tid, uint64_t now_ns)
{
	if (id == RESOURCE_NODE_CREATED || id == RESOURCE_NODE_CLONED) {
		if (resource->descriptor)
			graphs_take_node(resource->descriptor, id == RESOURCE_NODE_CLONED, tid, now_ns);
	} else if (id == RESOURCE_EXEC_STARTING || id == RESOURCE_EXEC_CREATED) {
		graphs_lock();
		graphs_instantiate(tid, id == RESOURCE_EXEC_STARTING);
		graphs_unlock();
	}
}

void dwc_graphs_take(int domain, uint32_t id, const void *data)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint64_t now_ns;

	if (!dwc_cupti_time(&now_ns))
		return;
	if (domain == DOMAIN_RESOURCE) {
		graphs_take_resource(id, data, tid, now_ns);
		return;
	}
	const struct cupti_callback *call = data;
	enum dwc_call does = dwc_cupti_call_of(domain == DOMAIN_RUNTIME, id);

	graphs_lock();
	if (does == DWC_CALL_CAPTURES && call->site == SITE_ENTER)
		graphs_begin_capture(tid, now_ns);
	else if (does == DWC_CALL_CAPTURED && call->site == SITE_EXIT)
		graphs_end_capture(tid);
	graphs_unlock();
}

unsigned dwc_graphs_fetch(struct dwc_node *to, unsigned most, uint64_t *lost)
{
	unsigned count;

	graphs_lock();
	*lost = graphs.lost;
	graphs.lost = 0;
	count = graphs.waiting_count < most ? graphs.waiting_count : most;
	for (unsigned i = 0; i < count; i++) {
		const struct place *from = &graphs.waiting[--graphs.waiting_count];

		to[i] = (struct dwc_node){ from->node, from->begin_ns, from->made_ns, from->tid };
	}
	graphs_unlock();
	return count;
}
