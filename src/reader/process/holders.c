/*
 * What a thread waits for, and which thread holds it: locks of glibc, of Python's interpreter (GIL), and threading.RLock.
 *
 * All of this is read from memory that changes meanwhile, so that a holder counts only if what was read fits together: it is a thread
 * of the process, or a thread of the interpreter.
 */
#include "process/inside.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/code/activity.h"

#define HOLDER_SEARCHED 4096u /* bytes of the innermost functions' stack */
#define HOLDER_PTHREAD 2560u  /* bytes of the structure that pthread_self() points to: more than there are */

/* ---- what a thread waits for ------------------------------------------------------------------- */

const char *dw_holder_wait(long call)
{
	switch (call) {
	case SYS_futex: return "a lock or a condition";
	case SYS_nanosleep:
	case SYS_clock_nanosleep: return "a timer";
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
	case SYS_pause:
#endif
		return "a descriptor or a signal";
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64: return "input or output";
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect: return "a socket";
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_msync: return "a disk";
	case SYS_wait4:
	case SYS_waitid: return "a process";
	default: return NULL;
	}
}

/* ---- glibc --------------------------------------------------------------------------------------- */

/* Whether one of the innermost frames is in a function whose name contains the text. Only inside it is the address of the wait
 * what it seems to be. */
static bool holder_is_in(const struct dw_thread_read *read, const char *text)
{
	bool is = false;

	for (size_t i = 0; i < read->count && i < 4; i++) {
		const struct dw_place *place = read->mixed[i].place;

		is |= strstr(place->functions[place->count - 1].function, text) != NULL;
	}
	return is;
}

static bool holder_is_thread(uint32_t pid, int32_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%u/task/%d", pid, tid);
	return tid > 0 && access(path, F_OK) == 0;
}

/* glibc has the kernel's number of a thread in the structure that pthread_self() points to. */
uint32_t dw_holder_tid(uint32_t pid, uint64_t pthread)
{
#ifdef __x86_64__
	const uint64_t offset = 720;
#else
	const uint64_t offset = 208;
#endif
	int32_t tid = 0;

	return pthread && dw_process_memory(pid, pthread + offset, &tid, sizeof tid) && tid > 0 ? (uint32_t)tid : 0;
}

/* The thread whose end is awaited at this address. Before glibc 2.43 pthread_join() waits at the thread's number in its structure. Newer
 * versions wait at another word of the structure; its begin is found because on x86-64 its first and third word hold its own address. */
static uint32_t holder_joined(uint32_t pid, uint64_t address)
{
	uint64_t at = address & ~(uint64_t)63, words[3];
	int32_t tid = 0;

	if (dw_process_memory(pid, address, &tid, sizeof tid) && holder_is_thread(pid, tid))
		return (uint32_t)tid;
	for (unsigned i = 0; i < HOLDER_PTHREAD / 64; i++, at -= 64)
		if (dw_process_memory(pid, at, words, sizeof words) && words[0] == at && words[2] == at) {
			tid = (int32_t)dw_holder_tid(pid, at);
			return holder_is_thread(pid, tid) ? (uint32_t)tid : 0;
		}
	return 0;
}

/* glibc's lock of readers and writers has seven words before the number of the thread that writes. A thread waits at one of
 * three of them. */
static uint32_t holder_writer(uint32_t pid, uint64_t address)
{
	static const uint64_t waits_at[] = { 8, 12, 0 };
	int32_t lock[7];

	for (size_t i = 0; i < sizeof waits_at / sizeof *waits_at; i++)
		if (address > waits_at[i] && dw_process_memory(pid, address - waits_at[i], lock, sizeof lock) &&
		    holder_is_thread(pid, lock[6]))
			return (uint32_t)lock[6];
	return 0;
}

/* glibc keeps the owner of a mutex behind the lock's word, at whose address the thread waits. */
uint32_t dw_holder_native(uint32_t pid, const struct dw_thread_read *read, bool *joins)
{
	const struct dw_snapshot *snapshot = &read->snapshot;
	int32_t words[3] = { 0 };
	uint32_t joined;

	*joins = false;
	if (snapshot->call != SYS_futex)
		return 0;
	if (holder_is_in(read, "rwlock"))
		return holder_writer(pid, snapshot->argument);
	if (holder_is_in(read, "lll_lock_wait") || holder_is_in(read, "mutex_lock")) {
		if (!dw_process_memory(pid, snapshot->argument, words, sizeof words))
			return 0;
		return words[0] && words[2] > 0 ? (uint32_t)words[2] : 0;
	}
	if (!holder_is_in(read, "pthread_join") && !holder_is_in(read, "pthread_clockjoin") && !holder_is_in(read, "pthread_timedjoin"))
		return 0;
	joined = holder_joined(pid, snapshot->argument);
	*joins = joined != 0;
	return joined;
}

/* Whether a thread waits for the lock of Python's interpreter. */
static bool holder_awaits_gil(const struct dw_thread_read *read)
{
	for (size_t i = 0; i + 1 < read->count && i < 6; i++) {
		const struct dw_place *inner = read->mixed[i].place, *outer = read->mixed[i + 1].place;
		const struct dw_process_frame *function = &inner->functions[inner->count - 1];
		const char *name = function->function + strspn(function->function, "_");

		if (dw_activity_of_wait(function->module, name, outer->functions->module) == DW_ACTIVITY_GIL)
			return true;
	}
	return false;
}

/* ---- Python -------------------------------------------------------------------------------------- */

/* The thread of the interpreter whose field at `offset` has the value; 0: none has. */
static uint32_t holder_python_thread(const struct dw_python *python, uint32_t offset, uint64_t value)
{
	uint64_t found;

	for (size_t i = 0; value && i < python->count; i++) {
		const struct dw_python_thread *thread = &python->threads[i];

		if (offset == DW_PYTHON_NO_FIELD)
			found = thread->state;
		else if (!dw_process_memory(python->pid, thread->state + offset, &found, sizeof found))
			found = 0;
		if (found == value)
			return thread->tid;
	}
	return 0;
}

/* The interpreter's lock: words for its interval, the thread state that has or had it, whether it is locked, a count, and the
 * condition at which threads wait. Returns who has it, by the two words at `address`. */
static uint32_t holder_of_gil(const struct dw_python *python, uint64_t address, bool *is)
{
	uint64_t lock[2];
	uint32_t tid = 0;

	if (address && dw_process_memory(python->pid, address, lock, sizeof lock))
		tid = holder_python_thread(python, DW_PYTHON_NO_FIELD, lock[0]);
	*is = tid != 0;
	return tid && (uint32_t)lock[1] == 1 ? tid : 0;
}

/* The word of a condition at which the kernel waits is one of two, which a newer glibc has moved. */
static uint32_t holder_find_gil(struct dw_python *python, uint64_t word)
{
	static const uint64_t words_at[] = { 40, 44, 32, 36 };

	for (size_t i = 0; i < sizeof words_at / sizeof *words_at && word > 4096; i++) {
		uint64_t condition = word - words_at[i];
		bool is;
		uint32_t tid = condition % 8 ? 0 : holder_of_gil(python, condition - 24, &is);

		if (condition % 8 || !is)
			continue;
		python->gil = condition - 24;
		return tid;
	}
	return 0;
}

static bool holder_is_rlock(const struct dw_python *python, uint64_t type)
{
	static const char name[] = "_thread.RLock";
	char text[sizeof name];
	uint64_t at;

	return dw_process_memory(python->pid, type + 24, &at, sizeof at) && dw_process_memory(python->pid, at, text, sizeof text) &&
	       memcmp(text, name, sizeof text) == 0;
}

/* Of a threading.RLock, before 3.14: behind the head of the object come the address of the semaphore, at which a thread waits,
 * and the thread that has it, as pthread_self() says. The function that waits has the object's address on its stack. */
static uint32_t holder_of_rlock(const struct dw_python *python, const struct dw_snapshot *snapshot)
{
	uint64_t word, object[4];

	for (size_t at = 0; at + 8 <= snapshot->size && at < HOLDER_SEARCHED; at += 8) {
		if (!dw_snapshot_memory(snapshot, (snapshot->sp & ~(uint64_t)7) + at, &word, sizeof word))
			return 0;
		if (word < 4096 || word % 8 || !dw_process_memory(python->pid, word, object, sizeof object) ||
		    object[2] != snapshot->argument || !holder_is_rlock(python, object[1]))
			continue;
		return holder_python_thread(python, python->layout.id, object[3]);
	}
	return 0;
}

void dw_holder_find(uint32_t pid, struct dw_python *python, const struct dw_thread_read *read, struct dw_process_thread *thread)
{
	const struct dw_snapshot *snapshot = &read->snapshot;

	thread->lock = "a lock";
	if (holder_awaits_gil(read)) {
		thread->waits = thread->lock = "the interpreter's lock";
		thread->holder = python->known && snapshot->call == SYS_futex ? holder_find_gil(python, snapshot->argument) : 0;
		return;
	}
	thread->waits = dw_holder_wait(snapshot->call);
	thread->holder = dw_holder_native(pid, read, &thread->joins);
	if (thread->holder || snapshot->call != SYS_futex || !python->known || !holder_is_in(read, "sem_"))
		return;
	thread->holder = holder_of_rlock(python, snapshot);
	if (thread->holder)
		thread->lock = "an RLock";
}

/* Threads were read one after the other, and this lock changes hands many times a second. */
void dw_holder_check(const struct dw_python *python, struct dw_process *process)
{
	bool is;
	uint32_t holder = holder_of_gil(python, python->gil, &is);

	for (size_t i = 0; i < process->count; i++) {
		struct dw_process_thread *thread = &process->threads[i];

		if (thread->holder && thread->lock == thread->waits && (thread->holder != holder || holder == thread->tid))
			thread->holder = 0;
	}
}
