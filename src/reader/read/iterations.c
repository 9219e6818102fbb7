/*
 * Which steps are an iteration, decided when all of a run is known.
 *
 * A probe that sees what a program does, but not what an iteration of it is, writes pieces (DWELL_STEP_* in
 * dwell/probe_abi.h): each ends with an update, a backward, an iteration of a loop or a call of a model. All of them
 * are in the journal, which is never overwritten, so that no walk over records is needed and a trace that a program is
 * still writing has iterations, too. Here it is known what came later:
 *
 *     a piece that began before earlier ones has them as its parts
 *     calls and loops of a process that trains later were no iterations (withdraw.c); a call goes on in the piece, or the call,
 *         that says so
 *     fewer than TRIED iterations that computed gradients, before a training, only looked at them
 *     several optimizers step once each in an iteration: it ends with the last update before a batch is got, or before
 *         an optimizer steps that has stepped in it
 *
 * So an optimizer may join later, or step in some iterations only. If one steps in a loop of the program within that of
 * another one, all its steps there belong to the iteration of the outer loop. DW_KEY_TORCH_OPTIMIZER_LOOPS says in
 * which loops optimizers step; where it does not and this matters, the one that steps most seldom makes the iterations.
 *
 * A step that was marked or named is an iteration as it is. If a program's marks hold no time, as a DWELL_STEP() in the last
 * line of a loop's body, they are where iterations end: each goes from the mark before to its own. Time and memory are in
 * proportion to the entries.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "dwell/probe.h"
#include "format/keys.h"
#include "format/steps.h"
#include "read/read.h"

#define TRIED 16u /* iterations */

enum { OPTIMIZERS = 16, MOST_NESTED = 8, MOST_CHAINS = 32 };

static uint32_t iterations_kind(uint32_t what)
{
	return what & DWELL_STEP_KIND;
}

/* ---- what is none ----------------------------------------------------------------------------------------- */

/* Of a process. */
struct training {
	const char *loops;  /* of its optimizers; NULL: not known */
	uint64_t gradients; /* iterations of loops that computed some */
	bool trains, learns;
	bool changed; /* pieces were joined or left out */
};

/* NULL: its thread is not known. */
static struct training *iterations_training(const struct dw_read_file *file, struct training *trainings,
                                            uint32_t thread)
{
	uint32_t place = dw_read_thread_of(file, thread);
	uint32_t process = place == DW_NO_INDEX ? file->id_count : file->threads[place].process;

	return process < file->id_count ? &trainings[process] : NULL;
}

static void iterations_read_metas(const struct dw_read_file *file, struct training *trainings)
{
	for (size_t i = 0; i < file->meta_count; i++) {
		const struct dw_read_meta *meta = &file->metas[i];
		const char *key = dw_read_string(file, meta->key), *value = dw_read_string(file, meta->value);

		if (key && value && meta->process < file->id_count && strcmp(key, DW_KEY_TORCH_OPTIMIZER_LOOPS) == 0)
			trainings[meta->process].loops = value;
	}
}

static void iterations_count(const struct dw_read_file *file, struct training *trainings)
{
	for (size_t i = 0; i < file->step_count; i++) {
		struct training *of = iterations_training(file, trainings, file->steps[i].thread);
		uint32_t kind = iterations_kind(file->steps[i].what);

		if (!of)
			continue;
		of->gradients += kind == DWELL_STEP_GRADIENTS;
		of->learns |= kind == DWELL_STEP_BACKWARD || kind == DWELL_STEP_UPDATE;
	}
}

/* ---- loops in loops --------------------------------------------------------------------------------------- */

/* The loops of the program around a step of an optimizer, the outermost first. */
struct chain {
	uint32_t optimizer; /* from 0 */
	uint32_t count;
	uint32_t loops[MOST_NESTED];
};

static const char *iterations_read_chain(const char *text, struct chain *chain)
{
	char *end;

	*chain = (struct chain){ .optimizer = (uint32_t)strtoul(text, &end, 10) - 1 };
	while ((*end == '=' || *end == '/') && chain->count < MOST_NESTED)
		chain->loops[chain->count++] = (uint32_t)strtoul(end + 1, &end, 10);
	return *end == ' ' ? end + 1 : "";
}

static size_t iterations_read_chains(const char *text, struct chain *chains)
{
	size_t count = 0;

	while (text && *text && count < MOST_CHAINS) {
		text = iterations_read_chain(text, &chains[count]);
		count += chains[count].optimizer < OPTIMIZERS && chains[count].count;
	}
	return count;
}

/* Whether an optimizer steps in a loop within the one that another steps in, and never in the same one. */
static bool iterations_is_within(const struct chain *chains, size_t count, uint32_t inner, uint32_t outer)
{
	bool within = false;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			const struct chain *a = &chains[i], *b = &chains[k];

			if (a->optimizer != inner || b->optimizer != outer || b->count > a->count ||
			    memcmp(a->loops, b->loops, b->count * sizeof b->loops[0]) != 0)
				continue;
			if (a->count == b->count)
				return false;
			within = true;
		}
	return within;
}

/* ---- updates ---------------------------------------------------------------------------------------------- */

/* Updates in an inner loop: a longer one makes the iterations, as that over the batches of an epoch. */
#define MOST_INNER 8

/* The pieces of a thread, and what is known while they are read, one after the other. */
struct deciding {
	struct dw_read_step *steps;
	size_t count;
	uint64_t updates[OPTIMIZERS], epochs; /* updates of each, times that a loader was begun */
	size_t first_of[OPTIMIZERS], last_of[OPTIMIZERS];
	uint32_t all, known,
		inner; /* bits of optimizers: that step; whose loops are known; in a loop within that of another one */
	uint32_t with[OPTIMIZERS]; /* which have stepped in one iteration with it */
	uint32_t stepped;          /* in this iteration */
	uint32_t latest;           /* the optimizer of the latest update */
	bool inner_first;          /* the first update is of an inner optimizer */
	bool ambiguous; /* an iteration ended because an optimizer stepped again, while another one did not step in it */
};

static void iterations_count_updates(struct deciding *now)
{
	bool any = false;

	for (size_t i = 0; i < now->count; i++) {
		uint32_t optimizer = dw_step_optimizer(now->steps[i].what);

		now->epochs += (now->steps[i].what & DWELL_STEP_LOADER) != 0;
		if (iterations_kind(now->steps[i].what) != DWELL_STEP_UPDATE)
			continue;
		if (!any)
			now->inner_first = now->inner >> optimizer & 1;
		any = true;
		if (!now->updates[optimizer]++)
			now->first_of[optimizer] = i;
		now->last_of[optimizer] = i;
		now->all |= 1u << optimizer;
	}
}

static void iterations_find_nests(struct deciding *now, const char *loops)
{
	struct chain chains[MOST_CHAINS];
	size_t count = iterations_read_chains(loops, chains);
	const uint64_t *updates = now->updates;

	for (size_t i = 0; i < count; i++)
		now->known |= 1u << chains[i].optimizer;
	for (uint32_t inner = 0; inner < OPTIMIZERS; inner++)
		for (uint32_t outer = 0; outer < OPTIMIZERS; outer++)
			if (updates[outer] && updates[inner] < MOST_INNER * updates[outer] && now->epochs * 2 <= updates[outer] &&
			    iterations_is_within(chains, count, inner, outer))
				now->inner |= 1u << inner;
}

/* Whether the optimizer begins to learn when those that have stepped do so no more. */
static bool iterations_follows(const struct deciding *now, uint32_t optimizer, size_t at)
{
	if (now->with[optimizer] & now->stepped || now->last_of[optimizer] == at)
		return false;
	for (uint32_t i = 0; i < OPTIMIZERS; i++)
		if (now->stepped >> i & 1 && now->last_of[i] > at)
			return false;
	return true;
}

/* Whether this iteration ends before the update, where optimizers step in loops within each other. */
static bool iterations_ends_nested(const struct deciding *now, uint32_t optimizer)
{
	bool inner = now->inner >> optimizer & 1, after_outer = !(now->inner >> now->latest & 1);

	if (inner)
		return now->inner_first && after_outer;
	return now->stepped >> optimizer & 1;
}

/* Whether an optimizer that has stepped before and will again has not stepped in this iteration. */
static bool iterations_misses_one(const struct deciding *now, size_t at)
{
	for (uint32_t i = 0; i < OPTIMIZERS; i++)
		if (now->all >> i & 1 && !(now->stepped >> i & 1) && now->first_of[i] < at && now->last_of[i] > at)
			return true;
	return false;
}

/* Whether the update at `at` joins the iteration of the one before. */
static bool iterations_joins(struct deciding *now, size_t at)
{
	uint32_t optimizer = dw_step_optimizer(now->steps[at].what);
	bool again = now->stepped >> optimizer & 1, batch = now->steps[at].what & DWELL_STEP_BATCH;

	if (!now->stepped)
		return false;
	if (now->inner)
		return !iterations_ends_nested(now, optimizer);
	now->ambiguous |= (again || batch) && iterations_misses_one(now, at);
	return !batch && !again && !iterations_follows(now, optimizer, at);
}

/* Says for each step whether it joins the one before. */
static void iterations_read_updates(struct deciding *now, bool *joins)
{
	now->stepped = 0;
	now->ambiguous = false;
	memset(now->with, 0, sizeof now->with);
	for (size_t i = 0; i < now->count; i++) {
		uint32_t optimizer = dw_step_optimizer(now->steps[i].what);
		bool update = iterations_kind(now->steps[i].what) == DWELL_STEP_UPDATE;

		joins[i] = update && iterations_joins(now, i);
		if (!joins[i])
			now->stepped = 0;
		if (!update)
			continue;
		for (uint32_t other = 0; other < OPTIMIZERS; other++)
			if (now->stepped >> other & 1)
				now->with[other] |= 1u << optimizer;
		now->with[optimizer] |= now->stepped;
		now->stepped |= 1u << optimizer;
		now->latest = optimizer;
	}
}

/* All optimizers step within the iterations of the one that steps most seldom, if it is not too seldom. */
static bool iterations_nest_by_count(struct deciding *now)
{
	uint32_t seldom = OPTIMIZERS;

	for (uint32_t i = 0; i < OPTIMIZERS; i++)
		if (now->updates[i] && (seldom == OPTIMIZERS || now->updates[i] < now->updates[seldom]))
			seldom = i;
	for (uint32_t i = 0; i < OPTIMIZERS; i++)
		if (seldom == OPTIMIZERS || now->updates[i] >= MOST_INNER * now->updates[seldom])
			return false;
	now->inner = now->all & ~(1u << seldom);
	return true;
}

static void iterations_decide(struct deciding *now, const char *loops, bool *joins)
{
	iterations_count_updates(now);
	iterations_find_nests(now, loops);
	now->inner_first = now->count && iterations_kind(now->steps[0].what) == DWELL_STEP_UPDATE &&
	                   now->inner >> dw_step_optimizer(now->steps[0].what) & 1;
	iterations_read_updates(now, joins);
	if (!now->ambiguous || !(now->all & ~now->known) || !iterations_nest_by_count(now))
		return;
	now->inner_first = now->inner >> dw_step_optimizer(now->steps[0].what) & 1;
	iterations_read_updates(now, joins);
}

/* ---- pieces ----------------------------------------------------------------------------------------------- */

/* A piece that began when earlier ones did has them as its parts. Open steps come last. */
static int iterations_compare(const void *left, const void *right)
{
	const struct dw_read_step *a = left, *b = right;
	uint64_t a_end = a->end_ticks ? a->end_ticks : UINT64_MAX, b_end = b->end_ticks ? b->end_ticks : UINT64_MAX;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start_ticks != b->start_ticks)
		return a->start_ticks < b->start_ticks ? -1 : 1;
	return a_end == b_end ? 0 : a_end > b_end ? -1 : 1;
}

/* Steps of one thread are in order as they were written. */
static void iterations_sort(struct dw_read_file *file)
{
	size_t i = 1;

	while (i < file->step_count && iterations_compare(&file->steps[i - 1], &file->steps[i]) <= 0)
		i++;
	if (i < file->step_count)
		DW_SORT(file->steps, file->step_count, iterations_compare);
}

static void iterations_join(struct dw_read_step *to, const struct dw_read_step *from)
{
	bool measured = to->cpu_ns && from->cpu_ns;

	to->end_ticks = from->end_ticks;
	to->tentative = from->tentative;
	to->cpu_ns = measured ? to->cpu_ns + from->cpu_ns : 0;
	to->what = (to->what & (DWELL_STEP_BATCH | DWELL_STEP_LOADER)) | (from->what & ~DWELL_STEP_JOINS);
	to->recorded &= from->recorded;
	to->reduced = !to->recorded && (to->reduced || from->reduced);
	to->brief = !to->recorded && (to->brief || from->brief);
}

/* Leaves out what is none, and joins calls to the pieces that go on with them. Returns how many steps of the thread are
 * left. */
static size_t iterations_drop(struct dw_read_step *steps, size_t count, struct training *of)
{
	const struct dw_read_step *around = NULL, *before = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct dw_read_step step = steps[i];
		bool part = around && step.what && step.end_ticks && step.end_ticks <= around->end_ticks;
		struct dw_read_step call = before ? *before : step;

		before = &steps[i];
		if (part || (iterations_kind(step.what) == DWELL_STEP_GRADIENTS && of->learns && of->gradients < TRIED))
			continue;
		if (step.what & DWELL_STEP_JOINS && kept && iterations_kind(step.what) == DWELL_STEP_CALL &&
		    iterations_kind(steps[kept - 1].what) == DWELL_STEP_CALL) { /* one more layer of a model */
			iterations_join(&steps[kept - 1], &step);
			before = &steps[kept - 1];
			continue;
		}
		if (step.what & DWELL_STEP_JOINS && iterations_kind(call.what) == DWELL_STEP_CALL) {
			iterations_join(&call, &step);
			call.number = step.number;
			step = call;
		}
		steps[kept] = step;
		if (iterations_kind(step.what) == DWELL_STEP_LOOP || iterations_kind(step.what) == DWELL_STEP_GRADIENTS)
			around = &steps[kept];
		kept++;
	}
	of->changed |= kept != count;
	return kept;
}

static size_t iterations_join_updates(struct deciding *now, const bool *joins, struct training *of)
{
	size_t kept = 0;

	for (size_t i = 0; i < now->count; i++)
		if (joins[i])
			iterations_join(&now->steps[kept - 1], &now->steps[i]);
		else
			now->steps[kept++] = now->steps[i];
	of->changed |= kept != now->count;
	return kept;
}

/* Decides for the steps of all threads, which are in order. -1: out of memory. */
static int iterations_decide_all(struct dw_read_file *file, struct training *trainings)
{
	bool *joins = malloc(file->step_count + 1);
	size_t kept = 0;

	for (size_t i = 0, next; joins && i < file->step_count; i = next) {
		struct training none = { .loops = NULL }, *of = iterations_training(file, trainings, file->steps[i].thread);
		struct deciding now = { .steps = file->steps + i };

		for (next = i; next < file->step_count && file->steps[next].thread == file->steps[i].thread; next++)
			;
		of = of ? of : &none;
		now.count = iterations_drop(now.steps, next - i, of);
		iterations_decide(&now, of->loops, joins);
		now.count = iterations_join_updates(&now, joins, of);
		memmove(file->steps + kept, now.steps, now.count * sizeof *now.steps);
		kept += now.count;
	}
	if (joins)
		file->step_count = kept;
	free(joins);
	return joins ? 0 : -1;
}

/* ---- numbers ---------------------------------------------------------------------------------------------- */

/* A step or a summary of a process whose iterations are not its pieces. */
struct numbered {
	uint32_t process;
	uint64_t start_ticks, count;
	uint64_t *number;
};

DW_ORDER(iterations_compare_numbered, struct numbered, DW_UP(process) DW_UP(start_ticks))

static void iterations_add(const struct dw_read_file *file, const struct training *trainings, struct numbered *list,
                           size_t *count, struct numbered one, uint32_t thread)
{
	uint32_t place = dw_read_thread_of(file, thread);

	if (place == DW_NO_INDEX || file->threads[place].process >= file->id_count ||
	    !trainings[file->threads[place].process].changed)
		return;
	one.process = file->threads[place].process;
	list[(*count)++] = one;
}

/* Iterations of a process are numbered from 0. -1: out of memory. */
static int iterations_number(struct dw_read_file *file, const struct training *trainings)
{
	struct numbered *list = calloc(file->step_count + file->summary_count + 1, sizeof *list);
	size_t count = 0;
	uint64_t next = 0;

	for (size_t i = 0; list && i < file->step_count; i++)
		iterations_add(file, trainings, list, &count,
		               (struct numbered){ 0, file->steps[i].start_ticks, 1, &file->steps[i].number },
		               file->steps[i].thread);
	for (size_t i = 0; list && i < file->summary_count; i++)
		iterations_add(file, trainings, list, &count,
		               (struct numbered){ 0, file->summaries[i].start_ticks, file->summaries[i].count,
		                                  &file->summaries[i].first_number },
		               file->summaries[i].thread);
	if (list)
		DW_SORT(list, count, iterations_compare_numbered);
	for (size_t i = 0; list && i < count; i++) {
		if (!i || list[i].process != list[i - 1].process)
			next = 0;
		*list[i].number = next;
		next += list[i].count;
	}
	free(list);
	return list ? 0 : -1;
}

/* ---- marks ------------------------------------------------------------------------------------------------ */

/* Of a loop. Marks that hold less of it hold none of the program's work: a mark itself takes 0.2 us, so that this is all that they
 * hold in any loop whose iterations take more than 4 us. */
#define NOTHING 0.05

/* Whether the steps of a thread, which are in order, are moments at which iterations end: most of them hold nothing, and all of them
 * together, too. One evaluation between short steps, or a moment without a CPU, makes none of them a moment. */
static bool iterations_are_moments(const struct dw_read_file *file, const struct dw_read_step *steps, size_t count)
{
	uint64_t held = 0, loop;
	size_t short_ones = 0;

	if (count < TRIED)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (steps[i].what || steps[i].tentative || (!steps[i].end_ticks && i + 1 < count))
			return false;
		held += steps[i].end_ticks ? steps[i].end_ticks - steps[i].start_ticks : 0;
		short_ones += i + 1 < count && (double)(steps[i].end_ticks - steps[i].start_ticks) <
		                                   NOTHING * (double)(steps[i + 1].start_ticks - steps[i].start_ticks);
	}
	for (size_t i = 0; i < file->summary_count; i++)
		if (file->summaries[i].thread == steps[0].thread)
			return false;
	loop = steps[count - 1].start_ticks - steps[0].start_ticks;
	return 2 * short_ones >= count && (double)held < NOTHING * (double)loop;
}

/* Lets iterations begin where the one before ended. Where the first one began is not known, so it is none. Steps of a thread
 * are one behind the other. */
static void iterations_stretch(struct dw_read_file *file)
{
	size_t kept = 0;

	for (size_t i = 0, next; i < file->step_count; i = next) {
		bool moments;
		uint64_t end;

		for (next = i; next < file->step_count && file->steps[next].thread == file->steps[i].thread; next++)
			;
		moments = iterations_are_moments(file, &file->steps[i], next - i);
		end = file->steps[i].end_ticks;
		for (size_t at = i + moments; at < next; at++) {
			struct dw_read_step step = file->steps[at];

			if (moments) {
				step.start_ticks = end;
				step.cpu_ns = 0; /* was measured within the mark */
				end = step.end_ticks;
			}
			file->steps[kept++] = step;
		}
	}
	file->step_count = kept;
}

static bool iterations_has_pieces(const struct dw_read_file *file)
{
	for (size_t i = 0; i < file->step_count; i++)
		if (file->steps[i].what)
			return true;
	return false;
}

/* Calls join what goes on with them before those that are left are withdrawn. */
int dw_read_decide_iterations(struct dw_read_file *file)
{
	struct training *trainings;
	int result;

	if (!iterations_has_pieces(file)) {
		iterations_sort(file);
		result = dw_read_withdraw(file);
		iterations_stretch(file);
		return result;
	}
	trainings = calloc((size_t)file->id_count + 1, sizeof *trainings);
	if (!trainings)
		return -1;
	iterations_read_metas(file, trainings);
	iterations_count(file, trainings);
	iterations_sort(file);
	result =
		iterations_decide_all(file, trainings) || dw_read_withdraw(file) || iterations_number(file, trainings) ? -1 : 0;
	free(trainings);
	iterations_stretch(file);
	return result;
}
