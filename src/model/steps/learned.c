/* The iterations of learning loops, decided from all updates; see learned.h. */
#include "model/steps/learned.h"

#include <string.h>

#include "base/order.h"
#include "format/keys.h"
#include "model/steps/loop_phases_pass.h"
#include "model/steps/steps_build.h"

const char *dw_learned_why_text(enum dw_learned_why why)
{
	static const char *const texts[] = {
		[DW_LEARNED_DECIDED] = "decided",
		[DW_LEARNED_MARKED] = "the program marks steps",
		[DW_LEARNED_NO_UPDATES] = "steps without updates",
		[DW_LEARNED_UNRECORDED] = "not all is recorded",
		[DW_LEARNED_NAMELESS] = "optimizers have no numbers",
		[DW_LEARNED_AMBIGUOUS] = "not known in which loops the optimizers step",
	};

	return texts[why];
}

/* ---- which loops ---------------------------------------------------------------------------------------- */

static bool learned_has(const struct dw_source *source, uint32_t process, const char *key, const char *value)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if (source->metas[i].process == process && strcmp(source->metas[i].key, key) == 0 &&
		    (!value || strcmp(source->metas[i].value, value) == 0))
			return true;
	return false;
}

/* The same of a process or one that it was forked from: what the probe says when PyTorch is imported. */
static bool learned_inherits(const struct dw_source *source, uint32_t process, const char *key, const char *value)
{
	for (size_t i = 0; i < source->process_count && process != DW_NO_INDEX; i++) {
		if (learned_has(source, process, key, value))
			return true;
		process = source->processes[process].parent;
	}
	return false;
}

/* An older trace does not say who made its steps. Those that a program marks follow each other without a gap. */
static bool learned_is_seamless(const struct dw_phase_loop *loop)
{
	for (size_t i = 0; i + 1 < loop->count; i++)
		if (loop->steps[i].end_ns != loop->steps[i].next_ns)
			return false;
	return loop->count > 1;
}

static bool learned_is_marked(const struct dw_model *model, const struct dw_phase_loop *loop, uint32_t process)
{
	const struct dw_source *source = model->source;

	if (learned_has(source, process, DW_KEY_TORCH_STEPS, NULL))
		return learned_has(source, process, DW_KEY_TORCH_STEPS, "marked");
	return !learned_inherits(source, process, DW_KEY_TORCH_VERSION, NULL) ||
	       learned_has(source, process, DW_KEY_TORCH_STEP_ON, "steps") || learned_is_seamless(loop);
}

static bool learned_is_recorded(const struct dw_model *model, const struct dw_phase_loop *loop)
{
	if (model->source->step_summary_count || dw_model_is_partial(model))
		return false;
	for (size_t i = 0; i < loop->count; i++)
		if (!(loop->steps[i].recorded || loop->steps[i].reduced) || !loop->steps[i].whole)
			return false;
	return true;
}

/* Whether the trace says which optimizer each update is of. */
static bool learned_has_names(const struct dw_model *model, const struct dw_phase_loop *loop, uint32_t process)
{
	uint64_t named = 0;

	for (unsigned i = 0; i < DW_LOOP_OPTIMIZERS; i++)
		named += loop->updates_of[i];
	return named >= loop->update_count && learned_inherits(model->source, process, DW_KEY_TORCH_OPTIMIZERS, "numbered");
}

/* Whether a step of the trace has several updates. */
static bool learned_has_several(const struct dw_phase_loop *loop)
{
	for (size_t i = 0; i < loop->count; i++)
		if (loop->counts[i * DW_LOOP_EVENT_KINDS + DW_LOOP_UPDATE] > 1)
			return true;
	return false;
}

static enum dw_learned_why learned_ask(const struct dw_model *model, const struct dw_phase_loop *loop, uint32_t process)
{
	if (learned_is_marked(model, loop, process))
		return DW_LEARNED_MARKED;
	if (!learned_is_recorded(model, loop))
		return DW_LEARNED_UNRECORDED;
	if (!loop->update_count)
		return DW_LEARNED_NO_UPDATES;
	if (!learned_has_names(model, loop, process) && learned_has_several(loop))
		return DW_LEARNED_NAMELESS;
	return DW_LEARNED_DECIDED;
}

/* ---- loops in loops ------------------------------------------------------------------------------------- */

enum { MOST_NESTED = 8, MOST_CHAINS = 32 };

/* The loops of the program around a step of an optimizer, the outermost first. */
struct chain {
	uint32_t optimizer; /* from 0 */
	uint32_t count;
	uint32_t loops[MOST_NESTED];
};

/* In which loops the optimizers of a thread step. Bits of optimizers. */
struct nests {
	uint32_t known;
	uint32_t inner; /* in a loop within that of another one, which is the one that makes iterations */
};

static const char *learned_read_chain(const char *text, struct chain *chain)
{
	char *end;

	*chain = (struct chain){ .optimizer = (uint32_t)strtoul(text, &end, 10) - 1 };
	while ((*end == '=' || *end == '/') && chain->count < MOST_NESTED)
		chain->loops[chain->count++] = (uint32_t)strtoul(end + 1, &end, 10);
	return *end == ' ' ? end + 1 : "";
}

static size_t learned_read_chains(const char *text, struct chain *chains)
{
	size_t count = 0;

	while (text && *text && count < MOST_CHAINS) {
		text = learned_read_chain(text, &chains[count]);
		count += chains[count].optimizer < DW_LOOP_OPTIMIZERS && chains[count].count;
	}
	return count;
}

/* Whether an optimizer steps in a loop within the one that another steps in, and never in the same one. */
static bool learned_is_within(const struct chain *chains, size_t count, uint32_t inner, uint32_t outer)
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

#define MOST_INNER \
	8 /* updates in an inner loop: a longer one makes the iterations, as that over the batches of an epoch */

static struct nests learned_find_nests(const struct dw_model *model, const struct dw_phase_loop *loop, uint32_t process)
{
	struct chain chains[MOST_CHAINS];
	size_t count = learned_read_chains(dw_source_meta(model->source, process, DW_KEY_TORCH_OPTIMIZER_LOOPS), chains);
	const uint64_t *updates = loop->updates_of;
	struct nests nests = { 0, 0 };

	for (size_t i = 0; i < count; i++)
		nests.known |= 1u << chains[i].optimizer;
	for (uint32_t inner = 0; inner < DW_LOOP_OPTIMIZERS; inner++)
		for (uint32_t outer = 0; outer < DW_LOOP_OPTIMIZERS; outer++)
			if (updates[outer] && updates[inner] < MOST_INNER * updates[outer] && loop->epochs * 2 <= updates[outer] &&
			    learned_is_within(chains, count, inner, outer))
				nests.inner |= 1u << inner;
	return nests;
}

/* ---- iterations ----------------------------------------------------------------------------------------- */

/* What is known while the updates of a thread are read, one after the other. */
struct deciding {
	struct dw_learned *learned;
	struct dw_learned_loop *to;
	const struct dw_phase_loop *loop;
	struct nests nests;
	uint32_t stepped; /* in this iteration; bits of optimizers */
	uint32_t latest;  /* the optimizer of the latest update */
	bool ambiguous;   /* an iteration ended because an optimizer stepped again, while another one did not step in it */
	bool inner_first; /* the loop's first update is of an inner optimizer */
	size_t bare;      /* the next step of the trace that may have no update */
	uint64_t start_ticks, end_ticks; /* of this iteration, if any has stepped */
	uint64_t floor_ticks;            /* the end of the iteration before */
	size_t first_of[DW_LOOP_OPTIMIZERS],
		last_of[DW_LOOP_OPTIMIZERS];   /* indices of updates of each; SIZE_MAX, 0: none */
	uint32_t with[DW_LOOP_OPTIMIZERS]; /* which have stepped in one iteration with it */
};

/* How the steps that overlap an iteration, with the time before each, were recorded. */
static void learned_copy_recorded(const struct dw_phase_loop *loop, struct dw_source_step *step)
{
	size_t at = DW_FIRST(i, 0, loop->count, loop->steps[i].end_ns > step->start_ns);

	at -= at == loop->count;
	step->recorded = true;
	for (size_t i = at; i < loop->count; i++) {
		step->recorded &= loop->steps[i].recorded;
		if (loop->steps[i].end_ns >= step->end_ns)
			break;
	}
	step->reduced = !step->recorded;
}

/* Adds an iteration. Damaged traces may have one that overlaps the one before. */
static void learned_add(struct deciding *now, uint64_t start_ticks, uint64_t end_ticks)
{
	struct dw_source_step *step = &now->learned->steps[now->learned->count++];
	const struct dw_phase_loop *loop = now->loop;

	start_ticks = start_ticks > now->floor_ticks ? start_ticks : now->floor_ticks;
	end_ticks = end_ticks > start_ticks ? end_ticks : start_ticks;
	*step = (struct dw_source_step){ .thread = loop->steps->thread,
		                             .number = loop->steps->number + now->to->count++,
		                             .start_ns = dw_source_ns(loop->clock, start_ticks),
		                             .end_ns = dw_source_ns(loop->clock, end_ticks),
		                             .start_ticks = start_ticks,
		                             .end_ticks = end_ticks };
	learned_copy_recorded(loop, step);
	now->floor_ticks = end_ticks;
}

static void learned_end(struct deciding *now)
{
	if (now->stepped)
		learned_add(now, now->start_ticks, now->end_ticks);
	now->stepped = 0;
}

/* Steps of the trace that have no update and end before `ticks` are iterations as they are: a scaler skipped the
 * update, or there is no optimizer yet. Of the last step only if it has a backward: the end of the program may have cut
 * it. */
static void learned_add_bare(struct deciding *now, uint64_t ticks)
{
	const struct dw_phase_loop *loop = now->loop;

	for (; now->bare < loop->count; now->bare++) {
		const struct dw_step *step = &loop->steps[now->bare];
		const uint32_t *counts = &loop->counts[now->bare * DW_LOOP_EVENT_KINDS];
		uint64_t start = dw_source_ticks(loop->clock, step->start_ns), end = dw_source_ticks(loop->clock, step->end_ns);

		if (end > ticks)
			return;
		if (counts[DW_LOOP_UPDATE] || (now->bare + 1 == loop->count && (step->open || !counts[DW_LOOP_BACKWARD])))
			continue;
		learned_end(now);
		learned_add(now, start, end);
	}
}

/* Whether the optimizer begins to learn when those that have stepped do so no more. */
static bool learned_follows(const struct deciding *now, uint32_t optimizer, size_t index)
{
	if (now->with[optimizer] & now->stepped || now->last_of[optimizer] == index)
		return false;
	for (uint32_t i = 0; i < DW_LOOP_OPTIMIZERS; i++)
		if (now->stepped >> i & 1 && now->last_of[i] > index)
			return false;
	return true;
}

/* Whether this iteration ends before the update, where optimizers step in loops within each other. */
static bool learned_ends_nested(const struct deciding *now, uint32_t optimizer)
{
	bool inner = now->nests.inner >> optimizer & 1, after_outer = !(now->nests.inner >> now->latest & 1);

	if (inner)
		return now->inner_first && after_outer;
	return now->stepped >> optimizer & 1;
}

/* Whether an optimizer that has stepped before and will again has not stepped in this iteration. */
static bool learned_misses_one(const struct deciding *now, size_t index)
{
	for (uint32_t i = 0; i < DW_LOOP_OPTIMIZERS; i++)
		if (!(now->stepped >> i & 1) && now->first_of[i] < index && now->last_of[i] > index)
			return true;
	return false;
}

static bool learned_ends_before(struct deciding *now, const struct dw_phase_update *update, size_t index)
{
	bool again = now->stepped >> update->optimizer & 1;

	if (!now->stepped)
		return false;
	if (now->nests.inner)
		return learned_ends_nested(now, update->optimizer);
	now->ambiguous |= (again || update->batches) && learned_misses_one(now, index);
	return update->batches || again || learned_follows(now, update->optimizer, index);
}

static void learned_add_update(struct deciding *now, const struct dw_phase_update *update, size_t index)
{
	learned_add_bare(now, update->end_ticks);
	if (learned_ends_before(now, update, index))
		learned_end(now);
	if (!now->stepped)
		now->start_ticks = update->start_ticks;
	for (uint32_t i = 0; i < DW_LOOP_OPTIMIZERS; i++)
		now->with[i] |= now->stepped >> i & 1 ? 1u << update->optimizer : 0;
	now->with[update->optimizer] |= now->stepped;
	now->stepped |= 1u << update->optimizer;
	now->latest = update->optimizer;
	now->end_ticks = update->end_ticks;
}

/* False: what ends iterations is not known. */
static bool learned_decide(struct deciding *now)
{
	const struct dw_phase_loop *loop = now->loop;
	uint32_t optimizers = 0;

	memset(now->first_of, 0xff, sizeof now->first_of);
	for (size_t i = 0; i < loop->update_count; i++) {
		uint32_t optimizer = loop->updates[i].optimizer;

		now->last_of[optimizer] = i;
		if (!(optimizers >> optimizer & 1))
			now->first_of[optimizer] = i;
		optimizers |= 1u << optimizer;
	}
	now->inner_first = now->nests.inner >> loop->updates[0].optimizer & 1;
	for (size_t i = 0; i < loop->update_count; i++)
		learned_add_update(now, &loop->updates[i], i);
	learned_end(now);
	learned_add_bare(now, UINT64_MAX);
	return !now->ambiguous || now->to->count == loop->count || !(optimizers & ~now->nests.known);
}

/* How many iterations overlap one step, which overlaps no other iteration. */
static size_t learned_count_same(const struct dw_source_step *own, size_t count, const struct dw_phase_loop *loop)
{
	size_t same = 0, step = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t until = i + 1 < count ? own[i + 1].start_ns : UINT64_MAX;

		while (step < loop->count && loop->steps[step].end_ns <= own[i].start_ns)
			step++;
		if (step == loop->count)
			break;
		same += loop->steps[step].start_ns < own[i].end_ns && loop->steps[step].end_ns <= until &&
		        (!i || loop->steps[step].start_ns >= own[i - 1].end_ns) &&
		        (step + 1 == loop->count || loop->steps[step + 1].start_ns >= own[i].end_ns);
	}
	return same;
}

/* Whether an iteration was recorded as a whole, if a step was. */
static bool learned_is_any_recorded(const struct dw_source_step *own, size_t count, const struct dw_phase_loop *loop)
{
	bool any = false, of_loop = false;

	for (size_t i = 0; i < count; i++)
		any |= own[i].recorded;
	for (size_t i = 0; i < loop->count; i++)
		of_loop |= loop->steps[i].recorded;
	return any || !of_loop;
}

static void learned_decide_loop(struct dw_model *model, const struct dw_phase_loop *loop, struct dw_learned *learned,
                                struct dw_learned_loop *to)
{
	uint32_t process = model->source->threads[loop->steps->thread].process;
	struct deciding now = { .learned = learned, .to = to, .loop = loop };

	*to = (struct dw_learned_loop){ .why = learned_ask(model, loop, process), .first = learned->count };
	if (to->why != DW_LEARNED_DECIDED)
		return;
	now.nests = learned_find_nests(model, loop, process);
	if (!learned_decide(&now))
		to->why = DW_LEARNED_AMBIGUOUS;
	else if (!learned_is_any_recorded(learned->steps + to->first, to->count, loop))
		to->why = DW_LEARNED_UNRECORDED;
	else
		to->same = learned_count_same(learned->steps + to->first, to->count, loop);
	if (to->why != DW_LEARNED_DECIDED)
		learned->count = to->first;
	to->count = learned->count - to->first;
}

bool dw_learned_decide(struct dw_model *model, const struct dw_steps *steps, const struct dw_phase_loop *loops,
                       struct dw_learned *learned)
{
	size_t most = 0;

	for (size_t i = 0; i < steps->thread_count; i++)
		most += loops[i].update_count + loops[i].count;
	learned->steps = dw_arena_alloc(&model->arena, (most + 1) * sizeof *learned->steps);
	learned->loops = dw_arena_alloc(&model->arena, (steps->thread_count + 1) * sizeof *learned->loops);
	learned->loop_count = steps->thread_count;
	for (size_t i = 0; learned->steps && learned->loops && i < steps->thread_count; i++)
		learned_decide_loop(model, &loops[i], learned, &learned->loops[i]);
	return learned->steps && learned->loops;
}
