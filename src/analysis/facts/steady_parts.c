/* Divides the mean steady step of all loops into parts and into names that the program gave. */
#include <string.h>

#include "base/order.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/core/product.h"

struct sums {
	double parts[DW_PART_COUNT], length;
	double *named;        /* by symbol */
};

static void parts_add_loop(struct dw_facts_work *work, struct sums *sums, struct dw_steady *steady)
{
	double parts[DW_PART_COUNT];

	dw_facts_choose_steady(work);
	for (size_t i = 0; i < work->loop->count; i++) {
		steady->warm_up += work->roles[i] == DW_ROLE_WARM_UP;
		steady->outliers += work->roles[i] == DW_ROLE_OUTLIER;
	}
	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_step *step = work->steady[i];

		dw_facts_divide(work, step, parts);
		for (unsigned p = 0; p < DW_PART_COUNT; p++)
			sums->parts[p] += parts[p];
		for (uint32_t p = 0; p < step->part_count; p++)
			sums->named[step->parts[p].symbol] += (double)step->parts[p].ns;
		sums->length += (double)(step->end_ns - step->start_ns);
	}
	steady->steps += work->steady_count;
}

DW_ORDER(parts_compare, struct dw_steady_part, DW_DOWN(ns))

static void parts_keep(struct dw_steady *steady, const struct sums *sums,
                       const struct dw_symbol *symbols, size_t symbol_count)
{
	double steps = (double)steady->steps;

	steady->ns = sums->length / steps;
	for (unsigned p = 0; p < DW_PART_UNNAMED; p++)
		if (p != DW_PART_NAMED && sums->parts[p] > 0)
			steady->parts[steady->part_count++] = (struct dw_steady_part){
				dw_facts_part_name((enum dw_part)p), sums->parts[p] / steps, false };
	for (size_t i = 0; i < symbol_count; i++)
		if (sums->named[i] > 0)
			steady->parts[steady->part_count++] =
			    (struct dw_steady_part){ symbols[i].name, sums->named[i] / steps, true };
	DW_SORT(steady->parts, steady->part_count, parts_compare);
	steady->unnamed = sums->parts[DW_PART_UNNAMED] > 0;
	if (steady->unnamed)
		steady->parts[steady->part_count++] =
		    (struct dw_steady_part){ "other", sums->parts[DW_PART_UNNAMED] / steps, false };
}

/* Of a run that is one iteration, the parts are the rows of its account. */
static bool parts_keep_account(struct dw_model *model, struct dw_steady *steady, const struct dw_account *account)
{
	struct dw_account_row rows[DW_ACCOUNT_ROWS];
	size_t count = dw_account_rows(account, rows);
	char label[64];

	steady->parts = dw_arena_alloc(&model->arena, (count + 1) * sizeof *steady->parts);
	steady->steps = 1;
	steady->ns = account->own_ns;
	for (size_t i = 0; steady->parts && i < count; i++) {
		const char *name;

		if (rows[i].state == DW_ACCOUNT_NO_CPU)
			continue;
		rows[i].sum.library = NULL; /* parts of two runs are compared by name, and another library may lead in one */
		name = dw_account_label(&rows[i], label);
		name = dw_arena_text(&model->arena, name, strlen(name));
		if (!name)
			return false;
		steady->parts[steady->part_count++] = (struct dw_steady_part){ name, rows[i].sum.ns, false };
	}
	return steady->parts != NULL;
}

static bool parts_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_steady *steady = result;
	struct dw_facts *facts = malloc(sizeof *facts);
	size_t symbol_count, loops = 1;
	const struct dw_symbol *symbols = dw_model_symbols(model, &symbol_count);
	struct sums sums = { .named = calloc(symbol_count + 1, sizeof *sums.named) };
	const struct dw_iterated *iterated = dw_model_iterated(model, NULL);
	const struct dw_account *account = iterated && iterated->kind == DW_ITERATIONS_RUN ? dw_account_of(iterated->model, NULL) : NULL;
	bool good = facts && sums.named && iterated;

	if (good && account && dw_account_is_divided(account)) {
		free(facts);
		free(sums.named);
		return parts_keep_account(model, steady, account);
	}
	steady->parts = dw_arena_alloc(&model->arena, (DW_PART_COUNT + symbol_count + 1) * sizeof *steady->parts);
	for (size_t loop = 0; good && loop < loops; loop++) {
		struct dw_facts_work work;

		good = dw_facts_begin(&work, model, loop, facts);
		loops = facts->loop_count;
		if (good && work.loop)
			parts_add_loop(&work, &sums, steady);
		good = good && !work.failed;
		dw_facts_end(&work);
	}
	if (good && steady->parts && steady->steps)
		parts_keep(steady, &sums, symbols, symbol_count);
	free(facts);
	free(sums.named);
	return good && steady->parts;
}

const struct dw_steady *dw_facts_steady(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_steady), .compute = parts_compute };

	return dw_product_get(model, &product, 0, NULL, error);
}
