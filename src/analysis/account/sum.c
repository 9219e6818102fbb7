/* Adds cells; see account.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/slices.h"
#include "base/code/demangle.h"
#include "base/order.h"
#include "base/text.h"
#include "model/samples/hot.h"

#define MOST_OF DW_ACCOUNT_MOST
#define MOST_PLACES (8 * DW_ACCOUNT_PLACES)

struct sum_place {
	const struct dw_account_place *of;
	double ns, self_ns;
	struct dw_account_place calls; /* only its callee and its caller */
};

struct dw_account_select dw_account_select_states(uint32_t states, dw_activity_set activities)
{
	struct dw_account_select select = { .explained = 0 };

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		select.activities[state] = states >> state & 1 ? activities : 0;
	return select;
}

/* Adds to a vote of the most: whatever has more than half of all time leads at its end. `same`: it leads already. True: it
 * leads now. */
static bool sum_add_vote(double *led_ns, double ns, bool same)
{
	if (same) {
		*led_ns += ns;
		return false;
	}
	if (*led_ns >= ns) {
		*led_ns -= ns;
		return false;
	}
	*led_ns = ns - *led_ns;
	return true;
}

void dw_account_lead(const char **leads, double *led_ns, const char *library, double ns)
{
	char one[64], other[64];
	bool same = *leads == library;

	if (!same && *leads && library)
		same = strcmp(dw_library_name(*leads, one), dw_library_name(library, other)) == 0;
	if (sum_add_vote(led_ns, ns, same))
		*leads = library;
}

static bool sum_is_function(const struct dw_source_function *one, const struct dw_source_function *other)
{
	return one == other || (one && other && strcmp(one->name, other->name) == 0 && dw_text_same(one->file, other->file));
}

void dw_account_lead_function(const struct dw_source_function **leads, double *led_ns, const struct dw_source_function *function,
                              double ns)
{
	if (sum_add_vote(led_ns, ns, sum_is_function(*leads, function)))
		*leads = function;
}

static bool sum_is_place(const struct dw_account_place *place, const struct dw_account_place *other)
{
	return strcmp(place->function->name, other->function->name) == 0 &&
	       dw_text_same(place->function->file, other->function->file);
}

static void sum_lead_calls(struct dw_account_place *calls, const struct dw_account_place *place, double part)
{
	dw_account_lead_function(&calls->callee, &calls->callee_ns, place->callee, place->callee_ns * part);
	dw_account_lead_function(&calls->caller, &calls->caller_ns, place->caller, place->caller_ns * part);
}

/* Adds a part of the time of a place. */
static void sum_add_place(struct sum_place *places, size_t *count, const struct dw_account_place *place, double part)
{
	size_t i = 0;

	while (i < *count && !sum_is_place(places[i].of, place))
		i++;
	if (i == MOST_PLACES)
		return;
	if (i == *count)
		places[(*count)++] = (struct sum_place){ .of = place };
	else if (place->ns * part > places[i].ns)
		places[i].of = place; /* its line has more of the time */
	places[i].ns += place->ns * part;
	places[i].self_ns += place->self_ns * part;
	if (part > 0)
		sum_lead_calls(&places[i].calls, place, part);
}

/* The time of a function in all cells. */
static double sum_place_all(const struct dw_account *account, const struct dw_account_place *place)
{
	double ns = 0;

	for (size_t i = 0; i < account->count; i++)
		for (size_t p = 0; p < account->cells[i].place_count; p++)
			if (sum_is_place(&account->cells[i].places[p], place))
				ns += account->cells[i].places[p].ns;
	return ns;
}

/* The time of other cells while a function is the innermost one of the program. Of one that starts the program: at the same line. */
static double sum_rest_of(const struct dw_account *account, const struct dw_account_select *select, const struct dw_account_place *place)
{
	double ns = 0;

	for (size_t i = 0; i < account->count; i++) {
		double part = fmax(0, dw_account_part_selected(account, select, &account->cells[i]));

		for (size_t p = 0; part < 1 && p < account->cells[i].place_count; p++) {
			const struct dw_account_place *other = &account->cells[i].places[p];

			if (sum_is_place(other, place) && (!place->root || other->line == place->line))
				ns += other->self_ns * (1 - part);
		}
	}
	return ns;
}

/* Of a part of the run: the function that is that part, as evaluate() is the evaluation, although the model's functions
 * have most of the time there. It has the largest part of all time that is the sum's or the function's. */
static const struct sum_place *sum_find_region(const struct dw_account *account, const struct dw_account_sum *sum,
                                               const struct sum_place *places, size_t count)
{
	const struct sum_place *best = NULL;
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		double common = places[i].ns / fmax(1, sum->ns + sum_place_all(account, places[i].of) - places[i].ns);

		if (common > most && (!places[i].of->root || places[i].self_ns >= MOST_OF * sum->ns)) {
			best = &places[i];
			most = common;
		}
	}
	return best;
}

/* The innermost function with most of the sum: the one that has it itself, or of all that have it with what they call,
 * the one with the least time, if it does not start the program. If there is none, the largest one below what starts
 * it. */
static const struct sum_place *sum_find_place(const struct dw_account_sum *sum, const struct sum_place *places,
                                              size_t count)
{
	const struct sum_place *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (places[i].self_ns >= MOST_OF * sum->ns)
			return &places[i];
	for (size_t i = 0; i < count; i++)
		if (places[i].ns >= MOST_OF * sum->ns && !places[i].of->root && (!best || places[i].ns < best->ns))
			best = &places[i];
	for (size_t i = 0; !best && i < count; i++)
		if (!places[i].of->root && (!best || places[i].ns > best->ns))
			best = &places[i];
	return best;
}

/* The place of a function. NULL: it is none. */
static const struct sum_place *sum_place_of(const struct dw_source_function *function, const struct sum_place *places, size_t count)
{
	for (size_t i = 0; function && i < count; i++)
		if (sum_is_function(places[i].of->function, function))
			return &places[i];
	return NULL;
}

static void sum_choose_place(struct dw_account_sum *sum, const struct sum_place *best, const struct sum_place *places, size_t count,
                             const struct dw_account_basis *basis)
{
	const struct sum_place *caller;
	double low, high;

	if (!best)
		return;
	dw_samples_interval(fmin(1, best->ns / sum->ns), basis->weight, basis->squares, &low, &high);
	sum->function = best->of->function;
	sum->line = best->of->line;
	sum->place_ns = best->ns;
	sum->root = best->of->root;
	sum->callee = best->calls.callee_ns >= MOST_OF * best->ns ? best->calls.callee : NULL;
	sum->passes = best->calls.callee_ns >= (1 - DW_SAMPLES_NAMED) * best->ns;
	caller = best->calls.caller_ns >= MOST_OF * best->ns ? sum_place_of(best->calls.caller, places, count) : NULL;
	/* Whoever calls main() is no place to look at, and the code of a script has no name. */
	if (caller && caller != best && !best->of->root && *caller->of->function->name != '<') {
		sum->caller = caller->of->function;
		sum->caller_line = caller->of->line;
	}
	sum->dominates = best->ns >= MOST_OF * sum->ns && low >= DW_SAMPLES_NAMED;
}

enum sum_calls { SUM_UNKNOWN, SUM_CALLS, SUM_CALLS_NOT };

/* Whether the best function calls another one, itself or by others, in most of that one's time. */
static enum sum_calls sum_calls(const struct sum_place *best, const struct sum_place *at, const struct sum_place *places, size_t count)
{
	for (size_t depth = 0; depth < count && !at->of->root; depth++) {
		const struct sum_place *next;

		if (!(at->calls.caller_ns > 0) || at->calls.caller_ns < MOST_OF * at->ns)
			return SUM_UNKNOWN;
		if (!at->calls.caller) /* it begins a thread */
			return SUM_CALLS_NOT;
		next = sum_place_of(at->calls.caller, places, count);
		if (!next || next == best)
			return next ? SUM_CALLS : SUM_UNKNOWN;
		at = next;
	}
	return at->of->root ? SUM_CALLS_NOT : SUM_UNKNOWN;
}

/* Where a sum is the work of two functions. Of a first one that mostly calls others, the second one is none of these. */
static void sum_choose_second(struct dw_account_sum *sum, const struct sum_place *best, const struct sum_place *places,
                              size_t count, const struct dw_account_basis *basis)
{
	const struct sum_place *second = NULL;
	double low, high;

	for (size_t i = 0; best && i < count; i++)
		if (&places[i] != best && (!second || places[i].self_ns > second->self_ns) &&
		    sum_calls(best, &places[i], places, count) != SUM_CALLS)
			second = &places[i];
	if (!second || best->ns + second->self_ns > sum->ns)
		return;
	if ((best->self_ns < MOST_OF * best->ns || second->self_ns < MOST_OF * best->ns) &&
	    sum_calls(best, second, places, count) != SUM_CALLS_NOT)
		return;
	dw_samples_interval(fmin(1, second->self_ns / sum->ns), basis->weight, basis->squares, &low, &high);
	if (low < DW_SAMPLES_NAMED)
		return;
	sum->second = second->of->function;
	sum->second_line = second->of->line;
	sum->second_ns = second->self_ns;
}

/* The largest range with at least half of the cells' time. */
static const struct dw_symbol *sum_find_range(const struct dw_account *account, const struct dw_account_select *select,
                                              double ns)
{
	for (size_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *first = &account->cells[i];
		double of_range = 0;

		if (first->named == DW_NO_INDEX || !(dw_account_part_selected(account, select, first) > 0))
			continue;
		for (size_t other = 0; other < account->count; other++)
			if (account->cells[other].named == first->named)
				of_range +=
					account->cells[other].ns * dw_account_part_selected(account, select, &account->cells[other]);
		if (of_range >= MOST_OF * ns)
			return &account->symbols[first->named];
		if (first->ns <
		    MOST_OF * ns / DW_ACTIVITY_COUNT) /* cells descend, and a range has at most so many in a state */
			break;
	}
	return NULL;
}

/* The share with at least half of the sum. `of_share`: the time of each. */
static enum dw_share sum_find_share(const double of_share[DW_SHARE_COUNT], double ns)
{
	for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
		if (of_share[share] > 0 && of_share[share] >= MOST_OF * ns)
			return (enum dw_share)share;
	return DW_SHARE_COUNT;
}

struct dw_account_sum dw_account_sum(const struct dw_account *account, const struct dw_account_select *select)
{
	struct dw_account_sum sum = { .ns = 0 };
	struct sum_place places[MOST_PLACES];
	struct dw_account_basis basis = { .samples = 0 };
	const struct sum_place *best;
	double led_ns = 0, of_share[DW_SHARE_COUNT] = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];
		double part = dw_account_part_selected(account, select, cell);

		if (part == 0)
			continue;
		sum.ns += cell->ns * part;
		of_share[cell->share] += cell->ns * part;
		for (size_t p = 0; p < cell->place_count; p++)
			sum_add_place(places, &count, &cell->places[p], part);
		if (part < 0)
			continue;
		sum.samples += cell->basis.samples;
		if (cell->library)
			dw_account_lead(&sum.library, &led_ns, cell->library, cell->library_ns);
		basis.weight += cell->basis.weight;
		basis.squares += cell->basis.squares;
	}
	sum.ns = fmax(0, sum.ns);
	if (led_ns < MOST_OF * sum.ns)
		sum.library = NULL;
	dw_account_find_interval(account, select, &sum);
	best = select->explained & DW_ACCOUNT_REGIONS || select->where ? sum_find_region(account, &sum, places, count)
	                                                               : sum_find_place(&sum, places, count);
	sum_choose_place(&sum, best, places, count, &basis);
	sum.rest_ns = sum.dominates && (!sum.root || (sum.line && sum.function->file)) ? sum_rest_of(account, select, best->of) : 0;
	sum_choose_second(&sum, best, places, count, &basis);
	if (select->call && select->call <= account->call_count)
		sum.callee = account->calls[select->call - 1].callee;
	sum.range = sum_find_range(account, select, sum.ns);
	sum.share = sum_find_share(of_share, sum.ns);
	return sum;
}

static const char *sum_put_name(const struct dw_source_function *function, char text[200])
{
	text[0] = '\0';
	if (function) {
		dw_name_short(text, 200, function->name);
		dw_name_take_outer(text);
	}
	return text;
}

const char *dw_account_function(const struct dw_account_sum *sum, char text[200])
{
	return sum_put_name(sum->function, text);
}

static const char *sum_put_place(const struct dw_source_function *function, uint32_t number, char text[300])
{
	const struct dw_hot_row row = { .file = function ? function->file : NULL, .line = number };
	char name[200], line[90];

	text[0] = '\0';
	if (!function)
		return text;
	sum_put_name(function, name);
	if (*dw_hot_place(&row, line, sizeof line))
		snprintf(text, 300, "%s (%s)", name, line);
	else
		snprintf(text, 300, "%s", name);
	return text;
}

const char *dw_account_place(const struct dw_account_sum *sum, char text[300])
{
	return sum_put_place(sum->function, sum->line, text);
}

const char *dw_account_caller(const struct dw_account_sum *sum, char text[300])
{
	return sum_put_place(sum->caller, sum->caller_line, text);
}

const char *dw_account_second_place(const struct dw_account_sum *sum, char text[300])
{
	return sum_put_place(sum->second, sum->second_line, text);
}

/* The module of a file of Python: "copy" of ".../copy.py", "re" of ".../re/__init__.py". Not terminated. NULL: it is none. */
static const char *sum_find_module(const char *file, size_t *length)
{
	size_t bytes = file ? strlen(file) : 0;
	const char *begin, *end;

	if (bytes < 4 || strcmp(file + bytes - 3, ".py") != 0)
		return NULL;
	end = file + bytes - 3;
	if (end - file > 9 && strncmp(end - 9, "/__init__", 9) == 0)
		end -= 9;
	for (begin = end; begin > file && begin[-1] != '/'; begin--)
		;
	*length = (size_t)(end - begin);
	return *length && *begin != '_' ? begin : NULL;
}

const char *dw_account_callee(const struct dw_account_sum *sum, char text[80])
{
	const char *module;
	char name[200];
	size_t length = 0;
	int bytes = 0;

	if (sum->callee) {
		dw_name_short(name, sizeof name, sum->callee->name);
		module = strchr(name, '.') ? NULL : sum_find_module(sum->callee->file, &length);
		if (module)
			bytes = snprintf(text, 80, "%.*s.%s", (int)length, module, name);
		else if (strncmp(name, "operator", 8) != 0) /* of which class is not known */
			bytes = snprintf(text, 80, "%s", name);
	}
	if (bytes <= 0 || bytes >= 80)
		text[0] = '\0';
	return text;
}

DW_ORDER(sum_compare_rows, struct dw_account_row, DW_DOWN(sum.ns) DW_UP(share) DW_UP(state) DW_UP(activity))

static size_t sum_add_row(const struct dw_account *account, const struct dw_account_select *select,
                          struct dw_account_row row, struct dw_account_row *to)
{
	row.sum = dw_account_sum(account, select);
	if (row.sum.ns < 1)
		return 0;
	*to = row;
	return 1;
}

/* A row for each package that the thread imports in a state, and for what is imported and not known. */
static size_t sum_add_imports(const struct dw_account *account, struct dw_account_select select,
                              enum dw_account_state state, struct dw_account_row *rows)
{
	size_t count = 0, known;

	select.by_package = true;
	for (size_t i = 0; i < account->count && count <= DW_ACCOUNT_PACKAGES; i++) {
		if (account->cells[i].activity != DW_ACTIVITY_IMPORTS || account->cells[i].state != state)
			continue;
		select.package = account->cells[i].package;
		for (known = 0; known < count && rows[known].package != select.package; known++)
			;
		if (known == count)
			count += sum_add_row(account, &select,
			                     (struct dw_account_row){ .share = DW_SHARE_COUNT,
			                                              .state = state,
			                                              .activity = DW_ACTIVITY_IMPORTS,
			                                              .package = select.package },
			                     &rows[count]);
	}
	return count;
}

size_t dw_account_rows(const struct dw_account *account, struct dw_account_row *rows)
{
	size_t count = 0;

	for (unsigned share = 0; share < DW_SHARE_COUNT; share++) {
		const struct dw_account_select select = { .explained = 1u << share & DW_ACCOUNT_EXPLAINED };

		count += sum_add_row(account, &select, (struct dw_account_row){ .share = (enum dw_share)share }, &rows[count]);
	}
	for (unsigned call = 1; call <= account->call_count; call++) {
		struct dw_account_select select = dw_account_select_states(~0u, DW_ACCOUNT_ALL);

		select.call = call;
		count += sum_add_row(account, &select, (struct dw_account_row){ .share = DW_SHARE_COUNT, .call = call }, &rows[count]);
	}
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++) {
			struct dw_account_select select = dw_account_select_states(1u << state, UINT64_C(1) << activity);

			select.call = DW_ACCOUNT_NO_CALL;

			if (activity == DW_ACTIVITY_IMPORTS)
				count += sum_add_imports(account, select, (enum dw_account_state)state, &rows[count]);
			else
				count += sum_add_row(
					account, &select,
					(struct dw_account_row){ .share = DW_SHARE_COUNT, .state = state, .activity = activity },
					&rows[count]);
		}
	DW_SORT(rows, count, sum_compare_rows);
	return count;
}

DW_ORDER(sum_compare_imports, struct dw_account_import, DW_DOWN(ns) DW_TEXT(package))

size_t dw_account_imports(const struct dw_account *account, struct dw_account_import *imports, size_t most)
{
	struct dw_account_import all[DW_ACCOUNT_PACKAGES];
	size_t count = 0;

	for (size_t i = 0; i < account->count; i++) {
		const char *package = account->cells[i].package;
		size_t at = 0;

		while (package && at < count && all[at].package != package)
			at++;
		if (!package || at == DW_ACCOUNT_PACKAGES)
			continue;
		if (at == count)
			all[count++] = (struct dw_account_import){ package, 0 };
		all[at].ns += account->cells[i].ns;
	}
	DW_SORT(all, count, sum_compare_imports);
	count = count < most ? count : most;
	for (size_t i = 0; i < count; i++)
		imports[i] = all[i];
	return count;
}

bool dw_account_is_divided(const struct dw_account *account)
{
	return account->basis[DW_ACCOUNT_RUNS].samples + account->basis[DW_ACCOUNT_WAITS].samples > 0;
}

DW_ORDER(sum_compare_names, struct dw_account_range, DW_UP(named))
DW_ORDER(sum_compare_ranges, struct dw_account_range, DW_DOWN(ns) DW_UP(named))

size_t dw_account_ranges(const struct dw_account *account, struct dw_account_range *ranges, size_t most)
{
	struct dw_account_range *all = malloc((account->count + 1) * sizeof *all);
	size_t cells = 0, count = 0;

	for (size_t i = 0; all && i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if (cell->share == DW_SHARE_NAMED && cell->named != DW_NO_INDEX && cell->state != DW_ACCOUNT_NO_CPU)
			all[cells++] = (struct dw_account_range){ &account->symbols[cell->named], cell->named, cell->ns };
	}
	DW_SORT(all, cells, sum_compare_names);
	for (size_t i = 0; i < cells; i++) {
		if (count && all[count - 1].named == all[i].named)
			all[count - 1].ns += all[i].ns;
		else
			all[count++] = all[i];
	}
	DW_SORT(all, count, sum_compare_ranges);
	count = count < most ? count : most;
	for (size_t i = 0; i < count; i++)
		ranges[i] = all[i];
	free(all);
	return count;
}
