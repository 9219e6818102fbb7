/*
 * How the probe gets into a process, and when it records.
 *
 * CUDA's driver calls InitializeInjection() when the program first uses it, before that call returns, so the
 * first kernel is recorded. One thread of the probe then looks at the gate and the bound on the cost (bursts.c), 50
 * times a second, and switches CUPTI's kinds of records on and off with them: outside the recorded windows none is
 * enabled, and the program pays nothing. The times between bursts are stored as gaps. The thread also asks CUPTI for
 * its buffers once a second, so that a program that is killed loses at most that, and pairs the clocks then.
 *
 * A child of fork cannot use CUDA that its parent started, and has no thread: nothing is done there.
 *
 * A program that asks for devices without `dwell run` (dwell.profile) loads the library by itself and calls
 * dwc_process_attach(). When its profile begins and ends it cannot wait for the thread: dwc_process_follow().
 */
#include "cuda.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "format/keys.h"

#define LOOK_NS 20000000l
#define FLUSH_NS 1000000000u /* between two flushes, also where a busy machine makes looks rare */
#define FLUSHES_AFTER 3u     /* after a window, for work that had not ended */
#define FLUSHES_OF_DOUBT 5u  /* without a buffer: another tool may have taken CUPTI unseen */
#define LONGEST_STEP_NS 10000000000u
#define HAND_OVER_S 1        /* the longest time that another tool waits for dwell */

DWC_API int InitializeInjection(void);
/* For dwell.profile and others that begin and end a profile in this process; without a session nothing happens.
 * attach() does what the driver does. NULL: devices are recorded here; else why they are not. */
DWC_API const char *dwc_process_attach(void);
/* Follows the gate at once. `flush`: afterwards the trace has the records of all work that has ended. */
DWC_API void dwc_process_follow(int flush);

static struct {
	pthread_mutex_t lock;
	pid_t pid;
	bool is_over, recorded;
	enum dwc_level level, asked;
	uint64_t asked_ns;
	uint64_t steps, steps_ns; /* steps begun so far, and when the last one was seen */
	uint64_t gap_ns; /* when the gap began that has not ended; 0: none */
	unsigned flushes_left, flushes_without;
	uint64_t returned;
} cuda = { .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP };

static void cuda_note_recorded(void)
{
	const char *name = strrchr(dwc_cupti.path, '/');
	char text[320], tier[160];

	dwc_kinds_text(tier, sizeof tier);
	snprintf(text, sizeof text, "%.90s, API %u%s%s", name ? name + 1 : dwc_cupti.path, dwc_cupti.version,
	         dwc_cupti.subscriber ? ", beside other tools" : "", tier);
	dwell_meta(DW_KEY_CUDA, text);
}

/* Between bursts. What is recorded is known from the gaps, of which one that did not end is stored, too. */
static void cuda_begin_gap(void)
{
	if (dwc_cupti_time(&cuda.gap_ns))
		dwc_records_gap(cuda.gap_ns, cuda.gap_ns);
}

static void cuda_end_gap(void)
{
	uint64_t now_ns;

	if (cuda.gap_ns && dwc_cupti_time(&now_ns))
		dwc_records_gap(cuda.gap_ns, now_ns);
	cuda.gap_ns = 0;
}

/* Afterwards CUPTI has no buffer of dwell's and no kind that dwell has enabled. */
static void cuda_stop(void)
{
	cuda.is_over = true;
	if (cuda.level == DWC_ALL)
		dwc_records_pair_clocks();
	cuda_end_gap();
	dwc_kinds_switch(DWC_OFF);
	dwc_cupti_flush(true);
	dwc_records_count_lost(true);
	if (cuda.recorded && !*dwc_cupti.lacks)
		cuda_note_recorded(); /* again: CUPTI may have said more since */
}

/* The records are another tool's from now on. What it has enabled must stay enabled. */
static void cuda_leave_to_other(void)
{
	cuda.is_over = true;
	dwell_meta(DW_KEY_CUDA_LACKS, "another tool of the program (torch.profiler, say) took CUPTI while dwell recorded; "
	           "device work is missing from then on");
}

/* If the lock is not to be had, as within a callback of CUPTI that the thread of the probe waits for, the other tool
 * goes on: dwell never stops a program. */
static enum dwc_owner cuda_enter(bool hand_over)
{
	enum dwc_owner owner = DWC_OWNER_NONE;
	struct timespec end;
	int saved = errno;

	if (cuda.pid == getpid() && clock_gettime(CLOCK_REALTIME, &end) == 0) {
		end.tv_sec += HAND_OVER_S;
		if (pthread_mutex_timedlock(&cuda.lock, &end) == 0) {
			if (hand_over && !cuda.is_over) {
				cuda_stop();
				dwc_cupti_close();
				cuda_leave_to_other();
			}
			owner = cuda.is_over ? DWC_OWNER_OTHER : DWC_OWNER_DWELL;
		}
	}
	errno = saved;
	return owner;
}

static void cuda_leave(enum dwc_owner owner)
{
	if (owner != DWC_OWNER_NONE)
		pthread_mutex_unlock(&cuda.lock);
}

static const struct dwc_handover cuda_handover = { cuda_enter, cuda_leave };

static void cuda_switch(enum dwc_level level)
{
	dwc_records_pair_clocks(); /* a first pairing is there before a buffer comes back */
	if (level == DWC_QUIET && !cuda.gap_ns)
		cuda_begin_gap();
	dwc_kinds_switch(level);
	if (level != DWC_QUIET)
		cuda_end_gap();
	dwell_device_burst(level == DWC_ALL && dwc_bursts_begun());
	cuda.level = level;
	cuda.flushes_left = FLUSHES_AFTER;
	cuda.flushes_without = 0;
	if (level == DWC_ALL && *dwc_cupti.lacks)
		dwell_meta(DW_KEY_CUDA_LACKS, dwc_cupti.lacks);
	else if (level == DWC_ALL)
		cuda_note_recorded();
	cuda.recorded |= level == DWC_ALL;
}

static uint64_t cuda_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What the gate and the bound on the cost ask for now. */
static enum dwc_level cuda_level_asked(void)
{
	if (!dwell_device_wanted())
		return DWC_OFF;
	return dwc_bursts_choose(cuda_now_ns(), dwc_records_launches()) || dwell_device_asked() ? DWC_ALL : DWC_QUIET;
}

static void cuda_switch_to(enum dwc_level level)
{
	if (level == cuda.level)
		return;
	if (dwc_cupti_taken())
		cuda_leave_to_other();
	else
		cuda_switch(level);
}

/* Called by the thread that begins a step. If the lock is not to be had, the next look asks again. */
static void cuda_switch_at_step(void)
{
	int saved = errno;

	if (cuda.pid == getpid() && pthread_mutex_trylock(&cuda.lock) == 0) {
		if (!cuda.is_over && cuda.asked != cuda.level)
			cuda_switch(cuda.asked);
		pthread_mutex_unlock(&cuda.lock);
	}
	errno = saved;
}

/* If a kind is disabled while a thread is in a call of CUDA, CUPTI takes all later calls of the thread for parts of that
 * one: they have its number. A thread that begins a step is in no call. So a program with steps switches there, unless
 * it takes longer than any usual step. */
static void cuda_look(void)
{
	uint64_t now_ns = cuda_now_ns(), steps = dwell_steps_begun();
	enum dwc_level level = cuda_level_asked();
	bool late;

	if (steps != cuda.steps)
		cuda.steps_ns = now_ns;
	cuda.steps = steps;
	if (level != cuda.asked)
		cuda.asked_ns = now_ns;
	cuda.asked = level;
	late = now_ns - cuda.steps_ns > LONGEST_STEP_NS || now_ns - cuda.asked_ns > LONGEST_STEP_NS;
	if (level == cuda.level || late)
		dwell_device_at_step(NULL);
	if (level != cuda.level && late)
		cuda_switch_to(level);
	else if (level != cuda.level && dwc_cupti_taken())
		cuda_leave_to_other();
	else if (level != cuda.level)
		dwell_device_at_step(cuda_switch_at_step);
}

static void cuda_flush(void)
{
	uint64_t returned;

	if (cuda.level != DWC_ALL && !cuda.flushes_left)
		return;
	if (cuda.level != DWC_ALL)
		cuda.flushes_left--;
	if (cuda.flushes_without >= FLUSHES_OF_DOUBT && dwc_cupti_taken()) {
		cuda_leave_to_other();
		return;
	}
	dwc_cupti_flush(false);
	dwc_records_pair_clocks();
	dwc_records_count_lost(false);
	returned = dwc_buffers_returned();
	cuda.flushes_without = returned == cuda.returned ? cuda.flushes_without + 1 : 0;
	cuda.returned = returned;
}

static void *cuda_watch(void *context)
{
	struct timespec pause = { 0, LOOK_NS };
	uint64_t flushed_ns = cuda_now_ns();

	(void)context;
	prctl(PR_SET_NAME, "dwell-cuda");
	while (!cuda.is_over) {
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&cuda.lock);
		if (!cuda.is_over)
			cuda_look();
		if (!cuda.is_over && cuda_now_ns() - flushed_ns >= FLUSH_NS) {
			cuda_flush();
			if (cuda.level != DWC_OFF)
				dwc_energy_read();
			flushed_ns = cuda_now_ns();
		}
		pthread_mutex_unlock(&cuda.lock);
	}
	return NULL;
}

static void cuda_end(void)
{
	if (cuda.pid != getpid())
		return; /* a child of fork */
	pthread_mutex_lock(&cuda.lock);
	if (!cuda.is_over && dwc_cupti_taken()) {
		cuda_leave_to_other();
	} else if (!cuda.is_over) {
		cuda_stop();
	}
	pthread_mutex_unlock(&cuda.lock);
}

static bool cuda_start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;
	bool started;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* the recorder handles faults in its file */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	started = pthread_create(&thread, NULL, cuda_watch, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

static void cuda_call_back(int domain, uint32_t id, const void *data)
{
	bool call = domain == DOMAIN_RUNTIME || domain == DOMAIN_DRIVER;
	enum dwc_call does = call ? dwc_cupti_call_of(domain == DOMAIN_RUNTIME, id) : DWC_CALL_OTHER;

	if (domain == DOMAIN_STATE)
		dwc_kinds_take_state(data);
	else if (does == DWC_CALL_SUBMITS || does == DWC_CALL_WAITS)
		dwc_noted_take(domain == DOMAIN_RUNTIME, id, data);
	else
		dwc_graphs_take(domain, id, data);
}

/* Called by CUDA's driver, perhaps more than once. Always 1: dwell never keeps a program from its devices. */
int InitializeInjection(void)
{
	int saved = errno;

	pthread_mutex_lock(&cuda.lock);
	if (cuda.pid != getpid() && dwell_device_epoch()) {
		cuda.pid = getpid();
		if (!dwc_cupti_open(&dwc_buffer_functions, cuda_call_back)) {
			cuda.is_over = true;
			dwell_meta(DW_KEY_CUDA_LACKS, dwc_cupti.lacks);
		} else {
			if (dwc_kinds_prepare())
				dwc_buffers_prepare();
			dwc_handover_watch(&cuda_handover);
			cuda_switch_to(cuda_level_asked());
			atexit(cuda_end);
			cuda_start_thread();
		}
	}
	pthread_mutex_unlock(&cuda.lock);
	errno = saved;
	return 1;
}

const char *dwc_process_attach(void)
{
	const char *lacks;

	InitializeInjection();
	pthread_mutex_lock(&cuda.lock);
	lacks = cuda.pid != getpid() ? "no session of dwell records in this process"
	      : !cuda.is_over        ? NULL
	      : *dwc_cupti.lacks     ? dwc_cupti.lacks
	                             : "another tool of the program has CUPTI";
	pthread_mutex_unlock(&cuda.lock);
	return lacks;
}

void dwc_process_follow(int flush)
{
	int saved = errno;

	pthread_mutex_lock(&cuda.lock);
	if (cuda.pid == getpid() && !cuda.is_over) {
		cuda_switch_to(cuda_level_asked());
		if (flush && !cuda.is_over && !dwc_cupti_taken()) {
			dwc_cupti_flush(false);
			dwc_records_pair_clocks();
			dwc_records_count_lost(false);
		}
	}
	pthread_mutex_unlock(&cuda.lock);
	errno = saved;
}
