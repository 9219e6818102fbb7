/* Watches the machine while a program runs; see machine.h. */
#include "machine/machine.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include "base/system/background.h"
#include "base/system/limits.h"
#include "base/system/proc.h"
#include "format/keys.h"
#include "machine/processes.h"
#include "record/entry.h"
#include "record/session_state.h"

#define MACHINE_FIRST_NS 250000000u /* between two readings at the begin of a run: what a short run did after the
                                     * last one is lost */
#define MACHINE_USUAL_NS 500000000u /* between two readings after some seconds */
#define MACHINE_AGE_SHARE 256u     /* later, the time between two readings is the run's age / this */
#define MACHINE_SAMPLES 20u        /* look-ups of the main thread in MACHINE_USUAL_NS or longer */
#define MACHINE_CROWD_REST 250u    /* to count threads takes at most one part in this many of a CPU */
#define MACHINE_EARLY_NS ((uint64_t)5000000000u) /* a run is young, and its processes are looked at more often */
#define MACHINE_EARLY_REST 50u      /* which takes at most one part in this many of a CPU */

static struct {
	struct dw_background background;
	pid_t program;
	void (*look)(const struct dw_processes *processes);
} machine;

struct machine_reading {
	uint64_t ticks;
	uint64_t busy_ns; /* all processors of the machine, since it was started */
	uint64_t own_ns;  /* the program and its child processes, since their start */
	uint64_t stolen_ns; /* of all processors: they had work, and the hypervisor ran other virtual machines */
};

/* The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
static bool machine_read_stat(struct machine_reading *reading)
{
	unsigned long long times[8];
	FILE *file = fopen("/proc/stat", "re");
	int count;

	if (!file)
		return false;
	count = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &times[0], &times[1], &times[2],
	               &times[3], &times[4], &times[5], &times[6], &times[7]);
	fclose(file);
	if (count < 8)
		return false;
	reading->busy_ns = dw_proc_ns(times[0] + times[1] + times[2] + times[5] + times[6]);
	reading->stolen_ns = dw_proc_ns(times[7]);
	return true;
}

static bool machine_read(struct dw_processes *processes, struct machine_reading *reading)
{
	reading->own_ns = dw_processes_read(processes, machine.program);
	reading->ticks = dw_now();
	return machine_read_stat(reading);
}

/* What the program's main thread did when it was looked up. */
struct machine_samples {
	uint32_t all, at_lock, at_file, asleep, blocked;
	uint32_t crowd_looks, crowded; /* of its threads: see struct dw_entry_machine */
};

/* What look-ups read. The files are the main thread's and the machine's load in /proc. They stay open: to open
 * them at each look-up would take most of its time. A file that could not be opened is -1. */
struct machine_look {
	int stat_fd, wchan_fd, load_fd;
	struct dw_processes processes; /* at the last reading */
	unsigned cpus;                 /* that the program may use */
	uint64_t next_crowd_ns;        /* when its threads may be counted again */
	uint64_t early_end_ns, next_early_ns; /* until then processes are looked at between two readings; when they may be again */
};

/* Opens a file of the program's main thread. */
static int machine_open(const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)machine.program, (int)machine.program, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads a small file from its beginning. The text is "" if there is none. */
static void machine_read_text(int fd, char *text, size_t size)
{
	ssize_t length = fd < 0 ? 0 : pread(fd, text, size - 1, 0);

	text[length > 0 ? length : 0] = '\0';
}

static bool machine_has(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

/* Looks up in which function of the kernel the main thread is blocked. A thread that runs or waits
 * for a processor is not blocked. A kernel that does not name the function gives no sample. */
static void machine_sample(struct machine_look *look, struct machine_samples *samples)
{
	/* Threads that begin or end wait for the lock of the process's memory map. */
	static const char *const locks[] = { "futex", "sem_wait", "semtimedop", "rwsem_down", "vm_mmap", "munmap", "mprotect", NULL };
	static const char *const sleeps[] = { "nanosleep", "sigtimedwait", NULL };
	static const char *const files[] = {
		"folio", "page", "io_schedule", "jbd2", "ext4", "xfs", "btrfs", "nfs", "fuse", "request_wait",
		NULL, /* a pipe or a socket is another program's answer, and no file */
	};
	char text[DW_PROC_STAT_BYTES], function[128];
	struct dw_proc_stat stat;

	machine_read_text(look->stat_fd, text, sizeof text);
	if (!dw_proc_parse_stat(text, &stat))
		return;
	if (stat.state == 'S' || stat.state == 'D') {
		machine_read_text(look->wchan_fd, function, sizeof function);
		if (!*function)
			return;
		if (machine_has(function, locks))
			samples->at_lock++;
		else if (machine_has(function, sleeps))
			samples->asleep++;
		else if (stat.state == 'D' || machine_has(function, files))
			samples->at_file++;
		else if (strcmp(function, "0") == 0)
			return; /* not named, or it runs again */
		samples->blocked++;
	}
	samples->all++;
}

/* How many CPUs the main thread may use: fewer than the program's if it has bound itself. */
static unsigned machine_main_cpus(const struct machine_look *look)
{
	cpu_set_t cpus;
	unsigned count = sched_getaffinity(machine.program, sizeof cpus, &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : look->cpus;

	return count < look->cpus ? count : look->cpus;
}

/* Counts the program's threads that run or wait for a CPU. If the whole machine has no more such threads than
 * the main thread has CPUs, its threads need not be read. Where there are many, they are read more rarely. */
static void machine_sample_crowd(struct machine_look *look, struct machine_samples *samples)
{
	uint64_t begin = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	unsigned running, ready = 0, cpus = look->cpus;
	char text[128];

	if (dw_clock_ns(CLOCK_MONOTONIC) < look->next_crowd_ns)
		return;
	machine_read_text(look->load_fd, text, sizeof text);
	if (sscanf(text, "%*f %*f %*f %u", &running) != 1)
		return;
	if (running > machine_main_cpus(look) + 1) /* this thread runs too */
		ready = dw_processes_count_ready(&look->processes, &cpus);
	samples->crowd_looks++;
	if (ready > cpus)
		samples->crowded += (uint32_t)(1000.0 * (ready - cpus) / ready);
	look->next_crowd_ns = dw_clock_ns(CLOCK_MONOTONIC) +
	                      (dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * MACHINE_CROWD_REST;
}

/* Looks at the processes of a run that has just begun: many end before the next reading. */
static void machine_look_early(struct machine_look *look)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC), begin = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now_ns >= look->early_end_ns || now_ns < look->next_early_ns)
		return;
	dw_processes_read(&look->processes, machine.program);
	machine.look(&look->processes);
	look->next_early_ns = dw_clock_ns(CLOCK_MONOTONIC) + (dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * MACHINE_EARLY_REST;
}

/* Of many processors, the time between two readings of a long run may exceed what the field holds. */
static uint32_t machine_microseconds(uint64_t before_ns, uint64_t now_ns)
{
	uint64_t passed = now_ns > before_ns ? (now_ns - before_ns) / 1000 : 0;

	return passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
}

static void machine_write(const struct machine_reading *before, const struct machine_reading *now,
                          const struct machine_samples *samples)
{
	struct dw_entry_machine *entry = dw_journal_reserve(sizeof *entry);

	if (!entry)
		return;
	entry->entry.id = 0;
	entry->entry.aux = DW_USAGE_MACHINE | DW_USAGE_STOLEN;
	entry->start_ticks = before->ticks;
	entry->end_ticks = now->ticks;
	/* If a process ends and nobody waits for it, its time is lost and the sum decreases. */
	entry->busy_ns = now->busy_ns > before->busy_ns ? now->busy_ns - before->busy_ns : 0;
	entry->own_ns = now->own_ns > before->own_ns ? now->own_ns - before->own_ns : 0;
	entry->program = (uint64_t)machine.program;
	entry->looks = samples->all;
	entry->at_lock = samples->at_lock;
	entry->at_file = samples->at_file;
	entry->asleep = samples->asleep;
	entry->crowd_looks = samples->crowd_looks;
	entry->crowded = samples->crowded;
	entry->blocked = samples->blocked;
	entry->stolen_us = machine_microseconds(before->stolen_ns, now->stolen_ns);
	dw_journal_commit(entry, DW_ENTRY_USAGE);
}

/* A number below `limit`, which must not be 0; a different one at each call. */
static uint64_t machine_random(uint64_t limit)
{
	static uint64_t state;

	if (!state)
		state = dw_now() | 1;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % limit;
}

/* Sleeps until the next reading is due and looks up the main thread in between. False: the program
 * has ended. Each part of the time has one look, at a random moment: if looks were at equal distances, a
 * loop whose steps take as long would be seen in the same place of each step. */
static bool machine_sleep_and_sample(uint64_t nanoseconds, struct machine_look *look, struct machine_samples *samples)
{
	unsigned count = nanoseconds < MACHINE_USUAL_NS
	                     ? (unsigned)(nanoseconds * MACHINE_SAMPLES / MACHINE_USUAL_NS) : MACHINE_SAMPLES;
	uint64_t part = nanoseconds / count, passed = 0;

	*samples = (struct machine_samples){ 0 };
	for (unsigned i = 0; i < count; i++) {
		uint64_t moment = i * part + machine_random(part);

		if (!dw_background_sleep(&machine.background, moment - passed))
			return false;
		machine_sample(look, samples);
		machine_sample_crowd(look, samples);
		machine_look_early(look);
		passed = moment;
	}
	return dw_background_sleep(&machine.background, nanoseconds - passed);
}

/* How long the next reading is after the one before. */
static uint64_t machine_next_ns(uint64_t age_ns)
{
	uint64_t next_ns = age_ns / 8;

	if (next_ns < MACHINE_FIRST_NS)
		next_ns = MACHINE_FIRST_NS;
	if (next_ns > MACHINE_USUAL_NS)
		next_ns = MACHINE_USUAL_NS;
	return age_ns / MACHINE_AGE_SHARE > next_ns ? age_ns / MACHINE_AGE_SHARE : next_ns;
}

static void *machine_loop(void *unused)
{
	struct machine_reading before, now;
	struct machine_samples samples;
	struct machine_look look;
	uint64_t age_ns = 0, sleep_ns = machine_next_ns(0);

	if (!machine_read(&look.processes, &before))
		return NULL;
	look.stat_fd = machine_open("stat");
	look.wchan_fd = machine_open("wchan");
	look.load_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	look.cpus = dw_limits_cpus();
	look.next_crowd_ns = look.next_early_ns = 0;
	look.early_end_ns = dw_clock_ns(CLOCK_MONOTONIC) + MACHINE_EARLY_NS;
	while (machine_sleep_and_sample(sleep_ns, &look, &samples)) {
		if (!machine_read(&look.processes, &now))
			break;
		machine_write(&before, &now, &samples);
		machine.look(&look.processes);
		before = now;
		age_ns += sleep_ns;
		sleep_ns = machine_next_ns(age_ns);
	}
	if (look.stat_fd >= 0)
		close(look.stat_fd);
	if (look.wchan_fd >= 0)
		close(look.wchan_fd);
	if (look.load_fd >= 0)
		close(look.load_fd);
	return unused;
}

void dw_machine_watch(pid_t program, void (*look)(const struct dw_processes *processes))
{
	machine.program = program;
	machine.look = look;
	dw_background_begin(&machine.background, machine_loop, NULL);
}

void dw_machine_end(void)
{
	dw_background_end(&machine.background);
}

/* ---- what the machine can do -------------------------------------------------------------------- */

#define FAULT_PAGES 32u
#define FAULT_TRIES 3

static double machine_seconds(void)
{
	return (double)dw_clock_monotonic_ns() / 1e9;
}

/* The time to get a page from the kernel, to touch it and to return it, in ns; 0 if it cannot be
 * measured. The fastest of a few tries, without huge pages. */
static double machine_fault_ns(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = FAULT_PAGES * page;
	double best = 0;

	for (int i = 0; i < FAULT_TRIES; i++) {
		double begin = machine_seconds(), took;
		volatile char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if ((void *)block == MAP_FAILED)
			return 0;
		madvise((void *)block, size, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < size; at += page)
			block[at] = 1;
		munmap((void *)block, size);
		took = (machine_seconds() - begin) * 1e9 / FAULT_PAGES;
		if (i == 0 || took < best)
			best = took;
	}
	return best;
}

static const char *machine_bfloat16(void)
{
#if defined __x86_64__
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512bf16") ? "avx512_bf16" : NULL;
#elif defined __aarch64__
	return getauxval(AT_HWCAP2) & (1ul << 14) ? "bf16" : NULL; /* HWCAP2_BF16 */
#else
	return NULL;
#endif
}

void dw_machine_note(void)
{
	const char *bfloat16 = machine_bfloat16();
	double fault_ns = machine_fault_ns();
	char text[32];

	if (bfloat16)
		dwell_meta(DW_KEY_BFLOAT16, bfloat16);
	if (fault_ns > 0) {
		snprintf(text, sizeof text, "%.0f", fault_ns);
		dwell_meta_json(DW_KEY_FAULT_NS, text);
	}
}
