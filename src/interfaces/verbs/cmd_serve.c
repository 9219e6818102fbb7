/* dwell serve: serves captures of a running program to TensorBoard and other clients. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "serve/serve.h"

#ifndef DW_HAVE_SERVE
int dw_cmd_serve(const struct dw_verb *verb, int argc, char **argv)
{
	dw_say("this dwell was built without libnghttp2, which serving needs");
	return DW_EXIT_BAD_INPUT;
}
#else

static int serve_take_option(void *context, const struct dw_option *option, const char *value)
{
	struct dw_serve_options *options = context;

	if (option->id == DW_OPTION_HOST)
		options->host = value;
	else if (option->id == DW_OPTION_INHERITED)
		options->inherited = true;
	return option->id == DW_OPTION_PORT ? dw_take_port(&options->port, value) : 0;
}

static void serve_report_ready(void *context, const char *host, unsigned port)
{
	const struct dw_serve_options *options = context;

	if (options->inherited) {
		(void)!write(STDOUT_FILENO, "ready\n", 6);
		return;
	}
	dw_say("captures of %s at %s:%u", options->trace, host, port);
}

int dw_cmd_serve(const struct dw_verb *verb, int argc, char **argv)
{
	struct dw_serve_options options = { .port = 9001, .token = getenv("DWELL_TOKEN"),
		.ready = serve_report_ready };
	struct dwell_error error = { 0, "" };
	volatile int *stopped;
	int code;

	if (dw_options_take(verb, argc, argv, serve_take_option, &options) != 1) {
		dw_say("no trace is given (dwell serve [OPTION...] TRACE)");
		return DW_EXIT_USAGE;
	}
	options.trace = argv[0];
	options.context = &options;
	if (options.token && !*options.token)
		options.token = NULL;
	stopped = dw_stop_at_signals();
	signal(SIGPIPE, SIG_IGN);
	code = dw_serve_run(&options, stopped, &error);
	return code ? dw_say_error(&error, code) : 0;
}
#endif
