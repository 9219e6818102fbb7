/* Processes: how they are made, what they inherit, how they end. */
#define _GNU_SOURCE
#include "harm.h"
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>

extern char **environ;

/* ---- ways to make a process ---- */

enum {
	BY_FORK,
	BY__FORK,
	BY_VFORK,
	BY_VFORK_EXEC,
	BY_CLONE_VM,
	BY_CLONE_VFORK,
	BY_RAW_CLONE,
	BY_CLONE,
	BY_CLONE_STACK,
	BY_CLONE_TRACED
};

static int child_work(void *value)
{
	for (int i = 0; i < 20; i++) {
		char *block = malloc(700000);
		block[5] = 1;
		free(block);
	}
	harm_compute(.03);
	usleep(2000);
	_exit((int)(long)value);
}

static pid_t child_make(long how, char *stack)
{
	pid_t pid;
	switch (how) {
	case BY_FORK:
		pid = fork();
		break;
	case BY__FORK:
		pid = _Fork();
		break;
	case BY_VFORK:
		pid = vfork();
		if (!pid) {
			harm_compute(.03);
			usleep(1000);
			_exit(7);
		}
		return pid;
	case BY_VFORK_EXEC:
		pid = vfork();
		if (!pid) {
			execl(harm_path, harm_path, "state", ".exit 7", (char *)NULL);
			_exit(127);
		}
		return pid;
	case BY_CLONE_VM:
		return clone(child_work, stack + (1 << 20), CLONE_VM | SIGCHLD, (void *)7L);
	case BY_CLONE_VFORK:
		return clone(child_work, stack + (1 << 20), CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)7L);
	case BY_CLONE_TRACED:
		return clone(child_work, stack + (1 << 20), SIGCHLD | CLONE_PTRACE, (void *)7L);
	case BY_CLONE_STACK:
		return clone(child_work, stack + (1 << 20), SIGCHLD, (void *)7L);
	default:
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	}
	if (!pid)
		child_work((void *)7L);
	return pid;
}

static void make_main(long how)
{
	char *stack = malloc(1 << 20);
	for (int i = 0; i < 4; i++) {
		int status = 0;
		pid_t pid = child_make(how, stack);
		harm_compute(.02);
		harm_say("waitpid is right: %d\n", waitpid(pid, &status, 0) == pid);
		harm_say_status("child", status);
	}
	harm_result("wait", wait(NULL));
}

static volatile int stop;

static void *busy_begin(void *value)
{
	while (!stop) {
		free(malloc(1000 + (size_t)(long)value));
		harm_compute(.001);
	}
	return NULL;
}

static void *forking_begin(void *value)
{
	int bad = 0;
	for (int i = 0; i < 10; i++) {
		int status = 0;
		pid_t pid = fork();
		if (!pid) {
			free(malloc(100000));
			harm_compute(.003);
			_exit(3);
		}
		waitpid(pid, &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
	}
	*(int *)value = bad;
	return NULL;
}

/* Threads fork while others allocate. */
static void threads_main(long value)
{
	pthread_t busy[2], forking[4];
	int bad[4], all = 0;
	for (long i = 0; i < 2; i++)
		pthread_create(&busy[i], NULL, busy_begin, (void *)i);
	for (int i = 0; i < value; i++)
		pthread_create(&forking[i], NULL, forking_begin, &bad[i]);
	for (int i = 0; i < value; i++) {
		pthread_join(forking[i], NULL);
		all += bad[i];
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(busy[i], NULL);
	harm_say("bad children %d\n", all);
}

static void spawn_main(long value)
{
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	sigset_t set;
	pid_t pid;
	int status = 0;
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_init(&actions);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	harm_block_all();
	signal(SIGHUP, SIG_IGN);
	harm_compute(TICKS);
	if (value == 1) {
		posix_spawnattr_setsigmask(&attributes, &set);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	}
	if (value == 2) {
		sigaddset(&set, SIGHUP);
		posix_spawnattr_setsigdefault(&attributes, &set);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	}
	if (value == 3) {
		posix_spawn_file_actions_addopen(&actions, 5, "spawn.tmp", O_CREAT | O_WRONLY, 0600);
		posix_spawn_file_actions_addclose(&actions, 2);
		posix_spawn_file_actions_adddup2(&actions, 5, 9);
	}
	char *arguments[] = { (char *)harm_path, "state", value == 3 ? ".files" : ".signals", NULL };
	int error = posix_spawn(&pid, harm_path, &actions, &attributes, arguments, environ);
	waitpid(pid, &status, 0);
	harm_say("posix_spawn: %d\n", error);
	harm_say_status("child", status);
	harm_say("posix_spawn of nothing: %s\n",
	         strerrorname_np(posix_spawn(&pid, "/nonexistent", NULL, NULL, arguments, environ)));
	harm_say_mask("parent");
}

static void system_main(long value)
{
	harm_compute(TICKS);
	if (value == 0) {
		harm_say_status("system", system("echo said; exit 3"));
		harm_say_status("system", system("kill -9 $$"));
		harm_say_status("system", system("exec 3</dev/null && exit 5"));
		harm_say("a shell is there %d\n", system(NULL) != 0);
	} else if (value == 1) {
		char line[100];
		FILE *file = popen("echo one; echo two; exit 4", "r");
		harm_say("descriptor above 2: %d\n", fileno(file) > 2);
		while (fgets(line, sizeof line, file))
			harm_say("read %s", line);
		harm_say_status("pclose", pclose(file));
	} else {
		FILE *file = popen("cat; exit 2", "w");
		fprintf(file, "from the parent\n");
		harm_say_status("pclose", pclose(file));
	}
}

static void daemon_main(long value)
{
	int result = dup(1);
	if (value && fork())
		_exit(0);
	setsid();
	pid_t pid = fork();
	if (pid)
		_exit(value ? 0 : 3);
	if (chdir("/"))
		return;
	umask(0);
	for (int fd = 0; fd < 1024; fd++)
		if (fd != result)
			close(fd);
	int first = open("/dev/null", O_RDWR), second = open("/dev/null", O_RDWR), third = open("/dev/null", O_RDWR);
	for (int i = 0; i < 5; i++) {
		harm_compute(.02);
		usleep(10000);
	}
	dprintf(result, "descriptors %d %d %d\n", first, second, third);
	_exit(5);
}

/* ---- order of what fork() calls ---- */

static int order_ends[2];

static void order_prepare(void)
{
	harm_result("pipe", pipe(order_ends));
	harm_say("prepare\n");
}

/* The child waits for this, so that the lines are in one order. */
static void order_parent(void)
{
	harm_compute(.01);
	harm_say("parent\n");
	if (write(order_ends[1], "x", 1) != 1)
		harm_say("the child waits for ever\n");
}

static void order_child(void)
{
	char byte;
	harm_result("read", read(order_ends[0], &byte, 1));
	harm_say("child\n");
}

static void order_work(long value UNUSED)
{
	harm_say_mask("child");
}

static void order_main(long value UNUSED)
{
	harm_say("pthread_atfork: %d\n", pthread_atfork(order_prepare, order_parent, order_child));
	harm_child("child", order_work, 0);
}

/* ---- how a process ends by a signal ---- */

static void status_raise(long number)
{
	signal((int)number, SIG_DFL);
	harm_compute(.03);
	raise((int)number);
}

static void status_children(long first)
{
	for (int number = (int)first; number < first + 16; number++)
		if (number != SIGSTOP && number != SIGTSTP && number != SIGTTIN && number != SIGTTOU && number != 32 &&
		    number != 33) {
			char what[32];
			snprintf(what, sizeof what, "signal %d", number);
			harm_child(what, status_raise, number);
		}
}

static void status_exit(long value)
{
	harm_compute(.03);
	exit((int)value);
}

static void status_stopped(long value)
{
	pid_t pid = fork();
	if (!pid) {
		harm_compute(.05);
		raise(SIGSTOP);
		harm_compute(.02);
		_exit((int)value);
	}
	int status = 0;
	waitpid(pid, &status, WUNTRACED);
	harm_say("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	harm_say("continued %d\n", WIFCONTINUED(status));
	siginfo_t info;
	harm_result("waitid", waitid(P_PID, (id_t)pid, &info, WEXITED));
	harm_say("code %d status %d\n", info.si_code, info.si_status);
}

static void children_handler(long flags)
{
	harm_handle(SIGCHLD, (int)flags);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (!pid) {
			harm_compute(.01);
			_exit(i);
		}
		for (int k = 0; k < 1000 && harm_seen[SIGCHLD] <= i; k++)
			usleep(1000);
		harm_say("SIGCHLD %d, code %d\n", harm_seen[SIGCHLD], harm_code[SIGCHLD]);
		harm_result("waitpid", waitpid(pid, NULL, 0) == pid ? 1 : -1);
	}
}

/* ---- exec ---- */

enum { EXEC_CHAIN, EXEC_MASK, EXEC_EMPTY, EXEC_ERRORS, EXEC_FD, EXEC_THREAD, EXEC_PENDING };

static void *exec_begin(void *value UNUSED)
{
	harm_compute(.02);
	execl(harm_path, harm_path, "state", ".signals", (char *)NULL);
	return NULL;
}

static void exec_error(const char *path, bool large)
{
	static char big[3 << 20];
	memset(big, 'x', sizeof big - 1);
	char *arguments[] = { (char *)path, large ? big : NULL, NULL };
	errno = 0;
	execv(path, arguments);
	harm_say("execv %s: %s\n", path, strerrorname_np(errno));
}

static void exec_main(long value)
{
	char *none[] = { NULL }, *arguments[] = { (char *)harm_path, "state", ".environment", NULL };
	harm_compute(TICKS);
	switch (value) {
	case EXEC_CHAIN: {
		char *left = getenv("HARM_CHAIN"), next[16];
		int depth = left ? atoi(left) : 6;
		harm_say("chain %d\n", depth);
		snprintf(next, sizeof next, "%d", depth - 1);
		setenv("HARM_CHAIN", next, 1);
		if (depth)
			execl(harm_path, harm_path, "exec", "a chain of 6", (char *)NULL);
		break;
	}
	case EXEC_MASK:
		harm_block_all();
		signal(SIGHUP, SIG_IGN);
		signal(SIGURG, SIG_IGN);
		harm_handle(SIGUSR1, 0);
		execl(harm_path, harm_path, "state", ".signals", (char *)NULL);
		break;
	case EXEC_PENDING:
		harm_block_all();
		raise(SIGUSR1);
		harm_compute(TICKS);
		execl(harm_path, harm_path, "state", ".signals", (char *)NULL);
		break;
	case EXEC_EMPTY:
		execve(harm_path, arguments, none);
		break;
	case EXEC_ERRORS:
		exec_error("/nonexistent", false);
		exec_error("/etc/passwd", false);
		exec_error("/etc", false);
		exec_error("/bin/true", true);
		break;
	case EXEC_FD:
		fexecve(open(harm_path, O_RDONLY | O_CLOEXEC), arguments, environ);
		break;
	default:
		harm_thread(exec_begin, NULL, NULL);
	}
}

/* ---- ends ---- */

enum {
	END_ATEXIT,
	END_QUICK,
	END_THREAD,
	END_RUNNING,
	END_MAIN_THREAD,
	END_ABORT_HANDLED,
	END_BUFFERED,
	END_FORK_BUFFERED,
	END_HANDLER,
	END_FLOCKFILE,
	END_RAW,
	END_ABORT_THREAD,
	END_ON_EXIT,
	END_EXEC_BUFFERED,
	END_EXIT_TWICE
};

static void end_first(void)
{
	harm_compute(.01);
	usleep(1000);
	harm_say("atexit 1\n");
}

static void end_second(void)
{
	harm_say("atexit 2\n");
	exit(9);
}

static void end_third(int status, void *value)
{
	harm_say("on_exit %d %s\n", status, (char *)value);
}

static void *end_begin(void *value)
{
	harm_compute(.03);
	if (value == (void *)1L)
		exit(6);
	if (value == (void *)2L)
		abort();
	for (;;)
		harm_compute(.01);
	return NULL;
}

static void *end_slow(void *value UNUSED)
{
	usleep(50000);
	harm_say("the thread is alone\n");
	return NULL;
}

static void end_handler(int number)
{
	harm_say("handler of %d\n", number);
	if (number == SIGUSR1)
		exit(11);
}

static void end_stdio(long how)
{
	printf("buffered");
	if (how == END_FORK_BUFFERED) {
		pid_t pid = fork();
		if (!pid)
			exit(0);
		waitpid(pid, NULL, 0);
	}
	if (how == END_EXEC_BUFFERED)
		execl("/bin/true", "true", (char *)NULL);
	if (how == END_FLOCKFILE)
		flockfile(stderr);
	exit(8);
}

static void end_main(long how)
{
	pthread_t thread;
	atexit(end_first);
	at_quick_exit(end_first);
	harm_compute(TICKS);
	switch (how) {
	case END_ATEXIT:
	case END_EXIT_TWICE:
		atexit(end_second);
		exit(how == END_ATEXIT ? 1 : 2);
	case END_QUICK:
		quick_exit(4);
	case END_THREAD:
	case END_ABORT_THREAD:
	case END_RUNNING:
		pthread_create(&thread, NULL, end_begin, (void *)(how == END_THREAD ? 1L : how == END_RUNNING ? 0L : 2L));
		usleep(how == END_RUNNING ? 50000 : 3000000);
		return;
	case END_MAIN_THREAD:
		pthread_create(&thread, NULL, end_slow, NULL);
		pthread_exit(NULL);
	case END_ABORT_HANDLED:
		signal(SIGABRT, end_handler);
		abort();
	case END_HANDLER:
		signal(SIGUSR1, end_handler);
		raise(SIGUSR1);
		return;
	case END_RAW:
		syscall(SYS_exit_group, 12);
		return;
	case END_ON_EXIT:
		on_exit(end_third, "first");
		on_exit(end_third, "second");
		exit(300);
	default:
		end_stdio(how);
	}
}

#define MAKE(name, how) \
	{ \
		"processes", name, make_main, how \
	}
#define ENDS(name, number) \
	{ \
		"ends by a signal", name, status_raise, number \
	}
#define END(name, how) \
	{ \
		"ends", name, end_main, how \
	}

const struct harm_program harm_processes[] = {
	MAKE("fork", BY_FORK),
	MAKE("_Fork", BY__FORK),
	MAKE("vfork", BY_VFORK),
	MAKE("vfork and exec", BY_VFORK_EXEC),
	MAKE("clone, CLONE_VM", BY_CLONE_VM),
	MAKE("clone, CLONE_VM, CLONE_VFORK", BY_CLONE_VFORK),
	MAKE("clone with a stack", BY_CLONE_STACK),
	MAKE("clone, CLONE_PTRACE", BY_CLONE_TRACED),
	MAKE("clone by a system call", BY_RAW_CLONE),
	{ "processes", "fork in 1 of 3 threads", threads_main, 1 },
	{ "processes", "fork in 4 of 6 threads", threads_main, 4 },
	{ "processes", "posix_spawn", spawn_main, 0 },
	{ "processes", "posix_spawn with a mask", spawn_main, 1 },
	{ "processes", "posix_spawn with defaults", spawn_main, 2 },
	{ "processes", "posix_spawn with files", spawn_main, 3 },
	{ "processes", "system", system_main, 0 },
	{ "processes", "popen to read", system_main, 1 },
	{ "processes", "popen to write", system_main, 2 },
	{ "processes", "daemon, one fork", daemon_main, 0 },
	{ "processes", "daemon, two forks", daemon_main, 1 },
	{ "processes", "pthread_atfork", order_main, 0 },
	{ "processes", "children by each signal, 1 to 16", status_children, 1 },
	{ "processes", "children by each signal, 17 to 31", status_children, 17 },
	{ "processes", "stopped and continued", status_stopped, 4 },
	{ "processes", "SIGCHLD", children_handler, 0 },
	{ "processes", "SIGCHLD, SA_NOCLDWAIT", children_handler, SA_NOCLDWAIT },
	ENDS("SIGABRT", SIGABRT),
	ENDS("SIGSEGV", SIGSEGV),
	ENDS("SIGBUS", SIGBUS),
	ENDS("SIGFPE", SIGFPE),
	ENDS("SIGILL", SIGILL),
	ENDS("SIGTRAP", SIGTRAP),
	ENDS("SIGSYS", SIGSYS),
	ENDS("SIGTERM", SIGTERM),
	ENDS("SIGINT", SIGINT),
	ENDS("SIGQUIT", SIGQUIT),
	ENDS("SIGHUP", SIGHUP),
	ENDS("SIGKILL", SIGKILL),
	ENDS("SIGPIPE", SIGPIPE),
	ENDS("SIGALRM", SIGALRM),
	ENDS("SIGUSR1", SIGUSR1),
	ENDS("SIGXCPU", SIGXCPU),
	ENDS("SIGURG, which does not end it", SIGURG),
	ENDS("a real-time signal", 40),
	{ "ends", "status 0", status_exit, 0 },
	{ "ends", "status 1", status_exit, 1 },
	{ "ends", "status 125", status_exit, 125 },
	{ "ends", "status 126", status_exit, 126 },
	{ "ends", "status 127", status_exit, 127 },
	{ "ends", "status 130", status_exit, 130 },
	{ "ends", "status 255", status_exit, 255 },
	END("exit in an atexit function", END_ATEXIT),
	END("quick_exit", END_QUICK),
	END("exit in a thread", END_THREAD),
	END("return while threads run", END_RUNNING),
	END("pthread_exit in main", END_MAIN_THREAD),
	END("abort with a handler", END_ABORT_HANDLED),
	END("abort in a thread", END_ABORT_THREAD),
	END("exit in a handler", END_HANDLER),
	END("exit_group by a system call", END_RAW),
	END("on_exit, status 300", END_ON_EXIT),
	END("data in a buffer", END_BUFFERED),
	END("data in a buffer at fork", END_FORK_BUFFERED),
	END("data in a buffer at exec", END_EXEC_BUFFERED),
	END("flockfile held", END_FLOCKFILE),
	{ "exec", "a chain of 6", exec_main, EXEC_CHAIN },
	{ "exec", "signals blocked and ignored", exec_main, EXEC_MASK },
	{ "exec", "signals pending", exec_main, EXEC_PENDING },
	{ "exec", "without an environment", exec_main, EXEC_EMPTY },
	{ "exec", "errors", exec_main, EXEC_ERRORS },
	{ "exec", "fexecve", exec_main, EXEC_FD },
	{ "exec", "in a thread", exec_main, EXEC_THREAD },
	{ NULL, NULL, NULL, 0 },
};
