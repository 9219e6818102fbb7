/*
 * Names of code that a process made at run time, as it announces them: perf's map (a text file of lines
 * "START SIZE NAME") and jitdump (records with the code itself).
 *
 * Any program can write such a file, also with errors, and it may grow while it is read. At most
 * DW_CODE_NAMES_BYTES of a file are read. What cannot be used is counted, and nothing is read outside of a file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DW_CODE_NAMES_BYTES ((size_t)64 << 20) /* most bytes that are read of a file */
#define DW_CODE_NAMES_MOST 1000000u            /* most ranges of addresses */
#define DW_CODE_NAME_BYTES 512u                /* of a longer name the begin is kept */

/* A zeroed structure is empty. */
struct dw_code_names {
	struct dw_code_range {
		uint64_t start, end, reach; /* `reach`: the largest end of the ranges up to this one */
		const char *name;           /* in a file's text, not NUL-terminated */
		uint32_t bytes, order;      /* order: of the announcements */
	} *ranges;                      /* by start */
	size_t count, capacity;
	char *texts[2];                 /* of the files that were read */
	unsigned text_count;
	size_t wrong;                   /* announcements that could not be used: damaged, cut, or beyond a limit */
};

/* Adds the names of a file; its first bytes say of which form it is. Returns NULL, or why the file was refused, in words
 * that follow its path. "": there is no such file. The file must belong to root, to this process's user, or to `owner`,
 * and it must have been written to at or after `since` (seconds of the wall clock), because files of earlier processes
 * with the same id stay in /tmp. At most two files can be added. */
const char *dw_code_names_add(struct dw_code_names *names, const char *path, uid_t owner, int64_t since);
/* Adds the names of a file with these bytes, from malloc(), which it keeps; a NUL follows them. Returns as above. */
const char *dw_code_names_take(struct dw_code_names *names, char *text, size_t bytes);
#define DW_CODE_NAMES_LACK_BYTES 600u
/* A process whose names are wanted. */
struct dw_code_process {
	uint32_t pid;              /* as it knows itself */
	uid_t owner;
	int64_t since;             /* as above */
	const char *root;          /* the folder that is its "/"; "": ours */
	const char *dump;          /* path of its jitdump, which it has mapped; NULL: none */
};
/* Adds what a process announced in perf's map (/tmp/perf-PID.map) and in its jitdump. Appends to `lacks` what could not
 * be read. */
void dw_code_names_add_process(struct dw_code_names *names, const struct dw_code_process *process,
                               char lacks[DW_CODE_NAMES_LACK_BYTES]);
/* Appends "PATH PROBLEM" to `lacks`, as far as it fits. */
void dw_code_names_lack(char lacks[DW_CODE_NAMES_LACK_BYTES], const char *path, const char *problem);
/* The name of the code at an address, in `name`. NULL: there is none. If code with other names was there too, all that
 * fit are named: "a or b", because nothing says which of them it was. */
const char *dw_code_names_find(const struct dw_code_names *names, uint64_t address, char name[DW_CODE_NAME_BYTES]);
void dw_code_names_reset(struct dw_code_names *names);
