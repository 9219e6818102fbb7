/*
 * The processor's counters: cycles, instructions and cache misses of a thread with steps.
 *
 * The kernel counts them for one thread at a time (perf_event_open), while the thread is in user
 * space. `dwell run --counters` asks for them. Virtual machines often have none, and containers often
 * forbid them; then everything else is recorded.
 *
 * The counters are descriptors of the program, which may close descriptors that it does not know and
 * use their numbers for files of its own. So each use first asks the kernel for the number of the
 * counter behind the descriptor. Only a counter of this thread has the right one.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "base/system/descriptor.h"
#include "base/system/system.h"
#include "format/perf_event.h"
#include "record/record.h"
#include "record/thread.h"
#include "record/usages.h"

#define COUNTERS_HARDWARE 0u
static const uint64_t counters_events[DW_COUNTERS] = { 0, 1, 3 }; /* cycles, instructions, misses */
#define COUNTERS_USER_ONLY (1u << 5 | 1u << 6) /* not in the kernel, not in a hypervisor */
#define COUNTERS_TIMES 3u       /* reads begin with the times of struct counters_values */
#define COUNTERS_GROUP 8u       /* one read for all */
#define COUNTERS_GET_ID _IOR('$', 7, uint64_t *)

/* What read() returns for the first counter: the values of all in the order of their opening. */
struct counters_values {
	uint64_t count, enabled_ns, running_ns, values[DW_COUNTERS];
};

static bool counters_is_own(const struct dw_counters *counters, unsigned which)
{
	uint64_t id = 0;

	return counters->fd[which] &&
	       dw_call(SYS_ioctl, counters->fd[which] - 1, COUNTERS_GET_ID, &id) == 0 && id == counters->id[which];
}

static int counters_open_one(struct dw_counters *counters, unsigned which)
{
	struct dw_perf_event event = { .type = COUNTERS_HARDWARE, .config = counters_events[which],
		                           .read_format = COUNTERS_TIMES | COUNTERS_GROUP,
		                           .flags = COUNTERS_USER_ONLY };
	int fd = dw_perf_event_open(&event, which ? counters->fd[0] - 1 : -1);
	long result;

	if (fd < 0)
		return errno;
	fd = dw_descriptor_move(fd);
	result = dw_descriptor_is_apart(fd) ? dw_call(SYS_ioctl, fd, COUNTERS_GET_ID, &counters->id[which]) : -EMFILE;
	if (result != 0) {
		dw_descriptor_close(fd);
		return (int)-result;
	}
	counters->fd[which] = fd + 1;
	return 0;
}

int dw_counters_open(struct dw_counters *counters)
{
	counters->tried = true;
	for (unsigned i = 0; i < DW_COUNTERS; i++) {
		int error = counters_open_one(counters, i);

		if (error) {
			dw_counters_close(counters);
			counters->tried = true;
			return error;
		}
	}
	return 0;
}

void dw_counters_read(struct dw_counters *counters, struct dw_usage *usage)
{
	struct counters_values now;

	if (!counters_is_own(counters, 0) ||
	    dw_call(SYS_read, counters->fd[0] - 1, &now, sizeof now) != (long)sizeof now ||
	    now.count != DW_COUNTERS)
		return;
	usage->counters_known = true;
	usage->running_ns = now.enabled_ns; /* a counter of a thread is enabled while the thread runs */
	usage->counted_ns = now.running_ns;
	usage->cycles = now.values[0];
	usage->instructions = now.values[1];
	usage->cache_misses = now.values[2];
}

void dw_counters_close(struct dw_counters *counters)
{
	DW_KEEP_ERRNO;

	for (unsigned i = 0; i < DW_COUNTERS; i++)
		if (counters_is_own(counters, i))
			dw_descriptor_close(counters->fd[i] - 1);
	memset(counters, 0, sizeof *counters);
}
