/*
 * Captures, one after the other. A capture waits for its start and records for its duration. A
 * forked child process then writes it as XSpace, and the child's file is the answer.
 *
 * Called by http.c with requests (struct dw_serve_calls), and by serve.c when time has passed or the child has ended. After
 * a capture, however it ends, the control page is as it was before.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/host.h"
#include "export/export.h"
#include "serve/inside.h"

/* ---- the child process: writes the window as XSpace ---------------------------------- */

static int capture_write_window(const struct dw_serve *serve, struct dwell_error *error)
{
	const struct dw_serve_capture *capture = &serve->capture;
	struct dw_source *source;
	struct dw_model *model;
	struct dw_scope scope = { .has_window = true };
	int result = dw_source_open(&source, &serve->options->trace, 1, error);

	if (result)
		return result;
	scope.from_ns = dw_source_ns(&source->files[0].clock, capture->from_ticks);
	scope.to_ns = dw_source_ns(&source->files[0].clock, capture->to_ticks);
	result = dw_model_create(&model, source, &scope, error);
	if (result == 0)
		result = dw_export_run(model, "xplane", capture->path, NULL, error);
	return result; /* nothing is closed, because the process ends */
}

/* If it fails, the child writes the reason to the pipe. */
static void capture_run_child(const struct dw_serve *serve, int pipe_end)
{
	struct dwell_error error = { 0, "" };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	/* Closes the clients' sockets, which would otherwise stay open in this process. */
	if (dup2(pipe_end, 3) != 3)
		_exit(1);
	dw_host_close_from(4);
	if (capture_write_window(serve, &error) == 0)
		_exit(0);
	if (write(3, error.message, strlen(error.message)) < 0)
		_exit(2);
	_exit(1);
}

static int capture_start_child(struct dw_serve *serve)
{
	struct dw_serve_capture *capture = &serve->capture;
	const char *folder = getenv("TMPDIR");
	int ends[2], file;

	if (snprintf(capture->path, sizeof capture->path, "%s/dwell-capture-XXXXXX",
	             folder && *folder == '/' ? folder : "/tmp") >= (int)sizeof capture->path)
		snprintf(capture->path, sizeof capture->path, "/tmp/dwell-capture-XXXXXX");
	file = mkostemp(capture->path, O_CLOEXEC);
	if (file < 0)
		return -1;
	close(file);
	if (pipe2(ends, O_CLOEXEC) != 0) {
		unlink(capture->path);
		return -1;
	}
	capture->child = fork();
	if (capture->child == 0)
		capture_run_child(serve, ends[1]);
	close(ends[1]);
	if (capture->child < 0) {
		close(ends[0]);
		unlink(capture->path);
		return -1;
	}
	capture->done = ends[0];
	return 0;
}

static int capture_end_child(struct dw_serve_capture *capture)
{
	int status = -1;

	close(capture->done);
	while (waitpid(capture->child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* ---- the capture -------------------------------------------------------------------- */

static void capture_fail(struct dw_serve_capture *capture, enum dw_grpc status, const char *message)
{
	capture->phase = DW_CAPTURE_NONE;
	dw_serve_answer(capture->stream, status, message);
}

static void capture_begin_window(struct dw_serve *serve)
{
	struct dw_serve_capture *capture = &serve->capture;

	uint32_t mask = DWELL_MASK_DEFAULT;

	if (capture->request.functions)
		mask |= 1u << DWELL_CATEGORY_FUNCTION | DWELL_DETAIL_C_FUNCTIONS;
	capture->phase = DW_CAPTURE_RECORDS;
	capture->until_ms = dw_clock_monotonic_ms() + capture->request.duration_ms;
	capture->from_ticks = dw_serve_ticks(&serve->control);
	if (!dw_serve_arm(&serve->control, mask, capture->request.duration_ms))
		capture_fail(capture, DW_GRPC_ALREADY_EXISTS,
		             "another server captures from this program; try again when that has ended");
}

static void capture_end_window(struct dw_serve *serve)
{
	struct dw_serve_capture *capture = &serve->capture;

	capture->to_ticks = dw_serve_ticks(&serve->control);
	dw_serve_disarm(&serve->control);
	capture->phase = DW_CAPTURE_WRITES;
	if (capture_start_child(serve) != 0)
		capture_fail(capture, DW_GRPC_INTERNAL, "cannot start writing the capture");
}

static void capture_answer(struct dw_serve_capture *capture)
{
	char message[sizeof ((struct dwell_error *)0)->message];
	ssize_t said = read(capture->done, message, sizeof message - 1);
	int status = capture_end_child(capture), file;
	struct stat about;

	message[said > 0 ? said : 0] = '\0';
	capture->phase = DW_CAPTURE_NONE;
	file = open(capture->path, O_RDONLY | O_CLOEXEC);
	unlink(capture->path);
	if (status == 0 && file >= 0 && fstat(file, &about) == 0) {
		dw_serve_answer_file(capture->stream, file, (uint64_t)about.st_size, capture->request.emit_xspace);
		return;
	}
	if (file >= 0)
		close(file);
	dw_serve_answer(capture->stream, DW_GRPC_INTERNAL, *message ? message : "writing the capture failed");
}

static uint64_t capture_delay_ms(const struct dw_serve_request *request)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_REALTIME);

	return request->start_ns > now_ns ? (request->start_ns - now_ns) / 1000000 : 0;
}

static void capture_start(struct dw_serve *serve, struct dw_serve_stream *stream)
{
	struct dw_serve_capture *capture = &serve->capture;
	struct dw_serve_request request;
	char message[160];
	enum dw_grpc status = dw_serve_read_profile(&request, stream->in + 5, stream->in_length - 5,
	                                            message, sizeof message);

	if (status != DW_GRPC_OK) {
		dw_serve_answer(stream, status, message);
	} else if (capture->phase != DW_CAPTURE_NONE) {
		dw_serve_answer(stream, DW_GRPC_ALREADY_EXISTS, "another capture is under way; try again when it has ended");
	} else if (capture_delay_ms(&request) > DW_SERVE_MOST_MS) {
		dw_serve_answer(stream, DW_GRPC_INVALID_ARGUMENT, "a start more than an hour from now");
	} else if (!dw_serve_is_alive(&serve->control)) {
		dw_serve_answer(stream, DW_GRPC_FAILED_PRECONDITION, "the program has ended");
	} else {
		capture->stream = stream;
		capture->request = request;
		capture->phase = DW_CAPTURE_WAITS;
		capture->until_ms = dw_clock_monotonic_ms() + capture_delay_ms(&request);
		dw_capture_step(serve, false);
	}
}

void dw_capture_step(struct dw_serve *serve, bool child_done)
{
	struct dw_serve_capture *capture = &serve->capture;

	if (capture->phase == DW_CAPTURE_WAITS && dw_clock_monotonic_ms() >= capture->until_ms)
		capture_begin_window(serve);
	else if (capture->phase == DW_CAPTURE_RECORDS && dw_clock_monotonic_ms() >= capture->until_ms)
		capture_end_window(serve);
	else if (capture->phase == DW_CAPTURE_WRITES && child_done)
		capture_answer(capture);
}

/* The answer is what was recorded so far, as with XLA's server. */
void dw_capture_finish(struct dw_serve *serve)
{
	struct dw_serve_capture *capture = &serve->capture;

	if (capture->phase == DW_CAPTURE_WAITS)
		capture_fail(capture, DW_GRPC_ABORTED, "terminated before it began");
	else if (capture->phase == DW_CAPTURE_RECORDS)
		capture_end_window(serve);
}

static void capture_terminate(struct dw_serve *serve, const char *session)
{
	if (strcmp(serve->capture.request.session, session) == 0)
		dw_capture_finish(serve);
}

void dw_capture_stop(struct dw_serve *serve)
{
	struct dw_serve_capture *capture = &serve->capture;

	dw_serve_disarm(&serve->control);
	if (capture->phase == DW_CAPTURE_WRITES) {
		kill(capture->child, SIGKILL);
		capture_end_child(capture);
		unlink(capture->path);
	}
	capture->phase = DW_CAPTURE_NONE;
}

static void capture_cancel(struct dw_serve *serve, const struct dw_serve_stream *stream)
{
	if (serve->capture.phase != DW_CAPTURE_NONE && serve->capture.stream == stream)
		dw_capture_stop(serve);
}

const struct dw_serve_calls dw_capture_calls = { capture_start, capture_terminate, capture_cancel };
