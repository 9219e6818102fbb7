/*
 * Facts of the data loader: in which part of the time that a batch takes its thread runs and does not wait, and how many CPUs
 * are free for such threads.
 * Batches that wait for files, sockets or a sleep need no CPU meanwhile.
 */
#include <math.h>

#include "facts/parts.h"
#include "facts/sampled.h"
#include "facts/work.h"
#include "model/time/loading.h"

#define NOT_SAMPLED "no samples of the threads that make batches"

double dw_facts_made_ns(const struct dw_loading *of)
{
	double sum = 0;

	for (size_t i = 0; i < of->made_count; i++)
		sum += (double)(of->made[i].end_ns - of->made[i].start_ns);
	return sum;
}

/* CPU time of a thread by its samples, and of it that in which it makes batches. */
struct sampled {
	double all_ns, made_ns;
};

static struct sampled loader_sampled(const struct dw_samples *samples, uint32_t thread)
{
	struct sampled of = { 0, 0 };

	for (size_t i = 0; i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (row->thread != thread)
			continue;
		of.all_ns += (double)row->cpu_ns;
		of.made_ns += row->share == DW_SHARE_DATA ? (double)row->cpu_ns : 0;
	}
	return of;
}

/* CPU time in which the workers make batches: the kernel's account of them, divided as their samples are, because a worker
 * that lives for a short time has few. Negative: not known. */
static double loader_cpu_of_workers(const struct dw_facts_work *work, const struct dw_samples *samples, const uint32_t *workers,
                                    size_t count)
{
	struct sampled sum = { 0, 0 };
	double kernel_ns = 0;

	for (size_t w = 0; w < count; w++) {
		struct sampled of = loader_sampled(samples, workers[w]);

		if (!work->source->threads[workers[w]].cpu_ns)
			return -1;
		sum.all_ns += of.all_ns;
		sum.made_ns += of.made_ns;
		kernel_ns += (double)work->source->threads[workers[w]].cpu_ns;
	}
	return sum.all_ns > 0 ? kernel_ns * sum.made_ns / sum.all_ns : kernel_ns;
}

struct makers {
	const uint32_t *workers;
	size_t count;
};

static bool loader_makes(void *context, const struct dw_sample_row *row)
{
	const struct makers *makers = context;
	size_t i = 0;

	while (i < makers->count && makers->workers[i] != row->thread)
		i++;
	return i < makers->count && row->share == DW_SHARE_DATA;
}

/* The function in which workers make batches. NULL: samples do not show one. */
static const char *loader_function(struct dw_facts_work *work, const uint32_t *workers, size_t count)
{
	struct makers makers = { workers, count };
	const struct dw_sampled_function *caller;
	struct dw_sampled sampled;

	dw_sampled_find(work, loader_makes, &makers, &sampled);
	caller = dw_sampled_caller(&sampled);
	return caller ? dw_sampled_text(work, caller) : NULL;
}

void dw_facts_put_loader_cpus(struct dw_facts_work *work, const uint32_t *workers, size_t count, double loop_made_ns)
{
	const struct dw_fact *left = &work->facts->at[DW_FACT_CPU_LEFT], *busy = &work->facts->at[DW_FACT_CPU_BUSY];
	const struct dw_loading *loading = dw_model_loading(work->model, NULL);
	const struct dw_samples *samples = dw_model_samples(work->model, NULL);
	uint32_t thread = work->loop->thread, process = work->source->threads[thread].process;
	double made_ns = loop_made_ns, own_ns = loop_made_ns, cpu_ns, runs;

	work->failed |= !loading || !samples;
	for (size_t w = 0; loading && w < count; w++) {
		double ns = dw_facts_made_ns(&loading[workers[w]]);

		made_ns += ns;
		own_ns += work->source->threads[workers[w]].process == process ? ns : 0;
	}
	cpu_ns = samples && samples->count ? loader_cpu_of_workers(work, samples, workers, count) : -1;
	if (cpu_ns < 0 || !(made_ns > 0)) {
		dw_fact_miss(work, DW_FACT_LOADER_RUNS, NOT_SAMPLED);
		dw_fact_miss(work, DW_FACT_LOADER_SPARE, NOT_SAMPLED);
		return;
	}
	cpu_ns += fmin(loader_sampled(samples, thread).made_ns, loop_made_ns);
	runs = dw_fact_set_share(work, DW_FACT_LOADER_RUNS, cpu_ns, made_ns, 1)->value;
	work->facts->at[DW_FACT_LOADER_RUNS].note = loader_function(work, workers, count);
	if (left->measured && busy->measured && work->loop_ns > 0) /* without what the loop's process uses for other work */
		dw_fact_set(work, DW_FACT_LOADER_SPARE,
		            fmax(0, left->value - fmax(0, busy->value - runs * own_ns / work->loop_ns)), 1);
	else
		dw_fact_miss(work, DW_FACT_LOADER_SPARE, left->measured ? "the CPU time of steps is not known" : left->missing);
}
