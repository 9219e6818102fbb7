/* Shared parts of the verbs that read traces: choosing the trace and its scope. */
#include <glob.h>
#include <sys/stat.h>

#include "cli/cli.h"

const char *dw_newest_trace(void)
{
	static char path[4096];
	struct timespec newest = { 0, 0 };
	glob_t found;
	bool any = false;

	if (glob("*.dwell", 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			struct stat status;

			if (stat(found.gl_pathv[i], &status) != 0 || !S_ISREG(status.st_mode))
				continue;
			if (any && (status.st_mtim.tv_sec < newest.tv_sec || (status.st_mtim.tv_sec == newest.tv_sec &&
			                                                      status.st_mtim.tv_nsec <= newest.tv_nsec)))
				continue;
			newest = status.st_mtim;
			any = snprintf(path, sizeof path, "%s", found.gl_pathv[i]) < (int)sizeof path;
		}
	globfree(&found);
	if (any)
		dw_say("%s is the newest trace here", path);
	else
		dw_say("no trace is given, and this folder has no *.dwell");
	return any ? path : NULL;
}

int dw_take_trace(const struct dw_verb *verb, char **operands, size_t count, const char **path)
{
	if (count > 1) {
		dw_say("several traces are given; %s takes one", verb->name);
		return DW_EXIT_USAGE;
	}
	*path = count ? operands[0] : dw_newest_trace();
	return *path ? 0 : DW_EXIT_BAD_INPUT;
}

int dw_take_scope(struct dwell_scope *scope, const struct dw_option *option, const char *value)
{
	switch (option->id) {
	case DW_OPTION_STEPS:
		scope->has_steps = true;
		return dw_parse_steps(value, &scope->steps_from, &scope->steps_to) ? 0 : -1;
	case DW_OPTION_TIME:
		scope->has_time = true;
		return dw_parse_span(value, &scope->from_ns, &scope->to_ns) ? 0 : -1;
	case DW_OPTION_PROFILE: scope->profile = value; return 0;
	case DW_OPTION_ACTION: scope->action = value; return 0;
	case DW_OPTION_THREAD: scope->thread = value; return 0;
	default: return 0;
	}
}

int dw_open_traces(struct dwell_trace **trace, const char *const *paths, size_t count, const struct dwell_scope *scope)
{
	struct dwell_error error = { 0, "" };
	int code;

	dw_say_progress(paths[0]);
	code = dwell_trace_open(trace, paths, count, scope, &error);
	if (!code) {
		dw_say_state(*trace);
		return 0;
	}
	dw_say_progress(NULL);
	return dw_say_error(&error, code);
}
