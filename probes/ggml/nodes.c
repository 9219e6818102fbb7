/* The nodes of a graph as operators; see nodes.h. */
#include "nodes.h"

#include <pthread.h>
#include <stdio.h>

#include "format/keys.h"

#define MOST_BACKENDS 64u

/* Backends of ggml for which the program or this probe has set a callback. */
static struct backend {
	void *address; /* atomic; NULL: free */
	dwg_set_abort *set;
	dwg_abort *callback; /* the program's */
	void *data;
	bool ours;           /* the probe's is set */
} backends[MOST_BACKENDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct dwg_function set_abort = { .name = "ggml_backend_cpu_set_abort_callback" };

static __thread struct dwg_nodes *current __attribute__((tls_model("initial-exec")));

/* ---- backends ------------------------------------------------------------------------------------ */

static struct backend *nodes_find(void *backend)
{
	for (unsigned i = 0; i < MOST_BACKENDS; i++)
		/* Acquire: pairs with the release in nodes_add(). */
		if (__atomic_load_n(&backends[i].address, __ATOMIC_ACQUIRE) == backend)
			return &backends[i];
	return NULL;
}

static struct backend *nodes_add(void *backend, dwg_set_abort *set)
{
	struct backend *found;

	pthread_mutex_lock(&lock);
	found = nodes_find(backend);
	if (!found && (found = nodes_find(NULL))) {
		found->set = set;
		found->callback = NULL;
		found->ours = false;
		__atomic_store_n(&found->address, backend, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void dwg_nodes_forget(void *backend)
{
	struct backend *found = nodes_find(backend);

	if (found)
		__atomic_store_n(&found->address, NULL, __ATOMIC_RELEASE);
}

/* The function that sets a backend's callback; NULL: it has none, or one that does not pass the probe when the program
 * calls it. */
static dwg_set_abort *nodes_setter(struct dwg_library *ggml, void *backend)
{
	void *device, *registry;
	dwg_set_abort *set;

	if (!ggml->ggml_backend_get_device || !ggml->ggml_backend_dev_backend_reg || !ggml->ggml_backend_reg_get_proc_address)
		return NULL;
	device = ggml->ggml_backend_get_device(backend);
	registry = device ? ggml->ggml_backend_dev_backend_reg(device) : NULL;
	if (!registry)
		return NULL;
	set = (dwg_set_abort *)ggml->ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_abort_callback");
	return set == ggml_backend_cpu_set_abort_callback ? dwg_real(&set_abort, (const void *)device) : NULL;
}

/* ---- which nodes are computed -------------------------------------------------------------------- */

static bool nodes_is_empty(const char *operation)
{
	static const char *const empty[] = { "NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE" };

	for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
		if (strcmp(operation, empty[i]) == 0)
			return true;
	return false;
}

/* Whether ggml computes this node and the next one as one. */
static bool nodes_is_pair(struct dwg_nodes *nodes, int i, const char *operation)
{
	const struct ggml_tensor *next;

	if (i + 1 >= nodes->count || strcmp(operation, "RMS_NORM") != 0)
		return false;
	next = nodes->ggml->ggml_graph_node(nodes->graph, i + 1);
	return strcmp(nodes->ggml->ggml_op_desc(next), "MUL") == 0;
}

static void nodes_count(struct dwg_nodes *nodes)
{
	bool second = false; /* of a pair */

	for (int i = 0; i < nodes->count; i++) {
		const char *operation = nodes->ggml->ggml_op_desc(nodes->ggml->ggml_graph_node(nodes->graph, i));
		bool empty = nodes_is_empty(operation);

		nodes->expected[0]++;
		nodes->expected[1] += !empty;
		nodes->expected[2] += !empty && !second;
		second = !empty && !second && nodes_is_pair(nodes, i, operation);
	}
}

/* The rule for a graph, or 0 if those that remain do not agree. A rule whose calls are as many as those of another
 * one has the same nodes: each leaves out more than the one before. */
static uint32_t nodes_rule(const struct dwg_nodes *nodes, uint32_t rules)
{
	uint32_t rule = 0;

	for (unsigned i = 0; i < 3; i++) {
		if (!(rules & 1u << i))
			continue;
		if (rule && nodes->expected[i] != nodes->expected[__builtin_ctz(rule)])
			return 0;
		rule = rule ? rule : 1u << i;
	}
	return rule;
}

/* ---- a node as an operator ------------------------------------------------------------------------ */

static uint8_t nodes_type(int type)
{
	static const uint8_t types[] = { [0] = DWELL_FLOAT32 + 1, [1] = DWELL_FLOAT16 + 1, [24] = DWELL_INT8 + 1,
		                             [25] = DWELL_INT16 + 1, [26] = DWELL_INT32 + 1, [27] = DWELL_INT64 + 1,
		                             [28] = DWELL_FLOAT64 + 1, [30] = DWELL_BFLOAT16 + 1 };

	return type >= 0 && type < (int)sizeof types && types[type] ? (uint8_t)(types[type] - 1) : DWELL_DTYPE_OTHER;
}

/* The sizes outermost first, as dwell has them, without the outer ones that are 1. */
static void nodes_describe(const struct dwg_library *ggml, const struct ggml_tensor *tensor, int64_t sizes[4],
                           struct dwell_tensor *argument)
{
	const int64_t *from = dwg_sizes(ggml, tensor);
	uint8_t dimensions = 4;

	while (dimensions > 1 && from[dimensions - 1] == 1)
		dimensions--;
	for (unsigned i = 0; i < dimensions; i++)
		sizes[i] = from[dimensions - 1 - i];
	*argument = (struct dwell_tensor){ sizes, dimensions, nodes_type(dwg_type(ggml, tensor)) };
}

/* The name as ggml's functions have it: ggml_mul_mat() makes a MUL_MAT. */
static void nodes_name(const char *operation, bool pair, char name[64])
{
	size_t i = 0;

	for (; operation[i] && i < 48; i++)
		name[i] = operation[i] >= 'A' && operation[i] <= 'Z' ? (char)(operation[i] + 32) : operation[i];
	snprintf(name + i, 64 - i, "%s", pair ? "+mul" : "");
}

static unsigned nodes_begin_one(struct dwg_nodes *nodes, const struct ggml_tensor *node, const char *operation,
                                bool pair)
{
	struct dwell_tensor arguments[5];
	const char *type = NULL;
	unsigned count = 0;
	int64_t sizes[5][4];
	char name[64];

	nodes_name(operation, pair, name);
	for (unsigned i = 0; nodes->ggml->has_offsets && i < 4; i++) {
		const struct ggml_tensor *source = dwg_source(nodes->ggml, node, i);

		if (!source)
			break;
		nodes_describe(nodes->ggml, source, sizes[count], &arguments[count]);
		if (!type && arguments[count].dtype == DWELL_DTYPE_OTHER && nodes->ggml->ggml_type_name)
			type = nodes->ggml->ggml_type_name(dwg_type(nodes->ggml, source));
		count++;
	}
	if (nodes->ggml->has_offsets)
		nodes_describe(nodes->ggml, node, sizes[count], &arguments[count]), count++;
	return dwell_begin_id(dwell_intern_op(name, type, arguments, count), DWELL_CATEGORY_OPERATOR);
}

/* Begins the range of the next node that is computed, if there is one. */
static void nodes_next(struct dwg_nodes *nodes)
{
	while (nodes->next < nodes->count) {
		int at = nodes->next++;
		const struct ggml_tensor *node = nodes->ggml->ggml_graph_node(nodes->graph, at);
		const char *operation = nodes->ggml->ggml_op_desc(node);
		bool pair = nodes->rule == DWG_FUSED && nodes_is_pair(nodes, at, operation);

		if (nodes->rule != DWG_ALL && nodes_is_empty(operation))
			continue;
		nodes->next += pair;
		nodes->began = nodes_begin_one(nodes, node, operation, pair);
		return;
	}
}

/* ---- around a graph -------------------------------------------------------------------------------- */

/* After each node, in the thread that computes the graph. */
static bool nodes_callback(void *data)
{
	struct backend *backend = data;
	struct dwg_nodes *nodes = current;
	bool aborts;

	if (nodes) {
		nodes->calls++;
		dwell_end_id(nodes->began);
		nodes->began = DWELL_NOT_BEGUN;
	}
	aborts = backend->callback && backend->callback(backend->data);
	if (nodes && nodes->rule && !aborts)
		nodes_next(nodes);
	return aborts;
}

static void nodes_set_ours(struct backend *backend, bool ours)
{
	static bool noted; /* several threads may note it */

	if (ours && !noted)
		dwell_meta(DW_KEY_GGML_NODES, "by the callback for aborting, which costs 0.2 us a node; the "
		                              "wait of the first thread for the others counts to the next node");
	noted |= ours;
	backend->ours = ours;
	if (ours)
		backend->set(backend->address, nodes_callback, backend);
	else
		backend->set(backend->address, backend->callback, backend->data);
}

void dwg_nodes_begin(struct dwg_nodes *nodes, struct dwg_library *ggml, void *backend, struct ggml_cgraph *graph)
{
	bool wanted = dwell_wants(DWELL_DETAIL_SHAPES) && ggml->has_graphs;
	struct backend *found = nodes_find(backend);

	*nodes = (struct dwg_nodes){ .outer = current, .ggml = ggml, .graph = graph };
	if (!found && wanted) {
		dwg_set_abort *set = nodes_setter(ggml, backend);

		found = set ? nodes_add(backend, set) : NULL;
	}
	if (found && found->ours != wanted)
		nodes_set_ours(found, wanted);
	current = found && found->ours ? nodes : NULL;
	if (!current)
		return;
	nodes->count = ggml->ggml_graph_n_nodes(graph);
	nodes_count(nodes);
	nodes->rule = nodes_rule(nodes, __atomic_load_n(&ggml->rules, __ATOMIC_RELAXED));
	if (nodes->rule)
		nodes_next(nodes);
}

/* Removes the rules that this graph contradicts. */
static void nodes_check(struct dwg_nodes *nodes)
{
	uint32_t fit = 0, rules;

	for (unsigned i = 0; i < 3; i++)
		fit |= nodes->expected[i] == nodes->calls ? 1u << i : 0;
	rules = __atomic_fetch_and(&nodes->ggml->rules, fit, __ATOMIC_RELAXED);
	if (!rules || rules & fit)
		return;
	dwell_meta(DW_KEY_GGML_NODES, "not recorded: a graph was computed with another number of nodes than it has; those of "
	                              "the graph before may have wrong names; GGML_CPU_DISABLE_FUSION=1 may help");
}

void dwg_nodes_end(struct dwg_nodes *nodes, bool complete)
{
	if (current == nodes) {
		dwell_end_id(nodes->began);
		if (complete)
			nodes_check(nodes);
	}
	current = nodes->outer;
}

/* ---- the program's callback --------------------------------------------------------------------------- */

DWG_API void ggml_backend_cpu_set_abort_callback(void *backend, dwg_abort *callback, void *data)
{
	dwg_set_abort *real = dwg_real(&set_abort, __builtin_return_address(0));
	struct backend *found = nodes_add(backend, real);

	if (!found) {
		real(backend, callback, data);
		return;
	}
	found->callback = callback;
	found->data = data;
	found->set = real;
	nodes_set_ours(found, found->ours);
}
