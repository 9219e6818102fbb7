/*
 * judge_accounts [FILE...]: reads stored accounts (account_form.h), from stdin if no file is given, and prints for each
 * what the rules say, a line of JSON: {"script", "run", "rows": [{"rule", "statement", "hint"}]}, the first sentence
 * first.
 *
 * With DWELL_FIT, where the rules are those of tests/verdicts/fit_rules.py: judge_accounts FILE. Each line of stdin,
 * "CONSTANT=NUMBER ...", is answered by what the rules say with these constants, and an empty line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account_form.h"
#include "base/grow.h"
#include "base/text.h"
#ifdef DWELL_FIT
#include "fit_rules.h"
#else
#include "rules/rules.h"
#endif

#define MOST_FIELDS 16u
#define MISSING "not in the stored account"

struct judge {
	struct dw_facts facts;
	struct dw_account account;
	struct dw_loop_parts parts;
	struct dw_loop_operators operators;
	size_t cell_capacity, range_count, range_capacity;
	struct dw_symbol *ranges;
	struct dw_arena arena;
	const char *script;
	unsigned run;
	bool open; /* an account has begun */
	const char *file;
	unsigned line;
	char *fields[MOST_FIELDS]; /* of the line; empty ones behind the last */
	char empty[1];
};

static void judge_fail(const struct judge *judge, const char *why)
{
	fprintf(stderr, "judge_accounts: %s:%u: %s\n", judge->file, judge->line, why);
	exit(1);
}

/* ---- fields ------------------------------------------------------------------------------------------ */

static void judge_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			*to++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : *text;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void judge_split(struct judge *judge, char *line)
{
	for (size_t i = 0; i < MOST_FIELDS; i++) {
		char *tab = line ? strchr(line, '\t') : NULL;

		judge->fields[i] = line ? line : judge->empty;
		if (tab)
			*tab = '\0';
		judge_unescape(judge->fields[i]);
		line = tab ? tab + 1 : NULL;
	}
}

static const char *judge_text(const struct judge *judge, size_t field)
{
	return *judge->fields[field] ? judge->fields[field] : NULL;
}

static double judge_number(const struct judge *judge, size_t field)
{
	char *end;
	double number = strtod(judge->fields[field], &end);

	if (end == judge->fields[field] || *end)
		judge_fail(judge, "a number is missing");
	return number;
}

static uint32_t judge_index(const struct judge *judge, size_t field)
{
	return strcmp(judge->fields[field], "none") == 0 ? DW_NO_INDEX : (uint32_t)judge_number(judge, field);
}

static uint32_t judge_range(const struct judge *judge, size_t field)
{
	uint32_t range = *judge->fields[field] ? (uint32_t)judge_number(judge, field) : DW_NO_INDEX;

	if (range != DW_NO_INDEX && range >= judge->range_count)
		judge_fail(judge, "the range has no line");
	return range;
}

static struct dw_account_basis judge_basis(const struct judge *judge, size_t field)
{
	return (struct dw_account_basis){ (uint64_t)judge_number(judge, field), (uint64_t)judge_number(judge, field + 1),
		                              (uint64_t)judge_number(judge, field + 2) };
}

/* A fact may be unknown; other names decide which cells a rule has. */
static void judge_fail_name(const struct judge *judge, size_t field)
{
	char why[120];

	snprintf(why, sizeof why, "nothing has the name \"%s\" any more: record anew", judge->fields[field]);
	judge_fail(judge, why);
}

/* The value with this name, of `count`. */
#define JUDGE_FIND(judge, field, count, name) \
	({ \
		unsigned i_ = 0; \
		while (i_ < (count) && strcmp((judge)->fields[field], name(i_)) != 0) \
			i_++; \
		if (i_ == (count)) \
			judge_fail_name(judge, field); \
		i_; \
	})
#define NAME_WHERE(i) account_form_where[i]
#define NAME_ITERATIONS(i) account_form_iterations[i]
#define NAME_FRAMEWORK(i) dw_facts_framework_name((enum dw_facts_framework)(i))
#define NAME_SHARE(i) dw_share_label((enum dw_share)(i))
#define NAME_ACTIVITY(i) dw_activity_name((enum dw_activity)(i))
#define NAME_CLASS(i) dw_iteration_class_name((enum dw_iteration_class)(i))
#define NAME_STATE(i) dw_account_state_name((enum dw_account_state)(i))

/* ---- lines of facts ---------------------------------------------------------------------------------- */

static void judge_read_fact(struct judge *judge)
{
	enum dw_fact_id id = dw_fact_find(judge->fields[1]);
	double value = judge_number(judge, 2);

	if (id == DW_FACT_COUNT)
		return;
	judge->facts.at[id] = (struct dw_fact){
		.measured = true,
		.value = value,
		.low = *judge->fields[3] ? judge_number(judge, 3) : value,
		.high = *judge->fields[4] ? judge_number(judge, 4) : value,
		.samples = (size_t)judge_number(judge, 5),
		.name = judge_text(judge, 6),
		.symbol = judge_range(judge, 7),
		.where = judge_text(judge, 8),
		.note = judge_text(judge, 9),
	};
}

static void judge_read_missing(struct judge *judge)
{
	for (char *name = strtok(judge->fields[2], " "); name; name = strtok(NULL, " ")) {
		enum dw_fact_id id = dw_fact_find(name);

		if (id != DW_FACT_COUNT)
			judge->facts.at[id].missing = judge->fields[1];
	}
}

static void judge_read_range(struct judge *judge)
{
	struct dw_symbol *range = DW_GROW(&judge->ranges, &judge->range_capacity, judge->range_count);

	if (!range)
		judge_fail(judge, "out of memory");
	*range = (struct dw_symbol){ .name = judge->fields[1],
		                         .file = judge_text(judge, 2),
		                         .line = (uint32_t)judge_number(judge, 3) };
	judge->range_count++;
}

/* False: the line is none of these. */
static bool judge_read_facts(struct judge *judge, const char *kind)
{
	struct dw_facts *facts = &judge->facts;

	if (strcmp(kind, "script") == 0) {
		judge->script = judge->fields[1];
	} else if (strcmp(kind, "run") == 0) {
		judge->run = (unsigned)judge_number(judge, 1);
	} else if (strcmp(kind, "framework") == 0) {
		facts->framework = (enum dw_facts_framework)JUDGE_FIND(judge, 1, DW_FACTS_FRAMEWORK_COUNT, NAME_FRAMEWORK);
	} else if (strcmp(kind, "iterations") == 0) {
		facts->iterations =
			(enum dw_iteration_kind)JUDGE_FIND(judge, 1, ACCOUNT_FORM_COUNT(account_form_iterations), NAME_ITERATIONS);
		facts->iteration_name = judge_text(judge, 2);
	} else if (strcmp(kind, "loop") == 0) {
		facts->loop = (size_t)judge_number(judge, 1);
		facts->loop_count = (size_t)judge_number(judge, 2);
		facts->thread = judge_index(judge, 3);
	} else if (strcmp(kind, "foreign") == 0) {
		facts->foreign = true;
	} else if (strcmp(kind, "range") == 0) {
		judge_read_range(judge);
	} else if (strcmp(kind, "fact") == 0) {
		judge_read_fact(judge);
	} else if (strcmp(kind, "missing") == 0) {
		judge_read_missing(judge);
	} else {
		return false;
	}
	return true;
}

/* ---- lines of tables --------------------------------------------------------------------------------- */

#define MOST_PARTS (ACCOUNT_FORM_PARTS + 1)

static void judge_read_operator(struct judge *judge)
{
	struct dw_loop_operators *operators = &judge->operators;
	uint32_t range = judge_range(judge, 1);

	if (!operators->ns)
		*operators = (struct dw_loop_operators){
			.ns = dw_arena_alloc(&judge->arena, (judge->range_count + 1) * sizeof *operators->ns),
			.count = judge->range_count,
			.whole_ns = 1,
		};
	if (!operators->ns || range == DW_NO_INDEX || range >= operators->count)
		judge_fail(judge, "an operator without a name");
	operators->ns[range] = judge_number(judge, 2);
	judge->facts.operators = operators;
}

/* False: the line is none of these. */
static bool judge_read_table(struct judge *judge, const char *kind)
{
	struct dw_loop_parts *parts = &judge->parts;

	if (strcmp(kind, "parts") == 0) {
		*parts = (struct dw_loop_parts){ .ns = judge_number(judge, 1),
			                             .no_cpu_ns = judge_number(judge, 2),
			                             .parts = dw_arena_alloc(&judge->arena, MOST_PARTS * sizeof *parts->parts) };
		judge->facts.parts = parts->parts ? parts : NULL;
	} else if (strcmp(kind, "part") == 0) {
		if (!judge->facts.parts || parts->part_count == MOST_PARTS)
			judge_fail(judge, "a part of nothing, or one too many");
		parts->parts[parts->part_count++] =
			(struct dw_steady_part){ .name = judge->fields[1], .ns = judge_number(judge, 2) };
	} else if (strcmp(kind, "operator") == 0) {
		judge_read_operator(judge);
	} else {
		return false;
	}
	return true;
}

/* ---- lines of the account ---------------------------------------------------------------------------- */

/* Equal packages are one pointer. */
static const char *judge_package(const struct judge *judge, const char *name)
{
	for (size_t i = 0; name && i < judge->account.count; i++)
		if (judge->account.cells[i].package && strcmp(judge->account.cells[i].package, name) == 0)
			return judge->account.cells[i].package;
	return name;
}

static void judge_read_cell(struct judge *judge)
{
	struct dw_account *account = &judge->account;
	struct dw_account_cell *cell = DW_GROW(&account->cells, &judge->cell_capacity, account->count);

	if (!cell)
		judge_fail(judge, "out of memory");
	account->count++;
	cell->where = (enum dw_sample_where)JUDGE_FIND(judge, 1, ACCOUNT_FORM_COUNT(account_form_where), NAME_WHERE);
	cell->share = (enum dw_share)JUDGE_FIND(judge, 2, DW_SHARE_COUNT, NAME_SHARE);
	cell->named = judge_range(judge, 3);
	cell->activity = (enum dw_activity)JUDGE_FIND(judge, 4, DW_ACTIVITY_COUNT, NAME_ACTIVITY);
	cell->state = (enum dw_account_state)JUDGE_FIND(judge, 5, DW_ACCOUNT_STATE_COUNT, NAME_STATE);
	cell->ns = judge_number(judge, 6);
	cell->basis = judge_basis(judge, 7);
	cell->package = NULL;
	cell->package = judge_package(judge, judge_text(judge, 10));
	if (*judge->fields[11])
		cell->class = (enum dw_iteration_class)JUDGE_FIND(judge, 11, DW_ITERATION_CLASSES, NAME_CLASS);
	if (*judge->fields[12])
		cell->call = (uint32_t)judge_number(judge, 12);
}

static void judge_read_call(struct judge *judge)
{
	struct dw_account *account = &judge->account;
	struct dw_source_function *callee = dw_arena_alloc(&judge->arena, sizeof *callee);

	if (!callee || account->call_count == DW_ACCOUNT_CALLS)
		judge_fail(judge, "one call too many, or out of memory");
	*callee = (struct dw_source_function){ .name = judge->fields[1] };
	account->calls[account->call_count++] = (struct dw_account_call){ .callee = callee, .makes = judge_number(judge, 2) > 0 };
}

static void judge_read_library(struct judge *judge)
{
	struct dw_account_cell *cell = judge->account.count ? &judge->account.cells[judge->account.count - 1] : NULL;

	if (!cell)
		judge_fail(judge, "a library of no cell");
	cell->library = judge->fields[1];
	cell->library_ns = judge_number(judge, 2);
}

static void judge_read_place(struct judge *judge)
{
	struct dw_account_cell *cell = judge->account.count ? &judge->account.cells[judge->account.count - 1] : NULL;
	struct dw_source_function *function = dw_arena_alloc(&judge->arena, sizeof *function);

	if (!cell || cell->place_count == DW_ACCOUNT_PLACES)
		judge_fail(judge, "a place of no cell, or one too many");
	if (!cell->places)
		cell->places = dw_arena_alloc(&judge->arena, DW_ACCOUNT_PLACES * sizeof *cell->places);
	if (!function || !cell->places)
		judge_fail(judge, "out of memory");
	*function = (struct dw_source_function){ .name = judge->fields[1], .file = judge_text(judge, 2) };
	cell->places[cell->place_count++] = (struct dw_account_place){
		.function = function,
		.line = (uint32_t)judge_number(judge, 3),
		.root = judge_number(judge, 4) > 0,
		.ns = judge_number(judge, 5),
		.self_ns = judge_number(judge, 6),
	};
}

/* What the last place calls, or what calls it. */
static void judge_read_other(struct judge *judge, bool calls)
{
	struct dw_account_cell *cell = judge->account.count ? &judge->account.cells[judge->account.count - 1] : NULL;
	struct dw_account_place *place = cell && cell->place_count ? &cell->places[cell->place_count - 1] : NULL;
	struct dw_source_function *function = dw_arena_alloc(&judge->arena, sizeof *function);

	if (!place || !function)
		judge_fail(judge, "a caller or callee of no place, or out of memory");
	*function = (struct dw_source_function){ .name = judge->fields[1], .file = judge_text(judge, 2) };
	*(calls ? &place->callee : &place->caller) = function;
	*(calls ? &place->callee_ns : &place->caller_ns) = judge_number(judge, 3);
}

static void judge_read_account(struct judge *judge, const char *kind)
{
	struct dw_account *account = &judge->account;

	if (strcmp(kind, "wall") == 0) {
		judge->facts.account = account;
		account->wall_ns = judge_number(judge, 1);
		account->own_ns = judge_number(judge, 2);
		account->system_ns = judge_number(judge, 3);
		account->others_cpu_ns = judge_number(judge, 4);
		account->others_ns = judge_number(judge, 5);
	} else if (strcmp(kind, "thread") == 0) {
		account->thread = judge_index(judge, 1);
		account->known = judge_number(judge, 2) > 0;
		account->waits_known = judge_number(judge, 3) > 0;
	} else if (strcmp(kind, "class") == 0) {
		unsigned class = JUDGE_FIND(judge, 1, DW_ITERATION_CLASSES, NAME_CLASS);

		account->classes[class].count = (size_t)judge_number(judge, 2);
		account->classes[class].ns = judge_number(judge, 3);
		account->classes[class].bounded = judge_number(judge, 4) > 0;
	} else if (strcmp(kind, "state") == 0) {
		enum dw_account_state state = (enum dw_account_state)JUDGE_FIND(judge, 1, DW_ACCOUNT_STATE_COUNT, NAME_STATE);

		account->state_ns[state] = judge_number(judge, 2);
		account->basis[state] = judge_basis(judge, 3);
	} else if (strcmp(kind, "call") == 0) {
		judge_read_call(judge);
	} else if (strcmp(kind, "cell") == 0) {
		judge_read_cell(judge);
	} else if (strcmp(kind, "library") == 0) {
		judge_read_library(judge);
	} else if (strcmp(kind, "place") == 0) {
		judge_read_place(judge);
	} else if (strcmp(kind, "caller") == 0 || strcmp(kind, "callee") == 0) {
		judge_read_other(judge, strcmp(kind, "callee") == 0);
	}
}

/* ---- what the rules say ------------------------------------------------------------------------------ */

static void judge_put(void *to, const char *bytes, size_t length)
{
	fwrite(bytes, 1, length, to);
}

static void judge_print_text(const char *before, const char *text)
{
	fputs(before, stdout);
	dw_json_text(judge_put, stdout, text);
}

/* Judges the account that has been read, if there is one. */
static void judge_end(struct judge *judge)
{
	struct dw_verdicts verdicts;

	if (!judge->open)
		return;
	judge->account.symbols = judge->ranges;
	if (!dw_account_slice_cells(&judge->account, &judge->arena))
		judge_fail(judge, "out of memory");
	if (dw_rules_judge(&judge->facts, &judge->arena, &verdicts))
		judge_fail(judge, "out of memory");
	judge_print_text("{\"script\": ", judge->script);
	printf(", \"run\": %u, \"rows\": [", judge->run);
	for (size_t i = 0; i < verdicts.fired; i++) {
		judge_print_text(i ? ", {\"rule\": " : "{\"rule\": ", verdicts.at[i].rule->id);
		judge_print_text(", \"statement\": ", verdicts.at[i].statement);
		judge_print_text(", \"hint\": ", verdicts.at[i].hint);
		putchar('}');
	}
	puts("]}");
}

static void judge_begin(struct judge *judge)
{
	judge_end(judge);
	dw_arena_reset(&judge->arena);
	dw_facts_init(&judge->facts);
	for (unsigned id = 0; id < DW_FACT_COUNT; id++)
		judge->facts.at[id].missing = MISSING;
	judge->account = (struct dw_account){ .thread = DW_NO_INDEX, .cells = judge->account.cells };
	judge->operators = (struct dw_loop_operators){ .ns = NULL };
	judge->range_count = 0;
	judge->script = "";
	judge->run = 0;
	judge->open = true;
	if (judge_number(judge, 1) != ACCOUNT_FORM_VERSION)
		judge_fail(judge, "another version of the form: record anew");
}

static void judge_read(struct judge *judge, char *text)
{
	for (char *end; *text; text = end) {
		const char *kind;

		judge->line++;
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		judge_split(judge, text);
		kind = judge->fields[0];
		if (strcmp(kind, "account") == 0)
			judge_begin(judge);
		else if (*kind && !judge->open)
			judge_fail(judge, "no account has begun");
		else if (!judge_read_facts(judge, kind) && !judge_read_table(judge, kind))
			judge_read_account(judge, kind);
	}
	judge_end(judge);
	judge->open = false;
}

static char *judge_load(struct judge *judge, FILE *file)
{
	size_t capacity = 1u << 16, used = 0;
	char *text = NULL, *grown;

	do {
		capacity *= 2;
		grown = realloc(text, capacity);
		if (!grown)
			judge_fail(judge, "out of memory");
		text = grown;
		used += fread(text + used, 1, capacity - 1 - used, file);
	} while (used == capacity - 1);
	text[used] = '\0';
	if (ferror(file))
		judge_fail(judge, "cannot be read");
	return text;
}

static void judge_free(struct judge *judge)
{
	dw_arena_reset(&judge->arena);
	free(judge->account.cells);
	free(judge->ranges);
}

#ifdef DWELL_FIT
struct dw_fit_constant dw_fit_constants[] = { DW_FIT_CONSTANTS };

static void fit_set(struct dw_fit_constant *constants, size_t count, char *line)
{
	static const struct dw_fit_constant usual[] = { DW_FIT_CONSTANTS };

	memcpy(constants, usual, sizeof usual);
	for (char *pair = strtok(line, " \n"); pair; pair = strtok(NULL, " \n")) {
		char *equals = strchr(pair, '=');
		size_t i = 0;

		if (equals)
			*equals = '\0';
		while (i < count && strcmp(constants[i].name, pair) != 0)
			i++;
		if (!equals || i == count) {
			fprintf(stderr, "judge_accounts: there is no constant %s\n", pair);
			exit(1);
		}
		constants[i].value = strtod(equals + 1, NULL);
	}
}

int main(int count, char **arguments)
{
	static struct judge judge;
	FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
	size_t capacity = 0;
	char *text, *line = NULL;

	judge.file = count == 2 ? arguments[1] : "FILE";
	if (!file)
		judge_fail(&judge, "cannot be opened");
	text = judge_load(&judge, file);
	fclose(file);
	while (getline(&line, &capacity, stdin) > 0) {
		char *copy = strdup(text); /* what is read is cut into fields */

		if (!copy)
			judge_fail(&judge, "out of memory");
		fit_set(dw_fit_constants, sizeof dw_fit_constants / sizeof *dw_fit_constants, line);
		judge.line = 0;
		judge_read(&judge, copy);
		free(copy);
		putchar('\n');
		fflush(stdout);
	}
	free(line);
	free(text);
	judge_free(&judge);
	return 0;
}
#else
static void judge_file(struct judge *judge, const char *name, FILE *file)
{
	char *text;

	judge->file = name;
	judge->line = 0;
	if (!file)
		judge_fail(judge, "cannot be opened");
	text = judge_load(judge, file);
	judge_read(judge, text);
	free(text);
}

int main(int count, char **arguments)
{
	static struct judge judge;

	for (int i = 1; i < count; i++) {
		FILE *file = fopen(arguments[i], "rb");

		judge_file(&judge, arguments[i], file);
		fclose(file);
	}
	if (count == 1)
		judge_file(&judge, "stdin", stdin);
	judge_free(&judge);
	return fflush(stdout) ? 1 : 0;
}
#endif
