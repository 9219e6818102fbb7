/*
 * kernels: which kernels and copies take the device's time, and which operators submitted them?
 *
 * Three tables: by family, by name, by operator. Times are sums over events, so that events that
 * run at the same time count twice. An operator's time is that of all events which calls in it
 * caused; "self" leaves out those of operators within it.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "views/device.h"

#define SHORT_NAME DW_VIEW_KERNEL_NAME

struct kernels_family {
	struct dw_cell family, calls, total_ns, share;
};

static const struct dw_column family_columns[] = {
	DW_FIELD(struct kernels_family, family, "family", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct kernels_family, calls, "events", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct kernels_family, total_ns, "total", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct kernels_family, share, "share", RATIO, REAL, .bar = true, .sums = "total_ns"),
};

struct kernels_name {
	struct dw_cell short_name, name, family, class, calls, total_ns, share, mean_ns, min_ns, max_ns, deviation_ns,
		bytes, bytes_per_second, operator;
};

static const struct dw_column name_columns[] = {
	DW_FIELD(struct kernels_name, short_name, "name", NONE, TEXT),
	DW_FIELD(struct kernels_name, name, "full name", NONE, TEXT, .data_only = true),
	DW_FIELD(struct kernels_name, family, "family", NONE, TEXT),
	DW_FIELD(struct kernels_name, class, "class", NONE, TEXT, .data_only = true),
	DW_FIELD(struct kernels_name, calls, "events", COUNT, INT),
	DW_FIELD(struct kernels_name, total_ns, "total", NS, INT),
	DW_FIELD(struct kernels_name, share, "share", RATIO, REAL, .sums = "total_ns"),
	DW_FIELD(struct kernels_name, mean_ns, "mean", NS, REAL),
	DW_FIELD(struct kernels_name, min_ns, "min", NS, INT, .wide_only = true),
	DW_FIELD(struct kernels_name, max_ns, "max", NS, INT, .wide_only = true),
	DW_FIELD(struct kernels_name, deviation_ns, "deviation", NS, REAL, .data_only = true),
	DW_FIELD(struct kernels_name, bytes, "bytes", BYTES, INT),
	DW_FIELD(struct kernels_name, bytes_per_second, "a second", BYTES, REAL, .wide_only = true),
	DW_FIELD(struct kernels_name, operator, "most in operator", NONE, TEXT),
};

struct kernels_operator {
	struct dw_cell operator, calls, self_ns, total_ns, share;
};

static const struct dw_column operator_columns[] = {
	DW_FIELD(struct kernels_operator, operator, "operator", NONE, TEXT),
	DW_FIELD(struct kernels_operator, calls, "calls", COUNT, INT),
	DW_FIELD(struct kernels_operator, self_ns, "self", NS, INT),
	DW_FIELD(struct kernels_operator, total_ns, "total", NS, INT),
	DW_FIELD(struct kernels_operator, share, "share of all", RATIO, REAL, .bar = true, .sums = "total_ns"),
};

/* Sums of one name. */
struct name_sums {
	uint64_t count, total_ns, min_ns, max_ns, bytes;
	double mean, squares;      /* of durations, by Welford's method */
	uint32_t operator;         /* symbol of the operator with most time, or DW_NO_INDEX */
	uint64_t operator_ns;
};

/* Time of one name in one operator. */
struct pair {
	uint32_t name, row;
	uint64_t ns;
};

struct kernels {
	struct dw_model *model;
	const struct dw_symbol *symbols;
	const struct dw_device_work *work;
	struct name_sums *names;
	struct pair *pairs;
	size_t pair_count;
	struct dw_map pair_map;
	uint64_t all_ns, all_count;
};

static void kernels_add_pair(struct kernels *kernels, uint32_t name, uint32_t row, uint32_t symbol, uint64_t ns)
{
	uint32_t hash = dw_map_hash((uint64_t)name << 32 | row);
	uint32_t found = DW_MAP_FIND(&kernels->pair_map, hash, i,
	                             kernels->pairs[i].name == name && kernels->pairs[i].row == row);
	struct name_sums *sums = &kernels->names[name];

	if (found == DW_MAP_NONE) {
		found = (uint32_t)kernels->pair_count;
		if (!dw_map_add(&kernels->pair_map, hash, found))
			return; /* only the column with the operator is less exact */
		kernels->pairs[kernels->pair_count++] = (struct pair){ name, row, 0 };
	}
	kernels->pairs[found].ns += ns;
	if (kernels->pairs[found].ns > sums->operator_ns || sums->operator == DW_NO_INDEX) {
		sums->operator_ns = kernels->pairs[found].ns;
		sums->operator = symbol;
	}
}

static void kernels_add(struct kernels *kernels, const struct dw_device_event *event)
{
	const struct dw_device_work *work = kernels->work;
	struct name_sums *sums = &kernels->names[event->name];
	uint64_t ns = event->end_ns - event->start_ns;
	double before = (double)ns - sums->mean;
	uint32_t owner;

	if (!sums->count || ns < sums->min_ns)
		sums->min_ns = ns;
	if (ns > sums->max_ns)
		sums->max_ns = ns;
	sums->count++;
	sums->total_ns += ns;
	sums->bytes += event->bytes;
	sums->mean += before / (double)sums->count;
	sums->squares += before * ((double)ns - sums->mean);
	kernels->all_ns += ns;
	kernels->all_count++;
	if (event->call == DW_NO_INDEX)
		return;
	owner = work->calls[event->call].owner;
	owner = dw_device_owner_of(kernels->model, work, owner, DW_VIEW_CATEGORY(OPERATOR));
	if (owner != DW_NO_INDEX)
		kernels_add_pair(kernels, event->name, dw_model_symbol_row(kernels->model, work->owners[owner].symbol),
		                 work->owners[owner].symbol, ns);
}

static double kernels_share(const struct kernels *kernels, uint64_t ns)
{
	return kernels->all_ns ? (double)ns / (double)kernels->all_ns : 0;
}

static struct dwell_table *kernels_by_family(const struct kernels *kernels, struct dwell_error *error)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("kernels", family_columns, 0, error);
	uint64_t calls[DW_FAMILY_COUNT] = { 0 }, ns[DW_FAMILY_COUNT] = { 0 };

	if (!table)
		return NULL;
	table->part = "families";
	for (size_t i = 0; i < kernels->work->name_count; i++) {
		calls[kernels->work->names[i].family] += kernels->names[i].count;
		ns[kernels->work->names[i].family] += kernels->names[i].total_ns;
	}
	for (unsigned family = 0; family < DW_FAMILY_COUNT; family++)
		if (calls[family])
			DW_TABLE_PUT(table, 0, struct kernels_family, .family = DW_STRING(dw_family_name(family)),
			             .calls = DW_INT(calls[family]), .total_ns = DW_INT(ns[family]),
			             .share = DW_REAL(kernels_share(kernels, ns[family])));
	dw_table_sort_by(table, "total_ns");
	DW_TABLE_PUT_TOTALS(table, struct kernels_family, .calls = DW_INT(kernels->all_count),
	                    .total_ns = DW_INT(kernels->all_ns));
	return table;
}

/* Copies a name without the namespaces and classes in front of its identifiers: `a::f<b::c>` becomes
 * `f<c>`. Returns its length, which is less than `size`. */
static size_t kernels_drop_qualifiers(const char *name, size_t length, char *to, size_t size)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t used = 0;

	for (size_t i = 0; i < length && used + 1 < size; i++) {
		to[used++] = name[i];
		if (used < 2 || name[i] != ':' || to[used - 2] != ':')
			continue;
		used -= 2;
		if (used >= sizeof anonymous - 1 &&
		    memcmp(to + used - (sizeof anonymous - 1), anonymous, sizeof anonymous - 1) == 0)
			used -= sizeof anonymous - 1;
		while (used && (isalnum((unsigned char)to[used - 1]) || to[used - 1] == '_'))
			used--;
	}
	to[used] = '\0';
	return used;
}

/* Where the parameters of a signature begin; `length` if it has none. */
static size_t kernels_find_parameters(const char *name, size_t length)
{
	int depth = 0;

	for (size_t i = length; i && name[length - 1] == ')';) {
		i--;
		depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
		if (depth == 0)
			return i ? i : length;
	}
	return length;
}

/* Shortens a C++ signature: without "void ", parameters and qualifiers, and without what does not fit
 * in the middle, because kernels often differ at both ends. */
void dw_view_kernel_name(const struct dw_device_name *of, char to[SHORT_NAME])
{
	static const char returns[] = "void ", left_out[] = "...";
	const size_t head = (SHORT_NAME - sizeof left_out) * 2 / 3;
	const size_t tail = SHORT_NAME - sizeof left_out - head;
	const char *name = of->name;
	char text[2048];
	size_t length;

	if (of->kind != DW_DEVICE_KERNEL) {
		snprintf(to, SHORT_NAME, "%s", name);
		return;
	}
	if (strncmp(name, returns, sizeof returns - 1) == 0)
		name += sizeof returns - 1;
	length = kernels_find_parameters(name, strlen(name));
	length = kernels_drop_qualifiers(name, length, text, sizeof text);
	if (length < SHORT_NAME)
		memcpy(to, text, length + 1);
	else
		snprintf(to, SHORT_NAME, "%.*s%s%s", (int)head, text, left_out, text + length - tail);
}

static struct dwell_table *kernels_by_name(const struct kernels *kernels, struct dwell_error *error)
{
	static const char *const classes[] = { "compute", "communication", "copy", "" };
	struct dwell_table *table = DW_VIEW_CHOOSE("kernels", name_columns, 0, error);
	bool bytes = false;

	if (!table)
		return NULL;
	table->part = "names";
	for (size_t i = 0; i < kernels->work->name_count; i++) {
		const struct name_sums *from = &kernels->names[i];
		const struct dw_device_name *name = &kernels->work->names[i];
		char short_name[SHORT_NAME];

		if (!from->count)
			continue;
		dw_view_kernel_name(name, short_name);
		bytes |= from->bytes > 0;
		DW_TABLE_PUT(table, 0, struct kernels_name, .short_name = DW_STRING(short_name), .name = DW_STRING(name->name),
		             .family = DW_STRING(dw_family_name(name->family)), .class = DW_STRING(classes[name->class]),
		             .calls = DW_INT(from->count), .total_ns = DW_INT(from->total_ns),
		             .share = DW_REAL(kernels_share(kernels, from->total_ns)),
		             .mean_ns = DW_PART(from->total_ns, from->count), .min_ns = DW_INT(from->min_ns),
		             .max_ns = DW_INT(from->max_ns),
		             .deviation_ns = DW_REAL(from->count > 1 ? sqrt(from->squares / (double)(from->count - 1)) : 0),
		             .bytes = from->bytes ? DW_INT(from->bytes) : DW_EMPTY,
		             .bytes_per_second = from->bytes ? DW_PART(from->bytes, (double)from->total_ns / 1e9) : DW_EMPTY,
		             .operator = DW_STRING(from->operator != DW_NO_INDEX ? kernels->symbols[from->operator].name : NULL));
	}
	dw_table_named(table, "bytes")->data_only = dw_table_named(table, "bytes_per_second")->data_only = !bytes;
	dw_table_sort_by(table, "total_ns");
	return table;
}

/* Device time by the names of operators. A call within a call of the same name counts once. */
static bool kernels_operators(const struct kernels *kernels, struct dwell_table *table)
{
	const struct dw_device_work *work = kernels->work;
	size_t symbols;
	struct { uint64_t calls, self_ns, total_ns; const char *name; } *rows;

	dw_model_symbols(kernels->model, &symbols);
	rows = calloc(symbols + 1, sizeof *rows);
	if (!rows)
		return false;
	for (size_t i = 0; i < work->owner_count; i++) {
		const struct dw_device_owner *owner = &work->owners[i];
		uint32_t row = dw_model_symbol_row(kernels->model, owner->symbol), up = owner->parent;

		if (kernels->symbols[owner->symbol].category != DWELL_CATEGORY_OPERATOR || !owner->total_ns)
			continue;
		while (up != DW_NO_INDEX && dw_model_symbol_row(kernels->model, work->owners[up].symbol) != row)
			up = work->owners[up].parent;
		rows[row].name = kernels->symbols[owner->symbol].name;
		rows[row].calls++;
		rows[row].total_ns += up == DW_NO_INDEX ? owner->total_ns : 0;
		rows[row].self_ns += owner->self_ns;
	}
	for (size_t i = 0; i < symbols; i++)
		if (rows[i].calls)
			DW_TABLE_PUT(table, 0, struct kernels_operator, .operator = DW_STRING(rows[i].name),
			             .calls = DW_INT(rows[i].calls), .self_ns = DW_INT(rows[i].self_ns),
			             .total_ns = DW_INT(rows[i].total_ns),
			             .share = DW_REAL(kernels_share(kernels, rows[i].total_ns)));
	free(rows);
	dw_table_sort_by(table, "self_ns");
	return true;
}

static struct dwell_table *kernels_tables(struct kernels *kernels, struct dwell_error *error)
{
	struct dwell_table *table = kernels_by_family(kernels, error), *operators;

	if (!table)
		return NULL;
	dw_view_head_bursts(table, kernels->work);
	dw_view_note_device(table, kernels->work);
	table = dw_view_chain(table, kernels_by_name(kernels, error));
	operators = table ? DW_VIEW_CHOOSE("kernels", operator_columns, 0, error) : NULL;
	if (operators) {
		operators->part = "operators";
		operators->failed |= !kernels_operators(kernels, operators);
	}
	return dw_view_chain(table, operators);
}

static struct dwell_table *kernels_view(struct dw_model *model, const struct dwell_view_options *options,
                                        struct dwell_error *error)
{
	struct kernels kernels = { .model = model, .symbols = dw_model_symbols(model, NULL) };
	struct dwell_table *table = NULL;

	kernels.work = dw_model_device_work(model, error);
	if (!kernels.work)
		return NULL;
	kernels.names = calloc(kernels.work->name_count + 1, sizeof *kernels.names);
	kernels.pairs = calloc(kernels.work->event_count + 1, sizeof *kernels.pairs);
	if (kernels.names && kernels.pairs) {
		for (size_t i = 0; i < kernels.work->name_count; i++)
			kernels.names[i].operator = DW_NO_INDEX;
		for (size_t i = 0; i < kernels.work->event_count; i++)
			if (kernels.work->events[i].in_scope &&
			    kernels.work->names[kernels.work->events[i].name].class != DW_CLASS_COUNT)
				kernels_add(&kernels, &kernels.work->events[i]);
		table = kernels_tables(&kernels, error);
	}
	free(kernels.names);
	free(kernels.pairs);
	dw_map_reset(&kernels.pair_map);
	return table;
}

const struct dw_view dw_view_kernels = {
	.name = "kernels", .question = "which kernels and copies take the device's time?",
	.run = kernels_view, .row_name = "name", .row_ns = "total_ns", .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(family_columns), DW_VIEW_TABLE(name_columns), DW_VIEW_TABLE(operator_columns)),
	.needs_device = true, DW_VIEW_NEEDS_DEVICE,
};
