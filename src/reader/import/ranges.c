/* The open ranges of one thread; see ranges.h. */
#include "import/ranges.h"

#include "base/grow.h"

#define RANGES_NO_END UINT64_MAX
#define MOST_OVERLAPPING 256u /* ranges open at once while some of them overlap */

void dw_ranges_reset(struct dw_ranges *ranges)
{
	free(ranges->open);
	memset(ranges, 0, sizeof *ranges);
}

/* The open range that ends first; of several the innermost. */
static size_t ranges_first_to_end(const struct dw_ranges *ranges)
{
	size_t first = ranges->count - 1;

	for (size_t i = first; ranges->overlapping && i-- > 0;)
		if (ranges->open[i].end_ns < ranges->open[first].end_ns)
			first = i;
	return first;
}

static void ranges_close_at(struct dw_ranges *ranges, struct dw_encode_stream *stream, size_t index)
{
	struct dw_range range = ranges->open[index];
	uint32_t above = 0;

	for (size_t i = index + 1; i < ranges->count; i++)
		above += !ranges->open[i].handle;
	if (range.handle)
		dw_encode_record(stream, range.end_ns, DW_ASYNC_END, (uint32_t)(range.handle & DW_ID_MASK), &range.handle, 2);
	else if (above)
		dw_encode_record(stream, range.end_ns, DW_END_OF, 0, &above, 1);
	else
		dw_encode_end(stream, range.end_ns);
	memmove(&ranges->open[index], &ranges->open[index + 1], (ranges->count - index - 1) * sizeof range);
	ranges->count--;
	if (!ranges->overlapping)
		return;
	ranges->overlapping = false;
	for (size_t i = 1; i < ranges->count; i++)
		ranges->overlapping |= ranges->open[i].end_ns > ranges->open[i - 1].end_ns;
}

void dw_ranges_close_until(struct dw_ranges *ranges, struct dw_encode_stream *stream, uint64_t ns)
{
	while (ranges->count) {
		size_t first = ranges_first_to_end(ranges);

		if (ranges->open[first].end_ns > ns)
			return;
		ranges_close_at(ranges, stream, first);
	}
}

bool dw_ranges_end(struct dw_ranges *ranges, struct dw_encode_stream *stream, uint64_t ns, uint32_t name)
{
	/* A search further out would take long: such a range ends at the end of its thread. */
	size_t most = ranges->count > MOST_OVERLAPPING ? ranges->count - MOST_OVERLAPPING : 0;

	for (size_t i = ranges->count; i-- > most;)
		if (ranges->open[i].end_ns == RANGES_NO_END && !ranges->open[i].handle && (!name || ranges->open[i].name == name)) {
			ranges->open[i].end_ns = ns;
			ranges_close_at(ranges, stream, i);
			return true;
		}
	return false;
}

size_t dw_ranges_close(struct dw_ranges *ranges, struct dw_encode_stream *stream, uint64_t ns)
{
	size_t endless = 0;

	dw_ranges_close_until(ranges, stream, RANGES_NO_END - 1);
	while (ranges->count) {
		ranges->open[ranges->count - 1].end_ns = ns;
		ranges_close_at(ranges, stream, ranges->count - 1);
		endless++;
	}
	return endless;
}

/* Cuts open ranges so that each ends within the one around it. */
static void ranges_make_nest(struct dw_ranges *ranges)
{
	for (size_t i = 1; i < ranges->count; i++)
		if (ranges->open[i].end_ns > ranges->open[i - 1].end_ns) {
			ranges->open[i].end_ns = ranges->open[i - 1].end_ns;
			ranges->cut++;
		}
	ranges->overlapping = false;
}

static void ranges_push(struct dw_ranges *ranges, uint64_t end_ns, uint64_t handle, uint32_t name)
{
	struct dw_range *range, *last;

	if (ranges->count >= MOST_OVERLAPPING && ranges->overlapping)
		ranges_make_nest(ranges);
	range = DW_GROW(&ranges->open, &ranges->capacity, ranges->count);
	if (!range) {
		ranges->failed = true;
		return;
	}
	last = ranges->count ? range - 1 : NULL;
	if (last && end_ns > last->end_ns && ranges->count >= MOST_OVERLAPPING) {
		end_ns = last->end_ns;
		ranges->cut++;
	} else if (last && end_ns > last->end_ns) {
		ranges->overlapping = true;
		ranges->overlaps += !handle && !last->handle && end_ns != RANGES_NO_END;
	}
	*range = (struct dw_range){ end_ns, handle, name };
	ranges->count++;
}

void dw_ranges_push(struct dw_ranges *ranges, uint64_t end_ns, uint64_t handle)
{
	ranges_push(ranges, end_ns, handle, 0);
}

void dw_ranges_push_open(struct dw_ranges *ranges, uint32_t name)
{
	ranges_push(ranges, RANGES_NO_END, 0, name);
}
