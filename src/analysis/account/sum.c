/* Adds cells; see account.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account/account.h"
#include "base/demangle.h"
#include "base/order.h"
#include "base/text.h"
#include "model/samples/hot.h"

#define MOST_OF DW_ACCOUNT_MOST
#define MOST_PLACES (8 * DW_ACCOUNT_PLACES)

struct sum_place {
	const struct dw_account_place *of;
	double ns, self_ns;
};

static bool sum_selects(const struct dw_account_select *select, const struct dw_account_cell *cell)
{
	return (!select->states || select->states >> cell->state & 1) && (!select->activities || select->activities >> cell->activity & 1) &&
	       (!select->shares || select->shares >> cell->share & 1);
}

static void sum_add_place(struct sum_place *places, size_t *count, const struct dw_account_place *place)
{
	size_t i = 0;

	while (i < *count && !(strcmp(places[i].of->function->name, place->function->name) == 0 &&
	                       dw_text_same(places[i].of->function->file, place->function->file)))
		i++;
	if (i == MOST_PLACES)
		return;
	if (i == *count)
		places[(*count)++] = (struct sum_place){ place, 0, 0 };
	else if (place->ns > places[i].ns)
		places[i].of = place; /* its line has more of the time */
	places[i].ns += place->ns;
	places[i].self_ns += place->self_ns;
}

/* The innermost function with most of the sum: of all that have, the one with the least time. If only what starts the
 * program has, that function itself; if not even that, the largest one below it. */
static const struct sum_place *sum_find_place(const struct dw_account_sum *sum, const struct sum_place *places, size_t count)
{
	const struct sum_place *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (places[i].ns >= MOST_OF * sum->ns && !places[i].of->root && (!best || places[i].ns < best->ns))
			best = &places[i];
	for (size_t i = 0; !best && i < count; i++)
		if (places[i].self_ns >= MOST_OF * sum->ns)
			best = &places[i];
	for (size_t i = 0; !best && i < count; i++)
		if (!places[i].of->root && (!best || places[i].ns > best->ns))
			best = &places[i];
	return best;
}

static void sum_choose_place(struct dw_account_sum *sum, const struct sum_place *places, size_t count)
{
	const struct sum_place *best = sum_find_place(sum, places, count);

	if (!best)
		return;
	sum->function = best->of->function;
	sum->line = best->of->line;
	sum->place_ns = best->ns;
}

/* Half of the 95% interval of the part of a state that was added. */
static double sum_error(const struct dw_account *account, enum dw_account_state state, double ns)
{
	const struct dw_account_basis *basis = &account->basis[state];
	double state_ns = account->state_ns[state];

	if (!basis->weight || !(ns > 0) || !(state_ns > 0))
		return 0;
	return dw_samples_error(fmin(1, ns / state_ns), basis->weight, basis->squares) * state_ns;
}

struct dw_account_sum dw_account_sum(const struct dw_account *account, const struct dw_account_select *select)
{
	struct dw_account_sum sum = { .ns = 0 };
	struct sum_place places[MOST_PLACES];
	double of_ns[DW_ACCOUNT_STATE_COUNT] = { 0 }, error = 0; /* of_ns: by what divides it */
	size_t count = 0;

	for (size_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if (!sum_selects(select, cell))
			continue;
		sum.ns += cell->ns;
		sum.samples += cell->basis.samples;
		of_ns[cell->state == DW_ACCOUNT_SPINS ? DW_ACCOUNT_RUNS : cell->state] += cell->basis.samples ? cell->ns : 0;
		for (size_t p = 0; p < cell->place_count; p++)
			sum_add_place(places, &count, &cell->places[p]);
	}
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		error += sum_error(account, (enum dw_account_state)state, of_ns[state]);
	sum.low_ns = fmax(0, sum.ns - error);
	sum.high_ns = fmin(account->wall_ns, sum.ns + error);
	sum_choose_place(&sum, places, count);
	return sum;
}

const char *dw_account_place(const struct dw_account_sum *sum, char text[300])
{
	const struct dw_hot_row row = { .file = sum->function ? sum->function->file : NULL, .line = sum->line };
	char name[200], line[90];

	text[0] = '\0';
	if (!sum->function)
		return text;
	snprintf(name, sizeof name, "%s", sum->function->name);
	dw_name_shorten(name);
	if (*dw_hot_place(&row, line, sizeof line))
		snprintf(text, 300, "%s (%s)", name, line);
	else
		snprintf(text, 300, "%s", name);
	return text;
}

DW_ORDER(sum_compare_rows, struct dw_account_row, DW_DOWN(sum.ns) DW_UP(state) DW_UP(activity))

size_t dw_account_rows(const struct dw_account *account, struct dw_account_row *rows)
{
	size_t count = 0;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++) {
			const struct dw_account_select select = { .states = 1u << state, .activities = 1u << activity };
			struct dw_account_sum sum = dw_account_sum(account, &select);

			if (sum.ns >= 1)
				rows[count++] = (struct dw_account_row){ (enum dw_account_state)state, (enum dw_activity)activity, sum };
		}
	DW_SORT(rows, count, sum_compare_rows);
	return count;
}

bool dw_account_is_divided(const struct dw_account *account)
{
	return account->basis[DW_ACCOUNT_RUNS].samples + account->basis[DW_ACCOUNT_WAITS].samples > 0;
}

bool dw_account_selects(const struct dw_account_select *select, const struct dw_account_row *row)
{
	const struct dw_account_cell cell = { .state = row->state, .activity = row->activity };

	return sum_selects(&(struct dw_account_select){ .states = select->states, .activities = select->activities }, &cell);
}
