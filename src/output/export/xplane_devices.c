/*
 * Devices in an XSpace: a plane for each device, a line for each of the rows of device_rows.h.
 *
 * Called by xplane.c. The form is that of XLA's captures: the stats kernel_details, memcpy_details and
 * memset_details, and correlation_id, by which the profile plugin joins a kernel with the call that
 * launched it. The plugin counts every event that has such a number, so waits and ranges have it only
 * in a stat of dwell, which import/xspace_device.c reads.
 */

#include "base/grow.h"
#include "base/order.h"
#include "export/xplane_parts.h"

#define LARGEST_LINE 0xdeadbeeeu  /* the plugin keeps the numbers above for lines that it derives */
#define RENUMBERED_LINES 2000000000u
#define PS_PER_NS 1000u

struct dw_xplane_row {
	struct dw_device_row row;
	size_t first, count; /* in `events`, after the sort */
};

struct dw_xplane_placed {
	uint32_t row, event; /* event: index in the work */
};

/* ---- collecting ------------------------------------------------------------------------------ */

static uint64_t devices_put_row(void *to, const struct dw_device_row *row)
{
	struct dw_xplane *xplane = to;
	struct dw_xplane_devices *devices = &xplane->devices;
	struct dw_xplane_row *added = DW_GROW(&devices->rows, &devices->row_capacity, devices->row_count);

	if (!added) {
		xplane->timeline.failed = true;
		return UINT64_MAX;
	}
	added->row = *row;
	return devices->row_count++;
}

static void devices_put_event(void *to, const struct dw_device_event *event, size_t index, uint64_t place)
{
	struct dw_xplane *xplane = to;
	struct dw_xplane_devices *devices = &xplane->devices;

	if (place == UINT64_MAX)
		return;
	if (!DW_APPEND(&devices->events, &devices->event_capacity, &devices->event_count,
	               (struct dw_xplane_placed){ (uint32_t)place, (uint32_t)index })) {
		xplane->timeline.failed = true;
		return;
	}
	devices->rows[place].count++;
	devices->start_ns = event->start_ns < devices->start_ns ? event->start_ns : devices->start_ns;
	devices->end_ns = event->end_ns > devices->end_ns ? event->end_ns : devices->end_ns;
}

/* The events of a stream are in order of time. */
DW_ORDER(devices_compare, struct dw_xplane_placed, DW_UP(row) DW_UP(event))

void dw_xplane_collect_devices(struct dw_xplane *xplane)
{
	static const struct dw_device_rows_format format = { devices_put_row, devices_put_event };
	struct dw_xplane_devices *devices = &xplane->devices;
	size_t first = 0;

	devices->start_ns = UINT64_MAX;
	dw_device_rows(&xplane->timeline, &format, xplane);
	if (devices->event_count)
		qsort(devices->events, devices->event_count, sizeof *devices->events, devices_compare);
	for (size_t i = 0; i < devices->row_count; i++) {
		devices->rows[i].first = first;
		first += devices->rows[i].count;
	}
}

void dw_xplane_reset_devices(struct dw_xplane *xplane)
{
	dw_launches_reset(&xplane->launches);
	free(xplane->devices.rows);
	free(xplane->devices.events);
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char *devices_memory(uint32_t memory)
{
	static const char *const names[] = {
		[DW_MEMORY_PAGEABLE] = "pageable", [DW_MEMORY_PINNED] = "pinned",
		[DW_MEMORY_DEVICE] = "device", [DW_MEMORY_ARRAY] = "array",
		[DW_MEMORY_MANAGED] = "managed", [DW_MEMORY_HOST] = "host",
	};

	return memory < sizeof names / sizeof *names && names[memory] ? names[memory] : "unknown";
}

/* Zeros stand for a shape that is not known: the plugin takes events without this for no kernels. */
static void devices_put_kernel(struct dw_proto *to, const struct dw_entry_launch *from)
{
	static const struct dw_entry_launch unknown;
	const struct dw_entry_launch *launch = from ? from : &unknown;
	char text[256];

	snprintf(text, sizeof text, "regs:%u static_shared:%u dynamic_shared:%u grid:%u,%u,%u block:%u,%u,%u occ_pct:0",
	         launch->registers, launch->static_shared_bytes, launch->dynamic_shared_bytes,
	         launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1], launch->block[2]);
	dw_xplane_put_text(to, XS_EVENT_STAT, STAT_KERNEL_DETAILS, text);
}

static void devices_put_details(struct dw_proto *to, const struct dw_device_event *event)
{
	uint32_t from, into;
	char text[128];

	dw_device_memories(event, &from, &into);
	if (event->kind == DW_DEVICE_KERNEL || event->kind == DW_DEVICE_GRAPH)
		devices_put_kernel(to, event->launch);
	if (event->kind == DW_DEVICE_COPY) {
		snprintf(text, sizeof text, "kind_src:%s kind_dst:%s size:%llu dest:0 async:1",
		         devices_memory(from), devices_memory(into), (unsigned long long)event->bytes);
		dw_xplane_put_text(to, XS_EVENT_STAT, STAT_COPY_DETAILS, text);
	}
	if (event->kind == DW_DEVICE_SET) {
		snprintf(text, sizeof text, "kind:%s size:%llu async:1", devices_memory(into),
		         (unsigned long long)event->bytes);
		dw_xplane_put_text(to, XS_EVENT_STAT, STAT_SET_DETAILS, text);
	}
	if (event->kind != DW_DEVICE_KERNEL) {
		snprintf(text, sizeof text, "%u %u %u", event->kind, event->detail, event->correlation);
		dw_xplane_put_text(to, XS_EVENT_STAT, STAT_DEVICE_EVENT, text);
	}
}

/* The operator that the event works for, so that the plugin's tables of kernels name it. */
static void devices_put_owner(struct dw_xplane *xplane, const struct dw_device_event *event)
{
	const struct dw_device_work *work = xplane->launches.work;
	char name[DW_XPLANE_MOST_NAME];
	uint32_t owner;

	if (event->call == DW_NO_INDEX)
		return;
	owner = dw_device_owner_of(xplane->timeline.model, work, dw_device_first_owner(&work->calls[event->call]),
	                           1u << DWELL_CATEGORY_OPERATOR);
	if (owner == DW_NO_INDEX)
		return;
	dw_xplane_operator_name(name, sizeof name, xplane->timeline.symbols[work->owners[owner].symbol].name);
	dw_xplane_put_text(&xplane->plane, XS_EVENT_STAT, STAT_TF_OP, name);
}

static void devices_write_event(struct dw_xplane *xplane, uint32_t index)
{
	const struct dw_device_event *event = &xplane->launches.work->events[index];
	const struct dw_launches *launches = &xplane->launches;
	struct dw_proto *to = &xplane->plane;
	size_t at = dw_proto_open(to, XS_LINE_EVENT);

	dw_proto_u64(to, XS_EVENT_META, (uint64_t)event->name + 1);
	dw_proto_u64(to, XS_EVENT_OFFSET_PS, (event->start_ns - xplane->base_ns) * PS_PER_NS);
	dw_proto_u64(to, XS_EVENT_DURATION_PS, (event->end_ns - event->start_ns) * PS_PER_NS);
	devices_put_details(to, event);
	if (dw_device_row_kind(event->kind) == DW_ROW_WORK) {
		if (event->correlation)
			dw_xplane_put_uint(to, XS_EVENT_STAT, STAT_CORRELATION, event->correlation);
		devices_put_owner(xplane, event);
	}
	if (launches->sent[index])
		dw_xplane_put_uint(to, XS_EVENT_STAT, STAT_FLOW,
		                   dw_xplane_launch_flow(launches->events[launches->first[event->call]], true));
	dw_proto_close(to, at);
	xplane->timeline.failed |= to->failed;
}

/* ---- planes ---------------------------------------------------------------------------------- */

static void devices_put_line(struct dw_xplane *xplane, size_t index, bool *named)
{
	const struct dw_xplane_devices *devices = &xplane->devices;
	const struct dw_xplane_row *row = &devices->rows[index];
	size_t at = dw_proto_open(&xplane->plane, XS_PLANE_LINE);
	uint64_t number = row->row.number;
	char prefix[96], name[256];

	dw_xplane_line_prefix(xplane, xplane->timeline.source->devices[row->row.device].process, prefix);
	if (strncmp(row->row.name, "stream ", 7) == 0) /* XLA's form */
		snprintf(name, sizeof name, "%sStream #%s", prefix, row->row.name + 7);
	else
		snprintf(name, sizeof name, "%s%s", prefix, row->row.name);
	dw_proto_u64(&xplane->plane, XS_LINE_ID, number <= LARGEST_LINE ? number : RENUMBERED_LINES + index);
	dw_proto_text(&xplane->plane, XS_LINE_NAME, name);
	dw_proto_u64(&xplane->plane, XS_LINE_TIMESTAMP_NS, 0);
	for (size_t i = row->first; i < row->first + row->count && !xplane->timeline.failed; i++) {
		devices_write_event(xplane, devices->events[i].event);
		named[xplane->launches.work->events[devices->events[i].event].name] = true;
	}
	dw_proto_close(&xplane->plane, at);
}

static void devices_put_names(struct dw_xplane *xplane, const bool *named)
{
	const struct dw_device_work *work = xplane->launches.work;

	for (size_t i = 0; i < work->name_count; i++)
		if (named[i])
			dw_xplane_put_event_name(&xplane->plane, i + 1, work->names[i].name, NULL, NULL);
	dw_xplane_put_stat_names(&xplane->plane, true);
}

/* The number in a device's plane is its own. Those of several processes can be equal: then a device
 * gets a number above all others. */
static void devices_number(uint32_t *numbers, const struct dw_source *source)
{
	uint32_t next = 0;

	for (size_t i = 0; i < source->device_count; i++) {
		numbers[i] = source->devices[i].number;
		next = numbers[i] >= next ? numbers[i] + 1 : next;
	}
	for (size_t i = 1; i < source->device_count; i++)
		for (size_t k = 0; k < i; k++)
			if (numbers[k] == numbers[i]) {
				numbers[i] = next++;
				break;
			}
}

static void devices_put_plane(struct dw_xplane *xplane, uint64_t id, uint32_t device, uint32_t number)
{
	const struct dw_xplane_devices *devices = &xplane->devices;
	bool *named = calloc(xplane->launches.work->name_count + 1, sizeof *named);
	size_t plane = dw_proto_open(&xplane->plane, XS_SPACE_PLANE);
	char name[48];

	xplane->timeline.failed |= !named;
	snprintf(name, sizeof name, "/device:%s:%u",
	         xplane->timeline.source->devices[device].api == DW_API_TPU ? "TPU" : "GPU", number);
	dw_proto_u64(&xplane->plane, XS_PLANE_ID, id);
	dw_proto_text(&xplane->plane, XS_PLANE_NAME, name);
	for (size_t i = 0; i < devices->row_count && !xplane->timeline.failed; i++)
		if (devices->rows[i].row.device == device)
			devices_put_line(xplane, i, named);
	if (!xplane->timeline.failed)
		devices_put_names(xplane, named);
	if (*xplane->timeline.source->devices[device].name)
		dw_xplane_put_text(&xplane->plane, XS_PLANE_STAT, STAT_DEVICE_TYPE,
		                   xplane->timeline.source->devices[device].name);
	dw_proto_close(&xplane->plane, plane);
	dw_xplane_drain(xplane);
	free(named);
}

void dw_xplane_put_device_planes(struct dw_xplane *xplane, uint64_t first_id)
{
	const struct dw_source *source = xplane->timeline.source;
	uint32_t *numbers;

	if (!xplane->devices.event_count || xplane->timeline.failed)
		return;
	numbers = calloc(source->device_count + 1, sizeof *numbers);
	xplane->timeline.failed |= !numbers;
	if (numbers)
		devices_number(numbers, source);
	for (uint32_t i = 0; i < source->device_count && !xplane->timeline.failed; i++) {
		bool any = false;

		for (size_t k = 0; k < xplane->devices.row_count && !any; k++)
			any = xplane->devices.rows[k].row.device == i;
		if (any)
			devices_put_plane(xplane, first_id++, i, numbers[i]);
	}
	free(numbers);
}
