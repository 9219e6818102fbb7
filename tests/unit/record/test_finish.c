/*
 * Joining a file while its owner removes unused blocks, tested for each order of events: everything
 * that a process wrote is kept, and blocks to which it may still write are not removed.
 */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/system/host.h"
#include "record/file.h"
#include "record/journal.c"
#include "session.h"

static uint32_t file_blocks(void)
{
	struct stat status;

	return stat(session_path, &status) == 0 ? (uint32_t)(status.st_size / DW_BLOCK_BYTES) : 0;
}

/* The owner's half, as dwell_stop() and `dwell run` do it. */
static struct dw_finish finish_file(void)
{
	struct dw_finish finish = { 0 };
	int file = open(session_path, O_RDWR | O_CLOEXEC);

	CHECK_EQ(dw_file_finish(file, session_path, "", 0, &finish, NULL), 0);
	close(file);
	return finish;
}

/* A child does `part`, which returns its exit status; the session is this process's. */
static int in_child(int (*part)(void))
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(part());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct dw_entry_process self;

/* Another process finishes: how many it finds alive. */
static int finished_alive(void)
{
	return (int)finish_file().alive;
}

/* Claims a window as registration does. */
static uint32_t claim_first(char **address)
{
	enum dw_loss cause;

	DW_STORE(dw_process->pid, (uint32_t)getpid());
	DW_STORE(dw_process->new_id, dw_new_id());
	self = (struct dw_entry_process){ .entry = { .bytes = sizeof self, .id = dw_process->new_id },
		.pid = (uint32_t)getpid(), .pid_namespace = dw_host_namespace("pid") };
	return dw_window_take(DW_CLAIM_RESERVED, address, &cause);
}

static int joins_before(void)
{
	struct dw_chunk header = { .type = DW_CHUNK_JOURNAL, .number = 1, .process = 7 };
	enum dw_loss cause;
	char *address;
	uint32_t block = claim_first(&address);
	int alive;

	if (!block || !journal_join_file(dw_session.fd, block, &header, &self, &cause))
		return 1;
	alive = in_child(finished_alive);
	memset(address + DW_CHUNK_HEADER_BYTES + sizeof self, 1, 60000); /* no SIGBUS */
	return alive == 1 ? 0 : 2;
}

/* The owner finishes between the claim and the announcement. */
static int joins_after(void)
{
	struct dw_chunk header = { .type = DW_CHUNK_JOURNAL, .number = 1, .process = 7 };
	enum dw_loss cause;
	char *address;
	uint32_t block = claim_first(&address), blocks = file_blocks();

	if (finish_file().alive || file_blocks() >= blocks)
		return 1;
	if (!dw_session_map()->end_blocks)
		return 2;
	if (!journal_join_file(dw_session.fd, block, &header, &self, &cause))
		return 3;
	if (file_blocks() < blocks || dw_session_map()->end_blocks)
		return 4;
	memset(address + DW_CHUNK_HEADER_BYTES + sizeof self, 1, 60000); /* no SIGBUS */
	return ((struct dw_chunk *)(void *)address)->magic == DW_CHUNK_MAGIC ? 0 : 5;
}

/* The owner is at work: the claim is given up untouched. */
static int joins_during(void)
{
	char *address;

	if (!claim_first(&address))
		return 1;
	dw_process->window = 0;
	__atomic_fetch_or(&dw_session_map()->flags, DW_HEAD_FINISHING, __ATOMIC_SEQ_CST);
	if (dw_journal_open(&self) || DW_LOAD(dw_process->refusal) != DW_LOSS_STOPPED)
		return 2;
	__atomic_fetch_xor(&dw_session_map()->flags, DW_HEAD_FINISHING | DW_HEAD_FINISHED,
	                   __ATOMIC_SEQ_CST);
	return dw_journal_open(&self) ? 0 : 3;
}

static int (*chosen)(void);

/* A process's first session: with a later one it would register at the start. */
static int run_session(void)
{
	int result;

	if (!session_begin(0))
		return 99;
	result = in_child(chosen);
	session_end();
	return result;
}

static void run_part(int (*part)(void))
{
	chosen = part;
	CHECK_EQ(in_child(run_session), 0);
}

TEST(a_process_that_has_joined_keeps_its_blocks)
{
	run_part(joins_before);
}

TEST(a_process_that_joins_after_the_end_gets_its_blocks_again)
{
	run_part(joins_after);
}

TEST(a_process_that_joins_during_the_end_writes_nothing)
{
	run_part(joins_during);
}

/* Another process is alive, registered or not yet: nothing is removed, now and later. */
static int announces_and_waits(void)
{
	struct dw_chunk header = { .type = DW_CHUNK_JOURNAL, .number = 1, .process = 7 };
	enum dw_loss cause;
	char *address;
	uint32_t block = claim_first(&address);

	if (!block || !journal_join_file(dw_session.fd, block, &header, &self, &cause))
		return 1;
	pause();
	return 0;
}

static int stopped_removal(void)
{
	struct dw_finish finish = { 0 };
	uint32_t blocks;
	pid_t child;
	int file;

	if (!session_begin(0))
		return 99;
	child = fork();
	if (child == 0)
		_exit(announces_and_waits());
	file = open(session_path, O_RDWR | O_CLOEXEC);
	while (!dw_file_writers(file, 0))
		usleep(100);
	blocks = file_blocks();
	if (dw_file_finish(file, session_path, "", 0, &finish, NULL) != 0 || finish.alive != 1)
		return 1;
	if (file_blocks() != blocks || dw_session_map()->end_blocks)
		return 2;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* Only the first finish removes: a process that has joined since relies on it. */
	finish = finish_file();
	close(file);
	session_end();
	return finish.alive || finish.size_bytes != (uint64_t)blocks * DW_BLOCK_BYTES ? 3 : 0;
}

TEST(an_announced_process_stops_the_removal)
{
	CHECK_EQ(in_child(stopped_removal), 0);
}

/* ---- a spilled trace, which moves to its own place ----------------------------------- */

static char final_path[128];
static struct dwell_error final_error;

static int move(void)
{
	struct dw_finish finish;
	int file = open(session_path, O_RDWR | O_CLOEXEC), result;

	final_error.message[0] = '\0';
	result = dw_file_finish(file, session_path, final_path, 0, &finish, &final_error);
	close(file);
	return result;
}

/* What is in the way stays as it is, and so does the trace. */
static int moves_around(void)
{
	struct stat status;
	char other[128];

	if (!session_begin(0))
		return 99;
	snprintf(final_path, sizeof final_path, "%s/final", session_folder);
	snprintf(other, sizeof other, "%s/other", session_folder);
	close(open(other, O_WRONLY | O_CREAT, 0600));
	if (symlink(other, final_path) != 0 || move() != DWELL_E_IO ||
	    !strstr(final_error.message, session_path))
		return 1;
	if (lstat(final_path, &status) != 0 || !S_ISLNK(status.st_mode) || stat(other, &status) != 0 ||
	    status.st_size != 0 || !file_blocks())
		return 2;
	unlink(final_path);
	if (rename(other, final_path) != 0 || move() != DWELL_E_IO || stat(final_path, &status) != 0 ||
	    status.st_size != 0 || !file_blocks())
		return 3;
	unlink(final_path);
	if (move() != 0 || file_blocks() || stat(final_path, &status) != 0 ||
	    status.st_size != DW_BLOCK_BYTES || (status.st_mode & 0777) != 0600)
		return 4;
	unlink(final_path);
	session_end();
	return access(session_folder, F_OK) == 0 ? 5 : 0; /* nothing else is left */
}

TEST(a_spilled_trace_replaces_nothing)
{
	CHECK_EQ(in_child(moves_around), 0);
}

/* While others write to it, it stays where they write. */
static int stays_with_writers(void)
{
	pid_t child;
	int file, result;

	if (!session_begin(0))
		return 99;
	snprintf(final_path, sizeof final_path, "%s/final", session_folder);
	child = fork();
	if (child == 0)
		_exit(announces_and_waits());
	file = open(session_path, O_RDWR | O_CLOEXEC);
	while (!dw_file_writers(file, 0))
		usleep(100);
	close(file);
	result = move();
	if (result != DWELL_E_STATE || !file_blocks() || access(final_path, F_OK) == 0)
		return 1;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	session_end();
	return 0;
}

TEST(a_spilled_trace_stays_with_its_writers)
{
	CHECK_EQ(in_child(stays_with_writers), 0);
}

CHECK_MAIN
