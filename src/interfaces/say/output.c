/* The output of a report; see output.h. */
#include "say/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "say/say.h"

FILE *dw_regular_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	FILE *file = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? fdopen(fd, "rb") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

int dw_output_open(struct dw_output *output, const char *path)
{
	struct stat status;
	mode_t mask = umask(0);
	int fd = -1;

	umask(mask);
	output->path = path = dw_output_path(path);
	output->file = stdout;
	output->temporary[0] = '\0';
	if (!path)
		return 0;
	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		output->file = fopen(path, "we");
	} else {
		if (snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", path) < (int)sizeof output->temporary)
			fd = mkostemp(output->temporary, O_CLOEXEC);
		else
			errno = ENAMETOOLONG;
		output->file = fd >= 0 ? fdopen(fd, "w") : NULL;
		if (fd < 0)
			output->temporary[0] = '\0';
		else
			fchmod(fd, 0666 & ~mask);
	}
	if (output->file)
		return 0;
	dw_say("cannot write %s: %s", path, strerror(errno));
	if (output->temporary[0])
		unlink(output->temporary);
	return DW_EXIT_BAD_INPUT;
}

int dw_output_close(struct dw_output *output, int status)
{
	status = dw_memory_status(status);
	if (!output->path)
		return status;
	if (fclose(output->file) != 0 && !status) {
		dw_say("cannot write %s: %s", output->path, strerror(errno));
		status = DW_EXIT_BAD_INPUT;
	}
	if (!output->temporary[0])
		return status;
	if (!status && rename(output->temporary, output->path) != 0) {
		dw_say("cannot write %s: %s", output->path, strerror(errno));
		status = DW_EXIT_BAD_INPUT;
	}
	if (status)
		unlink(output->temporary);
	return status;
}

bool dw_output_write(int fd, const void *bytes, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t written = write(fd, (const char *)bytes + done, length - done);

		if (written <= 0 && !(written < 0 && errno == EINTR))
			return false;
		done += written > 0 ? (size_t)written : 0;
	}
	return true;
}

bool dw_output_left(FILE *file)
{
	struct pollfd out = { fileno(file), POLLOUT, 0 };

	return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

int dw_output_status(FILE *file, int code, const struct dwell_error *error)
{
	if (code && dw_output_left(file))
		return DW_EXIT_PIPE;
	return code ? dw_say_error(error, code) : 0;
}

#define OUTPUT_LEAST_ROW 4 /* bytes */

static size_t output_most; /* bytes of tables; 0: any number */

void dw_output_limit(size_t bytes)
{
	output_most = bytes;
}

static struct dwell_table *output_longest(struct dwell_table *const *tables, size_t count)
{
	struct dwell_table *longest = NULL;

	for (size_t i = 0; i < count; i++)
		for (struct dwell_table *part = tables[i]; part; part = part->next)
			if (!longest || part->row_count > longest->row_count)
				longest = part;
	return longest && longest->row_count ? longest : NULL;
}

/* Leaves rows out that cannot fit, before a million of them are printed. Returns how many. */
static size_t output_cut(struct dwell_table *const *tables, size_t count)
{
	size_t most = output_most / OUTPUT_LEAST_ROW, cut = 0;

	for (size_t i = 0; i < count; i++)
		for (struct dwell_table *part = tables[i]; part; part = part->next) {
			cut += part->row_count > most ? part->row_count - most : 0;
			dw_table_limit(part, most);
		}
	return cut;
}

/* Prints tables as often as it takes until they fit. Returns 0, or a code. */
static int output_fit(FILE *file, const struct dw_renderer *renderer, struct dwell_table *const *tables, size_t count,
                      const struct dwell_print_options *print, struct dwell_error *error)
{
	size_t length = 0, cut = output_cut(tables, count);
	char *bytes = NULL;
	int code = 0;

	for (;;) {
		FILE *memory = open_memstream(&bytes, &length);
		struct dwell_table *longest;
		size_t rows;

		if (!memory)
			return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the answer");
		code = dw_render(renderer, (const struct dwell_table *const *)tables, count, memory, print, error);
		fclose(memory);
		longest = output_longest(tables, count);
		if (code || length <= output_most || !longest)
			break;
		/* What the rows of the longest have is at most what is too much. */
		rows = longest->row_count - 1 < longest->row_count * output_most / length ? longest->row_count - 1
		                                                                          : longest->row_count * output_most / length;
		cut += longest->row_count - rows;
		dw_table_limit(longest, rows);
		free(bytes);
		bytes = NULL;
	}
	if (!code && length > output_most)
		code = dw_error_set(error, DWELL_E_ARGUMENT,
		                    "the answer has more than %zu bytes without any row: ask for another view, or in SQL", output_most);
	if (!code && bytes && fwrite(bytes, 1, length, file) != length)
		code = dw_error_set(error, DWELL_E_IO, "cannot write the answer");
	free(bytes);
	if (!code && cut)
		dw_say("%zu rows are left out, so that the answer has at most %zu bytes (\"rows_cut\" of each table): narrow it by its "
		       "options, sort by another column, or ask in SQL with WHERE, LIMIT and OFFSET", cut, output_most);
	return code;
}

int dw_output_tables(FILE *file, const struct dw_renderer *renderer, struct dwell_table *const *tables, size_t count,
                     const struct dwell_print_options *print)
{
	struct dwell_error error = { 0, "" };
	int code = output_most ? output_fit(file, renderer, tables, count, print, &error)
	                       : dw_render(renderer, (const struct dwell_table *const *)tables, count, file, print, &error);

	return dw_output_status(file, code, &error);
}

const char *dw_output_path(const char *option)
{
	return option && strcmp(option, "-") != 0 ? option : NULL;
}

int dw_output_close_page(struct dw_writer_out *out, int code, const struct dwell_error *error)
{
	bool piped = !out->path;
	struct dwell_error closing = { 0, "" };
	int closed = dw_out_close(out, !code, &closing);

	if (code)
		return dw_say_error(error, code);
	if (closed && piped && out->error == EPIPE)
		return DW_EXIT_PIPE;
	return closed ? dw_say_error(&closing, closed) : 0;
}
