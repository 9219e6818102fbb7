/* Processor time against samples; see cpu_account.h. */
#include "model/samples/cpu_account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/core/product.h"
#include "model/steps/usage.h"
#include "model/time/threads.h"

#define LEAST_SHARE 0.03   /* of a process's CPU time: missing time that is worth a word, */
#define LEAST_NS 50000000u /* and its least amount */
#define SMALL_SHARE 0.01   /* the same of one kind of threads */
#define SHORT_PERIODS 1.5  /* CPU time of a thread that is short, in the mean of its kind */
#define LONG_PERIODS 25.0  /* after a thread's last sample: more than sparse samples explain */

struct account {
	struct dw_model *model;
	const struct dw_source *source;
	struct dw_cpu_account *to;
	size_t capacity;
	bool failed;
	/* Of the process that is looked at: */
	uint32_t process;
	size_t first; /* its first row */
	double period_ns;
	uint64_t threads;
};

/* The times of the rows of a process that are not shown, in the same order. */
struct kind {
	uint64_t tail_ns; /* after the last samples of its threads */
	uint64_t lost;    /* records */
	bool blocked;
};

/* ---- what the trace says of a process ------------------------------------------------------------ */

static double account_number(const struct dw_source *source, uint32_t process, const char *key)
{
	const char *value = dw_source_meta(source, process, key);

	return value ? strtod(value, NULL) : 0;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* "worker" of "worker 3" and "worker-3". */
static size_t account_stem(const char *name)
{
	size_t length = strlen(name), end = length;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	while (end && end < length && strchr(" -_:#/", name[end - 1]))
		end--;
	return end ? end : length;
}

static struct dw_cpu_row *account_add(struct account *account, const char *threads, size_t length)
{
	struct dw_cpu_row *row = DW_GROW(&account->to->rows, &account->capacity, account->to->count);

	account->failed |= !row;
	if (!row)
		return NULL;
	*row = (struct dw_cpu_row){ .process = account->process,
		                        .threads = dw_arena_text(&account->model->arena, threads, length) };
	account->failed |= !row->threads;
	account->to->count += row->threads != NULL;
	return row->threads ? row : NULL;
}

/* The row of the thread's kind in its process. */
static struct dw_cpu_row *account_row(struct account *account, const struct dw_source_thread *thread)
{
	bool is_main = thread->tid == account->source->processes[account->process].pid;
	const char *name = is_main ? "main thread" : thread->name;
	size_t length = is_main ? strlen(name) : account_stem(name);

	for (size_t i = account->first; i < account->to->count; i++)
		if (strncmp(account->to->rows[i].threads, name, length) == 0 && !account->to->rows[i].threads[length])
			return &account->to->rows[i];
	return account_add(account, name, length);
}

static void account_add_threads(struct account *account, struct kind **kinds, size_t *kind_capacity)
{
	for (uint32_t t = 0; t < account->source->thread_count && !account->failed; t++) {
		const struct dw_source_thread *thread = &account->source->threads[t];
		struct dw_cpu_row *row;
		struct kind *kind;
		size_t at;

		if (thread->process != account->process || !(row = account_row(account, thread)))
			continue;
		at = (size_t)(row - account->to->rows) - account->first;
		while (*kind_capacity <= at && (kind = DW_GROW(kinds, kind_capacity, *kind_capacity)) != NULL)
			;
		if (*kind_capacity <= at) {
			account->failed = true;
			return;
		}
		kind = &(*kinds)[at];
		if (!row->count)
			*kind = (struct kind){ 0 };
		row->count++;
		account->threads++;
		row->kernel_ns += thread->cpu_ns;
		row->sampled_ns += (uint64_t)((double)thread->sample_weight * account->period_ns);
		kind->tail_ns += thread->cpu_ns > thread->sampled_cpu_ns ? thread->cpu_ns - thread->sampled_cpu_ns : 0;
		kind->blocked |= thread->end & DW_THREAD_BLOCKED;
		for (unsigned i = 0; i < DW_LOSS_SLOTS; i++)
			kind->lost += thread->lost[i];
	}
}

/* Threads without an entry: those that the sampler saw end, and those that it does not know. */
static double account_add_others(struct account *account, double process_ns)
{
	const char *unseen = dw_source_meta(account->source, account->process, DW_KEY_SAMPLE_UNSEEN);
	double known = 0, others, ended_ns = 0;
	unsigned long long count = 0, ns = 0;
	struct dw_cpu_row *row;

	for (size_t i = account->first; i < account->to->count; i++)
		known += (double)account->to->rows[i].kernel_ns;
	others = process_ns > known ? process_ns - known : 0;
	if (unseen && sscanf(unseen, "[%llu,%llu]", &count, &ns) == 2 && ns) {
		ended_ns = (double)ns < others ? (double)ns : others;
		if ((row = account_add(account, "threads without a sample", strlen("threads without a sample"))) != NULL) {
			row->count = count;
			row->kernel_ns = (uint64_t)ended_ns;
			row->why =
				ended_ns <= SHORT_PERIODS * account->period_ns * (double)count ? DW_CPU_SHORT_THREADS : DW_CPU_STOPPED;
		}
	}
	if (others - ended_ns >= 1 && !dw_source_meta(account->source, account->process, DW_KEY_PROCESS_CPU_NS)) {
		row = account_add(account, "after the last samples", strlen("after the last samples"));
		if (row) {
			row->kernel_ns = (uint64_t)(others - ended_ns);
			row->why = DW_CPU_KILLED;
		}
	} else if (others - ended_ns >= 1 && (row = account_add(account, "threads that are not in the trace",
	                                                 strlen("threads that are not in the trace"))) != NULL) {
		row->kernel_ns = (uint64_t)(others - ended_ns);
		row->why = DW_CPU_OTHER_THREADS;
	}
	return others;
}

/* ---- findings -------------------------------------------------------------------------------------- */

/* The time in ranges, where no samples are. */
static void account_add_ranges(struct account *account)
{
	const struct dw_threads *threads = dw_model_threads(account->model, NULL);

	for (size_t i = 0; threads && i < threads->count; i++) {
		const struct dw_source_thread *thread = &account->source->threads[threads->rows[i].thread];
		struct dw_cpu_row *row =
			thread->process == account->process && !threads->rows[i].nested ? account_row(account, thread) : NULL;

		if (row)
			row->ranges_ns += threads->rows[i].busy_ns;
	}
}

static enum dw_cpu_why account_why(const struct account *account, const struct dw_cpu_row *row, const struct kind *kind,
                                   bool any)
{
	double deficit = (double)row->kernel_ns - (double)row->sampled_ns,
		   periods = (double)row->count * account->period_ns;

	if (kind && kind->blocked)
		return DW_CPU_BLOCKED;
	if (!any)
		return row->lacks ? DW_CPU_LACKS : DW_CPU_NO_SAMPLES;
	if (row->why == DW_CPU_SHORT_THREADS || (kind && (double)row->kernel_ns <= 2 * SHORT_PERIODS * periods))
		return DW_CPU_SHORT_THREADS;
	/* It is also why frames of Python are missing from samples: that explains no missing time. */
	if (row->lacks && !strstr(row->lacks, "Python"))
		return DW_CPU_LACKS;
	if (row->why || !kind)
		return row->why;
	if (2.0 * (double)kind->tail_ns > deficit && (double)kind->tail_ns > LONG_PERIODS * periods)
		return DW_CPU_STOPPED;
	return kind->lost ? DW_CPU_LOST : DW_CPU_LATE;
}

/* Divides what a process misses among its kinds of threads, in proportion to what each misses. */
static void account_judge(struct account *account, const struct kind *kinds, size_t kind_count, double others)
{
	const char *lacks = dw_source_meta(account->source, account->process, DW_KEY_SAMPLE_LACKS);
	double kernel = 0, sampled = 0, deficits = 0, missing, chance;

	for (size_t i = account->first; i < account->to->count; i++) {
		const struct dw_cpu_row *row = &account->to->rows[i];

		kernel += (double)row->kernel_ns;
		sampled += (double)row->sampled_ns;
		deficits += row->kernel_ns > row->sampled_ns ? (double)(row->kernel_ns - row->sampled_ns) : 0;
	}
	missing = kernel - sampled;
	chance = account->period_ns * sqrt((double)account->threads + (others > 0 ? 4 * others / account->period_ns : 0));
	if (missing < LEAST_NS || missing < LEAST_SHARE * kernel || missing < chance)
		return;
	if (sampled <= 0)
		account_add_ranges(account);
	for (size_t i = account->first; i < account->to->count; i++) {
		struct dw_cpu_row *row = &account->to->rows[i];

		if (row->kernel_ns <= row->sampled_ns)
			continue;
		row->missing_ns = (uint64_t)((double)(row->kernel_ns - row->sampled_ns) * missing / deficits);
		if ((double)row->missing_ns < SMALL_SHARE * kernel ||
		    (double)row->missing_ns < 2 * account->period_ns * sqrt((double)row->count))
			row->missing_ns = 0;
		if (!row->missing_ns)
			continue;
		row->lacks = lacks;
		row->why =
			account_why(account, row, i - account->first < kind_count ? &kinds[i - account->first] : NULL, sampled > 0);
		account->to->missing_ns += row->missing_ns;
		if (row->why == DW_CPU_STOPPED || row->why == DW_CPU_NO_SAMPLES)
			account->to->unknown_ns += row->missing_ns;
	}
}

/* Recording that waits for steps or a capture leaves out time by choice. */
static bool account_wants(const struct dw_source *source, uint32_t process)
{
	const struct dw_source_process *self = &source->processes[process];

	return !(self->flags & DW_PROCESS_RUNNER) && !source->files[self->file].foreign && !source->files[self->file].waits;
}

static void account_process(struct account *account, uint32_t process)
{
	const struct dw_source *source = account->source;
	double ns = dw_process_cpu_ns(source, process), others,
		   asked = account_number(source, process, DW_KEY_SAMPLE_ASKED_NS);
	struct kind *kinds = NULL;
	size_t kind_capacity = 0, kind_count;

	account->process = process;
	account->first = account->to->count;
	account->threads = 0;
	account->period_ns = account_number(source, process, DW_KEY_SAMPLE_PERIOD_NS);
	if (account->period_ns <= 0)
		account->period_ns = asked;
	if (asked <= 0 || !account_wants(source, process))
		return;
	if (!account->to->period_ns)
		account->to->period_ns = (uint64_t)account->period_ns;
	account->to->open += ns <= 0;
	account_add_threads(account, &kinds, &kind_capacity);
	kind_count = account->to->count - account->first; /* later rows are of no thread */
	others = account_add_others(account, ns);
	if (!account->failed)
		account_judge(account, kinds, kind_count, others);
	free(kinds);
}

DW_ORDER(account_compare, struct dw_cpu_row, DW_UP(process) DW_DOWN(missing_ns) DW_DOWN(kernel_ns) DW_TEXT(threads))

static bool account_compute(struct dw_model *model, const void *request, void *result)
{
	struct account account = { .model = model, .source = model->source, .to = result };

	for (uint32_t process = 0; process < account.source->process_count && !account.failed; process++)
		account_process(&account, process);
	for (size_t i = 0; i < account.to->count; i++) {
		account.to->kernel_ns += account.to->rows[i].kernel_ns;
		account.to->sampled_ns += account.to->rows[i].sampled_ns;
	}
	DW_SORT(account.to->rows, account.to->count, account_compare);
	return !account.failed;
}

static void account_free(void *result)
{
	free(((struct dw_cpu_account *)result)->rows);
}

DW_PRODUCT(cpu_account, struct dw_cpu_account, account_compute, account_free);
DW_PRODUCT_GETTER(cpu_account, struct dw_cpu_account)

/* ---- words ------------------------------------------------------------------------------------------- */

const char *dw_cpu_why_word(enum dw_cpu_why why)
{
	static const char *const words[] = {
#define X(name, word, clause) word,
		DW_CPU_WHYS(X)
#undef X
	};

	return words[why];
}

const char *dw_cpu_why_clause(const struct dw_cpu_row *row)
{
	static const char *const clauses[] = {
#define X(name, word, clause) clause,
		DW_CPU_WHYS(X)
#undef X
	};

	return row->why == DW_CPU_LACKS ? row->lacks : clauses[row->why];
}
