/*
 * The lines of mktrace that are about devices; only for mktrace.c, whose helpers it uses.
 *
 *   device N [number=] [name=] [processors=] [process=N]
 *   queue N device=N [stream=NUMBER] [context=] [name=] [default]    no stream: DW_QUEUE_NONE
 *   device-clock N TICKS FILE-TIME [rate=TICKS-PER-SECOND] [error=TIME]
 *   events N [process=N] [clock=N] [wide] [open]   a writer, used from here on; open: as after SIGKILL
 *   event KIND QUEUE START DURATION CORRELATION [key=value...]
 *
 * KIND is kernel, copy, set, sync, graph, memory, overhead, range, record or call (QUEUE is then a
 * thread); QUEUE "-" is none. Keys: name= grid=1x2x3 block=1x2x3 registers= shared= node= from= to=
 * (pageable, pinned, device, array, managed, host) peer bytes= what= (event, queue-wait, queue,
 * context, device; allocated, freed) event= waits=QUEUE external= other=NAME by=CORRELATION.
 */
#pragma once
static uint32_t devices[MAX_ITEMS], queues[MAX_ITEMS], device_clocks[MAX_ITEMS];
static struct { struct dw_encode_events events; bool used, open; } writers[MAX_ITEMS];
static unsigned current_writer;

static uint32_t device_choice(const char *text, const char *const *names, unsigned count)
{
	for (unsigned i = 0; text && i < count; i++)
		if (names[i] && !strcmp(text, names[i]))
			return i;
	if (text)
		fail("what is '%s'?", text);
	return 0;
}

static uint32_t device_memory(const char *text)
{
	static const char *const names[] = { "unknown", "pageable", "pinned", "device", "array",
		                                 "managed", "device-static", "managed-static", "host" };

	return device_choice(text, names, sizeof names / sizeof *names);
}

static void device_triple(const char *text, uint32_t to[3])
{
	if (text && sscanf(text, "%ux%ux%u", &to[0], &to[1], &to[2]) < 1)
		fail("'%s' is no size like 1x2x3", text);
}

static struct dw_encode_process *device_process(const struct line *line)
{
	const char *text = option(line, "process");

	return process_at(text ? index_of(text) : last_process);
}

static uint32_t device_queue(const char *text)
{
	return strcmp(text, "-") == 0 ? 0 : queues[index_of(text)];
}

static uint32_t device_launch(const struct line *line, uint32_t op)
{
	struct dw_launch_shape shape = { .registers = (uint32_t)number_option(line, "registers", 0),
		                             .dynamic_shared_bytes = (uint32_t)number_option(line, "shared", 0) };

	if (!option(line, "grid"))
		return op;
	device_triple(option(line, "grid"), shape.grid);
	device_triple(option(line, "block"), shape.block);
	return dw_encode_launch(here(), op, &shape);
}

static void do_event(const struct line *line)
{
	static const char *const kinds[] = { NULL, "kernel", "copy", "set", "sync", "graph", "memory",
		                                 "overhead", "range", "record", "call", "gap" };
	static const char *const syncs[] = { "", "event", "queue-wait", "queue", "context", "device" };
	static const char *const changes[] = { "", "allocated", "freed" };
	const char *name = option(line, "name"), *waits = option(line, "waits"),
	           *other = option(line, "other");
	struct dw_device_event_in event = {
		.kind = device_choice(word(line, 1), kinds, sizeof kinds / sizeof *kinds),
		.start_ticks = time_of(word(line, 3)), .duration_ticks = time_of(word(line, 4)),
		.correlation = (uint32_t)number_of(word(line, 5)),
		.node = (uint32_t)number_option(line, "node", 0),
		.bytes = number_option(line, "bytes", 0),
		.event = (uint32_t)number_option(line, "event", 0),
		.wait_queue = waits ? device_queue(waits) : 0,
		.external = number_option(line, "external", 0),
		.recorded_by = (uint32_t)number_option(line, "by", 0),
		.detail = device_memory(option(line, "from")) | device_memory(option(line, "to")) << 4 |
		          (option(line, "peer") ? DW_COPY_PEER : 0),
	};
	uint32_t category = event.kind == DW_DEVICE_CALL ? DWELL_CATEGORY_RUNTIME
	                                                 : DWELL_CATEGORY_DEVICE;

	if (!writers[current_writer].used)
		fail("'event' needs 'events'");
	event.queue = event.kind == DW_DEVICE_CALL ? thread_at(index_of(word(line, 2)))
	                                           : device_queue(word(line, 2));
	if (event.kind == DW_DEVICE_SYNC)
		event.detail = device_choice(option(line, "what"), syncs, sizeof syncs / sizeof *syncs);
	if (event.kind == DW_DEVICE_MEMORY)
		event.detail |= device_choice(option(line, "what"), changes, sizeof changes / sizeof *changes);
	event.name = name ? device_launch(line, op_of(line, category, name, NULL)) : 0;
	event.other_name = other ? op_of(line, category, other, NULL) : 0;
	dw_encode_event(&writers[current_writer].events, &event);
}

static void do_events(const struct line *line)
{
	const char *clock = option(line, "clock");

	current_writer = index_of(word(line, 1));
	if (writers[current_writer].used)
		return;
	writers[current_writer].used = true;
	writers[current_writer].open = option(line, "open") != NULL;
	dw_encode_events_init(&writers[current_writer].events, device_process(line), current_writer,
	                      clock ? device_clocks[index_of(clock)] : 0, option(line, "wide") != NULL);
}

/* False if the line is not about devices. */
static bool do_device_line(const struct line *line)
{
	const char *verb = line->words[0];

	if (!strcmp(verb, "device")) {
		devices[index_of(word(line, 1))] =
		    dw_encode_device(device_process(line), (uint32_t)number_option(line, "number", 0),
		                     option(line, "name"), DW_API_CUDA);
	} else if (!strcmp(verb, "queue")) {
		const char *device = option(line, "device");

		queues[index_of(word(line, 1))] =
		    dw_encode_queue(device_process(line), devices[index_of(device ? device : "0")],
		                    number_option(line, "stream", DW_QUEUE_NONE),
		                    (uint32_t)number_option(line, "context", 1), option(line, "name"));
	} else if (!strcmp(verb, "device-clock")) {
		unsigned index = index_of(word(line, 1));

		device_clocks[index] =
		    dw_encode_device_clock(device_process(line), device_clocks[index],
		                           number_of(word(line, 2)), time_of(word(line, 3)),
		                           number_option(line, "rate", 1000000000),
		                           time_option(line, "error", 0));
	} else if (!strcmp(verb, "events")) {
		do_events(line);
	} else if (!strcmp(verb, "event")) {
		do_event(line);
	} else {
		return false;
	}
	return true;
}

static void close_devices(void)
{
	for (unsigned i = 0; i < MAX_ITEMS; i++)
		if (writers[i].used && !writers[i].open)
			dw_encode_events_close(&writers[i].events);
}
