/*
 * Starts `dwell serve` for captures of this program.
 *
 * Programs call this when they start; probes do not use it. The server is a process of its own and
 * no child of this process. So a program that waits for its children never gets the server's
 * status: a helper process starts the server and ends at once, without a signal to its parent (a
 * clone without an exit signal). The server inherits the socket at which it listens, which is
 * bound here so that the caller gets the error. It also inherits one end of a channel: it reports
 * there whether it is ready or what is wrong, and it ends when the channel is closed.
 */
#include "record/record.h"
#include "record/session_state.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"

#define MOST_PATIENCE_MS 20000
#define MOST_ENVIRONMENT 4096

static struct {
	uint32_t lock; /* atomic; pid of the process in which a thread starts or stops the server */
	int channel;   /* this process's end, while `pid` is its pid: a child of fork has no server */
	pid_t pid;
} server = { .channel = -1 };

static bool serve_lock_server(struct dwell_error *error)
{
	uint32_t owner = 0, self = (uint32_t)getpid();

	if (__atomic_compare_exchange_n(&server.lock, &owner, self, false, __ATOMIC_ACQUIRE,
	                                __ATOMIC_RELAXED))
		return true;
	/* A child of fork may inherit the lock from a thread of its parent. */
	if (owner != self && __atomic_compare_exchange_n(&server.lock, &owner, self, false,
	                                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	dw_error_set(error, DWELL_E_STATE, "another thread starts or stops the server now");
	return false;
}

static void serve_unlock_server(void)
{
	__atomic_store_n(&server.lock, 0, __ATOMIC_RELEASE);
}

/* ---- the command -------------------------------------------------------------------- */

static bool serve_is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Searches next to this library, in the same prefix, and in PATH. */
static bool serve_find_command(char path[4096])
{
	static const char *const places[] = { "dwell", "../bin/dwell", "../../bin/dwell" };
	const char *search = getenv("PATH"), *slash;
	Dl_info here;

	if (dladdr((const void *)(uintptr_t)serve_find_command, &here) && here.dli_fname) {
		slash = strrchr(here.dli_fname, '/');
		for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++)
			if (snprintf(path, 4096, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname,
			             places[i]) < 4096 && serve_is_program(path))
				return true;
	}
	while (search && *search) {
		size_t length = strcspn(search, ":");

		if (length && snprintf(path, 4096, "%.*s/dwell", (int)length, search) < 4096 &&
		    serve_is_program(path))
			return true;
		search += length + (search[length] == ':');
	}
	return false;
}

/* ---- the process --------------------------------------------------------------------- */

struct launch {
	char command[4096];
	char *arguments[5];
	char *environment[MOST_ENVIRONMENT + 1];
	int listener, channel;
};

/* Copies the environment without the variables that would make the server part of the recording. */
static void serve_set_environment(struct launch *launch)
{
	static const char *const without[] = { "DWELL_TRACE=", "DWELL_RUN=", "DWELL_OPTIONS=",
		"LD_PRELOAD=" };
	size_t count = 0;

	for (char **entry = environ; entry && *entry && count < MOST_ENVIRONMENT; entry++) {
		bool keep = true;

		for (size_t i = 0; i < sizeof without / sizeof *without; i++)
			keep = keep && strncmp(*entry, without[i], strlen(without[i])) != 0;
		if (keep)
			launch->environment[count++] = *entry;
	}
	launch->environment[count] = NULL;
}

/* Runs in the new process, so it calls only functions that are allowed in signal handlers. */
static void serve_become_server(const struct launch *launch)
{
	static const char failed[] = "the dwell command cannot be run";
	int listener, channel;
	sigset_t none;

	setsid();
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		signal(signal_number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* moves the descriptors away from 0, 1 and 2 */
	listener = fcntl(launch->listener, F_DUPFD_CLOEXEC, 3);
	channel = fcntl(launch->channel, F_DUPFD_CLOEXEC, 3);
	if (dup2(listener, 0) == 0 && dup2(channel, 1) == 1 && dup2(channel, 2) == 2) {
		dw_host_close_from(3);
		execve(launch->command, launch->arguments, launch->environment);
	}
	(void)!write(1, failed, sizeof failed - 1);
	_exit(1);
}

/* Copies this process like _Fork(), but its end sends no signal. */
static pid_t serve_copy_process(void)
{
	return (pid_t)syscall(SYS_clone, 0ul, NULL, NULL, NULL, NULL);
}

static int serve_spawn(const struct launch *launch, struct dwell_error *error)
{
	sigset_t all, before;
	int status = -1, saved;
	pid_t helper;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* no signal handlers in the copy */
	helper = serve_copy_process();
	if (helper == 0) {
		pid_t started = serve_copy_process();

		if (started == 0)
			serve_become_server(launch);
		_exit(started < 0);
	}
	saved = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (helper > 0 && waitpid(helper, &status, __WCLONE) < 0 && errno == EINTR)
		;
	if (helper < 0 || status != 0)
		return dw_error_set(error, DWELL_E_NOMEM, "cannot start a process for the server: %s",
		                    helper < 0 ? strerror(saved) : "there is no room for one");
	return 0;
}

/* Waits until the server reports "ready" or what is wrong. */
static int serve_await(int channel, struct dwell_error *error)
{
	char said[400] = "";
	size_t length = 0;
	struct pollfd polled = { channel, POLLIN, 0 };

	while (length < sizeof said - 1 && !memchr(said, '\n', length)) {
		int ready = poll(&polled, 1, MOST_PATIENCE_MS);
		ssize_t got;

		if (ready < 0 && errno == EINTR)
			continue;
		got = ready > 0 ? read(channel, said + length, sizeof said - 1 - length) : 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	said[length] = '\0';
	said[strcspn(said, "\n")] = '\0';
	if (strcmp(said, "ready") == 0)
		return 0;
	return dw_error_set(error, DWELL_E_IO, "the server did not start: %s",
	                    !*said ? "it said nothing"
	                    : strncmp(said, "dwell: ", 7) == 0 ? said + 7 : said);
}

/* ---- its socket ------------------------------------------------------------------------ */

/* Returns the socket and stores its port in *port. */
static int serve_listen_at(unsigned *port, struct dwell_error *error)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)*port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int on = 1, saved;
	int listener = dw_descriptor_move(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

	if (listener >= 0) {
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		if (bind(listener, (const struct sockaddr *)&address, length) == 0 &&
		    listen(listener, 64) == 0 &&
		    getsockname(listener, (struct sockaddr *)&address, &length) == 0) {
			*port = ntohs(address.sin_port);
			return listener;
		}
	}
	saved = errno;
	if (listener >= 0)
		close(listener);
	return dw_error_set(error, DWELL_E_IO, "cannot serve captures at port %u: %s%s", *port,
	                    strerror(saved),
	                    saved == EADDRINUSE ? "; give another, or 0 for any that is free" : "");
}

/* `launch` has the command and the socket. */
static int serve_launch_server(struct launch *launch, struct dwell_error *error)
{
	int ends[2], result;

	launch->arguments[0] = launch->command;
	launch->arguments[1] = (char *)(uintptr_t)"serve";
	launch->arguments[2] = (char *)(uintptr_t)"--inherited";
	launch->arguments[3] = dw_session.path;
	serve_set_environment(launch);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return dw_error_set(error, DWELL_E_IO, "no channel to the server: %s", strerror(errno));
	ends[0] = dw_descriptor_move(ends[0]);
	ends[1] = dw_descriptor_move(ends[1]);
	launch->channel = ends[1];
	result = serve_spawn(launch, error);
	close(ends[1]);
	if (result == 0)
		result = serve_await(ends[0], error);
	if (result) {
		close(ends[0]);
		return result;
	}
	dw_session.before_stop = dwell_serve_stop;
	server.channel = ends[0];
	server.pid = getpid();
	return 0;
}

/* ---- public functions ------------------------------------------------------------------ */

static bool serve_is_running(void)
{
	return server.channel >= 0 && server.pid == getpid();
}

static int serve_start_session(struct dwell_error *error)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;

	if (dwell_active())
		return 0;
	options.categories = DWELL_MASK_NONE;
	return dwell_start(&options, error);
}

static int serve_start_locked(unsigned port, struct dwell_error *error)
{
	static struct launch launch; /* used under the lock */
	bool ran = dwell_active();
	int result;

	if (serve_is_running())
		return dw_error_set(error, DWELL_E_STATE,
		                    "this program's captures are served already: dwell_serve_stop() first");
	if (port > 65535)
		return dw_error_set(error, DWELL_E_ARGUMENT, "no port %u: they go from 0 to 65535", port);
	if (!serve_find_command(launch.command))
		return dw_error_set(error, DWELL_E_UNSUPPORTED,
		                    "the dwell command, which serves captures, is neither beside libdwell "
		                    "nor in PATH: install it");
	launch.listener = serve_listen_at(&port, error);
	if (launch.listener < 0)
		return launch.listener;
	result = serve_start_session(error);
	if (result == 0)
		result = serve_launch_server(&launch, error);
	close(launch.listener);
	if (result && !ran)
		dwell_stop(NULL);
	return result ? result : (int)port;
}

int dwell_serve_start(unsigned port, struct dwell_error *error)
{
	DW_KEEP_ERRNO;
	int result;

	if (!serve_lock_server(error))
		return DWELL_E_STATE;
	result = serve_start_locked(port, error);
	serve_unlock_server();
	return result;
}

void dwell_serve_stop(void)
{
	DW_KEEP_ERRNO;

	if (!serve_lock_server(NULL))
		return;
	if (serve_is_running()) {
		shutdown(server.channel, SHUT_RDWR); /* children of fork may have it open too */
		close(server.channel);
		server.channel = -1;
	}
	serve_unlock_server();
}
