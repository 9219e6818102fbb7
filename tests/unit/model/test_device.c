/* Device work: joining events with calls and operators, and dividing a step's time, on made traces. */
#include "made.h"

#include "model/device/peaks.h"
#include "model/device/sums.h"
#include "model/device/times.h"
#include "model/layers/layers.h"
#include "model/sequence/sequence.h"
#include "views/views.h"

struct gpu {
	struct made made;
	struct dw_encode_events events;
	uint32_t queue, other, kernel, launch, sync, op, layer;
};

static void gpu_init(struct gpu *gpu)
{
	uint32_t device;

	memset(gpu, 0, sizeof *gpu);
	made_init(&gpu->made);
	device = dw_encode_device(&gpu->made.process, 0, "GPU", DW_API_CUDA);
	gpu->queue = dw_encode_queue(&gpu->made.process, device, 7, 1, NULL);
	gpu->other = dw_encode_queue(&gpu->made.process, device, 20, 1, NULL);
	gpu->kernel = made_op(&gpu->made, DWELL_CATEGORY_DEVICE, "gemm");
	gpu->launch = made_op(&gpu->made, DWELL_CATEGORY_RUNTIME, "cudaLaunchKernel");
	gpu->sync = made_op(&gpu->made, DWELL_CATEGORY_RUNTIME, "cudaStreamSynchronize");
	gpu->op = made_op(&gpu->made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	gpu->layer = made_op(&gpu->made, DWELL_CATEGORY_LAYER, "Net.fc");
	dw_encode_events_init(&gpu->events, &gpu->made.process, 0, 0, true);
}

static const struct dw_device_work *gpu_open(struct gpu *gpu, const struct dw_scope *scope)
{
	dw_encode_events_close(&gpu->events);
	if (made_open(&gpu->made, scope))
		return NULL;
	return dw_model_device_work(gpu->made.model, &gpu->made.error);
}

static void gpu_call(struct gpu *gpu, uint32_t call, uint32_t correlation, uint64_t start, uint64_t end)
{
	dw_encode_begin(&gpu->made.stream, start, call);
	dw_encode_correlation(&gpu->made.stream, correlation);
	dw_encode_end(&gpu->made.stream, end);
}

static void gpu_kernel(struct gpu *gpu, uint32_t queue, uint32_t correlation, uint64_t start,
                       uint64_t end)
{
	dw_encode_event(&gpu->events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL,
		.queue = queue, .correlation = correlation, .start_ticks = start,
		.duration_ticks = end - start, .name = gpu->kernel });
}

TEST(a_trace_without_devices_has_no_work)
{
	struct made made;
	const struct dw_device_times *times;

	made_init(&made);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(dw_model_device_work(made.model, NULL)->event_count, 0);
	times = dw_model_device_times(made.model, NULL);
	REQUIRE(times);
	CHECK_EQ(times->device_count + times->step_count + times->queue_count, 0);
	made_close(&made);
}

TEST(an_event_belongs_to_its_call_and_the_ranges_around_it)
{
	struct gpu gpu;
	const struct dw_device_work *work;
	uint32_t owner;

	gpu_init(&gpu);
	dw_encode_begin(&gpu.made.stream, 100, gpu.layer);
	dw_encode_begin(&gpu.made.stream, 110, gpu.op);
	gpu_call(&gpu, gpu.launch, 5, 120, 130);
	gpu_call(&gpu, gpu.launch, 6, 140, 150);
	dw_encode_end(&gpu.made.stream, 160);
	dw_encode_end(&gpu.made.stream, 170);
	gpu_call(&gpu, gpu.launch, 99, 180, 190); /* caused nothing */
	gpu_kernel(&gpu, gpu.queue, 6, 200, 230); /* in any order */
	gpu_kernel(&gpu, gpu.queue, 5, 150, 160);
	gpu_kernel(&gpu, gpu.queue, 77, 300, 301); /* its call is not there */
	work = gpu_open(&gpu, NULL);
	REQUIRE(work && work->event_count == 3);
	CHECK_EQ(work->call_count, 2);
	CHECK_EQ(work->without_call, 1);
	CHECK_EQ(work->events[0].start_ns, 150);
	REQUIRE(work->events[0].call != DW_NO_INDEX);
	CHECK_EQ(work->calls[work->events[0].call].start_ns, 120);
	CHECK_EQ(work->calls[work->events[0].call].end_ns, 130);
	CHECK_EQ(work->owner_count, 2);
	owner = work->calls[work->events[1].call].owner;
	CHECK_EQ(work->owners[owner].self_ns, 40);
	CHECK_EQ(work->owners[owner].end_ns, 160);
	owner = dw_device_owner_of(gpu.made.model, work, owner, 1u << DWELL_CATEGORY_LAYER);
	REQUIRE(owner != DW_NO_INDEX);
	CHECK_EQ(work->owners[owner].self_ns, 0);
	CHECK_EQ(work->owners[owner].total_ns, 40);
	made_close(&gpu.made);
}

TEST(a_backward_operator_leads_to_its_forward_operator)
{
	struct gpu gpu;
	const struct dw_device_work *work;
	uint32_t forward[3] = { 42, 0, 0 }, backward[3] = { 42, 0, 0 }, owner;

	gpu_init(&gpu);
	backward[2] = gpu.made.thread;
	dw_encode_begin(&gpu.made.stream, 100, gpu.layer);
	dw_encode_begin(&gpu.made.stream, 110, gpu.op);
	dw_encode_record(&gpu.made.stream, 110, DW_LINK, 0, forward, 3);
	gpu_call(&gpu, gpu.launch, 1, 120, 130);
	dw_encode_end(&gpu.made.stream, 140);
	dw_encode_end(&gpu.made.stream, 150);
	dw_encode_begin(&gpu.made.stream, 200, gpu.op);
	dw_encode_record(&gpu.made.stream, 200, DW_LINK, 0, backward, 3);
	gpu_call(&gpu, gpu.launch, 2, 210, 220);
	dw_encode_end(&gpu.made.stream, 230);
	gpu_kernel(&gpu, gpu.queue, 1, 130, 140);
	gpu_kernel(&gpu, gpu.queue, 2, 230, 250);
	work = gpu_open(&gpu, NULL);
	REQUIRE(work && work->call_count == 2);
	owner = dw_device_owner_of(gpu.made.model, work, work->calls[1].owner, 1u << DWELL_CATEGORY_LAYER);
	REQUIRE(owner != DW_NO_INDEX);
	CHECK_EQ(work->owners[owner].start_ns, 100);
	made_close(&gpu.made);
}

TEST(late_calls_and_external_ids_find_their_operators)
{
	struct gpu gpu;
	const struct dw_device_work *work;
	struct dw_encode_stream handlers; /* of the same thread: the call is not in them */

	gpu_init(&gpu);
	dw_encode_stream_init(&handlers, &gpu.made.process, DW_STREAM_NESTED, gpu.made.thread);
	dw_encode_begin(&handlers, 250, gpu.layer);
	dw_encode_end(&handlers, 260);
	dw_encode_close(&handlers);
	dw_encode_begin(&gpu.made.stream, 100, gpu.op);
	dw_encode_external(&gpu.made.stream, 100, (uint64_t)1 << 40);
	dw_encode_end(&gpu.made.stream, 200);
	dw_encode_begin(&gpu.made.stream, 300, gpu.layer);
	dw_encode_end(&gpu.made.stream, 400);
	dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_CALL,
		.queue = gpu.made.thread, .correlation = 9, .start_ticks = 350, .duration_ticks = 5,
		.name = gpu.launch });
	dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL,
		.queue = gpu.queue, .external = (uint64_t)1 << 40, .start_ticks = 150, .duration_ticks = 10,
		.name = gpu.kernel });
	gpu_kernel(&gpu, gpu.queue, 9, 360, 380);
	work = gpu_open(&gpu, NULL);
	REQUIRE(work && work->event_count == 2 && work->call_count == 2);
	CHECK_EQ(work->duplicates, 0);
	CHECK_EQ(work->calls[work->events[0].call].start_ns, 100);
	REQUIRE(work->events[1].call != DW_NO_INDEX);
	CHECK_EQ(work->calls[work->events[1].call].start_ns, 350);
	CHECK_EQ(work->calls[work->events[1].call].end_ns, 355);
	CHECK_EQ(work->owners[work->calls[work->events[1].call].owner].start_ns, 300);
	made_close(&gpu.made);
}

/* A driver that counts calls in 32 bits begins again. The trace has hours between calls of one number. */
TEST(a_number_that_comes_again_is_of_another_call)
{
	const uint64_t hour = 3600000000000u;
	struct gpu gpu;
	const struct dw_device_work *work;

	gpu_init(&gpu);
	for (uint64_t i = 0; i < 3; i++) {
		dw_encode_begin(&gpu.made.stream, i * hour + 100, i == 1 ? gpu.layer : gpu.op);
		dw_encode_end(&gpu.made.stream, i * hour + 500);
		if (i != 2) /* the call of the third kernel was lost */
			dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_CALL, .queue = gpu.made.thread,
				.correlation = 9, .start_ticks = i * hour + 200, .duration_ticks = 5, .name = gpu.launch });
		gpu_kernel(&gpu, gpu.queue, 9, i * hour + 300, i * hour + 400);
	}
	gpu_kernel(&gpu, gpu.queue, 10, hour + 410, hour + 420); /* clocks that differ: its call seems to be later */
	dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_CALL, .queue = gpu.made.thread,
		.correlation = 10, .start_ticks = hour + 415, .duration_ticks = 5, .name = gpu.launch });
	work = gpu_open(&gpu, NULL);
	REQUIRE(work && work->event_count == 4 && work->call_count == 3);
	CHECK_EQ(work->duplicates, 0);
	CHECK_EQ(work->without_call, 1);
	REQUIRE(work->events[0].call != DW_NO_INDEX && work->events[1].call != DW_NO_INDEX && work->events[2].call != DW_NO_INDEX);
	CHECK_EQ(work->calls[work->events[0].call].start_ns, 200);
	CHECK_EQ(work->calls[work->events[1].call].start_ns, hour + 200);
	CHECK_EQ(work->calls[work->events[2].call].start_ns, hour + 415);
	CHECK_EQ(work->owners[work->calls[work->events[1].call].owner].start_ns, hour + 100);
	CHECK(work->events[3].call == DW_NO_INDEX);
	made_close(&gpu.made);
}

TEST(a_step_is_divided_to_the_nanosecond)
{
	struct gpu gpu;
	const struct dw_device_times *times;
	const uint64_t *part;
	uint64_t sum = 0;

	gpu_init(&gpu);
	gpu_call(&gpu, gpu.launch, 1, 120, 130);
	dw_encode_begin(&gpu.made.stream, 140, gpu.op);
	gpu_call(&gpu, gpu.sync, 2, 145, 210);
	dw_encode_end(&gpu.made.stream, 212);
	gpu_call(&gpu, gpu.launch, 3, 250, 255);
	gpu_call(&gpu, gpu.launch, 4, 350, 355);
	gpu_call(&gpu, gpu.launch, 5, 500, 505); /* of the next step */
	dw_encode_step(&gpu.made.process, gpu.made.thread, 0, 100, 480, 0, DW_STEP_RECORDED);
	gpu_kernel(&gpu, gpu.queue, 1, 150, 200);
	dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_COPY, .queue = gpu.other,
		.correlation = 1, .start_ticks = 190, .duration_ticks = 15, .bytes = 8 });
	gpu_kernel(&gpu, gpu.queue, 3, 260, 300);
	gpu_kernel(&gpu, gpu.queue, 4, 380, 400);
	gpu_kernel(&gpu, gpu.queue, 5, 520, 530);
	REQUIRE(gpu_open(&gpu, NULL));
	times = dw_model_device_times(gpu.made.model, &gpu.made.error);
	REQUIRE(times && times->step_count == 1 && times->device_count == 1);
	part = times->steps[0].part_ns;
	for (unsigned p = 0; p < DW_DEVICE_PART_COUNT; p++)
		sum += part[p];
	CHECK_EQ(sum, 380);
	CHECK_EQ(part[DW_DEVICE_PART_COMPUTE], 50 + 40 + 20);
	CHECK_EQ(part[DW_DEVICE_PART_COPY], 5);                      /* 10 of 15 are beside the kernel */
	CHECK_EQ(part[DW_DEVICE_PART_SYNC], 45);                     /* 205..250: the host waited at 205 */
	CHECK_EQ(part[DW_DEVICE_PART_HOST_LATE], 50 + 80);           /* 300..350; 400..480, up to the next step */
	CHECK_EQ(part[DW_DEVICE_PART_LATENCY], 10 + 30);             /* 250..260, 350..380 */
	CHECK_EQ(part[DW_DEVICE_PART_START], 50);                    /* 100..150 */
	CHECK_EQ(part[DW_DEVICE_PART_NOTHING], 0);
	REQUIRE(times->cause_count == 1);
	CHECK_EQ(times->causes[0].ns, 45);
	CHECK(times->causes[0].operator_symbol != DW_NO_INDEX);
	CHECK_EQ(times->devices[0].first_ns, 150);
	CHECK_EQ(times->devices[0].last_ns, 530);
	CHECK_EQ(times->devices[0].set_ns[1 << DW_CLASS_COMPUTE | 1 << DW_CLASS_COPY], 10);
	made_close(&gpu.made);
}

/* The host submits three steps within 300 ns, and the device needs 400 for each of them. */
TEST(a_step_of_a_device_ends_with_its_work)
{
	struct gpu gpu;
	const struct dw_device_times *times;

	gpu_init(&gpu);
	for (uint64_t i = 0; i < 3; i++) {
		gpu_call(&gpu, gpu.launch, (uint32_t)i + 1, 110 + 100 * i, 120 + 100 * i);
		dw_encode_step(&gpu.made.process, gpu.made.thread, i, 100 + 100 * i, 200 + 100 * i, 0, DW_STEP_RECORDED);
		gpu_kernel(&gpu, gpu.queue, (uint32_t)i + 1, 130 + 400 * i, 530 + 400 * i);
	}
	/* Work of another queue that takes longer, submitted in step 0: the busiest queue counts. */
	gpu_call(&gpu, gpu.launch, 9, 405, 410);
	dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_COPY, .queue = gpu.other,
		.correlation = 1, .start_ticks = 1400, .duration_ticks = 100, .bytes = 8 });
	REQUIRE(gpu_open(&gpu, NULL));
	times = dw_model_device_times(gpu.made.model, &gpu.made.error);
	REQUIRE(times && times->step_count == 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(times->steps[i].start_ns, i ? 130 + 400 * i : 100);
		CHECK_EQ(times->steps[i].end_ns, 530 + 400 * i);
		CHECK_EQ(times->steps[i].part_ns[DW_DEVICE_PART_COMPUTE], 400);
		CHECK_EQ(times->steps[i].part_ns[DW_DEVICE_PART_COPY], 0);
	}
	made_close(&gpu.made);
}

static void gpu_gap(struct gpu *gpu, uint64_t start, uint64_t end)
{
	dw_encode_event(&gpu->events, &(struct dw_device_event_in){ .kind = DW_DEVICE_GAP, .queue = gpu->queue,
		.start_ticks = start, .duration_ticks = end - start });
}

/* Eight steps of 100 ns, each with a kernel that runs 60 ns later for 50 ns. Nothing that is submitted from 250 to 450
 * and from 720 on is recorded. Step 2 and 4 touch a gap, step 3 lies in it. When step 5 begins, the device may still
 * work for step 4. */
TEST(between_bursts_a_device_is_not_idle)
{
	struct gpu gpu;
	const struct dw_device_work *work;
	const struct dw_device_times *times;

	gpu_init(&gpu);
	for (uint64_t i = 0; i < 8; i++) {
		gpu_call(&gpu, gpu.launch, (uint32_t)i + 1, 10 + 100 * i, 20 + 100 * i);
		dw_encode_step(&gpu.made.process, gpu.made.thread, i, 100 * i, 100 + 100 * i, 0, DW_STEP_RECORDED);
		if (i < 3 || (i > 4 && i < 7))
			gpu_kernel(&gpu, gpu.queue, (uint32_t)i + 1, 70 + 100 * i, 120 + 100 * i);
	}
	gpu_gap(&gpu, 720, 720);
	gpu_gap(&gpu, 250, 250);
	gpu_gap(&gpu, 250, 450);
	work = gpu_open(&gpu, NULL);
	REQUIRE(work && work->gap_count == 2);
	CHECK_EQ(work->gaps[0].end_ns, 450);
	CHECK_EQ(work->gaps[1].end_ns, UINT64_MAX);
	CHECK_EQ(dw_device_gap_after(work, 0, 449)->start_ns, 250);
	CHECK_EQ(dw_device_gap_after(work, 0, 450)->start_ns, 720);
	CHECK(!dw_device_gap_after(work, 1, 0));
	times = dw_model_device_times(gpu.made.model, &gpu.made.error);
	REQUIRE(times && times->step_count == 3 && times->device_count == 1);
	CHECK_EQ(times->steps[0].step, 0);
	CHECK_EQ(times->steps[1].step, 1);
	CHECK_EQ(times->steps[2].step, 6);
	CHECK_EQ(times->steps[2].part_ns[DW_DEVICE_PART_COMPUTE], 50);
	/* From 70 to 720 the device ran 5 kernels. Idle times in which a gap begins or ends, from 220 and from 320 on, count for
	 * nothing. */
	CHECK_EQ(times->devices[0].part_ns[DW_DEVICE_PART_COMPUTE], 250);
	CHECK_EQ(times->devices[0].set_ns[0], 100);
	CHECK_EQ(times->devices[0].part_ns[DW_DEVICE_PART_LATENCY], 100);
	CHECK_EQ(times->queues[0].gap_ns[DW_GAP_SHORT] + times->queues[0].gap_ns[DW_GAP_HOST_LATE], 100);
	made_close(&gpu.made);
}

TEST(a_wait_for_another_queue_is_a_cause)
{
	struct gpu gpu;
	const struct dw_device_times *times;

	gpu_init(&gpu);
	gpu_call(&gpu, gpu.launch, 1, 100, 110);
	gpu_call(&gpu, gpu.launch, 2, 120, 130);
	gpu_call(&gpu, gpu.launch, 3, 150, 160);
	gpu_kernel(&gpu, gpu.queue, 1, 120, 140);
	gpu_kernel(&gpu, gpu.other, 2, 140, 200);
	dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SYNC,
		.queue = gpu.queue, .start_ticks = 140, .duration_ticks = 1, .detail = DW_SYNC_QUEUE_WAIT,
		.wait_queue = gpu.other });
	gpu_kernel(&gpu, gpu.queue, 3, 220, 230);
	REQUIRE(gpu_open(&gpu, NULL));
	times = dw_model_device_times(gpu.made.model, &gpu.made.error);
	REQUIRE(times && times->device_count == 1);
	CHECK_EQ(times->devices[0].part_ns[DW_DEVICE_PART_WAIT], 20);
	CHECK_EQ(times->devices[0].part_ns[DW_DEVICE_PART_LATENCY], 0);
	REQUIRE(times->queue_count == 2);
	CHECK_EQ(times->queues[0].gap_ns[DW_GAP_HOST_LATE], 80); /* launched 10 ns after the first ended */
	CHECK_EQ(times->queues[0].busy_ns, 30);
	CHECK_EQ(times->queues[0].overlap_ns, 0);
	CHECK_EQ(times->queues[0].depth.most, 1);
	made_close(&gpu.made);
}

TEST(only_events_that_were_submitted_in_scope_count)
{
	struct gpu gpu;
	const struct dw_device_work *work;
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };

	gpu_init(&gpu);
	gpu_call(&gpu, gpu.launch, 1, 100, 110);
	gpu_call(&gpu, gpu.launch, 2, 210, 220);
	dw_encode_step(&gpu.made.process, gpu.made.thread, 0, 100, 200, 0, DW_STEP_RECORDED);
	dw_encode_step(&gpu.made.process, gpu.made.thread, 1, 200, 300, 0, DW_STEP_RECORDED);
	gpu_kernel(&gpu, gpu.queue, 1, 230, 240); /* runs in step 1, submitted in step 0 */
	gpu_kernel(&gpu, gpu.queue, 2, 240, 250);
	gpu_kernel(&gpu, gpu.queue, 77, 150, 160); /* without a call: by its own time */
	gpu_kernel(&gpu, gpu.queue, 78, 260, 270);
	work = gpu_open(&gpu, &scope);
	REQUIRE(work && work->event_count == 4);
	CHECK_EQ(work->events[0].in_scope, false);
	CHECK_EQ(work->events[1].in_scope, false);
	CHECK_EQ(work->events[2].in_scope, true);
	CHECK_EQ(work->events[3].in_scope, true);
	made_close(&gpu.made);
}

/*
 * A step of the thread "main": its phase "forward" has the layer and an operator with a kernel of 10
 * ns, and a range without an operator has one of 7 ns. A thread of autograd runs the backward
 * operator, which calls another one with kernels of 20 and 30 ns, while the phase "backward" of
 * "main" waits.
 */
static void gpu_train(struct gpu *gpu, struct dw_encode_stream *autograd)
{
	struct made *made = &gpu->made;
	uint32_t forward[3] = { 42, 0, 0 }, backward[3] = { 42, 0, made->thread }, thread, inner;

	thread = dw_encode_thread(&made->process, 101, 1, 0, "autograd");
	dw_encode_stream_init(autograd, &made->process, 1, thread);
	inner = made_op(made, DWELL_CATEGORY_OPERATOR, "aten::mm_backward");
	dw_encode_step(&made->process, made->thread, 0, 100, 900, 0, DW_STEP_RECORDED);
	dw_encode_begin(&made->stream, 110, made_op(made, DWELL_CATEGORY_PHASE, "forward"));
	dw_encode_begin(&made->stream, 120, gpu->layer);
	dw_encode_begin(&made->stream, 130, gpu->op);
	dw_encode_record(&made->stream, 130, DW_LINK, 0, forward, 3);
	gpu_call(gpu, gpu->launch, 1, 140, 150);
	dw_encode_end(&made->stream, 160);
	dw_encode_end(&made->stream, 170);
	gpu_call(gpu, gpu->launch, 2, 180, 190);
	dw_encode_end(&made->stream, 200);
	dw_encode_begin(&made->stream, 300, made_op(made, DWELL_CATEGORY_PHASE, "backward"));
	dw_encode_end(&made->stream, 800);
	dw_encode_begin(autograd, 400, gpu->op);
	dw_encode_record(autograd, 400, DW_LINK, 0, backward, 3);
	dw_encode_begin(autograd, 410, inner);
	for (uint32_t i = 0; i < 2; i++) {
		dw_encode_begin(autograd, 420 + i * 20, gpu->launch);
		dw_encode_correlation(autograd, 3 + i);
		dw_encode_end(autograd, 430 + i * 20);
	}
	dw_encode_end(autograd, 480);
	dw_encode_end(autograd, 490);
	dw_encode_close(autograd);
	for (uint32_t i = 0; i < 4; i++)
		gpu_kernel(gpu, gpu->queue, i + 1, 1000 + i * 100, 1000 + i * 100 + (i == 1 ? 7 : (i ? i * 10 : 10)));
}

/* Of the range with this name: self and total time, and number of events. */
static void check_row(struct made *made, const struct dw_device_sum *rows, uint32_t category,
                      const char *name, uint64_t self_ns, uint64_t total_ns, uint64_t events)
{
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(made->model, &count);

	for (uint32_t i = 0; i < count; i++)
		if (symbols[i].category == category && strcmp(symbols[i].name, name) == 0) {
			const struct dw_device_sum *sum = &rows[dw_model_symbol_row(made->model, i)];

			CHECK_EQ(sum->self_ns, self_ns);
			CHECK_EQ(sum->total_ns, total_ns);
			CHECK_EQ(sum->self_events, events);
			return;
		}
	CHECK(false);
}

/* The device time of the rows of a view with this name; NULL: of all rows. */
static int64_t view_device_ns(struct made *made, const char *view, const char *name)
{
	const struct dwell_view_options options = { .size = sizeof options, .limit = SIZE_MAX };
	struct dwell_table *table = NULL;
	int64_t ns = 0;

	CHECK(dw_view_run(dw_view_find(view, NULL), made->model, &options, &table, &made->error) == 0);
	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct dw_cell *row = dw_table_at(table, i), *cell = &row[dw_table_column(table, "device_ns")];

		if (cell->type == DW_CELL_INT && (!name || strcmp(row->text, name) == 0))
			ns += cell->integer;
	}
	dw_table_destroy(table);
	return ns;
}

TEST(device_time_belongs_to_names_paths_and_phases)
{
	struct gpu gpu;
	struct dw_encode_stream autograd;
	const struct dw_device_sum *rows;
	struct dw_device_amount amount;

	gpu_init(&gpu);
	gpu_train(&gpu, &autograd);
	REQUIRE(gpu_open(&gpu, NULL));
	rows = dw_model_device_by_row(gpu.made.model, 1u << DWELL_CATEGORY_OPERATOR, NULL);
	REQUIRE(rows);
	check_row(&gpu.made, rows, DWELL_CATEGORY_OPERATOR, "aten::mm", 10, 60, 1);
	check_row(&gpu.made, rows, DWELL_CATEGORY_OPERATOR, "aten::mm_backward", 50, 50, 2);
	rows = dw_model_device_by_row(gpu.made.model, 1u << DWELL_CATEGORY_PHASE, NULL);
	REQUIRE(rows);
	check_row(&gpu.made, rows, DWELL_CATEGORY_PHASE, "forward", 17, 17, 2);
	check_row(&gpu.made, rows, DWELL_CATEGORY_PHASE, "backward", 50, 50, 2);
	CHECK_EQ(view_device_ns(&gpu.made, "phases", "forward"), 17);
	CHECK_EQ(view_device_ns(&gpu.made, "phases", "backward"), 50);
	REQUIRE(dw_model_device_between(gpu.made.model, DW_DEVICE_FOR_THREAD, 0, 100, 900, &amount, NULL));
	CHECK_EQ(amount.ns, 67);
	CHECK_EQ(amount.events, 4);
	REQUIRE(dw_model_device_between(gpu.made.model, DW_DEVICE_OF_THREAD, 0, 100, 180, &amount, NULL));
	CHECK_EQ(amount.ns, 10);
	CHECK_EQ(view_device_ns(&gpu.made, "tree", NULL), 67);
	made_close(&gpu.made);
}

TEST(device_time_belongs_to_layers_calls_and_positions)
{
	struct gpu gpu;
	struct dw_encode_stream autograd;
	struct dw_calls_ask ask = { .named = true, .steps = true };
	struct dw_layers_ask with = { .operators = true };
	struct dw_sequence_ask none = { 0 };
	const struct dw_sequence *sequence;
	const struct dw_device_sum *sums;
	const struct dw_layers *layers;
	const struct dw_calls *calls;
	uint64_t ns = 0;

	gpu_init(&gpu);
	gpu_train(&gpu, &autograd);
	REQUIRE(gpu_open(&gpu, NULL));
	layers = dw_model_layers(gpu.made.model, &with, NULL);
	REQUIRE(layers && layers->count == 2 && layers->has_device && layers->has_backward_device);
	CHECK_EQ(layers->rows[1].own.device_ns, 10);
	CHECK_EQ(layers->rows[1].own.backward_device_ns, 50);
	CHECK_EQ(layers->rows[1].own.device_events, 3);
	CHECK_EQ(layers->rows[0].all.backward_device_ns, 50);
	CHECK_EQ(layers->outside.device_ns, 7);
	for (size_t i = 0; i < layers->rows[1].operators.count; i++)
		ns += layers->operators[layers->rows[1].operators.first + i].own.backward_device_ns;
	CHECK_EQ(ns, 50);
	calls = dw_model_calls(gpu.made.model, &ask, NULL);
	sums = dw_model_device_by_call(gpu.made.model, &ask, NULL);
	REQUIRE(calls && sums && calls->count == 3);
	for (size_t i = 0; i < calls->count; i++) {
		CHECK_EQ(sums[i].self_ns, calls->rows[i].symbol == DW_NO_INDEX          ? 0
		                          : strcmp(calls->rows[i].name, "aten::mm") == 0 ? 10 : 50);
		CHECK_EQ(sums[i].total_ns, calls->rows[i].symbol == DW_NO_INDEX          ? 67
		                           : strcmp(calls->rows[i].name, "aten::mm") == 0 ? 60 : 50);
	}
	ask.top_level = true;
	calls = dw_model_calls(gpu.made.model, &ask, NULL);
	sums = dw_model_device_by_call(gpu.made.model, &ask, NULL);
	REQUIRE(calls && sums);
	for (size_t i = 0; i < calls->count; i++)
		if (strcmp(calls->rows[i].name, "aten::mm") == 0)
			CHECK_EQ(sums[i].total_ns, 60);
	sequence = dw_model_sequence(gpu.made.model, &none, NULL);
	REQUIRE(sequence && sequence->count == 2);
	CHECK_EQ(sequence->ops[0].device_ns, 10);
	CHECK_EQ(sequence->ops[1].device_ns, 50);
	made_close(&gpu.made);
}

/* Names of kernels as drivers report them, for each rule of families.c. */
/* A graph is captured in a phase of warming up, and launched twice in the phase of training. Its nodes were made in a layer's
 * operator, in that layer, and before any range of the capture; a fourth one by nobody who was seen. */
TEST(what_a_graph_launches_belongs_to_where_its_nodes_were_made)
{
	static const uint64_t made_ns[] = { 130, 160, 115 };
	struct gpu gpu;
	const struct dw_device_work *work;
	const struct dw_layers *layers;
	uint32_t warming, training, launch;

	gpu_init(&gpu);
	warming = made_op(&gpu.made, DWELL_CATEGORY_PHASE, "warm-up");
	training = made_op(&gpu.made, DWELL_CATEGORY_PHASE, "train");
	launch = made_op(&gpu.made, DWELL_CATEGORY_RUNTIME, "cudaGraphLaunch");
	dw_encode_begin(&gpu.made.stream, 100, warming);
	dw_encode_begin(&gpu.made.stream, 120, gpu.layer);
	dw_encode_begin(&gpu.made.stream, 125, gpu.op);
	dw_encode_end(&gpu.made.stream, 150);
	dw_encode_end(&gpu.made.stream, 180);
	dw_encode_end(&gpu.made.stream, 200);
	for (uint32_t i = 0; i < 3; i++)
		dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_CALL, .queue = gpu.made.thread,
			.external = 51 + i, .start_ticks = 110, .duration_ticks = made_ns[i] - 110, .name = gpu.launch });
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t at = 1000 * (i + 1);

		dw_encode_begin(&gpu.made.stream, at, training);
		gpu_call(&gpu, launch, 7 + i, at + 10, at + 20);
		dw_encode_end(&gpu.made.stream, at + 100);
		for (uint32_t node = 0; node < 4; node++)
			dw_encode_event(&gpu.events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL, .queue = gpu.queue,
				.correlation = 7 + i, .external = 51 + node, .start_ticks = at + 100 * (node + 1), .duration_ticks = 10 + node,
				.name = gpu.kernel });
	}
	work = gpu_open(&gpu, NULL);
	REQUIRE(work && work->event_count == 8 && work->without_call == 0);
	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_call *call = &work->calls[work->events[i].call];
		const uint32_t layer = dw_device_owner_of(gpu.made.model, work, call->owner, DW_DEVICE_BIT(LAYER));
		const uint32_t op = dw_device_owner_of(gpu.made.model, work, call->owner, DW_DEVICE_BIT(OPERATOR));
		const uint32_t phase = dw_device_owner_of(gpu.made.model, work, call->owner, DW_DEVICE_BIT(PHASE));

		CHECK_EQ(call->start_ns, 1000 * (i / 4 + 1) + 10);
		CHECK_EQ(op != DW_NO_INDEX, i % 4 == 0);
		CHECK_EQ(layer != DW_NO_INDEX, i % 4 < 2);
		REQUIRE(phase != DW_NO_INDEX);
		CHECK_EQ(work->owners[phase].start_ns, 1000 * (i / 4 + 1));
	}
	layers = dw_model_layers(gpu.made.model, NULL, &gpu.made.error);
	REQUIRE(layers && layers->count == 2);
	CHECK_EQ(layers->rows[1].own.device_ns, 2 * (10 + 11));
	CHECK_EQ(layers->outside.device_ns, 2 * (12 + 13));
	CHECK_EQ(view_device_ns(&gpu.made, "operators", "aten::mm"), 2 * 10);
	made_close(&gpu.made);
}

TEST(families_of_kernels)
{
	static const struct { const char *name; enum dw_family family; } kernels[] = {
		/* A plain name. */
		{ "ampere_sgemm_128x64_nn", DW_FAMILY_MATMUL },
		{ "my_kernel", DW_FAMILY_OTHER },
		{ "Cijk_Ailk_Bjlk_SB_MT64x16x16 [clone .kd]", DW_FAMILY_MATMUL },
		{ "", DW_FAMILY_OTHER },
		/* Not the namespaces. */
		{ "void cudnn::bn_bw_1C11_kernel_new<float>", DW_FAMILY_NORMALISATION },
		{ "pytorch_flash::flash_fwd_kernel", DW_FAMILY_ATTENTION },
		{ "void fbgemm_gpu::permute_2D_data_kernel<false, int>(int, int const*)", DW_FAMILY_ELEMENTWISE },
		{ "void fbgemm_gpu::_offsets_range_cuda_kernel<int>(long, int*)", DW_FAMILY_OTHER },
		{ "void (anonymous namespace)::softmax_warp_forward<float, 10, true>(float*)", DW_FAMILY_SOFTMAX },
		{ "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(float*)", DW_FAMILY_ELEMENTWISE },
		{ "void <unnamed>::softmax_warp_forward<float>(float *)", DW_FAMILY_SOFTMAX },
		/* Not the types of the parameters and of the result. */
		{ "void bounds_check_kernel<long>(fbgemm_gpu::FixedDivisor, long)", DW_FAMILY_OTHER },
		{ "void split_embedding_codegen_forward_kernel<float>(fbgemm_gpu::FixedDivisor)", DW_FAMILY_EMBEDDING },
		{ "void fft2d_c2r_32x32<float, 0u>(float*, cudnn::reduced_divisor)", DW_FAMILY_CONVOLUTION },
		{ "std::enable_if<!(false), gemm>::type at::my_kernel<1>(int)", DW_FAMILY_OTHER },
		/* Not the template arguments of a name that says what it is, or of one that is unknown. */
		{ "void at::native::vectorized_elementwise_kernel<4, fbgemm_gpu::_float_to_hfp8_gpu(at::Tensor const&)"
		  "::{lambda(float)#1}>(int)", DW_FAMILY_ELEMENTWISE },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, SoftMax> >(int)", DW_FAMILY_REDUCTION },
		{ "void my_kernel<cutlass::gemm::GemmShape<1> >(int)", DW_FAMILY_OTHER },
		/* The first template argument of a wrapper, through further wrappers; then its namespaces. */
		{ "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64>(int)", DW_FAMILY_MATMUL },
		{ "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized>(int)", DW_FAMILY_CONVOLUTION },
		{ "void cutlass::Kernel<cutlass::conv::kernel::ImplicitGemmConvolution<int> >(int)",
		  DW_FAMILY_CONVOLUTION },
		{ "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<int> > >(int)",
		  DW_FAMILY_ATTENTION },
		{ "void cutlass::device_kernel<cutlass::gemm::kernel::Universal<int, Softmax> >(int)", DW_FAMILY_MATMUL },
		{ "void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<int> >(int)", DW_FAMILY_MATMUL },
		{ "void internal::gemvx::kernel<int, int, float>(int)", DW_FAMILY_MATMUL },
		{ "void epilogue::impl::globalKernel<float, true>(int, cublasLtEpilogue_t)", DW_FAMILY_MATMUL },
		{ "void fbgemm_gpu::kernel<int>(int)", DW_FAMILY_OTHER },
		/* A name that was not demangled. */
		{ "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_1AEEEEEvNT_6ParamsE",
		  DW_FAMILY_CONVOLUTION },
		{ "_ZN10fbgemm_gpu22permute_2D_data_kernelIiEEvNS_4gemmE", DW_FAMILY_ELEMENTWISE },
		{ "_Z9my_kernelIN7cutlass4gemmEEvv", DW_FAMILY_OTHER },
		{ "_ZN99999999999", DW_FAMILY_OTHER },
		{ "_ZNS", DW_FAMILY_OTHER },
		/* TorchInductor: what the kernel does is in front of the operators that it computes. */
		{ "triton_poi_fused_convolution_relu_0", DW_FAMILY_ELEMENTWISE },
		{ "triton_red_fused_mm_1", DW_FAMILY_REDUCTION },
		{ "triton_per_fused_native_layer_norm_2", DW_FAMILY_NORMALISATION },
		{ "triton_per_fused__softmax_2", DW_FAMILY_SOFTMAX },
		{ "triton_tem_fused_addmm_3", DW_FAMILY_MATMUL },
		/* XLA: a fusion is a loop over elements unless its name says more. */
		{ "loop_multiply_fusion_1", DW_FAMILY_ELEMENTWISE },
		{ "wrapped_tanh_3", DW_FAMILY_ELEMENTWISE },
		{ "input_reduce_fusion", DW_FAMILY_REDUCTION },
		{ "gemm_fusion_dot_general_11", DW_FAMILY_MATMUL },
		{ "stream_executor::gpu::RedzoneAllocatorKernelImpl(unsigned char*, int)", DW_FAMILY_OTHER },
		/* cuDNN prepares a convolution. */
		{ "void cask_cudnn_infer::computeOffsetsKernel<false, false>(cask_cudnn_infer::ComputeOffsetsParams)",
		  DW_FAMILY_CONVOLUTION },
		{ "void cask_plugin__5x_cudnn::xmma__5x_cudnn::init_device_workspace_kernel<xmma__5x_cudnn::implicit_gemm::dgrad"
		  "::Warp_specialized_params_nontemplate<xmma__5x_cudnn::Grid_constant_params> >(int)", DW_FAMILY_CONVOLUTION },
		{ "void scal_kernel<float, float, 1, true, 6, 5, 5, 3>(cublasTransposeParams<float>, float const*)",
		  DW_FAMILY_ELEMENTWISE },
		/* Before a line whose text is in the name by chance. */
		{ "convert_fp32_to_bf16", DW_FAMILY_ELEMENTWISE },
		{ "void at::native::sbtopk::gatherTopK<float>(int)", DW_FAMILY_SORT },
		/* Communication: at the beginning of the name, and a namespace of its own. */
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", DW_FAMILY_COMMUNICATION },
		{ "void deep_ep::internode::dispatch<1>(int)", DW_FAMILY_COMMUNICATION },
		{ "void my_kernel<int>(ncclKernelArgs)", DW_FAMILY_OTHER },
	};

	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		enum dw_family family = dw_device_family(DW_DEVICE_KERNEL, kernels[i].name);

		if (family != kernels[i].family)
			CHECK_FAIL("%s is %s", kernels[i].name, dw_family_name(family));
	}
	CHECK_EQ(dw_device_family(DW_DEVICE_COPY, "Memcpy HtoD"), DW_FAMILY_COPY);
}

TEST(calls_that_wait_for_a_device)
{
	CHECK(dw_device_call_waits("cudaDeviceSynchronize"));
	CHECK(dw_device_call_waits("hipMemcpyWithStream"));
	CHECK(!dw_device_call_waits("cudaMemcpyAsync"));
}
/* ---- peaks ----------------------------------------------------------------------------------------------------- */

/* The end of a driver's name decides: another model's name may have a row's within it. */
TEST(a_device_has_its_own_peaks_or_none)
{
	static const struct {
		const char *device;
		double half; /* TFLOP/s; 0: not known */
	} cases[] = {
		{ "NVIDIA H100 80GB HBM3", 989.5 }, { "NVIDIA H100 PCIe", 756.5 }, { "NVIDIA H200", 989.5 }, { "NVIDIA H200 NVL", 835.5 },
		{ "NVIDIA L4", 121 }, { "Tesla V100-SXM2-32GB", 125 }, { "AMD Instinct MI300X", 1307.4 }, { "MI300X", 1307.4 },
		{ "NVIDIA L40", 0 }, { "NVIDIA GH200 480GB", 0 }, { "NVIDIA GB200", 0 }, { "NVIDIA GeForce RTX 4090 Laptop GPU", 0 },
		{ "NVIDIA GeForce RTX 3090 Ti", 0 }, { "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 0 }, { "", 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_device_peaks *peaks = dw_device_peaks(cases[i].device);

		CHECK_EQ(peaks != NULL, cases[i].half > 0);
		if (peaks)
			CHECK_NEAR(peaks->half / 1e12, cases[i].half, 1e-9);
	}
	CHECK_NEAR(dw_device_peak(dw_device_peaks("Tesla V100-SXM2-16GB"), DWELL_BFLOAT16, true), 15.7e12, 1);
	CHECK_NEAR(dw_device_peak(dw_device_peaks("NVIDIA L4"), DWELL_BFLOAT16, true), 121e12, 1);
}

CHECK_MAIN
