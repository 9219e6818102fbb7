/*
 * What the host did while a device was idle; see dw_model_device_host() in times.h.
 *
 * The idle times become intervals of the threads that caused them. For each thread and part, a table tells how much of them lies
 * before a time. So each range adds to its name for how long the host was in it during idle times of each part.
 */
#include <stdio.h>

#include "base/code/demangle.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/core/model_data.h"
#include "model/device/times.h"

/* The parts that the host causes, in this file by their place in this list. */
static const enum dw_device_part host_parts[] = { DW_DEVICE_PART_HOST_LATE, DW_DEVICE_PART_SYNC, DW_DEVICE_PART_FIRST,
	                                              DW_DEVICE_PART_QUEUED, DW_DEVICE_PART_START, DW_DEVICE_PART_NOTHING };
#define PARTS (sizeof host_parts / sizeof *host_parts)

/* At `ns` the idle time before it is before_ns; from there on it grows by `slope` each ns. */
struct host_edge {
	uint64_t ns, before_ns;
	int64_t slope; /* first: the change of it */
	uint32_t list; /* thread * PARTS + place of the part */
};

/* Of a name: how long the host was in it. */
struct host_sum {
	uint64_t ns[PARTS];
	uint64_t end_ns; /* of its last range, */
	uint32_t thread; /* which is this thread's */
	uint32_t depth;  /* the deepest place at which it was on the stack */
};

struct host {
	struct dw_model *model;
	const struct dw_device_work *work;
	struct host_edge *edges; /* by list and ns */
	size_t edge_count, edge_capacity;
	size_t *first;           /* by list: index of its first edge; one more */
	bool failed;
};

/* ---- the intervals of the threads ----------------------------------------------------------------- */

static void host_ask(struct host *host, uint32_t thread, size_t part, uint64_t from, uint64_t to)
{
	uint32_t list = (uint32_t)(thread * PARTS + part);

	if (thread == DW_NO_INDEX || from >= to)
		return;
	host->failed |= !DW_APPEND(&host->edges, &host->edge_capacity, &host->edge_count, (struct host_edge){ from, 0, 1, list }) ||
	                !DW_APPEND(&host->edges, &host->edge_capacity, &host->edge_count, (struct host_edge){ to, 0, -1, list });
}

/* A thread that submits work for another one, as autograd's does, is asked about the outermost range in which it does so; before it began,
 * the other one had the turn. */
static void host_ask_call(struct host *host, uint32_t index, size_t part, uint64_t from, uint64_t to)
{
	const struct dw_device_call *call = &host->work->calls[index];
	uint64_t root_ns = call->start_ns;

	if (host_parts[part] == DW_DEVICE_PART_QUEUED || host_parts[part] == DW_DEVICE_PART_NOTHING) { /* nobody submits it any more */
		host_ask(host, call->for_thread, part, from, to);
		return;
	}
	if (call->for_thread == call->thread) {
		host_ask(host, call->thread, part, from, to);
		return;
	}
	for (uint32_t at = call->owner; at != DW_NO_INDEX; at = host->work->owners[at].parent)
		root_ns = host->work->owners[at].start_ns;
	root_ns = root_ns < from ? from : root_ns > to ? to : root_ns;
	host_ask(host, call->for_thread, part, from, root_ns);
	host_ask(host, call->thread, part, root_ns, to);
}

DW_ORDER(host_compare_edges, struct host_edge, DW_UP(list) DW_UP(ns))

static bool host_sum_edges(struct host *host)
{
	size_t lists = host->model->source->thread_count * PARTS;

	host->first = calloc(lists + 1, sizeof *host->first);
	if (!host->first)
		return false;
	DW_SORT(host->edges, host->edge_count, host_compare_edges);
	for (size_t i = 0; i < host->edge_count; i++) {
		struct host_edge *edge = &host->edges[i];

		host->first[edge->list + 1]++;
		if (!i || edge[-1].list != edge->list)
			continue;
		edge->before_ns = edge[-1].before_ns + (uint64_t)edge[-1].slope * (edge->ns - edge[-1].ns);
		edge->slope += edge[-1].slope;
	}
	for (size_t i = 0; i < lists; i++)
		host->first[i + 1] += host->first[i];
	return true;
}

/* How much of the list's intervals lies before `ns`. */
static uint64_t host_before(const struct host *host, uint32_t list, uint64_t ns)
{
	size_t at = DW_FIRST(i, host->first[list], host->first[list + 1], host->edges[i].ns > ns);
	const struct host_edge *edge;

	if (at == host->first[list])
		return 0;
	edge = &host->edges[at - 1];
	return edge->before_ns + (uint64_t)edge->slope * (ns - edge->ns);
}

/* ---- the time in each range --------------------------------------------------------------------------------- */

/* Names of one kind are one, but functions with the same name in different files are not. */
static uint32_t host_symbol(const struct dw_model *model, uint32_t symbol)
{
	return model->symbols[symbol].category == DWELL_CATEGORY_FUNCTION ? symbol : model->row_symbol[model->symbol_row[symbol]];
}

static void host_add(const struct host *host, struct host_sum *sum, const struct dw_device_range *range)
{
	for (uint32_t part = 0; part < PARTS; part++) {
		uint32_t list = (uint32_t)(range->thread * PARTS + part);

		if (host->first[list] == host->first[list + 1])
			continue;
		sum->ns[part] += host_before(host, list, range->end_ns) - host_before(host, list, range->start_ns);
		sum->depth = sum->depth < range->depth ? range->depth : sum->depth;
	}
}

/* Adds each name's ranges; one within another of its thread adds nothing. Calls that the driver reported late are no ranges. */
static void host_add_all(const struct host *host, struct host_sum *all)
{
	const struct dw_device_work *work = host->work;

	for (size_t i = 0; i < work->range_count; i++) {
		const struct dw_device_range *range = &work->ranges[i];
		struct host_sum *sum = &all[host_symbol(host->model, range->symbol)];

		if (sum->end_ns > range->start_ns && sum->thread == range->thread)
			continue;
		sum->end_ns = range->end_ns;
		sum->thread = range->thread;
		host_add(host, sum, range);
	}
	for (size_t i = 0; i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];

		if (call->late)
			host_add(host, &all[host_symbol(host->model, call->symbol)],
			         &(struct dw_device_range){ call->start_ns, call->end_ns, call->thread, call->symbol, UINT32_MAX });
	}
}

/* ---- the place --------------------------------------------------------------------------------------------- */

/* Functions of an interpreter and its packages are not the program's own, nor is what contains all of a program. Kineto cuts the
 * folder of packages from the paths of PyTorch's files. */
static bool host_is_own_function(const struct dw_symbol *symbol)
{
	static const char *const folders[] = { "site-packages/", "dist-packages/", "/lib/python3", "<", "torch/" };

	if (!symbol->file || *symbol->name == '<' || strcmp(symbol->name, "main") == 0)
		return false;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (strstr(symbol->file, folders[i]))
			return false;
	return true;
}

static bool host_is_named(const struct dw_symbol *symbol)
{
	if (symbol->category == DWELL_CATEGORY_FUNCTION)
		return host_is_own_function(symbol);
	return symbol->category < 32 && DW_DEVICE_NAMED >> symbol->category & 1;
}

/* A function of an interpreter that is written in C has a name that says which object it belongs to, and no place. */
static bool host_says_something(const struct dw_symbol *symbol)
{
	return symbol->category != DWELL_CATEGORY_FUNCTION || *symbol->name != '<';
}

/* Sets `best` to the symbol if it is further inside. */
static void host_take(uint32_t *best, uint32_t symbol, size_t part, const struct host_sum *all)
{
	if (*best == DW_NO_INDEX || all[symbol].ns[part] < all[*best].ns[part] ||
	    (all[symbol].ns[part] == all[*best].ns[part] && all[symbol].depth > all[*best].depth))
		*best = symbol;
}

static void host_choose(const struct dw_model *model, const struct host_sum *all, struct dw_device_host *hosts)
{
	for (size_t part = 0; part < PARTS; part++) {
		struct dw_device_host *to = &hosts[host_parts[part]];

		for (uint32_t symbol = 0; to->ns && symbol < model->symbol_count; symbol++) {
			if (all[symbol].ns[part] * 2 < to->ns || !host_says_something(&model->symbols[symbol]))
				continue;
			host_take(&to->inner, symbol, part, all);
			if (model->symbols[symbol].category == DWELL_CATEGORY_OPERATOR)
				host_take(&to->operator, symbol, part, all);
			if (host_is_named(&model->symbols[symbol]))
				host_take(&to->named, symbol, part, all);
		}
	}
}

/* Adds up what the host's threads did in the idle times of the device that lie in the intervals. */
static void host_ask_all(struct host *host, const struct dw_device_time *device, const struct dw_device_interval *intervals,
                         size_t count, struct dw_device_host *hosts)
{
	for (size_t i = 0; i < count; i++) {
		struct dw_piece_walk walk = dw_device_walk(&device->pieces, intervals[i].start_ns, intervals[i].end_ns);

		while (dw_device_next_piece(&walk)) {
			uint64_t ns = walk.to_ns - walk.from_ns;

			hosts[walk.piece.part].ns += ns;
			hosts[walk.piece.part].long_ns += ns > DW_DEVICE_LONG_NS ? ns : 0;
			for (size_t part = 0; part < PARTS && walk.piece.call != DW_NO_INDEX; part++)
				if (host_parts[part] == walk.piece.part)
					host_ask_call(host, walk.piece.call, part, walk.from_ns, walk.to_ns);
		}
	}
}

bool dw_model_device_host(struct dw_model *model, size_t device, const struct dw_device_interval *intervals, size_t count,
                          struct dw_device_host hosts[DW_DEVICE_PART_COUNT], struct dwell_error *error)
{
	const struct dw_device_times *times = dw_model_device_times(model, error);
	struct host host = { .model = model, .work = dw_model_device_work(model, error) };
	struct host_sum *all = calloc(model->symbol_count + (size_t)1, sizeof *all);
	bool good;

	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++)
		hosts[part] = (struct dw_device_host){ 0, 0, DW_NO_INDEX, DW_NO_INDEX, DW_NO_INDEX };
	good = times && host.work && all;
	if (good)
		host_ask_all(&host, &times->devices[device], intervals, count, hosts);
	good = good && !host.failed && host_sum_edges(&host);
	if (good) {
		host_add_all(&host, all);
		host_choose(model, all, hosts);
	}
	DW_FREE(host.edges, host.first, all);
	return good;
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

/* "resize (data.py:41)", in fewer than `size` bytes: without its place if that is too long, and then with a shorter name. */
static void host_describe(const struct dw_symbol *symbol, char *text, size_t size)
{
	const char *file = symbol->file ? strrchr(symbol->file, '/') : NULL;
	char name[1024], line[64] = "";

	dw_name_short(name, sizeof name, symbol->name);
	if (symbol->category == DWELL_CATEGORY_FUNCTION && symbol->file)
		snprintf(line, sizeof line, " (%.40s:%u)", file ? file + 1 : symbol->file, symbol->line);
	if (strlen(name) + strlen(line) < size)
		snprintf(text, size, "%s%s", name, line);
	else if (strlen(name) < size)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "%.*s...", (int)size - 4, name);
}

const char *dw_device_place(const struct dw_model *model, const struct dw_device_host *host, char text[DW_DEVICE_PLACE])
{
	uint32_t around = host->named != DW_NO_INDEX ? host->named : host->operator;
	char outer[DW_DEVICE_PLACE / 2];

	*text = '\0';
	if (host->inner == DW_NO_INDEX)
		return text;
	if (around == DW_NO_INDEX || around == host->inner) {
		host_describe(&model->symbols[host->inner], text, DW_DEVICE_PLACE);
		return text;
	}
	host_describe(&model->symbols[around], outer, sizeof outer);
	host_describe(&model->symbols[host->inner], text, DW_DEVICE_PLACE - strlen(outer) - sizeof " in ");
	snprintf(text + strlen(text), DW_DEVICE_PLACE - strlen(text), " in %s", outer);
	return text;
}
