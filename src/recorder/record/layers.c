/*
 * Which layers are recorded: a list of paths in the control page, for all processes.
 *
 * A probe of a layer calls this code only while a list is set (DWELL_DETAIL_LAYERS in its gate).
 * Each process stores the path of each layer by id and whether the current list selects the layer.
 * So the common case is a lookup and a comparison of numbers. A new list has a new generation, so
 * that call sites, child processes and other processes of the run decide again at their next call.
 * The generation is odd while a list is being written. A probe that reads an odd generation records
 * the layer and decides at the next call.
 *
 * Probes run in signal handlers. So nothing here waits, and entries are never removed.
 */
#include "record/ids.h"
#include "record/layer_paths.h"
#include "record/record.h"
#include "record/session_state.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/system/system.h"
#include "format/control.h"

#define LAYER_WAITS 1000

struct dw_layer *dw_layer_chains[DW_LAYER_CHAINS];

void dw_layers_remember(uint32_t id, const char *path)
{
	struct dw_layer **chain = &dw_layer_chains[id % DW_LAYER_CHAINS], *layer;
	size_t bytes = strlen(path) + 1;

	if (!id || dw_layer_find(id) || !(layer = dw_intern_memory(sizeof *layer + bytes)))
		return;
	layer->id = id;
	layer->decision = 0;
	memcpy(layer->path, path, bytes);
	layer->next = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(chain, &layer->next, layer, true, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED))
		;
}

/* Copies the list. False: it changed meanwhile. */
static bool layers_copy_list(struct dw_control *control, uint32_t generation, char list[DW_LAYERS_BYTES])
{
	for (size_t i = 0; i < DW_LAYERS_BYTES; i++) {
		list[i] = DW_LOAD(control->layers[i]);
		if (!list[i])
			break;
	}
	list[DW_LAYERS_BYTES - 1] = '\0';
	/* Pairs with the fences of layers_write_list(): the copy is of this generation. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return DW_LOAD(control->layers_generation) == generation;
}

bool dw_layer_decide(struct dw_layer *layer, struct dw_control *control, uint32_t generation)
{
	char list[DW_LAYERS_BYTES];
	bool wanted;

	if (generation & 1 || !layers_copy_list(control, generation, list))
		return true;
	wanted = !*list || dw_glob_any(list, layer->path);
	DW_STORE(layer->decision,
	         (uint64_t)DW_LOAD(dw_session.generation) << 32 | generation | wanted);
	return wanted;
}

/* ---- changing it ------------------------------------------------------------------ */

bool dw_layers_fit(const char *list, struct dwell_error *error)
{
	const char *rest = list;
	size_t length;

	if (strlen(list) >= DW_LAYERS_BYTES)
		dw_error_set(error, DWELL_E_ARGUMENT,
		             "the list of layers is %zu bytes, at most %u fit: use patterns, as Net.block.*",
		             strlen(list), DW_LAYERS_BYTES - 1);
	else if (!dw_glob_next(&rest, &length))
		dw_error_set(error, DWELL_E_ARGUMENT, "the list of layers '%s' names none", list);
	else
		return true;
	return false;
}

void dw_layers_fill(struct dw_control *control, const char *list)
{
	size_t bytes = strnlen(list, sizeof control->layers - 1);

	memcpy(control->layers, list, bytes);
	control->layers[bytes] = '\0';
	control->layers_generation += 2;
	control->mask |= DWELL_DETAIL_LAYERS;
}

static void layers_write_list(struct dw_control *control, const char *list)
{
	uint32_t generation = DW_LOAD(control->layers_generation) & ~1u;
	size_t bytes = strlen(list) + 1;

	/* One writer at a time. The wait is bounded, because a writer may be killed while it writes. */
	for (int waits = 0; waits < LAYER_WAITS; waits++) {
		if (__atomic_compare_exchange_n(&control->layers_generation, &generation, generation + 1,
		                                false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			break;
		generation &= ~1u;
		if (!dw_may_call())
			break;
		dw_call(SYS_sched_yield);
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (size_t i = 0; i < bytes; i++)
		DW_STORE(control->layers[i], list[i]);
	__atomic_store_n(&control->layers_generation, generation + 2, __ATOMIC_RELEASE);
}

int dwell_layers_only(const char *list, struct dwell_error *error)
{
	struct dw_control *control = DW_LOAD(dw_session.control);

	if (!dw_session_head() || !control)
		return dw_error_set(error, DWELL_E_STATE, "nothing is recorded: dwell_start() first");
	if (list && *list && !dw_layers_fit(list, error))
		return DWELL_E_ARGUMENT;
	if (list && *list) {
		layers_write_list(control, list);
		__atomic_fetch_or(&control->mask, DWELL_DETAIL_LAYERS, __ATOMIC_SEQ_CST);
	} else {
		__atomic_fetch_and(&control->mask, ~DWELL_DETAIL_LAYERS, __ATOMIC_SEQ_CST);
		layers_write_list(control, "");
	}
	dw_control_compute_all(dw_session_map(), control);
	return 0;
}
