/*
 * The session: which file this process writes to.
 *
 * A process joins the file of a run (join.c), makes one next to it (side.c), or calls dwell_start() and creates its
 * own. Children of fork inherit the session.
 */
#include "record/about_process.h"
#include "record/entry.h"
#include "record/file.h"
#include "record/ids.h"
#include "record/layer_paths.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/stacks.h"
#include "record/steps.h"
#include "record/windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "base/system/system.h"

/* What an earlier session's file refused says nothing about this one. Refusals are stored under the lock, so none
 * comes later. */
static void session_forget_refusals(void)
{
	DW_STORE(dw_process->retry_ticks, 0);
	DW_STORE(dw_process->journal_retry_ticks, 0);
	DW_STORE(dw_process->replay_due, false);
}

/* Called under the lock. */
static void session_open(struct dw_head *head, int fd, const char *path, bool started_here)
{
	struct stat status;
	uint64_t run_id[2];

	_Static_assert(sizeof run_id == sizeof head->run_id, "");
	memcpy(run_id, head->run_id, sizeof run_id);
	/* The kernel makes room for the number of a copy (dw_window_file()) now, while there are few threads: with many it
	 * waits for each CPU. */
	dw_descriptor_close(dw_descriptor_copy(fd));
	DW_STORE(dw_session.opening, dw_session.opening + 1);
	if (dw_call(SYS_fstat, fd, &status) == 0) {
		DW_STORE(dw_session.device, status.st_dev);
		DW_STORE(dw_session.inode, status.st_ino);
	}
	for (size_t i = 0; i < 2; i++) /* pairs with dw_session_is_whole(): who reads it sees that a session is being opened */
		__atomic_store_n(&dw_session.run_id[i], run_id[i], __ATOMIC_RELEASE);
	if (path != dw_session.path) {
		size_t length = strnlen(path, sizeof dw_session.path - 1);

		memmove(dw_session.path, path, length);
		dw_session.path[length] = '\0';
	}
	DW_STORE(dw_session.control, (struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET));
	DW_STORE(dw_session.clock_kind, head->clock_kind);
	DW_STORE(dw_session.tick_offset, 0);
	DW_STORE(dw_session.fd, fd);
	dw_session.started_here = started_here;
	dw_session.side = dw_session.awaits = false;
	dw_session.starter = dw_getpid();
	dw_session.parent_process = 0;
	session_forget_refusals();
	__atomic_store_n(&dw_session.map, head, __ATOMIC_RELEASE);
	__atomic_store_n(&dw_session.opening, dw_session.opening + 1, __ATOMIC_RELEASE);
	DW_STORE(dw_session.generation, dw_session.generation + 1);
	__atomic_store_n(&dw_session.head, head, __ATOMIC_RELEASE);
}

static int session_adopt(struct dw_head *head, int fd, const char *path, bool started_here,
                         struct dwell_error *error)
{
	if (dw_process_prepare(&dw_register_calls) != 0 || !dw_process_lock_to_start())
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for the recorder");
	/* Now, so that the first record, which may be in a signal handler, does not have to. */
	if (!dw_process->identity.pid)
		dw_identify(&dw_process->identity);
	session_open(head, fd, path, started_here);
	dw_process_unlock();
	dw_fault_watch();
	dw_step_join();
	return 0;
}

int dw_session_adopt(int fd, const char *path, bool started_here, struct dwell_error *error)
{
	struct dw_head *head =
	    mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (head == MAP_FAILED)
		return dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", path, strerror(errno));
	return session_adopt(head, fd, path, started_here, error);
}

/* In a program that may have few descriptors the recorder keeps none: the trace is opened again when it is needed. */
static void session_drop_descriptor(void)
{
	if (!dw_descriptor_is_apart(DW_LOAD(dw_session.fd)))
		dw_window_forget_file();
}

int dw_session_adopt_head(struct dw_head *head, int fd, const char *path, struct dwell_error *error)
{
	int result = session_adopt(head, fd, path, false, error);

	if (result == 0)
		session_drop_descriptor();
	return result;
}

/* ---- a session without a file: side.c -------------------------------------------- */

bool dw_session_await(struct dw_head *head)
{
	if (session_adopt(head, -1, "", false, NULL) != 0)
		return false;
	dw_session.awaits = true;
	return true;
}

bool dw_session_move(int fd, const char *path)
{
	const struct dw_head *from = dw_session_map();
	long memory = dw_call(SYS_mmap, NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct dw_head *head = (struct dw_head *)memory;

	if (dw_system_failed(memory)) {
		dw_descriptor_close(fd);
		return false;
	}
	head->next_id = from->next_id;
	head->last_profile = from->last_profile;
	for (unsigned cause = 0; cause < DW_LOSS_SLOTS; cause++)
		__atomic_fetch_add(&head->lost[cause], DW_LOAD(from->lost[cause]), __ATOMIC_RELAXED);
	session_open(head, fd, path, false);
	dw_session.side = true;
	session_drop_descriptor();
	dw_step_join();
	return true;
}

/* ---- a program that starts itself ----------------------------------------------- */

static int session_check_options(const struct dwell_options *options, struct dwell_error *error)
{
	if (options->size != sizeof *options)
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "dwell_options.size is %zu, not %zu: use DWELL_OPTIONS_INIT",
		                    options->size, sizeof *options);
	if (options->keep > DWELL_KEEP_NEWEST)
		return dw_error_set(error, DWELL_E_ARGUMENT, "dwell_options.keep is not an enum dwell_keep");
	if (options->layers && *options->layers && !dw_layers_fit(options->layers, error))
		return DWELL_E_ARGUMENT;
	if (options->steps_from > options->steps_to)
		return dw_error_set(error, DWELL_E_ARGUMENT, "steps %llu..%llu: the first is past the last",
		                    (unsigned long long)options->steps_from,
		                    (unsigned long long)options->steps_to);
	return 0;
}

static void session_default_path(char path[4096])
{
	snprintf(path, 4096, "%s-%d.dwell", program_invocation_short_name, (int)getpid());
}

/* Makes the path absolute, so that it stays valid when the program changes its folder. */
static void session_make_absolute(char path[4096])
{
	char folder[4096];
	size_t length, path_bytes = strlen(path) + 1;

	if (path[0] == '/' || !getcwd(folder, sizeof folder))
		return;
	length = strlen(folder);
	if (length + 1 + path_bytes > sizeof folder)
		return;
	memmove(path + length + 1, path, path_bytes);
	memcpy(path, folder, length);
	path[length] = '/';
}

/* Writes the names of earlier sessions to the new file. If the process cannot be registered now, the
 * thread that registers it later writes them. */
static void session_replay(void)
{
	enum dw_loss cause;

	if (dw_process_ready(&cause)) {
		dw_intern_replay();
		return;
	}
	/* Both seq_cst pairs, here and in dw_process_ready(): either this thread sees that another one
	 * has registered the process, or that thread sees that names are due. */
	__atomic_store_n(&dw_process->replay_due, true, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&dw_process->id, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&dw_process->replay_due, false, __ATOMIC_SEQ_CST))
		dw_intern_replay();
}

/* How many ids threads may still take from the head of the earlier session: those that found it, and had no processor since. Some may
 * have no slot yet. */
static uint32_t session_late_ids(void)
{
	return 2 * __atomic_load_n(&dw_process->slot_count, __ATOMIC_ACQUIRE);
}

static int session_start(const struct dwell_options *options, struct dwell_error *error)
{
	char path[4096], actual[4096];
	struct dw_head *head;
	uint32_t next_id = 1;
	int fd, result;

	if (options->path)
		snprintf(path, sizeof path, "%s", options->path);
	else
		session_default_path(path);
	session_make_absolute(path);
	fd = dw_file_create(path, options, NULL, secure_getenv("DWELL_SPILL"), actual, error);
	if (fd < 0)
		return fd;
	head = mmap(NULL, DW_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED) {
		result = dw_error_set(error, DWELL_E_IO, "cannot map %s: %s", actual, strerror(errno));
	} else {
		dw_file_measure_clock(head);
		/* The new session continues the ids of an earlier one, because call sites have stored them. */
		if (dw_session.map)
			next_id = DW_LOAD(dw_session.map->next_id) + session_late_ids();
		head->next_id = next_id; /* before other threads can use an id */
		result = session_adopt(head, fd, actual, true, error);
	}
	if (result) {
		close(fd);
		unlink(actual);
		return result;
	}
	session_drop_descriptor();
	snprintf(dw_session.final_path, sizeof dw_session.final_path, "%s",
	         strcmp(path, actual) ? path : "");
	if (next_id > 1)
		session_replay();
	return 0;
}

/* One thread at a time starts or stops a session. In a child of fork the lock is free. */
static int lock_session(struct dwell_error *error)
{
	uint32_t nobody = 0;

	if (dw_process_prepare(&dw_register_calls) != 0)
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for the recorder");
	if (!__atomic_compare_exchange_n(&dw_process->session_lock, &nobody, (uint32_t)dw_gettid(),
	                                 false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return dw_error_set(error, DWELL_E_STATE,
		                    "another thread starts or stops a session now");
	return 0;
}

static void unlock_session(void)
{
	__atomic_store_n(&dw_process->session_lock, 0, __ATOMIC_RELEASE);
}

static int session_start_locked(const struct dwell_options *options, struct dwell_error *error)
{
	if (dw_session_head()) {
		if (dw_session.started_here && dw_session.starter == dw_getpid())
			return dw_error_set(error, DWELL_E_STATE, "recording to %s: stop that first",
			                    dw_session.path);
		return 0; /* the run's session, or the parent process's */
	}
	return session_start(options, error);
}

int dwell_start(const struct dwell_options *options, struct dwell_error *error)
{
	struct dwell_options defaults = DWELL_OPTIONS_INIT;
	DW_KEEP_ERRNO;
	int result;

	if (!options)
		options = &defaults;
	result = session_check_options(options, error);
	if (result)
		return result;
	if (!dw_may_call())
		return dw_error_set(error, DWELL_E_STATE, "the program has given up system calls (seccomp)");
	result = lock_session(error);
	if (result)
		return result;
	result = session_start_locked(options, error);
	unlock_session();
	if (result == 0 && dw_session_head())
		dw_stack_prepare(DW_LOAD(dw_session.control->mask));
	return result;
}

/* Whether the calling process ends the session. */
static bool session_is_own(void)
{
	return dw_session_head() && dw_session.started_here && dw_session.starter == dw_getpid();
}

static int session_stop_locked(struct dwell_error *error)
{
	struct dw_finish finish;
	enum dw_loss cause;
	int result, fd;

	if (!session_is_own())
		return 0;
	if (dw_session.before_stop)
		dw_session.before_stop();
	__atomic_store_n(&dwell_gate, NULL, __ATOMIC_RELAXED);
	if (dw_process_ready(&cause)) {
		dw_step_close(dw_slot_here(&cause));
		dw_libraries_note_at_end();
		dw_journal_clock();
	}
	if (!dw_process_lock_to_start())
		return dw_error_set(error, DWELL_E_STATE, "the recorder is busy in this very thread");
	__atomic_store_n(&dw_session.head, NULL, __ATOMIC_RELEASE);
	dw_process_halt();
	/* The program may have closed this descriptor and opened a file of its own with the same
	 * number, which must not be trimmed. */
	fd = dw_window_file();
	if (fd < 0) {
		result = dw_error_set(error, DWELL_E_IO, "%s is gone: it was not trimmed", dw_session.path);
	} else {
		result = dw_file_finish(fd, dw_session.path, dw_session.final_path,
		                        DW_LOAD(dw_process->id), &finish, error);
		dw_descriptor_close(fd);
	}
	dw_window_forget_file();
	dw_process_unlock();
	return result;
}

int dwell_stop(struct dwell_error *error)
{
	DW_KEEP_ERRNO;
	int result;

	if (!dw_session_head() || !dw_session.started_here)
		return 0;
	if (!dw_may_call())
		return dw_error_set(error, DWELL_E_STATE, "the program has given up system calls (seccomp): the trace is not trimmed");
	if (!session_is_own())
		return 0;
	result = lock_session(error);
	if (result)
		return result;
	result = session_stop_locked(error);
	unlock_session();
	return result;
}

/* A process in a sandbox, of which the recorder need not know, would be ended by a system call. So none is made at
 * the end unless this process has started the session itself. */
__attribute__((destructor)) static void stop_at_exit(void)
{
	DW_KEEP_ERRNO;

	dwell_stop(NULL);
	if (!dw_session_head())
		return;
	dw_quiet = true;
	if (DW_LOAD(dw_process->id)) /* this process has recorded */
		dw_libraries_note_at_end();
	dw_step_leave();
	dw_quiet = false;
	if (dw_session.side) {
		dw_session.started_here = true; /* no other process finishes a side file */
		dwell_stop(NULL);
	}
}

bool dwell_active(void)
{
	return dw_session_head() != NULL;
}

const char *dwell_trace_path(void)
{
	if (!dw_session_head() || dw_session.awaits)
		return NULL;
	return dw_session.final_path[0] ? dw_session.final_path : dw_session.path;
}
