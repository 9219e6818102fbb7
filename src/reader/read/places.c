/* Sums of times by the lines of a program, from the PLACE entries of all files. */
#include "read/read.h"

static const struct dw_source_function *places_line(const struct dw_source_file *file, uint32_t id)
{
	const struct dw_source_frame *frame = file->frames && id < file->symbol_count ? file->frames[id] : NULL;

	return frame ? frame->functions : NULL;
}

int dw_read_fill_places(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;

	if (!DW_READ_TAKE_ALL(reader, places, place_count))
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];
		const struct dw_source_clock *clock = &source->files[f].clock;

		for (size_t i = 0; i < file->place_count; i++) {
			const struct dw_entry_place *from = &file->places[i];
			uint32_t thread = dw_read_thread_of(file, from->entry.id);

			if (thread == DW_NO_INDEX)
				continue;
			source->places[source->place_count++] = (struct dw_source_place){
				.thread = thread, .kind = from->entry.aux,
				.from = places_line(&source->files[f], from->from),
				.to = places_line(&source->files[f], from->to), .op = from->op, .count = from->count,
				.step_ns = dw_source_span_ns(clock, from->step_ticks),
				.other_ns = dw_source_span_ns(clock, from->other_ticks),
				.longest_ns = dw_source_span_ns(clock, from->longest_ticks), .cpu_ns = from->cpu_ns,
				.cpu_wall_ns = dw_source_span_ns(clock, from->cpu_ticks),
			};
		}
	}
	return 0;
}
