/* main: finds the verb. If the first word is no verb, it is a program to run. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/stack.h"
#include "program/executable.h"
#include "program/script.h"

/* `dwell help` and `dwell help VERB`. */
static int main_print_help(const char *name)
{
	const struct dw_verb *verb = name ? dw_verb_find(name) : NULL;
	struct dw_nearest nearest;

	if (!name) {
		dw_options_usage(dw_verbs, dw_verb_count);
		return 0;
	}
	if (verb) {
		dw_options_help(verb);
		return 0;
	}
	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < dw_verb_count; i++)
		dw_nearest_try(&nearest, dw_verbs[i].name);
	dw_say("no verb '%s'%s (dwell --help lists all)", name, dw_nearest_question(&nearest).at);
	return DW_EXIT_USAGE;
}

/* Other profilers have these words as verbs, and programs with the same names exist. A user who
 * types one of them does not want to record that program. */
static bool main_is_other_verb(const char *word)
{
	static const struct {
		const char *word, *instead; /* instead: dwell's verb for the same purpose, or NULL */
	} others[] = {
		{ "annotate", "report" }, { "attach", NULL }, { "compare", "diff" }, { "list", "info" }, { "ls", "info" },
		{ "merge", "report" }, { "record", "run" }, { "script", "export" }, { "show", "report" }, { "stat", "report" },
		{ "stats", "report" }, { "version", NULL },
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (strcmp(word, others[i].word) != 0 || access(word, F_OK) == 0)
			continue;
		if (others[i].instead)
			dw_say("no verb '%s'; did you mean 'dwell %s'? To run a program of this name: dwell run -- %s",
			       word, others[i].instead, word);
		else
			dw_say("no verb '%s' (dwell --help lists all). To run a program of this name: dwell run -- %s", word, word);
		return true;
	}
	return false;
}

/* Whether the word is similar to a verb and is not the name of a program. */
static bool main_is_mistyped_verb(const char *word)
{
	struct dw_nearest nearest;
	char path[4096];

	if (strchr(word, '/') || dw_script_is(word))
		return false;
	if (main_is_other_verb(word))
		return true;
	dw_nearest_init(&nearest, word);
	for (size_t i = 0; i < dw_verb_count; i++)
		dw_nearest_try(&nearest, dw_verbs[i].name);
	if (!nearest.best)
		return false;
	if (dw_executable_search(word, path))
		return false;
	dw_say("'%s' is neither a verb nor a program; did you mean 'dwell %s'?", word, nearest.best);
	return true;
}

/* Whether the word is a trace: `dwell train.dwell` prints a report. */
static bool main_is_trace(const char *word)
{
	size_t length = strlen(word);
	struct stat status;

	if (length <= 6 || strcmp(word + length - 6, ".dwell") != 0 || stat(word, &status) != 0)
		return false;
	dw_say("%s is a trace; did you mean 'dwell report %s'?", word, word);
	return true;
}

static int main_run(int argc, char **argv)
{
	const struct dw_verb *verb;

	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		if (argc < 2)
			dup2(STDERR_FILENO, STDOUT_FILENO); /* without arguments the help is printed as a usage
			                                     * error */
		dw_options_usage(dw_verbs, dw_verb_count);
		return argc < 2 ? DW_EXIT_USAGE : 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("dwell %s\n", dwell_version());
		if (argc > 2 && strcmp(argv[2], "--verbose") == 0)
			fputs(dw_optional_parts, stdout);
		return 0;
	}
	if (strcmp(argv[1], "--dump-verbs") == 0) {
		dw_options_dump(dw_verbs, dw_verb_count);
		return 0;
	}
	if (argv[1][0] == '-' && strcmp(argv[1], "--") != 0) {
		dw_options_say_unknown(NULL, argv[1]);
		return DW_EXIT_USAGE;
	}
	if (strcmp(argv[1], "help") == 0)
		return main_print_help(argv[2]);
	verb = dw_verb_find(argv[1]);
	if (verb && verb->run == dw_cmd_run)
		return verb->run(verb, argc - 2, argv + 2); /* the program's status */
	if (verb)
		return dw_memory_status(verb->run(verb, argc - 2, argv + 2));
	if (main_is_mistyped_verb(argv[1]) || main_is_trace(argv[1]))
		return DW_EXIT_USAGE;
	return dw_run_command(argv + 1 + (strcmp(argv[1], "--") == 0));
}

int main(int argc, char **argv)
{
	return dw_on_large_stack(main_run, argc, argv);
}
