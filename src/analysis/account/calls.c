/* Calls that take more than any one thing that is done in them; see calls.h. */
#include "account/calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/kinds.h"
#include "base/code/demangle.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"

#define DOES(name) DW_ACTIVITY_SET(name)
/* Of the account's time. A call counts if so much of it is beside its largest kind of work: else that kind tells it. */
#define LEAST (DW_ACCOUNT_MOST * DW_SAMPLES_NAMED)

#define MANAGES (DW_ACTIVITIES_OF_MEMORY | DOES(CLEARS) | DOES(FAULT) | DOES(RETURNS))
/* What a library does for the program, with memory of its own. */
#define WORKS (DOES(COMPRESSION) | DOES(QUERIES) | DOES(TEXT) | DOES(MATCHES) | DOES(ALGEBRA) | DOES(RANDOM) | DOES(LOOK_UP))
#define TOUCHES (DW_ACTIVITIES_OF_COPIES | DOES(OWN) | DOES(ALGEBRA) | DOES(UNKNOWN)) /* takes page faults */

static bool calls_is_in(const struct dw_account_call *call, const struct dw_source_function *function)
{
	return strcmp(call->function->name, function->name) == 0 && dw_text_same(call->function->file, function->file);
}

static bool calls_is(const struct dw_account_call *call, const struct dw_look *look)
{
	return (strcmp(call->callee->name, look->callee->name) == 0 ||
	        (call->other && strcmp(call->other->name, look->callee->name) == 0)) &&
	       calls_is_in(call, look->functions->function);
}

/* The kind of work of a sample in a call. If the callee's name says what it does (compress2), the innermost function decides. */
static enum dw_activity calls_activity(const struct dw_look *look)
{
	return look->called != DW_ACTIVITY_UNKNOWN && look->inner != DW_ACTIVITY_UNKNOWN ? look->inner : look->activity;
}

void dw_called_add(struct dw_called *calls, const struct dw_look *look, double ns)
{
	double faults = dw_activity_in(look->activity, TOUCHES) ? calls->faults : 0;
	struct dw_called_entry *entry;
	uint32_t hash, at;

	calls->all_ns += ns;
	if (!look->callee || !look->count || look->functions->root)
		return;
	hash = dw_map_hash_bytes(0, look->callee->name, strlen(look->callee->name));
	at = DW_MAP_FIND(&calls->by_name, hash, i, calls_is(&calls->entries[i].of, look));
	if (at == DW_MAP_NONE) {
		at = (uint32_t)calls->count;
		entry = DW_GROW(&calls->entries, &calls->capacity, calls->count);
		if (!entry || !dw_map_add(&calls->by_name, hash, at)) {
			calls->failed = true;
			return;
		}
		*entry = (struct dw_called_entry){ .of = { look->functions->function, look->callee, NULL, false }, .called = look->called };
		calls->count++;
	}
	entry = &calls->entries[at];
	entry->ns += ns;
	entry->of_activity[look->activity] += ns * (1 - faults);
	entry->of_activity[DW_ACTIVITY_FAULT] += ns * faults;
	entry->managing_ns += dw_activity_in(calls_activity(look), MANAGES) ? ns : 0;
}

/* The largest part of a call that one sentence would have. */
static double calls_largest(const struct dw_called_entry *entry)
{
	double largest = 0;

	for (size_t k = 0; k < DW_ACCOUNT_KIND_COUNT; k++) {
		dw_activity_set activities;
		double ns = 0;

		if (!dw_account_kind_words(k, DW_ACCOUNT_OF_CALL, &activities))
			continue;
		for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++)
			ns += activities >> activity & 1 ? entry->of_activity[activity] : 0;
		largest = fmax(largest, ns);
	}
	return largest;
}

/* Whether a sentence can name it. */
static bool calls_can_be_named(const struct dw_source_function *callee)
{
	const struct dw_account_sum sum = { .callee = callee };
	char name[80];

	return *dw_account_callee(&sum, name) != '\0';
}

/* The name of compress2() says what it does, and the sentence about compression names the call. So such a call counts only if it
 * spends most of its time on memory. */
static bool calls_is_more(const struct dw_called_entry *entry, double least_ns)
{
	if (entry->ns < least_ns || !calls_can_be_named(entry->of.callee))
		return false;
	if (entry->called == DW_ACTIVITY_UNKNOWN)
		return entry->ns - calls_largest(entry) >= least_ns;
	return dw_activity_in(entry->called, WORKS) && entry->managing_ns >= DW_ACCOUNT_MOST * entry->ns;
}

static bool calls_manages(const struct dw_called_entry *entry)
{
	return entry->ns > 0 && entry->managing_ns >= DW_ACCOUNT_MOST * entry->ns;
}

/* Joins the i-th call with another one of the same function, if both mainly get and give back memory, as deflateInit() and deflateEnd()
 * do. A program that keeps the object needs neither of them. */
static void calls_join(struct dw_called *calls, size_t i)
{
	struct dw_called_entry *entry = &calls->entries[i];

	for (size_t j = i + 1; j < calls->count && !entry->of.other && calls_manages(entry); j++) {
		struct dw_called_entry *other = &calls->entries[j];

		if (!calls_manages(other) || !calls_is_in(&entry->of, other->of.function) || !calls_can_be_named(other->of.callee))
			continue;
		entry->of.other = other->of.callee;
		entry->ns += other->ns;
		entry->managing_ns += other->managing_ns;
		for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++)
			entry->of_activity[activity] += other->of_activity[activity];
		other->ns = 0;
	}
}

static bool calls_has(const struct dw_account *account, const struct dw_source_function *callee)
{
	char one[200], other[200];

	for (size_t i = 0; i < account->call_count; i++) {
		dw_name_short(one, sizeof one, account->calls[i].callee->name);
		dw_name_short(other, sizeof other, callee->name);
		if (strcmp(one, other) == 0)
			return true;
	}
	return false;
}

DW_ORDER(calls_compare, struct dw_called_entry, DW_DOWN(ns) DW_TEXT(of.callee->name) DW_TEXT(of.function->name))

void dw_called_choose(struct dw_called *calls, struct dw_account *account)
{
	const double least_ns = LEAST * calls->all_ns;

	DW_SORT(calls->entries, calls->count, calls_compare);
	for (size_t i = 0; i < calls->count && 2 * calls->entries[i].ns >= least_ns; i++)
		calls_join(calls, i);
	DW_SORT(calls->entries, calls->count, calls_compare);
	for (size_t i = 0; i < calls->count && account->call_count < DW_ACCOUNT_CALLS; i++) {
		struct dw_called_entry *entry = &calls->entries[i];

		if (calls_is_more(entry, least_ns) && !calls_has(account, entry->of.callee)) {
			entry->of.makes = dw_name_is_of_object(entry->of.callee->name);
			account->calls[account->call_count++] = entry->of;
		}
	}
}

void dw_called_reset(struct dw_called *calls)
{
	free(calls->entries);
	dw_map_reset(&calls->by_name);
}

void dw_called_take(const struct dw_account *account, struct dw_look *look)
{
	for (size_t i = 0; i < account->call_count && look->callee && look->count; i++)
		if (calls_is(&account->calls[i], look)) {
			look->call = (uint32_t)i + 1;
			look->activity = calls_activity(look);
			return;
		}
}

DW_ORDER(calls_compare_kinds, struct dw_account_kind, DW_DOWN(ns) DW_TEXT(words))

size_t dw_account_kinds(const struct dw_account *account, uint32_t call, struct dw_account_kind *to, size_t most)
{
	struct dw_account_kind all[DW_ACCOUNT_KIND_COUNT];
	size_t count = 0;

	for (size_t k = 0; k < DW_ACCOUNT_KIND_COUNT; k++) {
		dw_activity_set activities;
		const char *words = dw_account_kind_words(k, DW_ACCOUNT_OF_CALL, &activities);
		struct dw_account_select select = dw_account_select_states(~0u, activities);

		if (!words)
			continue;
		select.call = call;
		all[count] = (struct dw_account_kind){ words, activities, dw_account_sum(account, &select).ns };
		count += all[count].ns > 0;
	}
	DW_SORT(all, count, calls_compare_kinds);
	count = count < most ? count : most;
	memcpy(to, all, count * sizeof *to);
	return count;
}
