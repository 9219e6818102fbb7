/* dwell view: shows a trace in a browser, from a local server that reads it by span. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "page/server.h"

struct view_request {
	unsigned port;
	bool no_browser;
	const char *path;
};

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

	if (option->id == DW_OPTION_NO_BROWSER)
		request->no_browser = true;
	return option->id == DW_OPTION_PORT ? dw_take_port(&request->port, value) : 0;
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
	size_t operands = dw_options_take(verb, argc, argv, view_take_option, &request);
	struct dw_view_options options = { .path_count = operands ? operands : 1, .port = request.port,
		.ready = view_report_ready, .context = &request };
	struct dwell_error error = { 0, "" };
	volatile int *stopped;
	int code;

	request.path = operands ? argv[0] : dw_newest_trace();
	if (!request.path)
		return DW_EXIT_BAD_INPUT;
	options.paths = operands ? (const char *const *)argv : &request.path;
	stopped = dw_stop_at_signals();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGBUS, view_end_truncated);
	code = dw_view_serve(&options, stopped, &error);
	return code ? dw_say_error(&error, code) : 0;
}
