/* Slices of an account, and which cells a selection has; see slices.h. */
#include "account/slices.h"

#include <math.h>

#include "base/order.h"

size_t dw_account_iterations(const struct dw_account *account, uint32_t classes)
{
	size_t count = 0;

	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		count += classes >> class & 1 ? account->classes[class].count : 0;
	return count;
}

/* ---- selections -------------------------------------------------------------------------------------- */

/* The part of a class's time that a selection counts. If it counts only what its iterations take longer than steady ones,
 * the mean steady iteration is subtracted for each of them: the part of the steady class is less than 0. */
static double slices_class_part(const struct dw_account *account, const struct dw_account_select *select,
                                enum dw_iteration_class class)
{
	size_t steady = account->classes[DW_ITERATION_STEADY].count;

	if (!select->classes || select->classes >> class & 1)
		return 1;
	if (!select->beyond || class != DW_ITERATION_STEADY || !steady)
		return 0;
	return -(double)dw_account_iterations(account, select->classes) / (double)steady;
}

bool dw_account_selects_slice(const struct dw_account_select *select, const struct dw_account_slice *slice)
{
	if (select->by_name && !(slice->share == DW_SHARE_NAMED && slice->named == select->named))
		return false;
	if (select->where && !(select->where >> slice->where & 1))
		return false;
	return !select->classes || select->classes >> slice->class & 1 ||
	       (select->beyond && slice->class == DW_ITERATION_STEADY);
}

/* Whether records say what the time of a cell is for. Others have the CPU, whatever the thread would do. */
static bool slices_is_explained(enum dw_share share, enum dw_account_state state)
{
	return state != DW_ACCOUNT_NO_CPU && DW_ACCOUNT_EXPLAINED >> share & 1;
}

bool dw_account_selects_state(const struct dw_account_select *select, const struct dw_account_slice *slice,
                              enum dw_account_state state)
{
	if (select->by_package)
		return false;
	if (slices_is_explained(slice->share, state))
		return select->explained >> slice->share & 1;
	return !select->call && select->activities[state] == DW_ACCOUNT_ALL;
}

static bool slices_is_in_call(const struct dw_account_select *select, const struct dw_account_cell *cell)
{
	return !select->call || cell->call == (select->call == DW_ACCOUNT_NO_CALL ? 0 : select->call);
}

double dw_account_part_selected(const struct dw_account *account, const struct dw_account_select *select,
                                const struct dw_account_cell *cell)
{
	const struct dw_account_slice slice = {
		.class = cell->class, .where = cell->where, .share = cell->share, .named = cell->named
	};
	bool selected;

	if (!dw_account_selects_slice(select, &slice) ||
	    (select->by_package && (cell->activity != DW_ACTIVITY_IMPORTS || cell->package != select->package)))
		return 0;
	if (cell->activity != DW_ACTIVITY_IMPORTS && slices_is_explained(cell->share, cell->state))
		selected = select->explained >> cell->share & 1;
	else
		selected = select->activities[cell->state] >> cell->activity & 1 && slices_is_in_call(select, cell);
	return selected ? slices_class_part(account, select, cell->class) : 0;
}

bool dw_account_selects(const struct dw_account_select *select, const struct dw_account_row *row)
{
	const struct dw_account none = { .thread = DW_NO_INDEX };
	const struct dw_account_cell cell = { .share = row->share == DW_SHARE_COUNT ? DW_SHARE_OTHER : row->share,
		                                  .state = row->state,
		                                  .activity = row->activity,
		                                  .package = row->package,
		                                  .call = row->call };
	struct dw_account_select any = *select;

	any.by_name = any.by_package = false;
	any.where = any.classes = 0;
	return dw_account_part_selected(&none, &any, &cell) > 0;
}

static bool slices_are_alike(const struct dw_account_cell *a, const struct dw_account_cell *b)
{
	return a->where == b->where && a->share == b->share && a->named == b->named && a->state == b->state &&
	       a->activity == b->activity && a->package == b->package && a->call == b->call;
}

/* What steady iterations, as many as the others, take in cells that are like one. */
static double slices_usual_ns(const struct dw_account *account, const struct dw_account_select *beyond,
                              const struct dw_account_cell *cell)
{
	double ns = 0;

	for (size_t i = 0; i < account->count; i++)
		if (slices_are_alike(&account->cells[i], cell))
			ns += fmax(0, -account->cells[i].ns * dw_account_part_selected(account, beyond, &account->cells[i]));
	return ns;
}

double dw_account_unlike(const struct dw_account *account, const struct dw_account_select *beyond)
{
	double more_ns = 0, usual_ns = 0, unlike = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < account->count; i++) {
			const struct dw_account_cell *cell = &account->cells[i];
			double part = dw_account_part_selected(account, beyond, cell), usual, more;

			usual_ns -= pass == 0 && part < 0 ? cell->ns * part : 0;
			if (!(part > 0))
				continue;
			usual = slices_usual_ns(account, beyond, cell);
			more = fmax(0, cell->ns - usual);
			if (pass == 0)
				more_ns += more;
			else if (more_ns > 0)
				unlike += fmax(0, more / more_ns - usual / fmax(1, usual_ns));
		}
	return unlike;
}

/* ---- slices ------------------------------------------------------------------------------------------- */

/* The number of a cell with what its slice is. */
struct slices_entry {
	uint32_t class, where, share, named, cell;
};

DW_ORDER(slices_compare, struct slices_entry, DW_UP(class) DW_UP(where) DW_UP(share) DW_UP(named) DW_UP(cell))

static bool slices_is_same(const struct slices_entry *a, const struct slices_entry *b)
{
	return a->class == b->class && a->where == b->where && a->share == b->share && a->named == b->named;
}

static void slices_add(struct dw_account_slice *slice, const struct dw_account_cell *cell,
                       struct dw_account_basis *basis)
{
	slice->count++;
	slice->ns += cell->ns;
	if (cell->state != DW_ACCOUNT_RUNS && cell->state != DW_ACCOUNT_SPINS)
		return;
	slice->runs_ns += cell->ns;
	basis->weight += cell->basis.weight;
	basis->squares += cell->basis.squares;
}

bool dw_account_slice_cells(struct dw_account *account, struct dw_arena *arena)
{
	struct slices_entry *entries = dw_arena_alloc(arena, (account->count + 1) * sizeof *entries);
	struct dw_account_slice *slices = dw_arena_alloc(arena, (account->count + 1) * sizeof *slices), *slice = NULL;
	uint32_t *by_slice = dw_arena_alloc(arena, (account->count + 1) * sizeof *by_slice);
	struct dw_account_basis basis = { .weight = 0 }, all = { .weight = 0 };

	if (!entries || !slices || !by_slice)
		return false;
	for (uint32_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		entries[i] = (struct slices_entry){ cell->class, cell->where, cell->share, cell->named, i };
	}
	DW_SORT(entries, account->count, slices_compare);
	account->slice_count = 0;
	for (uint32_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[entries[i].cell];

		if (!i || !slices_is_same(&entries[i], &entries[i - 1])) {
			slice = &slices[account->slice_count++];
			*slice = (struct dw_account_slice){
				.class = cell->class, .where = cell->where, .share = cell->share, .named = cell->named, .first = i
			};
			basis = (struct dw_account_basis){ .weight = 0 };
		}
		by_slice[i] = entries[i].cell;
		slices_add(slice, cell, &basis);
		all.weight += cell->basis.weight * (cell->state == DW_ACCOUNT_RUNS || cell->state == DW_ACCOUNT_SPINS);
		slice->samples = basis.squares ? (double)basis.weight * (double)basis.weight / (double)basis.squares : 0;
	}
	/* A sample is of two cells if a part of it are page faults. */
	for (size_t i = 0; i < account->slice_count && all.weight > account->basis[DW_ACCOUNT_RUNS].weight; i++)
		slices[i].samples *= (double)account->basis[DW_ACCOUNT_RUNS].weight / (double)all.weight;
	account->slices = slices;
	account->by_slice = by_slice;
	return true;
}
