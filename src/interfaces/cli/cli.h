/*
 * The command: verbs and their options.
 *
 * Verbs and options are data (verbs.c): parsing, --help, the man pages and the
 * shell completions come from the same tables (`dwell --dump-verbs` prints them).
 */
#pragma once

#include "say/say.h"

struct dw_renderer;

/* Options by their meaning. An option has the same meaning in all verbs. */
enum dw_option_id {
	DW_OPTION_OUTPUT, DW_OPTION_MAX_SIZE, DW_OPTION_KEEP, DW_OPTION_STEPS, DW_OPTION_STEP_ON, DW_OPTION_SCHEDULE,
	DW_OPTION_SHAPES, DW_OPTION_STACKS, DW_OPTION_FUNCTIONS, DW_OPTION_FLOPS, DW_OPTION_MEMORY,
	DW_OPTION_NO_MEMORY, DW_OPTION_NO_ITT, DW_OPTION_NO_NVTX, DW_OPTION_NO_CUDA, DW_OPTION_CUDA, DW_OPTION_NO_MPI,
	DW_OPTION_SAMPLE, DW_OPTION_NO_GGML, DW_OPTION_NO_ONNX, DW_OPTION_COUNTERS, DW_OPTION_VIEW, DW_OPTION_LAYOUT,
	DW_OPTION_VIEW_FIELD, DW_OPTION_FORMAT, DW_OPTION_THREAD, DW_OPTION_PROFILE, DW_OPTION_ACTION,
	DW_OPTION_SUMMARY, DW_OPTION_TIME, DW_OPTION_TEXTS, DW_OPTION_METRIC, DW_OPTION_NAME, DW_OPTION_MIN_DURATION,
	DW_OPTION_TITLE, DW_OPTION_LAYERS, DW_OPTION_SERVE, DW_OPTION_PORT, DW_OPTION_HOST, DW_OPTION_DURATION,
	DW_OPTION_DELAY, DW_OPTION_INHERITED, DW_OPTION_MPI, DW_OPTION_SUMMARY_EVERY, DW_OPTION_GATHER, DW_OPTION_COST,
	DW_OPTION_FAIL_ON, DW_OPTION_ACCEPT, DW_OPTION_BY, DW_OPTION_NO_BROWSER, DW_OPTION_EVERY, DW_OPTION_LAST,
	DW_OPTION_ONCE, DW_OPTION_FOR, DW_OPTION_ALL, DW_OPTION_ON, DW_OPTION_METRICS, DW_OPTION_PACK, DW_OPTION_RANKS,
	DW_OPTION_ANSWER, DW_OPTION_ALWAYS, DW_OPTION_SLOW_STEPS, DW_OPTION_HELP, DW_OPTION_VERSION,
};

/* The field of struct dwell_view_options that an option sets. */
struct dw_option_field {
	enum dw_option_kind { DW_OPTION_TEXT, DW_OPTION_FLAG, DW_OPTION_ROWS, DW_OPTION_NUMBER } kind;
	size_t offset;     /* of the field */
	size_t has_offset; /* of a NUMBER's has_ field */
};

/* A row without a name is a heading in --help: its `help` is printed. */
struct dw_option {
	enum dw_option_id id;
	const char *name;     /* "steps" for --steps */
	char letter;          /* 'o' for -o, or 0 */
	const char *argument; /* "FILE"; "[=WHICH]" if it is optional; NULL if there is none */
	const char *help;
	const char *choices;          /* the only values, as "both oldest newest"; "@views", "@layouts",
	                               * "@renderers", "@exports": the names of a registry; or NULL */
	struct dw_option_field field; /* of DW_OPTION_VIEW_FIELD */
	bool internal;                /* for dwell itself: no help names it */
};

struct dw_verb {
	const char *name;
	const char *summary;
	const char *operands; /* "[TRACE...]" */
	const struct dw_option *options;
	size_t option_count;
	int (*run)(const struct dw_verb *verb, int argc, char **argv);
	const char *group;    /* the heading above it in dwell --help; NULL: it is in the group of the verb before it */
	const char *examples; /* lines */
};

extern const struct dw_verb dw_verbs[];
extern const size_t dw_verb_count;
extern const char dw_optional_parts[];
const struct dw_verb *dw_verb_find(const char *name);

/*
 * Calls `take` for each option and moves the operands to the start of argv, which ends with NULL.
 * Returns the number of operands, or -1 after an error message. Values of options with choices are
 * checked, except if they come from a registry. Without --format, the name of a file to write says
 * which: -o x.html is HTML. --help prints the help and sets *done. With
 * `stop_early` nothing after the first operand is parsed; otherwise options and operands may be
 * mixed.
 */
int dw_options_parse(const struct dw_verb *verb, int argc, char **argv, bool stop_early,
                     int (*take)(void *context, const struct dw_option *option, const char *value),
                     void *context, bool *done);
/* The same for operands and options that are mixed: --help and errors end the process. */
size_t dw_options_take(const struct dw_verb *verb, int argc, char **argv,
                       int (*take)(void *context, const struct dw_option *option, const char *value), void *context);
/* Options that several verbs have. Each returns 0, or -1 after an error message. */
int dw_take_renderer(const struct dw_renderer **renderer, const char *value);
int dw_take_port(unsigned *port, const char *value);
/* Sets the field of an option DW_OPTION_VIEW_FIELD; -1 after an error message. */
int dw_option_set_field(struct dwell_view_options *options, const struct dw_option *option, const char *value);
void dw_options_help(const struct dw_verb *verb);
/* Says that a verb, or with NULL the command without one, has no such option, and which verbs have it. */
void dw_options_say_unknown(const struct dw_verb *verb, const char *word);
void dw_options_dump(const struct dw_verb *verbs, size_t count);
void dw_options_usage(const struct dw_verb *verbs, size_t count);

/* Parses "A..B", "A..", "..B" or "A". Returns false after an error message. */
bool dw_parse_steps(const char *text, uint64_t *from, uint64_t *to);
/* Parses "1.5s..2s", "1.5s.." or "..2s". Returns false after an error message. */
bool dw_parse_span(const char *text, uint64_t *from_ns, uint64_t *to_ns);
/* Parses "512K", "64M" or "2G". */
bool dw_parse_size(const char *text, uint64_t *bytes);
/* Parses "skip=10,wait=5,warmup=1,active=3,repeat=2". */
bool dw_parse_schedule(const char *text, struct dwell_schedule *schedule);
/* Parses "500ms", "2s" or "1m", of at most an hour and at least `least` ms. */
bool dw_parse_time(const char *option, const char *text, uint64_t least, uint64_t *ms);
bool dw_parse_keep(const char *text, enum dwell_keep *keep);

/* Opens traces, and says while it does so and how they are. Returns 0, or an exit status after an error message. */
int dw_open_traces(struct dwell_trace **trace, const char *const *paths, size_t count, const struct dwell_scope *scope);
/* Handles an option of the scope. Returns 0 for any other option, -1 after an error message. */
int dw_take_scope(struct dwell_scope *scope, const struct dw_option *option, const char *value);

/* The newest *.dwell of the current folder, which is named on stderr; NULL after an error message if there is none. */
const char *dw_newest_trace(void);
/* The only operand, or the newest trace. Returns 0, or an exit status after an error message. */
int dw_take_trace(const struct dw_verb *verb, char **operands, size_t count, const char **path);

/* Prints the overview of a finished run to stderr, because stdout belongs to the program. */
void dw_report_after_run(const char *trace);
/* Replaces the trace of a finished run, with the other files of its run, by the stored form. Says what failed. */
void dw_pack_after_run(const char *trace);

typedef int dw_command(const struct dw_verb *verb, int argc, char **argv);
dw_command dw_cmd_run, dw_cmd_report, dw_cmd_export, dw_cmd_serve, dw_cmd_capture, dw_cmd_import, dw_cmd_summarize,
    dw_cmd_ranks, dw_cmd_diff, dw_cmd_query, dw_cmd_top, dw_cmd_watch, dw_cmd_attach, dw_cmd_stacks, dw_cmd_view,
    dw_cmd_pack, dw_cmd_info, dw_cmd_mcp;
/* `dwell COMMAND...`: runs the command, then prints the overview. */
int dw_run_command(char **command);
