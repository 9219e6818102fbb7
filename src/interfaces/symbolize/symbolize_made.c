/* Names of code that a program made at run time, from the files in which it announced them. */
#include "symbolize/symbolize_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/code/code_names.h"
#include "base/order.h"
#include "base/text.h"
#include "format/keys.h"
#include "record/about_process.h"
#include "record/entry.h"
#include "record/ids.h"
#include "say/say.h"

#define MOST_NAMES 50000u
#define MOST_NAME_BYTES ((size_t)1 << 20) /* of all names in a trace */

void dw_symbolize_put(uint32_t frame, uint32_t nesting, const char *name, const char *file, int line, enum dw_code_loop loop)
{
	uint32_t function = dw_intern_text(name), path = dw_intern_text(file);
	struct dw_entry_symbol *entry = function ? dw_journal_reserve(sizeof *entry) : NULL;

	if (!entry)
		return;
	entry->entry.id = frame;
	entry->entry.aux = nesting;
	entry->function = function;
	entry->file = path;
	entry->line = path && line > 0 ? (uint32_t)line : 0;
	entry->loop = loop;
	dw_journal_commit(entry, DW_ENTRY_SYMBOL);
}

struct made {
	const struct dw_source *source;
	struct made_frame {
		uint32_t process, id;
		uint64_t address;
	} *frames; /* by process */
	size_t count, named, named_bytes, left_out;
	char lacks[DW_CODE_NAMES_LACK_BYTES];
};

DW_ORDER(made_compare, struct made_frame, DW_UP(process) DW_UP(id))

static const struct dw_source_process *made_process(const struct dw_source *source, uint32_t id)
{
	for (size_t i = 0; i < source->process_count; i++)
		if (source->processes[i].file == 0 && source->processes[i].id == id)
			return &source->processes[i];
	return NULL;
}

static void made_name(struct made *made, const struct dw_code_names *names, const struct made_frame *frame)
{
	char text[DW_CODE_NAME_BYTES];
	const char *name = dw_code_names_find(names, frame->address, text);
	size_t bytes = name ? strlen(name) : 0;

	if (!name)
		return;
	if (made->named >= MOST_NAMES || made->named_bytes + bytes > MOST_NAME_BYTES) {
		made->left_out++;
		return;
	}
	made->named++;
	made->named_bytes += bytes;
	dw_symbolize_put(frame->id, 0, name, NULL, 0, DW_CODE_OTHER);
}

/* The frames of one process. */
static void made_name_process(struct made *made, const struct made_frame *frames, size_t count)
{
	const struct dw_source_process *process = made_process(made->source, frames->process);
	struct dw_code_names names = { .count = 0 };
	struct dw_code_process announced = { .root = "", .owner = geteuid() };
	char text[32];

	if (!process)
		return;
	announced.pid = process->pid;
	announced.since = (int64_t)((made->source->realtime_start_ns + process->start_ns) / 1000000000);
	snprintf(text, sizeof text, "jit-%u.dump", process->pid);
	announced.dump = dw_source_module_named(made->source, 0, text);
	dw_code_names_add_process(&names, &announced, made->lacks);
	for (size_t i = 0; i < count; i++)
		made_name(made, &names, &frames[i]);
	dw_code_names_reset(&names);
}

void dw_symbolize_made(const struct dw_source *source)
{
	const struct dw_source_file *file = &source->files[0];
	struct made made = { .source = source, .frames = calloc(file->symbol_count + (size_t)1, sizeof *made.frames) };
	char text[100];

	for (uint32_t id = 0; made.frames && id < file->symbol_count; id++)
		if (file->frames[id] && file->frames[id]->process && !file->frames[id]->module)
			made.frames[made.count++] = (struct made_frame){ file->frames[id]->process, id, file->frames[id]->offset };
	if (made.count)
		qsort(made.frames, made.count, sizeof *made.frames, made_compare);
	for (size_t from = 0, to; from < made.count; from = to) {
		for (to = from; to < made.count && made.frames[to].process == made.frames[from].process;)
			to++;
		made_name_process(&made, &made.frames[from], to - from);
	}
	for (uint32_t id = 0; id < file->symbol_count; id++)
		if (file->frames[id] && !file->frames[id]->module && !file->frames[id]->process &&
		    strcmp(file->frames[id]->functions->name, "[jit]") == 0) {
			dw_code_names_lack(made.lacks, "a process", "used more than 65,536 places in made code, and later ones have none");
			break;
		}
	if (made.left_out) {
		snprintf(text, sizeof text, "were left out, because a trace holds at most %u of them and 1 MiB", MOST_NAMES);
		dw_code_names_lack(made.lacks, dw_text_count((int64_t)made.left_out).at, text);
	}
	if (*made.lacks) {
		dw_say("names of code made at run time: %s", made.lacks);
		dw_meta(DW_KEY_SAMPLE_NAMES_LACK, made.lacks, 0);
	}
	free(made.frames);
}
