/*
 * Waiting for other ranks: a range of communication where Python waits for a collective.
 *
 * The collectives' own operators (c10d::allreduce_, gloo:all_reduce) are recorded as all
 * operators are, but they only start the work or run in another thread: what a step waits
 * for lies in Work.wait(), which torch.distributed's functions call unless async_op is
 * given. What DistributedDataParallel waits for inside its backward is not seen: PyTorch
 * does so in C++ without a word.
 */
#include "torch.h"

static void before_wait(struct dwell_call *call)
{
	static struct dwell_site site = { "Work.wait", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };

	call->began = dwell_begin(&site);
}

static void after_wait(struct dwell_call *call, PyObject *result)
{
	dwell_end(call->began);
}

void dwell_collectives_attach(PyObject *torch)
{
	static const struct dwell_hook wait = { before_wait, after_wait };

	dwell_hook_path(torch, "_C._distributed_c10d.Work", "wait", &wait);
}
