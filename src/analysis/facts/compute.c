/* Computes the facts of a loop, once for each loop of a model. */
#include "facts/work.h"
#include "model/core/product.h"

/* Sets why facts that no file has computed are not measured. */
static void facts_say_why(struct dw_facts_work *work)
{
	static const struct {
		enum dw_fact_id id;
		const char *why;
	} whys[] = {
		{ DW_FACT_CPU_THREADS, "the number of threads that can run is not in the trace" },
		{ DW_FACT_COMM_COUNT, "collectives are not counted by step yet" },
	};
	const char *none = dw_facts_missing_default();

	for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
		if (!work->facts->at[whys[i].id].measured && work->facts->at[whys[i].id].missing == none)
			dw_fact_miss(work, whys[i].id, whys[i].why);
	for (unsigned id = 0; id < DW_FACT_COUNT; id++)
		if (!work->facts->at[id].measured && work->facts->at[id].missing == none)
			dw_fact_miss(work, (enum dw_fact_id)id,
			             !work->loop           ? "the trace has no steps"
			             : !work->steady_count ? "no step was recorded without missing records"
			                                   : "the trace has nothing of it");
}

static void facts_fill(struct dw_facts_work *work)
{
	work->facts->account = dw_account_of(work->model, NULL);
	if (!work->facts->account) {
		work->failed = true;
		return;
	}
	dw_facts_of_run(work);
	if (!work->loop)
		return;
	dw_facts_of_steps(work);
	dw_facts_of_cpu(work);
	dw_facts_find_fast(work);
	dw_facts_of_time_outside(work);
	dw_facts_of_operators(work);
	dw_facts_of_gradients(work);
	dw_facts_of_padding(work);
	dw_facts_of_taken(work);
	dw_facts_of_cost(work);
	dw_facts_of_loader(work);
	dw_facts_of_memory(work);
	dw_facts_of_ranks(work);
	dw_facts_of_pace(work);
	dw_facts_of_shapes(work);
	dw_facts_of_flops(work);
	dw_facts_of_functions(work);
	dw_facts_of_device(work);
	dw_facts_of_samples(work);
	dw_facts_of_places(work);
	dw_facts_of_after(work);
	dw_facts_without_communication(work); /* the last one: it takes back what others could not know */
}

static bool facts_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_facts *facts = result;
	struct dw_facts_work work;
	bool good = dw_facts_begin(&work, model, *(const size_t *)request, facts);

	if (good) {
		facts_fill(&work);
		facts_say_why(&work);
	}
	if (good && work.after) {
		facts->after = dw_facts(work.after, NULL);
		work.failed |= !facts->after;
	}
	dw_facts_end(&work);
	facts->model = model;
	return good && !work.failed;
}

const struct dw_facts *dw_facts_of_loop(struct dw_model *model, size_t loop, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_facts), .compute = facts_compute };

	return dw_product_get(model, &product, loop, &loop, error);
}

const struct dw_facts *dw_facts(struct dw_model *model, struct dwell_error *error)
{
	return dw_facts_of_loop(model, 0, error);
}
