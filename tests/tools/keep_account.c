/* keep_account TRACE...: what rules read of a run, in the form of account_form.h. Several traces are the ranks of one
 * run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account_form.h"
#include "base/text.h"

#define MOST_RANGES 4096u

struct keep {
	const struct dw_facts *facts;
	const struct dw_symbol *symbols;
	uint32_t ranges[MOST_RANGES]; /* symbols in the order of their numbers */
	uint32_t range_count;
};

/* ---- fields ------------------------------------------------------------------------------------------ */

static void keep_text(const char *text)
{
	putchar('\t');
	for (; text && *text; text++)
		if (*text == '\t' || *text == '\n' || *text == '\\')
			printf("\\%c", *text == '\t' ? 't' : *text == '\n' ? 'n' : '\\');
		else
			putchar(*text);
}

static void keep_number(double number)
{
	printf("\t%.6g", number);
}

static void keep_basis(const struct dw_account_basis *basis)
{
	keep_number((double)basis->samples);
	keep_number((double)basis->weight);
	keep_number((double)basis->squares);
}

static void keep_thread(uint32_t thread)
{
	if (thread == DW_NO_INDEX)
		keep_text("none");
	else
		printf("\t%u", thread);
}

/* ---- ranges ------------------------------------------------------------------------------------------ */

/* The number of a range. The first time, it gets one. */
static uint32_t keep_number_range(struct keep *keep, uint32_t symbol)
{
	uint32_t i = 0;

	while (i < keep->range_count && keep->ranges[i] != symbol)
		i++;
	if (i == MOST_RANGES) {
		fprintf(stderr, "keep_account: more than %u ranges\n", MOST_RANGES);
		exit(1);
	}
	if (i == keep->range_count)
		keep->ranges[keep->range_count++] = symbol;
	return i;
}

static void keep_range(struct keep *keep, uint32_t symbol)
{
	if (symbol == DW_NO_INDEX)
		putchar('\t');
	else
		printf("\t%u", keep_number_range(keep, symbol));
}

static void keep_print_ranges(struct keep *keep)
{
	const struct dw_account *account = keep->facts->account;

	for (size_t i = 0; account && i < account->count; i++)
		if (account->cells[i].named != DW_NO_INDEX)
			keep_number_range(keep, account->cells[i].named);
	for (unsigned id = 0; id < DW_FACT_COUNT; id++)
		if (keep->facts->at[id].measured && keep->facts->at[id].symbol != DW_NO_INDEX)
			keep_number_range(keep, keep->facts->at[id].symbol);
	for (uint32_t i = 0; i < keep->range_count; i++) {
		const struct dw_symbol *symbol = &keep->symbols[keep->ranges[i]];

		printf("range");
		keep_text(symbol->name);
		keep_text(symbol->file ? dw_text_base_name(symbol->file) : NULL);
		printf("\t%u\n", symbol->line);
	}
}

/* ---- facts ------------------------------------------------------------------------------------------- */

static void keep_print_fact(struct keep *keep, enum dw_fact_id id)
{
	const struct dw_fact *fact = &keep->facts->at[id];
	bool exact = fact->low == fact->value && fact->high == fact->value;

	printf("fact\t%s", dw_fact_kind(id)->name);
	keep_number(fact->value);
	if (exact) {
		printf("\t\t");
	} else {
		keep_number(fact->low);
		keep_number(fact->high);
	}
	printf("\t%zu", fact->samples);
	if (fact->name || fact->symbol != DW_NO_INDEX || fact->where || fact->note) {
		keep_text(fact->name);
		keep_range(keep, fact->symbol);
	}
	if (fact->where || fact->note)
		keep_text(fact->where);
	if (fact->note)
		keep_text(fact->note);
	putchar('\n');
}

/* One line for each reason. */
static void keep_print_missing(const struct dw_facts *facts)
{
	for (unsigned id = 0; id < DW_FACT_COUNT; id++) {
		const char *text = facts->at[id].missing;
		bool said = facts->at[id].measured;

		for (unsigned before = 0; before < id && !said; before++)
			said = !facts->at[before].measured && dw_text_same(facts->at[before].missing, text);
		if (said)
			continue;
		printf("missing");
		keep_text(text);
		for (unsigned other = id; other < DW_FACT_COUNT; other++)
			if (!facts->at[other].measured && dw_text_same(facts->at[other].missing, text))
				printf("%c%s", other == id ? '\t' : ' ', dw_fact_kind((enum dw_fact_id)other)->name);
		putchar('\n');
	}
}

static void keep_print_facts(struct keep *keep)
{
	const struct dw_facts *facts = keep->facts;

	printf("account\t%d\nframework\t%s\niterations\t%s", ACCOUNT_FORM_VERSION,
	       dw_facts_framework_name(facts->framework), account_form_iterations[facts->iterations]);
	keep_text(facts->iteration_name);
	printf("\nloop\t%zu\t%zu", facts->loop, facts->loop_count);
	keep_thread(facts->thread);
	printf("\n%s", facts->foreign ? "foreign\n" : "");
	keep_print_ranges(keep);
	for (unsigned id = 0; id < DW_FACT_COUNT; id++)
		if (facts->at[id].measured)
			keep_print_fact(keep, (enum dw_fact_id)id);
	keep_print_missing(facts);
}

/* What tables of the loops show: the parts, and the operators that facts name. */
static void keep_print_rows(struct keep *keep)
{
	static const enum dw_fact_id named[] = { DW_FACT_OPERATORS_LARGEST, DW_FACT_OPERATORS_UNCOMMON, DW_FACT_OPERATORS_LAYOUT,
		                                     DW_FACT_OPERATORS_COPIES, DW_FACT_OPERATORS_CLEARS };
	const struct dw_loop_parts *parts = dw_facts_loop_parts(keep->facts->model, NULL);
	const struct dw_loop_operators *operators = dw_facts_loop_operators(keep->facts->model, NULL);

	if (!parts)
		return;
	printf("parts");
	keep_number(parts->ns);
	keep_number(parts->no_cpu_ns);
	putchar('\n');
	for (size_t i = 0; i < parts->part_count; i++) {
		if (i >= ACCOUNT_FORM_PARTS && i + 1 < parts->part_count)
			continue;
		printf("part");
		keep_text(parts->parts[i].name);
		keep_number(parts->parts[i].ns);
		putchar('\n');
	}
	for (size_t i = 0; operators && operators->whole_ns > 0 && i < sizeof named / sizeof *named; i++) {
		const struct dw_fact *fact = &keep->facts->at[named[i]];

		if (!fact->measured || fact->symbol == DW_NO_INDEX)
			continue;
		printf("operator");
		keep_range(keep, fact->symbol);
		keep_number(operators->ns[fact->symbol] / operators->whole_ns);
		putchar('\n');
	}
}

/* ---- the account ------------------------------------------------------------------------------------- */

/* The file without its path, and of a package the package: "re/__init__.py". */
static const char *keep_module(const char *file)
{
	const char *base = file ? dw_text_base_name(file) : NULL;

	if (base && strcmp(base, "__init__.py") == 0)
		for (base -= base - file > 1; base > file && base[-1] != '/'; base--)
			;
	return base;
}

static void keep_print_other(const char *kind, const struct dw_source_function *function, double ns)
{
	if (!function)
		return;
	fputs(kind, stdout);
	keep_text(function->name);
	keep_text(keep_module(function->file));
	keep_number(ns);
	putchar('\n');
}

static void keep_print_place(const struct dw_account_place *place)
{
	printf("place");
	keep_text(place->function->name);
	keep_text(place->function->file ? dw_text_base_name(place->function->file) : NULL);
	printf("\t%u\t%d", place->line, place->root);
	keep_number(place->ns);
	keep_number(place->self_ns);
	putchar('\n');
	keep_print_other("caller", place->caller, place->caller_ns);
	keep_print_other("callee", place->callee, place->callee_ns);
}

static void keep_print_cell(struct keep *keep, const struct dw_account_cell *cell)
{
	char name[64];

	printf("cell\t%s\t%s", account_form_where[cell->where], dw_share_label(cell->share));
	keep_range(keep, cell->named);
	printf("\t%s\t%s", dw_activity_name(cell->activity), dw_account_state_name(cell->state));
	keep_number(cell->ns);
	keep_basis(&cell->basis);
	if (cell->package || cell->class != DW_ITERATION_STEADY || cell->call)
		printf("\t%s", cell->package ? cell->package : "");
	if (cell->class != DW_ITERATION_STEADY || cell->call)
		printf("\t%s", dw_iteration_class_name(cell->class));
	if (cell->call)
		printf("\t%u", cell->call);
	putchar('\n');
	if (cell->library) {
		printf("library\t%s", dw_library_name(cell->library, name));
		keep_number(cell->library_ns);
		putchar('\n');
	}
	for (size_t i = 0; i < cell->place_count; i++)
		keep_print_place(&cell->places[i]);
}

static void keep_print_account(struct keep *keep)
{
	const struct dw_account *account = keep->facts->account;

	if (!account)
		return;
	printf("wall");
	keep_number(account->wall_ns);
	keep_number(account->own_ns);
	keep_number(account->system_ns);
	keep_number(account->others_cpu_ns);
	keep_number(account->others_ns);
	printf("\nthread");
	keep_thread(account->thread);
	printf("\t%d\t%d\n", account->known, account->waits_known);
	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		if (account->classes[class].count) {
			printf("class\t%s\t%zu", dw_iteration_class_name((enum dw_iteration_class) class),
			       account->classes[class].count);
			keep_number(account->classes[class].ns);
			printf("\t%d\n", account->classes[class].bounded);
		}
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++) {
		if (!(account->state_ns[state] > 0) && !account->basis[state].samples)
			continue;
		printf("state\t%s", dw_account_state_name((enum dw_account_state)state));
		keep_number(account->state_ns[state]);
		keep_basis(&account->basis[state]);
		putchar('\n');
	}
	for (size_t i = 0; i < account->call_count; i++) {
		printf("call");
		keep_text(account->calls[i].callee->name);
		printf("\t%d\n", account->calls[i].makes);
	}
	for (size_t i = 0; i < account->count; i++)
		keep_print_cell(keep, &account->cells[i]);
}

int main(int count, char **arguments)
{
	static struct keep keep;
	struct dwell_error error = { 0, "" };
	struct dw_source *source;
	struct dw_model *model;
	size_t symbol_count;

	if (count < 2) {
		fputs("usage: keep_account TRACE...\n", stderr);
		return 2;
	}
	if (dw_source_open(&source, (const char *const *)&arguments[1], (size_t)count - 1, &error) ||
	    dw_model_create(&model, source, NULL, &error) || !(keep.facts = dw_facts(model, &error))) {
		fprintf(stderr, "keep_account: %s\n", error.message);
		return 1;
	}
	keep.symbols = keep.facts->account && keep.facts->account->symbols ? keep.facts->account->symbols
	                                                                   : dw_model_symbols(model, &symbol_count);
	keep_print_facts(&keep);
	keep_print_rows(&keep);
	keep_print_account(&keep);
	dw_model_destroy(model);
	dw_source_close(source);
	return fflush(stdout) ? 1 : 0;
}
