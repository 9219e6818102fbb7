/* What is stored in the trace about the machine and the program; see run_note.h. */
#include "launch/run_note.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/limits.h"
#include "base/system/proc.h"
#include "format/keys.h"
#include "format/perf_event.h"
#include "machine/machine.h"
#include "machine/peak.h"
#include "record/cost.h"
#include "record/session_state.h"
#include "record/thread.h"
#include "record/usages.h"
#include "say/say.h"

static void note_cost(void)
{
	char text[32];

	snprintf(text, sizeof text, "%.2f", dw_cost_range_ns(dw_session.clock_kind));
	dwell_meta_json(DW_KEY_COST_RANGE_NS, text);
}

void dw_run_note_machine(void)
{
	struct utsname kernel;
	char line[256], text[64];
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof line, file)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && value) {
			value[strcspn(value, "\n")] = '\0';
			dwell_meta("host.cpu", value + 2);
			break;
		}
	}
	if (file)
		fclose(file);
	snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	dwell_meta_json("host.cpus", text);
	snprintf(text, sizeof text, "%u", dw_limits_cpus());
	dwell_meta_json(DW_KEY_CPUS_ALLOWED, text);
	snprintf(text, sizeof text, "%.0f",
	         (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
	dwell_meta_json("host.memory", text);
	snprintf(text, sizeof text, "%.0f", dw_limits_memory());
	dwell_meta_json(DW_KEY_MEMORY_ALLOWED, text);
	if (uname(&kernel) == 0) {
		dwell_meta("host.kernel", kernel.release);
		dwell_meta("host.machine", kernel.machine);
	}
	dw_machine_note();
	note_cost();
}

void dw_run_note_peaks(void)
{
	struct dw_peak peak;
	char text[160];

	dw_peak_measure(&peak);
	snprintf(text, sizeof text, "%.0f", peak.flops_per_second);
	dwell_meta_json(DW_KEY_PEAK_FLOPS, text);
	snprintf(text, sizeof text,
	         "single precision multiply-adds in registers, %s, %u thread%s at once; one of them "
	         "%.1f GFLOP/s", peak.vectors, peak.threads, peak.threads == 1 ? "" : "s",
	         peak.one_thread / 1e9);
	dwell_meta("peak_flops_measured_as", text);
}

void dw_run_allow_counters(void)
{
	struct dw_counters counters = { { 0 }, { 0 }, false };
	int error = dw_counters_open(&counters);
	const char *reason = "this machine offers none, as most virtual machines";
	char text[200];

	dw_counters_close(&counters);
	if (!error) {
		__atomic_fetch_or(&dw_session.map->flags, DW_HEAD_COUNTERS, __ATOMIC_RELEASE);
		return;
	}
	if (error == EACCES || error == EPERM)
		reason = "not permitted: write 2 or less to /proc/sys/kernel/perf_event_paranoid, or permit "
		         "perf_event_open in this container";
	snprintf(text, sizeof text, "the processor's counters cannot be read: %s (perf_event_open: %s)", reason,
	         strerror(error));
	dw_say("%s", text);
	dwell_meta(DW_KEY_COUNTERS_LACK, text);
}

void dw_run_note_perf(void)
{
	char text[300];
	int fd = dw_perf_event_open_samples(1000000000), error = errno;

	if (fd >= 0) {
		close(fd);
		dw_say("stacks are sampled by perf events, with the kernel's functions");
		return;
	}
	snprintf(text, sizeof text, "perf events are not permitted (perf_event_open: %s): set kernel.perf_event_paranoid to 1 or "
	         "less, give the program CAP_PERFMON, or permit perf_event_open in this container; timers of CPU time sample the "
	         "other functions", strerror(error));
	dw_say("--sample=perf: %s", text);
	dwell_meta(DW_KEY_SAMPLE_KERNEL_LACKS, text);
}

void dw_run_note_status(int status, pid_t pid)
{
	char text[48];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof text, "{\"signal\":%d,\"pid\":%d}", WTERMSIG(status), (int)pid);
	else
		snprintf(text, sizeof text, "{\"exit\":%d,\"pid\":%d}", WEXITSTATUS(status), (int)pid);
	dwell_meta_json(DW_KEY_STATUS, text);
}

static void note_count_kills(struct dw_limit_kills *kills)
{
	dw_limits_count_kills(kills, "/proc/self/cgroup", "/sys/fs/cgroup");
}

static struct dw_limit_kills kills_before;

void dw_run_note_kills_before(void)
{
	note_count_kills(&kills_before);
}

void dw_run_note_kills(int status)
{
	struct dw_limit_kills kills;

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return;
	note_count_kills(&kills);
	if (kills.of_group > kills_before.of_group)
		dwell_meta(DW_KEY_OOM_KILLED, "its control group");
	else if (kills.of_machine > kills_before.of_machine)
		dwell_meta(DW_KEY_OOM_KILLED, "the machine");
}

void dw_run_note_delay(pid_t pid)
{
	struct dw_proc_schedule schedule;
	siginfo_t info = { 0 };
	char text[24];

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != pid ||
	    !dw_proc_read_schedule((uint32_t)pid, 0, &schedule))
		return;
	snprintf(text, sizeof text, "%llu", (unsigned long long)schedule.ready_ns);
	dwell_meta_json(DW_KEY_DELAY_NS, text);
}

void dw_run_note_wall(uint64_t wall_ns)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)wall_ns);
	dwell_meta_json(DW_KEY_WALL_NS, text);
}
