/*
 * Reads many traces and summaries in several processes of this machine.
 *
 * Merging in any order gives the same bytes. So each process takes every n-th file, writes its summary
 * to memory that the first one reads, and ends; as the processes of MPI do (ranks_mpi.c). Processes and not
 * threads: they share nothing that two readers could disturb, and the reader has threads of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/pool.h"
#include "job/summaries.h"
#include "say/say.h"

#define MOST_PROCESSES 16u
#define LEAST_FILES 8u /* of a process: a trace or two are read as fast by one */

struct part {
	pid_t pid;
	int fd; /* the memory in which it writes its summary */
};

/* In a process of its own: reads every `step`-th file and writes the summary. All have at least `expected` ranks. Returns its
 * exit status. */
static int parallel_read_part(char **paths, size_t count, size_t first, size_t step, size_t expected, int fd)
{
	struct dw_summary summary = { .expected = expected };
	struct dw_proto proto = { .bytes = NULL };
	char **own = calloc(count + 1, sizeof *own);
	size_t taken = 0, written = 0;
	int status = own ? 0 : DW_EXIT_BAD_INPUT;

	dw_pool_limit(dw_pool_workers(SIZE_MAX) / (unsigned)step);
	for (size_t i = first; own && i < count; i += step)
		own[taken++] = paths[i];
	if (!status)
		status = dw_summaries_read(&summary, own, taken);
	if (!status)
		dw_summary_encode(&summary, &proto);
	while (!status && written < proto.used) {
		ssize_t bytes = write(fd, proto.bytes + written, proto.used - written);

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes <= 0)
			break;
		written += (size_t)bytes;
	}
	if (!status && (proto.failed || written < proto.used)) {
		dw_say("no memory for the summary of %zu files", taken);
		status = DW_EXIT_BAD_INPUT;
	}
	return status;
}

static bool parallel_start(struct part *part, char **paths, size_t count, size_t first, size_t step, size_t expected)
{
	part->fd = memfd_create("dwell summary", MFD_CLOEXEC);
	part->pid = part->fd >= 0 ? fork() : -1;
	if (part->pid == 0)
		_exit(parallel_read_part(paths, count, first, step, expected, part->fd));
	if (part->pid < 0 && part->fd >= 0)
		close(part->fd);
	return part->pid > 0;
}

/* Waits for a process and adds its summary, if `status` is 0. Returns the new status. */
static int parallel_take(struct part *part, struct dw_summary *summary, int status)
{
	struct dwell_error error = { 0, "" };
	void *bytes;
	off_t length;
	int ended;

	while (waitpid(part->pid, &ended, 0) < 0)
		if (errno != EINTR) {
			ended = -1;
			break;
		}
	length = lseek(part->fd, 0, SEEK_END);
	if (!status && !(WIFEXITED(ended) && WEXITSTATUS(ended) <= DW_EXIT_USAGE)) {
		dw_say("a process that read a part of the files was ended");
		status = DW_EXIT_BAD_INPUT;
	} else if (!status) {
		status = WEXITSTATUS(ended);
	}
	if (!status && length > 0) {
		bytes = mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, part->fd, 0);
		if (bytes == MAP_FAILED) {
			dw_say("no memory for the summary of a part of the files");
			status = DW_EXIT_BAD_INPUT;
		} else {
			if (dw_summary_decode(summary, "a part of the files", bytes, (size_t)length, &error))
				status = dw_say_error(&error, error.code);
			munmap(bytes, (size_t)length);
		}
	}
	close(part->fd);
	return status;
}

int dw_summaries_read_parallel(struct dw_summary *summary, char **paths, size_t count)
{
	struct part parts[MOST_PROCESSES];
	size_t wanted = dw_pool_workers(count / LEAST_FILES), started = 0, expected;
	struct dwell_error error = { 0, "" };
	int status = 0;

	if (wanted > MOST_PROCESSES)
		wanted = MOST_PROCESSES;
	if (wanted < 2)
		return dw_summaries_read(summary, paths, count);
	expected = dw_summaries_count_ranks(paths, count);
	fflush(NULL); /* or a process would write what is still in a buffer too */
	while (started < wanted && parallel_start(&parts[started], paths, count, started, wanted, expected))
		started++;
	for (size_t i = 0; i < started; i++)
		status = parallel_take(&parts[i], summary, started == wanted ? status : DW_EXIT_BAD_INPUT);
	if (started < wanted) /* the system starts no more processes */
		return dw_summaries_read(summary, paths, count);
	if (!status && !dw_summary_finish(summary, &error))
		status = dw_say_error(&error, error.code);
	return status;
}
