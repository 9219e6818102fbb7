/*
 * The binary interfaces of MPI's libraries. Programs and dwell are compiled without their headers, so what
 * the headers would say is here.
 *
 * The functions have the same arguments everywhere but for the handles: MPI_Comm, MPI_Datatype, MPI_Op,
 * MPI_Request, MPI_Group.
 *
 *   Open MPI   a handle is a pointer; the predefined ones are addresses of the library's variables
 *   MPICH      a handle is an int, also in Intel MPI, MVAPICH, Cray MPI and ParaStation MPI
 *   standard   a handle is as large as a pointer; the predefined ones are small numbers (MPI 5, libmpi_abi.so)
 *
 * On x86-64 and aarch64 an int and a pointer take one register, or 8 bytes of the stack. So a function that
 * is declared with handles of 64 bits passes on those of 32 bits, of which it must not read the upper half. Only a
 * handle in memory has to be read in its own size.
 *
 * The MPI probe includes this header too, although it uses only public headers otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum dw_mpi_abi { DW_MPI_UNKNOWN, DW_MPI_OPEN, DW_MPI_MPICH, DW_MPI_STANDARD };

#define DW_MPI_OPEN_WORLD "ompi_mpi_comm_world" /* the variable whose address is MPI_COMM_WORLD */
#define DW_MPI_OPEN_BYTE "ompi_mpi_byte"
#define DW_MPI_MPICH_WORLD 0x44000000u
#define DW_MPI_MPICH_BYTE 0x4c00010du
#define DW_MPI_STANDARD_WORLD 0x101u
/* MPI_ANY_SOURCE. Another negative number is MPI_PROC_NULL: no message is sent. */
#define DW_MPI_ANY(abi) ((abi) == DW_MPI_MPICH ? -2 : -1)
#define DW_MPI_STANDARD_BYTE 0x247u
#define DW_MPI_VERSION_BYTES 8192 /* the longest text of MPI_Get_library_version() */
#define DW_MPI_STATUS_BYTES 64    /* no MPI_Status is larger */

/* Which interface a library has. `path`: its file; `version`: the text of MPI_Get_library_version(), which may be
 * called before MPI_Init(); `open_world`: it has the variable DW_MPI_OPEN_WORLD. */
static inline enum dw_mpi_abi dw_mpi_abi_of(const char *path, const char *version, bool open_world)
{
	static const char *const family[] = { "MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation" };
	const char *slash = strrchr(path, '/');

	if (strncmp(slash ? slash + 1 : path, "libmpi_abi.", 11) == 0)
		return DW_MPI_STANDARD;
	if (open_world)
		return DW_MPI_OPEN;
	for (unsigned i = 0; i < sizeof family / sizeof *family; i++)
		if (strstr(version, family[i]))
			return DW_MPI_MPICH;
	return DW_MPI_UNKNOWN;
}
