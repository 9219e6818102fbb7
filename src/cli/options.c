/* Options: parsed, explained and dumped from the tables of verbs.c; see cli.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"

/* ---- parsing ---------------------------------------------------------------------- */

static const struct dw_option *find_long(const struct dw_verb *verb, const char *name, size_t length)
{
	for (size_t i = 0; i < verb->option_count; i++)
		if (strlen(verb->options[i].name) == length &&
		    strncmp(verb->options[i].name, name, length) == 0)
			return &verb->options[i];
	return NULL;
}

static const struct dw_option *find_letter(const struct dw_verb *verb, char letter)
{
	for (size_t i = 0; i < verb->option_count; i++)
		if (verb->options[i].letter == letter)
			return &verb->options[i];
	return NULL;
}

static void say_unknown(const struct dw_verb *verb, const char *word)
{
	struct dw_nearest nearest;
	char name[64];

	snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < verb->option_count; i++)
		dw_nearest_try(&nearest, verb->options[i].name);
	if (nearest.best)
		dw_say("no option '%s'; did you mean '--%s'? (dwell %s --help lists all)", word, nearest.best,
		       verb->name);
	else
		dw_say("no option '%s' (dwell %s --help lists all)", word, verb->name);
}

/* One option at argv[*at]; moves *at past what it took. */
static int parse_one(const struct dw_verb *verb, int argc, char **argv, int *at,
                     const struct dw_option **option, const char **value)
{
	const char *word = argv[*at], *name = word + 2, *equals = strchr(word, '=');

	*value = NULL;
	if (word[1] == '-') {
		*option = find_long(verb, name, equals ? (size_t)(equals - name) : strlen(name));
		*value = equals ? equals + 1 : NULL;
	} else {
		*option = find_letter(verb, word[1]);
		*value = word[2] ? word + 2 : NULL;
	}
	(*at)++;
	if (!*option) {
		say_unknown(verb, word);
		return -1;
	}
	if (!(*option)->argument && *value) {
		dw_say("--%s takes no value, and '%s' gives one", (*option)->name, word);
		return -1;
	}
	if ((*option)->argument && (*option)->argument[0] != '[' && !*value) {
		if (*at >= argc) {
			dw_say("--%s needs %s (dwell %s --help)", (*option)->name, (*option)->argument, verb->name);
			return -1;
		}
		*value = argv[(*at)++];
	}
	return 0;
}

/* Moves argv[from] to the end of the operands found so far, which end at `to`. */
static void move_operand(char **argv, int from, int to)
{
	char *operand = argv[from];

	for (int i = from; i > to; i--)
		argv[i] = argv[i - 1];
	argv[to] = operand;
}

int dw_options_parse(const struct dw_verb *verb, int argc, char **argv, bool stop_early,
                     int (*take)(void *context, enum dw_option_id id, const char *value),
                     void *context, bool *done)
{
	int at = 0, operands = 0;

	*done = false;
	while (at < argc) {
		const struct dw_option *option;
		const char *value;

		if (strcmp(argv[at], "--") == 0) {
			/* all after it are operands, behind those found before */
			for (at++; at < argc; at++)
				move_operand(argv, at, operands++);
			break;
		}
		if (argv[at][0] != '-' || argv[at][1] == '\0') {
			if (stop_early)
				break;
			move_operand(argv, at++, operands++);
			continue;
		}
		if (parse_one(verb, argc, argv, &at, &option, &value) != 0)
			return -1;
		if (option->id == DW_OPTION_HELP) {
			dw_options_help(verb);
			*done = true;
			return 0;
		}
		if (take(context, option->id, value) != 0)
			return -1;
	}
	if (stop_early && operands == 0)
		for (; at < argc; at++)
			move_operand(argv, at, operands++);
	argv[operands] = NULL;
	return operands;
}

/* ---- explaining -------------------------------------------------------------------- */

static const char *registered(const char *choices, size_t index, const char **what)
{
	return strcmp(choices, "@views") == 0     ? dwell_view_name(index, what)
	       : strcmp(choices, "@layouts") == 0 ? dwell_layout_name(index, what)
	                                          : dwell_export_name(index, what);
}

#define HELP_COLUMN 26
#define HELP_WIDTH 80

/* From column `left` on, broken at blanks. */
static void print_wrapped(const char *text, int column, int left)
{
	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > left && column + 1 + length > HELP_WIDTH) {
			printf("\n%*s", left, "");
			column = left;
		}
		column += printf("%s%.*s", column > left ? " " : "", length, text);
		text += length + strspn(text + length, " ");
	}
	putchar('\n');
}

static void print_option(const struct dw_option *option)
{
	char left[64];
	int at = 0;

	const char *argument = option->argument ? option->argument : "";

	at += snprintf(left, sizeof left, option->letter ? "  -%c, " : "      ", option->letter);
	snprintf(left + at, sizeof left - (size_t)at, "--%s%s%s", option->name,
	         *argument && *argument != '[' ? " " : "", argument);
	printf("%-*s", HELP_COLUMN, left);
	if (strlen(left) + 1 > HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	print_wrapped(option->help, HELP_COLUMN, HELP_COLUMN);
}

/* The names of a registry, each with what it is for. */
static void print_registered(const char *choices)
{
	const char *name, *what = "";
	size_t widest = 0;

	for (size_t n = 0; (name = registered(choices, n, &what)); n++)
		widest = strlen(name) > widest ? strlen(name) : widest;
	for (size_t n = 0; (name = registered(choices, n, &what)); n++) {
		int column = printf("  %-*s  ", (int)widest, name);

		print_wrapped(what, column, column);
	}
}

void dw_options_help(const struct dw_verb *verb)
{
	printf("dwell %s: %s\n\nUsage: dwell %s [OPTION...] %s\n\n", verb->name, verb->summary, verb->name,
	       verb->operands);
	for (size_t i = 0; i < verb->option_count; i++)
		print_option(&verb->options[i]);
	for (size_t i = 0; i < verb->option_count; i++) {
		const struct dw_option *option = &verb->options[i];

		if (!option->choices)
			continue;
		printf("\n--%s%s%s:\n", option->name, option->argument[0] == '[' ? "" : " ", option->argument);
		if (option->choices[0] == '@')
			print_registered(option->choices);
		else
			printf("  %s\n", option->choices);
	}
}

void dw_options_usage(void)
{
	printf("dwell: where a neural network's training time and memory go\n\n"
	       "  dwell COMMAND...          run a program and show the overview\n");
	for (size_t i = 0; i < dw_verb_count; i++) {
		char usage[64];

		snprintf(usage, sizeof usage, "dwell %s %s", dw_verbs[i].name,
		         i == 0 ? "COMMAND..." : dw_verbs[i].operands);
		printf("  %-25s %s\n", usage, dw_verbs[i].summary);
	}
	printf("\n  dwell help VERB           the options of a verb (or dwell VERB --help)\n"
	       "  dwell --version\n");
}

static void dump_option(const char *verb, const struct dw_option *option)
{
	char letter[3] = { '-', option->letter, '\0' };
	const char *name;

	printf("option\t%s\t--%s\t%s\t%s\t%s\t", verb, option->name, option->letter ? letter : "",
	       option->argument ? option->argument : "", option->help);
	if (option->choices && option->choices[0] == '@')
		for (size_t n = 0; (name = registered(option->choices, n, NULL)); n++)
			printf("%s%s", n ? "," : "", name);
	else if (option->choices)
		for (const char *c = option->choices; *c; c++)
			putchar(*c == ' ' ? ',' : *c);
	printf("\n");
}

void dw_options_dump(void)
{
	static const struct dw_option own[] = {
		{ DW_OPTION_HELP, "help", 'h', NULL, "show this help and exit", NULL },
		{ DW_OPTION_VERSION, "version", 0, NULL, "print the version and exit", NULL },
	};

	for (size_t v = 0; v < dw_verb_count; v++) {
		printf("verb\t%s\t%s\n", dw_verbs[v].name, dw_verbs[v].summary);
		for (size_t i = 0; i < dw_verbs[v].option_count; i++)
			dump_option(dw_verbs[v].name, &dw_verbs[v].options[i]);
	}
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		dump_option("", &own[i]);
}

/* ---- values ------------------------------------------------------------------------ */

static bool parse_number(const char *text, const char **end, uint64_t *value)
{
	char *stop;

	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &stop, 10);
	*end = stop;
	return errno == 0;
}

bool dw_parse_steps(const char *text, uint64_t *from, uint64_t *to)
{
	const char *at = text;
	bool good = true;

	*from = 0;
	*to = UINT64_MAX;
	if (strncmp(at, "..", 2) != 0)
		good = parse_number(at, &at, from);
	if (good && *at == '\0') {
		*to = *from;
		return true;
	}
	good = good && strncmp(at, "..", 2) == 0;
	if (good && at[2])
		good = parse_number(at + 2, &at, to) && *at == '\0';
	if (!good)
		dw_say("'%s' is not a range of steps: write A..B, A.. or ..B, counted from 0", text);
	else if (*from > *to)
		dw_say("steps %s: the first is past the last", text);
	return good && *from <= *to;
}

bool dw_parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *end, *unit;
	unsigned shift = 0;

	if (parse_number(text, &end, bytes) && *bytes) {
		unit = *end ? strchr(units, *end & ~0x20) : NULL;
		if (unit && *unit) {
			shift = 10 * (unsigned)(unit - units + 1);
			end++;
			if (*end == 'i')
				end++;
		}
		if ((*end & ~0x20) == 'B')
			end++;
		if (*end == '\0' && *bytes <= UINT64_MAX >> shift) {
			*bytes <<= shift;
			return true;
		}
	}
	dw_say("'%s' is not a size: write 512M or 8G", text);
	return false;
}

bool dw_parse_keep(const char *text, enum dwell_keep *keep)
{
	static const char *const names[] = { "both", "oldest", "newest" };

	for (int i = 0; i < 3; i++)
		if (strcmp(text, names[i]) == 0) {
			*keep = (enum dwell_keep)i;
			return true;
		}
	dw_say("--keep takes both, oldest or newest, not '%s'", text);
	return false;
}

bool dw_parse_schedule(const char *text, struct dwell_schedule *schedule)
{
	const struct { const char *name; uint32_t *field; } fields[] = {
		{ "skip=", &schedule->skip_first },     { "wait=", &schedule->wait },
		{ "warmup=", &schedule->warmup },       { "active=", &schedule->active },
		{ "repeat=", &schedule->repeat },
	};
	const char *at = text;

	while (*at) {
		size_t f = 0;
		uint64_t value;

		while (f < 5 && strncmp(at, fields[f].name, strlen(fields[f].name)) != 0)
			f++;
		if (f == 5 || !parse_number(at + strlen(fields[f].name), &at, &value) || value > UINT32_MAX ||
		    (*at && *at != ',')) {
			dw_say("'%s' is not a schedule: write skip=N,wait=N,warmup=N,active=N,repeat=N", text);
			return false;
		}
		*fields[f].field = (uint32_t)value;
		at += *at == ',';
	}
	if (!schedule->active)
		dw_say("the schedule '%s' would never record: give active=N, at least 1", text);
	return schedule->active > 0;
}
