/*
 * What the files of the sampler share about the process and the calling thread.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/system/system.h"
#include "format/keys.h"

#define FIRST_STACK_MOST ((uintptr_t)64 << 20)

struct dws_process dws_process;
static const struct dwell_gate_word *const no_gate;
static uint32_t no_generation;
static const struct dw_sampler_calls nobody = { .gate = &no_gate, .code_generation = &no_generation };
const struct dw_sampler_calls *dws_recorder = &nobody; /* each recorder of a run passes its table before main() */
static __thread struct dws_stack own_stack __attribute__((__tls_model__("initial-exec")));

const struct dws_stack *dws_own_stack(void)
{
	return &own_stack;
}

/* The first thread's stack grows: only its end and its limit are known. */
void dws_take_first_stack(void)
{
	struct rlimit limit;
	uintptr_t most = FIRST_STACK_MOST;

	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most)
		most = (uintptr_t)limit.rlim_cur;
	own_stack.high = (uintptr_t)getauxval(AT_RANDOM) & ~(uintptr_t)15;
	own_stack.low = own_stack.high > most ? own_stack.high - most : 0;
}

void dws_take_stack(uintptr_t low, uintptr_t high)
{
	own_stack = (struct dws_stack){ low, high };
}

uint64_t dws_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void dws_clear(void *memory, size_t bytes)
{
	uint64_t *words = memory;

	for (size_t i = 0; i < bytes / sizeof *words; i++)
		if (words[i])
			words[i] = 0;
}

/* The kernel reads the set of signals before it finds that the request is not valid, and changes nothing. That takes a
 * tenth of the time of process_vm_readv(). */
bool dws_can_read(uintptr_t at)
{
	uintptr_t page = at & ~(DWS_PAGE - 1);

	return page && dw_system(SYS_rt_sigprocmask, -1, (long)page, 0, 8, 0, 0) == -EINVAL;
}

/* The same without the kernel's copying, which a sandbox may refuse. */
static size_t process_copy_looking(void *to, uintptr_t from, size_t bytes)
{
	size_t done = 0;

	while (done < bytes && dws_can_read(from + done)) {
		size_t left = DWS_PAGE - (from + done) % DWS_PAGE;
		size_t next = left < bytes - done ? left : bytes - done;

		memcpy((char *)to + done, (const char *)from + done, next);
		done += next;
	}
	return done;
}

size_t dws_copy(void *to, uintptr_t from, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)from, bytes };
	long got = dw_system(SYS_process_vm_readv, dws_process.pid, (long)(uintptr_t)&here, 1, (long)(uintptr_t)&there, 1, 0);

	if (!dw_system_failed(got))
		return (size_t)got;
	return got == -EFAULT ? 0 : process_copy_looking(to, from, bytes);
}

const void *dws_word(struct dws_memory *memory, uintptr_t at)
{
	uintptr_t page = at & ~(DWS_PAGE - 1);

	if (at >= memory->low && at < memory->high)
		return (const void *)at;
	for (unsigned i = 0; i < DWS_PAGES; i++)
		if (memory->pages[i] == page)
			return page ? (const void *)at : NULL;
	if (!dws_can_read(at))
		return NULL;
	memory->pages[memory->next++ % DWS_PAGES] = page;
	return (const void *)at;
}

struct place {
	uintptr_t address;
	bool found;
};

/* Called for the program's own file first, and for no other. */
static int process_contains(struct dl_phdr_info *file, size_t bytes, void *data)
{
	struct place *place = data;

	(void)bytes;
	for (unsigned i = 0; i < file->dlpi_phnum && !place->found; i++)
		place->found = file->dlpi_phdr[i].p_type == PT_LOAD &&
		               place->address - (file->dlpi_addr + file->dlpi_phdr[i].p_vaddr) < file->dlpi_phdr[i].p_memsz;
	return 1;
}

__attribute__((visibility("default"))) void dwp_sampler_adopt_4(const struct dw_sampler_calls *calls)
{
	struct place place = { (uintptr_t)calls, false };

	dl_iterate_phdr(process_contains, &place);
	if (dws_recorder == &nobody || (place.found && !__atomic_load_n(&dws_process.noted, __ATOMIC_RELAXED)))
		dws_recorder = calls;
}

bool dws_has_worked(long periods)
{
	struct timespec used = { 0, 0 };

	dw_system(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)(uintptr_t)&used, 0, 0, 0, 0);
	return used.tv_sec * 1000000000l + used.tv_nsec >= periods * dws_process.period_ns;
}

bool dws_note(bool has_sample)
{
	static const char *const methods[2][2] = {
		{ "timers of CPU time, frame pointers", "timers of CPU time, unwind tables" },
		{ "perf events with the kernel's functions, frame pointers", "perf events with the kernel's functions, unwind tables" },
	};
	char text[32];
	size_t at = sizeof text - 1;

	if (__atomic_load_n(&dws_process.noted, __ATOMIC_RELAXED))
		return true;
	if (!dws_recorder->meta_try || (!has_sample && !dws_process.is_program && !dws_has_worked(1)))
		return false;
	text[at] = '\0';
	for (unsigned long ns = (unsigned long)dws_process.period_ns; at && ns; ns /= 10)
		text[--at] = (char)('0' + ns % 10);
	/* It fails in a handler that interrupted the recorder while it registered the process. The next sample tries again:
	 * samples without a period stand for nothing. Two threads may write it twice, and the last entry of a key counts. */
	if (!dws_recorder->meta_try(DW_KEY_SAMPLE_PERIOD_NS, text + at, true) ||
	    !dws_recorder->meta_try(DW_KEY_SAMPLE_METHOD, methods[dws_process.has_perf][dws_process.has_tables], false) ||
	    (dws_process.lacks && !dws_recorder->meta_try(DW_KEY_SAMPLE_LACKS, dws_process.lacks, false)))
		return false;
	__atomic_store_n(&dws_process.noted, 1, __ATOMIC_RELAXED);
	return true;
}

static void process_lack(void *why)
{
	if (!__atomic_load_n(&dws_process.noted, __ATOMIC_RELAXED))
		dws_note(false);
	else
		dws_recorder->meta_try(DW_KEY_SAMPLE_LACKS, why, false);
}

void dws_lack(const char *why)
{
	if (dws_process.lacks)
		return;
	dws_process.lacks = why;
	dws_apart(process_lack, (void *)(uintptr_t)why);
}
