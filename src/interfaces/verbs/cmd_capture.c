/* dwell capture: captures from a profiler server, which it stores in TensorBoard's layout, or from the ranks of a job. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture_answer.h"
#include "capture/capture_job.h"
#include "cli/cli.h"
#include "say/logdir.h"
#include "say/output.h"
#include "serve/client.h"

#define CAPTURE_STEPS 5u
#define CAPTURE_MS 1000u      /* from a server */
#define CAPTURE_JOB_MS 30000u /* from a job, if the steps take longer */

#define ATTEMPTS 3 /* number of captures to try while they come back empty */
#define EXIT_INTERRUPTED 130

struct request {
	struct dw_client_options client;
	const char *folder;
	char session[64], repository[DW_LOGDIR_PATH], path[DW_LOGDIR_PATH];
	struct dw_capture_ask ask;
	const char *ranks; /* NULL: all */
	bool answers;
};

static int capture_take_steps(struct request *request, const char *value)
{
	char *end;
	unsigned long steps = strtoul(value, &end, 10);

	if (*value >= '0' && *value <= '9' && !*end && steps <= 1000000) {
		request->ask.steps = (unsigned)steps;
		return 0;
	}
	dw_say("--steps %s: give how many, from 0 (record for --duration) to 1000000", value);
	return -1;
}

static int capture_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct request *request = context;

	switch (option->id) {
	case DW_OPTION_OUTPUT: request->folder = *value ? value : "."; return 0;
	case DW_OPTION_DURATION: return dw_parse_time("duration", value, 1, &request->client.duration_ms) ? 0 : -1;
	case DW_OPTION_DELAY: return dw_parse_time("delay", value, 0, &request->client.delay_ms) ? 0 : -1;
	case DW_OPTION_FUNCTIONS: request->client.functions = true; return 0;
	case DW_OPTION_STEPS: return capture_take_steps(request, value);
	case DW_OPTION_RANKS: request->ranks = value; return 0;
	case DW_OPTION_STACKS: request->ask.what |= DW_CAPTURE_STACKS; return 0;
	case DW_OPTION_ANSWER: request->answers = true; return 0;
	default: return 0;
	}
}

/* Captures from the traces of a job. */
static int capture_from_job(struct request *request, char **operands, size_t count)
{
	uint64_t most_ms = request->client.duration_ms ? request->client.duration_ms : CAPTURE_JOB_MS;

	if (request->folder || request->client.delay_ms) {
		dw_say("%s is for captures from HOST:PORT; a job's captures are stored in the folder of its traces",
		       request->folder ? "-o" : "--delay");
		return DW_EXIT_USAGE;
	}
	request->ask.duration_ms = most_ms > 600000 ? 600000 : (unsigned)most_ms;
	request->ask.what |= request->client.functions ? DW_CAPTURE_FUNCTIONS : 0;
	return dw_capture_job(&request->ask, request->ranks, operands, count);
}

#ifndef DW_HAVE_SERVE
static int capture_from_server(struct request *request)
{
	dw_say("this dwell was built without libnghttp2, which capturing from a server needs");
	return DW_EXIT_BAD_INPUT;
}
#else

static volatile int stopped;

/* A second Ctrl-C ends the command. A signal that arrives twice, because it was sent to the process
 * group and to its members, does not. */
static void capture_stop(int signal)
{
	static struct timespec first;
	struct timespec now;
	long since_ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!stopped)
		first = now;
	since_ms = (now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
	stopped = stopped > 1 || since_ms > 200 ? 2 : 1;
}

/* ---- the output path ---------------------------------------------------------------- */

/* FOLDER/plugins/profile/RUN/HOST.xplane.pb, where RUN is the time as JAX writes it. */
static bool capture_choose_path(struct request *request)
{
	char *session = request->session;
	time_t now = time(NULL);
	struct stat status;
	struct tm local;
	size_t length;

	localtime_r(&now, &local);
	length = strftime(session, sizeof request->session - 8, "%Y_%m_%d_%H_%M_%S", &local);
	request->client.session = session;
	request->client.repository = request->repository;
	if (!dw_logdir_profiles(request->folder, request->repository))
		return false;
	for (unsigned i = 2; i < 1000; i++) {
		char folder[DW_LOGDIR_PATH + sizeof request->session];

		snprintf(folder, sizeof folder, "%s/%s", request->repository, session);
		if (stat(folder, &status) != 0)
			break;
		snprintf(session + length, 8, "_%u", i);
	}
	return dw_logdir_path(request->repository, session, request->client.address, request->path);
}

static bool capture_store(const struct request *request, const struct dw_client_answer *answer)
{
	char folder[DW_LOGDIR_PATH], part[DW_LOGDIR_PATH + 8];
	int fd;

	snprintf(folder, sizeof folder, "%s", request->path);
	*strrchr(folder, '/') = '\0';
	if (!dw_logdir_make(folder))
		return false;
	snprintf(part, sizeof part, "%s.part", request->path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0 && dw_output_write(fd, answer->xspace, answer->xspace_bytes) && close(fd) == 0 &&
	    rename(part, request->path) == 0)
		return true;
	dw_say("cannot write %s: %s; name another folder with -o", request->path, strerror(errno));
	unlink(part);
	return false;
}

/* ---- the capture -------------------------------------------------------------------- */

static int capture_note_done(const struct request *request, uint64_t bytes)
{
	bool ends_in_slash = request->folder[strlen(request->folder) - 1] == '/';

	dw_say("%.1f MB; look at it with dwell report, or tensorboard --logdir %s", (double)bytes / 1e6, request->folder);
	/* Printed relative to the folder that the user named; only the server needs the whole path. */
	printf("%s%s%s\n", request->folder, ends_in_slash ? "" : "/",
	       request->path + strlen(request->repository) - strlen("plugins/profile"));
	return fflush(stdout) == 0 ? 0 : DW_EXIT_BAD_INPUT;
}

/* Evaluates one answer. Returns -1 to try again. */
static int capture_conclude(const struct request *request, const struct dw_client_answer *answer)
{
	struct stat status;

	if (answer->xspace)
		return capture_store(request, answer) ? capture_note_done(request, answer->xspace_bytes) : DW_EXIT_BAD_INPUT;
	if (stat(request->path, &status) == 0) /* the server wrote it, because it uses the same disk */
		return capture_note_done(request, (uint64_t)status.st_size);
	if (answer->empty)
		return -1;
	dw_say("%s has stored the capture on its own machine, as %s; fetch it from there, or give a "
	       "folder (-o) that both machines see", request->client.address, request->path);
	return DW_EXIT_BAD_INPUT;
}

static int capture_run(struct request *request)
{
	struct dw_client_answer answer;
	struct dwell_error error = { 0, "" };
	int code, result = -1;

	for (int attempt = 1; result < 0 && attempt <= ATTEMPTS && !stopped; attempt++) {
		code = dw_client_profile(&request->client, &stopped, &answer, &error);
		result = code ? dw_say_error(&error, code) : capture_conclude(request, &answer);
		free(answer.message);
		if (result < 0 && attempt < ATTEMPTS && !stopped)
			dw_say("%s recorded nothing in that time; trying again (%d of %d)",
			       request->client.address, attempt + 1, ATTEMPTS);
	}
	if (result < 0)
		dw_say("%s recorded nothing: is the program working? Try a longer --duration", request->client.address);
	if (stopped > 1 || (stopped && result))
		return EXIT_INTERRUPTED;
	return result < 0 ? DW_EXIT_BAD_INPUT : result;
}

static int capture_from_server(struct request *request)
{
	struct sigaction action = { .sa_handler = capture_stop };

	if (!request->client.duration_ms)
		request->client.duration_ms = CAPTURE_MS;
	if (!request->folder)
		request->folder = ".";
	if (request->client.token && !*request->client.token)
		request->client.token = NULL;
	if (!capture_choose_path(request))
		return DW_EXIT_BAD_INPUT;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return capture_run(request);
}
#endif

int dw_cmd_capture(const struct dw_verb *verb, int argc, char **argv)
{
	static struct request request;
	struct stat status;
	size_t operands;

	request = (struct request){ .client.token = getenv("DWELL_TOKEN"), .ask.steps = CAPTURE_STEPS };
	operands = dw_options_take(verb, argc, argv, capture_take_option, &request);
	if (operands == 3 && request.answers)
		return dw_capture_answer(argv[0], argv[1], argv[2]);
	if (operands && (strchr(argv[0], '/') || stat(argv[0], &status) == 0))
		return capture_from_job(&request, argv, operands);
	if (operands != 1) {
		dw_say("nothing to capture from is given (dwell capture [OPTION...] FOLDER|TRACE...|HOST:PORT)");
		return DW_EXIT_USAGE;
	}
	request.client.address = argv[0];
	return capture_from_server(&request);
}
