/*
 * Ranges and steps of a Chrome trace: "X" where they nest, "b" and "e" where not.
 *
 * Called by chrome.c. Their "args" are what tools for PyTorch's traces look for: ids,
 * shapes, call stack, sequence number; then what the program gave.
 */
#include <stdio.h>

#include "export/chrome.h"
#include "export/export.h"
#include "export/stacks.h"
#include "frameworks/torch.h"

/* The three numbers by which tools tell calls apart, all from one counter: the first
 * two from 1, the last from 0. */
static void write_ids(struct dw_chrome *chrome, struct dw_writer_out *out)
{
	uint64_t id = ++chrome->next_range;
	char *to = dw_out_room(out, DW_CHROME_ROOM);

	if (!to)
		return;
	to = DW_PUT(to, "\"External id\":");
	to = dw_put_u64(to, id);
	to = DW_PUT(to, ",\"Record function id\":");
	to = dw_put_u64(to, id);
	to = DW_PUT(to, ",\"Ev Idx\":");
	dw_out_wrote(out, dw_put_u64(to, id - 1));
}

/* "FILE(LINE): FUNCTION;..." from the innermost, as PyTorch does. */
static void write_stack(struct dw_chrome *chrome, struct dw_writer_out *out,
                        const struct dw_event *event)
{
	struct dw_writer_out *text = &chrome->scratch;

	text->used = 0;
	dw_stack_text(text, dw_stack_at(chrome->source, event->thread, event->stack));
	dw_out_bytes(text, "", 1);
	chrome->failed |= text->error != 0;
	dw_out_text(out, ",\"Call stack\":");
	dw_out_string(out, text->error ? "" : text->buffer);
	text->used = 0;
}

/* What is in "args" of this one call and not of all of its name. */
static void write_own_args(struct dw_chrome *chrome, struct dw_writer_out *out,
                           const struct dw_event *event)
{
	if (event->stack)
		write_stack(chrome, out, event);
	if (event->args) {
		dw_out_text(out, ",\"args\":");
		if (dw_json_valid(event->args))
			dw_out_text(out, event->args);
		else
			dw_out_string(out, event->args);
	}
	if (event->sequence != UINT64_MAX) {
		dw_out_text(out, ",\"Sequence number\":");
		dw_out_big(out, event->sequence);
		dw_out_text(out, ",\"Fwd thread id\":");
		dw_out_u64(out, event->forward_thread < chrome->source->thread_count
		                    ? chrome->tracks[event->forward_thread * 2].tid
		                    : 0);
	}
	if (event->open)
		dw_out_text(out, ",\"open\":true");
}

static void write_args(struct dw_chrome *chrome, struct dw_writer_out *out,
                       const struct dw_chrome_label *label, const struct dw_event *event)
{
	write_ids(chrome, out);
	dw_out_text(out, label->args_length ? "," : "");
	dw_out_bytes(out, label->args, label->args_length);
	write_own_args(chrome, out, event);
}

static void write_overlapping(struct dw_chrome *chrome, const struct dw_chrome_label *label,
                              const struct dw_event *event, uint32_t track)
{
	struct dw_writer_out args;

	dw_out_init_memory(&args);
	write_args(chrome, &args, label, event);
	dw_out_bytes(&args, "", 1);
	if (args.error)
		chrome->failed = true;
	else
		dw_chrome_async(chrome, label, event, track, args.buffer);
	dw_out_reset(&args);
}

void dw_chrome_put_range(struct dw_chrome *chrome, const struct dw_event *event)
{
	const struct dw_chrome_label *label = dw_chrome_label(chrome, event->symbol);
	uint32_t track = event->thread * 2 + chrome->nested;
	const struct dw_chrome_track *at = &chrome->tracks[track];
	struct dw_writer_out *out = chrome->out;
	char *to;
	int nests;

	if (chrome->nest.track != track)
		dw_chrome_nest_start(&chrome->nest, track);
	nests = dw_chrome_nest_add(&chrome->nest, event->start_ns, event->end_ns, event->depth);
	if (nests <= 0) {
		chrome->failed |= nests < 0;
		write_overlapping(chrome, label, event, track);
		return;
	}
	if (!chrome->nested)
		dw_chrome_steps_meet(&chrome->steps, event->thread, event->start_ns, event->end_ns);
	dw_chrome_begin(chrome, 'X');
	dw_chrome_name(chrome, label);
	to = dw_out_room(out, DW_CHROME_ROOM);
	to = dw_copy(to, at->text, at->length);
	to = dw_put_us(to, event->start_ns);
	to = DW_PUT(to, ",\"dur\":");
	to = dw_put_us(to, event->end_ns - event->start_ns);
	dw_out_wrote(out, DW_PUT(to, ",\"args\":{"));
	write_args(chrome, out, label, event);
	dw_out_bytes(out, "}}", 2);
}

/* ---- steps -------------------------------------------------------------------------- */

void dw_chrome_put_steps(struct dw_chrome *chrome)
{
	struct dw_writer_out *out = chrome->out;

	for (size_t i = 0; i < chrome->steps.count; i++) {
		const struct dw_chrome_step *at = &chrome->steps.steps[i];
		struct dw_event event = { .start_ns = at->start_ns, .end_ns = at->end_ns };
		struct dw_chrome_label label;
		char head[80];
		const char *args = at->step->open ? ",\"open\":true" : "";

		if (!at->step->recorded)
			args = at->step->open ? ",\"recorded\":false,\"open\":true" : ",\"recorded\":false";
		label.head = head;
		label.head_length = (uint32_t)snprintf(
			head, sizeof head, "\"cat\":\"user_annotation\",\"name\":\"" DW_TORCH_STEP "%llu\"",
			(unsigned long long)at->step->number);
		if (at->overlaps) {
			dw_chrome_async(chrome, &label, &event, at->track, *args ? args + 1 : args);
			continue;
		}
		dw_chrome_begin(chrome, 'X');
		dw_chrome_name(chrome, &label);
		dw_chrome_place(chrome, at->track, at->start_ns);
		dw_out_text(out, ",\"dur\":");
		dw_out_wrote(out, dw_put_us(dw_out_room(out, DW_PUT_US), at->end_ns - at->start_ns));
		dw_out_text(out, ",\"args\":{");
		write_ids(chrome, out);
		dw_out_text(out, args);
		dw_out_text(out, "}}");
	}
}
