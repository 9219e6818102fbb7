/*
 * Writes a report: the name of its file, its folder, its text.
 */
#include "compat/lightning/lightning.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the name ------------------------------------------------------------------------------ */

struct name {
	char *text;
	size_t room, length;
	bool held; /* "_" is written before the next safe character, so that runs of "_" become one */
	bool any;
};

static void report_put(struct name *name, char c)
{
	if (name->length + 1 < name->room)
		name->text[name->length] = c;
	name->length++;
}

static void report_put_safe(struct name *name, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\/:*?\"<>|\n\r\t_", *text)) {
			name->held = true;
			continue;
		}
		if (name->held)
			report_put(name, '_');
		name->held = false;
		report_put(name, *text);
	}
}

static void report_put_part(struct name *name, const char *part)
{
	if (!part)
		return;
	if (name->any)
		report_put_safe(name, "-");
	report_put_safe(name, part);
	name->any = true;
}

int dwell_lightning_filename(const struct dwell_lightning_profiler *actions, const char *action,
                             const char *extension, char *text, size_t room)
{
	struct name name = { .text = text, .room = room };
	char rank[16];

	snprintf(rank, sizeof rank, "%d", actions->local_rank);
	report_put_part(&name, actions->stage);
	report_put_part(&name, actions->filename);
	report_put_part(&name, actions->local_rank >= 0 ? rank : NULL);
	report_put_part(&name, action);
	if (name.held)
		report_put(&name, '_');
	for (const char *c = name.length ? "" : "profile"; *c; c++)
		report_put(&name, *c);
	for (; *extension; extension++)
		report_put(&name, *extension);
	if (room)
		text[name.length < room ? name.length : room - 1] = '\0';
	return (int)name.length;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int report_make_folders(char *path)
{
	bool made = true;

	for (char *at = path + 1; *at && made; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		made = mkdir(path, 0777) == 0 || errno == EEXIST;
		*at = '/';
	}
	return made ? 0 : -1;
}

static int report_open_file(const struct dwell_lightning_profiler *actions, char *path, size_t room, FILE **file,
                            struct dwell_error *error)
{
	char name[512];

	if (dwell_lightning_filename(actions, NULL, ".txt", name, sizeof name) >= (int)sizeof name ||
	    snprintf(path, room, "%s/%s", actions->dirpath, name) >= (int)room)
		return dw_error_set(error, DWELL_E_ARGUMENT, "the report's path is too long: %.200s", actions->dirpath);
	*file = report_make_folders(path) == 0 ? fopen(path, "ae") : NULL;
	if (!*file)
		return dw_error_set(error, DWELL_E_IO, "cannot write the report %.300s: %s; give another dirpath", path,
		                    strerror(errno));
	return 0;
}

int dwell_lightning_describe(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	struct dwell_error unused;
	char path[4096], *text = NULL;
	FILE *memory, *file = stdout;
	size_t length = 0;
	int code;

	if (!actions)
		return 0;
	memory = open_memstream(&text, &length);
	if (!memory)
		return dw_error_set(error, DWELL_E_NOMEM, "no memory for a report");
	/* Ends the stage's profile, which must not include the time of reading the trace. */
	dw_lightning_end_profile(actions->own);
	code = dwell_lightning_summary(actions, memory, error ? error : &unused);
	if (fclose(memory) != 0 && !code)
		code = dw_error_set(error, DWELL_E_NOMEM, "no memory for a report");
	if (!code && length && actions->dirpath && actions->filename) {
		code = report_open_file(actions, path, sizeof path, &file, error);
	} else if (actions->local_rank > 0) {
		length = 0;
	}
	if (!code && length) {
		bool failed = fwrite(text, 1, length, file) != length;

		failed |= file == stdout ? fflush(file) != 0 : fclose(file) != 0;
		if (failed)
			code = dw_error_set(error, DWELL_E_IO, "cannot write the report %.300s: %s",
			                    file == stdout ? "to standard output" : path, strerror(errno));
	}
	free(text);
	return code;
}
