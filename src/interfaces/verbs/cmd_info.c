/*
 * dwell info: prints all that a trace contains apart from its records, so that its owner can see
 * what it would reveal to others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/text.h"
#include "cli/cli.h"
#include "model/model.h"
#include "table/table.h"

static int info_take_option(void *context, const struct dw_option *option, const char *value)
{
	if (option->id == DW_OPTION_TEXTS)
		*(bool *)context = true;
	return 0;
}

static void info_print_line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void info_print_line(const char *name, const char *format, ...)
{
	char text[1200];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	dw_text_disarm(text, false);
	printf("%-14s %s\n", name, text);
}

static void info_print_number(const char *name, enum dw_unit unit, int64_t value, const char *more)
{
	struct dw_text text = unit == DW_UNIT_NS      ? dw_text_ns((double)value, " ")
	                      : unit == DW_UNIT_BYTES ? dw_text_bytes((double)value, " ")
	                                              : dw_text_count(value);

	printf("%-14s %s%s\n", name, text.at, more);
}

static void info_print_file(const struct dw_source_file *file)
{
	static const char *const clocks[] = { "unknown", "CLOCK_MONOTONIC", "time stamp counter", "CNTVCT" };
	static const char *const keeps[] = { "both ends", "the oldest", "the newest" };
	const struct dw_head *head = file->head;
	time_t start = (time_t)(head->start_realtime_ns / 1000000000u);
	char text[128], id[33];
	struct stat status;
	struct tm when;

	info_print_line("trace", "%s", file->path);
	for (int i = 0; i < 16; i++)
		snprintf(id + (size_t)i * 2, 3, "%02x", head->run_id[i]);
	info_print_line("run", "%s", id);
	info_print_line("written by", "%.32s, format %u.%u", head->writer, head->version_major, head->version_minor);
	info_print_line("host", "%.63s", head->hostname);
	if (gmtime_r(&start, &when) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &when))
		info_print_line("began", "%s", text);
	info_print_line("clock", "%s, %.6g MHz, good to %" PRIu64 " ns",
	                clocks[head->clock_kind < 4 ? head->clock_kind : 0], 1e3 / file->clock.ns_per_tick,
	                file->clock.error_ns);
	if (file->clock_jumps)
		info_print_line("clock jumps", "%u, of up to %.3g s", file->clock_jumps, (double)file->clock_jump_ns / 1e9);
	info_print_number("size", DW_UNIT_BYTES, (int64_t)file->size_bytes, "");
	if (file->missing_bytes)
		info_print_number("missing", DW_UNIT_BYTES, (int64_t)file->missing_bytes,
		                  " at the end: this is a truncated copy");
	if (stat(file->path, &status) == 0)
		info_print_number("on disk", DW_UNIT_BYTES, (int64_t)status.st_blocks * 512, "");
	else
		info_print_line("on disk", "%s", strerror(errno));
	snprintf(text, sizeof text, ", keeping %s", keeps[head->keep < 3 ? head->keep : 0]);
	info_print_number("at most", DW_UNIT_BYTES, (int64_t)head->max_blocks * DW_BLOCK_BYTES, text);
}

static void info_print_processes(const struct dw_source *source)
{
	printf("\n%zu process%s\n", source->process_count, source->process_count == 1 ? "" : "es");
	for (size_t i = 0; i < source->process_count; i++) {
		const struct dw_source_process *process = &source->processes[i];
		char text[1200];
		int at = snprintf(text, sizeof text, "%.500s%s", process->name ? process->name : "(unnamed)",
		                  process->flags & DW_PROCESS_RUNNER ? " (dwell run itself)" : "");

		if (process->rank >= 0)
			at += snprintf(text + at, sizeof text - (size_t)at, ", rank %d", process->rank);
		if (process->rank >= 0 && process->world_size > 0)
			at += snprintf(text + at, sizeof text - (size_t)at, " of %d", process->world_size);
		if (process->command)
			snprintf(text + at, sizeof text - (size_t)at, ": %.500s", process->command);
		dw_text_disarm(text, false);
		printf("  %-12u %s\n", process->pid, text);
	}
}

/* Prints all texts that can be read in the file: names, paths, arguments, metadata. */
static void info_print_texts(const struct dw_source *source)
{
	for (size_t f = 0; f < source->file_count; f++) {
		const struct dw_source_file *file = &source->files[f];

		for (uint32_t id = 0; id < file->symbol_count; id++) {
			char *text = file->strings[id] ? strdup(file->strings[id]) : NULL;

			if (!text)
				continue;
			dw_text_disarm(text, false);
			puts(text);
			free(text);
		}
	}
}

static uint64_t info_text_count(const struct dw_source *source)
{
	uint64_t count = 0;

	for (size_t f = 0; f < source->file_count; f++)
		for (uint32_t id = 0; id < source->files[f].symbol_count; id++)
			count += source->files[f].strings[id] != NULL;
	return count;
}

/* The report's figures per step are about the steps that ended. */
static void info_print_steps(const struct dw_source *source)
{
	uint64_t count = source->step_count, summed = 0, open = 0;
	char summed_text[64] = "", open_text[64] = "", text[160];

	for (size_t i = 0; i < source->step_count; i++)
		open += source->steps[i].open;
	for (size_t i = 0; i < source->step_summary_count; i++)
		summed += source->step_summaries[i].count;
	if (summed)
		snprintf(summed_text, sizeof summed_text, ", %s of them summarised", dw_text_count((int64_t)summed).at);
	if (open)
		snprintf(open_text, sizeof open_text, ", %s of them did not end", dw_text_count((int64_t)open).at);
	snprintf(text, sizeof text, "%s%s", summed_text, open_text);
	info_print_number("steps", DW_UNIT_COUNT, (int64_t)(count + summed), text);
}

/* What recording did where threads, children and programs began and ended. */
static void info_print_begins(const struct dw_source *source)
{
	char text[128];

	if (!source->begins)
		return;
	snprintf(text, sizeof text, " of threads, children and programs; dwell's work there took %s",
	         dw_text_ns((double)source->begins_ns, " ").at);
	info_print_number("begins", DW_UNIT_COUNT, (int64_t)source->begins, text);
}

static void info_print_contents(const struct dw_source *source, struct dw_model *model)
{
	uint32_t categories = dw_model_categories(model);
	size_t chunks = 0, symbols = 0;

	for (size_t i = 0; i < source->stream_count; i++)
		chunks += source->streams[i].chunk_count;
	dw_model_symbols(model, &symbols);
	printf("\n");
	info_print_number("threads", DW_UNIT_COUNT, (int64_t)source->thread_count, "");
	info_print_begins(source);
	info_print_number("streams", DW_UNIT_COUNT, (int64_t)source->stream_count, "");
	info_print_number("chunks", DW_UNIT_COUNT, (int64_t)chunks, "");
	info_print_number("names", DW_UNIT_COUNT, (int64_t)symbols - 2, ""); /* two are internal */
	info_print_number("texts", DW_UNIT_COUNT, (int64_t)info_text_count(source), " (dwell info --texts prints them)");
	info_print_steps(source);
	info_print_number("length", DW_UNIT_NS, (int64_t)source->end_ns, "");
	printf("%-14s", "records of");
	for (uint32_t c = 0; c < DWELL_CATEGORY_COUNT; c++)
		if (categories & 1u << c)
			printf(" %s", dw_category_name(c));
	printf("\n");
	for (uint32_t i = 0; i < DW_LOSS_SLOTS; i++) {
		char text[64];

		snprintf(text, sizeof text, " record%s (%s)", dw_text_plural(source->lost[i]),
		         dw_loss_cause(i) ? dw_loss_cause(i) : "another cause");
		if (source->lost[i])
			info_print_number("lost", DW_UNIT_COUNT, (int64_t)source->lost[i], text);
	}
}

static void info_print_profiles(const struct dw_source *source)
{
	if (source->profile_count)
		printf("\nprofiles (dwell report --profile NAME or ID)\n");
	for (size_t i = 0; i < source->profile_count; i++) {
		const struct dw_source_profile *profile = &source->profiles[i];
		char name[256];

		snprintf(name, sizeof name, "%s", profile->name);
		dw_text_disarm(name, false);
		printf("  %-20s id %-6u cycle %-4llu %s to %s%s\n", name, profile->id, (unsigned long long)profile->cycle,
		       dw_text_ns((double)profile->start_ns, " ").at, dw_text_ns((double)profile->end_ns, " ").at,
		       profile->open ? ", not ended" : "");
	}
}

/* Whether a later entry has the same key: the last value counts. */
static bool info_is_overridden(const struct dw_source *source, size_t meta)
{
	const struct dw_source_meta *metas = source->metas;

	for (size_t i = meta + 1; i < source->meta_count && i < meta + 1000; i++)
		if (metas[i].process == metas[meta].process && strncmp(metas[i].key, metas[meta].key, 1000) == 0)
			return true;
	return false;
}

static void info_print_metas(const struct dw_source *source)
{
	if (source->meta_count)
		printf("\nmetadata\n");
	for (size_t i = 0; i < source->meta_count; i++) {
		char text[1200];

		if (info_is_overridden(source, i))
			continue;
		snprintf(text, sizeof text, "%.200s = %.900s", source->metas[i].key, source->metas[i].value);
		dw_text_disarm(text, false);
		printf("  %s\n", text);
	}
}

int dw_cmd_info(const struct dw_verb *verb, int argc, char **argv)
{
	struct dwell_error error = { 0, "" };
	struct dw_scope everything = { 0 };
	struct dw_source *source;
	struct dw_model *model;
	const char *path;
	size_t repair_count = 0;
	bool texts = false;
	size_t operands = dw_options_take(verb, argc, argv, info_take_option, &texts);
	int code = dw_take_trace(verb, argv, operands, &path);

	if (code)
		return code;
	code = dw_source_open(&source, &path, 1, &error);
	if (code)
		return dw_say_error(&error, code);
	code = dw_model_create(&model, source, &everything, &error);
	if (code) {
		dw_source_close(source);
		return dw_say_error(&error, code);
	}
	const char *const *repairs = dw_model_repairs(model, &repair_count);
	for (size_t i = 0; repairs && i < repair_count; i++)
		dw_say("%s", repairs[i]);
	if (texts) {
		info_print_texts(source);
	} else {
		for (size_t i = 0; i < source->file_count; i++)
			info_print_file(&source->files[i]);
		info_print_processes(source);
		info_print_contents(source, model);
		info_print_profiles(source);
		info_print_metas(source);
	}
	dw_model_destroy(model);
	dw_source_close(source);
	return 0;
}
