/*
 * exec and _exit(), which run no destructor: the account of the process is written before.
 *
 * The thread's timer ends before another program begins. A tick that is due at that moment would be the new
 * program's, which has no handler for it, and end it.
 *
 * After the timer is deleted no tick can come, and those that had come were taken when the system call returned. If the
 * exec fails the timer is started again. A child of vfork() has no timer of its own.
 */
#include "sampler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/system.h"
#include "wrapped.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT

extern char **environ;

/* What goes on again if another program does not begin. */
struct exec {
	bool timer, account;
};

static struct exec exec_begin(void)
{
	int saved = errno;
	struct exec ended = { .timer = dws_process.period_ns && dws_timers_run() &&
		                           dws_process.pid == (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0) };

	if (ended.timer) {
		dws_timers_pause();
		dws_signals_show(true);
	}
	ended.account = dws_timers_close_account();
	errno = saved;
	return ended;
}

static void exec_failed(struct exec ended)
{
	int saved = errno;

	if (ended.account)
		dws_timers_open_account();
	if (ended.timer) {
		dws_signals_show(false);
		dws_timers_resume();
	}
	errno = saved;
}

#define EXECS(name, parameters, arguments)                                        \
	PUBLIC int name parameters                                                    \
	{                                                                             \
		static struct dws_wrapped wrapped DWS_WRAPPED = { #name, NULL, NULL, 0 }; \
		int(*next) parameters, result;                                            \
		struct exec ended;                                                        \
                                                                                  \
		*(void **)&next = dws_target(&wrapped);                                   \
		ended = exec_begin();                                                     \
		result = next arguments;                                                  \
		exec_failed(ended);                                                       \
		return result;                                                            \
	}

EXECS(execve, (const char *path, char *const list[], char *const variables[]), (path, list, variables))
EXECS(execv, (const char *path, char *const list[]), (path, list))
EXECS(execvp, (const char *file, char *const list[]), (file, list))
EXECS(execvpe, (const char *file, char *const list[], char *const variables[]), (file, list, variables))
EXECS(fexecve, (int file, char *const list[], char *const variables[]), (file, list, variables))
EXECS(execveat, (int folder, const char *path, char *const list[], char *const variables[], int flags),
      (folder, path, list, variables, flags))

/* libc's execl() and its relatives make the list of their arguments on the stack, too. */
#define LISTS(name, function, variables)                                          \
	PUBLIC int name(const char *path, const char *first, ...)                     \
	{                                                                             \
		va_list list;                                                             \
		size_t count = 1;                                                         \
                                                                                  \
		va_start(list, first);                                                    \
		while (va_arg(list, const char *))                                        \
			count++;                                                              \
		va_end(list);                                                             \
		char *all[count + 1], **given = NULL;                                     \
                                                                                  \
		all[0] = (char *)(uintptr_t)first;                                        \
		va_start(list, first);                                                    \
		for (size_t i = 1; i <= count; i++)                                       \
			all[i] = va_arg(list, char *);                                        \
		if (variables)                                                            \
			given = va_arg(list, char **);                                        \
		va_end(list);                                                             \
		return function(path, all, (variables) ? given : environ);                \
	}

LISTS(execl, execve, false)
LISTS(execlp, execvpe, false)
LISTS(execle, execve, true)

/* syscall(): a system call that begins another program. */
bool dws_exec_is(long number)
{
	return number == SYS_execve || number == SYS_execveat;
}

long dws_exec_call(long number, long a, long b, long c, long d, long e)
{
	struct exec ended = exec_begin();
	long result = dw_system(number, a, b, c, d, e, 0);

	exec_failed(ended);
	return result;
}

/* exit() does not come here: it runs destructors, and then ends the process by itself. */
#define LEAVES(name)                                                              \
	PUBLIC __attribute__((noreturn)) void name(int status)                        \
	{                                                                             \
		static struct dws_wrapped wrapped DWS_WRAPPED = { #name, NULL, NULL, 0 }; \
		void (*next)(int);                                                        \
                                                                                  \
		*(void **)&next = dws_target(&wrapped);                                   \
		dws_timers_end_process();                                                 \
		next(status);                                                             \
		__builtin_unreachable();                                                  \
	}

LEAVES(_exit)
LEAVES(_Exit)
LEAVES(quick_exit)
