/* Where a function of the process is, by the symbol tables of its files; see entry_find.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "entry_move.h"

#define DWS_FIND_COPIES 8u

struct dws_found {
	/* What is looked for. */
	const char *file;    /* "libnet.so", "engine" or "train.c", of file_bytes bytes */
	unsigned file_bytes; /* 0: any */
	const char *name;
	uint64_t address; /* in the file, in place of a name; 0: none */

	unsigned rank;   /* of the best match until now, by dw_symbol_rank() */
	char *symbol;    /* the first one of this rank */
	char path[1024]; /* and its file */
	bool is_program;
	bool several;     /* different functions match equally well, or there are too many copies */
	bool is_no_begin; /* at the address */
	char others[400]; /* their names */
	struct dws_move_file parts; /* of that file */
	unsigned count;
	struct dws_copy { /* of the function, by the compiler */
		uint8_t *code;
		uint64_t size;
		bool is_changed; /* its first bytes are not those of the file */
		bool is_go;      /* made by Go's compiler */
	} at[DWS_FIND_COPIES];
};

/* Looks in the program, and if it has no such function in its libraries; in each file once, whoever asks. The caller frees
 * found->symbol. */
void dws_find(struct dws_found *found);
