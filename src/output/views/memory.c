/*
 * memory: who allocates, who holds it at the peak, what is left at the end?
 *
 *   failure     what held it when memory ran out; only if it did
 *   categories  memory by purpose: at the peak, at the end, in total
 *   reserved    what allocators of devices hold, and how much of it is unused; only where it is recorded
 *   peak        operators and ranges that allocated the memory that was live at the peak
 *   allocators  operators and ranges that allocate most, with and without those they call
 *   timeline    bytes by category over time, for CSV, JSON and pictures
 *
 * Usually there is one device of one process. If there are more, the sentences are about the one
 * with the largest peak, and a column names the device and process of each row.
 */

#include "base/text.h"
#include "model/memory/memory.h"
#include "views/columns.h"
#include "views/memory_failure.h"

enum { SEVERAL = DW_HAS_OWN }; /* pools of memory */

#define KINDS DW_MEMORY_KIND_COUNT

static double memory_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static struct dw_text memory_bytes_text(uint64_t bytes)
{
	return dw_text_bytes((double)bytes, " ");
}

/* Returns the device and process of a row: "cpu", "rank 1 cpu", "loader[123] cpu". */
static const char *memory_pool_name(struct dw_model *model, const struct dw_memory *memory,
                                    const struct dw_memory_pool *pool, char buffer[256])
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_process *process = &source->processes[pool->process];
	bool many = false;

	for (size_t i = 0; i < memory->pool_count; i++)
		many |= memory->pools[i].process != pool->process;
	if (many && process->rank >= 0)
		snprintf(buffer, 256, "rank %d %.100s", process->rank, pool->device);
	else if (many)
		snprintf(buffer, 256, "%.60s[%u] %.100s", process->label, process->pid, pool->device);
	else
		snprintf(buffer, 256, "%.100s", pool->device);
	return buffer;
}

/* ---- by category --------------------------------------------------------------------------- */

struct memory_category {
	const char *device, *category;
	struct dw_cell peak_bytes, share, live_bytes, allocated_bytes, allocations, freed_bytes, frees;
};

static const struct dw_column category_columns[] = {
	DW_FIELD(struct memory_category, device, "device", NONE, TEXT, .only = SEVERAL, .total_text = "all"),
	DW_FIELD(struct memory_category, category, "category", NONE, TEXT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct memory_category, peak_bytes, "at the peak", BYTES, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct memory_category, share, "of the peak", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN,
	         .sums = "peak_bytes"),
	DW_FIELD(struct memory_category, live_bytes, "at the end", BYTES, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct memory_category, allocated_bytes, "allocated", BYTES, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct memory_category, allocations, "allocations", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct memory_category, freed_bytes, "freed", BYTES, INT, .wide_only = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct memory_category, frees, "frees", COUNT, INT, .wide_only = true, .total = DW_TOTAL_OWN),
};

static struct memory_category memory_category_of(const char *device, const char *category,
                                                 const struct dw_memory_use *use, uint64_t peak)
{
	return (struct memory_category){
		.device = device,
		.category = category,
		.peak_bytes = DW_INT(use->at_peak_bytes),
		.share = DW_PART(use->at_peak_bytes, peak),
		.live_bytes = DW_INT(use->live_bytes),
		.allocated_bytes = DW_INT(use->allocated_bytes),
		.allocations = DW_INT(use->allocations),
		.freed_bytes = DW_INT(use->freed_bytes),
		.frees = DW_INT(use->frees),
	};
}

/* With several devices there is no sum, because their peaks occur at different times. */
static struct dwell_table *memory_categories_table(struct dw_model *model, const struct dw_memory *memory,
                                                   struct dwell_error *error)
{
	unsigned has = memory->pool_count > 1 ? SEVERAL : 0;
	struct dwell_table *table = DW_VIEW_CHOOSE("memory", category_columns, has, error);
	struct memory_category row = { .category = has ? NULL : "all categories" };
	char buffer[256];

	if (!table)
		return NULL;
	table->part = "categories";
	if (memory->pool_count == 1)
		row = memory_category_of(NULL, row.category, &memory->pools[0].all, memory->pools[0].all.at_peak_bytes);
	dw_table_put_totals(table, &row, sizeof row);
	for (size_t i = 0; i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];

		for (unsigned kind = 0; kind < KINDS; kind++) {
			const struct dw_memory_use *use = &pool->kinds[kind];

			if (!use->allocations && !use->at_peak_bytes && !use->live_count && !use->frees)
				continue;
			row = memory_category_of(memory_pool_name(model, memory, pool, buffer),
			                         dw_memory_kind_name((enum dw_memory_kind)kind), use, pool->all.at_peak_bytes);
			dw_table_put(table, 0, &row, sizeof row);
		}
	}
	return table;
}

/* ---- sentences ----------------------------------------------------------------------------- */

static void memory_append(char *text, size_t size, const char *part)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", part);
}

/* "activation 150 MiB, parameter 44.6 MiB, gradient 44.6 MiB" */
static void memory_largest_kinds(const struct dw_memory_pool *pool, char *text, size_t size)
{
	bool named[KINDS] = { false };
	char part[96];

	*text = '\0';
	for (unsigned n = 0; n < 4; n++) {
		unsigned best = KINDS;

		for (unsigned kind = 0; kind < KINDS; kind++)
			if (!named[kind] && pool->kinds[kind].at_peak_bytes &&
			    (best == KINDS || pool->kinds[kind].at_peak_bytes > pool->kinds[best].at_peak_bytes))
				best = kind;
		if (best == KINDS)
			return;
		named[best] = true;
		snprintf(part, sizeof part, "%s%s %s", n ? ", " : ": ", dw_memory_kind_name((enum dw_memory_kind)best),
		         memory_bytes_text(pool->kinds[best].at_peak_bytes).at);
		memory_append(text, size, part);
	}
}

static void memory_head(struct dwell_table *table, struct dw_model *model, const struct dw_memory *memory)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_memory_pool *pool = &memory->pools[0];
	char kinds[512], buffer[256], step[48] = "";

	if (!memory->pool_count)
		return;
	memory_largest_kinds(pool, kinds, sizeof kinds);
	if (pool->sampled)
		snprintf(kinds, sizeof kinds, " (+- %s, estimated from samples: --view heap)",
		         memory_bytes_text((uint64_t)dw_memory_error(pool->peak_variance)).at);
	if (pool->peak_step != DW_NO_INDEX)
		snprintf(step, sizeof step, ", in step %llu", (unsigned long long)source->steps[pool->peak_step].number);
	dw_table_head(table, "Peak %s%s%s at %s%s%s.", memory_bytes_text(pool->all.at_peak_bytes).at,
	              memory->pool_count > 1 ? " on " : "",
	              memory->pool_count > 1 ? memory_pool_name(model, memory, pool, buffer) : "",
	              dw_text_ns((double)pool->peak_ns, " ").at, step, kinds);
	if (!pool->all.live_count)
		dw_table_head(table, "At the end all memory is freed.");
	else
		dw_table_head(table, "At the end %s in %s allocation%s are not freed.",
		              memory_bytes_text(pool->all.live_bytes).at, dw_text_count((int64_t)pool->all.live_count).at,
		              dw_text_plural(pool->all.live_count));
}

static void memory_note(struct dwell_table *table, const struct dw_source *source, const struct dw_memory *memory)
{
	uint64_t other = 0, all = 0;
	bool python = false;

	for (size_t i = 0; i < memory->pool_count; i++) {
		if (memory->pools[i].sampled)
			continue;
		python |= source->processes[memory->pools[i].process].flags & DW_PROCESS_PYTHON;
		other += memory->pools[i].kinds[DW_MEMORY_OTHER].at_peak_bytes;
		all += memory->pools[i].all.at_peak_bytes;
	}
	if (memory_of(other, all) > 0.05)
		dw_table_note(table,
		              python ? "%s of the peak has no category: it was allocated outside any step "
		                       "or by no operator, or a library keeps it from the first step on."
		                     : "%s of the peak has no category: allocations name theirs with "
		                       "DWELL_ALLOC(\"activation\", ...).",
		              dw_text_percent(memory_of(other, all)).at);
	if (memory->unknown_frees)
		dw_table_note(table, "%s free%s not counted: no allocation of that memory was recorded (it came "
		              "before the recording, or was lost).", dw_text_count((int64_t)memory->unknown_frees).at,
		              dw_text_plural(memory->unknown_frees));
	if (memory->doubled)
		dw_table_note(table, "%s allocation%s at an address that was still live: %s free is "
		              "missing, and taken to be there.",
		              dw_text_count((int64_t)memory->doubled).at, dw_text_plural(memory->doubled),
		              memory->doubled == 1 ? "its" : "their");
}

/* ---- reserved by allocators of devices ------------------------------------------------------- */

struct memory_reserved {
	struct dw_cell device, peak_bytes, reserved_bytes, unused_bytes, unused, most_reserved_bytes;
};

static const struct dw_column reserved_columns[] = {
	DW_FIELD(struct memory_reserved, device, "device", NONE, TEXT),
	DW_FIELD(struct memory_reserved, peak_bytes, "allocated at the peak", BYTES, INT),
	DW_FIELD(struct memory_reserved, reserved_bytes, "reserved then", BYTES, INT),
	DW_FIELD(struct memory_reserved, unused_bytes, "unused", BYTES, INT),
	DW_FIELD(struct memory_reserved, unused, "of the reserved", RATIO, REAL, .bar = true),
	DW_FIELD(struct memory_reserved, most_reserved_bytes, "reserved at most", BYTES, INT),
};

static struct dwell_table *memory_reserved_table(struct dw_model *model, const struct dw_memory *memory,
                                                 struct dwell_error *error)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("memory", reserved_columns, 0, error);
	char buffer[256];

	if (!table)
		return NULL;
	table->part = "reserved";
	for (size_t i = 0; i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];
		uint64_t peak = pool->all.at_peak_bytes, reserved = pool->reserved_bytes;
		uint64_t unused = reserved > peak ? reserved - peak : 0;

		if (pool->most_reserved_bytes)
			DW_TABLE_PUT(table, 0, struct memory_reserved,
			             .device = DW_STRING(memory_pool_name(model, memory, pool, buffer)), .peak_bytes = DW_INT(peak),
			             .reserved_bytes = DW_INT(reserved), .unused_bytes = DW_INT(unused),
			             .unused = DW_PART(unused, reserved), .most_reserved_bytes = DW_INT(pool->most_reserved_bytes));
	}
	dw_table_note(table, "Reserved but unused memory is cached or fragmented: PyTorch's allocator keeps it for later blocks.");
	return table;
}

/* ---- by owner ------------------------------------------------------------------------------ */

struct memory_held {
	const char *device, *holder;
	struct dw_cell peak_bytes, share;
};

static const struct dw_column peak_columns[] = {
	DW_FIELD(struct memory_held, device, "device", NONE, TEXT, .only = SEVERAL),
	DW_FIELD(struct memory_held, holder, "allocated by", NONE, TEXT),
	DW_FIELD(struct memory_held, peak_bytes, "at the peak", BYTES, INT),
	DW_FIELD(struct memory_held, share, "of the peak", RATIO, REAL, .bar = true, .sums = "peak_bytes"),
};

struct memory_allocated {
	const char *device, *name;
	struct dw_cell allocations, self_bytes, total_bytes, total_allocations, freed_bytes, live_bytes, live_allocations;
};

static const struct dw_column allocator_columns[] = {
	DW_FIELD(struct memory_allocated, device, "device", NONE, TEXT, .only = SEVERAL),
	DW_FIELD(struct memory_allocated, name, "allocator", NONE, TEXT),
	DW_FIELD(struct memory_allocated, allocations, "allocations", COUNT, INT),
	DW_FIELD(struct memory_allocated, self_bytes, "self", BYTES, INT),
	DW_FIELD(struct memory_allocated, total_bytes, "total", BYTES, INT),
	DW_FIELD(struct memory_allocated, total_allocations, "allocations, total", COUNT, INT, .wide_only = true),
	DW_FIELD(struct memory_allocated, freed_bytes, "freed", BYTES, INT, .wide_only = true),
	DW_FIELD(struct memory_allocated, live_bytes, "at the end", BYTES, INT),
	DW_FIELD(struct memory_allocated, live_allocations, "live", COUNT, INT, .wide_only = true),
};

static const char *memory_owner_name(struct dw_model *model, const struct dw_memory_owner *owner)
{
	return owner->symbol == DW_NO_INDEX ? "(no operator)" : dw_model_symbols(model, NULL)[owner->symbol].name;
}

static void memory_put_owner(struct dwell_table *table, bool at_peak, const char *device, const char *name,
                             const struct dw_memory_owner *owner, uint64_t peak)
{
	const struct dw_memory_use *use = &owner->use;

	if (at_peak && use->at_peak_bytes)
		DW_TABLE_PUT(table, 0, struct memory_held, .device = device, .holder = name,
		             .peak_bytes = DW_INT(use->at_peak_bytes), .share = DW_REAL(memory_of(use->at_peak_bytes, peak)));
	else if (!at_peak && owner->total_count)
		DW_TABLE_PUT(table, 0, struct memory_allocated, .device = device, .name = name,
		             .allocations = DW_INT(use->allocations), .self_bytes = DW_INT(use->allocated_bytes),
		             .total_bytes = DW_INT(owner->total_bytes), .total_allocations = DW_INT(owner->total_count),
		             .freed_bytes = DW_INT(use->freed_bytes), .live_bytes = DW_INT(use->live_bytes),
		             .live_allocations = DW_INT(use->live_count));
}

static struct dwell_table *memory_owners_table(struct dw_model *model, const struct dw_memory *memory, bool at_peak,
                                               struct dwell_error *error)
{
	unsigned has = memory->pool_count > 1 ? SEVERAL : 0;
	struct dwell_table *table = at_peak ? DW_VIEW_CHOOSE("memory", peak_columns, has, error)
	                                    : DW_VIEW_CHOOSE("memory", allocator_columns, has, error);
	char buffer[256];

	if (!table)
		return NULL;
	table->part = at_peak ? "peak" : "allocators";
	for (size_t i = 0; i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];
		const char *device = memory_pool_name(model, memory, pool, buffer);

		for (size_t n = 0; n < pool->owner_count; n++)
			memory_put_owner(table, at_peak, device, memory_owner_name(model, &pool->owners[n]), &pool->owners[n],
			                 pool->all.at_peak_bytes);
	}
	dw_table_sort_by(table, at_peak ? "peak_bytes" : "self_bytes");
	return table;
}

/* ---- over time ----------------------------------------------------------------------------- */

struct memory_moment {
	const char *device;
	uint64_t time_ns, bytes[KINDS], all;
};

#define NAME(kind, label) (DW_MEMORY_##kind == DW_MEMORY_OPTIMIZER_STATE ? "optimizer_state" : label)
static const struct dw_column timeline_columns[] = {
	DW_FIELD(struct memory_moment, device, "device", NONE, TEXT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct memory_moment, time_ns, "time", NS, INT, .total = DW_TOTAL_OWN),
#define X(kind, label) \
	DW_FIELD_AS(struct memory_moment, bytes[DW_MEMORY_##kind], NAME(kind, label), label, BYTES, INT, \
	            .total = DW_TOTAL_OWN),
	DW_MEMORY_KINDS(X)
#undef X
		DW_FIELD(struct memory_moment, all, "all", BYTES, INT, .total = DW_TOTAL_OWN),
};
#undef NAME

/* The moment of the peak. */
static struct memory_moment memory_peak(const char *device, const struct dw_memory_pool *pool)
{
	struct memory_moment row = { .device = device, .time_ns = pool->peak_ns, .all = pool->all.at_peak_bytes };

	for (unsigned kind = 0; kind < KINDS; kind++)
		row.bytes[kind] = pool->kinds[kind].at_peak_bytes;
	return row;
}

/* For pictures and JSON. The totals row is the peak; with it the part is never cut. */
static struct dwell_table *memory_timeline_table(struct dw_model *model, const struct dw_memory *memory,
                                                 struct dwell_error *error)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("memory", timeline_columns, 0, error);
	struct memory_moment row;
	char buffer[256];

	if (!table)
		return NULL;
	table->part = "timeline";
	table->heads_only = true;
	for (size_t i = 0; i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];

		row.device = memory_pool_name(model, memory, pool, buffer);
		for (size_t n = 0; n < pool->point_count; n++) {
			row.time_ns = pool->points[n].ns;
			row.all = 0;
			for (unsigned kind = 0; kind < KINDS; kind++)
				row.all += row.bytes[kind] = pool->points[n].bytes[kind];
			dw_table_put(table, 0, &row, sizeof row);
		}
	}
	if (!memory->pool_count) {
		dw_table_totals(table);
		return table;
	}
	row = memory_peak(memory_pool_name(model, memory, &memory->pools[0], buffer), &memory->pools[0]);
	dw_table_put_totals(table, &row, sizeof row);
	return table;
}

static struct dwell_table *memory_view(struct dw_model *model, const struct dwell_view_options *options,
                                       struct dwell_error *error)
{
	const struct dw_memory *memory = dw_model_memory(model, error);
	struct dwell_table *first = memory ? memory_categories_table(model, memory, error) : NULL, *last;
	bool reserved = false;

	if (!first)
		return NULL;
	dw_view_head_memory_failure(first, model);
	memory_head(first, model, memory);
	for (size_t i = 0; i < memory->pool_count; i++)
		reserved |= memory->pools[i].most_reserved_bytes > 0;
	if (dw_view_memory_failure(memory))
		first = dw_view_chain(first, dw_view_memory_failure_table(model, memory, error));
	if (reserved)
		first = dw_view_chain(first, memory_reserved_table(model, memory, error));
	first = dw_view_chain(first, memory_owners_table(model, memory, true, error));
	last = memory_owners_table(model, memory, false, error);
	if (last)
		memory_note(last, dw_model_source(model), memory); /* below what people read last */
	return dw_view_chain(dw_view_chain(first, last), memory_timeline_table(model, memory, error));
}

const struct dw_view dw_view_memory = {
	.name = "memory", .question = "who allocates, who holds it at the peak, what is left at the end?",
	.run = memory_view, .limit = 15,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(category_columns), &dw_view_memory_failure_columns, DW_VIEW_TABLE(reserved_columns),
	                         DW_VIEW_TABLE(peak_columns), DW_VIEW_TABLE(allocator_columns), DW_VIEW_TABLE(timeline_columns)),
	.categories = DW_VIEW_CATEGORY(ALLOCATION), .needs = "allocations",
	.remedy = "record them with DWELL_ALLOC() and DWELL_FREE()",
};
