/*
 * The processes of an MPI job read and summarize files together.
 *
 * Summaries travel as the bytes of their files, in a tree: in each round half of the processes send
 * theirs and are done. Merging in any order gives the same bytes, so the result is that of one
 * process.
 */
#include "job/ranks_mpi.h"

#include <limits.h>
#include <stdlib.h>

#include "base/system/pool.h"
#include "format/mpi_abi.h"
#include "job/mpi_library.h"
#include "job/summaries.h"
#include "say/say.h"

static void mpi_send_bytes(const void *data, uint64_t bytes, int to)
{
	dw_mpi.send(data, (int)bytes, dw_mpi.byte, to, 0, dw_mpi.world);
}

static void mpi_receive_bytes(void *data, uint64_t bytes, int from)
{
	uint64_t status[DW_MPI_STATUS_BYTES / sizeof(uint64_t)];

	dw_mpi.receive(data, (int)bytes, dw_mpi.byte, from, 0, dw_mpi.world, status);
}

/* ---- the summaries ------------------------------------------------------------------------------ */

/* Sends the summary to a process. -1 after an error message. */
static int mpi_send(const struct dw_summary *summary, int to)
{
	struct dw_proto proto = { .bytes = NULL };
	uint64_t bytes;

	dw_summary_encode(summary, &proto);
	bytes = proto.failed || proto.used > INT_MAX ? UINT64_MAX : proto.used;
	mpi_send_bytes(&bytes, sizeof bytes, to);
	if (bytes == UINT64_MAX)
		dw_say("a part of the ranks has a summary of more than 2 GB");
	else
		mpi_send_bytes(proto.bytes, bytes, to);
	dw_proto_reset(&proto);
	return bytes == UINT64_MAX ? -1 : 0;
}

static int mpi_receive(struct dw_summary *summary, int from)
{
	struct dwell_error error = { 0, "" };
	unsigned char *data;
	uint64_t bytes;
	int code;

	mpi_receive_bytes(&bytes, sizeof bytes, from);
	if (bytes == UINT64_MAX)
		return -1; /* the sender has said why */
	data = malloc(bytes + 1);
	if (!data) {
		dw_say("no memory for the summary of process %d", from);
		dw_mpi.abort(dw_mpi.world, DW_EXIT_BAD_INPUT);
		return -1;
	}
	mpi_receive_bytes(data, bytes, from);
	code = dw_summary_decode(summary, "the summary of another process", data, bytes, &error);
	free(data);
	if (code)
		dw_say_error(&error, code);
	return code ? -1 : 0;
}

/* Process i sends to i - step if i is an odd multiple of step. All take part, also after an error,
 * so that none waits for ever. */
static int mpi_merge(struct dw_summary *summary, int process, int processes, int status)
{
	struct dwell_error error = { 0, "" };

	for (int step = 1; step < processes; step *= 2) {
		if (process % (2 * step)) {
			if (mpi_send(summary, process - step))
				status = DW_EXIT_BAD_INPUT;
			break;
		}
		if (process + step < processes && mpi_receive(summary, process + step))
			status = DW_EXIT_BAD_INPUT;
	}
	if (!status && !dw_summary_finish(summary, &error))
		status = dw_say_error(&error, error.code);
	return status;
}

/* The worst status of all processes, in each of them. */
static int mpi_share_status(int status, int process, int processes)
{
	for (int from = 1, other; !process && from < processes; from++) {
		mpi_receive_bytes(&other, sizeof other, from);
		status = other > status ? other : status;
	}
	if (process)
		mpi_send_bytes(&status, sizeof status, 0);
	dw_mpi.broadcast(&status, (int)sizeof status, dw_mpi.byte, 0, dw_mpi.world);
	return status;
}

int dw_ranks_read_mpi(struct dw_summary *summary, char **paths, size_t count, bool *first)
{
	char **own = calloc(count + 1, sizeof *own);
	int process = 0, processes = 1, status = dw_mpi_start(&process, &processes);
	size_t taken = 0;

	*first = process == 0;
	if (status) {
		free(own);
		return status;
	}
	if (processes > 1)
		dw_pool_limit(1); /* the launcher starts as many processes as there are cores */
	for (size_t i = (size_t)process; own && i < count; i += (size_t)processes)
		own[taken++] = paths[i];
	status = own ? dw_summaries_read(summary, own, taken) : DW_EXIT_BAD_INPUT;
	free(own);
	status = mpi_merge(summary, process, processes, status);
	status = mpi_share_status(status, process, processes);
	dw_mpi.finalize();
	*first = process == 0;
	return status;
}
