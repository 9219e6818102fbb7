/*
 * What is said first of a run in which memory ran out: what was asked for and where, and what held the memory at that moment. The
 * view memory has all holders in a table.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/keys.h"
#include "model/memory/memory.h"
#include "views/columns.h"
#include "views/memory_failure.h"

#define MOST_KINDS 3u

static bool failure_is_named(const struct dw_memory_pool *pool)
{
	return pool->failure.killed || pool->failure.count;
}

const struct dw_memory_pool *dw_view_memory_failure(const struct dw_memory *memory)
{
	const struct dw_memory_pool *last = NULL;

	for (size_t i = 0; i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];

		/* At the end of a process that was killed, most of what it held is in one pool. */
		if (failure_is_named(pool) &&
		    (!last || pool->failure.ns > last->failure.ns ||
		     (pool->failure.ns == last->failure.ns && pool->failure.held_bytes > last->failure.held_bytes)))
			last = pool;
	}
	return last;
}

static const char *failure_name(struct dw_model *model, uint32_t symbol)
{
	return dw_model_symbols(model, NULL)[symbol].name;
}

/* ", in step 17, in aten::conv2d of layer1.0" */
static void failure_write_where(char *to, size_t size, struct dw_model *model, const struct dw_memory_failure *failure)
{
	bool layer = failure->layer != DW_NO_INDEX, owner = failure->owner != DW_NO_INDEX;
	int used = 0;

	*to = '\0';
	if (failure->step != DW_NO_INDEX)
		used = snprintf(to, size, ", in step %llu", (unsigned long long)dw_model_source(model)->steps[failure->step].number);
	if (layer || owner)
		snprintf(to + used, size - (size_t)used, ", in %.120s%s%.120s", owner ? failure_name(model, failure->owner) : "layer",
		         layer ? owner ? " of layer " : " " : "", layer ? failure_name(model, failure->layer) : "");
}

static void failure_append(char *to, size_t size, const char *begin, const char *name, uint64_t bytes)
{
	size_t used = strlen(to);

	snprintf(to + used, size - used, "%s%.120s %s", begin, name, dw_text_bytes((double)bytes, " ").at);
}

/* "activation 2.00 GiB, parameter 100 MiB; most is of aten::conv2d 1.90 GiB, and of layer layer1 1.00 GiB" */
static void failure_write_held(char *to, size_t size, struct dw_model *model, const struct dw_memory_pool *pool)
{
	const struct dw_memory_failure *failure = &pool->failure;
	const struct dw_memory_owner *most = NULL;
	bool said[DW_MEMORY_KIND_COUNT] = { false };

	*to = '\0';
	for (unsigned n = 0; n < MOST_KINDS; n++) {
		unsigned best = DW_MEMORY_KIND_COUNT;

		for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++)
			if (!said[kind] && pool->kinds[kind].at_failure_bytes &&
			    (best == DW_MEMORY_KIND_COUNT || pool->kinds[kind].at_failure_bytes > pool->kinds[best].at_failure_bytes))
				best = kind;
		if (best == DW_MEMORY_KIND_COUNT)
			break;
		said[best] = true;
		failure_append(to, size, n ? ", " : ": ", dw_memory_kind_name((enum dw_memory_kind)best),
		               pool->kinds[best].at_failure_bytes);
	}
	for (size_t i = 0; i < pool->owner_count; i++)
		if (pool->owners[i].symbol != DW_NO_INDEX && (!most || pool->owners[i].use.at_failure_bytes > most->use.at_failure_bytes))
			most = &pool->owners[i];
	if (most && most->use.at_failure_bytes)
		failure_append(to, size, "; most is of ", failure_name(model, most->symbol), most->use.at_failure_bytes);
	for (size_t i = 0; i < failure->layer_count && i < 2; i++)
		if (failure->layers[i].symbol != DW_NO_INDEX) {
			failure_append(to, size, most && most->use.at_failure_bytes ? ", and of layer " : "; most is of layer ",
			               failure_name(model, failure->layers[i].symbol), failure->layers[i].bytes);
			break;
		}
}

/* What of the memory was free. */
static void failure_write_free(char *to, size_t size, const struct dw_memory_failure *failure)
{
	uint64_t unused = failure->reserved_bytes > failure->held_bytes ? failure->reserved_bytes - failure->held_bytes : 0;

	*to = '\0';
	if (failure->limit_bytes)
		snprintf(to, size, "; of the %s of addresses that the process may have (RLIMIT_AS), %s were in use",
		         dw_text_bytes((double)failure->limit_bytes, " ").at, dw_text_bytes((double)failure->used_bytes, " ").at);
	else if (failure->reserved_bytes)
		snprintf(to, size, "; of the %s that the allocator had reserved, %s (%.0f%%) were free, in pieces that are smaller",
		         dw_text_bytes((double)failure->reserved_bytes, " ").at, dw_text_bytes((double)unused, " ").at,
		         100 * (double)unused / (double)failure->reserved_bytes);
}

static void failure_say_killed(struct dwell_table *table, struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	const char *whose = dw_source_meta(source, DW_NO_INDEX, DW_KEY_OOM_KILLED);
	double limit = dw_view_meta_number(source, DW_KEY_MEMORY_ALLOWED);
	char allowed[60] = "";

	if (limit > 0)
		snprintf(allowed, sizeof allowed, ", %s", dw_text_bytes(limit, " ").at);
	dw_table_say(table, DW_LABEL_STOP, "The kernel killed the program, because the memory of %s ran out%s.", whose ? whose : "it",
	             allowed);
}

static bool failure_ended(const struct dw_source *source)
{
	const char *status = dw_source_meta(source, DW_NO_INDEX, DW_KEY_STATUS);
	int code;

	return status && (sscanf(status, "{\"exit\":%d", &code) != 1 || code);
}

void dw_view_head_memory_failure(struct dwell_table *table, struct dw_model *model)
{
	const struct dw_memory *memory = dw_memory_fails(dw_model_source(model)) ? dw_model_memory(model, NULL) : NULL;
	const struct dw_memory_pool *pool = memory ? dw_view_memory_failure(memory) : NULL;
	char where[400], room[240], held[700], times[80] = "";
	bool ended = failure_ended(dw_model_source(model));

	if (!pool)
		return;
	failure_write_where(where, sizeof where, model, &pool->failure);
	failure_write_free(room, sizeof room, &pool->failure);
	failure_write_held(held, sizeof held, model, pool);
	if (pool->failure.count > 1)
		snprintf(times, sizeof times, ", the last of %s", dw_text_count((int64_t)pool->failure.count).at);
	if (pool->failure.killed)
		failure_say_killed(table, model);
	else
		dw_table_say(table, ended ? DW_LABEL_STOP : DW_LABEL_RISK, "Memory ran out at %s%s: no %s were to be had on %s%s%s.%s",
		             dw_text_ns((double)pool->failure.ns, " ").at, where, dw_text_bytes((double)pool->failure.bytes, " ").at,
		             pool->device, times, room, ended ? "" : " The program went on.");
	dw_table_say(table, DW_LABEL_REST, "Recorded blocks of %s held %s then%s.", pool->device,
	             dw_text_bytes((double)pool->failure.held_bytes, " ").at, held);
	dw_table_say(table, DW_LABEL_LOOK, "dwell report --view memory");
}

/* ---- the table --------------------------------------------------------------------------------- */

struct failure_row {
	struct dw_cell device, by, name, bytes, share;
};

static const struct dw_column failure_columns[] = {
	DW_FIELD(struct failure_row, device, "device", NONE, TEXT),
	DW_FIELD(struct failure_row, by, "by", NONE, TEXT),
	DW_FIELD(struct failure_row, name, "held when memory ran out", NONE, TEXT),
	DW_FIELD(struct failure_row, bytes, "bytes", BYTES, INT),
	DW_FIELD(struct failure_row, share, "of the held", RATIO, REAL, .bar = true, .sums = "bytes"),
};
const struct dw_column_list dw_view_memory_failure_columns = DW_COLUMN_LIST(failure_columns);

static void failure_put(struct dwell_table *table, const struct dw_memory_pool *pool, const char *by, const char *name, uint64_t bytes)
{
	if (bytes)
		DW_TABLE_PUT(table, 0, struct failure_row, .device = DW_STRING(pool->device), .by = DW_STRING(by), .name = DW_STRING(name),
		             .bytes = DW_INT(bytes), .share = DW_PART(bytes, pool->failure.held_bytes));
}

struct dwell_table *dw_view_memory_failure_table(struct dw_model *model, const struct dw_memory *memory, struct dwell_error *error)
{
	const struct dw_memory_pool *pool = dw_view_memory_failure(memory);
	struct dwell_table *table = DW_VIEW_CHOOSE("memory", failure_columns, 0, error);

	if (!table)
		return NULL;
	table->part = "failure";
	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++)
		failure_put(table, pool, "category", dw_memory_kind_name((enum dw_memory_kind)kind), pool->kinds[kind].at_failure_bytes);
	for (size_t i = 0; i < pool->owner_count; i++)
		failure_put(table, pool, "operator",
		            pool->owners[i].symbol == DW_NO_INDEX ? "(no operator)" : failure_name(model, pool->owners[i].symbol),
		            pool->owners[i].use.at_failure_bytes);
	for (size_t i = 0; i < pool->failure.layer_count; i++)
		if (pool->failure.layers[i].symbol != DW_NO_INDEX)
			failure_put(table, pool, "layer", failure_name(model, pool->failure.layers[i].symbol),
			            pool->failure.layers[i].bytes);
	dw_table_sort_by(table, "bytes");
	return table;
}
