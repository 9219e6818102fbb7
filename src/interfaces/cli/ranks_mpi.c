/*
 * The processes of an MPI job read and summarize files together.
 *
 * Summaries travel as the bytes of their files, in a tree: in each round half of the processes send
 * theirs and are done. Merging in any order gives the same bytes, so the result is that of one
 * process.
 *
 * The library is that of the launcher which started the processes: DWELL_MPI names its file, or it is looked for under
 * the usual names. src/format/mpi_abi.h has what is taken from MPI's headers elsewhere.
 */
#include "cli/ranks_mpi.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "base/pool.h"
#include "cli/cli.h"
#include "cli/summaries.h"
#include "format/mpi_abi.h"

/* ---- the library ------------------------------------------------------------------------------ */

static struct {
	uintptr_t world, byte; /* MPI_COMM_WORLD, MPI_BYTE */
	int (*init)(int *count, char ***arguments);
	int (*rank)(uintptr_t comm, int *rank);
	int (*size)(uintptr_t comm, int *size);
	int (*send)(const void *data, int count, uintptr_t type, int to, int tag, uintptr_t comm);
	int (*receive)(void *data, int count, uintptr_t type, int from, int tag, uintptr_t comm, void *status);
	int (*broadcast)(void *data, int count, uintptr_t type, int root, uintptr_t comm);
	int (*abort)(uintptr_t comm, int status);
	int (*finalize)(void);
} mpi;

static bool mpi_find_functions(void *library)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "MPI_Init", &mpi.init },       { "MPI_Comm_rank", &mpi.rank }, { "MPI_Comm_size", &mpi.size },
		{ "MPI_Send", &mpi.send },       { "MPI_Recv", &mpi.receive },   { "MPI_Bcast", &mpi.broadcast },
		{ "MPI_Abort", &mpi.abort },     { "MPI_Finalize", &mpi.finalize },
	};

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!(*(void **)functions[i].to = dlsym(library, functions[i].name)))
			return false;
	return true;
}

/* Sets the handles. False: no MPI whose handles are known. */
static bool mpi_find_handles(void *library, const char *path)
{
	static char version[DW_MPI_VERSION_BYTES + 1];
	int (*get_version)(char *text, int *length) = NULL;
	void *world = dlsym(library, DW_MPI_OPEN_WORLD), *byte = dlsym(library, DW_MPI_OPEN_BYTE);
	int length = 0;

	*(void **)&get_version = dlsym(library, "MPI_Get_library_version");
	if (!get_version || get_version(version, &length))
		return false;
	switch (dw_mpi_abi_of(path, version, world && byte)) {
	case DW_MPI_OPEN:
		mpi.world = (uintptr_t)world;
		mpi.byte = (uintptr_t)byte;
		return true;
	case DW_MPI_MPICH:
		mpi.world = DW_MPI_MPICH_WORLD;
		mpi.byte = DW_MPI_MPICH_BYTE;
		return true;
	case DW_MPI_STANDARD:
		mpi.world = DW_MPI_STANDARD_WORLD;
		mpi.byte = DW_MPI_STANDARD_BYTE;
		return true;
	default: return false;
	}
}

/* How many processes the launcher started, as far as its variables say so. */
static int mpi_launched(void)
{
	static const char *const variables[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (getenv(variables[i]))
			return atoi(getenv(variables[i]));
	return 1;
}

/* Returns the library, and its file in *path. Each launcher sets variables of its own. */
static void *mpi_open(const char **path)
{
	static const char *const open_first[] = { "libmpi.so.40", "libmpi.so", "libmpi_abi.so.0" };
	static const char *const mpich_first[] = { "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.0", "libmpi.so.40", "libmpi.so" };
	bool open = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
	const char *const *names = open ? open_first : mpich_first, *chosen = getenv("DWELL_MPI");
	size_t count = open ? sizeof open_first / sizeof *open_first : sizeof mpich_first / sizeof *mpich_first;
	void *library;

	if (chosen) {
		names = &chosen;
		count = 1;
	}
	for (size_t i = 0; i < count; i++) {
		*path = names[i];
		/* Open MPI's own plugins look for its functions in the whole program. */
		library = dlopen(*path, RTLD_NOW | RTLD_GLOBAL);
		if (library)
			return library;
	}
	return NULL;
}

/* Starts MPI. Returns 0 or an exit status. */
static int mpi_start(int *process, int *processes)
{
	const char *path = NULL, *reason;
	void *library = mpi_open(&path);

	reason = library ? NULL : dlerror();
	if (library && !(mpi_find_functions(library) && mpi_find_handles(library, path)))
		reason = "an MPI library that dwell does not know";
	if (reason) {
		dw_say("--mpi: %s: %s. Name the file of the launcher's MPI library in the variable DWELL_MPI", path, reason);
		return DW_EXIT_BAD_INPUT;
	}
	mpi.init(NULL, NULL);
	mpi.rank(mpi.world, process);
	mpi.size(mpi.world, processes);
	if (*processes > 1 || mpi_launched() <= 1)
		return 0;
	dw_say("--mpi: %s is not the library of the launcher: it sees one process, and the launcher started %d. Name the file of "
	       "the launcher's MPI library in the variable DWELL_MPI", path, mpi_launched());
	mpi.finalize();
	return DW_EXIT_BAD_INPUT;
}

static void mpi_send_bytes(const void *data, uint64_t bytes, int to)
{
	mpi.send(data, (int)bytes, mpi.byte, to, 0, mpi.world);
}

static void mpi_receive_bytes(void *data, uint64_t bytes, int from)
{
	uint64_t status[DW_MPI_STATUS_BYTES / sizeof(uint64_t)];

	mpi.receive(data, (int)bytes, mpi.byte, from, 0, mpi.world, status);
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
		mpi.abort(mpi.world, DW_EXIT_BAD_INPUT);
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
	mpi.broadcast(&status, (int)sizeof status, mpi.byte, 0, mpi.world);
	return status;
}

int dw_ranks_read_mpi(struct dw_summary *summary, char **paths, size_t count, bool *first)
{
	char **own = calloc(count + 1, sizeof *own);
	int process = 0, processes = 1, status = mpi_start(&process, &processes);
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
	mpi.finalize();
	*first = process == 0;
	return status;
}
