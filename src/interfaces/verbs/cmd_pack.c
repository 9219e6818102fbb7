/* dwell pack and dwell unpack: the stored form of a trace, and the trace of a stored form. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "capture/pack_part.h"
#include "cli/cli.h"
#include "import/import.h"
#include "say/output.h"

struct pack_request {
	const char *output;       /* NULL: replace the trace */
	struct dwell_scope scope; /* the part that is stored: steps, or a time */
};

static int pack_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct pack_request *request = context;

	if (option->id != DW_OPTION_OUTPUT)
		return dw_take_scope(&request->scope, option, value);
	request->output = value;
	return 0;
}

/* Opens a file. *stored: whether it is a stored trace. -1 after a message. */
static int pack_open(const char *path, struct stat *status, bool *stored)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[8];

	if (fd < 0 || fstat(fd, status) != 0) {
		dw_say("cannot open %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*stored = pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic && dw_pack_is(magic, sizeof magic);
	return fd;
}

/* Writes the trace that is stored in `from`. What is damaged is never written over its stored form. */
static int pack_write_trace(int from, uint64_t bytes, const char *path, bool in_place, FILE *to,
                            struct dwell_error *error)
{
	struct dw_arena arena = { .blocks = NULL };
	struct dw_pack_trace trace = { .pack = NULL };
	int code = dw_pack_open(&trace, from, bytes, path, &arena, error);

	if (!code && (trace.torn || trace.note)) {
		dw_say("%s: %s%s", path, trace.note ? trace.note : "it ends in its middle; what lies before is here",
		       in_place ? " (not replaced: name an output, -o FILE)" : "");
		code = in_place ? -1 : 0;
		*error = (struct dwell_error){ 0, "" };
	}
	if (!code)
		code = dw_pack_write_trace(&trace, fileno(to), path, error);
	dw_pack_close(trace.pack);
	dw_arena_reset(&arena);
	return code;
}

/* Writes `path` in the other form to `output`, with the access rights of `path`. NULL: replaces it, and keeps its time,
 * by which the newest trace is found. With a window, stores only this part. Adds the sizes of both. Returns an exit
 * status. */
static int pack_convert(const char *path, const char *output, bool store, struct dw_pack_window *window,
                        uint64_t sizes[2])
{
	struct dwell_error error = { 0, "" };
	char *real = output ? NULL : realpath(path, NULL); /* a link stays */
	char what[DW_FORM_TEXT] = "";
	struct dw_output out;
	struct stat status, written = { .st_size = 0 };
	bool stored;
	int from = pack_open(path, &status, &stored), code;

	if (from >= 0 && (stored == store || (!output && !real))) {
		if (!stored)
			dw_form_of_path(path, what);
		dw_say(!stored  ? "%s is no stored trace%s%s"
		       : window ? "%s is a stored trace: dwell unpack -o FILE first, then a part of that can be stored"
		                : "%s is stored already", path, *what ? ": " : "", what);
		close(from);
		from = -1;
	}
	if (from < 0 || dw_output_open(&out, output ? output : real)) {
		if (from >= 0)
			close(from);
		free(real);
		return DW_EXIT_BAD_INPUT;
	}
	if (out.temporary[0])
		fchmod(fileno(out.file), status.st_mode & 0777); /* while it is empty */
	code = store ? dw_pack_write(from, path, out.file, window, &error)
	             : pack_write_trace(from, (uint64_t)status.st_size, path, !output, out.file, &error);
	if (code && error.message[0])
		dw_say_error(&error, code);
	if (!output) {
		futimens(fileno(out.file), (struct timespec[]){ status.st_atim, status.st_mtim });
		fsync(fileno(out.file)); /* before the original is removed */
	}
	fstat(fileno(out.file), &written);
	close(from);
	sizes[0] += (uint64_t)status.st_size;
	sizes[1] += (uint64_t)written.st_size;
	code = dw_output_close(&out, code ? DW_EXIT_BAD_INPUT : 0);
	free(real);
	return code;
}

/* Whether the run's files can be stored now; otherwise says why not. */
static bool pack_can_store(const struct dw_source *source, const char *path, const struct pack_request *request)
{
	if (source->live && !request->scope.has_steps && !request->scope.has_time)
		dw_say("%s is still being written: store it when its programs have ended", path);
	else if (source->files[0].foreign)
		dw_say("%s is another tool's file: dwell import makes a trace of it", path);
	else if (request->output && source->file_count > 1)
		dw_say("the run of %s has %zu files, and -o names one: store them in place, without -o", path,
		       source->file_count);
	else
		return true;
	return false;
}

/* Finds the part of the run in ticks. False after a message. */
static bool pack_find_window(const struct dw_source *source, const char *path, const struct dwell_scope *scope,
                             struct dw_pack_window *window)
{
	const struct dw_source_clock *clock = &source->files[0].clock;

	*window = (struct dw_pack_window){ .from_ticks = UINT64_MAX };
	if (scope->has_time) {
		window->from_ticks = dw_source_ticks(clock, scope->from_ns);
		window->to_ticks = scope->to_ns == UINT64_MAX ? UINT64_MAX : dw_source_ticks(clock, scope->to_ns);
	}
	for (size_t i = 0; i < source->step_count && scope->has_steps; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (step->number < scope->steps_from || step->number > scope->steps_to)
			continue;
		window->from_ticks = step->start_ticks < window->from_ticks ? step->start_ticks : window->from_ticks;
		window->to_ticks = step->end_ticks > window->to_ticks ? step->end_ticks : window->to_ticks;
	}
	if (window->from_ticks >= window->to_ticks) {
		dw_say("%s has none of these steps", path);
		return false;
	}
	dw_pack_fill_window(source, window);
	return true;
}

/* Stores a trace, and without an output all files of its run. */
static int pack_store(const char *path, const struct pack_request *request, uint64_t sizes[2])
{
	bool part = request->scope.has_steps || request->scope.has_time;
	const char *output = request->output;
	struct dwell_error error = { 0, "" };
	struct dw_pack_window window;
	struct dw_source *source;
	bool stored = false;
	struct stat status;
	int code, fd;

	dw_say_progress(path);
	code = dw_source_open(&source, &path, 1, &error);
	dw_say_progress(NULL);
	if (code)
		return dw_say_error(&error, code);
	code = pack_can_store(source, path, request) &&
	       (!part || pack_find_window(source, path, &request->scope, &window)) ? 0 : DW_EXIT_BAD_INPUT;
	for (size_t i = 0; i < source->file_count && !code; i++) {
		/* Of several files, some may be stored since an earlier call, which was stopped. */
		fd = i || source->file_count > 1 ? pack_open(source->files[i].path, &status, &stored) : -1;
		if (fd >= 0)
			close(fd);
		if (fd < 0 || !stored)
			code = pack_convert(source->files[i].path, output, true, part ? &window : NULL, sizes);
	}
	dw_source_close(source);
	return code;
}

static void pack_say(const char *path, const uint64_t sizes[2])
{
	dw_say("%s: %s are stored in %s", path, dw_text_bytes((double)sizes[0], " ").at,
	       dw_text_bytes((double)sizes[1], " ").at);
}

void dw_pack_after_run(const char *trace)
{
	struct pack_request request = { .output = NULL };
	uint64_t sizes[2] = { 0, 0 };

	if (pack_store(trace, &request, sizes) == 0)
		pack_say(trace, sizes);
}

int dw_cmd_pack(const struct dw_verb *verb, int argc, char **argv)
{
	bool store = strcmp(verb->name, "pack") == 0;
	struct pack_request request = { .scope.size = sizeof request.scope };
	uint64_t sizes[2] = { 0, 0 };
	size_t operands = dw_options_take(verb, argc, argv, pack_take_option, &request);
	const char *output = request.output;
	int code = 0;

	if (!operands || (output && operands > 1)) {
		dw_say(operands ? "-o takes one trace: dwell %s TRACE -o FILE" : "no trace is given: dwell %s TRACE...",
		       verb->name);
		return DW_EXIT_USAGE;
	}
	if (!output && (request.scope.has_steps || request.scope.has_time)) {
		dw_say("a part of a trace does not replace it: name a file for the part, -o FILE");
		return DW_EXIT_USAGE;
	}
	for (size_t i = 0; i < operands && !code; i++) {
		code = store ? pack_store(argv[i], &request, sizes) : pack_convert(argv[i], output, false, NULL, sizes);
		if (!code && store)
			pack_say(output ? output : argv[i], sizes);
		sizes[0] = sizes[1] = 0;
	}
	return code;
}
