/* dwell capture: gets a capture from a profiler server and stores it in TensorBoard's layout. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/logdir.h"
#include "serve/client.h"

#ifndef DW_HAVE_SERVE
int dw_cmd_capture(const struct dw_verb *verb, int argc, char **argv)
{
	dw_say("this dwell was built without libnghttp2, which capturing needs");
	return DW_EXIT_BAD_INPUT;
}
#else

#define ATTEMPTS 3 /* number of captures to try while they come back empty */
#define EXIT_INTERRUPTED 130

struct request {
	struct dw_client_options client;
	const char *folder;
	char session[64], repository[DW_LOGDIR_PATH], path[DW_LOGDIR_PATH];
};

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

static int capture_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct request *request = context;

	switch (option->id) {
	case DW_OPTION_OUTPUT: request->folder = *value ? value : "."; return 0;
	case DW_OPTION_DURATION:
		return dw_parse_time("duration", value, 1, &request->client.duration_ms) ? 0 : -1;
	case DW_OPTION_DELAY: return dw_parse_time("delay", value, 0, &request->client.delay_ms)
	       ? 0 : -1;
	case DW_OPTION_FUNCTIONS: request->client.functions = true; return 0;
	default: return 0;
	}
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
	size_t at = 0;
	int fd;

	snprintf(folder, sizeof folder, "%s", request->path);
	*strrchr(folder, '/') = '\0';
	if (!dw_logdir_make(folder))
		return false;
	snprintf(part, sizeof part, "%s.part", request->path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	while (fd >= 0 && at < answer->xspace_bytes) {
		ssize_t written = write(fd, answer->xspace + at, answer->xspace_bytes - at);

		if (written < 0 && errno != EINTR)
			break;
		at += written > 0 ? (size_t)written : 0;
	}
	if (fd >= 0 && at == answer->xspace_bytes && close(fd) == 0 &&
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

	dw_say("%.1f MB; look at it with dwell report, or tensorboard --logdir %s", (double)bytes / 1e6,
	       request->folder);
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
		return capture_store(request, answer) ? capture_note_done(request, answer->xspace_bytes)
		       : DW_EXIT_BAD_INPUT;
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
		dw_say("%s recorded nothing: is the program working? Try a longer --duration",
		       request->client.address);
	if (stopped > 1 || (stopped && result))
		return EXIT_INTERRUPTED;
	return result < 0 ? DW_EXIT_BAD_INPUT : result;
}

int dw_cmd_capture(const struct dw_verb *verb, int argc, char **argv)
{
	static struct request request;
	struct sigaction action = { .sa_handler = capture_stop };
	bool over;
	int operands;

	request = (struct request){ .folder = ".",
		.client = { .duration_ms = 1000, .token = getenv("DWELL_TOKEN") } };
	operands = dw_options_parse(verb, argc, argv, false, capture_take_option, &request, &over);
	if (over)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	if (operands != 1) {
		dw_say("no address is given (dwell capture [OPTION...] HOST:PORT)");
		return DW_EXIT_USAGE;
	}
	request.client.address = argv[0];
	if (request.client.token && !*request.client.token)
		request.client.token = NULL;
	if (!capture_choose_path(&request))
		return DW_EXIT_BAD_INPUT;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return capture_run(&request);
}
#endif
