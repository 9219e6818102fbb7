/*
 * Joins the run that a process belongs to, when the library is loaded.
 *
 * `dwell run` puts the path of the run's file into the environment. Joining it only maps its head: a process that never
 * records uses no blocks. A process that cannot write to this file makes one of its own, at its first record (side.c).
 */
#include "record/about_process.h"
#include "record/file.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "format/sampler_calls.h"

/* Every probe reads it. It is defined next to the constructor that joins a run, because from a static library a
 * program takes only the files that it needs. */
const struct dwell_gate_word *dwell_gate;

/* A second plus 0.1% of the file's age, because the rate in the head is an estimate. */
#define CLOCK_TOLERANCE_NS 1e9
#define CLOCK_TOLERANCE 1e-3

/* Whether ticks read here agree with the head. They do not on another machine, in a virtual machine
 * that was moved, and after a suspension that the monotonic clock does not count. */
static bool join_clock_agrees(const struct dw_head *head)
{
	struct dw_clock_sample now;
	double elapsed_ns, by_ticks_ns;

	if (!dw_clock_usable(head->clock_kind) || !head->ticks_per_second)
		return false;
	dw_clock_sample(head->clock_kind, &now);
	elapsed_ns = (double)(int64_t)(now.monotonic_ns - head->start_monotonic_ns);
	by_ticks_ns = (double)(int64_t)(now.ticks - head->start_ticks) * 1e9 /
	              (double)head->ticks_per_second;
	return elapsed_ns > -CLOCK_TOLERANCE_NS &&
	       __builtin_fabs(by_ticks_ns - elapsed_ns) <=
	           CLOCK_TOLERANCE_NS + CLOCK_TOLERANCE * elapsed_ns;
}

/*
 * Whether this process may write to a file that another process made: only on the same boot of the
 * same machine and with the same clock. A launcher passes DWELL_TRACE on to other machines that
 * share the file system. There ticks differ, and atomic operations on the file do not work. On
 * such a machine, and in another time namespace, a process writes its own file.
 */
static bool join_belongs_here(const struct dw_head *head)
{
	static const uint8_t unknown[sizeof head->boot_id];
	uint64_t time_namespace = dw_host_namespace("time");
	uint8_t boot_id[sizeof head->boot_id];
	char host[sizeof head->hostname] = "";

	dw_host_boot_id(boot_id);
	if (memcmp(boot_id, unknown, sizeof boot_id) == 0 ||
	    memcmp(head->boot_id, unknown, sizeof boot_id) == 0) {
		gethostname(host, sizeof host - 1);
		if (strncmp(host, head->hostname, sizeof host) != 0)
			return false;
	} else if (memcmp(boot_id, head->boot_id, sizeof boot_id) != 0) {
		return false;
	}
	if (head->time_namespace && time_namespace && head->time_namespace != time_namespace)
		return false;
	return join_clock_agrees(head);
}

static void join_file(const char *path)
{
	struct dw_head *head;
	int fd = dw_file_open(path, &head, NULL);

	if (fd >= 0 && join_belongs_here(head)) {
		if (dw_session_adopt_head(head, fd, path, NULL) != 0)
			dw_descriptor_close(fd);
		return;
	}
	dw_side_begin(fd >= 0 ? head : NULL);
	if (fd >= 0) {
		munmap(head, DW_BLOCK_BYTES);
		dw_descriptor_close(fd);
	}
}

void dwell_sandbox(bool begins)
{
	DW_STORE(dw_sandboxed, begins);
}

uint64_t dw_session_counter_rate(void)
{
	const struct dw_head *head = dw_session_map();

	return head && dw_session_inline() ? head->ticks_per_second : 0;
}

void dw_session_own_work(uint64_t begins, uint64_t ns)
{
	struct dw_control *control = DW_LOAD(dw_session.control);

	if (!control)
		return;
	__atomic_fetch_add(&control->begins, begins, __ATOMIC_RELAXED);
	__atomic_fetch_add(&control->begins_ns, ns, __ATOMIC_RELAXED);
}

static const struct dw_sampler_calls sampler_calls = DW_SAMPLER_CALLS;

__attribute__((constructor)) static void join_run(void)
{
	const char *path = secure_getenv("DWELL_TRACE");
	DW_KEEP_ERRNO;

	dw_metadata_read_environment();
	dw_libraries_read_environment();
	dw_account_begin();
	if (path && dwp_sampler_adopt_4)
		dwp_sampler_adopt_4(&sampler_calls);
	if (path && *path == '/')
		join_file(path);
	if (dw_session_head())
		dw_stack_prepare(DW_LOAD(dw_session.control->mask));
}
