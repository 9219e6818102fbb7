/*
 * Usage: what the kernel counted for a thread with steps.
 *
 * A step that waits for a lock, a file or a CPU looks the same in its records. The kernel knows the
 * difference: time on a CPU, time ready without a CPU, context switches, page faults. A thread
 * reads these counts when a step begins or ends, if enough time has passed since its last reading,
 * and writes the difference to the journal. A reading takes some 10 to 40 us, so it is made at most
 * every 10 ms, and more rarely where it would take more than 0.1% of the thread's time. In a long run
 * it is made more rarely too, so that the journal stays small: an hour has some 20,000 entries, a day
 * 30,000. With --counters a reading includes the processor's counters.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>

#include "base/system/descriptor.h"
#include "base/system/system.h"
#include "record/entry.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/steps.h"
#include "record/thread.h"
#include "record/usages.h"

#define USAGE_PER_SECOND 100u /* readings in a second of a young run */
#define USAGE_AGE_SHARE 4096u /* in an older run: the run's age between two readings, divided by this */
#define USAGE_COST_SHARE 1000u /* time between two readings, divided by the time of one, at least */

static uint64_t usage_number(const char **text)
{
	uint64_t number = 0;

	for (; **text == ' '; ++*text)
		;
	for (; **text >= '0' && **text <= '9'; ++*text)
		number = number * 10 + (uint64_t)(**text - '0');
	return number;
}

/* The first two numbers. The file is opened each time, because the program may close descriptors that it does not know. */
bool dw_usage_read_delay(const char *path, uint64_t *cpu_ns, uint64_t *delay_ns)
{
	char text[96];
	const char *at = text;
	int fd = dw_descriptor_open(path, O_RDONLY, 0);
	long length;

	if (fd < 0)
		return false;
	length = dw_call(SYS_read, fd, text, sizeof text - 1);
	dw_descriptor_close(fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	*cpu_ns = usage_number(&at);
	*delay_ns = usage_number(&at);
	return *cpu_ns != 0; /* 0 means the kernel was built without this account */
}

static bool usage_read(struct dw_usage *usage, struct dw_counters *counters)
{
	struct rusage self;

	if (dw_call(SYS_getrusage, RUSAGE_THREAD, &self) != 0)
		return false;
	usage->waits = (uint32_t)self.ru_nvcsw;
	usage->preemptions = (uint32_t)self.ru_nivcsw;
	usage->minor_faults = (uint32_t)self.ru_minflt;
	usage->major_faults = (uint32_t)self.ru_majflt;
	usage->process_cpu_ns = dw_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	usage->delay_known = dw_usage_read_delay("/proc/thread-self/schedstat", &usage->cpu_ns, &usage->delay_ns);
	if (!usage->delay_known)
		usage->cpu_ns = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	usage->counters_known = false;
	if (__atomic_load_n(&dw_session_map()->flags, __ATOMIC_RELAXED) & DW_HEAD_COUNTERS) {
		if (!counters->tried)
			dw_counters_open(counters);
		dw_counters_read(counters, usage);
	}
	usage->ticks = dw_now();
	return true;
}

/* The kernel's counts may run backward by a little when a thread moves to another CPU. */
static uint64_t usage_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Writes what the counters counted. If they counted for a part of the time in which the thread ran,
 * the counts are of the whole time, in proportion. */
static void usage_write_counters(struct dw_entry_usage *entry, const struct dw_usage *before,
                                 const struct dw_usage *now)
{
	uint64_t counted_ns = usage_since(now->counted_ns, before->counted_ns);
	uint64_t running_ns = usage_since(now->running_ns, before->running_ns);
	double scale = counted_ns ? (double)running_ns / (double)counted_ns : 0;

	if (!counted_ns && running_ns)
		return;
	entry->entry.aux |= DW_USAGE_COUNTERS;
	entry->cycles = (uint64_t)(scale * (double)usage_since(now->cycles, before->cycles));
	entry->instructions =
	    (uint64_t)(scale * (double)usage_since(now->instructions, before->instructions));
	entry->cache_misses =
	    (uint64_t)(scale * (double)usage_since(now->cache_misses, before->cache_misses));
}

static void usage_write(const struct dw_slot *slot, const struct dw_usage *now)
{
	const struct dw_usage *before = &slot->usage;
	bool counters = now->counters_known && before->counters_known;
	struct dw_entry_usage *entry =
	    dw_journal_reserve(counters ? sizeof *entry : offsetof(struct dw_entry_usage, cycles));

	if (!entry)
		return;
	entry->entry.id = slot->thread;
	entry->entry.aux = now->delay_known && before->delay_known ? DW_USAGE_DELAY : 0;
	entry->start_ticks = before->ticks;
	entry->end_ticks = now->ticks;
	entry->cpu_ns = usage_since(now->cpu_ns, before->cpu_ns);
	entry->delay_ns = entry->entry.aux ? usage_since(now->delay_ns, before->delay_ns) : 0;
	entry->process_cpu_ns = usage_since(now->process_cpu_ns, before->process_cpu_ns);
	entry->waits = now->waits - before->waits;
	entry->preemptions = now->preemptions - before->preemptions;
	entry->minor_faults = now->minor_faults - before->minor_faults;
	entry->major_faults = now->major_faults - before->major_faults;
	if (counters)
		usage_write_counters(entry, before, now);
	dw_journal_commit(entry, DW_ENTRY_USAGE);
}

static uint64_t usage_more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What a reading takes: the lesser of the last two, because another thread may run during one. */
static uint64_t usage_cost(struct dw_slot *slot, uint64_t ticks)
{
	uint64_t last = slot->usage_cost;

	slot->usage_cost = ticks;
	return last < ticks ? last : ticks;
}

void dw_usage_read(struct dw_slot *slot)
{
	const struct dw_head *head = dw_session_map();
	uint64_t wait = head->ticks_per_second / USAGE_PER_SECOND, begin = dw_now();
	struct dw_usage now;
	DW_KEEP_ERRNO;

	slot->usage_due = UINT64_MAX; /* a signal handler that steps does not come here */
	/* When the file is nearly full, its last part is for names and summaries. */
	if (dw_step_summary_needed(head) || !dw_may_call() || !usage_read(&now, &slot->counters))
		return;
	/* After a change of the clock's offset the time may be before the last reading. */
	if (slot->usage.ticks && now.ticks > slot->usage.ticks)
		usage_write(slot, &now);
	slot->usage = now;
	wait = usage_more(wait, usage_since(now.ticks, head->start_ticks) / USAGE_AGE_SHARE);
	wait = usage_more(wait, usage_cost(slot, usage_since(dw_now(), begin)) * USAGE_COST_SHARE);
	slot->usage_due = now.ticks + wait;
}
