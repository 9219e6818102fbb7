/* dwell view: shows a trace in a browser, from a local server that reads it by span. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "page/server.h"

struct view_request {
	unsigned port;
	bool no_browser;
	const char *path;
};

static volatile int view_stopped;

static void view_stop(int signal)
{
	view_stopped = 1;
}

/* A part of the mapped file is no longer there. */
static void view_end_truncated(int signal)
{
	static const char text[] = "dwell: the trace was cut short while it was read\n";

	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	_exit(DW_EXIT_BAD_INPUT);
}

static int view_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct view_request *request = context;
	char *end;
	unsigned long port;

	if (option->id == DW_OPTION_NO_BROWSER) {
		request->no_browser = true;
	} else if (option->id == DW_OPTION_PORT) {
		port = strtoul(value, &end, 10);
		if (*value < '0' || *value > '9' || *end || port > 65535) {
			dw_say("--port %s: give a number from 0 (any that is free) to 65535", value);
			return -1;
		}
		request->port = (unsigned)port;
	}
	return 0;
}

/* Starts the user's browser. Its parent ends at once, so that it is not this process's child. */
static void view_start_browser(const char *address)
{
	const char *browser = getenv("BROWSER");
	pid_t child;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY") && !(browser && *browser))
		return;
	child = fork();
	if (child == 0) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (nothing >= 0) {
			dup2(nothing, STDIN_FILENO);
			dup2(nothing, STDOUT_FILENO);
			dup2(nothing, STDERR_FILENO);
		}
		if (setsid() < 0 || fork() != 0)
			_exit(0);
		execlp("xdg-open", "xdg-open", address, (char *)NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void view_report_ready(void *context, const char *address, unsigned port, bool live)
{
	const struct view_request *request = context;

	dw_say("%s%s: open %s", request->path, live ? " (still being written)" : "", address);
	dw_say("it is open to you until you press Ctrl+C; from another machine: ssh -L %u:127.0.0.1:%u HOST", port, port);
	if (!request->no_browser)
		view_start_browser(address);
}

int dw_cmd_view(const struct dw_verb *verb, int argc, char **argv)
{
	struct view_request request = { .port = 0 };
	struct dw_view_options options = { .path_count = 1, .ready = view_report_ready,
		.context = &request };
	struct sigaction action = { .sa_handler = view_stop };
	struct dwell_error error = { 0, "" };
	char newest[4096];
	bool done;
	int code, operands = dw_options_parse(verb, argc, argv, false, view_take_option, &request, &done);

	if (done)
		return 0;
	if (operands < 0)
		return DW_EXIT_USAGE;
	if (operands) {
		options.paths = (const char *const *)argv;
		options.path_count = (size_t)operands;
		request.path = argv[0];
	} else {
		if (!dw_newest_trace(newest, sizeof newest))
			return DW_EXIT_BAD_INPUT;
		request.path = newest;
		options.paths = &request.path;
	}
	options.port = request.port;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGBUS, view_end_truncated);
	code = dw_view_serve(&options, &view_stopped, &error);
	return code ? dw_say_error(&error, code) : 0;
}
