/*
 * Exports: a trace in the format of another tool.
 *
 * The command and libdwell-read call dw_export_run(). A format is a file NAME.c and a line in
 * formats.def. It writes to an output that is already open and knows no path. Afterwards the
 * file at `path` is either the whole export or what was there before: a failed export leaves
 * nothing behind.
 */
#pragma once

#include "dwell/trace.h"
#include "model/model.h"

struct dw_writer_out;

struct dw_export_format {
	const char *name;
	const char *what;  /* a phrase: the format and the tools that open it */
	bool takes_metric; /* otherwise the only metric is "time" */
	bool takes_filter; /* otherwise it has all events, or none */
	/* Errors of the output are sticky and reported by dw_export_run(). NULL: only the command writes it. */
	int (*write)(struct dw_model *model, const struct dwell_export_options *options,
	             struct dw_writer_out *out, struct dwell_error *error);
};

/* Return the format at an index (NULL after the last) or with a name (NULL if there is none). */
const struct dw_export_format *dw_export_at(size_t index);
const struct dw_export_format *dw_export_find(const char *name);

/* Writes to standard output if `path` is NULL or "-"; compressed if it ends in .gz. The mode
 * of a new file follows the umask. Errors: DWELL_E_NAME, DWELL_E_IO, DWELL_E_NOSPACE,
 * DWELL_E_UNSUPPORTED (.gz without zlib), DWELL_E_NOMEM. */
int dw_export_run(struct dw_model *model, const char *format, const char *path,
                  const struct dwell_export_options *options, struct dwell_error *error);

/* Metrics of folded.c other than time. (folded_stacks.c) */
int dw_export_folded_stacks(struct dw_model *model, const struct dwell_export_options *options,
                            struct dw_writer_out *out, struct dwell_error *error);

#define FORMAT(name) extern const struct dw_export_format dw_export_##name;
#include "export/formats.def"
#undef FORMAT
