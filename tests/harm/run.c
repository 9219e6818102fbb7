/*
 * harm --run SECONDS FILE COMMAND...: executes the command as a session of its own and waits for it and for all of its
 * descendants. FILE gets "pid N" at once, and "status N late N left N" at the end: the wait status of the command,
 * whether it took more than SECONDS, and how many descendants lived 5 s longer than it; these are killed.
 */
#define _GNU_SOURCE
#include "harm.h"
#include <sys/prctl.h>

static const double patience = 5;

/* Kills the children of this process. Their children become ours, because this process is a subreaper. */
static int children_kill(void)
{
	char path[64], text[8192];
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return 0;
	text[size] = 0;
	int killed = 0;
	for (char *at = text; *at;) {
		long pid = strtol(at, &at, 10);
		if (pid > 0 && !kill((pid_t)pid, SIGKILL))
			killed++;
		while (*at == ' ')
			at++;
	}
	return killed;
}

static pid_t command_start(char **command)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	setsid();
	for (int i = 1; i < 32; i++) /* nohup and shells ignore some */
		signal(i, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

int harm_run(char **arguments)
{
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	FILE *file = fopen(arguments[1], "we");
	if (!file)
		return 2;
	pid_t command = command_start(arguments + 2);
	fprintf(file, "pid %d\n", (int)command);
	fflush(file);
	double end = harm_now() + atof(arguments[0]);
	int status = -1, late = 0, left = 0;
	bool killing = false;
	for (;;) {
		int one = 0;
		pid_t pid = waitpid(-1, &one, WNOHANG);
		if (pid < 0 && errno == ECHILD)
			break;
		if (pid == command) {
			status = one;
			if (!killing && end > harm_now() + patience)
				end = harm_now() + patience;
		}
		if (pid > 0)
			continue;
		if (harm_now() > end) {
			late |= status == -1;
			int killed = children_kill();
			if (!killing)
				left = killed - (status == -1);
			killing = true;
		}
		struct timespec soon = { 0, killing ? 2000000 : 100000000 };
		sigtimedwait(&child, NULL, &soon);
	}
	fprintf(file, "status %d late %d left %d\n", status, late, left);
	return fclose(file);
}
