/*
 * Collectives of torch.distributed, and waits for other ranks: ranges of communication.
 *
 * The operators of collectives (c10d::allreduce_, gloo:all_reduce) are recorded like all operators,
 * but they say neither their group nor which one they are, and they only start the work, or they run
 * in another thread. So a collective is recorded where it is called: the methods of ProcessGroup,
 * which torch.distributed's functions call, are hooked in Python, and the reducer of
 * DistributedDataParallel, which calls them in C++, where libtorch_cpu calls it. Each range gets its
 * group, the number of the collective in the group, and its bytes (dwell_collective()). A message gets the
 * pair of ranks as its group.
 *
 * Functions that exchange Python objects are communication as a whole, with their pickling.
 *
 * A step waits in two places: in Work.wait(), which torch.distributed's functions call unless
 * async_op is given, and with DistributedDataParallel at the end of backward, where its reducer
 * waits for the gradients of all buckets and copies them. The ranges of these waits belong to the
 * same collectives.
 *
 * A collective that fails throws a C++ exception. This file is compiled so that exceptions pass
 * through it and end the range.
 */
#include "groups.h"
#include "torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct torch_group *reducer_group; /* of the DistributedDataParallel that was made last */

/* A number of a Python object, which may be NULL; -1: it is none. */
static int collectives_int(PyObject *object)
{
	long number = object && PyLong_Check(object) ? PyLong_AsLong(object) : -1;

	PyErr_Clear();
	return number >= 0 && number <= INT32_MAX ? (int)number : -1;
}

/* What a function of a module or a method returns. */
static int collectives_number(PyObject *owner, const char *function)
{
	PyObject *result = PyObject_CallMethod(owner, function, NULL);
	int number = collectives_int(result);

	Py_XDECREF(result);
	return number;
}

/* ---- groups ------------------------------------------------------------------------------------ */

/* The name that all ranks agree on: PyTorch numbers groups in the order in which they are made. */
static void collectives_read_name(PyObject *process_group, char *to, size_t size)
{
	static unsigned unnamed;
	PyObject *module, *names, *name, *text;

	dwp_python_text(process_group, "group_name", to, size);
	PyErr_Clear();
	if (*to)
		return;
	module = PyImport_ImportModule("torch.distributed.distributed_c10d");
	names = module ? PyObject_GetAttrString(module, "_pg_names") : NULL;
	name = names ? PyObject_GetItem(names, process_group) : NULL;
	text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
	if (text)
		snprintf(to, size, "%s", PyBytes_AsString(text));
	else
		snprintf(to, size, "group %u", unnamed++);
	PyErr_Clear();
	Py_XDECREF(text);
	Py_XDECREF(name);
	Py_XDECREF(names);
	Py_XDECREF(module);
}

static struct torch_group *collectives_group(PyObject *process_group)
{
	struct torch_group *group = dwp_group_find(process_group);
	char name[64] = "";

	if (group)
		return group;
	collectives_read_name(process_group, name, sizeof name);
	return dwp_group_put(process_group, name, 0, collectives_number(process_group, "rank"));
}

/* ---- bytes ------------------------------------------------------------------------------------- */

/* The result of a method without arguments; 0 if there is none. */
static uint64_t collectives_call(PyObject *object, const char *method)
{
	PyObject *result = PyObject_CallMethod(object, method, NULL);
	uint64_t number = result && PyLong_Check(result) ? PyLong_AsUnsignedLongLong(result) : 0;

	Py_XDECREF(result);
	if (PyErr_Occurred())
		PyErr_Clear();
	return number;
}

/* Of a tensor, or of the tensors in a list, or in a list of lists. */
static uint64_t collectives_bytes(PyObject *tensors, unsigned depth)
{
	PyObject *bytes;
	uint64_t sum = 0;

	if (!tensors || depth > 2)
		return 0;
	if (PyList_Check(tensors)) {
		for (Py_ssize_t i = 0; i < PyList_Size(tensors); i++)
			sum += collectives_bytes(PyList_GetItem(tensors, i), depth + 1);
		return sum;
	}
	bytes = PyObject_GetAttrString(tensors, "nbytes");
	if (bytes && PyLong_Check(bytes))
		sum = PyLong_AsUnsignedLongLong(bytes);
	Py_XDECREF(bytes);
	PyErr_Clear();
	/* PyTorch 1.13 has no nbytes. */
	return bytes ? sum : collectives_call(tensors, "numel") * collectives_call(tensors, "element_size");
}

/* ---- waits --------------------------------------------------------------------------------------- */

static void collectives_before_wait(struct dwp_call *call)
{
	static struct dwell_site site = { "Work.wait", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };
	struct torch_collective collective = dwp_group_take_work(call->self);

	call->began = dwell_begin(&site);
	if (call->began && collective.sequence)
		dwell_collective(collective.group, collective.sequence, 0);
	dwp_torch_places_enter(TORCH_PLACES_HIDDEN);
}

static void collectives_after_wait(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	dwp_torch_places_leave(TORCH_PLACES_HIDDEN);
}

/* ---- methods of ProcessGroup --------------------------------------------------------------------- */

enum data { NO_DATA, ONE, RANKS }; /* the bytes are those of the first argument, or times the ranks */

static void collectives_before_call(struct dwp_call *call, struct dwell_site *site, enum torch_call kind, enum data data)
{
	struct torch_group *group = collectives_group(call->self);
	int peer = kind == TORCH_SENT || kind == TORCH_RECEIVED ? collectives_int(call->third) : -1;
	struct torch_collective collective = kind == TORCH_COLLECTIVE ? dwp_group_count(group)
	                                                              : dwp_group_count_message(group, kind, peer);

	call->began = dwell_begin(site);
	if (call->began && data != NO_DATA)
		collective.bytes = collectives_bytes(call->second, 0) *
		                   (data == RANKS ? collectives_call(call->self, "size") : 1);
	if (call->began)
		dwell_collective(collective.group, collective.sequence, collective.bytes);
	call->flags = collective.group;
	call->place = (void *)(uintptr_t)collective.sequence;
}

static void collectives_after_call(struct dwp_call *call, PyObject *result)
{
	dwell_end(call->began);
	if (result && result != Py_None && call->place)
		dwp_group_put_work(result, (struct torch_collective){ .group = call->flags, .sequence = (uintptr_t)call->place });
}

/* X(method, name of the range, what it is, its bytes). The first argument is the output, which is the larger one but in
 * reduce_scatter. A message has as the second argument the other rank. */
#define COLLECTIVES(X) \
	X(allreduce, "all_reduce", TORCH_COLLECTIVE, ONE) \
	X(allreduce_coalesced, "all_reduce", TORCH_COLLECTIVE, ONE) \
	X(broadcast, "broadcast", TORCH_COLLECTIVE, ONE) \
	X(reduce, "reduce", TORCH_COLLECTIVE, ONE) \
	X(allgather, "all_gather", TORCH_COLLECTIVE, ONE) \
	X(allgather_coalesced, "all_gather", TORCH_COLLECTIVE, ONE) \
	X(allgather_into_tensor_coalesced, "all_gather", TORCH_COLLECTIVE, ONE) \
	X(_allgather_base, "all_gather", TORCH_COLLECTIVE, ONE) \
	X(all_gather_single, "all_gather", TORCH_COLLECTIVE, ONE) \
	X(all_gather_single_coalesced, "all_gather", TORCH_COLLECTIVE, ONE) \
	X(reduce_scatter_single, "reduce_scatter", TORCH_COLLECTIVE, RANKS) \
	X(reduce_scatter_single_coalesced, "reduce_scatter", TORCH_COLLECTIVE, RANKS) \
	X(all_to_all_single, "all_to_all", TORCH_COLLECTIVE, ONE) \
	X(gather, "gather", TORCH_COLLECTIVE, ONE) \
	X(scatter, "scatter", TORCH_COLLECTIVE, ONE) \
	X(reduce_scatter, "reduce_scatter", TORCH_COLLECTIVE, RANKS) \
	X(reduce_scatter_tensor_coalesced, "reduce_scatter", TORCH_COLLECTIVE, RANKS) \
	X(_reduce_scatter_base, "reduce_scatter", TORCH_COLLECTIVE, RANKS) \
	X(alltoall, "all_to_all", TORCH_COLLECTIVE, ONE) \
	X(alltoall_base, "all_to_all", TORCH_COLLECTIVE, ONE) \
	X(barrier, "barrier", TORCH_COLLECTIVE, NO_DATA) \
	X(monitored_barrier, "barrier", TORCH_COLLECTIVE, NO_DATA) \
	X(send, "send", TORCH_SENT, ONE) \
	X(recv, "recv", TORCH_RECEIVED, ONE) \
	X(recv_anysource, "recv", TORCH_RECEIVED_OF_ANY, ONE)

#define DEFINE(method, name, kind, data)                                                        \
	static void collectives_before_##method(struct dwp_call *call)                                  \
	{                                                                                               \
		static struct dwell_site site = { name, NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };   \
		collectives_before_call(call, &site, kind, data);                                       \
	}
COLLECTIVES(DEFINE)
#undef DEFINE

/* ---- DistributedDataParallel --------------------------------------------------------------------- */

static struct dwp_abi_reducer reducer_calls;
/* What the backward that runs in this thread has reduced: collectives that follow each other. */
static __thread struct {
	uint64_t first;
	uint32_t group, count;
} buckets;

static void collectives_record_bucket(void *reducer, void *bucket)
{
	static struct dwell_site site = { "all_reduce", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };
	struct torch_collective collective = dwp_group_count(reducer_group);
	unsigned began = dwell_begin(&site);
	DWELL_SCOPE_OPEN(began, 0);

	if (began)
		dwell_collective(collective.group, collective.sequence, dwp_abi_bucket_bytes(bucket));
	if (!buckets.count++)
		buckets.first = collective.sequence;
	buckets.group = collective.group;
	reducer_calls.all_reduce_bucket(reducer, bucket);
}

static void collectives_record_finalize(void *reducer)
{
	static struct dwell_site site = { "DistributedDataParallel.finalize_backward", NULL, NULL, 0,
		                              DWELL_CATEGORY_COMMUNICATION, 0 };
	unsigned began = dwell_begin(&site);
	DWELL_SCOPE_OPEN(began, 0);

	for (uint32_t i = 0; began && buckets.first && i < buckets.count; i++)
		dwell_collective(buckets.group, buckets.first + i, 0);
	buckets.count = 0;
	reducer_calls.finalize_backward(reducer);
}

/* The reducer does not say in which group it reduces. A program has mostly one model, and each rank takes
 * the same group for it. */
static void collectives_before_wrap(struct dwp_call *call)
{
	(void)call;
}

static void collectives_after_wrap(struct dwp_call *call, PyObject *result)
{
	PyObject *group = result ? PyObject_GetAttrString(call->self, "process_group") : NULL;

	if (group)
		reducer_group = collectives_group(group);
	else if (result)
		PyErr_Clear();
	Py_XDECREF(group);
}

/* ---- objects --------------------------------------------------------------------------------------- */

/* Functions that exchange Python objects: they pickle them, call collectives for the bytes and their lengths, and unpickle.
 * All of it is communication; the collectives in them are those that ranks have in common. */
#define OBJECTS(X) \
	X(all_gather_object) X(gather_object) X(broadcast_object_list) X(scatter_object_list) X(send_object_list) X(recv_object_list)

#define DEFINE(function)                                                                               \
	static void collectives_before_##function(struct dwp_call *call)                                   \
	{                                                                                                  \
		static struct dwell_site site = { #function, NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 }; \
		call->began = dwell_begin(&site);                                                              \
	}
OBJECTS(DEFINE)
#undef DEFINE

static void collectives_after_objects(struct dwp_call *call, PyObject *result)
{
	(void)result;
	dwell_end(call->began);
}

/* ---- ranks ----------------------------------------------------------------------------------------- */

static void collectives_before_init(struct dwp_call *call)
{
	(void)call;
}

/* Launchers that start ranks in other ways than by environment variables tell the library. */
static void collectives_after_init(struct dwp_call *call, PyObject *result)
{
	PyObject *module = result ? PyImport_ImportModule("torch.distributed") : NULL;
	const char *local = getenv("LOCAL_RANK");
	int rank, size;

	(void)call;
	if (!module)
		return;
	rank = collectives_number(module, "get_rank");
	size = collectives_number(module, "get_world_size");
	if (rank >= 0 && size > 0)
		dwell_rank(rank, local && *local >= '0' && *local <= '9' ? atoi(local) : -1, size);
	Py_DECREF(module);
}

void dwp_collectives_attach(PyObject *torch)
{
	static const struct dwp_hook wait = { collectives_before_wait, collectives_after_wait };
	static const struct dwp_hook wrap = { collectives_before_wrap, collectives_after_wrap };
	static const struct dwp_hook init = { collectives_before_init, collectives_after_init };
	static const struct dwp_abi_reducer ours = { collectives_record_finalize,
		                                         collectives_record_bucket };

	dwp_hook_path(torch, "_C._distributed_c10d.Work", "wait", &wait);
#define HOOK(method, name, kind, data)                                                            \
	{                                                                                                 \
		static const struct dwp_hook hook = { collectives_before_##method, collectives_after_call };  \
		dwp_hook_path(torch, "_C._distributed_c10d.ProcessGroup", #method, &hook);                    \
	}
	COLLECTIVES(HOOK)
#undef HOOK
#define HOOK(function)                                                                                \
	{                                                                                                 \
		static const struct dwp_hook hook = { collectives_before_##function, collectives_after_objects }; \
		dwp_hook_path(torch, "distributed", #function, &hook);                                        \
	}
	OBJECTS(HOOK)
#undef HOOK
	dwp_hook_path(torch, "distributed.distributed_c10d", "init_process_group", &init);
	dwp_hook_path(torch, "distributed", "init_process_group", &init);
	dwp_hook_path(torch, "nn.parallel.DistributedDataParallel", "__init__", &wrap);
	dwp_abi_replace_reducer(&ours, &reducer_calls);
}
