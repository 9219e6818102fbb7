/* Threads that do not stop at once are told so one time, and are let go. */
#include "../check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/inside.h"

static struct dw_snapshot snapshot;

/* The parent of a vfork() stops when the child, which is in *inner, has ended. */
static pid_t begin_parent_of_vfork(pid_t *inner)
{
	int ends[2];
	pid_t outer;

	if (pipe(ends) != 0 || (outer = fork()) < 0)
		return -1;
	if (outer == 0) {
		if (vfork() == 0) {
			pid_t self = getpid();

			if (write(ends[1], &self, sizeof self) != sizeof self)
				_exit(1);
			for (;;)
				pause();
		}
		for (;;)
			pause();
	}
	if (read(ends[0], inner, sizeof *inner) != sizeof *inner)
		return -1;
	close(ends[0]);
	close(ends[1]);
	return outer;
}

TEST(a_thread_that_stops_late_is_not_taken_for_one_that_another_process_traces)
{
	pid_t inner = 0, outer = begin_parent_of_vfork(&inner);

	REQUIRE(outer > 0);
	snapshot.pid = snapshot.tid = (uint32_t)outer;
	CHECK_EQ(dw_snapshot_stop(&snapshot, 4096, 2000000, NULL, NULL), ETIMEDOUT);
	CHECK(dw_snapshot_is_late((uint32_t)outer));
	CHECK_EQ(dw_snapshot_stop(&snapshot, 4096, 2000000, NULL, NULL), ETIMEDOUT);
	kill(inner, SIGKILL);
	for (int i = 0; i < 1000 && !dw_snapshot_let_go(); i++)
		usleep(10000);
	CHECK(!dw_snapshot_is_late((uint32_t)outer));
	CHECK_EQ(dw_snapshot_stop(&snapshot, 4096, 2000000000, NULL, NULL), 0);
	kill(outer, SIGKILL);
	waitpid(outer, NULL, 0);
}

CHECK_MAIN
