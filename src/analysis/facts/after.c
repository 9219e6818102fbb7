/* Facts of what follows the last step, where that is the largest part of the run: scores of a test set, samples, an export. */
#include <string.h>

#include "facts/sampled.h"
#include "model/steps/iterations.h"
#include "model/time/outermost.h"

static bool after_wants(void *context, const struct dw_sample_row *row)
{
	const struct dw_facts_work *work = context;

	return row->thread == work->loop->thread && row->where == DW_SAMPLE_AFTER;
}

static bool after_is_of_thread(void *context, const struct dw_sample_row *row)
{
	const struct dw_facts_work *work = context;

	return row->thread == work->loop->thread;
}

/* Calls of models there. Returns whether they take most of `after_ns`. */
static bool after_put_calls(struct dw_facts_work *work, uint64_t end_ns, double after_ns)
{
	struct dw_model *model = dw_facts_loop_model(work->model, work->loop->end_ns, end_ns, NULL);
	const struct dw_tree *tree = model ? dw_model_outermost(model, NULL) : NULL;
	double ns = 0, count = 0;

	work->failed |= !tree;
	for (size_t i = 0; tree && i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->symbol == DW_NO_INDEX || node->thread != work->loop->thread ||
		    work->symbols[node->symbol].category != DWELL_CATEGORY_EVALUATION)
			continue;
		ns += (double)node->stat.total_ns;
		count += (double)node->stat.count;
	}
	if (!(count > 0) || ns < DW_SAMPLED_MOST * after_ns)
		return false;
	dw_fact_set(work, DW_FACT_RUN_AFTER_CALLS, count, 1);
	dw_fact_set(work, DW_FACT_RUN_AFTER_CALL, ns / count, 1);
	return true;
}

/* Where that time is: of calls of a model, the function that makes them. */
static void after_put_place(struct dw_facts_work *work, struct dw_fact *fact, const struct dw_account *account, bool calls)
{
	const struct dw_account_select all = dw_account_select_states(~(1u << DW_ACCOUNT_NO_CPU), DW_ACCOUNT_ALL);
	const struct dw_sampled_function *function = NULL;
	struct dw_sampled after, run;
	struct dw_account_sum sum;
	char text[300];

	dw_sampled_find(work, after_wants, work, &after);
	if (calls) {
		dw_sampled_find(work, after_is_of_thread, work, &run);
		function = dw_sampled_region(&after, &run);
	} else if (work->python) {
		function = dw_sampled_caller(&after);
	}
	if (function) {
		fact->name = dw_sampled_text(work, function);
		return;
	}
	sum = dw_account_sum(account, &all);
	if (!work->python && sum.dominates && *dw_account_place(&sum, text))
		fact->name = dw_facts_text(work, text, strlen(text));
}

/* What the thread used there, by its account. */
static struct dw_source_usage after_find_used(const struct dw_facts_work *work, const struct dw_account *account, uint64_t end_ns)
{
	const struct dw_source_process *process = &work->source->processes[work->source->threads[account->thread].process];
	const struct dw_source_clock *clock = &work->source->files[process->file].clock;
	double cpu_ns = account->state_ns[DW_ACCOUNT_RUNS] + account->state_ns[DW_ACCOUNT_SPINS];

	if (!account->known)
		return (struct dw_source_usage){ .thread = account->thread };
	return (struct dw_source_usage){ .thread = account->thread, .delay_known = account->waits_known,
		.start_ticks = dw_source_ticks(clock, work->loop->end_ns), .end_ticks = dw_source_ticks(clock, end_ns),
		.cpu_ns = (uint64_t)cpu_ns, .delay_ns = (uint64_t)account->state_ns[DW_ACCOUNT_NO_CPU],
		.process_cpu_ns = (uint64_t)(cpu_ns + account->others_cpu_ns), .waits = account->waits_known };
}

/* As a run in which no step is marked. */
static void after_put_model(struct dw_facts_work *work, const struct dw_account *account, uint64_t end_ns)
{
	const struct dw_iterations_after after = { .thread = work->loop->thread, .from_ns = work->loop->end_ns, .to_ns = end_ns,
		.used = after_find_used(work, account, end_ns) };
	const struct dw_iterated *iterated = dw_model_iterated_after(work->model, &after, NULL);

	work->failed |= !iterated;
	work->after = iterated ? iterated->model : NULL;
}

void dw_facts_of_after(struct dw_facts_work *work)
{
	const struct dw_account_run *run = dw_account_of_run(work->model, NULL);
	const struct dw_account *account;
	uint64_t end_ns;
	bool calls;

	work->failed |= !run;
	for (unsigned id = DW_FACT_RUN_AFTER; id <= DW_FACT_RUN_AFTER_CALL; id++)
		dw_fact_miss(work, (enum dw_fact_id)id, "what follows the last step is not the largest part of the run");
	if (!run || !(work->loop_ns > 0) || dw_account_main_phase(run) != DW_ACCOUNT_END ||
	    run->phases[DW_ACCOUNT_LOOP]->thread != work->loop->thread)
		return;
	account = run->phases[DW_ACCOUNT_END];
	end_ns = work->source->processes[work->source->threads[work->loop->thread].process].end_ns;
	dw_fact_set_share(work, DW_FACT_RUN_AFTER, account->own_ns, dw_account_run_own_ns(run), 1);
	calls = after_put_calls(work, end_ns, account->wall_ns);
	after_put_place(work, &work->facts->at[DW_FACT_RUN_AFTER], account, calls);
	after_put_model(work, account, end_ns);
}
