/*
 * What a graph consists of, said once: a mark "graph" whose arguments are the graph's last node, the number of its
 * nodes by operation, and the bytes of their results. Graphs of one last node and one number of nodes count as one.
 */
#include "contents.h"

#include <stdio.h>

#define MOST_GRAPHS 256u
#define MOST_OPERATIONS 48u /* others are in the number of all nodes only */
#define JSON_BYTES 1900u

struct contents {
	struct {
		const char *operation; /* a text of ggml's, the same for all of its nodes */
		unsigned count;
	} operations[MOST_OPERATIONS];
	unsigned kinds;
	uint64_t bytes;
};

/* Whether this is the first graph of its kind. A full table says no. */
static bool contents_is_new(uint64_t kind)
{
	static uint64_t seen[MOST_GRAPHS]; /* atomic; 0: free */

	for (uint64_t i = 0; i < MOST_GRAPHS; i++) {
		uint64_t *place = &seen[(kind + i) % MOST_GRAPHS], known = __atomic_load_n(place, __ATOMIC_RELAXED);

		if (known == kind)
			return false;
		if (!known && __atomic_compare_exchange_n(place, &known, kind, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
		if (known == kind)
			return false;
	}
	return false;
}

static void contents_add(struct contents *contents, const char *operation)
{
	unsigned i = 0;

	while (i < contents->kinds && strcmp(contents->operations[i].operation, operation) != 0)
		i++;
	if (i == MOST_OPERATIONS)
		return;
	contents->kinds += i == contents->kinds;
	contents->operations[i].operation = operation;
	contents->operations[i].count++;
}

/* Copies a name without what JSON does not allow in a string. */
static const char *contents_plain(const char *name, char plain[64])
{
	size_t used = 0;

	for (; *name && used < 63; name++)
		if (*name >= ' ' && *name != '"' && *name != '\\')
			plain[used++] = *name;
	plain[used] = '\0';
	return plain;
}

void dwg_contents_note(struct dwg_library *ggml, struct ggml_cgraph *graph, uint32_t id)
{
	static struct dwell_site site = { "graph", NULL, NULL, 0, DWELL_CATEGORY_MARK, 0 };
	int count = ggml && ggml->has_graphs ? ggml->ggml_graph_n_nodes(graph) : 0;
	struct contents contents = { .kinds = 0 };
	char json[JSON_BYTES + 64], plain[64];
	size_t used;

	if (!count || !dwell_wants(1u << DWELL_CATEGORY_MARK) || !contents_is_new((uint64_t)id << 32 | (uint32_t)count))
		return;
	for (int i = 0; i < count; i++) {
		const struct ggml_tensor *node = ggml->ggml_graph_node(graph, i);

		contents_add(&contents, ggml->ggml_op_desc(node));
		contents.bytes += ggml->ggml_nbytes ? ggml->ggml_nbytes(node) : 0;
	}
	used = (size_t)snprintf(json, sizeof json, "{\"last node\":\"%s\"",
	                        contents_plain(ggml->ggml_get_name(ggml->ggml_graph_node(graph, count - 1)), plain));
	for (unsigned i = 0; i < contents.kinds && used < JSON_BYTES - 100; i++)
		used += (size_t)snprintf(json + used, sizeof json - used, ",\"%s\":%u",
		                         contents_plain(contents.operations[i].operation, plain), contents.operations[i].count);
	used += (size_t)snprintf(json + used, sizeof json - used, ",\"nodes\":%d", count);
	if (ggml->ggml_nbytes)
		used += (size_t)snprintf(json + used, sizeof json - used, ",\"bytes\":%llu", (unsigned long long)contents.bytes);
	snprintf(json + used, sizeof json - used, "}");
	dwell_args_next(&site, dwell_intern_args(json));
	dwell_mark(&site);
}
