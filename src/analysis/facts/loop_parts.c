/* Divides the mean iteration of all loops into parts; see struct dw_loop_parts. */
#include <math.h>
#include <string.h>

#include "account/account.h"
#include "base/order.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/core/product.h"

/* A row for each part, and one for the time between steps that nothing explains. */
enum { ROW_BETWEEN = DW_PART_COUNT, ROWS };

struct loop_sums {
	double rows[ROWS];     /* by enum dw_part; of NAMED nothing: */
	double *named;         /* by symbol */
	double loop_ns, no_cpu_ns, counted_ns, left_ns; /* the last two: of parts that are not exact, in counted and in all steps */
	size_t steps, symbol_count;
};

/* Parts whose time is known of every step whose records are in the trace, however it was recorded. */
static const uint32_t loop_exact = 1u << DW_PART_COLLECTOR | 1u << DW_PART_DATA | 1u << DW_PART_COMMUNICATION | 1u << DW_PART_DEVICE |
                                   1u << DW_PART_CHECKPOINT | 1u << DW_PART_EVALUATION | 1u << DW_PART_PROFILER;

/* ---- in steps ----------------------------------------------------------------------------------------------- */

static bool loop_has_step(const struct dw_facts_work *work, const struct dw_step *step)
{
	return !step->open || work->steps->open_count == work->steps->count;
}

static bool loop_knows_all(const struct dw_facts_work *work)
{
	for (size_t i = 0; i < work->loop->count; i++)
		if (loop_has_step(work, &work->all[i]) && !(dw_step_has_phases(&work->all[i]) && work->all[i].whole))
			return false;
	return true;
}

/* The parts of some steps, and what is known of all. */
struct loop_steps {
	double counted[DW_PART_COUNT], counted_ns, exact[DW_PART_COUNT], ns;
};

static void loop_divide_steps(const struct dw_facts_work *work, struct loop_steps *to)
{
	double parts[DW_PART_COUNT];

	for (size_t i = 0; i < work->loop->count; i++) {
		const struct dw_step *step = &work->all[i];

		if (!loop_has_step(work, step))
			continue;
		dw_facts_divide(work, step, parts);
		to->ns += (double)(step->end_ns - step->start_ns);
		for (unsigned p = 0; p < DW_PART_COUNT; p++) {
			to->exact[p] += parts[p];
			to->counted[p] += step->counted ? parts[p] : 0;
		}
		to->counted_ns += step->counted ? (double)(step->end_ns - step->start_ns) : 0;
	}
}

static void loop_add_steps(const struct dw_facts_work *work, struct loop_sums *sums)
{
	struct loop_steps steps = { .ns = 0 };
	uint32_t exact = loop_knows_all(work) ? loop_exact : 0;
	double left_ns, counted_ns, scale;

	loop_divide_steps(work, &steps);
	left_ns = steps.ns;
	counted_ns = steps.counted_ns;
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		if (exact >> p & 1) {
			sums->rows[p] += steps.exact[p];
			left_ns -= steps.exact[p];
			counted_ns -= steps.counted[p];
		}
	scale = counted_ns > 0 ? left_ns / counted_ns : 0;
	sums->counted_ns += counted_ns;
	sums->left_ns += left_ns;
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		if (!(exact >> p & 1) && p != DW_PART_NAMED)
			sums->rows[p] += steps.counted[p] * scale;
	for (size_t i = 0; i < work->loop->count; i++)
		for (uint32_t p = 0; work->all[i].counted && p < work->all[i].part_count; p++)
			sums->named[work->all[i].parts[p].symbol] += (double)work->all[i].parts[p].ns * scale;
	if (!(counted_ns > 0)) /* no step is counted */
		sums->rows[DW_PART_UNNAMED] += left_ns;
}

/* ---- between steps ------------------------------------------------------------------------------------------- */

/* The row of a share's time. In a Python program the interpreter has what is in no operator, as in steps. */
static unsigned loop_row(enum dw_share share, bool between, bool python)
{
	switch (share) {
	case DW_SHARE_PROFILER: return DW_PART_PROFILER;
	case DW_SHARE_COLLECTOR: return DW_PART_COLLECTOR;
	case DW_SHARE_DATA: return DW_PART_DATA;
	case DW_SHARE_COMMUNICATION: return DW_PART_COMMUNICATION;
	case DW_SHARE_DEVICE: return DW_PART_DEVICE;
	case DW_SHARE_CHECKPOINT: return DW_PART_CHECKPOINT;
	case DW_SHARE_EVALUATION: return DW_PART_EVALUATION;
	case DW_SHARE_OPTIMIZER: return DW_PART_OPTIMIZER;
	case DW_SHARE_BACKWARD: return DW_PART_BACKWARD;
	case DW_SHARE_FORWARD: return DW_PART_FORWARD;
	case DW_SHARE_OPERATORS: return DW_PART_OPERATORS;
	case DW_SHARE_LAYERS: return !python ? DW_PART_LAYERS : between ? ROW_BETWEEN : DW_PART_PYTHON;
	case DW_SHARE_FUNCTIONS: return !python ? DW_PART_FUNCTIONS : between ? ROW_BETWEEN : DW_PART_PYTHON;
	default: return between ? (unsigned)ROW_BETWEEN : python ? DW_PART_PYTHON : DW_PART_UNNAMED;
	}
}

static void loop_add_between(const struct dw_facts_work *work, struct loop_sums *sums)
{
	const struct dw_loop *loop = work->loop;
	double rest_ns = (double)loop->iterations.loop_ns;

	for (size_t i = 0; i < loop->count; i++)
		rest_ns -= loop_has_step(work, &work->all[i]) ? (double)(work->all[i].end_ns - work->all[i].start_ns) : 0;
	for (unsigned share = 0; share < DW_SHARE_COUNT; share++) {
		unsigned row = loop_row((enum dw_share)share, true, work->python);
		double ns = fmin(rest_ns, (double)loop->outside_ns[share]);

		if (share == DW_SHARE_NAMED || row == ROW_BETWEEN)
			continue;
		sums->rows[row] += ns;
		rest_ns -= ns;
	}
	for (size_t i = 0; i < loop->outside_row_count; i++) {
		const struct dw_loop_row *row = &loop->outside_rows[i];
		double ns = fmin(rest_ns, (double)row->ns);

		if (work->symbols[row->symbol].category == DWELL_CATEGORY_OPERATOR)
			continue;
		sums->named[row->symbol] += ns;
		rest_ns -= ns;
	}
	sums->rows[ROW_BETWEEN] += rest_ns;
}

/* ---- without a CPU ------------------------------------------------------------------------------------------ */

/* Takes up to `ns` from some rows. Returns how much. */
static double loop_take(struct loop_sums *sums, const unsigned *rows, size_t count, double ns)
{
	double all = 0, taken;

	for (size_t i = 0; i < count; i++)
		all += sums->rows[rows[i]];
	taken = fmin(ns, all);
	for (size_t i = 0; i < count && all > 0; i++)
		sums->rows[rows[i]] *= 1 - taken / all;
	return taken;
}

/* The part of the account that has the phases of steps without operators does not say in which of them there was no CPU. */
static double loop_take_cell(const struct dw_facts_work *work, struct loop_sums *sums, const struct dw_account_cell *cell, bool reduced)
{
	bool between = cell->where == DW_SAMPLE_BETWEEN;
	unsigned rows[6] = { loop_row(cell->share, between, work->python) };
	size_t count = 1;

	if (cell->share == DW_SHARE_NAMED && cell->named < sums->symbol_count) {
		double taken = fmin(cell->ns, sums->named[cell->named]);

		sums->named[cell->named] -= taken;
		return taken;
	}
	if (reduced && cell->share == DW_SHARE_OTHER) {
		rows[count++] = DW_PART_OPERATORS;
		rows[count++] = DW_PART_OPTIMIZER;
		rows[count++] = DW_PART_BACKWARD;
		rows[count++] = DW_PART_FORWARD;
	}
	return loop_take(sums, rows, between && count > 2 ? 2 : count, cell->ns);
}

static void loop_leave_out(const struct dw_facts_work *work, struct loop_sums *sums, const struct dw_account *account)
{
	bool reduced = false;

	if (account->thread != work->loop->thread ||
	    fabs(account->wall_ns - (double)work->loop->iterations.loop_ns) >= 1 + 1e-6 * account->wall_ns)
		return;
	for (size_t i = 0; i < work->loop->count; i++)
		reduced |= work->all[i].reduced;
	for (size_t i = 0; i < account->count; i++)
		if (account->cells[i].state == DW_ACCOUNT_NO_CPU)
			sums->no_cpu_ns += loop_take_cell(work, sums, &account->cells[i], reduced);
}

/* ---- the product ---------------------------------------------------------------------------------------------- */

DW_ORDER(loop_compare_parts, struct dw_steady_part, DW_DOWN(ns))

static void loop_keep_row(struct dw_loop_parts *parts, const char *name, double ns, bool own)
{
	if (ns >= 0.5)
		parts->parts[parts->part_count++] = (struct dw_steady_part){ name, ns / (double)parts->steps, own };
}

static void loop_keep(struct dw_loop_parts *parts, const struct loop_sums *sums, const struct dw_symbol *symbols)
{
	parts->steps = sums->steps;
	parts->ns = sums->loop_ns / (double)sums->steps;
	parts->no_cpu_ns = sums->no_cpu_ns / (double)sums->steps;
	parts->scale = sums->counted_ns > 0 ? sums->left_ns / sums->counted_ns : 0;
	for (unsigned p = 0; p < DW_PART_UNNAMED; p++)
		loop_keep_row(parts, dw_facts_part_name((enum dw_part)p), sums->rows[p], false);
	for (size_t i = 0; i < sums->symbol_count; i++)
		loop_keep_row(parts, symbols[i].name, sums->named[i], true);
	loop_keep_row(parts, DW_PART_BETWEEN_STEPS, sums->rows[ROW_BETWEEN], false);
	DW_SORT(parts->parts, parts->part_count, loop_compare_parts);
	parts->unnamed = sums->rows[DW_PART_UNNAMED] >= 0.5;
	loop_keep_row(parts, "other", sums->rows[DW_PART_UNNAMED], false);
}

/* Of a run that is one iteration. */
static bool loop_keep_run(struct dw_model *model, struct dw_loop_parts *parts)
{
	const struct dw_steady *steady = dw_facts_steady(model, NULL);

	if (steady)
		*parts = (struct dw_loop_parts){ .steps = steady->steps, .ns = steady->ns, .parts = steady->parts,
			                             .part_count = steady->part_count, .unnamed = steady->unnamed };
	return steady != NULL;
}

/* Adds a loop. Returns how many there are; 0: out of memory. */
static size_t loop_add(struct dw_model *model, size_t number, struct loop_sums *sums, struct dw_facts *facts)
{
	const struct dw_account *account;
	struct dw_facts_work work;
	bool good = dw_facts_begin(&work, model, number, facts);
	size_t loops = good ? facts->loop_count : 0;

	if (good && work.loop) {
		loop_add_steps(&work, sums);
		loop_add_between(&work, sums);
		sums->steps += work.loop->iterations.steps;
		sums->loop_ns += (double)work.loop->iterations.loop_ns;
		account = loops == 1 ? dw_account_of(model, NULL) : NULL;
		good = account || loops > 1;
		if (account)
			loop_leave_out(&work, sums, account);
	}
	dw_facts_end(&work);
	return good ? loops + !loops : 0;
}

static bool loop_parts_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_iterated *iterated = dw_model_iterated(model, NULL);
	struct dw_loop_parts *parts = result;
	const struct dw_symbol *symbols;
	struct loop_sums sums = { .steps = 0 };
	struct dw_facts *facts;
	size_t loops = 1;

	if (!iterated || iterated->kind == DW_ITERATIONS_RUN)
		return iterated && loop_keep_run(model, parts);
	symbols = dw_model_symbols(iterated->model, &sums.symbol_count);
	sums.named = calloc(sums.symbol_count + 1, sizeof *sums.named);
	facts = malloc(sizeof *facts);
	parts->parts = dw_arena_alloc(&model->arena, (ROWS + sums.symbol_count + 1) * sizeof *parts->parts);
	for (size_t loop = 0; sums.named && facts && parts->parts && loop < loops; loop++)
		loops = loop_add(model, loop, &sums, facts);
	if (sums.named && facts && parts->parts && loops && sums.steps)
		loop_keep(parts, &sums, symbols);
	loops = sums.named && facts && parts->parts ? loops : 0;
	free(sums.named);
	free(facts);
	return loops > 0;
}

const struct dw_loop_parts *dw_facts_loop_parts(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_loop_parts), .compute = loop_parts_compute };

	return dw_product_get(model, &product, 0, NULL, error);
}
