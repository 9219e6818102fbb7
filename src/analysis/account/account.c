/* Divides the time of the loop's thread into cells; see account.h. */
#include "account/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/look.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "base/text.h"
#include "model/core/product.h"
#include "model/steps/iterations.h"
#include "model/steps/steps.h"
#include "model/steps/usage.h"

/* A function in a cell, while the account is made. */
struct entry {
	uint32_t cell, seen; /* `seen`: the number of the last row that counted it */
	struct dw_account_place place;
};

/* The time of an entry at one line. */
struct line {
	uint32_t entry, line;
	double ns;
};

struct making {
	struct dw_model *model;
	const struct dw_source *source;
	struct dw_account *to;
	size_t cell_capacity;
	struct entry *entries;
	struct line *lines;
	size_t entry_count, entry_capacity, line_count, line_capacity;
	struct dw_map cells, by_entry, by_line;
	uint32_t number; /* of the row */
	bool failed;
};

/* ---- cells ------------------------------------------------------------------------------------------- */

static bool account_is_cell(const struct dw_account_cell *cell, const struct dw_sample_row *row, enum dw_activity activity,
                            enum dw_account_state state)
{
	return cell->where == row->where && cell->share == row->share && cell->named == row->named && cell->activity == activity &&
	       cell->state == state;
}

/* Finds or adds a cell. NULL: out of memory. */
static struct dw_account_cell *account_cell(struct making *making, const struct dw_sample_row *row, enum dw_activity activity,
                                            enum dw_account_state state)
{
	struct dw_account *to = making->to;
	uint32_t key[] = { row->where, row->share, row->named, activity, state };
	uint32_t hash = dw_map_hash_bytes(0, key, sizeof key);
	uint32_t at = DW_MAP_FIND(&making->cells, hash, i, account_is_cell(&to->cells[i], row, activity, state));
	struct dw_account_cell *cell;

	if (at != DW_MAP_NONE)
		return &to->cells[at];
	cell = DW_GROW(&to->cells, &making->cell_capacity, to->count);
	if (!cell || !dw_map_add(&making->cells, hash, (uint32_t)to->count)) {
		making->failed = true;
		return NULL;
	}
	*cell = (struct dw_account_cell){ .where = row->where, .share = row->share, .named = row->named, .activity = activity, .state = state };
	to->count++;
	return cell;
}

/* Adds time that no sample divides. */
static void account_add_rest(struct making *making, enum dw_account_state state, enum dw_activity activity, double ns)
{
	const struct dw_sample_row row = { .where = DW_SAMPLE_IN_STEP, .share = DW_SHARE_OTHER, .named = DW_NO_INDEX };
	struct dw_account_cell *cell = ns >= 1 ? account_cell(making, &row, activity, state) : NULL;

	if (cell)
		cell->ns += ns;
}

/* ---- places ------------------------------------------------------------------------------------------ */

static void account_add_line(struct making *making, uint32_t entry, uint32_t number, double ns)
{
	uint32_t hash = dw_map_hash((uint64_t)entry << 32 | number);
	uint32_t at = DW_MAP_FIND(&making->by_line, hash, i, making->lines[i].entry == entry && making->lines[i].line == number);
	struct line *line;

	if (at != DW_MAP_NONE) {
		making->lines[at].ns += ns;
		return;
	}
	line = DW_GROW(&making->lines, &making->line_capacity, making->line_count);
	if (!line || !dw_map_add(&making->by_line, hash, (uint32_t)making->line_count)) {
		making->failed = true;
		return;
	}
	*line = (struct line){ entry, number, ns };
	making->line_count++;
}

static bool account_is_entry(const struct entry *entry, uint32_t cell, const struct dw_look_function *at)
{
	return entry->cell == cell && strcmp(entry->place.function->name, at->function->name) == 0 &&
	       dw_text_same(entry->place.function->file, at->function->file) &&
	       (at->function->file || dw_text_same(entry->place.module, at->module));
}

static void account_add_place(struct making *making, uint32_t cell, const struct dw_look_function *at, double ns, bool self)
{
	uint32_t hash = dw_map_hash_bytes(cell, at->function->name, strlen(at->function->name));
	uint32_t found = DW_MAP_FIND(&making->by_entry, hash, i, account_is_entry(&making->entries[i], cell, at));
	struct entry *entry;

	if (found == DW_MAP_NONE) {
		found = (uint32_t)making->entry_count;
		entry = DW_GROW(&making->entries, &making->entry_capacity, making->entry_count);
		if (!entry || !dw_map_add(&making->by_entry, hash, found)) {
			making->failed = true;
			return;
		}
		*entry = (struct entry){ cell, 0, { .function = at->function, .module = at->module, .root = at->root } };
		making->entry_count++;
	}
	entry = &making->entries[found];
	if (entry->seen == making->number)
		return;
	entry->seen = making->number;
	entry->place.ns += ns;
	entry->place.self_ns += self ? ns : 0;
	account_add_line(making, found, at->function->line, ns);
}

/* Takes time from a cell. */
static void account_shrink(struct making *making, uint32_t cell, double scale)
{
	making->to->cells[cell].ns *= scale;
	for (size_t i = 0; i < making->entry_count; i++)
		if (making->entries[i].cell == cell) {
			making->entries[i].place.ns *= scale;
			making->entries[i].place.self_ns *= scale;
		}
}

DW_ORDER(account_compare_lines, struct line, DW_UP(entry) DW_DOWN(ns) DW_UP(line))
DW_ORDER(account_compare_entries, struct entry, DW_UP(cell) DW_DOWN(place.ns) DW_DOWN(place.self_ns) DW_TEXT(place.function->name))
DW_ORDER(account_compare_cells, struct dw_account_cell, DW_DOWN(ns) DW_UP(state) DW_UP(activity) DW_UP(share) DW_UP(named))

/* Gives the cells their largest places. */
static void account_keep_places(struct making *making)
{
	struct dw_account *to = making->to;
	struct dw_account_place *places = dw_arena_alloc(&making->model->arena, (making->entry_count + 1) * sizeof *places);

	if (!places) {
		making->failed = true;
		return;
	}
	DW_SORT(making->lines, making->line_count, account_compare_lines);
	for (size_t i = 0; i < making->line_count; i++)
		if (i == 0 || making->lines[i].entry != making->lines[i - 1].entry)
			making->entries[making->lines[i].entry].place.line = making->lines[i].line;
	DW_SORT(making->entries, making->entry_count, account_compare_entries);
	for (size_t i = 0; i < making->entry_count; i++) {
		struct dw_account_cell *cell = &to->cells[making->entries[i].cell];

		if (!cell->places)
			cell->places = places;
		if (cell->place_count == DW_ACCOUNT_PLACES)
			continue;
		cell->places[cell->place_count++] = making->entries[i].place;
		places++;
	}
	DW_SORT(to->cells, to->count, account_compare_cells);
}

/* ---- samples ------------------------------------------------------------------------------------------ */

/* Whether a sample is of the loop's thread, or with `others`, of another one of its process, and taken in the loop. */
static bool account_wants(const struct making *making, const struct dw_sample_row *row, bool others)
{
	const struct dw_source_thread *threads = making->source->threads;

	return row->where != DW_SAMPLE_OUTSIDE && (row->thread == making->to->thread) != others &&
	       threads[row->thread].process == threads[making->to->thread].process;
}

/* Adds samples. `scale`: what a ns of theirs is of the time that they divide. */
static void account_add_samples(struct making *making, const struct dw_samples *samples, enum dw_account_state state, double scale)
{
	const bool waits = state == DW_ACCOUNT_WAITS, others = state == DW_ACCOUNT_OTHERS;
	struct dw_look look = { .functions = NULL };

	for (size_t i = 0; i < samples->count && !making->failed; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		double ns = (double)row->cpu_ns * scale;
		struct dw_account_cell *cell;
		uint32_t within, index;

		if (!account_wants(making, row, others))
			continue;
		if (!dw_look_at(&look, making->source, row, waits)) {
			making->failed = true;
			break;
		}
		cell = account_cell(making, row, look.activity,
		                    !waits && dw_sample_spins(making->source, row, &within) != DW_SPIN_NONE ? DW_ACCOUNT_SPINS : state);
		if (!cell)
			break;
		index = (uint32_t)(cell - making->to->cells);
		cell->ns += ns;
		cell->basis.samples += row->count;
		cell->basis.weight += row->weight;
		cell->basis.squares += row->squares;
		making->number++;
		for (size_t f = 0; f < look.count; f++)
			account_add_place(making, index, &look.functions[f], ns, f == 0);
	}
	dw_look_reset(&look);
}

/* The time of the thread's samples. */
static double account_sampled_ns(const struct making *making, const struct dw_samples *samples, bool others, struct dw_account_basis *basis)
{
	double ns = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (account_wants(making, &samples->rows[i], others)) {
			ns += (double)samples->rows[i].cpu_ns;
			basis->samples += samples->rows[i].count;
			basis->weight += samples->rows[i].weight;
			basis->squares += samples->rows[i].squares;
		}
	return ns;
}

/* ---- the kernel's account -------------------------------------------------------------------------------- */

#define LEAST_KNOWN 0.5 /* of the loop's time, covered by the kernel's readings */
#define FULL 0.8        /* of the machine's CPUs in use: a thread that is ready may have none */

/* For how long other threads of the process ran, and by estimate were ready to run: on a machine that is full, as much
 * longer as the CPUs were others', but in no greater proportion than the loop's thread itself. */
static double account_others_ns(struct dw_model *model, const struct dw_loop *loop, const struct dw_usage_of *usage)
{
	double others_ns = fmax(0, usage->process_cpu_ns - usage->cpu_ns);
	struct dw_machine_of machine = dw_machine_between(model, loop->start_ns, loop->end_ns);
	double delay = usage->delay_known ? usage->delay_ns / fmax(1, usage->cpu_ns) : 0;
	double used_ns = machine.own_ns + machine.others_ns + machine.stolen_ns, cpus = (double)dw_machine_cpus(dw_model_source(model));

	if (machine.known < LEAST_KNOWN || !(machine.own_ns > 0) || used_ns < FULL * cpus * machine.wall_ns)
		return others_ns;
	return others_ns * (1 + fmin(delay, used_ns / machine.own_ns - 1));
}

/* Sets for how long the thread was in each state. */
static void account_put_states(struct making *making, const struct dw_loop *loop)
{
	struct dw_account *to = making->to;
	const struct dw_source *source = making->source;
	const struct dw_source_clock *clock = &source->files[source->processes[source->threads[to->thread].process].file].clock;
	struct dw_usage_of usage = dw_usage_between(making->model, to->thread, dw_source_ticks(clock, loop->start_ns),
	                                            dw_source_ticks(clock, loop->end_ns));
	double scale;

	to->known = usage.known >= LEAST_KNOWN && usage.wall_ns > 0;
	to->own_ns = to->wall_ns;
	if (!to->known) {
		to->state_ns[DW_ACCOUNT_UNKNOWN] = to->wall_ns;
		return;
	}
	scale = to->wall_ns / usage.wall_ns;
	to->state_ns[DW_ACCOUNT_RUNS] = fmin(to->wall_ns, usage.cpu_ns * scale);
	to->state_ns[DW_ACCOUNT_NO_CPU] = fmin(to->wall_ns - to->state_ns[DW_ACCOUNT_RUNS], usage.delay_ns * scale);
	to->state_ns[usage.delay_known ? DW_ACCOUNT_WAITS : DW_ACCOUNT_UNKNOWN] =
		to->wall_ns - to->state_ns[DW_ACCOUNT_RUNS] - to->state_ns[DW_ACCOUNT_NO_CPU];
	to->waits_known = usage.delay_known;
	to->own_ns -= to->state_ns[DW_ACCOUNT_NO_CPU];
	to->system_ns = usage.system_ns * scale;
	to->others_ns = account_others_ns(making->model, loop, &usage) * scale;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

/* Divides a state's time by samples; a rest that they do not have is a cell without activity. `whole`: they stand for all of
 * the state's time, however many they are. */
static void account_divide(struct making *making, const struct dw_samples *samples, bool waits, bool whole)
{
	struct dw_account *to = making->to;
	enum dw_account_state state = waits ? DW_ACCOUNT_WAITS : DW_ACCOUNT_RUNS;
	bool known = waits ? to->waits_known : to->known;
	enum dw_account_state from = known ? state : DW_ACCOUNT_UNKNOWN;
	double sampled_ns = account_sampled_ns(making, samples, false, &to->basis[state]);
	double has_ns = to->state_ns[from], scale = 1;

	if (sampled_ns > has_ns || (whole && known && sampled_ns > 0))
		scale = sampled_ns > 0 ? has_ns / sampled_ns : 0;
	account_add_samples(making, samples, state, scale);
	if (known) {
		account_add_rest(making, state, DW_ACTIVITY_UNKNOWN, has_ns - sampled_ns * scale);
		return;
	}
	to->state_ns[state] = sampled_ns * scale;
	to->state_ns[DW_ACCOUNT_UNKNOWN] -= sampled_ns * scale;
}

#define OF_THREADS (DW_ACTIVITY_SET(THREAD) | DW_ACTIVITY_SET(BARRIER))

/* Divides the time in which the thread waits for other threads by what these did, as far as they did something. */
static void account_divide_others(struct making *making, const struct dw_samples *samples)
{
	struct dw_account *to = making->to;
	double waited_ns = 0, worked_ns, sampled_ns;

	for (size_t i = 0; i < to->count; i++)
		if (to->cells[i].state == DW_ACCOUNT_WAITS && dw_activity_in(to->cells[i].activity, OF_THREADS))
			waited_ns += to->cells[i].ns;
	worked_ns = fmin(waited_ns, to->others_ns);
	if (!(worked_ns > 0))
		return;
	for (size_t i = 0; i < to->count; i++)
		if (to->cells[i].state == DW_ACCOUNT_WAITS && dw_activity_in(to->cells[i].activity, OF_THREADS))
			account_shrink(making, (uint32_t)i, 1 - worked_ns / waited_ns);
	to->state_ns[DW_ACCOUNT_WAITS] -= worked_ns;
	to->state_ns[DW_ACCOUNT_OTHERS] = worked_ns;
	sampled_ns = account_sampled_ns(making, samples, true, &to->basis[DW_ACCOUNT_OTHERS]);
	if (sampled_ns > 0)
		account_add_samples(making, samples, DW_ACCOUNT_OTHERS, worked_ns / sampled_ns);
	else
		account_add_rest(making, DW_ACCOUNT_OTHERS, DW_ACTIVITY_UNKNOWN, worked_ns);
}

/* Without samples: how long the thread was in each state is all that is known. */
static void account_add_rests(struct making *making)
{
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		account_add_rest(making, (enum dw_account_state)state, DW_ACTIVITY_UNKNOWN, making->to->state_ns[state]);
}

static void account_make(struct making *making, const struct dw_steps *steps)
{
	struct dw_account *to = making->to;
	const struct dw_samples *samples, *waits;
	const struct dw_loop *loop = NULL;

	for (size_t i = 0; i < steps->thread_count; i++)
		if (!loop || steps->loops[i].count > loop->count)
			loop = &steps->loops[i];
	if (!loop || loop->end_ns <= loop->start_ns)
		return;
	to->thread = loop->thread;
	to->wall_ns = (double)(loop->end_ns - loop->start_ns);
	account_put_states(making, loop);
	if (!dw_source_has_samples(making->source)) {
		account_add_rests(making);
		return;
	}
	samples = dw_model_samples(making->model, NULL);
	waits = dw_model_wait_samples(making->model, NULL);
	making->failed |= !samples || !waits;
	if (making->failed)
		return;
	account_divide(making, samples, false, true);
	account_divide(making, waits, true, false);
	account_divide_others(making, samples);
	account_add_rest(making, DW_ACCOUNT_NO_CPU, DW_ACTIVITY_UNKNOWN, to->state_ns[DW_ACCOUNT_NO_CPU]);
	account_add_rest(making, DW_ACCOUNT_UNKNOWN, DW_ACTIVITY_UNKNOWN, to->state_ns[DW_ACCOUNT_UNKNOWN]);
	account_keep_places(making);
}

static bool account_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_account *account = result;
	const struct dw_iterated *iterated = dw_model_iterated(model, NULL);
	const struct dw_steps *steps;
	struct making making = { .to = account };

	account->thread = DW_NO_INDEX;
	if (!iterated)
		return false;
	making.model = iterated->model;
	making.source = dw_model_source(iterated->model);
	steps = making.source->step_count ? dw_model_steps(making.model, NULL) : NULL;
	if (making.source->step_count && !steps)
		return false;
	if (steps)
		account_make(&making, steps);
	DW_FREE(making.entries, making.lines);
	dw_map_reset(&making.cells);
	dw_map_reset(&making.by_entry);
	dw_map_reset(&making.by_line);
	return !making.failed;
}

static void account_free(void *result)
{
	free(((struct dw_account *)result)->cells);
}

const struct dw_account *dw_account_of(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_account), .compute = account_compute, .free = account_free };

	return dw_product_get(model, &product, 0, NULL, error);
}

const char *dw_account_label(enum dw_account_state state, enum dw_activity activity, char text[64])
{
	const char *what = activity == DW_ACTIVITY_OWN ? "own code" : activity == DW_ACTIVITY_UNKNOWN ? NULL : dw_activity_name(activity);

	if (!what)
		snprintf(text, 64, "%s%s", dw_account_state_name(state),
		         state == DW_ACCOUNT_RUNS    ? ": code of libraries"
		         : state == DW_ACCOUNT_WAITS ? ": for what is not known"
		                                     : "");
	else
		snprintf(text, 64, "%s: %s", dw_account_state_name(state), what);
	return text;
}

const char *dw_account_state_name(enum dw_account_state state)
{
	static const char *const names[] = {
#define X(name, words) words,
		DW_ACCOUNT_STATES(X)
#undef X
	};

	return names[state];
}
