/* The capture service of `dwell run --serve`; see run_serve.h. */
#include "rank/run_serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/listen.h"
#include "say/say.h"

int dw_run_listen(const char *text, unsigned *port)
{
	unsigned long number;
	int listener;
	char *end;

	number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number > 65535) {
		dw_say("--serve %s: give a port from 0 (any that is free) to 65535", text);
		return -1;
	}
	*port = (unsigned)number;
	listener = dw_listen(DW_LISTEN_HERE, port, NULL);
	if (listener < 0)
		dw_say("--serve %s: cannot listen at this port: %s%s", text, strerror(errno),
		       errno == EADDRINUSE ? "; give another, or 0 for any that is free" : "");
	return listener;
}

/* Whether the service reports within 20 seconds that it is ready. */
static bool serve_is_ready(int channel)
{
	struct pollfd polled = { channel, POLLIN, 0 };
	char word[6];
	int ready;

	do
		ready = poll(&polled, 1, 20000);
	while (ready < 0 && errno == EINTR);
	return ready > 0 && read(channel, word, sizeof word) == (ssize_t)sizeof word &&
	       memcmp(word, "ready\n", sizeof word) == 0;
}

void dw_run_serve_end(pid_t server)
{
	if (server <= 0)
		return;
	kill(server, SIGTERM);
	while (waitpid(server, NULL, 0) < 0 && errno == EINTR)
		;
}

pid_t dw_run_serve_start(int listener, unsigned port, const char *trace)
{
	int ends[2];
	pid_t server;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(listener, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		execl("/proc/self/exe", "dwell", "serve", "--inherited", trace, (char *)NULL);
		_exit(DW_EXIT_CANNOT_RUN);
	}
	close(ends[1]);
	if (server > 0 && serve_is_ready(ends[0])) {
		dw_say("captures of %s at 127.0.0.1:%u", trace, port);
		return server;
	}
	dw_run_serve_end(server);
	close(ends[0]);
	return -1;
}
