/* Applies every rule to the facts, and ranks the rules that fire; see rules.h. */
#include <stdlib.h>

#include "base/text.h"
#include "rules/case.h"

static const struct dw_rule *const tables[] = {
	dw_rules_memory, dw_rules_loader, dw_rules_ranks, dw_rules_loop, dw_rules_host,
	dw_rules_operators, dw_rules_machine, dw_rules_device, dw_rules_cells,
};

const struct dw_rule *dw_rule_at(size_t index)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct dw_rule *rule = tables[i]; rule->id; rule++)
			if (index-- == 0)
				return rule;
	return NULL;
}

/* ---- one rule -------------------------------------------------------------------------------- */

/* Which cells the rule is about. False: it is about none. */
static bool judge_find_cells(const struct dw_rule_case *at, struct dw_account_select *cells)
{
	if (at->rule->cells)
		*cells = *at->rule->cells;
	return at->rule->cells_of ? at->rule->cells_of(at, cells) : at->rule->cells != NULL;
}

/* Records explain parts of the time; what lies in the others, samples do, or the kernel. */
static bool judge_has_samples(const struct dw_rule_case *at, const struct dw_account_select *cells)
{
	const struct dw_account *account = at->facts->account;
	struct dw_account_select known = *cells;

	if (!account || cells->by_name || cells->explained || dw_account_is_divided(account))
		return account != NULL;
	if (account->waits_known && known.activities[DW_ACCOUNT_WAITS])
		return true;
	for (unsigned state = 0; state <= DW_ACCOUNT_WAITS; state++)
		known.activities[state] &= ~DW_ACTIVITY_SET(UNKNOWN);
	return known.activities[DW_ACCOUNT_UNKNOWN] || dw_account_sum(account, &known).ns > 0;
}

static bool judge_has_evidence(const struct dw_rule_case *at, struct dw_verdict *verdict)
{
	bool marked = at->facts->iterations == DW_ITERATIONS_MARKED || at->facts->follows;
	bool named = marked && dw_case_is_named(at);

	if (at->rule->unmarked ? named && !at->unexplained : at->rule->marked && !marked) {
		verdict->missing = marked ? "other rules have this time" : "no steps are marked: other rules have this time";
		return false;
	}
	for (const enum dw_fact_id *id = at->rule->needs; *id != DW_FACT_COUNT; id++)
		if (!at->facts->at[*id].measured) {
			verdict->missing = at->facts->at[*id].missing;
			if (!verdict->missing)
				verdict->missing = "";
			return false;
		}
	verdict->has_cells = judge_find_cells(at, &verdict->cells);
	if (verdict->has_cells ? !judge_has_samples(at, &verdict->cells) : at->rule->cells_of != NULL) {
		verdict->missing = "dwell run";
		return false;
	}
	return true;
}

static enum dw_rule_whole judge_whole(const struct dw_rule_case *at)
{
	return at->rule->whole_of ? at->rule->whole_of(at) : at->rule->whole;
}

static struct dw_amount judge_cells(const struct dw_rule_case *at, const struct dw_account_select *cells)
{
	const struct dw_account *account = at->facts->account;
	struct dw_account_sum sum = dw_account_sum(account, cells);

	return (struct dw_amount){ sum.ns / account->own_ns, sum.low_ns / account->own_ns, sum.high_ns / account->own_ns };
}

static struct dw_amount judge_share(const struct dw_rule_case *at, const struct dw_verdict *verdict)
{
	enum dw_fact_id id = at->rule->needs[0];

	if (at->rule->share)
		return at->rule->share(at);
	if (verdict->has_cells)
		return judge_cells(at, &verdict->cells);
	if (dw_fact_kind(id)->unit == DW_FACT_NS)
		return dw_amount_times(dw_case_amount(at, id), 1 / dw_case_whole_ns(at, judge_whole(at)));
	return dw_case_amount(at, id);
}

/* A share cannot exceed its whole. */
static double judge_clamp(double share)
{
	return share > 1 ? 1 : share < 0 ? 0 : share;
}

/* Whether the rule is about what the host computes or waits for. Where a device works, operators only submit its
 * work, and the rules of device.c take the place of these. */
static bool judge_is_of_host(const struct dw_rule *rule)
{
	if (rule->host_times)
		return true;
	switch (rule->group) {
	case DW_RULE_HOST: return !rule->cells;
	case DW_RULE_RANKS:
	case DW_RULE_OPTIMIZER:
	case DW_RULE_OPERATORS: return true;
	default: return rule->kind == DW_RULE_ANSWER && rule->part != DW_RULE_PART_DEVICE;
	}
}

#define JUDGE_BEHIND 0.1 /* of the loop on the device, after the host's last step */

/* Whether the work of a device hides what the rule is about. A cause of the host makes a step longer only by the
 * device's idle time. Steps of the host whose duration varies say nothing of a device that works meanwhile: the
 * host submits some steps ahead, and then waits. The time between steps is not divided for a device: it is hidden
 * if the device is far behind the host. */
static bool judge_is_hidden(const struct dw_rule_case *at, const struct dw_verdict *verdict, double least)
{
	const struct dw_rule *rule = at->rule;
	double idle = 1 - dw_case_part(at, DW_FACT_DEVICE_BUSY);

	if (!dw_case_has(at, DW_FACT_DEVICE_BUSY) || rule->part == DW_RULE_PART_DEVICE)
		return false;
	if (judge_is_of_host(rule))
		return true;
	if (rule->kind > DW_RULE_CHANCE || (verdict->whole != DW_RULE_OF_STEP && verdict->whole != DW_RULE_OF_LOOP))
		return false;
	if (rule->part == DW_RULE_PART_OUTSIDE)
		return dw_case_part(at, DW_FACT_DEVICE_BEHIND) >= JUDGE_BEHIND;
	return rule->part == DW_RULE_PART_NONE ? verdict->share.value > idle : idle < least;
}

#define JUDGE_SAMPLED 0.4  /* of a threshold: the low end of a share that few samples show */
#define JUDGE_LARGE 0.3     /* of the loop, with a CPU: a warm-up of this size is what a short run is about */
#define JUDGE_SURELY 0.6    /* of a threshold: the low end of a share that other programs make uneven */

/* The least share of a cause that is reported. Steps may be a small part of the loop: then little of it is won in them. */
static double judge_deadband(const struct dw_rule_case *at, enum dw_rule_whole whole)
{
	double steps = whole == DW_RULE_OF_STEP ? dw_case_value(at, DW_FACT_LOOP_STEPS) : 1;

	return DW_RULE_DEADBAND / (steps > 0 ? steps : 1);
}

/* The time that shares of the account are of, per step. */
static double judge_own_ns(const struct dw_rule_case *at)
{
	const struct dw_account *account = at->facts->account;

	return at->facts->iterations == DW_ITERATIONS_RUN
	           ? account->own_ns : dw_case_whole_ns(at, DW_RULE_OF_LOOP) * account->own_ns / account->wall_ns;
}

/* Whether the measured share is enough for the rule. */
static bool judge_fires(const struct dw_rule_case *at, const struct dw_verdict *verdict)
{
	const struct dw_rule *rule = at->rule;
	double least = rule->threshold;

	if (verdict->whole == DW_RULE_OF_STEP || verdict->whole == DW_RULE_OF_LOOP) {
		if (rule->kind <= DW_RULE_WORK)
			least = fmax(least, judge_deadband(at, verdict->whole));
		if (rule->waits)
			least *= dw_case_with_cpu(at);
		if (dw_case_with_cpu(at) < 1 && verdict->share.low < JUDGE_SURELY * least)
			return false;
	}
	return verdict->share.value >= least && !(verdict->has_cells && verdict->share.low < JUDGE_SAMPLED * least) &&
	       !((rule->host_times || rule->part == DW_RULE_PART_DEVICE) && dw_case_has(at, DW_FACT_TRACE_DEVICE_UNSEEN)) &&
	       !judge_is_hidden(at, verdict, least) && !(rule->applies && !rule->applies(at));
}

/* Shares that are shown are of the loop, as those of the tables below the sentences. Those of a device are of its steady steps, as its
 * table. A change is one of the median step, and no part of it. Where only some steps are in scope, the loop is not known. */
static void judge_convert(const struct dw_rule_case *at, struct dw_verdict *verdict)
{
	if (verdict->whole != DW_RULE_OF_STEP || at->rule->part == DW_RULE_PART_DEVICE || !dw_case_fact(at, DW_FACT_LOOP_STEPS)->measured ||
	    dw_fact_kind(at->rule->needs[0])->unit == DW_FACT_CHANGED)
		return;
	verdict->whole = DW_RULE_OF_LOOP;
	verdict->share = dw_amount_times(verdict->share, dw_case_value(at, DW_FACT_LOOP_STEPS));
}

/* The device's parts are facts; their table is one of steps. */
static void judge_find_device_row(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	enum dw_fact_id id = at->rule->needs[0];
	const char *part = dw_fact_device_part(id);

	if (part && at->facts->iterations == DW_ITERATIONS_MARKED && !at->rule->share)
		*rows = (struct dw_rule_rows){ { part }, 1, dw_case_value(at, id), 0 };
}

/* Makes the share that of the rows that the sentence is about, if there are some. */
static void judge_take_rows(const struct dw_rule_case *at, struct dw_verdict *verdict)
{
	double ratio, most_ns;

	verdict->all = verdict->gain_ns - verdict->rest_ns >= verdict->time_ns;
	if (at->rule->part == DW_RULE_PART_DEVICE)
		judge_find_device_row(at, &verdict->rows);
	else if (at->rule->rows && verdict->whole == DW_RULE_OF_LOOP)
		at->rule->rows(at, &verdict->rows);
	if (!verdict->rows.count || !(verdict->share.value > 0))
		return;
	ratio = verdict->rows.share / verdict->share.value;
	verdict->share = dw_amount_times(verdict->share, ratio);
	verdict->share.high = judge_clamp(verdict->share.high);
	verdict->time_ns *= fmin(1, ratio);
	most_ns = verdict->time_ns;
	/* What the rows take is time with a CPU. */
	if (at->rule->part != DW_RULE_PART_DEVICE && at->facts->account && at->facts->account->own_ns > 0)
		most_ns = fmin(most_ns, verdict->rows.share * judge_own_ns(at));
	if (verdict->gain_ns - verdict->rest_ns > most_ns)
		verdict->gain_ns = most_ns + verdict->rest_ns;
}

/* Sets what a verdict that fired takes, and how much of it can go at most. */
static void judge_gain(const struct dw_rule_case *at, struct dw_verdict *verdict)
{
	const struct dw_rule *rule = at->rule;
	struct dw_account_sum sum = { .ns = 0 };

	verdict->whole_ns = verdict->has_cells                    ? judge_own_ns(at)
	                    : rule->part == DW_RULE_PART_DEVICE ? dw_case_value(at, DW_FACT_DEVICE_STEP)
	                                                          : dw_case_whole_ns(at, verdict->whole) * dw_case_with_cpu(at);
	verdict->time_ns = verdict->share.value * verdict->whole_ns;
	verdict->follows_ns = rule->follows_ns ? rule->follows_ns(at) : 0;
	if (verdict->has_cells)
		sum = dw_account_sum(at->facts->account, &verdict->cells);
	verdict->placed = sum.function && sum.ns > 0 ? fmin(1, sum.place_ns / sum.ns) : 1;
	dw_gains_find(at, verdict);
}

/* Whether the share is a sum of records of the whole loop: then it is no estimate, however few the steps are. Samples, and steps of
 * which records are missing, make it one. */
static bool judge_is_exact(const struct dw_rule_case *at, const struct dw_verdict *verdict)
{
	bool sum = verdict->has_cells ? verdict->share.high <= verdict->share.low
	                              : verdict->rows.count && at->rule->part != DW_RULE_PART_DEVICE;

	return sum && dw_case_value(at, DW_FACT_STEP_COUNTED) == dw_case_value(at, DW_FACT_STEP_COUNT);
}

/* Over a few steps, the interval of a median means little. */
static bool judge_has_steps(const struct dw_rule_case *at)
{
	return at->facts->iterations == DW_ITERATIONS_RUN || dw_case_value(at, DW_FACT_STEP_STEADY) >= DW_RULE_FIRM_STEPS;
}

static void judge_rule(const struct dw_rule_case *at, struct dw_verdict *verdict)
{
	const struct dw_rule *rule = at->rule;

	*verdict = (struct dw_verdict){ .rule = rule, .state = DW_RULE_NOT_MEASURED,
		.time_ns = NAN, .gain_ns = NAN, .whole_ns = NAN, .rest = "",
		.statement = "", .hint = "", .remedy = "", .look = "", .missing = "" };
	if (!judge_has_evidence(at, verdict))
		return;
	if (rule->of_lengths && dw_case_part(at, DW_FACT_DEVICE_BEHIND) >= JUDGE_BEHIND) {
		verdict->missing = "the host runs ahead of the device: its steps are as long as the device's queue lets them be";
		return;
	}
	verdict->state = DW_RULE_QUIET;
	verdict->share = judge_share(at, verdict);
	verdict->whole = judge_whole(at);
	if (verdict->whole == DW_RULE_OF_STEP || verdict->whole == DW_RULE_OF_LOOP) {
		verdict->share.value = judge_clamp(verdict->share.value);
		verdict->share.low = judge_clamp(verdict->share.low);
		verdict->share.high = judge_clamp(verdict->share.high);
	}
	if (judge_fires(at, verdict)) {
		verdict->state = DW_RULE_FIRED;
		verdict->form = rule->is_form && rule->is_form(at);
		verdict->large = verdict->share.value * dw_case_with_cpu(at) >= JUDGE_LARGE;
		verdict->firm = (judge_has_steps(at) || judge_is_exact(at, verdict)) &&
		                (rule->kind != DW_RULE_CAUSE || verdict->share.low >= DW_RULE_DEADBAND) &&
		                (!verdict->has_cells || 2 * verdict->share.low >= verdict->share.value); /* few samples can be half wrong */
	}
	judge_convert(at, verdict);
	if (verdict->state == DW_RULE_FIRED && !verdict->firm && verdict->has_cells && !dw_case_has_place(at))
		verdict->state = DW_RULE_QUIET;
	if (verdict->state == DW_RULE_FIRED)
		judge_gain(at, verdict);
	judge_take_rows(at, verdict);
	verdict->firm |= !verdict->has_cells && judge_is_exact(at, verdict);
	/* The rows that the sentence is about may be less than what the rule decides by. */
	if (verdict->state == DW_RULE_FIRED && verdict->rows.count && rule->kind <= DW_RULE_WORK && verdict->share.value < DW_RULE_DEADBAND)
		verdict->state = DW_RULE_QUIET;
}

/* ---- all rules ------------------------------------------------------------------------------- */

/* The time by which a verdict is ranked: see enum dw_rule_kind. */
static double judge_weight_ns(const struct dw_verdict *verdict)
{
	if (isnan(verdict->time_ns))
		return 0;
	if (verdict->has_cells && !isnan(verdict->gain_ns))
		return fmin(verdict->gain_ns - verdict->rest_ns, verdict->time_ns); /* what is saved beyond its cells is only a bound */
	/* Of work, and of what has no known bound, half may go. */
	if (verdict->rule->kind == DW_RULE_WORK || isnan(verdict->gain_ns))
		return verdict->time_ns * verdict->placed * (1 - verdict->claimed) / 2;
	return verdict->time_ns;
}

/* What only describes the program's form covers no cause. */
static void judge_groups(struct dw_verdicts *verdicts)
{
	double largest_ns[DW_RULE_GROUPS] = { 0 };
	bool found[DW_RULE_GROUPS] = { false }, any = false;

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct dw_verdict *verdict = &verdicts->at[i];
		enum dw_rule_group group = verdict->rule->group;

		if (verdict->state == DW_RULE_FIRED && !verdict->form && judge_weight_ns(verdict) > largest_ns[group])
			largest_ns[group] = judge_weight_ns(verdict);
	}
	for (size_t i = 0; i < verdicts->count; i++) {
		struct dw_verdict *verdict = &verdicts->at[i];
		enum dw_rule_group group = verdict->rule->group;

		if (verdict->state != DW_RULE_FIRED || group == DW_RULE_ALONE)
			continue;
		if (found[group] || judge_weight_ns(verdict) < largest_ns[group] / 2)
			verdict->state = DW_RULE_COVERED;
		else
			found[group] = true;
	}
	for (size_t i = 0; i < verdicts->count; i++)
		any |= dw_verdict_is_cause(&verdicts->at[i]) ||
		       (verdicts->at[i].state == DW_RULE_FIRED && verdicts->at[i].rule->kind == DW_RULE_RISK);
	for (size_t i = 0; i < verdicts->count; i++)
		if (any && verdicts->at[i].state == DW_RULE_FIRED && verdicts->at[i].rule->kind == DW_RULE_ANSWER)
			verdicts->at[i].state = DW_RULE_QUIET;
}

static bool judge_has_any(const struct dw_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->at[i].state == DW_RULE_FIRED && verdicts->at[i].rule->kind <= DW_RULE_ANSWER)
			return true;
	return false;
}

/* No rule says anything of these steps: the account does. */
static void judge_unexplained(struct dw_rule_case *at, struct dw_verdicts *verdicts)
{
	at->unexplained = true;
	for (size_t i = 0; i < verdicts->count; i++) {
		at->rule = dw_rule_at(i);
		at->verdict = &verdicts->at[i];
		if (at->rule->unmarked)
			judge_rule(at, &verdicts->at[i]);
	}
}

#define JUDGE_OF_PEAK 0.25 /* less of the peak of memory is not worth the first sentence */

/* Work is ranked among the causes, except what only describes the program's form: that is there to be seen,
 * and seldom to be changed. So is information about a large part of the loop before the
 * answer. A small part of the peak comes after it: memory that is there lengthens no step. Memory that grows
 * costs no time yet: it comes after all causes, and before what describes the form. That a device computes all
 * the time is the answer to what a step waits for: it comes before what might be improved. */
static double judge_kind(const struct dw_verdict *verdict)
{
	if (verdict->rule->kind == DW_RULE_RISK && verdict->rule->whole == DW_RULE_OF_PEAK)
		return DW_RULE_CAUSE + 0.5;
	if (verdict->rule->kind == DW_RULE_WORK)
		return verdict->form ? DW_RULE_WORK : DW_RULE_CAUSE;
	if (verdict->rule->kind == DW_RULE_ANSWER && verdict->rule->part == DW_RULE_PART_DEVICE)
		return DW_RULE_CHANCE - 0.5;
	if (verdict->rule->kind == DW_RULE_CHANCE &&
	    (verdict->form || (verdict->rule->whole == DW_RULE_OF_PEAK && verdict->share.value < JUDGE_OF_PEAK)))
		return DW_RULE_INFORMATION;
	if (verdict->rule->kind == DW_RULE_INFORMATION && verdict->large)
		return DW_RULE_WORK;
	return verdict->rule->kind;
}

/* The time by which causes are sorted. */
static double judge_rank_ns(const struct dw_verdict *verdict)
{
	return judge_weight_ns(verdict) + verdict->follows_ns;
}

/* The cells that a cause claims. */
static bool judge_claimed_cells(const struct dw_verdict *cause, struct dw_account_select *cells)
{
	if (cause->has_cells)
		*cells = cause->cells;
	else if (cause->rule->place)
		*cells = *cause->rule->place;
	return cause->rule->kind == DW_RULE_CAUSE && (cause->has_cells || cause->rule->place) && !cells->by_name &&
	       !cells->classes;
}

/* What of a range's time, or of that of a class of iterations, other causes have is not its own. */
static void judge_claims(const struct dw_rule_case *at, struct dw_verdicts *verdicts)
{
	const struct dw_account *account = at->facts->account;

	for (size_t i = 0; i < verdicts->count; i++) {
		struct dw_verdict *of = &verdicts->at[i];
		double all_ns, claimed_ns = 0;

		if (!dw_verdict_is_cause(of) || !(of->cells.by_name || of->cells.classes))
			continue;
		all_ns = dw_account_sum(account, &of->cells).ns;
		for (size_t k = 0; k < verdicts->count; k++) {
			struct dw_account_select cells = { .explained = 0 };

			if (verdicts->at[k].state != DW_RULE_FIRED || !judge_claimed_cells(&verdicts->at[k], &cells))
				continue;
			if (of->cells.by_name) {
				cells.by_name = true;
				cells.named = of->cells.named;
			}
			if (!of->cells.explained)
				cells.explained = 0;
			cells.classes = of->cells.classes;
			cells.beyond = of->cells.beyond;
			claimed_ns += dw_account_sum(account, &cells).ns;
		}
		of->claimed = fmin(1, claimed_ns / fmax(1, all_ns));
		if (of->share.value * (1 - of->claimed) < of->rule->threshold)
			of->state = DW_RULE_COVERED;
	}
}

/* The most of the loop that the work of one other sentence takes: one that names a place, and more than the program's form. */
static double judge_named_share(const struct dw_verdicts *verdicts, const struct dw_verdict *except)
{
	double most = 0;

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct dw_verdict *verdict = &verdicts->at[i];

		if (verdict != except && dw_verdict_is_cause(verdict) && !verdict->form && !verdict->rule->of_lengths &&
		    (verdict->has_cells || verdict->rows.count) && verdict->whole == except->whole)
			most = fmax(most, verdict->share.value);
	}
	return most;
}

/* How much longer some steps are than others is no work of its own: it is part of what the steps do, where a sentence says that. */
static void judge_lengths(struct dw_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++) {
		struct dw_verdict *of = &verdicts->at[i];

		if (dw_verdict_is_cause(of) && of->rule->kind == DW_RULE_WORK && of->rule->of_lengths && of->share.value > 0)
			of->claimed = fmin(1, judge_named_share(verdicts, of) / of->share.value);
	}
}

static int judge_compare(const void *left, const void *right)
{
	const struct dw_verdict *a = left, *b = right;
	double a_ns = judge_rank_ns(a), b_ns = judge_rank_ns(b);

	if (a->state != b->state)
		return (int)a->state - (int)b->state;
	if (a->state == DW_RULE_FIRED && judge_kind(a) != judge_kind(b))
		return judge_kind(a) < judge_kind(b) ? -1 : 1;
	if (a->state == DW_RULE_FIRED && a_ns != b_ns)
		return a_ns < b_ns ? 1 : -1;
	return 0;
}

/* A stable sort; there are about fifty rules. */
static void judge_sort(struct dw_verdicts *verdicts)
{
	for (size_t i = 1; i < verdicts->count; i++)
		for (size_t at = i; at && judge_compare(&verdicts->at[at - 1], &verdicts->at[at]) > 0; at--) {
			struct dw_verdict verdict = verdicts->at[at];

			verdicts->at[at] = verdicts->at[at - 1];
			verdicts->at[at - 1] = verdict;
		}
}

static void judge_ties(const struct dw_rule_case *at, struct dw_verdicts *verdicts)
{
	struct dw_verdict *first = NULL, *second = NULL;
	double first_ns, second_ns;

	for (size_t i = 0; i < verdicts->count; i++) {
		if (!dw_verdict_is_cause(&verdicts->at[i]))
			continue;
		if (first) {
			second = &verdicts->at[i];
			break;
		}
		first = &verdicts->at[i];
	}
	if (!second || first->rule->kind != DW_RULE_CAUSE || second->rule->kind != DW_RULE_CAUSE)
		return;
	first_ns = first->share.low * dw_case_whole_ns(at, first->whole);
	second_ns = second->share.high * dw_case_whole_ns(at, second->whole);
	first->tied = second->tied = second_ns >= first_ns && second_ns > 0;
}

/* ---- sentences ------------------------------------------------------------------------------- */

static const char *judge_remedy(const struct dw_rule_case *at)
{
	static const enum dw_rule_words first[DW_FACTS_FRAMEWORK_COUNT] = {
		[DW_FACTS_C] = DW_WORDS_C,
		[DW_FACTS_PYTHON] = DW_WORDS_PYTHON,
		[DW_FACTS_PYTORCH] = DW_WORDS_PYTORCH,
		[DW_FACTS_LIGHTNING] = DW_WORDS_LIGHTNING,
		[DW_FACTS_IGNITE] = DW_WORDS_IGNITE,
		[DW_FACTS_JAX] = DW_WORDS_JAX,
	};
	static const enum dw_rule_words general[DW_WORDS_COUNT] = {
		[DW_WORDS_LIGHTNING] = DW_WORDS_PYTORCH,
		[DW_WORDS_IGNITE] = DW_WORDS_PYTORCH,
		[DW_WORDS_PYTORCH] = DW_WORDS_PYTHON,
		[DW_WORDS_JAX] = DW_WORDS_PYTHON,
	};
	enum dw_rule_words words = first[at->facts->framework];

	while (!at->rule->remedy[words] && words != DW_WORDS_ANY)
		words = general[words];
	return at->rule->remedy[words];
}

/* ": at most 1.10 ms a step, or 4.96 ms if the rest of parse goes, too"; NULL: out of memory. */
static const char *judge_say_gain(const struct dw_rule_case *at, const struct dw_verdict *verdict, struct dw_arena *arena)
{
	struct dw_text own = dw_text_ns(verdict->gain_ns - verdict->rest_ns, " "), all = dw_text_ns(verdict->gain_ns, " ");

	if (!*verdict->rest)
		return dw_arena_printf(arena, ": at most %s %s", all.at, dw_rule_each(at->facts));
	return dw_arena_printf(arena, ": at most %s %s, or %s if %s goes, too", own.at, dw_rule_each(at->facts), all.at, verdict->rest);
}

static int judge_say(const struct dw_rule_case *at, struct dw_verdict *verdict, struct dw_arena *arena)
{
	const struct dw_rule *rule = verdict->rule;
	const char *remedy = judge_remedy(at), *look = rule->look, *gain = "";

	verdict->statement = dw_rule_sentence(at, rule->statement, arena);
	remedy = remedy ? dw_rule_sentence(at, remedy, arena) : "";
	/* A program in C says itself which shapes its operators have. */
	if (rule->record && !dw_case_has(at, rule->unless))
		look = at->facts->foreign                    ? NULL
		       : at->facts->framework == DW_FACTS_C ? "dwell report --view operators"
		                                            : rule->record;
	look = look ? dw_rule_sentence(at, look, arena) : "";
	if (!verdict->statement || !remedy || !look)
		return -1;
	verdict->remedy = remedy;
	verdict->look = look;
	if (!isnan(verdict->gain_ns) && *remedy) {
		verdict->rest = dw_gains_rest(at, verdict, arena);
		gain = verdict->rest ? judge_say_gain(at, verdict, arena) : NULL;
		if (!gain)
			return -1;
	}
	if (*remedy && *look)
		verdict->hint = dw_arena_printf(arena, "%s%s (%s)", remedy, gain, look);
	else
		verdict->hint = dw_arena_printf(arena, "%s%s%s", remedy, gain, look);
	return verdict->hint ? 0 : -1;
}

/* The first cause in what follows the last step that takes most of it and can be removed; else what answers where it goes. NULL: there
 * is none. */
static const struct dw_verdict *judge_find_after(const struct dw_verdicts *verdicts)
{
	const struct dw_verdict *answer = NULL;

	for (size_t i = 0; i < verdicts->fired; i++) {
		const struct dw_verdict *verdict = &verdicts->at[i];
		bool of_all = verdict->whole == DW_RULE_OF_LOOP || verdict->whole == DW_RULE_OF_STEP;

		if (!of_all || verdict->share.value < DW_RULE_MOST)
			continue;
		if (dw_verdict_is_cause(verdict) && verdict->firm && *verdict->remedy)
			return verdict;
		answer = !answer && verdict->rule->kind == DW_RULE_ANSWER ? verdict : answer;
	}
	return answer;
}

/* What follows the last step is judged as a run of its own: its cause and remedy stand in the sentence about it. */
static int judge_say_after(const struct dw_facts *after, struct dw_verdict *verdict, struct dw_arena *arena)
{
	const struct dw_rule_case at = { .facts = after };
	const struct dw_verdict *cause;
	struct dw_verdicts verdicts;
	const char *gain = "";

	if (dw_rules_judge(after, arena, &verdicts))
		return -1;
	cause = judge_find_after(&verdicts);
	if (!cause)
		return 0;
	verdict->statement = dw_arena_printf(arena, "%s %s", verdict->statement, cause->statement);
	if (!*cause->remedy)
		return verdict->statement ? 0 : -1;
	if (!isnan(cause->gain_ns))
		gain = judge_say_gain(&at, cause, arena);
	verdict->remedy = gain ? dw_arena_printf(arena, "%s%s", cause->remedy, gain) : NULL;
	if (verdict->remedy)
		verdict->hint = dw_arena_printf(arena, "%s (%s)", verdict->remedy, verdict->look);
	return verdict->statement && verdict->remedy && verdict->hint ? 0 : -1;
}

int dw_rules_judge(const struct dw_facts *facts, struct dw_arena *arena, struct dw_verdicts *verdicts)
{
	struct dw_rule_case at = { .facts = facts };

	*verdicts = (struct dw_verdicts){ .facts = facts };
	while (dw_rule_at(verdicts->count))
		verdicts->count++;
	verdicts->at = dw_arena_alloc(arena, verdicts->count * sizeof *verdicts->at);
	if (!verdicts->at)
		return -1;
	for (size_t i = 0; i < verdicts->count; i++) {
		at.rule = dw_rule_at(i);
		at.verdict = &verdicts->at[i];
		judge_rule(&at, &verdicts->at[i]);
	}
	judge_groups(verdicts);
	if ((facts->iterations == DW_ITERATIONS_MARKED || facts->follows) && !judge_has_any(verdicts))
		judge_unexplained(&at, verdicts);
	judge_claims(&at, verdicts);
	judge_lengths(verdicts);
	judge_sort(verdicts);
	for (size_t i = 0; i < verdicts->count; i++)
		verdicts->fired += verdicts->at[i].state == DW_RULE_FIRED;
	judge_ties(&at, verdicts);
	dw_gains_of_rows(&at, verdicts);
	dw_gains_combine(&at, verdicts);
	for (size_t i = 0; i < verdicts->count; i++) {
		at.verdict = &verdicts->at[i];
		at.rule = verdicts->at[i].rule;
		if (verdicts->at[i].state <= DW_RULE_COVERED && judge_say(&at, &verdicts->at[i], arena))
			return -1;
		if (facts->after && verdicts->at[i].state == DW_RULE_FIRED && at.rule->needs[0] == DW_FACT_RUN_AFTER &&
		    judge_say_after(facts->after, &verdicts->at[i], arena))
			return -1;
	}
	return 0;
}
