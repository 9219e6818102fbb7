/* The stored form of a part of a trace; see pack_part.h. */
#include "capture/pack_part.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "say/output.h"
#include "say/say.h"

void dw_pack_part_path(const char *trace, const char *word, const char *end, char *path, size_t size)
{
	size_t length = strlen(trace), ending = strlen(".dwell");
	bool has_end = length > ending && strcmp(trace + length - ending, ".dwell") == 0;

	snprintf(path, size, "%.*s.%s%s", (int)(has_end ? length - ending : length), trace, word, end);
}

void dw_pack_fill_window(const struct dw_source *source, struct dw_pack_window *window)
{
	dw_pack_see_source(window, source);
	window->blocks = (uint32_t)((source->files[0].size_bytes + DW_BLOCK_BYTES - 1) / DW_BLOCK_BYTES);
}

uint64_t dw_pack_store_part(const struct dw_source *source, struct dw_pack_window *window, const char *path,
                            struct dwell_error *error)
{
	const char *trace = source->files[0].path;
	int from = open(trace, O_RDONLY | O_CLOEXEC), code;
	struct stat status;
	struct dw_output out;

	if (from < 0 || fstat(from, &status) != 0 || dw_output_open(&out, path)) {
		dw_error_set(error, DWELL_E_IO, "cannot open %.400s", from < 0 ? trace : path);
		if (from >= 0)
			close(from);
		return 0;
	}
	fchmod(fileno(out.file), status.st_mode & 0777); /* while it is empty */
	dw_pack_fill_window(source, window);
	code = dw_pack_write(from, trace, out.file, window, error);
	fstat(fileno(out.file), &status);
	close(from);
	if (dw_output_close(&out, code ? DW_EXIT_BAD_INPUT : 0) && !code)
		code = dw_error_set(error, DWELL_E_IO, "cannot write %.400s", path);
	return code ? 0 : (uint64_t)status.st_size;
}
