/* Looks at the threads of a process; see follow.h. */
#include "process/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/system/clock.h"
#include "base/system/proc.h"
#include "process/inside.h"

#define FOLLOW_COPY (64u << 10)        /* bytes of a stack that are copied while its thread is stopped */
#define FOLLOW_LIST_NS 50000000u       /* between two looks for new threads, and for a library that is not known */
#define FOLLOW_MODULES_NS 1000000000u  /* between two looks for new libraries, and two tries to stop threads */
#define FOLLOW_PATIENCE_NS 2000000u    /* a thread that is on a CPU stops sooner */
#define FOLLOW_END_NS 2000000000u      /* for threads that stop late */
#define FOLLOW_TRIES 3u
#define FOLLOW_SWITCH_NS 50000u        /* from the loss of the CPU to this process until its clock is read */
#define FOLLOW_RETURNS 64u

struct follow_return {
	uint64_t at, value; /* a return address in memory */
};

struct follow_thread {
	uint32_t tid;
	char name[64];
	bool named;            /* it was asked whether Python has a name */
	bool listed;           /* in the last list of threads */
	bool known;            /* there was a look before */
	uint64_t look_ns, cpu_ns, ready_ns, slices;
	/* The last wait. */
	bool waits;
	long call;
	uint64_t argument, sp, pc;
	uint32_t holder;
	struct follow_return returns[FOLLOW_RETURNS];
	size_t return_count;
	const struct dw_place **places;
	size_t count, capacity;
};

struct dw_follow {
	struct dw_process process;
	struct dw_unwind unwind;
	struct dw_python python;
	struct dw_thread_read read;
	struct follow_thread **threads; /* by tid */
	size_t count, capacity;
	int memory;            /* descriptor of /proc/PID/mem: its memory, also after another program began */
	uint64_t some_address; /* that can be read */
	uint64_t maps_hash;
	uint64_t list_ns, modules_ns, denied_ns; /* times of the last looks; of the last refusal to stop, or 0 */
	const char *problem;
	uint64_t round_ns, round; /* begin of this look; its number */
	uint64_t slices, ready_ns; /* of the thread, before its stop: how often it was given a CPU, and waited for one */
	bool on_cpu, new_slice;    /* at its stop: it had a CPU during this look; it lost it before the stop */
	bool python_listed;    /* in this look */
	bool no_memory;
};

/* ---- the process ------------------------------------------------------------------------------- */

struct follow_hash {
	uint64_t hash, some_address;
};

static bool follow_take_mapping(void *context, const struct dw_proc_mapping *mapping)
{
	const uint64_t place[] = { mapping->low, mapping->high, mapping->offset, mapping->inode };
	struct follow_hash *hash = context;

	if (mapping->access[0] == 'r' && !hash->some_address)
		hash->some_address = mapping->low;
	if (mapping->access[2] == 'x')
		hash->hash = hash->hash * 31 + dw_map_hash_bytes(0, place, sizeof place) +
		             dw_map_hash_bytes(0, mapping->path, strlen(mapping->path));
	return true;
}

/* A hash of the mappings with code, and an address that can be read. */
static uint64_t follow_hash_maps(struct dw_follow *follow)
{
	struct follow_hash hash = { 0, follow->some_address };

	dw_proc_read_maps(follow->process.pid, follow_take_mapping, &hash);
	follow->some_address = hash.some_address;
	return hash.hash;
}

static bool follow_has_ended(uint32_t pid)
{
	struct dw_proc_stat stat;

	return !dw_proc_read_stat(pid, 0, &stat) || stat.state == 'Z' || stat.state == 'X';
}

/* The memory of a program that has ended, or that called exec(), reads as an empty file. */
static int follow_state(const struct dw_follow *follow)
{
	char byte;

	if (follow->memory >= 0 && pread(follow->memory, &byte, 1, (off_t)follow->some_address) != 0)
		return DW_FOLLOW_LIVES;
	if (follow_has_ended(follow->process.pid))
		return DW_FOLLOW_ENDED;
	return follow->memory >= 0 ? DW_FOLLOW_EXECUTED : DW_FOLLOW_LIVES;
}

int dw_follow_open(struct dw_follow **result, uint32_t pid, struct dwell_error *error)
{
	struct dw_follow *follow = calloc(1, sizeof *follow);
	char path[40];
	int code;

	*result = NULL;
	if (!follow)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	follow->process.pid = pid;
	snprintf(path, sizeof path, "/proc/%u/mem", pid);
	follow->memory = open(path, O_RDONLY | O_CLOEXEC);
	code = follow_has_ended(pid) ? dw_error_set(error, DWELL_E_NO_DATA, "there is no process %u", pid)
	                             : dw_unwind_open(&follow->unwind, &follow->process, error);
	if (code) {
		dw_follow_close(follow);
		return code;
	}
	follow->unwind.names_later = true;
	follow->maps_hash = follow_hash_maps(follow);
	follow->modules_ns = dw_clock_monotonic_ns();
	dw_python_find(&follow->python, &follow->unwind);
	*result = follow;
	return 0;
}

static void follow_renew(struct dw_follow *follow, uint64_t now_ns)
{
	uint64_t hash = follow_hash_maps(follow);

	follow->modules_ns = now_ns;
	follow->unwind.unknown = false;
	if (hash == follow->maps_hash)
		return;
	follow->maps_hash = hash;
	dw_unwind_renew(&follow->unwind);
	if (!follow->python.runtime)
		dw_python_find(&follow->python, &follow->unwind);
}

static void follow_renew_at_times(struct dw_follow *follow, uint64_t now_ns)
{
	if (now_ns - follow->modules_ns >= (follow->unwind.unknown ? FOLLOW_LIST_NS : FOLLOW_MODULES_NS))
		follow_renew(follow, now_ns);
}

const struct dw_process *dw_follow_process(const struct dw_follow *follow)
{
	return &follow->process;
}

const char *dw_follow_problem(const struct dw_follow *follow)
{
	return follow->problem;
}

const char *dw_follow_made(struct dw_follow *follow, uint64_t address, char text[DW_CODE_NAME_BYTES])
{
	return dw_made_name(&follow->unwind.made, address, text);
}

const char *dw_follow_made_lacks(const struct dw_follow *follow)
{
	return follow->unwind.made.lacks;
}

/* ---- its threads ------------------------------------------------------------------------------- */

/* Where the thread is in the list, or would be. */
static size_t follow_find(const struct dw_follow *follow, uint32_t tid)
{
	return DW_FIRST(i, 0, follow->count, follow->threads[i]->tid >= tid);
}

/* A thread that is not in the first list has begun since the list before. */
static bool follow_add(struct dw_follow *follow, uint32_t tid)
{
	size_t at = follow_find(follow, tid);
	struct follow_thread *thread;

	if (at < follow->count && follow->threads[at]->tid == tid) {
		follow->threads[at]->listed = true;
		return true;
	}
	thread = calloc(1, sizeof *thread);
	if (!thread || !DW_GROW(&follow->threads, &follow->capacity, follow->count)) {
		free(thread);
		return false;
	}
	memmove(&follow->threads[at + 1], &follow->threads[at], (follow->count - at) * sizeof *follow->threads);
	follow->threads[at] = thread;
	follow->count++;
	thread->tid = tid;
	thread->listed = true;
	thread->known = follow->list_ns != 0;
	thread->look_ns = follow->list_ns;
	return true;
}

static void follow_drop(struct follow_thread *thread)
{
	DW_FREE(thread->places, thread);
}

static bool follow_list(struct dw_follow *follow, uint64_t now_ns)
{
	char path[40];
	struct dirent *entry;
	size_t kept = 0;
	bool good = true;
	DIR *folder;

	if (follow->list_ns && now_ns - follow->list_ns < FOLLOW_LIST_NS)
		return true;
	snprintf(path, sizeof path, "/proc/%u/task", follow->process.pid);
	folder = opendir(path);
	for (size_t i = 0; i < follow->count; i++)
		follow->threads[i]->listed = false;
	while (folder && good && (entry = readdir(folder)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		good = !tid || follow_add(follow, tid);
	}
	if (folder)
		closedir(folder);
	for (size_t i = 0; i < follow->count; i++)
		if (follow->threads[i]->listed)
			follow->threads[kept++] = follow->threads[i];
		else
			follow_drop(follow->threads[i]);
	follow->count = kept;
	follow->list_ns = now_ns;
	return good;
}

/* ---- times of a thread ------------------------------------------------------------------------- */

/* What the kernel counted of the thread. False: it has ended. */
static bool follow_read_times(const struct dw_follow *follow, uint32_t tid, uint64_t *cpu_ns, uint64_t *ready_ns,
                              uint64_t *slices)
{
	struct dw_proc_schedule schedule;

	if (!dw_proc_read_schedule(follow->process.pid, tid, &schedule))
		return false;
	*cpu_ns = schedule.cpu_ns;
	*ready_ns = schedule.ready_ns;
	*slices = schedule.slices;
	return true;
}

/* ---- the stack of a thread --------------------------------------------------------------------- */

/* A library that the stack is in may have come to the place of another one since the modules were read. */
static bool follow_walk_native(struct dw_follow *follow)
{
	struct dw_thread_read *read = &follow->read;
	bool whole = dw_unwind_walk(&follow->unwind, &read->snapshot, read->native, &read->native_count);

	if (!dw_unwind_is_current(&follow->unwind, read->native, read->native_count)) {
		follow_renew(follow, dw_clock_monotonic_ns());
		whole = dw_unwind_walk(&follow->unwind, &read->snapshot, read->native, &read->native_count);
	}
	return whole;
}

static void follow_walk_python(struct dw_follow *follow)
{
	follow->read.python_count = dw_python_walk(&follow->python, follow->read.snapshot.tid, follow->read.python);
}

/* Without stopping the thread: frames count if two walks agree. */
static void follow_walk_python_twice(struct dw_follow *follow)
{
	struct dw_thread_read *read = &follow->read;

	for (unsigned i = 0; i < FOLLOW_TRIES; i++) {
		uint64_t hash[2];

		for (int n = 0; n < 2; n++) {
			follow_walk_python(follow);
			hash[n] = read->python_count;
			for (size_t k = 0; k < read->python_count; k++)
				hash[n] = hash[n] * 31 + dw_map_hash(read->python[k].code ^ (uint64_t)read->python[k].instruction);
		}
		if (hash[0] == hash[1])
			return;
	}
	read->python_count = 0;
}

/* A stop makes some calls return EINTR although no signal was handled (signal(7)). These do not. */
static bool follow_may_interrupt(long call)
{
	switch (call) {
	case SYS_futex:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_wait4:
	case SYS_waitid:
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
#endif
		return true;
	default: return false;
	}
}

/* Whether the kernel refuses to stop threads of this process. It says the same of a thread that ends at this moment,
 * and of one that this process stops already. Sets *tracer to the process that traces the thread, or 0. */
static bool follow_is_denied(const struct dw_follow *follow, uint32_t tid, int code, unsigned long *tracer)
{
	char text[4096], *found;

	*tracer = 0;
	if ((code != EPERM && code != EACCES) ||
	    dw_proc_read(follow->process.pid, tid, "status", text, sizeof text) <= 0)
		return false;
	found = strstr(text, "\nState:");
	if (found && strchr("ZX", found[7 + strspn(found + 7, " \t")]))
		return false;
	found = strstr(text, "\nTracerPid:");
	*tracer = found ? strtoul(found + 11, NULL, 10) : 0;
	return *tracer != (unsigned long)getpid();
}

/* Why the kernel does not let a thread be stopped. */
static const char *follow_explain(struct dw_follow *follow, int code, unsigned long tracer)
{
	if (tracer)
		return dw_arena_printf(&follow->process.arena,
		                       "process %lu traces it, as a debugger does: detach that one for native "
		                       "frames of threads that run",
		                       tracer);
	return dw_arena_printf(&follow->process.arena, "threads that run cannot be stopped for their native frames: %s",
	                       dw_process_explain(code));
}

/* While the thread is stopped. A thread that had no CPU when the look began stops where it lost it, or where its wait
 * ended, and that says nothing of where it used time. One that lost it to this process is where the look found it. */
static void follow_copy(void *context)
{
	struct dw_follow *follow = context;
	uint64_t cpu_ns, ready_ns = 0, slices = 0;

	follow_read_times(follow, follow->read.snapshot.tid, &cpu_ns, &ready_ns, &slices);
	follow->new_slice = slices != follow->slices;
	follow->on_cpu = !follow->new_slice ||
	                 (!follow->read.snapshot.in_call &&
	                  ready_ns - follow->ready_ns <= dw_clock_monotonic_ns() - follow->round_ns + FOLLOW_SWITCH_NS);
	follow_walk_python(follow);
}

/* Stops the thread and walks. Returns an errno. */
static int follow_stop(struct dw_follow *follow, struct follow_thread *thread, struct dw_follow_look *look)
{
	struct dw_thread_read *read = &follow->read;
	unsigned long tracer;
	int code = EPERM;

	if (!follow->denied_ns || look->now_ns - follow->denied_ns > FOLLOW_MODULES_NS) {
		code = dw_snapshot_stop(&read->snapshot, FOLLOW_COPY, FOLLOW_PATIENCE_NS, follow_copy, follow);
		follow->denied_ns = follow_is_denied(follow, thread->tid, code, &tracer) ? look->now_ns : 0;
		if (follow->denied_ns && !follow->problem)
			follow->problem = follow_explain(follow, code, tracer);
		/* Else it waited for a CPU at first, and stood still anyway. */
		if (!code && !follow->new_slice)
			look->stopped_ns = read->snapshot.stopped_ns;
	}
	read->native_count = 0;
	if (!code)
		follow_walk_native(follow);
	else
		follow_walk_python_twice(follow);
	return code;
}

/* Once, when frames of Python were seen first. The main thread has the program's name. */
static void follow_name_python(struct dw_follow *follow, struct follow_thread *thread)
{
	const struct dw_thread_read *read = &follow->read;
	char name[sizeof thread->name];

	if (thread->named || !read->python_count || thread->tid == follow->process.pid)
		return;
	thread->named = true;
	if (dw_python_thread_name(&follow->python, &follow->process.arena, &read->python[read->python_count - 1], name))
		memcpy(thread->name, name, sizeof name);
}

static bool follow_keep(struct dw_follow *follow, struct follow_thread *thread)
{
	struct dw_thread_read *read = &follow->read;

	if (!dw_stacks_mix(read, &follow->unwind, &follow->python))
		return false;
	follow_name_python(follow, thread);
	thread->count = 0;
	for (size_t i = 0; i < read->count; i++)
		if (!DW_APPEND(&thread->places, &thread->capacity, &thread->count, read->mixed[i].place))
			return false;
	return true;
}

/* Remembers where the outer return addresses lie. On x86-64 a call puts them below the caller's stack pointer. */
static void follow_keep_returns(struct follow_thread *thread, const struct dw_thread_read *read)
{
	thread->return_count = 0;
#ifdef __x86_64__
	for (size_t i = 1; i < read->native_count && thread->return_count < FOLLOW_RETURNS; i++)
		if (read->native[i].sp)
			thread->returns[thread->return_count++] = (struct follow_return){ read->native[i].sp - 8, read->native[i].pc + 1 };
#endif
}

/* Whether a thread waits with the stack that it had at the last wait: all return addresses are where they were. */
static bool follow_is_stack_of(const struct dw_follow *follow, const struct follow_thread *thread)
{
	const struct dw_snapshot *snapshot = &follow->read.snapshot;

	if (!thread->return_count || snapshot->call != thread->call || snapshot->sp != thread->sp || snapshot->pc != thread->pc)
		return false;
	for (size_t i = 0; i < thread->return_count; i++) {
		uint64_t value;

		if (!dw_snapshot_memory(snapshot, thread->returns[i].at, &value, sizeof value) || value != thread->returns[i].value)
			return false;
	}
	return true;
}

/* A thread that is blocked. False: it runs again. */
static bool follow_read_wait(struct dw_follow *follow, struct follow_thread *thread, struct dw_follow_look *look)
{
	struct dw_thread_read *read = &follow->read;
	struct dw_snapshot *snapshot = &read->snapshot;
	long call = snapshot->call;
	uint64_t argument = snapshot->argument, sp = snapshot->sp, pc = snapshot->pc;
	bool whole, joins, known = follow_is_stack_of(follow, thread) && !follow->python.known;

	if (!known) {
		follow_walk_python(follow);
		whole = follow_walk_native(follow);
		if (!dw_snapshot_holds(snapshot))
			return false;
		if (!whole && follow_may_interrupt(call)) {
			/* Its frames of Python stay as they are. */
			follow_stop(follow, thread, look);
			if (dw_snapshot_is_late(thread->tid))
				return false;
		}
		snapshot->call = call;
		snapshot->argument = argument;
		follow->no_memory |= !follow_keep(follow, thread);
		follow_keep_returns(thread, read);
		thread->holder = dw_holder_native(follow->process.pid, read, &joins);
		if (joins)
			thread->holder = 0; /* it holds no lock */
	}
	thread->call = call;
	thread->argument = argument;
	thread->sp = sp;
	thread->pc = pc;
	return true;
}

static const char *follow_name_wait(const struct dw_follow *follow, const struct follow_thread *thread)
{
	struct dw_proc_stat stat;

	if (thread->call >= 0)
		return dw_holder_wait(thread->call);
	return dw_proc_read_stat(follow->process.pid, thread->tid, &stat) && (stat.state == 'T' || stat.state == 't')
	           ? "the end of a stop" : "memory";
}

/* ---- a look ------------------------------------------------------------------------------------ */

static void follow_read_name(const struct dw_follow *follow, struct follow_thread *thread)
{
	if (dw_proc_read(follow->process.pid, thread->tid, "comm", thread->name, sizeof thread->name) > 0)
		thread->name[strcspn(thread->name, "\n")] = '\0';
}

/* Sets what the thread does now. False: there is nothing to say of it. */
static bool follow_look_at(struct dw_follow *follow, struct follow_thread *thread, struct dw_follow_look *look, bool moved)
{
	struct dw_thread_read *read = &follow->read;
	struct dw_snapshot *snapshot = &read->snapshot;
	int code;

	if (dw_snapshot_is_late(thread->tid))
		return thread->waits = false;
	look->same = thread->waits && !moved;
	if (look->same) {
		look->waits = true;
		return true;
	}
	if (!follow->python_listed && follow->python.known)
		follow->no_memory |= !dw_python_list(&follow->python);
	follow->python_listed = true;
	snapshot->pid = follow->process.pid;
	snapshot->tid = thread->tid;
	read->native_count = read->python_count = 0;
	thread->waits = look->waits = dw_snapshot_blocked(snapshot) && follow_read_wait(follow, thread, look);
	if (look->waits)
		return true;
	/* It is ready to run, and has no CPU: it is where it was. */
	if (!look->cpu_ns)
		return false;
	thread->return_count = 0;
	code = follow_stop(follow, thread, look);
	if (code ? !follow->denied_ns : !follow->on_cpu)
		return false;
	follow->no_memory |= !follow_keep(follow, thread);
	return true;
}

static void follow_look_thread(struct dw_follow *follow, struct follow_thread *thread,
                               void (*take)(void *context, const struct dw_follow_look *look), void *context)
{
	struct dw_follow_look look = { .tid = thread->tid, .name = thread->name, .since_ns = thread->look_ns };
	uint64_t cpu_ns, ready_ns, slices;
	bool moved;

	dw_snapshot_let_go();
	if (!follow_read_times(follow, thread->tid, &cpu_ns, &ready_ns, &slices))
		return;
	if (!thread->name[0])
		follow_read_name(follow, thread);
	look.now_ns = dw_clock_monotonic_ns();
	if (thread->known) {
		look.cpu_ns = cpu_ns - thread->cpu_ns;
		look.ready_ns = ready_ns - thread->ready_ns;
	} else {
		look.since_ns = look.now_ns;
	}
	follow->slices = slices;
	follow->ready_ns = ready_ns;
	moved = !thread->known || look.cpu_ns || slices != thread->slices;
	look.seen = follow_look_at(follow, thread, &look, moved);
	thread->known = true;
	thread->look_ns = look.now_ns;
	thread->cpu_ns = cpu_ns;
	thread->ready_ns = ready_ns;
	thread->slices = slices;
	if (look.waits) {
		look.wait = follow_name_wait(follow, thread);
		look.holder = thread->holder;
	}
	look.places = thread->places;
	look.count = look.seen ? thread->count : 0;
	take(context, &look);
}

int dw_follow_look(struct dw_follow *follow, void (*take)(void *context, const struct dw_follow_look *look), void *context)
{
	uint64_t now_ns = dw_clock_monotonic_ns();
	int state = follow_state(follow);

	if (state != DW_FOLLOW_LIVES)
		return state;
	follow_renew_at_times(follow, now_ns);
	follow->no_memory |= !follow_list(follow, now_ns);
	follow->python_listed = false;
	follow->round_ns = now_ns;
	follow->round++;
	/* Each time another thread is first, for which the caller hurried. */
	for (size_t i = 0; i < follow->count && !follow->no_memory; i++)
		follow_look_thread(follow, follow->threads[(i + follow->round) % follow->count], take, context);
	dw_snapshot_hurry(false);
	return follow->no_memory || follow->unwind.no_memory ? DWELL_E_NOMEM : DW_FOLLOW_LIVES;
}

bool dw_follow_sleep(uint64_t ns)
{
	dw_snapshot_hurry(true);
	return dw_snapshot_sleep(ns);
}

bool dw_follow_let_go(void)
{
	uint64_t end_ns = dw_clock_monotonic_ns() + FOLLOW_END_NS;

	while (!dw_snapshot_let_go() && dw_clock_monotonic_ns() < end_ns)
		dw_snapshot_sleep(1000000);
	return dw_snapshot_let_go();
}

void dw_follow_close(struct dw_follow *follow)
{
	for (size_t i = 0; i < follow->count; i++)
		follow_drop(follow->threads[i]);
	free(follow->threads);
	dw_python_reset(&follow->python);
	dw_unwind_close(&follow->unwind);
	if (follow->memory >= 0)
		close(follow->memory);
	dw_arena_reset(&follow->process.arena);
	free(follow);
}
