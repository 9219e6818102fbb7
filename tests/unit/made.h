/*
 * A trace made in memory for a test: one process, one thread, 1 tick = 1 ns.
 *
 * Call made_init(), then write records with dw_encode_*(). made_open() returns a source and a model
 * of it; call made_close() at the end. Tests that need more processes or threads create them with
 * dw_encode_*() on `encode`.
 */
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "../tools/encode_records.h"
#include "model/model.h"

struct made {
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	uint32_t thread;
	int file;
	char path[64];
	struct dw_source *source;
	struct dw_model *model;
	struct dwell_error error;
};

static inline void made_init(struct made *made)
{
	memset(made, 0, sizeof *made);
	made->file = -1;
	dw_encode_init(&made->encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&made->process, &made->encode, 0)->pid = 0x7ffffffe;
	made->thread = dw_encode_thread(&made->process, 100, 0, 0, "main");
	dw_encode_stream_init(&made->stream, &made->process, 0, made->thread);
}

static inline uint32_t made_op(struct made *made, uint32_t category, const char *name)
{
	return dw_encode_op(&made->process, category, name, NULL, 0, NULL, 0);
}

/* The image as a file without a name. */
static inline int made_write(struct made *made, const void *data, size_t bytes)
{
	if (made->file < 0)
		made->file = memfd_create("made", MFD_CLOEXEC);
	snprintf(made->path, sizeof made->path, "/proc/self/fd/%d", made->file);
	return ftruncate(made->file, 0) == 0 &&
	               pwrite(made->file, data, bytes, 0) == (ssize_t)bytes
	           ? 0 : -1;
}

static inline int made_open_bytes(struct made *made, size_t bytes, const struct dw_scope *scope)
{
	const char *path = made->path;
	int result;

	if (made_write(made, made->encode.image, bytes))
		return -100;
	result = dw_source_open(&made->source, &path, 1, &made->error);
	if (result == 0)
		result = dw_model_create(&made->model, made->source, scope, &made->error);
	return result;
}

static inline int made_open(struct made *made, const struct dw_scope *scope)
{
	dw_encode_close(&made->stream);
	return made_open_bytes(made, dw_encode_bytes(&made->encode), scope);
}

/* Opens a trace that is text of another program. */
static inline int made_open_text(struct made *made, const char *text)
{
	const char *path;
	int result;

	memset(made, 0, sizeof *made);
	made->file = -1;
	if (made_write(made, text, strlen(text)))
		return -100;
	path = made->path;
	result = dw_source_open(&made->source, &path, 1, &made->error);
	return result ? result : dw_model_create(&made->model, made->source, NULL, &made->error);
}

static inline void made_close_model(struct made *made)
{
	dw_model_destroy(made->model);
	dw_source_close(made->source);
	made->model = NULL;
	made->source = NULL;
}

static inline void made_close(struct made *made)
{
	made_close_model(made);
	if (made->file >= 0)
		close(made->file);
	dw_encode_reset(&made->encode);
}

/* The row of a name, or NULL. */
static inline const struct dw_stat *made_stat(struct made *made, const char *name)
{
	const struct dw_flat *flat = dw_model_flat(made->model, UINT32_MAX, &made->error);
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(made->model, &count);

	for (size_t i = 0; flat && i < flat->count; i++)
		if (strcmp(symbols[flat->rows[i].symbol].name, name) == 0)
			return &flat->rows[i].stat;
	return NULL;
}
