/*
 * Fills in the templates of rules with measured values.
 *
 *     {share}                 of the verdict: "16%"
 *     {each}                  "a step"; "in the run" if that is one; "in 100 steps" behind a count of which a step has less than one
 *     {Steps}                 "Steps", or "Iterations" where none is marked
 *     {of}                    the whole of the share: "of the loop"
 *     {takes} {is} ...        a verb; "may take" and so on if the statement is not firm
 *     {step.wall}             a fact by its name, in its unit; a list of forms follows
 *     [text]                  the text, only if all placeholders in it have a value; it may have others in it
 *     [?trace.shapes: text]   only if the fact is more than 0; a share, more than half a percent
 *     [!trace.shapes: text]   only if the fact was measured and is not more than that
 *     [-loop.waiting: text]   only if the fact was not measured
 *     [?number: text] ...     the same for {number}
 *     {cells:function}        the function that the time of the rule's cells, or of its `place`, lies in, and what that calls if it is one
 *                             function of a library: "log (train.py:41), which calls json.dumps"
 *     {cells:most}            the same if it has most of that time; two functions if both together have: "add (a.c:10) and find (a.c:40)"
 *     {cells:part}            its part of it
 *     {cells:by}              the function that calls it: "main (train.py:80)"
 *     {cells:and}             the second function with its part, if it has at least half as much itself: "24% in log (train.py:50)"
 *     {cells:library}         the library that is called in most of it, or "libraries"
 *     {cells:other}           the second function, if the rule is about two calls that count as one
 *     {cells:imports}         what is imported, with its time: "torch 4.1 s"
 *     {number}                what the rule's function number() returns
 *
 * Forms of a fact: {F:often} a count with {each} behind it; {F:s} "s" unless the fact is 1; {F:takes} "takes" if it is 1, else "take";
 * {F:name} its symbol's name, unless its note is the same;
 * {F:note}; {F:part} the part of a step that is its note, in words; {F:where} " at train.py:41", " in fit (train.py:41)", or "" if no
 * place is known; {F:ns} of a share of a step, the time.
 */
#include <stdio.h>

#include "base/text.h"
#include "rules/case.h"

struct sentence {
	const struct dw_rule_case *at;
	char text[4 * DW_RULE_TEXT];
	size_t used;
	bool known;      /* all placeholders of the innermost [...] had a value */
	double often;    /* the count that {each} comes behind; 0: there is none */
	bool rare;       /* it is one of 100 steps */
};

static const char *const verbs[][2] = {
	{ "takes", "may take" }, { "take", "may take" }, { "is", "may be" }, { "are", "may be" },
	{ "has", "may have" }, { "grows", "may grow" }, { "waits", "may wait" },
	{ "slows", "may slow" },
};

static void sentence_put(struct sentence *sentence, const char *text, size_t length)
{
	if (length > sizeof sentence->text - 1 - sentence->used)
		length = sizeof sentence->text - 1 - sentence->used;
	memcpy(sentence->text + sentence->used, text, length);
	sentence->used += length;
	sentence->text[sentence->used] = '\0';
}

static void sentence_put_text(struct sentence *sentence, const char *text)
{
	sentence_put(sentence, text, strlen(text));
}

static void sentence_put_share(struct sentence *sentence, double share)
{
	char text[32];

	if (share > 0 && share < 0.01)
		snprintf(text, sizeof text, "%.1f%%", share * 100);
	else
		snprintf(text, sizeof text, "%.0f%%", round(share * 100));
	sentence_put_text(sentence, text);
}

/* Formats a value in its unit, for a sentence. */
static void sentence_put_value(struct sentence *sentence, enum dw_fact_unit unit, double value)
{
	switch (unit) {
	case DW_FACT_RATIO:
	case DW_FACT_CHANGED:
		sentence_put_share(sentence, value);
		return;
	case DW_FACT_NS:
		sentence_put_text(sentence, dw_text_ns(value, " ").at);
		return;
	case DW_FACT_BYTES:
		sentence_put_text(sentence, dw_text_bytes(value, " ").at);
		return;
	case DW_FACT_COUNTED:
		if (value >= 100 || fabs(value - round(value)) < 0.01) /* no "0.999 CPUs" */
			sentence_put_text(sentence, dw_text_count((int64_t)llround(value)).at);
		else
			sentence_put_text(sentence, dw_text_number(value).at);
		return;
	default:
		sentence_put_text(sentence, dw_text_number(value).at);
		return;
	}
}

static const char *sentence_name(const struct dw_fact *fact)
{
	/* aten::empty makes every tensor, so the name is no information. */
	if (!fact->name || dw_operator_family_of(fact->name) == DW_OPERATOR_EMPTY)
		return NULL;
	return fact->note && strcmp(fact->name, fact->note) == 0 ? NULL : fact->name;
}

/* Python's and idle time of a verdict about the loop may lie between the steps: then the lines are those
 * of the larger part. */
static const char *sentence_where(const struct sentence *sentence, enum dw_fact_id id)
{
	const struct dw_fact *fact = &sentence->at->facts->at[id], *outside = NULL;

	if (sentence->at->verdict->whole == DW_RULE_OF_LOOP && id == DW_FACT_STEP_PYTHON)
		outside = &sentence->at->facts->at[DW_FACT_LOOP_PYTHON];
	if (outside && outside->measured && outside->value > fact->value * dw_case_value(sentence->at, DW_FACT_LOOP_STEPS))
		return outside->where;
	return fact->where;
}

/* Parts of a step whose names are not words of a sentence. */
static const char *sentence_part(const char *part)
{
	static const char *const words[][2] = { { "named", "named ranges" }, { "unnamed", "no named range" }, { "python", "Python" },
		{ "idle", "waits" } };

	for (size_t i = 0; part && i < sizeof words / sizeof *words; i++)
		if (strcmp(part, words[i][0]) == 0)
			return words[i][1];
	return part;
}

/* By what a fact is multiplied so that its share of a step is one of the loop, as the verdict's. Of an operator, the one in the table. */
static double sentence_of_loop(const struct sentence *sentence, enum dw_fact_id id)
{
	const struct dw_fact_kind *kind = dw_fact_kind(id);
	struct dw_rule_rows rows = { .count = 0 };

	if (id == DW_FACT_OPERATORS_LARGEST || id == DW_FACT_OPERATORS_UNCOMMON)
		dw_case_add_operator(sentence->at, id, &rows);
	if (rows.count && sentence->at->verdict->whole == DW_RULE_OF_LOOP)
		return rows.share / sentence->at->facts->at[id].value;
	return kind->unit == DW_FACT_RATIO && strcmp(kind->denominator, "a steady step") == 0 &&
	               sentence->at->verdict->whole == DW_RULE_OF_LOOP && sentence->at->rule->part != DW_RULE_PART_DEVICE
	           ? dw_case_steps(sentence->at) : 1;
}

enum { SENTENCE_STEPS = 100 }; /* of which a count is said, if it is less than one of a step */

/* A count of a step, or of more steps if one has less than one. */
static void sentence_put_often(struct sentence *sentence, double value)
{
	sentence->rare = round(value * SENTENCE_STEPS) < SENTENCE_STEPS && sentence->at->facts->iterations != DW_ITERATIONS_RUN;
	sentence->often = sentence->rare ? ceil(value * SENTENCE_STEPS) : round(value);
	sentence_put_value(sentence, DW_FACT_COUNTED, sentence->often);
}

static void sentence_put_fact(struct sentence *sentence, const char *name, const char *form)
{
	enum dw_fact_id id = dw_fact_find(name);
	const struct dw_fact *fact;
	const char *text = NULL;

	if (id == DW_FACT_COUNT || !sentence->at->facts->at[id].measured) {
		sentence->known = false;
		return;
	}
	fact = &sentence->at->facts->at[id];
	if (!*form) {
		sentence_put_value(sentence, dw_fact_kind(id)->unit, fact->value * sentence_of_loop(sentence, id));
	} else if (*form == 'o') {
		sentence_put_often(sentence, fact->value);
	} else if (strcmp(form, "s") == 0) {
		sentence_put_text(sentence, (sentence->often > 0 ? sentence->often : fact->value) == 1 ? "" : "s");
	} else if (strcmp(form, "takes") == 0) {
		sentence_put_text(sentence, fact->value == 1 ? "takes" : "take");
	} else if (strcmp(form, "ns") == 0) {
		sentence_put_text(sentence, dw_text_ns(fact->value * dw_case_whole_ns(sentence->at, DW_RULE_OF_STEP), " ").at);
	} else {
		text = strcmp(form, "name") == 0 ? sentence_name(fact)
		     : strcmp(form, "note") == 0 ? fact->note
		     : strcmp(form, "part") == 0 ? sentence_part(fact->note)
		                                 : sentence_where(sentence, id);
		if (text && *text && strcmp(form, "where") == 0)
			sentence_put_text(sentence, strstr(text, " and ") ? " between " : strchr(text, '(') ? " in " : " at ");
		if (text && *text)
			sentence_put(sentence, text, strnlen(text, 170));
		else if (strcmp(form, "where") != 0)
			sentence->known = false;
	}
}

/* " in the range NAME at FILE:LINE" */
static void sentence_put_range(struct sentence *sentence, const struct dw_symbol *range)
{
	char line[90];

	sentence_put_text(sentence, "the range ");
	sentence_put(sentence, range->name, strnlen(range->name, 80));
	if (!range->file)
		return;
	snprintf(line, sizeof line, " at %s:%u", dw_text_base_name(range->file), range->line);
	sentence_put_text(sentence, line);
}

enum { PACKAGES = 3 }; /* that a sentence names */

/* "torch 4.1 s, pandas 400 ms": the packages that the thread imports. */
static void sentence_put_packages(struct sentence *sentence)
{
	struct dw_account_import imports[PACKAGES];
	size_t count = dw_account_imports(sentence->at->facts->account, imports, PACKAGES);

	sentence->known &= count > 0;
	for (size_t i = 0; i < count; i++) {
		sentence_put_text(sentence, i ? ", " : "");
		sentence_put(sentence, imports[i].package, strnlen(imports[i].package, 40));
		sentence_put_text(sentence, " ");
		sentence_put_text(sentence, dw_text_ns(imports[i].ns, " ").at);
	}
}

/* How many iterations the rule's cells are of: "3 steps" (number), "5%" (steps), and how long these took (time). */
static void sentence_put_iterations(struct sentence *sentence, const char *form)
{
	const struct dw_account_select *cells = &sentence->at->verdict->cells;
	const struct dw_account *account = sentence->at->facts->account;
	size_t count = dw_account_iterations(account, cells->classes);
	double ns = 0;
	char text[40];

	if (*form == 's') {
		sentence_put_share(sentence, (double)count / (double)dw_account_iterations(account, ~0u));
		return;
	}
	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		ns += cells->classes >> class & 1 ? account->classes[class].ns : 0;
	snprintf(text, sizeof text, "%zu step%s", count, dw_text_plural(count));
	sentence_put_text(sentence, *form == 'n' ? text : dw_text_ns(ns, " ").at);
}

enum { KINDS = 3 }; /* of what is done in a call that a sentence names */

/* "copying and clearing memory 42%, look-ups 7%": what is done in the call that the rule's cells are. */
static void sentence_put_kinds(struct sentence *sentence)
{
	const struct dw_account *account = sentence->at->facts->account;
	struct dw_account_kind kinds[KINDS];
	size_t count = dw_account_kinds(account, sentence->at->verdict->cells.call, kinds, KINDS);
	double least_ns = DW_RULE_DEADBAND * account->own_ns;

	sentence->known &= count > 0;
	for (size_t i = 0; i < count && (!i || kinds[i].ns >= least_ns); i++) {
		sentence_put_text(sentence, i ? ", " : "");
		sentence_put_text(sentence, kinds[i].words);
		sentence_put_text(sentence, " ");
		sentence_put_share(sentence, kinds[i].ns / account->own_ns);
	}
}

/* If most of a call is one kind of work, the remedy of the rule about that kind helps here, too. Memory is left out: nearly every
 * call uses some. */
static void sentence_put_remedy(struct sentence *sentence)
{
	const struct dw_account *account = sentence->at->facts->account;
	const char *remedy = NULL;
	struct dw_account_kind kind;

	if (dw_account_kinds(account, sentence->at->verdict->cells.call, &kind, 1) &&
	    !(kind.activities & (DW_ACTIVITIES_OF_MEMORY | DW_ACTIVITIES_OF_COPIES)) &&
	    kind.ns >= DW_ACCOUNT_MOST * sentence->at->verdict->share.value * account->own_ns)
		for (const struct dw_rule *rule = dw_rules_cells; rule->id && !remedy; rule++)
			if (rule->cells->call == DW_ACCOUNT_NO_CALL &&
			    (rule->cells->activities[DW_ACCOUNT_RUNS] & kind.activities) == kind.activities)
				remedy = rule->remedy[DW_WORDS_ANY];
	sentence_put_text(sentence, remedy ? remedy : "call it less often: keep what it gives, or give it much at once");
}

/* Two functions that have most of a sum together; one name, if they are called alike. False: there are none. */
static bool sentence_put_both(struct sentence *sentence, const struct dw_account_sum *sum)
{
	char first[300], second[300];

	if (!sum->function || !sum->second || sum->root || sum->place_ns + sum->second_ns < DW_ACCOUNT_MOST * sum->ns)
		return false;
	dw_account_place(sum, first);
	dw_account_second_place(sum, second);
	sentence_put(sentence, first, strnlen(first, 170));
	if (!dw_text_same(first, second)) {
		sentence_put_text(sentence, " and ");
		sentence_put(sentence, second, strnlen(second, 170));
	}
	return true;
}

/* The name of the function that is called. `other`: of two calls that count as one, the second function. */
static void sentence_put_callee(struct sentence *sentence, struct dw_account_sum *sum, bool other)
{
	const struct dw_account *account = sentence->at->facts->account;
	uint32_t call = sentence->at->verdict->cells.call;
	char text[80];

	if (call && call <= account->call_count)
		sum->callee = other ? account->calls[call - 1].other : account->calls[call - 1].callee;
	sentence->known &= sum->callee != NULL;
	sentence_put_text(sentence, dw_account_callee(sum, text));
}

/* The function that the rule's cells lie in, with its line, and the range: "ask (net.c:10)"; or, of iterations of a class,
 * the part of the step. `form` is one of function, most, part, by, and, library, where (the function alone), callee and other, which
 * differ in their first letter. A function that only hands on is named with its caller: others call it for other things. */
static void sentence_put_cells(struct sentence *sentence, const char *form)
{
	const struct dw_verdict *verdict = sentence->at->verdict;
	const struct dw_account_select *cells = verdict->has_cells ? &verdict->cells : sentence->at->rule->place;
	const struct dw_account *account = sentence->at->facts->account;
	struct dw_account_sum sum = cells && account ? dw_account_sum(account, cells) : (struct dw_account_sum){ .ns = 0 };
	bool most = *form == 'm', function = sum.function && (!most || sum.dominates);
	char text[300];

	if (*form == 'l') {
		sentence_put_text(sentence, sum.library ? dw_library_name(sum.library, text) : "libraries");
		return;
	}
	if (verdict->cells.by_name)
		sum.range = NULL; /* the sentence names it */
	if (!function && most && !sum.range && sentence_put_both(sentence, &sum))
		return;
	if (!function && !(most && sum.range)) {
		sentence->known &= most && verdict->cells.beyond && sum.share < DW_SHARE_NAMED;
		if (sentence->known)
			sentence_put_text(sentence, dw_share_label(sum.share));
		return;
	}
	if (*form == 'p') {
		sentence_put_share(sentence, sum.place_ns / sum.ns);
		return;
	}
	if (*form == 'a') {
		sentence->known &= sum.second != NULL;
		sentence_put_share(sentence, sum.second_ns / sum.ns);
		sentence_put_text(sentence, " in ");
		dw_account_second_place(&sum, text);
		sentence_put(sentence, text, strnlen(text, 170));
		return;
	}
	if (*form == 'c' || *form == 'o') {
		sentence_put_callee(sentence, &sum, *form == 'o');
		return;
	}
	if (*form == 'b') {
		sentence->known &= sum.caller != NULL && sum.dominates && !(sum.passes && *dw_account_callee(&sum, text));
		dw_account_caller(&sum, text);
		sentence_put(sentence, text, strnlen(text, 170));
		return;
	}
	if (function) {
		dw_account_place(&sum, text);
		sentence_put(sentence, text, strnlen(text, 170));
	}
	if (*form != 'w' && function && *dw_account_callee(&sum, text)) {
		sentence_put_text(sentence, ", which calls ");
		sentence_put_text(sentence, text);
		if (sum.passes && *dw_account_caller(&sum, text)) {
			sentence_put_text(sentence, " and is called by ");
			sentence_put(sentence, text, strnlen(text, 170));
		}
	}
	if (function && most && sum.range)
		sentence_put_text(sentence, ", in ");
	if (most && sum.range)
		sentence_put_range(sentence, sum.range);
}

static double sentence_number(const struct sentence *sentence)
{
	return sentence->at->rule->number ? sentence->at->rule->number(sentence->at) : NAN;
}

static void sentence_put_place(struct sentence *sentence, const char *place)
{
	const struct dw_verdict *verdict = sentence->at->verdict;
	char name[64];
	const char *colon = strchr(place, ':');

	if (strncmp(place, "cells:", 6) == 0) {
		if (place[6] == 'i')
			sentence_put_packages(sentence);
		else if (place[6] == 'k')
			sentence_put_kinds(sentence);
		else if (place[6] == 'r')
			sentence_put_remedy(sentence);
		else if (strchr("nst", place[6]))
			sentence_put_iterations(sentence, place + 6);
		else
			sentence_put_cells(sentence, place + 6);
		return;
	}
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(place, verbs[i][0]) == 0) {
			sentence_put_text(sentence, verbs[i][!verdict->firm]);
			return;
		}
	if (strcmp(place, "share") == 0) {
		sentence_put_share(sentence, verdict->share.value);
	} else if (strcmp(place, "of") == 0) {
		sentence_put_text(sentence, dw_rule_whole_text(verdict->whole, sentence->at->facts));
	} else if (strcmp(place, "each") == 0) {
		if (sentence->rare)
			sentence_put_text(sentence,
			                  sentence->at->facts->iterations == DW_ITERATIONS_MARKED ? "in 100 steps" : "in 100 iterations");
		else
			sentence_put_text(sentence, dw_rule_each(sentence->at->facts));
		sentence->often = 0;
		sentence->rare = false;
	} else if (strcmp(place, "Steps") == 0) {
		sentence_put_text(sentence, sentence->at->facts->iterations == DW_ITERATIONS_MARKED ? "Steps" : "Iterations");
	} else if (strcmp(place, "number") == 0) {
		double number = sentence_number(sentence);

		sentence->known &= !isnan(number);
		if (!isnan(number))
			sentence_put_value(sentence, DW_FACT_COUNTED, number);
	} else {
		snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - place : (ptrdiff_t)strlen(place)), place);
		sentence_put_fact(sentence, name, colon ? colon + 1 : "");
	}
}

static bool sentence_is_something(const struct sentence *sentence, enum dw_fact_id id)
{
	return dw_case_value(sentence->at, id) > (dw_fact_kind(id)->unit == DW_FACT_RATIO ? 0.005 : 0);
}

/* The condition of "[?FACT: text]": returns where the text begins, and whether it is wanted. */
static const char *sentence_condition(const struct sentence *sentence, const char *text, bool *wanted)
{
	size_t length = strcspn(text, ":");
	bool measured, something;
	enum dw_fact_id id;
	char name[64];

	*wanted = true;
	if (*text != '?' && *text != '!' && *text != '-')
		return text;
	snprintf(name, sizeof name, "%.*s", (int)length - 1, text + 1);
	id = dw_fact_find(name);
	measured = id != DW_FACT_COUNT ? sentence->at->facts->at[id].measured : !isnan(sentence_number(sentence));
	something = id != DW_FACT_COUNT ? sentence_is_something(sentence, id) : sentence_number(sentence) > 0;
	*wanted = *text == '-' ? !measured : measured && something == (*text == '?');
	return text + length + (text[length] == ':') + (text[length] && text[length + 1] == ' ');
}

const char *dw_rule_each(const struct dw_facts *facts)
{
	return facts->iterations == DW_ITERATIONS_MARKED ? "a step"
	       : facts->iterations == DW_ITERATIONS_PERIOD ? "an iteration"
	       : facts->one_process                        ? "in that process"
	                                                   : "in the run";
}

const char *dw_rule_whole_text(enum dw_rule_whole whole, const struct dw_facts *facts)
{
	static const char *const texts[DW_RULE_OF_COUNT] = {
		[DW_RULE_OF_STEP] = "of a steady step",
		[DW_RULE_OF_LOOP] = "of the loop",
		[DW_RULE_OF_RUN] = "of the run",
		[DW_RULE_OF_PEAK] = "of the peak",
		[DW_RULE_OF_CAPACITY] = "of the memory",
	};

	if ((whole == DW_RULE_OF_STEP || whole == DW_RULE_OF_LOOP) && facts->follows)
		return "of it";
	if (whole == DW_RULE_OF_STEP && facts->iterations == DW_ITERATIONS_PERIOD)
		return "of a steady iteration";
	if ((whole == DW_RULE_OF_STEP || whole == DW_RULE_OF_LOOP) && facts->iterations == DW_ITERATIONS_RUN)
		return facts->one_process ? "of the busiest process" : "of the run";
	return texts[whole];
}

enum { SENTENCE_DEPTH = 4 }; /* of brackets within each other */

/* What a bracket begins with. */
struct sentence_open {
	size_t begin;
	bool known;  /* the placeholders before it, in the bracket around it */
	bool wanted;
};

static const char *sentence_open(struct sentence *sentence, const char *text, struct sentence_open *open)
{
	*open = (struct sentence_open){ .begin = sentence->used, .known = sentence->known };
	sentence->known = true;
	return sentence_condition(sentence, text, &open->wanted);
}

static void sentence_close(struct sentence *sentence, const struct sentence_open *open)
{
	if (!sentence->known || !open->wanted)
		sentence->used = open->begin;
	sentence->text[sentence->used] = '\0';
	sentence->known = open->known;
}

const char *dw_rule_sentence(const struct dw_rule_case *at, const char *text, struct dw_arena *arena)
{
	struct sentence sentence = { .at = at, .known = true };
	struct sentence_open opened[SENTENCE_DEPTH];
	size_t depth = 0;

	while (*text) {
		if (*text == '{') {
			char place[80];
			size_t length = strcspn(text + 1, "}");

			snprintf(place, sizeof place, "%.*s", (int)length, text + 1);
			sentence_put_place(&sentence, place);
			text += length + 1 + (text[length + 1] == '}');
		} else if (*text == '[' && depth < SENTENCE_DEPTH) {
			text = sentence_open(&sentence, text + 1, &opened[depth++]);
		} else if (*text == ']' && depth) {
			sentence_close(&sentence, &opened[--depth]);
			text++;
		} else {
			size_t length = strcspn(text + 1, "{[]") + 1;

			sentence_put(&sentence, text, length);
			text += length;
		}
	}
	return dw_arena_text(arena, sentence.text, sentence.used);
}
