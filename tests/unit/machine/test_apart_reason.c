/* Why a process below `dwell run` is not recorded. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/apart_reason.h"
#include "record/session_state.h"

/* A process that executes a program with this environment, or, without a program, waits. Returns when it does. */
static pid_t begin(char *const *program, char *const *environment)
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(pipe2(ready, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (program)
			execve(program[0], program, environment);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	while (read(ready[0], &byte, 1) > 0)
		;
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static char *sleeps[] = { (char *)(uintptr_t)"/bin/sleep", (char *)(uintptr_t)"60", NULL };

TEST(a_program_whose_environment_was_changed_has_no_libraries)
{
	static char *const none[] = { NULL };
	static char *const other[] = { (char *)(uintptr_t)"LD_PRELOAD=/usr/lib/libother.so", NULL };
	char reason[DW_APART_REASON_BYTES];

	snprintf(dw_session.path, sizeof dw_session.path, "/srv/run.dwell");
	for (unsigned i = 0; i < 2; i++) {
		pid_t pid = begin(sleeps, i ? other : none);

		CHECK(dw_apart_reason(pid, reason));
		CHECK(strstr(reason, "LD_PRELOAD does not name dwell's libraries"));
		end(pid);
	}
}

TEST(libraries_that_are_named_and_not_loaded_are_another_reason)
{
	static char *const named[] = { (char *)(uintptr_t)"LD_PRELOAD=/srv/libdwell-none.so", NULL };
	char reason[DW_APART_REASON_BYTES];
	pid_t pid = begin(sleeps, named);

	CHECK(dw_apart_reason(pid, reason));
	CHECK(*reason && !strstr(reason, "LD_PRELOAD does not name"));
	end(pid);
}

/* A process that has ended, and that nobody has waited for, is still in /proc; what its files say is nothing. */
TEST(of_a_process_that_ends_nothing_is_said)
{
	char reason[DW_APART_REASON_BYTES];
	pid_t pid = begin(NULL, NULL);
	siginfo_t info;

	kill(pid, SIGKILL);
	REQUIRE(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	CHECK(!dw_apart_reason(pid, reason));
	waitpid(pid, NULL, 0);
	CHECK(!dw_apart_reason(pid, reason));
}

CHECK_MAIN
