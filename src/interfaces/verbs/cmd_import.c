/* dwell import: stores another tool's files as one trace. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "format/layout.h"
#include "import/import.h"
#include "say/output.h"

static int import_take_option(void *context, const struct dw_option *option, const char *value)
{
	if (option->id == DW_OPTION_OUTPUT)
		*(const char **)context = value;
	return 0;
}

/* Maps the file; its descriptor is closed at once. */
static bool import_map(const char *path, struct dw_import_file *file)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *map = MAP_FAILED;

	*file = (struct dw_import_file){ .path = path };
	if (fd < 0 || fstat(fd, &status) != 0) {
		dw_say("cannot open %s: %s", path, strerror(errno));
	} else if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		dw_say("%s is %s", path, S_ISDIR(status.st_mode) ? "a directory" : S_ISREG(status.st_mode) ? "empty" : "no regular file");
	} else {
		map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			dw_say("cannot map %s: %s", path, strerror(errno));
		file->size_bytes = (size_t)status.st_size;
	}
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return false;
	file->data = map;
	if (file->size_bytes < 8 || (memcmp(map, DW_MAGIC, 8) != 0 && memcmp(map, DW_PACK_MAGIC, 8) != 0))
		return true;
	dw_say("%s is a trace of dwell already", path);
	return false;
}

/* Translates the files into `fd`, which is a new file. */
static int import_translate(const struct dw_import_file *files, size_t count, int fd)
{
	struct dw_import_result result;
	struct dwell_error error = { 0, "" };
	struct dw_arena arena = { .blocks = NULL };
	char what[DW_FORM_TEXT];
	int code;

	dw_say_progress(files->path);
	code = dw_import_files(files, count, fd, &arena, &result, &error);
	dw_say_progress(NULL);
	if (code) {
		code = dw_say_error(&error, code);
	} else if (!result.image) {
		dw_form_guess(files, what);
		dw_say("%s has no form that dwell imports%s%s (man dwell-import names those)", files->path, *what ? ": " : "", what);
		code = DW_EXIT_BAD_INPUT;
	} else {
		if (result.note)
			dw_say("%s%s%s", count > 1 ? "" : files->path, count > 1 ? "" : ": ", result.note);
		if (!result.in_file && !dw_output_write(fd, result.image, result.image_bytes)) {
			dw_say("cannot write the trace: %s", strerror(errno));
			code = DW_EXIT_BAD_INPUT;
		}
		munmap(result.image, result.image_bytes);
	}
	dw_arena_reset(&arena);
	return code;
}

/* Makes the trace beside `path` and renames it when it is complete. */
static int import_store(const struct dw_import_file *files, size_t count, const char *path)
{
	char temporary[4096];
	mode_t mask = umask(0);
	int fd, code;

	umask(mask);
	if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary) {
		dw_say("the name of the output is too long");
		return DW_EXIT_USAGE;
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		dw_say("cannot write %s: %s", path, strerror(errno));
		return DW_EXIT_BAD_INPUT;
	}
	code = import_translate(files, count, fd);
	if (code == 0 && (fchmod(fd, 0666 & ~mask) != 0 || rename(temporary, path) != 0)) {
		dw_say("cannot write %s: %s", path, strerror(errno));
		code = DW_EXIT_BAD_INPUT;
	}
	if (code)
		unlink(temporary);
	close(fd);
	return code;
}

int dw_cmd_import(const struct dw_verb *verb, int argc, char **argv)
{
	struct dw_import_file *files;
	const char *output = NULL;
	size_t operands = dw_options_take(verb, argc, argv, import_take_option, &output), mapped = 0;
	int code = DW_EXIT_BAD_INPUT;

	if (!operands || !output) {
		dw_say(operands ? "no output is given: dwell import FILE... -o TRACE.dwell"
		                : "no file is given: dwell import FILE... -o TRACE.dwell");
		return DW_EXIT_USAGE;
	}
	files = calloc(operands, sizeof *files);
	if (!files)
		return DW_EXIT_BAD_INPUT;
	while (mapped < operands && import_map(argv[mapped], &files[mapped]))
		mapped++;
	if (mapped == operands)
		code = import_store(files, operands, output);
	for (size_t i = 0; i < operands; i++)
		if (files[i].data)
			munmap((void *)(uintptr_t)files[i].data, files[i].size_bytes);
	free(files);
	return code;
}
