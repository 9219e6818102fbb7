/* Options: parsing, help and dump, from the tables of verbs.c; see cli.h. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/cli.h"
#include "render/render.h"
#include "views/views.h"

/* ---- parsing ---------------------------------------------------------------------- */

static const struct dw_option *option_find_long(const struct dw_verb *verb, const char *name, size_t length)
{
	for (size_t i = 0; i < verb->option_count; i++)
		if (verb->options[i].name && strlen(verb->options[i].name) == length &&
		    strncmp(verb->options[i].name, name, length) == 0)
			return &verb->options[i];
	return NULL;
}

static const struct dw_option *option_find_letter(const struct dw_verb *verb, char letter)
{
	for (size_t i = 0; i < verb->option_count; i++)
		if (letter && verb->options[i].letter == letter)
			return &verb->options[i];
	return NULL;
}

/* The option that a word names, as "--output=x", "-o" or "-ox"; NULL: the verb has none of this name. */
static const struct dw_option *option_find(const struct dw_verb *verb, const char *word)
{
	return word[1] == '-' ? option_find_long(verb, word + 2, strcspn(word + 2, "="))
	                      : option_find_letter(verb, word[1]);
}

/* Writes "dwell run, dwell report or dwell export": the first verbs with this option. */
static void option_list_verbs(const char *word, char *text, size_t size)
{
	const char *names[3];
	size_t count = 0, used = 0;

	for (size_t i = 0; i < dw_verb_count && count < sizeof names / sizeof *names; i++)
		if (option_find(&dw_verbs[i], word))
			names[count++] = dw_verbs[i].name;
	text[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%sdwell %s",
		                         !i ? "" : i + 1 == count ? " or " : ", ", names[i]);
}

void dw_options_say_unknown(const struct dw_verb *verb, const char *word)
{
	const struct dw_verb *tried = verb ? verb : dw_verb_find("run");
	const char *of = verb ? verb->name : "", *gap = verb ? " " : "";
	static const char *const commands[] = { "help", "version" }; /* options of the command itself */
	struct dw_nearest nearest;
	char name[64], others[256];
	bool command;

	snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	dw_nearest_init(&nearest, name);
	for (size_t i = 0; !verb && i < sizeof commands / sizeof *commands; i++)
		dw_nearest_try(&nearest, commands[i]);
	command = nearest.best != NULL;
	for (size_t i = 0; !command && i < tried->option_count; i++)
		if (tried->options[i].name)
			dw_nearest_try(&nearest, tried->options[i].name);
	option_list_verbs(word, others, sizeof others);
	if (!verb && option_find(tried, word))
		dw_say("no option '%s' without a verb; to record a program with it: dwell run %s ... -- PROGRAM", word, word);
	else if (others[0])
		dw_say("no option '%s' (dwell%s%s --help); it is one of %s", word, gap, of, others);
	else if (nearest.best)
		dw_say("no option '%s'; did you mean '%s--%s'? (dwell%s%s --help lists all)", word,
		       verb ? "" : command ? "dwell " : "dwell run ", nearest.best, gap, of);
	else
		dw_say("no option '%s' (dwell%s%s --help%s)", word, gap, of, verb ? " lists all" : "");
}

/* Writes "both, oldest or newest" for the choices "both oldest newest". */
static const char *option_list_choices(const char *choices, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t length; *choices && used < size; choices += length + (choices[length] == ' ')) {
		const char *last = strrchr(choices, ' ');
		const char *comma = !used ? "" : last ? ", " : " or ";

		length = strcspn(choices, " ");
		used += (size_t)snprintf(text + used, size - used, "%s%.*s", comma, (int)length, choices);
	}
	return text;
}

/* Returns false, after an error message, if `value` is not one of the option's choices. */
static bool option_check_choice(const struct dw_option *option, const char *value)
{
	const char *at = option->choices;
	char all[256];

	if (!at || *at == '@' || !value)
		return true;
	for (size_t length; *at; at += length + (at[length] == ' ')) {
		length = strcspn(at, " ");
		if (strlen(value) == length && strncmp(value, at, length) == 0)
			return true;
	}
	dw_say("--%s takes %s, not '%s'", option->name, option_list_choices(option->choices, all, sizeof all), value);
	return false;
}

/* Reads the option at argv[*at] and moves *at past it and its value. */
static int option_parse_one(const struct dw_verb *verb, int argc, char **argv, int *at,
                            const struct dw_option **option, const char **value)
{
	const char *word = argv[*at], *equals = strchr(word, '=');

	*option = option_find(verb, word);
	if (word[1] == '-')
		*value = equals ? equals + 1 : NULL;
	else
		*value = word[2] ? word + 2 : NULL;
	(*at)++;
	if (!*option) {
		dw_options_say_unknown(verb, word);
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
	return option_check_choice(*option, *value) ? 0 : -1;
}

/* Moves argv[from] to the end of the operands found so far, which end at `to`. */
static void option_move_operand(char **argv, int from, int to)
{
	char *operand = argv[from];

	for (int i = from; i > to; i--)
		argv[i] = argv[i - 1];
	argv[to] = operand;
}

/* Without --format, the end of the file's name says how to write it. Returns -1 after an error message. */
static int option_take_suffix(const struct dw_verb *verb, const char *file,
                              int (*take)(void *context, const struct dw_option *option, const char *value), void *context)
{
	static const char *const suffixes[][2] = { { ".html", "html" }, { ".htm", "html" }, { ".csv", "csv" }, { ".json", "json" },
		{ ".md", "md" }, { ".svg", "svg" } };
	const struct dw_option *format = option_find(verb, "--format");
	const char *suffix = strrchr(file, '.');

	for (size_t i = 0; format && format->choices && strcmp(format->choices, "@renderers") == 0 && suffix &&
	     i < sizeof suffixes / sizeof *suffixes; i++)
		if (strcasecmp(suffix, suffixes[i][0]) == 0)
			return take(context, format, suffixes[i][1]);
	if (format && format->choices && strcmp(format->choices, "@renderers") == 0 && suffix && suffix != file &&
	    !strchr(suffix, '/') && strcasecmp(suffix, ".txt") != 0)
		dw_say("%s: no format has the ending %s, so it is text (--format has the others)", file, suffix);
	return 0;
}

int dw_options_parse(const struct dw_verb *verb, int argc, char **argv, bool stop_early,
                     int (*take)(void *context, const struct dw_option *option, const char *value),
                     void *context, bool *done)
{
	const char *file = NULL;
	int at = 0, operands = 0;
	bool formatted = false;

	*done = false;
	while (at < argc) {
		const struct dw_option *option;
		const char *value;

		if (strcmp(argv[at], "--") == 0) {
			/* all words after "--" are operands and follow those found before */
			for (at++; at < argc; at++)
				option_move_operand(argv, at, operands++);
			break;
		}
		if (argv[at][0] != '-' || argv[at][1] == '\0') {
			if (stop_early)
				break;
			option_move_operand(argv, at++, operands++);
			continue;
		}
		if (option_parse_one(verb, argc, argv, &at, &option, &value) != 0)
			return -1;
		if (option->id == DW_OPTION_HELP) {
			dw_options_help(verb);
			*done = true;
			return 0;
		}
		if (take(context, option, value) != 0)
			return -1;
		formatted |= option->id == DW_OPTION_FORMAT;
		file = option->id == DW_OPTION_OUTPUT ? value : file;
	}
	if (file && !formatted && option_take_suffix(verb, file, take, context) != 0)
		return -1;
	if (stop_early && operands == 0)
		for (; at < argc; at++)
			option_move_operand(argv, at, operands++);
	argv[operands] = NULL;
	return operands;
}

size_t dw_options_take(const struct dw_verb *verb, int argc, char **argv,
                       int (*take)(void *context, const struct dw_option *option, const char *value), void *context)
{
	bool done;
	int operands = dw_options_parse(verb, argc, argv, false, take, context, &done);

	if (done || operands < 0)
		exit(done ? 0 : DW_EXIT_USAGE);
	return (size_t)operands;
}

/* ---- help -------------------------------------------------------------------------- */

static const char *option_renderer_name(size_t index, const char **what)
{
	const struct dw_renderer *renderer = dw_renderer_at(index);

	if (renderer && what)
		*what = renderer->what;
	return renderer ? renderer->name : NULL;
}

/* Returns the name at `index` of the registry that `choices` names, and its description in
 * *what. */
static const char *option_registered(const char *choices, size_t index, const char **what)
{
	static const struct {
		const char *choices;
		const char *(*name)(size_t index, const char **what);
	} registries[] = {
		{ "@views", dwell_view_name },
		{ "@layouts", dwell_layout_name },
		{ "@renderers", option_renderer_name },
		{ "@exports", dwell_export_name },
	};

	for (size_t i = 0; i < sizeof registries / sizeof *registries; i++)
		if (strcmp(registries[i].choices, choices) == 0)
			return registries[i].name(index, what);
	return NULL;
}

#define HELP_COLUMN 26
#define HELP_WIDEST 100 /* longer lines are hard to read */

/* The terminal's width, or 80. */
static int option_help_width(void)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > HELP_COLUMN + 20;

	return !known ? 80 : size.ws_col < HELP_WIDEST ? size.ws_col : HELP_WIDEST;
}

/* Prints from column `left` on and breaks lines at blanks. */
static void option_print_wrapped(const char *text, int column, int left)
{
	int width = option_help_width();

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > left && column + 1 + length > width) {
			printf("\n%*s", left, "");
			column = left;
		}
		column += printf("%s%.*s", column > left ? " " : "", length, text);
		text += length + strspn(text + length, " ");
	}
	putchar('\n');
}

static void option_print_help(const struct dw_option *option)
{
	bool optional = option->argument && option->argument[0] == '[';
	char left[128], argument[48] = "";
	int at = 0;

	if (option->internal)
		return;
	if (!option->name) {
		snprintf(left, sizeof left, "%s:", option->help);
		putchar('\n');
		option_print_wrapped(left, 0, 0);
		return;
	}
	if (option->choices && option->choices[0] != '@')
		snprintf(argument, sizeof argument, optional ? "[=%s]" : " %s", option->choices);
	else if (option->argument)
		snprintf(argument, sizeof argument, optional ? "%s" : " %s", option->argument);
	for (char *blank = argument + 1; *argument && (blank = strchr(blank, ' ')); )
		*blank = '|';
	at += snprintf(left, sizeof left, option->letter ? "  -%c, " : "      ", option->letter);
	snprintf(left + at, sizeof left - (size_t)at, "--%s%s", option->name, argument);
	printf("%-*s", HELP_COLUMN, left);
	if (strlen(left) + 1 > HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	option_print_wrapped(option->help, HELP_COLUMN, HELP_COLUMN);
}

/* Prints the names of a registry, each with its description. */
static void option_print_registered(const char *choices)
{
	const char *name, *what = "";
	size_t widest = 0;

	for (size_t n = 0; (name = option_registered(choices, n, &what)); n++)
		widest = strlen(name) > widest ? strlen(name) : widest;
	for (size_t n = 0; (name = option_registered(choices, n, &what)); n++) {
		int column = printf("  %-*s  ", (int)widest, name);

		option_print_wrapped(what, column, column);
	}
}

static void option_print_examples(const char *lines)
{
	printf("\nExamples:\n");
	for (; *lines; lines += strcspn(lines, "\n") + 1)
		printf("  %.*s\n", (int)strcspn(lines, "\n"), lines);
}

void dw_options_help(const struct dw_verb *verb)
{
	option_print_wrapped(verb->summary, printf("dwell %s:", verb->name), 2);
	printf("\nUsage: dwell %s [OPTION...] %s\n%s", verb->name, verb->operands, verb->options[0].name ? "\n" : "");
	for (size_t i = 0; i < verb->option_count; i++)
		option_print_help(&verb->options[i]);
	for (size_t i = 0; i < verb->option_count; i++) {
		const struct dw_option *option = &verb->options[i];

		if (!option->choices || option->choices[0] != '@')
			continue;
		printf("\n--%s %s:\n", option->name, option->argument);
		option_print_registered(option->choices);
	}
	option_print_examples(verb->examples);
}

void dw_options_usage(const struct dw_verb *verbs, size_t count)
{
	printf("dwell: where a neural network's training time and memory go\n\n"
	       "  dwell COMMAND...      run a program, record it and show the overview\n");
	for (size_t i = 0; i < count; i++) {
		if (verbs[i].group)
			printf("\n%s:\n", verbs[i].group);
		option_print_wrapped(verbs[i].summary, printf("  dwell %-14s  ", verbs[i].name), 24);
	}
	printf("\nMore:\n"
	       "  dwell help VERB       how to use a verb, with examples (or dwell VERB --help)\n"
	       "  dwell --version       the version; with --verbose also what it was built with\n");
	option_print_examples("dwell python train.py              record a script and show the overview\n"
	                      "dwell report --view operators      look at the newest trace of this folder\n"
	                      "dwell view                         the same in a browser\n");
}

static void option_dump(const char *verb, const struct dw_option *option)
{
	char letter[3] = { '-', option->letter, '\0' };
	const char *name;

	printf("option\t%s\t--%s\t%s\t%s\t%s\t", verb, option->name, option->letter ? letter : "",
	       option->argument ? option->argument : "", option->help);
	if (option->choices && option->choices[0] == '@')
		for (size_t n = 0; (name = option_registered(option->choices, n, NULL)); n++)
			printf("%s%s", n ? "," : "", name);
	else if (option->choices)
		for (const char *c = option->choices; *c; c++)
			putchar(*c == ' ' ? ',' : *c);
	printf("\n");
}

void dw_options_dump(const struct dw_verb *verbs, size_t count)
{
	static const struct dw_option own[] = {
		{ DW_OPTION_HELP, "help", 'h', .help = "show this help and exit" },
		{ DW_OPTION_VERSION, "version", .help = "print the version and exit" },
		{ DW_OPTION_VERSION, "verbose", .help = "after --version: list the optional parts, and which this dwell has" },
	};
	const struct dw_view *view;
	const char *name;

	for (size_t v = 0; v < count; v++) {
		printf("verb\t%s\t%s\n", verbs[v].name, verbs[v].summary);
		for (size_t i = 0; i < verbs[v].option_count; i++)
			if (verbs[v].options[i].name && !verbs[v].options[i].internal)
				option_dump(verbs[v].name, &verbs[v].options[i]);
	}
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		option_dump("", &own[i]);
	for (size_t i = 0; (view = dw_view_at(i)); i++) {
		printf("columns\t%s\t", view->name);
		for (size_t n = 0; (name = dw_view_column(view, n)); n++)
			printf("%s%s", n ? "," : "", name);
		printf("\n");
	}
}

/* ---- values ------------------------------------------------------------------------ */

static bool option_parse_number(const char *text, const char **end, uint64_t *value)
{
	char *stop;

	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &stop, 10);
	*end = stop;
	return errno == 0;
}

static int option_set_rows(const struct dw_option *option, const char *value, size_t *rows)
{
	const char *end;
	uint64_t number = 0;

	if (strcmp(value, "all") == 0) {
		*rows = SIZE_MAX;
		return 0;
	}
	if (!option_parse_number(value, &end, &number) || *end || !number) {
		dw_say("--%s takes a number of rows, at least 1, or all; not '%s'", option->name, value);
		return -1;
	}
	*rows = (size_t)number;
	return 0;
}

int dw_option_set_field(struct dwell_view_options *options, const struct dw_option *option, const char *value)
{
	void *field = (char *)options + option->field.offset;
	const char *end;

	switch (option->field.kind) {
	case DW_OPTION_TEXT: *(const char **)field = value; return 0;
	case DW_OPTION_FLAG: *(bool *)field = true; return 0;
	case DW_OPTION_ROWS: return option_set_rows(option, value, field);
	case DW_OPTION_NUMBER: break;
	}
	*(bool *)((char *)options + option->field.has_offset) = true;
	if (option_parse_number(value, &end, field) && !*end)
		return 0;
	dw_say("--%s takes a number, 0 or more; not '%s'", option->name, value);
	return -1;
}

int dw_take_renderer(const struct dw_renderer **renderer, const char *value)
{
	struct dwell_error error = { 0, "" };

	*renderer = dw_renderer_find(value, &error);
	if (!*renderer)
		dw_say_error(&error, error.code);
	return *renderer ? 0 : -1;
}

int dw_take_port(unsigned *port, const char *value)
{
	const char *end = "";
	uint64_t number;

	if (!option_parse_number(value, &end, &number) || *end || number > 65535) {
		dw_say("--port %s: give a number from 0 (any that is free) to 65535", value);
		return -1;
	}
	*port = (unsigned)number;
	return 0;
}

bool dw_parse_steps(const char *text, uint64_t *from, uint64_t *to)
{
	const char *at = text;
	bool good = true;

	*from = 0;
	*to = UINT64_MAX;
	if (strncmp(at, "..", 2) != 0)
		good = option_parse_number(at, &at, from);
	if (good && *at == '\0') {
		*to = *from;
		return true;
	}
	good = good && strncmp(at, "..", 2) == 0;
	if (good && at[2])
		good = option_parse_number(at + 2, &at, to) && *at == '\0';
	if (!good)
		dw_say("'%s' is not a range of steps: write A..B, A.. or ..B, counted from 0", text);
	else if (*from > *to)
		dw_say("steps %s: the first is past the last", text);
	return good && *from <= *to;
}

bool dw_parse_span(const char *text, uint64_t *from_ns, uint64_t *to_ns)
{
	const char *at = text;
	bool good = true;

	*from_ns = 0;
	*to_ns = UINT64_MAX;
	if (strncmp(at, "..", 2) != 0)
		good = dw_text_parse_ns(at, &at, from_ns);
	good = good && strncmp(at, "..", 2) == 0;
	if (good && at[2])
		good = dw_text_parse_ns(at + 2, &at, to_ns) && *at == '\0';
	if (!good)
		dw_say("'%s' is not a range of time: write A..B, A.. or ..B since the start of the run, as "
		       "1.5s..2s or 200ms..", text);
	else if (*from_ns >= *to_ns)
		dw_say("time %s: the end is not after the begin", text);
	return good && *from_ns < *to_ns;
}

bool dw_parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *end, *unit;
	unsigned shift = 0;

	if (option_parse_number(text, &end, bytes) && *bytes) {
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

bool dw_parse_time(const char *option, const char *text, uint64_t least, uint64_t *ms)
{
	static const struct { const char *unit; double ms; } units[] = { { "ms", 1 }, { "s", 1e3 },
		{ "m", 6e4 } };
	char *end, bound[48];
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].unit) == 0 && end != text && value * units[i].ms >= (double)least &&
		    value * units[i].ms <= 3.6e6) {
			*ms = (uint64_t)(value * units[i].ms + 0.5);
			return true;
		}
	snprintf(bound, sizeof bound, "%llums at least and ", (unsigned long long)least);
	dw_say("--%s %s: give a time with its unit, as 500ms, 2s or 1m, of %s60m at most", option, text, least ? bound : "");
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
		if (f == 5 || !option_parse_number(at + strlen(fields[f].name), &at, &value) || value > UINT32_MAX ||
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
