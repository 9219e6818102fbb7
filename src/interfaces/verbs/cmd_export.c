/* dwell export: converts a trace to the format of another tool. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "program/installed.h"
#include "say/logdir.h"
#include "say/output.h"
#include "trace/trace.h"

struct request {
	const char *format, *output;
	struct dwell_scope scope;
	struct dwell_export_options options;
};

static int export_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct request *request = context;

	switch (option->id) {
	case DW_OPTION_FORMAT: request->format = value; return 0;
	case DW_OPTION_OUTPUT: request->output = value; return 0;
	case DW_OPTION_METRIC: request->options.metric = value; return 0;
	case DW_OPTION_NAME: request->options.named = value; return 0;
	case DW_OPTION_MIN_DURATION: request->options.min_duration = value; return 0;
	case DW_OPTION_TITLE: request->options.title = value; return 0;
	default: return dw_take_scope(&request->scope, option, value);
	}
}

static bool export_check_format(const struct request *request)
{
	struct dw_nearest nearest;
	char all[512] = "";
	const char *name;
	size_t length = 0;

	if (!request->format) {
		dw_say("no format is given: --format NAME (dwell export --help lists all)");
		return false;
	}
	for (size_t i = 0; (name = dwell_export_name(i, NULL)); i++)
		if (strcmp(name, request->format) == 0)
			return true;
	dw_nearest_init(&nearest, request->format);
	for (size_t i = 0; (name = dwell_export_name(i, NULL)); i++)
		dw_nearest_try(&nearest, name);
	for (size_t i = 0; (name = dwell_export_name(i, NULL)) && length < sizeof all; i++)
		length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", name);
	dw_say("no format '%s'%s There are: %s", request->format, nearest.best ? dw_nearest_question(&nearest).at : ".", all);
	return false;
}

/* If the output is a folder, chooses FOLDER/plugins/profile/TRACE/HOST.xplane.pb and prints it. */
static bool export_place_in_logdir(struct request *request, const char *trace_path, struct dwell_trace *trace,
                                   char path[DW_LOGDIR_PATH])
{
	const struct dw_source *source = dw_trace_source(trace);
	const char *slash = strrchr(trace_path, '/');
	char profiles[DW_LOGDIR_PATH], run[256], host[72] = "", *end;

	if (strcmp(request->format, "xplane") != 0 || !dw_is_logdir(request->output))
		return true;
	snprintf(run, sizeof run, "%s", slash ? slash + 1 : trace_path);
	for (size_t i = 0; i < 2; i++) {
		end = strstr(run, i ? ".xplane.pb" : ".dwell");
		if (end && end != run)
			*end = '\0';
	}
	if (source->file_count && source->files[0].head)
		snprintf(host, sizeof host, "%.64s", source->files[0].head->hostname);
	if (!dw_logdir_profiles(request->output, profiles) || !dw_logdir_path(profiles, run, host, path))
		return false;
	request->output = path;
	end = strrchr(path, '/');
	*end = '\0';
	if (!dw_logdir_make(path))
		return false;
	*end = '/';
	dw_say("%s", path);
	return true;
}

/* Lets Python find the package that lies with this command. */
static void export_show_package(void)
{
	const char *others = getenv("PYTHONPATH");
	char path[4096], *paths;

	if (!dw_installed_find(DW_INSTALLED_FRAMES, path))
		return;
	for (int i = 0; i < 2; i++) /* the folder of dwell/frames.py */
		*strrchr(path, '/') = '\0';
	if (asprintf(&paths, "%s%s%s", path, others ? ":" : "", others ? others : "") >= 0)
		setenv("PYTHONPATH", paths, 1);
}

/* The words of a command of Python that writes a folder of this scope. False: out of memory. */
static bool export_make_command(const struct request *request, const char *path, char *argv[13])
{
	const struct dwell_scope *scope = &request->scope;
	const struct { const char *name, *text; } texts[] = { { "thread", scope->thread }, { "profile", scope->profile },
		                                                  { "action", scope->action } };
	const struct { const char *name; uint64_t value; bool given; } numbers[] = {
		{ "steps_from", scope->steps_from, scope->has_steps }, { "steps_to", scope->steps_to, scope->has_steps },
		{ "from_ns", scope->from_ns, scope->has_time }, { "to_ns", scope->to_ns, scope->has_time } };
	const char *first[] = { "python3", "-m", "dwell.frames", path, request->output };
	size_t count = 0;
	bool good = true;

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		good &= (argv[count++] = strdup(first[i])) != NULL;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].text)
			good &= asprintf(&argv[count++], "%s=%s", texts[i].name, texts[i].text) >= 0;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i].given)
			good &= asprintf(&argv[count++], "%s=%" PRIu64, numbers[i].name, numbers[i].value) >= 0;
	argv[count] = NULL;
	return good;
}

/* Has Python write the folder of a format that its library knows, in this process's place. */
static int export_by_python(const struct request *request, const char *path)
{
	char *argv[13];

	if (!request->output || request->options.named || request->options.min_duration || request->options.metric) {
		dw_say("%s", request->output ? "parquet has all rows: it takes no --name, --min-duration and --metric"
		                             : "parquet is a folder of files: name it with -o FOLDER");
		return DW_EXIT_USAGE;
	}
	export_show_package();
	if (export_make_command(request, path, argv))
		execvp(argv[0], argv);
	dw_say("python3 cannot be run (%s): parquet needs Python with pyarrow (pip install pyarrow); --format sqlite needs neither",
	       strerror(errno));
	return DW_EXIT_BAD_INPUT;
}

int dw_cmd_export(const struct dw_verb *verb, int argc, char **argv)
{
	struct request request = { .scope.size = sizeof request.scope,
		                       .options.size = sizeof request.options };
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	size_t operands = dw_options_take(verb, argc, argv, export_take_option, &request);
	char laid_out[DW_LOGDIR_PATH];
	const char *path;
	int code = export_check_format(&request) ? dw_take_trace(verb, argv, operands, &path) : DW_EXIT_USAGE;

	if (code)
		return code;
	if (strcmp(request.format, "parquet") == 0)
		return export_by_python(&request, path);
	code = dw_open_traces(&trace, &path, 1, &request.scope);
	if (code)
		return code;
	if (!export_place_in_logdir(&request, path, trace, laid_out)) {
		dwell_trace_close(trace);
		return DW_EXIT_BAD_INPUT;
	}
	code = dwell_trace_export(trace, request.format, request.output, &request.options, &error);
	dw_say_progress(NULL);
	dwell_trace_close(trace);
	if (!request.output)
		return dw_output_status(stdout, code, &error);
	return code ? dw_say_error(&error, code) : 0;
}
