/*
 * Property: whatever the control page of a trace holds, a program that records goes on without a fault and without a pause, and
 * so does a server of captures. In a step the program's gate has the mask that follows from the page, if the head counts the gate.
 *
 * An input is a byte that chooses what is done, then what the page has before its gates, the program's gate, `next_gate` of the
 * head, the generation of the layers, and the list of layers. What an input has not is 0. The program and its trace are the same
 * for all inputs, and each begins with the page as it was made.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "format/control.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/steps.h"
#include "serve/control.h"

#define MOST_GATES 64u /* of which a server asks: it looks in /proc for each */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dwell_site layer = { "Net.block.0", NULL, __FILE__, 1, DWELL_CATEGORY_LAYER, 0 };
static struct dwell_site zone = { "zone", NULL, __FILE__, 2, DWELL_CATEGORY_ZONE, 0 };
static struct dw_control made; /* the page as it was made */

static void start_session(void)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	char path[64];

	snprintf(path, sizeof path, "/dev/shm/dwell-fuzz-%d.dwell", (int)getpid());
	options.path = path;
	options.max_size_bytes = 4 << 20;
	options.keep = DWELL_KEEP_NEWEST;
	demand(dwell_start(&options, NULL) == 0 && unlink(path) == 0);
	dwell_step_begin();
	dwell_step_end();
	made = *dw_session.control;
}

static struct dw_gate *find_gate(void)
{
	return (struct dw_gate *)(uintptr_t)__atomic_load_n(&dwell_gate, __ATOMIC_ACQUIRE);
}

static void take_bytes(const uint8_t **data, const uint8_t *end, void *to, size_t bytes)
{
	size_t left = (size_t)(end - *data);

	memset(to, 0, bytes);
	memcpy(to, *data, left < bytes ? left : bytes);
	*data += left < bytes ? left : bytes;
}

static void fill_page(const uint8_t *data, const uint8_t *end)
{
	struct dw_control *page = dw_session.control;
	struct dw_gate *gate = find_gate();

	*page = made;
	take_bytes(&data, end, page, offsetof(struct dw_control, reserved1));
	take_bytes(&data, end, gate, sizeof *gate);
	take_bytes(&data, end, &dw_session_map()->next_gate, sizeof dw_session_map()->next_gate);
	take_bytes(&data, end, &page->layers_generation, sizeof page->layers_generation);
	take_bytes(&data, end, page->layers, sizeof page->layers);
	dw_control_compute_all(dw_session_map(), page);
}

static void run_program(bool layers)
{
	struct dwell_error error = { 0, "" };
	uint32_t id = dwell_intern(DWELL_CATEGORY_LAYER, "Net.block.1", NULL);
	bool counted = dw_session_map()->next_gate > (uint32_t)(find_gate() - dw_session.control->gates);

	for (unsigned i = 0; i < 4; i++) {
		unsigned began;

		dwell_step_begin();
		demand(!counted || find_gate()->mask == dw_control_mask(dw_session.control, find_gate()));
		began = dwell_begin(&zone);
		dwell_end(began);
		began = dwell_begin(&layer);
		dwell_end(began);
		began = dwell_begin_id(id, DWELL_CATEGORY_LAYER);
		dwell_end_id(began);
		dw_step_wanted_soon(1u << DWELL_CATEGORY_OPERATOR, 8);
		dwell_step_end();
	}
	if (layers)
		demand(dwell_layers_only("Net.*", &error) == 0);
	demand(dwell_layers_only(NULL, &error) == 0);
}

static void run_server(uint32_t mask, uint64_t duration_ms)
{
	struct dw_serve_control control = { .head = dw_session_map(), .page = dw_session.control };
	uint32_t gates = dw_serve_gate_count(&control);
	uint64_t steps;

	demand(gates <= DW_GATES);
	for (uint32_t i = 0; i < gates && i < MOST_GATES; i++)
		dw_serve_gate_steps(&control, i, &steps);
	if (dw_serve_arm(&control, mask, duration_ms))
		demand(control.page->capture == control.capture);
	run_program(false);
	dw_serve_disarm(&control);
	demand(!control.capture && dw_serve_is_alive(&control));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (!dw_session.control)
		start_session();
	bounds_begin();
	fill_page(data + 1, data + size);
	if (data[0] & 1)
		run_server(data[0] >> 2, data[0] & 2 ? UINT32_MAX : 1);
	run_program(data[0] & 2);
	bounds_end(data, size, size);
	return 0;
}
