/*
 * A Chrome trace becomes a trace of dwell; see chrome.h.
 *
 * Called by import_any.c for files that begin like JSON. An event that is no JSON is read once more
 * with `lenient` (json.h), because Kineto writes some names without escapes. If that fails too, the
 * event is left out, and reading continues where the next event seems to begin. If a file ends too
 * early, its events up to there are used.
 */
#include "import/chrome_graphs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "import/otlp.h"
#include "import/rocprof.h"
#include "import/rows.h"

#define LENIENT_BYTES ((size_t)32 << 10) /* of an event that is no JSON */
#define MOST_PROPERTIES_BYTES (1 << 20)
#define ONNX_MOST_EVENTS 1000000u /* that ONNX Runtime's profiler stores unless it is told otherwise */
#define LARGE_BYTES ((size_t)64 << 20) /* images of larger files are made in a temporary file */

/* ---- events -------------------------------------------------------------------------------------- */

/* Reads the event at the start of the window. NULL: it is no event, or the file ends within it. */
static const char *chrome_parse(struct chrome *chrome, struct chrome_event *event)
{
	const char *end;

	while (!(end = chrome_read_event(&chrome->guesses, &chrome->json, chrome->input.at, event)) &&
	       chrome->json.why == DW_JSON_NEEDS_MORE && chrome_more(chrome))
		;
	return end;
}

/* The same for an event that is no JSON. It reads at most LENIENT_BYTES: otherwise each quote
 * without a partner would make it read to the end of the file. */
static const char *chrome_parse_leniently(struct chrome *chrome, struct chrome_event *event)
{
	const struct dw_input *input = &chrome->input;
	struct dw_json json = { .end = input->end, .last = true, .lenient = true };

	while (!input->last && (size_t)(input->end - input->at) < LENIENT_BYTES && chrome_more(chrome))
		;
	json.end = (size_t)(input->end - input->at) < LENIENT_BYTES ? input->end
	                                                            : input->at + LENIENT_BYTES;
	return chrome_read_event(&chrome->guesses, &json, input->at, event);
}

/*
 * Finds the next event after one that cannot be read: a '{' behind "}," or the end of the list.
 * Both may also occur within a string. Then the place is no event, and this function is called
 * again.
 */
static bool chrome_find_event(struct chrome *chrome)
{
	chrome_consume(chrome, chrome->input.at + 1);
	for (;;) {
		const char *at = chrome->input.at;
		const char *brace = memchr(at, '}', (size_t)(chrome->input.end - at)), *next;

		if (!brace) {
			chrome_consume(chrome, chrome->input.end);
			if (!chrome_more(chrome))
				return false;
			continue;
		}
		next = dw_json_space(brace + 1);
		if (*next == ',')
			next = dw_json_space(next + 1);
		if (next >= chrome->input.end && !chrome->input.last) {
			chrome_consume(chrome, brace);
			if (!chrome_more(chrome))
				return false;
			continue;
		}
		chrome_consume(chrome, *next == '{' ? next : brace + 1);
		if (*next == '{')
			return true;
	}
}

/* Reads one event and hands it over. False: the file ends. */
static bool chrome_read_one(struct chrome *chrome, struct chrome_event *event)
{
	const char *end = chrome_parse(chrome, event);

	bool cut = !end && chrome->input.last && chrome->json.bad_at >= chrome->input.end;

	if (!end && !cut) {
		end = chrome_parse_leniently(chrome, event);
		if (end)
			chrome_count(chrome, &chrome->repaired);
	}
	if (end) {
		if (chrome->other_file)
			chrome_graphs_take(chrome, event);
		else if ((!chrome->vendor.kind && event->phase != 'M') || chrome_translate(chrome, event))
			chrome_take_event(chrome, event);
		chrome_consume(chrome, end);
		return true;
	}
	if (cut) {
		chrome->truncated = true;
		return false;
	}
	chrome_count(chrome, &chrome->damaged);
	return chrome_find_event(chrome);
}

/* Reads the elements of an array whose bracket was taken. False: the file ends within it. */
static bool chrome_read_events(struct chrome *chrome)
{
	struct chrome_event *event = calloc(1, sizeof *event);
	bool more = event != NULL;

	chrome->has_events = true;
	chrome->failed |= !event;
	while (more && !chrome->failed && !chrome->sort.failed && !chrome->encode.failed) {
		char next = chrome_peek(chrome);

		if (next == ']')
			break;
		if (next == ',')
			chrome_consume(chrome, chrome->input.at + 1);
		else if (next == '{')
			more = chrome_read_one(chrome, event);
		else if (next)
			more = (chrome_count(chrome, &chrome->damaged), chrome_find_event(chrome));
		else
			more = false;
	}
	free(event);
	return chrome_take(chrome, ']');
}

/* ---- members that describe the file ---------------------------------------------------------------- */

static bool chrome_find_integer(const char *at, const char *end, const char *key, int64_t *value)
{
	struct dw_json json = { .end = end, .last = true };
	const char *found = memmem(at, (size_t)(end - at), key, strlen(key));
	struct dw_json_number number;

	if (!found)
		return false;
	found = dw_json_space(found + strlen(key));
	return *found == ':' && dw_json_read_number(&json, dw_json_space(found + 1), &number) &&
	       dw_json_i64(&number, value);
}

/* Stores a member of the file's object under a key of the trace. */
static void chrome_put_fact(struct chrome *chrome, const struct dw_json_string *key, const char *at,
                            const char *end)
{
	const struct dw_json_string value = { at, (uint32_t)(end - at), false };
	struct dw_entry_meta *entry;
	uint32_t key_id, value_id;
	char text[64];

	if (key->length > 40 || end - at > 16384)
		return;
	snprintf(text, sizeof text, "kineto.%.*s", (int)key->length, key->at);
	key_id = chrome_string(chrome, chrome_text_plain(chrome, text));
	value_id = chrome_json_of(chrome, &value);
	entry = dw_encode_entry(chrome_journal(chrome), DW_ENTRY_META, key_id, value_id, sizeof *entry);
	if (entry)
		entry->flags = DW_META_JSON;
}

static void chrome_take_member(struct chrome *chrome, const struct dw_json_string *key, const char *at,
                               const char *end)
{
	struct dw_json json = { .end = end, .last = true };
	struct dw_json_number number;

	if (DW_JSON_IS(key, "baseTimeNanoseconds") && dw_json_read_number(&json, at, &number))
		dw_json_i64(&number, &chrome->base_ns);
	if (DW_JSON_IS(key, "$schema") && memmem(at, (size_t)(end - at), "speedscope", 10))
		chrome->other_form = "a profile of speedscope, which shows it. If dwell exported it, name the trace itself";
	if (DW_JSON_IS(key, "nodes") && memmem(at, (size_t)(end - at), "\"callFrame\"", 11))
		chrome->other_form = "a profile of V8 (.cpuprofile), which speedscope and Chrome show";
	if (DW_JSON_IS(key, "distributedInfo")) {
		chrome_find_integer(at, end, "\"rank\"", &chrome->rank);
		chrome_find_integer(at, end, "\"world_size\"", &chrome->world_size);
	}
	if (DW_JSON_IS(key, "deviceProperties") && *at == '[' && end - at < MOST_PROPERTIES_BYTES) {
		chrome->devices.properties = dw_arena_text(&chrome->names.arena, at, (size_t)(end - at));
		chrome->devices.properties_length = (size_t)(end - at);
		chrome->failed |= !chrome->devices.properties;
	} else {
		chrome_put_fact(chrome, key, at, end);
	}
}

/* Members of the file's object that may be large and have no place in a trace: samples, and traces of other tracers. */
static bool chrome_is_unread(const char *name)
{
	static const char *const unread[] = { "samples", "systemTraceEvents", "powerTraceAsString", "androidProcessDump" };

	for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
		if (strcmp(name, unread[i]) == 0)
			return true;
	return false;
}

/* Reads a member of the file's object. If the member is the list of events, reads the events.
 * False: the file ends. */
static bool chrome_read_member(struct chrome *chrome)
{
	struct dw_json_string key;
	char name[64] = "";
	const char *end;

	while (!(end = dw_json_read_string(&chrome->json, chrome->input.at, &key)) &&
	       chrome->json.why == DW_JSON_NEEDS_MORE && chrome_more(chrome))
		;
	if (!end)
		return false;
	if (key.length < sizeof name)
		memcpy(name, key.at, key.length);
	chrome_consume(chrome, end);
	if (!chrome_take(chrome, ':'))
		return false;
	if (strcmp(name, "traceEvents") == 0 && chrome_take(chrome, '['))
		return chrome_read_events(chrome);
	if (chrome_is_unread(name))
		return chrome_leave_out(chrome, name, strcmp(name, "samples") == 0);
	if (strcmp(name, ROCPROF_MEMBER) == 0 && !chrome->other_file && chrome_take(chrome, '['))
		return rocprof_read(chrome);
	if (strcmp(name, OTLP_MEMBER) == 0 && !chrome->other_file && chrome_take(chrome, '['))
		return (chrome->lines = true) && otlp_read(chrome);
	chrome_peek(chrome);
	end = chrome_parse_value(chrome);
	if (!end)
		return false;
	key = (struct dw_json_string){ name, (uint32_t)strlen(name), false };
	if (*name && !chrome->other_file)
		chrome_take_member(chrome, &key, chrome->input.at, end);
	chrome_consume(chrome, end);
	return true;
}

/* Reads the file's object, whose brace was taken, to its end. False: the file ends within it, or is no JSON there. */
static bool chrome_read_object(struct chrome *chrome)
{
	while (chrome_peek(chrome) != '}')
		if (!chrome_take(chrome, ',') && (*chrome->input.at != '"' || !chrome_read_member(chrome)))
			return false;
	return true;
}

static void chrome_read_file(struct chrome *chrome)
{
	if (chrome_peek(chrome) == '[') {
		chrome_take(chrome, '[');
		chrome->truncated |= !chrome_read_events(chrome);
		return;
	}
	chrome_take(chrome, '{');
	do
		chrome->truncated |= !chrome_read_object(chrome);
	while (!chrome->truncated && chrome->lines && chrome_take(chrome, '}') && chrome_take(chrome, '{'));
}

/* ---- the image -------------------------------------------------------------------------------------- */

static void chrome_note(struct chrome *chrome, struct dw_import_result *result,
                        const struct chrome_fault *fault, const char *what)
{
	if (fault->count && fault->table)
		result->note = dw_arena_printf(chrome->arena, "%s%s%" PRIu64 " %s (the first in row %" PRIu64
		                               " of %s)", result->note ? result->note : "",
		                               result->note ? "; " : "", fault->count, what, fault->line,
		                               fault->table);
	else if (fault->count)
		result->note = dw_arena_printf(chrome->arena, "%s%s%" PRIu64 " %s (the first at line %" PRIu64
		                               ", column %" PRIu64 ")", result->note ? result->note : "",
		                               result->note ? "; " : "", fault->count, what, fault->line,
		                               fault->column);
}

/* Adds the notes on a file. A single file is named before them anyway. */
static void chrome_add_note(struct chrome *chrome, const char **all, const char *note, bool named)
{
	bool name = named && chrome->file_count > 1;

	if (note)
		*all = dw_arena_printf(chrome->arena, "%s%s%s%s%s", *all ? *all : "", *all ? "; " : "",
		                       name ? chrome->file->path : "", name ? ": " : "", note);
}

/* Where reading ended in the middle of the file, because it is no JSON there; NULL: the file ends too early. */
static const char *chrome_broken_at(struct chrome *chrome)
{
	if (!chrome->truncated || chrome->input.cut || chrome->input.bomb || !chrome_peek(chrome))
		return NULL;
	if (chrome_parse_value(chrome))
		return chrome->input.at;
	return chrome->json.bad_at < chrome->input.end ? chrome->json.bad_at : NULL;
}

/* What is wrong with the file as a whole. */
static void chrome_note_end(struct chrome *chrome, struct dw_import_result *result)
{
	const char *broken = chrome->table ? NULL : chrome_broken_at(chrome);
	uint64_t line = 0, column = 0;

	if (!chrome->table)
		dw_input_place(&chrome->input, broken ? broken : chrome->input.at, &line, &column);
	if (broken)
		result->note = dw_arena_printf(chrome->arena, "the file is no valid JSON at line %" PRIu64 ", column %" PRIu64
		                               "; what lies before is here", line, column);
	else if (chrome->truncated || chrome->input.cut || chrome->input.bomb)
		result->note = dw_arena_printf(chrome->arena, "the %s at line %" PRIu64 ", column %" PRIu64
		                               "; what lies before is here",
		                               chrome->input.bomb ? "compressed file becomes larger than a trace can be"
		                               : chrome->input.cut ? "compressed data are damaged or end too early"
		                                                   : "file ends too early",
		                               line, column);
	else if (!chrome->events)
		result->note = "it has no events";
	else if ((chrome->nodes_after_run && chrome->runs) || chrome->runtime_events == ONNX_MOST_EVENTS)
		result->note = dw_arena_printf(chrome->arena, "the profile was cut at %" PRIu64 " events, the most "
		                               "that ONNX Runtime was to store: later runs are missing, and the "
		                               "last one may be incomplete", chrome->runtime_events);
}

static void chrome_notes(struct chrome *chrome, struct dw_import_result *all)
{
	struct dw_import_result notes = { .note = NULL }, *result = &notes, lost = { .note = NULL };

	chrome_note_end(chrome, result);
	chrome_note(chrome, &lost, &chrome->damaged, "events are no valid JSON and are left out");
	chrome_note(chrome, &lost, &chrome->timeless, "events have no time, or one that is no number, and are left out");
	chrome_note(chrome, &lost, &chrome->unknown_phase,
	            dw_arena_printf(chrome->arena, "events are of a kind that dwell does not know (ph %s), and are left out",
	                            chrome->phases));
	chrome_note(chrome, &lost, &chrome->stacks, "call stacks of events (sf, stack) are left out");
	chrome_note(chrome, &lost, &chrome->threads_dropped,
	            "events are left out, of more threads than a "
	            "file of this size has");
	dw_import_note(&lost, chrome->arena, chrome->unmatched_ends, "events end and did not begin");
	if (chrome->unread.count)
		dw_import_note(&lost, chrome->arena, chrome->unread.count,
		               dw_arena_printf(chrome->arena, "records of kinds that dwell does not read (%s) are left out",
		                               chrome->unread_kinds ? chrome->unread_kinds : "?"));
	chrome_note(chrome, result, &chrome->repaired, "events have text without escapes, or invalid "
	            "UTF-8, and were repaired");
	chrome_note(chrome, result, &chrome->wrong, "events have members of a wrong type");
	if (!chrome->clocks_tied)
		chrome_note(chrome, result, &chrome->clocks, "events tie clocks together (ph c): all times are taken as of one clock");
	dw_import_note(result, chrome->arena, chrome->clocks_tied,
	               "processes have another clock: their times are moved by moments that both sides noted (ph c)");
	dw_import_note(result, chrome->arena, chrome->clockless, "processes noted no such moment: their times are not moved");
	chrome_note(chrome, result, &chrome->nameless, "events have a name that is not in the file");
	chrome_note(chrome, result, &chrome->endless, "events have no duration, which is taken as 0");
	chrome_note(chrome, result, &chrome->negative, "events have a negative duration, which is taken as 0");
	chrome_note(chrome, result, &chrome->before_zero, "events begin before time 0, and are moved there");
	chrome_note(chrome, result, &chrome->cut_texts, "texts are longer than 32000 bytes and were cut");
	chrome_note(chrome, result, &chrome->names_dropped,
	            "events have names or shapes beyond those that "
	            "are kept");
	dw_import_note(result, chrome->arena, chrome->ranges.overlaps,
	               "events overlap others of their thread partly");
	dw_import_note(result, chrome->arena, chrome->ranges.cut,
	               "of them end where what is around them ends");
	dw_import_note(result, chrome->arena, chrome->unmatched_begins, "events begin and do not end");
	dw_import_note(result, chrome->arena, chrome->args_dropped, "events have arguments beyond those "
	               "that are kept");
	chrome->lost +=
		chrome->damaged.count + chrome->timeless.count + chrome->unknown_phase.count + chrome->threads_dropped.count +
		chrome->unread.count + chrome->stacks.count + chrome->unmatched_ends;
	notes.note = chrome_graphs_note(chrome, notes.note);
	chrome_add_note(chrome, &chrome->lost_notes, lost.note, true);
	chrome_add_note(chrome, &chrome->other_notes, notes.note, true);
	chrome_add_note(chrome, &all->note, lost.note, true);
	chrome_add_note(chrome, &all->note, notes.note, !lost.note);
}

static void chrome_finish_file(struct chrome *chrome)
{
	chrome_clocks_finish(chrome);
	if (chrome->first_ns == INT64_MAX)
		chrome->first_ns = 0;
	if (chrome->file_count > 1 && chrome->base_ns > 0 &&
	    chrome->base_ns <= CHROME_LATEST_NS - chrome->last_ns)
		chrome->offset_ns = (uint64_t)chrome->base_ns;
	if (chrome->first_process == chrome->process_count || !chrome->process_used)
		chrome_add_process(chrome, 0); /* of devices alone */
	chrome_graphs_read_ranges(chrome);
	chrome_owners_finish(chrome);
	chrome_write_threads(chrome);
	chrome_graphs_put(chrome);
	chrome_devices_finish(chrome);
	chrome_write(chrome);
	if ((uint64_t)chrome->first_ns + chrome->offset_ns < chrome->start_ns)
		chrome->start_ns = (uint64_t)chrome->first_ns + chrome->offset_ns;
}

static void chrome_end_file(struct chrome *chrome)
{
	dw_input_close(&chrome->input);
	dw_sort_reset(&chrome->sort);
	chrome_owners_end_file(chrome);
	chrome_devices_reset(&chrome->devices);
}

static void chrome_reset(struct chrome *chrome)
{
	chrome_end_file(chrome);
	dw_encode_reset(&chrome->encode);
	dw_ranges_reset(&chrome->ranges);
	chrome_names_reset(&chrome->names);
	free(chrome->counters.series);
	dw_map_reset(&chrome->counters.by_key);
	chrome_owners_reset(chrome);
	free(chrome->votes);
	if (chrome->temporary_fd >= 0)
		close(chrome->temporary_fd);
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* Skips the mark that some writers put before UTF-8. Refuses UTF-16 in a compressed file by its mark. */
static int chrome_skip_mark(struct chrome *chrome, struct dwell_error *error)
{
	unsigned char mark[3] = { (unsigned char)chrome_peek(chrome) };

	if (chrome->input.end - chrome->input.at >= 4)
		memcpy(mark, chrome->input.at, sizeof mark);
	if ((mark[0] == 0xff && mark[1] == 0xfe) || (mark[0] == 0xfe && mark[1] == 0xff))
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is a compressed text in UTF-16: unpack it, or save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
		                    chrome->file->path);
	if (mark[0] == 0xef && mark[1] == 0xbb && mark[2] == 0xbf)
		chrome_consume(chrome, chrome->input.at + sizeof mark);
	return 0;
}

/* Whether the text begins like a Chrome trace: an object or an array of objects. */
static bool chrome_is_json(struct chrome *chrome)
{
	char first = chrome_peek(chrome);
	const char *next;

	if (first != '{' && first != '[')
		return false;
	next = dw_json_space(chrome->input.at + 1);
	return first == '{' ? *next == '"' || *next == '}' : *next == '{' || *next == ']';
}

/* Resets the state of the file before, or of the process before in a database. */
static void chrome_begin_part(struct chrome *chrome)
{
	memset(chrome->forward, 0, sizeof chrome->forward);
	chrome->base_ns = 0;
	chrome->offset_ns = 0;
	chrome->rank = chrome->world_size = -1;
	chrome->first_ns = INT64_MAX;
	chrome->last_ns = 0;
	chrome->has_events = false;
	chrome->first_process = chrome->process_used ? chrome->process_count : 0;
	chrome->last_thread = UINT32_MAX;
	dw_sort_init(&chrome->sort);
}

/* Resets the state of the file before and opens the next one. */
static int chrome_begin_file(struct chrome *chrome, const struct dw_import_file *file,
                             struct dwell_error *error)
{
	int code;

	memset(&chrome->damaged, 0, sizeof *chrome - offsetof(struct chrome, damaged));
	chrome->file = file;
	chrome->events = chrome->args_count = 0;
	chrome->ranges.overlaps = chrome->ranges.cut = 0;
	chrome_begin_part(chrome);
	code = dw_input_open(&chrome->input, file, error);
	chrome->json = (struct dw_json){ .end = chrome->input.end, .last = chrome->input.last };
	return code;
}

/* Prepares the image and the tables. A large image is made in a temporary file, so that it does not
 * stay in memory; if that file cannot be opened, the image is made in memory. */
static void chrome_init_image(struct chrome *chrome)
{
	int fd = chrome->image_fd;
	uint64_t bytes = 0;

	/* Compressed files become some twenty times larger. */
	for (size_t i = 0; i < chrome->file_count; i++)
		bytes += chrome->files[i].size_bytes * (chrome->files[i].data[0] == '\x1f' ? 16 : 1);
	if (fd < 0 && bytes >= LARGE_BYTES)
		fd = chrome->temporary_fd = dw_sort_temporary();
	if (fd >= 0)
		dw_encode_init_file(&chrome->encode, DW_CLOCK_MONOTONIC, 1000000000, fd);
	else
		dw_encode_init(&chrome->encode, DW_CLOCK_MONOTONIC, 1000000000);
	chrome->votes = calloc(CHROME_VOTES, sizeof *chrome->votes);
	chrome->failed = !chrome->votes || chrome->encode.failed || !chrome_owners_init(chrome);
}

static int chrome_check(struct chrome *chrome, struct dwell_error *error)
{
	const char *path = chrome->file->path;

	if (chrome->sort.failed && chrome->sort.error)
		return dw_error_set(error, DWELL_E_IO, "cannot write a temporary file for %s: %s; name a folder "
		                    "with space in TMPDIR", path, strerror(chrome->sort.error));
	if (chrome->encode.error)
		return dw_error_set(error, DWELL_E_IO, "cannot write the trace of %s: %s; write it where there is "
		                    "space, or name such a folder in TMPDIR", path, strerror(chrome->encode.error));
	if (chrome->failed || chrome->input.failed || chrome->encode.failed)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory translating %s", path);
	return 0;
}

/* Reads another file with the same structures. False: it is no Chrome trace. */
static bool chrome_read_other(struct chrome *chrome, const struct dw_import_file *file)
{
	const struct dw_import_file *own_file = chrome->file;
	const struct dw_input input = chrome->input;
	const struct dw_json json = chrome->json;
	char faults[offsetof(struct chrome, failed) - offsetof(struct chrome, damaged)];
	const bool has_events = chrome->has_events;
	struct dwell_error error;
	bool good = false;

	memcpy(faults, &chrome->damaged, sizeof faults);
	chrome->file = file;
	chrome->other_file = true;
	chrome->has_events = false;
	if (dw_input_open(&chrome->input, file, &error) == 0) {
		chrome->json = (struct dw_json){ .end = chrome->input.end, .last = chrome->input.last };
		good = chrome_skip_mark(chrome, &error) == 0 && chrome_is_json(chrome);
		if (good)
			chrome_read_file(chrome);
		dw_input_close(&chrome->input);
	}
	good &= chrome->has_events;
	chrome->file = own_file;
	chrome->other_file = false;
	chrome->has_events = has_events;
	chrome->input = input;
	chrome->json = json;
	/* What is wrong with that file is no fault of this one. */
	memcpy(&chrome->damaged, faults, sizeof faults);
	return good;
}

/* Reads one of the files. `*taken` is false if it is no Chrome trace. */
static int chrome_run(struct chrome *chrome, const struct dw_import_file *file, bool *taken,
                      struct dw_import_result *result, struct dwell_error *error)
{
	int code = chrome_begin_file(chrome, file, error);

	if (code == 0)
		code = chrome_skip_mark(chrome, error);
	*taken = code == 0 && chrome_is_json(chrome);
	if (!*taken)
		return code;
	if (!chrome->encode.image)
		chrome_init_image(chrome);
	chrome->first_block = chrome->encode.blocks;
	if (!chrome->failed)
		chrome_read_file(chrome);
	if (!chrome->has_events && !chrome->failed)
		return dw_error_set(error, DWELL_E_NOT_TRACE,
		                    "%s is JSON without \"traceEvents\", \"" ROCPROF_MEMBER "\" or \"" OTLP_MEMBER "\": it is %s",
		                    file->path,
		                    chrome->other_form ? chrome->other_form : "no trace of Kineto, Chrome, rocprofv3 or OpenTelemetry");
	if (!chrome->failed)
		chrome_finish_file(chrome);
	code = chrome_check(chrome, error);
	if (code == 0)
		chrome_notes(chrome, result);
	return code;
}

static int chrome_finish(struct chrome *chrome, const char *writer, struct dw_import_result *result,
                         struct dwell_error *error)
{
	struct dw_head *head;

	if (chrome->process_count)
		dw_import_put_losses(chrome_journal(chrome), chrome->lost, chrome->lost_notes, chrome->other_notes);
	head = dw_encode_head(&chrome->encode);
	head->start_ticks = head->start_monotonic_ns = chrome->start_ns;
	head->start_realtime_ns = chrome->start_ns;
	if (chrome->file_count == 1 && chrome->base_ns > 0)
		head->start_realtime_ns += (uint64_t)chrome->base_ns;
	head->end_blocks = chrome->encode.blocks;
	snprintf(head->writer, sizeof head->writer, "%s", writer);
	result->backed = chrome->encode.in_file;
	result->image = dw_encode_take(&chrome->encode, &result->image_bytes);
	return result->image ? 0 : chrome_check(chrome, error);
}

static struct chrome *chrome_create(const struct dw_import_file *files, size_t count, int image_fd,
                                    struct dw_arena *arena)
{
	struct chrome *chrome = calloc(1, sizeof *chrome);

	if (!chrome)
		return NULL;
	chrome->arena = arena;
	chrome->files = files;
	chrome->file_count = count;
	chrome->image_fd = image_fd;
	chrome->temporary_fd = -1;
	dw_sort_init(&chrome->sort);
	chrome->start_ns = UINT64_MAX;
	chrome->names.seed = dw_hash_seed(chrome);
	return chrome;
}

static void chrome_destroy(struct chrome *chrome)
{
	chrome_reset(chrome);
	free(chrome);
}

/* Imports the files. `graphs`: of each file. `again`: they were imported before, which found graphs. */
static int chrome_import(const struct dw_import_file *files, size_t count, int image_fd, struct chrome_graphs *graphs, bool again,
                         struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error)
{
	struct chrome *chrome = chrome_create(files, count, image_fd, arena);
	bool taken = true;
	int code = 0;

	if (!chrome)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", files->path);
	for (size_t i = 0; i < count && code == 0 && taken; i++) {
		chrome_end_file(chrome);
		chrome->graphs = &graphs[i];
		if (again)
			chrome_graphs_collect(chrome, &files[i], chrome_read_other);
		if (graphs[i].failed) {
			code = dw_error_set(error, DWELL_E_NOMEM, "out of memory translating %s", files[i].path);
			break;
		}
		code = chrome_run(chrome, &files[i], &taken, result, error);
		if (code == 0 && !taken && count > 1)
			code = dw_error_set(error, DWELL_E_NOT_TRACE, "%s is no Chrome trace: only these can be "
			                    "imported together", files[i].path);
	}
	if (code == 0 && taken)
		code = chrome_finish(chrome, chrome->writer ? chrome->writer : "Chrome trace", result, error);
	result->in_file = result->image && image_fd >= 0;
	chrome_destroy(chrome);
	return code;
}

int dw_import_chrome(const struct dw_import_file *files, size_t count, int image_fd,
                     struct dw_arena *arena, struct dw_import_result *result,
                     struct dwell_error *error)
{
	struct chrome_graphs *graphs = calloc(count, sizeof *graphs);
	int code;

	if (!graphs)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", files->path);
	code = chrome_import(files, count, image_fd, graphs, false, arena, result, error);
	if (code == 0 && result->image && chrome_graphs_wanted(graphs, files, count)) {
		munmap(result->image, result->image_bytes);
		*result = (struct dw_import_result){ .image = NULL };
		if (image_fd >= 0 && ftruncate(image_fd, 0) != 0)
			code = dw_error_set(error, DWELL_E_IO, "cannot write the trace of %s: %s", files->path, strerror(errno));
		else
			code = chrome_import(files, count, image_fd, graphs, true, arena, result, error);
	}
	for (size_t i = 0; i < count; i++)
		chrome_graphs_reset(&graphs[i]);
	free(graphs);
	return code;
}

/* What is left out of a database as a whole. */
static void chrome_note_rows(struct chrome *chrome, const struct chrome_rows *rows, struct dw_import_result *all)
{
	struct dw_import_result lost = { .note = NULL };

	dw_import_note(&lost, chrome->arena, rows->dropped, "events are left out, of processes beyond the first 64");
	rows_note(rows->database, chrome->arena, &lost);
	chrome->lost += rows->dropped + rows->database->bad_tables;
	chrome_add_note(chrome, &chrome->lost_notes, lost.note, false);
	chrome_add_note(chrome, &all->note, lost.note, false);
}

int chrome_import_rows(const struct dw_import_file *file, const struct chrome_rows *rows, int image_fd,
                       struct dw_arena *arena, struct dw_import_result *result,
                       struct dwell_error *error)
{
	struct chrome *chrome = chrome_create(file, 1, image_fd, arena);
	int code = 0;

	if (!chrome)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
	chrome->file = file;
	chrome->table = "";
	chrome_init_image(chrome);
	for (size_t i = 0; i < rows->process_count && code == 0; i++) {
		chrome_end_file(chrome);
		chrome_begin_part(chrome);
		chrome->first_block = chrome->encode.blocks;
		if (!chrome->failed)
			rows->read(chrome, rows->context, i);
		if (!chrome->failed)
			chrome_finish_file(chrome);
		code = chrome_check(chrome, error);
	}
	if (code == 0) {
		chrome_notes(chrome, result);
		chrome_note_rows(chrome, rows, result);
		code = chrome_finish(chrome, rows->writer, result, error);
	}
	result->in_file = result->image && image_fd >= 0;
	chrome_destroy(chrome);
	return code;
}
