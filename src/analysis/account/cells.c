/* Cells of an account while it is made; see cells.h. */
#include "account/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"

void dw_cells_reset(struct dw_cells *cells)
{
	DW_FREE(cells->entries, cells->lines, cells->scales, cells->packages);
	dw_map_reset(&cells->by_key);
	dw_map_reset(&cells->by_entry);
	dw_map_reset(&cells->by_line);
}

static bool cells_is(const struct dw_account_cell *cell, const struct dw_account_part *part, enum dw_activity activity,
                     enum dw_account_state state, const char *package, uint32_t call)
{
	return dw_account_part_has(part, cell) && cell->activity == activity && cell->state == state &&
	       cell->package == package && cell->call == call;
}

/* Finds or adds a cell. NULL: out of memory. */
static struct dw_account_cell *cells_get(struct dw_cells *cells, const struct dw_account_part *part,
                                         enum dw_activity activity, enum dw_account_state state, const char *package,
                                         uint32_t call)
{
	struct dw_account *to = cells->to;
	uint32_t key[] = { part->class, part->where, part->share, part->named, activity, state, call };
	uint32_t hash = dw_map_hash_bytes(package ? dw_map_hash((uintptr_t)package) : 0, key, sizeof key);
	uint32_t at = DW_MAP_FIND(&cells->by_key, hash, i, cells_is(&to->cells[i], part, activity, state, package, call));
	struct dw_account_cell *cell;

	if (at != DW_MAP_NONE)
		return &to->cells[at];
	cell = DW_GROW(&to->cells, &cells->capacity, to->count);
	if (!cell || !dw_map_add(&cells->by_key, hash, (uint32_t)to->count)) {
		cells->failed = true;
		return NULL;
	}
	*cell = (struct dw_account_cell){ .class = part->class,
		                              .where = part->where,
		                              .share = part->share,
		                              .named = part->named,
		                              .activity = activity,
		                              .state = state,
		                              .package = package,
		                              .call = call };
	to->count++;
	return cell;
}

void dw_cells_add_rest(struct dw_cells *cells, const struct dw_account_part *part, enum dw_account_state state,
                       enum dw_activity activity, double ns)
{
	struct dw_account_cell *cell = ns > 0 ? cells_get(cells, part, activity, state, NULL, 0) : NULL;

	if (cell)
		cell->ns += ns;
}

/* ---- packages ---------------------------------------------------------------------------------------- */

/* The package that a sample imports, by one pointer for each. There are some dozens at most. */
static const char *cells_package(struct dw_cells *cells, const struct dw_look *look, double ns)
{
	struct dw_cells_package *package;

	if (look->activity != DW_ACTIVITY_IMPORTS || !look->package)
		return NULL;
	for (size_t i = 0; i < cells->package_count; i++) {
		package = &cells->packages[i];
		if (strncmp(package->name, look->package, look->package_length) == 0 && !package->name[look->package_length]) {
			package->ns += ns;
			return package->name;
		}
	}
	package = DW_GROW(&cells->packages, &cells->package_capacity, cells->package_count);
	if (!package || !(package->name = dw_arena_text(cells->arena, look->package, look->package_length))) {
		cells->failed = true;
		return NULL;
	}
	package->ns = ns;
	cells->package_count++;
	return package->name;
}

DW_ORDER(cells_compare_packages, struct dw_cells_package, DW_DOWN(ns) DW_TEXT(name))

/* Cells of other packages than the largest ones are of none that is known. */
static void cells_keep_packages(struct dw_cells *cells)
{
	struct dw_account *to = cells->to;

	DW_SORT(cells->packages, cells->package_count, cells_compare_packages);
	for (size_t i = 0; i < to->count; i++)
		for (size_t p = DW_ACCOUNT_PACKAGES; p < cells->package_count && to->cells[i].package; p++)
			if (to->cells[i].package == cells->packages[p].name)
				to->cells[i].package = NULL;
}

/* ---- places ------------------------------------------------------------------------------------------ */

static void cells_add_line(struct dw_cells *cells, uint32_t entry, uint32_t number, double ns)
{
	uint32_t hash = dw_map_hash((uint64_t)entry << 32 | number);
	uint32_t at =
		DW_MAP_FIND(&cells->by_line, hash, i, cells->lines[i].entry == entry && cells->lines[i].line == number);
	struct dw_cells_line *line;

	if (at != DW_MAP_NONE) {
		cells->lines[at].ns += ns;
		return;
	}
	line = DW_GROW(&cells->lines, &cells->line_capacity, cells->line_count);
	if (!line || !dw_map_add(&cells->by_line, hash, (uint32_t)cells->line_count)) {
		cells->failed = true;
		return;
	}
	*line = (struct dw_cells_line){ entry, number, ns };
	cells->line_count++;
}

static bool cells_is_entry(const struct dw_cells_entry *entry, uint32_t cell, const struct dw_look_function *at)
{
	return entry->cell == cell && strcmp(entry->place.function->name, at->function->name) == 0 &&
	       dw_text_same(entry->place.function->file, at->function->file) &&
	       (at->function->file || dw_text_same(entry->place.module, at->module));
}

/* The function that calls the f-th one of a stack, and is another one. */
static const struct dw_source_function *cells_caller(const struct dw_look *look, size_t f)
{
	const struct dw_source_function *called = look->functions[f].function;

	for (size_t i = f + 1; i < look->count; i++)
		if (strcmp(look->functions[i].function->name, called->name) != 0 ||
		    !dw_text_same(look->functions[i].function->file, called->file))
			return look->functions[i].function;
	return NULL;
}

/* Adds the f-th function of a stack. */
static void cells_add_place(struct dw_cells *cells, uint32_t cell, const struct dw_look *look, size_t f, double ns)
{
	const struct dw_look_function *at = &look->functions[f];
	uint32_t hash = dw_map_hash_bytes(cell, at->function->name, strlen(at->function->name));
	uint32_t found = DW_MAP_FIND(&cells->by_entry, hash, i, cells_is_entry(&cells->entries[i], cell, at));
	struct dw_cells_entry *entry;

	if (found == DW_MAP_NONE) {
		found = (uint32_t)cells->entry_count;
		entry = DW_GROW(&cells->entries, &cells->entry_capacity, cells->entry_count);
		if (!entry || !dw_map_add(&cells->by_entry, hash, found)) {
			cells->failed = true;
			return;
		}
		*entry =
			(struct dw_cells_entry){ cell, 0, { .function = at->function, .module = at->module, .root = at->root } };
		cells->entry_count++;
	}
	entry = &cells->entries[found];
	if (entry->seen == cells->number)
		return;
	entry->seen = cells->number;
	entry->place.ns += ns;
	entry->place.self_ns += f == 0 ? ns : 0;
	if (f == 0)
		dw_account_lead_function(&entry->place.callee, &entry->place.callee_ns, look->callee, ns);
	dw_account_lead_function(&entry->place.caller, &entry->place.caller_ns, cells_caller(look, f), ns);
	cells_add_line(cells, found, at->function->line, ns);
}

void dw_cells_add_sample(struct dw_cells *cells, const struct dw_account_part *part, const struct dw_look *look,
                         enum dw_account_state state, const struct dw_sample_row *row, double ns)
{
	struct dw_account_cell *cell = cells_get(cells, part, look->activity, state, cells_package(cells, look, ns), look->call);

	if (!cell)
		return;
	dw_account_lead(&cell->library, &cell->library_ns, look->from, ns);
	cell->ns += ns;
	cell->basis.samples += row->count;
	cell->basis.weight += row->weight;
	cell->basis.squares += row->squares;
	cells->number++;
	for (size_t f = 0; f < look->count; f++)
		cells_add_place(cells, (uint32_t)(cell - cells->to->cells), look, f, ns);
}

void dw_cells_scale(struct dw_cells *cells, size_t cell, double by)
{
	if (!cells->scales) {
		cells->scale_count = cells->to->count;
		cells->scales = malloc((cells->scale_count + 1) * sizeof *cells->scales);
		cells->failed |= !cells->scales;
		for (size_t i = 0; cells->scales && i < cells->scale_count; i++)
			cells->scales[i] = 1;
	}
	cells->to->cells[cell].ns *= by;
	cells->to->cells[cell].library_ns *= by;
	if (cells->scales && cell < cells->scale_count)
		cells->scales[cell] *= by;
}

static void cells_scale_places(struct dw_cells *cells)
{
	for (size_t i = 0; i < cells->entry_count; i++) {
		struct dw_cells_entry *entry = &cells->entries[i];

		if (!cells->scales || entry->cell >= cells->scale_count)
			continue;
		entry->place.ns *= cells->scales[entry->cell];
		entry->place.self_ns *= cells->scales[entry->cell];
		entry->place.callee_ns *= cells->scales[entry->cell];
		entry->place.caller_ns *= cells->scales[entry->cell];
	}
}

DW_ORDER(cells_compare_lines, struct dw_cells_line, DW_UP(entry) DW_DOWN(ns) DW_UP(line))
DW_ORDER(cells_compare_entries, struct dw_cells_entry,
         DW_UP(cell) DW_DOWN(place.ns) DW_DOWN(place.self_ns) DW_TEXT(place.function->name))
DW_ORDER(cells_compare, struct dw_account_cell,
         DW_DOWN(ns) DW_UP(state) DW_UP(activity) DW_UP(share) DW_UP(named) DW_UP(where) DW_UP(class) DW_UP(call))

void dw_cells_finish(struct dw_cells *cells)
{
	struct dw_account *to = cells->to;
	struct dw_account_place *places = dw_arena_alloc(cells->arena, (cells->entry_count + 1) * sizeof *places);

	if (!places) {
		cells->failed = true;
		return;
	}
	cells_keep_packages(cells);
	cells_scale_places(cells);
	DW_SORT(cells->lines, cells->line_count, cells_compare_lines);
	for (size_t i = 0; i < cells->line_count; i++)
		if (i == 0 || cells->lines[i].entry != cells->lines[i - 1].entry)
			cells->entries[cells->lines[i].entry].place.line = cells->lines[i].line;
	DW_SORT(cells->entries, cells->entry_count, cells_compare_entries);
	for (size_t i = 0; i < cells->entry_count; i++) {
		struct dw_account_cell *cell = &to->cells[cells->entries[i].cell];

		if (!cell->places)
			cell->places = places;
		if (cell->place_count == DW_ACCOUNT_PLACES)
			continue;
		cell->places[cell->place_count++] = cells->entries[i].place;
		places++;
	}
	DW_SORT(to->cells, to->count, cells_compare);
	cells->failed |= !dw_account_slice_cells(to, cells->arena);
}
