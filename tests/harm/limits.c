/* Limits of the system, and what a program is told of its surroundings. */
#define _GNU_SOURCE
#include "harm.h"
#include <grp.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

extern char **environ;

/* ---- limits: VALUE is a resource and its limit; the program executes itself with it ---- */

static void limit_set(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit limit = { soft, hard };
	harm_result("setrlimit", setrlimit((__rlimit_resource_t)resource, &limit));
}

static void limit_exec(const char *name)
{
	execl(harm_path, harm_path, "limits", name, (char *)NULL);
}

static void *nothing_begin(void *value)
{
	harm_compute(.01);
	return value;
}

static void space_child(long mib)
{
	harm_compute(TICKS);
	char *block = malloc((size_t)mib << 20);
	harm_say("malloc of %ld MiB: %d\n", mib, block != NULL);
	if (block)
		block[100] = 1;
	harm_thread(nothing_begin, NULL, NULL);
	free(block);
	harm_compute(.02);
	harm_say("done\n");
}

static void space_main(long mib)
{
	char name[32];
	limit_set(RLIMIT_AS, (rlim_t)mib << 20, (rlim_t)mib << 20);
	snprintf(name, sizeof name, ".space %ld", mib);
	limit_exec(name);
}

static void file_size_main(long handled)
{
	static char bytes[4096];
	limit_set(RLIMIT_FSIZE, 10000, 10000);
	if (handled)
		harm_handle(SIGXFSZ, 0);
	harm_compute(TICKS);
	int fd = open("size.tmp", O_CREAT | O_WRONLY, 0600);
	for (int i = 0; i < 5; i++) {
		harm_result("write", write(fd, bytes, sizeof bytes));
		harm_compute(.02);
	}
	harm_say("SIGXFSZ %d\n", harm_seen[SIGXFSZ]);
}

static void file_size_exec(long bytes)
{
	limit_set(RLIMIT_FSIZE, (rlim_t)bytes, (rlim_t)bytes);
	signal(SIGXFSZ, SIG_DFL);
	limit_exec(".compute");
}

static void compute_child(long value UNUSED)
{
	harm_compute(TICKS);
	for (int i = 0; i < 3; i++)
		free(malloc(500000));
	usleep(1000);
	harm_thread(nothing_begin, NULL, NULL);
	harm_compute(TICKS);
	harm_say("computed\n");
	harm_say_mask("child");
}

static void processor_main(long handled)
{
	struct rlimit limit = { 1, 3 };
	setrlimit(RLIMIT_CPU, &limit);
	if (handled)
		harm_handle(SIGXCPU, 0);
	for (double end = harm_now() + 20; harm_now() < end && !harm_seen[SIGXCPU];)
		harm_compute(.05);
	harm_say("SIGXCPU %d code %d\n", harm_seen[SIGXCPU], harm_code[SIGXCPU]);
}

static void exec_main(long value)
{
	int resource = (int)(value % 100);
	limit_set(resource, (rlim_t)(value / 100), (rlim_t)(value / 100));
	limit_exec(".compute");
}

static void processes_main(long value)
{
	limit_set(RLIMIT_NPROC, (rlim_t)value, (rlim_t)value);
	if (setgid(65534) || setgroups(0, NULL) || setuid(65534))
		harm_say("setuid failed\n");
	harm_compute(TICKS);
	pthread_t thread;
	harm_say("pthread_create: %d\n", pthread_create(&thread, NULL, nothing_begin, NULL));
	harm_result("fork", fork() < 0 ? -1 : 0);
}

static void limits_say(long value UNUSED)
{
	for (int i = 0; i < 16; i++) {
		struct rlimit limit;
		getrlimit((__rlimit_resource_t)i, &limit);
		harm_say("%d: %lx %lx\n", i, (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
	}
}

/* ---- surroundings ---- */

static void environment_say(long value)
{
	/* The last five are how other libraries are told of a tool. */
	const char *hidden[] = { "LD_PRELOAD=",
		                     "DWELL_",
		                     "HARM_",
		                     "CUDA_INJECTION64_PATH=",
		                     "NVTX_INJECTION64_PATH=",
		                     "INTEL_LIBITTNOTIFY64=",
		                     "NCCL_PROFILER_PLUGIN=",
		                     "ONEDNN_ITT_TASK_LEVEL=" };
	if (value)
		harm_compute(TICKS);
	for (char **one = environ; *one; one++) {
		bool show = true;
		for (size_t i = 0; i < COUNT_OF(hidden); i++)
			show = show && strncmp(*one, hidden[i], strlen(hidden[i]));
		if (show)
			harm_say("%s\n", *one);
	}
}

static void environment_change(long value UNUSED)
{
	setenv("ADDED", "1", 1);
	unsetenv("HOME");
	putenv("PUT=2");
	harm_compute(TICKS);
	environment_say(0);
	harm_execute("state", ".environment");
	clearenv();
	harm_execute("state", ".environment");
}

static void process_say(long value)
{
	struct utsname name;
	char title[16] = "", line[200];
	if (value)
		harm_compute(TICKS);
	prctl(PR_GET_NAME, title);
	uname(&name);
	mode_t mask = umask(0);
	umask(mask);
	harm_say("name %s, dumpable %d, death signal %d, no new privileges %d, subreaper %d\n", title,
	         prctl(PR_GET_DUMPABLE), prctl(PR_GET_PDEATHSIG, &(int){ 0 }), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
	         prctl(PR_GET_CHILD_SUBREAPER, &(int){ 0 }));
	harm_say("user %d %d, group %d %d, umask %o, nice %d, slack %d\n", getuid(), geteuid(), getgid(), getegid(), mask,
	         getpriority(PRIO_PROCESS, 0), prctl(PR_GET_TIMERSLACK));
	harm_say("policy %d, timing %d, machine %s\n", sched_getscheduler(0), prctl(PR_GET_TIMING), name.machine);
	FILE *file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "Sig", 3) || !strncmp(line, "Threads", 7) || !strncmp(line, "Shd", 3) ||
		    !strncmp(line, "Cap", 3) || !strncmp(line, "Seccomp", 7) || !strncmp(line, "Umask", 5) ||
		    !strncmp(line, "TracerPid:\t0", 12))
			if (strncmp(line, "SigQ", 4) && strncmp(line, "SigCgt", 6))
				harm_say("%s", line);
	fclose(file);
}

/* What a process that libc's system() makes finds of its mask. */
static void system_say(long value UNUSED)
{
	harm_compute(TICKS);
	harm_say_status("system", system("grep -E 'Sig(Blk|Pnd)' /proc/self/status"));
	harm_execute("surroundings", "process at the start");
	FILE *file = popen("grep -E 'Sig(Blk|Pnd)' /proc/self/status", "r");
	char line[200];
	while (file && fgets(line, sizeof line, file))
		harm_say("%s", line);
	harm_say_status("pclose", pclose(file));
}

static void maps_say(long value UNUSED)
{
	char line[600];
	int stacks = 0, heaps = 0, writable = 0, ours = 0, local = 0;
	harm_compute(TICKS);
	free(malloc(1000));
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long begin, end;
	char rights[8];
	while (file && fgets(line, sizeof line, file)) {
		stacks += strstr(line, "[stack]") != NULL;
		heaps += strstr(line, "[heap]") != NULL;
		ours += strstr(line, harm_path) != NULL;
		if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3) {
			writable += !strncmp(rights, "rwx", 3);
			local += (unsigned long)&line >= begin && (unsigned long)&line < end;
		}
	}
	fclose(file);
	harm_say("stacks %d, heaps %d, writable code %d, of this program %d, of this variable %d\n", stacks, heaps,
	         writable, ours, local);
}

static void auxiliary_say(long value UNUSED)
{
	harm_compute(TICKS);
	harm_say("page %lu, ticks %lu, secure %lu, hardware %lx %lx, phnum %lu, name %d\n", getauxval(AT_PAGESZ),
	         getauxval(AT_CLKTCK), getauxval(AT_SECURE), getauxval(AT_HWCAP), getauxval(AT_HWCAP2), getauxval(AT_PHNUM),
	         !strcmp(strrchr((char *)getauxval(AT_EXECFN), '/'), strrchr(harm_path, '/')));
	errno = 0;
	harm_say("unknown %lu %s\n", getauxval(9999), strerrorname_np(errno));
	harm_say("files %ld, least signal stack %ld, processors %d\n", sysconf(_SC_OPEN_MAX), sysconf(_SC_MINSIGSTKSZ),
	         sysconf(_SC_NPROCESSORS_ONLN) > 0);
	harm_say("program %s\n", program_invocation_short_name);
}

static void locale_say(long value)
{
	char line[64];
	if (value)
		harm_say("setlocale: %s\n", setlocale(LC_ALL, "") ? "set" : "not set");
	harm_compute(TICKS);
	harm_say("%s, %s, point %s\n", setlocale(LC_ALL, NULL), nl_langinfo(CODESET), localeconv()->decimal_point);
	snprintf(line, sizeof line, "%.3f %'d", 1.5, 1234567);
	harm_say("%s\n", line);
	harm_say("%zu\n", mbstowcs(NULL, "\xc3\xa4\xc3\xb6", 0));
	time_t then = 1000000000;
	strftime(line, sizeof line, "%A %d %B %Y %H:%M", gmtime(&then));
	harm_say("%s\n", line);
}

static void random_say(long value UNUSED)
{
	srand(5);
	int first = rand();
	harm_compute(TICKS);
	free(malloc(1000000));
	usleep(1000);
	harm_say("%d %d\n", first, rand());
	srandom(7);
	srand48(7);
	harm_compute(TICKS);
	harm_say("%ld %ld\n", random(), lrand48());
	char text[] = "a,b,c", *one = strtok(text, ",");
	harm_compute(.02);
	harm_say("%s %s\n", one, strtok(NULL, ","));
	double x = 1;
	for (int i = 1; i < 3000000; i++)
		x = x * 1.0000001 + 1. / i;
	harm_say("%a\n", x);
}

static void exit_with(long value)
{
	exit((int)value);
}

static void files_say(long value UNUSED)
{
	char line[600];
	int size = snprintf(line, sizeof line, "open");
	for (int fd = 0; fd < 100; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			size += snprintf(line + size, sizeof line - (size_t)size, " %d", fd);
	harm_say("%s\n", line);
	harm_say("next %d\n", open("/dev/null", O_RDONLY));
}

static void signals_say(long value UNUSED)
{
	harm_say_mask("executed");
	for (int i = 1; i <= 64; i++) {
		struct sigaction now;
		if (!sigaction(i, NULL, &now) && now.sa_handler != SIG_DFL)
			harm_say("%d is %s\n", i, now.sa_handler == SIG_IGN ? "ignored" : "handled");
	}
}

static void stack_say(long value UNUSED)
{
	stack_t now;
	sigaltstack(NULL, &now);
	harm_say("executed: signal stack flags %x\n", (unsigned)now.ss_flags);
}

/* Counts in a file until another file appears, 5 s at most. */
static void count_say(long value UNUSED)
{
	char line[32];
	for (int i = 0; i < 100 && access("stop.tmp", F_OK); i++) {
		int fd = open("new.tmp", O_CREAT | O_WRONLY | O_TRUNC, 0600), size = snprintf(line, sizeof line, "%d\n", i);
		if (write(fd, line, (size_t)size) != size || rename("new.tmp", "count.tmp"))
			return;
		close(fd);
		harm_compute(.005);
		usleep(50000);
	}
}

/* Computes until a file appears, 5 s at most. */
static void busy_say(long value UNUSED)
{
	for (double end = harm_now() + 5; harm_now() < end && access("stop.tmp", F_OK);)
		harm_compute(.02);
	harm_say("computed\n");
}

#define LIMITED(name, resource, limit) \
	{ \
		"limits", name, exec_main, (resource) + 100L * (limit) \
	}

const struct harm_program harm_limits[] = {
	{ "limits", "which they are", limits_say, 0 },
	{ "limits", "RLIMIT_AS 250 MiB", space_main, 250 },
	{ "limits", "RLIMIT_AS 150 MiB", space_main, 150 },
	{ "limits", "RLIMIT_AS 100 MiB", space_main, 100 },
	{ "limits", ".space 250", space_child, 100 },
	{ "limits", ".space 150", space_child, 50 },
	{ "limits", ".space 100", space_child, 10 },
	{ "limits", "RLIMIT_FSIZE, SIGXFSZ", file_size_main, 0 },
	{ "limits", "RLIMIT_FSIZE, SIGXFSZ handled", file_size_main, 1 },
	{ "limits", "RLIMIT_FSIZE 1000, then exec", file_size_exec, 1000 },
	{ "limits", "RLIMIT_CPU, SIGXCPU", processor_main, 0 },
	{ "limits", "RLIMIT_CPU, SIGXCPU handled", processor_main, 1 },
	{ "limits", "RLIMIT_NPROC 1", processes_main, 1 },
	LIMITED("RLIMIT_STACK 80 KiB", RLIMIT_STACK, 81920),
	LIMITED("RLIMIT_STACK 256 KiB", RLIMIT_STACK, 262144),
	LIMITED("RLIMIT_SIGPENDING 0", RLIMIT_SIGPENDING, 0),
	LIMITED("RLIMIT_DATA 20 MiB", RLIMIT_DATA, 20 << 20),
	LIMITED("RLIMIT_MEMLOCK 0", RLIMIT_MEMLOCK, 0),
	LIMITED("RLIMIT_CORE 0", RLIMIT_CORE, 0),
	LIMITED("RLIMIT_NOFILE 10", RLIMIT_NOFILE, 10),
	LIMITED("RLIMIT_NPROC 0", RLIMIT_NPROC, 0),
	LIMITED("RLIMIT_MSGQUEUE 0", RLIMIT_MSGQUEUE, 0),
	{ "limits", ".compute", compute_child, 0 },
	{ "surroundings", "environment", environment_say, 1 },
	{ "surroundings", "environment that changes", environment_change, 0 },
	{ "surroundings", "process at the start", process_say, 0 },
	{ "surroundings", "process later", process_say, 1 },
	{ "surroundings", "processes of system and popen", system_say, 0 },
	{ "surroundings", "maps", maps_say, 0 },
	{ "surroundings", "auxiliary vector", auxiliary_say, 0 },
	{ "surroundings", "C locale", locale_say, 0 },
	{ "surroundings", "locale of the environment", locale_say, 1 },
	{ "surroundings", "random numbers and state of libc", random_say, 0 },
	{ "state", ".mask", signals_say, 0 },
	{ "state", ".signals", signals_say, 0 },
	{ "state", ".files", files_say, 0 },
	{ "state", ".environment", environment_say, 0 },
	{ "state", ".stack", stack_say, 0 },
	{ "around", ".counts", count_say, 0 },
	{ "around", ".computes", busy_say, 0 },
	{ "state", ".exit 7", exit_with, 7 },
	{ NULL, NULL, NULL, 0 },
};
