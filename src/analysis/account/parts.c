/* Parts of a loop by its records, and their states; see parts.h. */
#include "account/parts.h"

#include <math.h>
#include <string.h>

#include "base/free.h"
#include "base/grow.h"

void dw_account_parts_reset(struct dw_account_parts *parts)
{
	DW_FREE(parts->at);
	dw_map_reset(&parts->by_key);
}

/* What tells parts apart. */
struct parts_key {
	uint32_t class, where, share, named;
};

enum dw_iteration_class dw_account_parts_class(const struct dw_account_parts *parts, enum dw_iteration_class class)
{
	return parts->slow_is_steady && class == DW_ITERATION_SLOW ? DW_ITERATION_STEADY : class;
}

static struct parts_key parts_key(const struct dw_account_parts *parts, enum dw_iteration_class class,
                                  enum dw_sample_where where, enum dw_share share, uint32_t named)
{
	return (struct parts_key){ dw_account_parts_class(parts, class), where, share, named };
}

/* DW_MAP_NONE: there is none. */
static uint32_t parts_find(const struct dw_account_parts *parts, const struct parts_key *key)
{
	return DW_MAP_FIND(&parts->by_key, dw_map_hash_bytes(0, key, sizeof *key), i,
	                   parts->at[i].class == key->class && parts->at[i].where == key->where &&
	                       parts->at[i].share == key->share && parts->at[i].named == key->named);
}

/* The share of a part that has a time of this share. */
static enum dw_share parts_share(const struct dw_account_parts *parts, enum dw_share share)
{
	return parts->merged >> share & 1 ? DW_SHARE_OTHER : share;
}

/* Returns the index of the part; DW_MAP_NONE: there is none. */
static uint32_t parts_add(struct dw_account_parts *parts, struct parts_key key, double ns)
{
	uint32_t at;
	struct dw_account_part *part;

	if (!(ns > 0))
		return DW_MAP_NONE;
	key.share = parts_share(parts, (enum dw_share)key.share);
	at = parts_find(parts, &key);
	if (at != DW_MAP_NONE) {
		parts->at[at].ns += ns;
		return at;
	}
	part = DW_GROW(&parts->at, &parts->capacity, parts->count);
	if (!part || !dw_map_add(&parts->by_key, dw_map_hash_bytes(0, &key, sizeof key), (uint32_t)parts->count)) {
		parts->failed = true;
		return DW_MAP_NONE;
	}
	*part = (struct dw_account_part){ .class = (enum dw_iteration_class)key.class,
		                              .where = (enum dw_sample_where)key.where,
		                              .share = (enum dw_share)key.share,
		                              .named = key.named,
		                              .ns = ns };
	return (uint32_t)parts->count++;
}

/* The parts of steps, by class and share: there may be a million steps. DW_MAP_NONE: there is none yet. */
struct parts_in_steps {
	uint32_t at[DW_ITERATION_CLASSES][DW_SHARE_COUNT];
};

static void parts_add_step(struct dw_account_parts *parts, struct parts_in_steps *known, const struct dw_step *step, double scale)
{
	for (unsigned share = 0; share < DW_SHARE_COUNT; share++) {
		uint32_t *at = &known->at[step->class][share];

		if (!step->share_ns[share] || share == DW_SHARE_NAMED)
			continue;
		if (*at != DW_MAP_NONE)
			parts->at[*at].ns += (double)step->share_ns[share] * scale;
		else
			*at = parts_add(parts, parts_key(parts, step->class, DW_SAMPLE_IN_STEP, (enum dw_share)share, DW_NO_INDEX),
			                (double)step->share_ns[share] * scale);
	}
	for (uint32_t p = 0; p < step->part_count; p++)
		parts_add(parts, parts_key(parts, step->class, DW_SAMPLE_IN_STEP, DW_SHARE_NAMED, step->parts[p].symbol),
		          (double)step->parts[p].ns * scale);
}

/* Where some steps of a class are not recorded, or have lost records, the others stand for all of its steps' time, as
 * in dw_loop_parts; if it has no others, those of all classes do. */
struct parts_steps {
	double all_ns, counted_ns;
	bool known;
};

static void parts_add_steps(struct dw_account_parts *parts, const struct dw_steps *steps, const struct dw_loop *loop)
{
	struct parts_steps sums[DW_ITERATION_CLASSES], *sum;
	struct parts_in_steps known;
	bool ended = steps->open_count < steps->count;

	memset(&known, 0xff, sizeof known); /* DW_MAP_NONE */
	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		sums[class] = (struct parts_steps){ .known = true };
	for (size_t i = 0; i < loop->count; i++) {
		const struct dw_step *step = &steps->steps[loop->first_step + i];
		double ns = (double)(step->end_ns - step->start_ns);

		if (step->open && ended)
			continue;
		sum = &sums[step->class];
		sum->known &= dw_step_has_phases(step) && step->whole;
		sum->all_ns += ns;
		sum->counted_ns += step->counted ? ns : 0;
	}
	for (size_t i = 0; i < loop->count; i++) {
		const struct dw_step *step = &steps->steps[loop->first_step + i];

		sum = &sums[step->class];
		if (step->open && ended)
			continue;
		if (sum->known || !(sum->counted_ns > 0))
			parts_add_step(parts, &known, step, 1);
		else if (step->counted)
			parts_add_step(parts, &known, step, sum->all_ns / sum->counted_ns);
	}
}

/* The time between steps, of a class of iterations. */
static void parts_add_between(struct dw_account_parts *parts, const struct dw_loop *loop,
                              const struct dw_symbol *symbols, enum dw_iteration_class class)
{
	for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
		if (share != DW_SHARE_NAMED)
			parts_add(parts, parts_key(parts, class, DW_SAMPLE_BETWEEN, (enum dw_share)share, DW_NO_INDEX),
			          (double)loop->outside_class_ns[class][share]);
	for (size_t i = 0; i < loop->outside_row_count; i++) {
		const struct dw_loop_row *row = &loop->outside_rows[i];

		if (symbols[row->symbol].category != DWELL_CATEGORY_OPERATOR)
			parts_add(parts, parts_key(parts, class, DW_SAMPLE_BETWEEN, DW_SHARE_NAMED, row->symbol),
			          (double)row->class_ns[class]);
	}
}

/* The interpreter's time in phases, layers and functions is one part. In some steps of a Python program operators are
 * not recorded, so that phases have their time. */
#define OF_PYTHON (1u << DW_SHARE_PYTHON | 1u << DW_SHARE_LAYERS | 1u << DW_SHARE_FUNCTIONS)

void dw_account_parts_of(struct dw_account_parts *parts, const struct dw_steps *steps, const struct dw_loop *loop,
                         const struct dw_symbol *symbols, bool python)
{
	double rest_ns = (double)(loop->end_ns - loop->start_ns);

	parts->merged = python ? OF_PYTHON : 0;
	for (size_t i = 0; i < loop->count; i++)
		parts->merged |= steps->steps[loop->first_step + i].reduced ? OF_PYTHON | DW_PARTS_OF_OPERATORS : 0;
	parts_add_steps(parts, steps, loop);
	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		parts_add_between(parts, loop, symbols, (enum dw_iteration_class) class);
	for (size_t i = 0; i < parts->count; i++)
		rest_ns -= parts->at[i].ns;
	if (rest_ns >= 1 || !parts->count) /* a step that did not end, or only some of the time is in scope */
		parts_add(parts, parts_key(parts, DW_ITERATION_STEADY, DW_SAMPLE_BETWEEN, DW_SHARE_OTHER, DW_NO_INDEX),
		          fmax(1, rest_ns));
}

void dw_account_parts_add_rest(struct dw_account_parts *parts, enum dw_sample_where where, double ns)
{
	parts_add(parts, parts_key(parts, DW_ITERATION_STEADY, where, DW_SHARE_OTHER, DW_NO_INDEX), ns);
}

/* The samples and the records of an instant may differ by a little: then it is in the rest of the step or of the time
 * between steps, or else in the largest part. */
struct dw_account_part *dw_account_part_of(struct dw_account_parts *parts, const struct dw_sample_row *row)
{
	uint32_t named = row->share == DW_SHARE_NAMED ? row->named : DW_NO_INDEX;
	const struct parts_key key = parts_key(parts, row->class, row->where, parts_share(parts, row->share), named);
	const struct parts_key rest = parts_key(parts, row->class, row->where, DW_SHARE_OTHER, DW_NO_INDEX);
	uint32_t at = parts_find(parts, &key);

	if (at == DW_MAP_NONE)
		at = parts_find(parts, &rest);
	if (at != DW_MAP_NONE)
		return &parts->at[at];
	at = 0;
	for (uint32_t i = 1; i < parts->count; i++)
		if (parts->at[i].ns > parts->at[at].ns)
			at = i;
	return &parts->at[at];
}

uint32_t dw_account_part_index(const struct dw_account_parts *parts, const struct dw_account_cell *cell)
{
	const struct parts_key key = parts_key(parts, cell->class, cell->where, cell->share, cell->named);

	return parts_find(parts, &key);
}

bool dw_account_part_has(const struct dw_account_part *part, const struct dw_account_cell *cell)
{
	return cell->class == part->class && cell->where == part->where && cell->share == part->share &&
	       cell->named == part->named;
}

#define ROUNDS 1000
#define CLOSE 1e-6 /* of the loop: the sums fit */

#define LITTLE \
	0.01 /* of a time that samples leave no room for: expected all the same, so that the sums can be reached */
#define AS_SAMPLES \
	20.0 /* while others have the CPUs, records say as much of where the thread ran as so many independent samples */

/* The sums over all parts. */
struct parts_sums {
	double wall_ns, awake_ns; /* awake: without the waits that samples show */
	double sampled_ns[DW_ACCOUNT_STATE_COUNT];
};

static double parts_awake(const struct dw_account_part *part)
{
	return fmax(LITTLE * part->ns, part->ns - part->sampled_ns[DW_ACCOUNT_WAITS]);
}

static struct parts_sums parts_sum(const struct dw_account_parts *parts)
{
	struct parts_sums sums = { 0 };

	for (size_t i = 0; i < parts->count; i++) {
		sums.wall_ns += parts->at[i].ns;
		sums.awake_ns += parts_awake(&parts->at[i]);
		for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
			sums.sampled_ns[state] += parts->at[i].sampled_ns[state];
	}
	return sums;
}

/* What is expected of a part's states before the sums of records and kernel correct it. It waits where samples show
 * waits. It runs, or has no CPU, in the rest of the part; where it ran more, samples show, the more the more there are.
 */
static void parts_expect_runs(struct dw_account_part *part, const double state_ns[DW_ACCOUNT_STATE_COUNT],
                              const struct parts_sums *sums, double independent)
{
	double of_loop = part->ns / sums->wall_ns,
		   awake = sums->awake_ns > 0 ? parts_awake(part) / sums->awake_ns : of_loop;
	double lost = state_ns[DW_ACCOUNT_NO_CPU] / fmax(1, state_ns[DW_ACCOUNT_NO_CPU] + state_ns[DW_ACCOUNT_RUNS]);
	double trust = independent / (independent + 1 + AS_SAMPLES * lost), sampled_ns = sums->sampled_ns[DW_ACCOUNT_RUNS];
	double ran = sampled_ns > 0 ? part->sampled_ns[DW_ACCOUNT_RUNS] / sampled_ns : awake;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		part->state_ns[state] = state_ns[state] * of_loop;
	part->state_ns[DW_ACCOUNT_RUNS] = state_ns[DW_ACCOUNT_RUNS] * (trust * ran + (1 - trust) * awake);
	part->state_ns[DW_ACCOUNT_NO_CPU] = state_ns[DW_ACCOUNT_NO_CPU] * awake;
}

static void parts_expect(struct dw_account_parts *parts, const double state_ns[DW_ACCOUNT_STATE_COUNT],
                         const struct parts_sums *sums, double independent)
{
	double rest_ns = state_ns[DW_ACCOUNT_WAITS] - sums->sampled_ns[DW_ACCOUNT_WAITS];

	for (size_t i = 0; i < parts->count; i++) {
		struct dw_account_part *part = &parts->at[i];

		parts_expect_runs(part, state_ns, sums, independent);
		if (sums->sampled_ns[DW_ACCOUNT_WAITS] > 0)
			part->state_ns[DW_ACCOUNT_WAITS] = part->sampled_ns[DW_ACCOUNT_WAITS] +
			                                   (rest_ns >= 0 ? rest_ns : LITTLE * -rest_ns) * part->ns / sums->wall_ns;
	}
}

/* Makes the states of each part sum to the part. */
static void parts_fit_parts(struct dw_account_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		struct dw_account_part *part = &parts->at[i];
		double sum = 0;

		for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
			sum += part->state_ns[state];
		for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
			part->state_ns[state] *= sum > 0 ? part->ns / sum : 0;
	}
}

/* Makes each state's times sum to the loop's. Returns by how much they did not. */
static double parts_fit_states(struct dw_account_parts *parts, const double state_ns[DW_ACCOUNT_STATE_COUNT])
{
	double off = 0;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++) {
		double sum = 0;

		for (size_t i = 0; i < parts->count; i++)
			sum += parts->at[i].state_ns[state];
		off += fabs(sum - state_ns[state]);
		for (size_t i = 0; i < parts->count && sum > 0; i++)
			parts->at[i].state_ns[state] *= state_ns[state] / sum;
	}
	return off;
}

/* Fits some parts. */
static void parts_fit_group(struct dw_account_parts *parts, const double state_ns[DW_ACCOUNT_STATE_COUNT],
                            double independent)
{
	struct parts_sums sums = parts_sum(parts);

	parts_expect(parts, state_ns, &sums, independent);
	for (unsigned round = 0; round < ROUNDS; round++) {
		parts_fit_parts(parts);
		if (parts_fit_states(parts, state_ns) < CLOSE * sums.wall_ns)
			break;
	}
	parts_fit_parts(parts);
}

/* Whether a part is in the group of a class that has sums of its own, or with DW_ITERATION_CLASSES in that of all other
 * classes. */
static bool parts_in_group(const struct dw_account_part *part, const struct dw_account_margins *margins, unsigned group)
{
	bool own = margins && margins[part->class].known;

	return group == DW_ITERATION_CLASSES ? !own : own && part->class == group;
}

/* Fits the parts of a group by its sums. `space`: for all parts. */
static void parts_fit_some(struct dw_account_parts *parts, const struct dw_account_margins *margins, unsigned group,
                           const double state_ns[DW_ACCOUNT_STATE_COUNT], double independent,
                           struct dw_account_part *space)
{
	struct dw_account_parts some = { .at = space };
	double all_ns = parts_sum(parts).sampled_ns[DW_ACCOUNT_RUNS], some_ns;

	for (size_t i = 0; i < parts->count; i++)
		if (parts_in_group(&parts->at[i], margins, group))
			space[some.count++] = parts->at[i];
	if (!some.count)
		return;
	some_ns = parts_sum(&some).sampled_ns[DW_ACCOUNT_RUNS];
	parts_fit_group(&some, state_ns, all_ns > 0 ? independent * some_ns / all_ns : 0);
	some.count = 0;
	for (size_t i = 0; i < parts->count; i++)
		if (parts_in_group(&parts->at[i], margins, group))
			parts->at[i] = space[some.count++];
}

void dw_account_parts_fit(struct dw_account_parts *parts, const double state_ns[DW_ACCOUNT_STATE_COUNT],
                          const struct dw_account_margins *margins, double independent)
{
	struct dw_account_part *space = malloc((parts->count + 1) * sizeof *space);
	double rest_ns[DW_ACCOUNT_STATE_COUNT];

	parts->failed |= !space;
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		rest_ns[state] = state_ns[state];
	for (unsigned class = 0; space && class < DW_ITERATION_CLASSES; class++) {
		if (!margins || !margins[class].known)
			continue;
		parts_fit_some(parts, margins, class, margins[class].state_ns, independent, space);
		for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
			rest_ns[state] = fmax(0, rest_ns[state] - margins[class].state_ns[state]);
	}
	if (space)
		parts_fit_some(parts, margins, DW_ITERATION_CLASSES, rest_ns, independent, space);
	free(space);
}
