/* An MPI library that is opened when it is needed; see mpi_library.h. */
#include "job/mpi_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "format/mpi_abi.h"
#include "say/say.h"

struct dw_mpi dw_mpi;

static bool mpi_find_functions(void *library)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "MPI_Init", &dw_mpi.init },       { "MPI_Comm_rank", &dw_mpi.rank }, { "MPI_Comm_size", &dw_mpi.size },
		{ "MPI_Send", &dw_mpi.send },       { "MPI_Recv", &dw_mpi.receive },   { "MPI_Bcast", &dw_mpi.broadcast },
		{ "MPI_Abort", &dw_mpi.abort },     { "MPI_Finalize", &dw_mpi.finalize },
		{ "MPI_Isend", &dw_mpi.start_send }, { "MPI_Irecv", &dw_mpi.start_receive }, { "MPI_Test", &dw_mpi.test },
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
		dw_mpi.world = (uintptr_t)world;
		dw_mpi.byte = (uintptr_t)byte;
		return true;
	case DW_MPI_MPICH:
		dw_mpi.world = DW_MPI_MPICH_WORLD;
		dw_mpi.byte = DW_MPI_MPICH_BYTE;
		return true;
	case DW_MPI_STANDARD:
		dw_mpi.world = DW_MPI_STANDARD_WORLD;
		dw_mpi.byte = DW_MPI_STANDARD_BYTE;
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

int dw_mpi_start(int *process, int *processes)
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
	dw_mpi.init(NULL, NULL);
	dw_mpi.rank(dw_mpi.world, process);
	dw_mpi.size(dw_mpi.world, processes);
	if (*processes > 1 || mpi_launched() <= 1)
		return 0;
	dw_say("--mpi: %s is not the library of the launcher: it sees one process, and the launcher started %d. Name the file of "
	       "the launcher's MPI library in the variable DWELL_MPI", path, mpi_launched());
	dw_mpi.finalize();
	return DW_EXIT_BAD_INPUT;
}
