/*
 * The time in which a loop waits for data, and checkpoints.
 *
 * A DataLoader is hooked in the loop's process. Its workers are forked from there, so the hooks work
 * in them too. Counters have the number of batches that are ready and the size of each batch.
 */
#include "format/keys.h"
#include "torch.h"

DWP_SITE(batch_site, DWELL_CATEGORY_DATA, "DataLoader.__next__", NULL);
DWP_SITE(empty_site, DWELL_CATEGORY_DATA, "DataLoader.__next__", "the queue was empty");
DWP_SITE(ready_site, DWELL_CATEGORY_DATA, "DataLoader.__next__", "a batch was ready");
DWP_SITE(queue_site, DWELL_CATEGORY_COUNTER, DW_COUNTER_READY_BATCHES, "batches");
DWP_SITE(workers_site, DWELL_CATEGORY_DATA, "DataLoader.__iter__", NULL);
DWP_SITE(samples_site, DWELL_CATEGORY_DATA, "a batch's samples", NULL);
DWP_SITE(count_site, DWELL_CATEGORY_COUNTER, DW_COUNTER_SAMPLES, "samples");
DWP_SITE(save_site, DWELL_CATEGORY_CHECKPOINT, "torch.save", NULL);
DWP_SITE(trainer_site, DWELL_CATEGORY_CHECKPOINT, "checkpoint", NULL);
DWP_SITE(load_site, DWELL_CATEGORY_CHECKPOINT, "torch.load", NULL);

/* Whether the iterator has the next batch already: it arrived before an earlier one. */
static bool data_next_is_kept(PyObject *iterator)
{
	PyObject *tasks = PyObject_GetAttrString(iterator, "_task_info");
	PyObject *index = tasks ? PyObject_GetAttrString(iterator, "_rcvd_idx") : NULL;
	PyObject *task = index ? PyObject_GetItem(tasks, index) : NULL;
	bool kept = task && PyObject_Size(task) == 2;

	Py_XDECREF(task);
	Py_XDECREF(index);
	Py_XDECREF(tasks);
	PyErr_Clear();
	return kept;
}

/* The number of batches that the workers of an iterator have ready; -1: it has no workers. */
static long data_queue_depth(PyObject *iterator)
{
	PyObject *queue = iterator ? PyObject_GetAttrString(iterator, "_data_queue") : NULL;
	PyObject *size = queue ? PyObject_CallMethod(queue, "qsize", NULL) : NULL;
	long depth = size ? PyLong_AsLong(size) : -1;

	Py_XDECREF(size);
	Py_XDECREF(queue);
	PyErr_Clear();
	return depth < 0 ? -1 : depth + data_next_is_kept(iterator);
}

static void data_before_batch(struct dwp_call *call)
{
	long depth = -1;

	dwp_step_on_look();
	dwp_loop_batch();
	if (dwell_wants(1u << DWELL_CATEGORY_DATA))
		depth = data_queue_depth(call->self);
	if (depth >= 0)
		dwell_counter(&queue_site, (double)depth);
	call->began = dwell_begin(depth < 0 ? &batch_site : depth ? &ready_site : &empty_site);
	dwp_torch_places_enter(TORCH_PLACES_DATA);
}

static void data_before_workers(struct dwp_call *call)
{
	dwp_loop_data();
	call->began = dwell_begin(&workers_site);
	dwp_torch_places_enter(TORCH_PLACES_DATA);
}

/* In a worker, or in the loop's own process when there are none. */
static void data_before_samples(struct dwp_call *call)
{
	PyObject *indices = call->second;

	dwp_bound_worker();
	call->began = dwell_begin(&samples_site);
	dwp_torch_places_enter(TORCH_PLACES_DATA);
	if (indices && call->began)
		dwell_counter(&count_site, PyList_Check(indices) ? (double)PyList_Size(indices) : 1);
}

static void data_before_save(struct dwp_call *call)
{
	dwp_loop_checkpoint();
	call->began = dwell_begin(&save_site);
	dwp_torch_places_enter(TORCH_PLACES_HIDDEN);
}

/* A trainer's checkpoint: it collects states and writes files besides torch.save(). */
static void data_before_checkpoint(struct dwp_call *call)
{
	dwp_loop_checkpoint();
	call->began = dwell_begin(&trainer_site);
	dwp_torch_places_enter(TORCH_PLACES_HIDDEN);
}

static void data_before_load(struct dwp_call *call)
{
	dwp_loop_checkpoint();
	call->began = dwell_begin(&load_site);
	dwp_torch_places_enter(TORCH_PLACES_HIDDEN);
}

static void data_after(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	dwp_torch_places_leave(TORCH_PLACES_DATA);
}

static void data_after_batch(struct dwp_call *call, PyObject *result)
{
	if (result && call->self)
		dwp_padding_batch(call->self, result);
	data_after(call, result);
}

static void data_after_checkpoint(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	dwp_torch_places_leave(TORCH_PLACES_HIDDEN);
}

static const struct {
	const char *path, *name;
	struct dwp_hook hook;
} hooks[] = {
	{ "utils.data.dataloader._BaseDataLoaderIter", "__next__", { data_before_batch, data_after_batch } },
	{ "utils.data.DataLoader", "__iter__", { data_before_workers, data_after } },
	{ "utils.data._utils.fetch._MapDatasetFetcher", "fetch", { data_before_samples, data_after } },
	{ "utils.data._utils.fetch._IterableDatasetFetcher", "fetch",
	  { data_before_samples, data_after } },
	{ "", "save", { data_before_save, data_after_checkpoint } },
	{ "", "load", { data_before_load, data_after_checkpoint } },
};

void dwp_data_attach(PyObject *torch)
{
	for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
		dwp_hook_path(torch, hooks[i].path, hooks[i].name, &hooks[i].hook);
}

static const struct dwp_hook checkpoint_hook = { data_before_checkpoint, data_after_checkpoint };

void dwp_data_attach_trainer(PyObject *module)
{
	dwp_hook_path(module, "Trainer", "save_checkpoint", &checkpoint_hook);  /* Lightning */
	dwp_hook_path(module, "Trainer", "_save_checkpoint", &checkpoint_hook); /* transformers */
	dwp_hook_path(module, "Accelerator", "save_state", &checkpoint_hook);
}
