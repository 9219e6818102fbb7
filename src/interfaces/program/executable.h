/*
 * What is this program, and what may be loaded into it?
 *
 * The file of a program is read once, before the program starts. Whoever starts it, or says why something of it is not recorded,
 * reads the answers:
 *
 *     struct dw_executable executable;
 *
 *     dw_executable_find(&executable, command[0]);
 *     if (executable.own_refusal)
 *         dw_say("nothing is recorded: %s", executable.own_refusal);
 *     dw_preload(&executable, &wanted);     what is wanted and may be loaded (program/preload.h)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DW_EXECUTABLE_CONTAINED 3 /* at most */

struct dw_executable {
	const char *name;    /* as the user wrote it */
	char path[4096];     /* the file that execvp() runs; "": there is none, and nothing below is known */
	bool is_python;      /* by the file's name */
	const char *refusal; /* why no library of dwell is loaded into it, nor into what it starts; NULL: they may be */
	const char *own_refusal; /* the same of the program alone: also if it is linked statically. It may contain the recorder */
	const char *no_program; /* what it is that no kernel executes, as a core file; or NULL */
	const char *rights;  /* what gives it more rights than its caller has: the kernel then loads no library; or NULL */
	/* Whether it, or what it starts, may call these libraries. Others may look for MPI's functions to learn whether they are
	 * there, so its probe must not be in them. */
	bool may_use_mpi, may_use_ggml, may_use_onnx;
	/* Libraries that are a part of the file, so that calls of them cannot be seen, and what to do about it. */
	struct dw_executable_contained {
		const char *name, *remedy;
	} contained[DW_EXECUTABLE_CONTAINED];
	size_t contained_count;
};

/* Finds the file and reads it. `name` must remain. */
void dw_executable_find(struct dw_executable *executable, const char *name);
/* Finds the file that execvp() runs for a name. False: there is none. */
bool dw_executable_search(const char *name, char path[4096]);
/* Why execvp() failed with `error`. EACCES also stands for a directory (EISDIR), and is the error if PATH names a folder that may
 * not be read and no folder has such a file (ENOENT). */
int dw_executable_why_not(const char *name, int error);
/* Of a process that runs, by the path of its file: why no library of dwell could be loaded into it. NULL: it could, or the file
 * contains the recorder. */
const char *dw_executable_process_refusal(const char *path);
/* Whether a file is an interpreter of Python, by its name. */
bool dw_executable_is_python(const char *path);
