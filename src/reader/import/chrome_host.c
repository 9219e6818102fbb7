/*
 * Converts an event of the host to an item of the sorted list.
 *
 * Called by chrome_file.c for each event. In Kineto's files the category decides what an event becomes.
 * In files of other writers the phase decides: a range, a mark, a counter or a flow. Two kinds of
 * flows are left out and not counted, because they repeat ids that the events have: Kineto's arrows
 * from a call to its kernel (both have the correlation id), and from forward to backward (both have
 * the sequence number).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/chrome_match.h"

#define STEP_NAME "ProfilerStep#"

static bool host_begins(const struct dw_json_string *string, const char *what)
{
	size_t length = strlen(what);

	return string->length >= length && memcmp(string->at, what, length) == 0;
}

static struct dw_json_string host_part(const struct dw_json_string *string, size_t from, size_t to)
{
	return (struct dw_json_string){ string->at + from, (uint32_t)(to - from), string->escaped };
}

static uint32_t host_op(struct chrome *chrome, uint32_t category, const struct dw_json_string *name)
{
	return chrome_op_of(chrome, category, chrome_text_of(chrome, name), 0, 0, 0, 0);
}

static void host_add(struct chrome *chrome, const struct chrome_event *event,
                     struct dw_sort_event *item)
{
	struct chrome_process *process;

	item->thread = chrome_thread_of(chrome, event);
	if (item->thread == UINT32_MAX)
		return;
	if (chrome->graphs && chrome->graphs->places) {
		item->start_ns = event->start_ns;
		item->kind = item->kind == CHROME_STEP ? CHROME_RANGE : item->kind;
		chrome->failed |= !DW_APPEND(&chrome->graphs->ranges, &chrome->graphs->range_capacity, &chrome->graphs->range_count, *item);
		return;
	}
	process = &chrome->processes[chrome->threads[item->thread].process];
	item->start_ns = (int64_t)chrome_start_ns(chrome, event);
	if (item->start_ns < process->first_ns)
		process->first_ns = item->start_ns;
	process->calls += item->kind == CHROME_CALL;
	dw_sort_add(&chrome->sort, item);
}

/* ---- PyTorch's threads ---------------------------------------------------------------------- */

/*
 * Finds which thread has PyTorch's number of a thread ("Fwd thread id"). A forward operator has 0
 * there. Its backward operator has the same sequence number, and the number of the forward thread.
 * A majority decides which thread has a number (Boyer and Moore): other operators repeat sequence
 * numbers, and a later sequence number overwrites an earlier one in the table.
 */
static void host_vote(struct chrome *chrome, uint64_t sequence, uint64_t number, uint32_t thread)
{
	struct chrome_vote *vote = &chrome->votes[sequence % CHROME_VOTES];

	if (vote->sequence != sequence + 1)
		*vote = (struct chrome_vote){ sequence + 1, UINT32_MAX, 0 };
	if (number)
		vote->number = number < CHROME_FORWARD_THREADS ? (uint32_t)number : 0;
	else
		vote->thread = thread;
	if (!vote->number || vote->thread == UINT32_MAX)
		return;
	if (!chrome->forward[vote->number].count)
		chrome->forward[vote->number].thread = vote->thread;
	if (chrome->forward[vote->number].thread == vote->thread)
		chrome->forward[vote->number].count++;
	else
		chrome->forward[vote->number].count--;
}

uint32_t chrome_forward_thread(const struct chrome *chrome, uint32_t number)
{
	return number && number < CHROME_FORWARD_THREADS && chrome->forward[number].count
	           ? chrome->forward[number].thread : UINT32_MAX;
}

/* ---- ranges ----------------------------------------------------------------------------------- */

static void host_put_operator(struct chrome *chrome, const struct chrome_event *event,
                              struct dw_sort_event *item)
{
	uint64_t sequence = chrome_unsigned(event, CHROME_SEQUENCE, UINT64_MAX);
	uint64_t number = chrome_unsigned(event, CHROME_FORWARD_THREAD, 0);

	item->op = chrome_op_of(chrome, DWELL_CATEGORY_OPERATOR, chrome_text_of(chrome, &event->name), 0,
	                        chrome_shapes_of(chrome, event), 0, 0);
	item->kind = CHROME_RANGE;
	if (chrome_has(event, CHROME_COLLECTIVE))
		item->more = chrome_json_of(chrome, &event->args);
	if (sequence < UINT64_MAX) {
		item->value = sequence + 1;
		item->extra = number < CHROME_FORWARD_THREADS ? (uint32_t)number : 0;
		host_vote(chrome, sequence, number, chrome_thread_of(chrome, event));
	}
	host_add(chrome, event, item);
}

/* "## forward ##" names a phase; so do PyTorch's own annotations of optimizers and loaders. Those of
 * collectives have shapes. */
static uint32_t host_annotation_op(struct chrome *chrome, const struct chrome_event *event)
{
	static const struct { const char *begin, *name; uint32_t category; } known[] = {
		{ "Optimizer.step#", "optimizer", DWELL_CATEGORY_PHASE },
		{ "Optimizer.zero_grad#", "optimizer", DWELL_CATEGORY_PHASE },
		{ "enumerate(DataLoader)#", "DataLoader.__next__", DWELL_CATEGORY_DATA },
	};
	static const char *const phases[] = { "forward", "backward", "optimizer" };
	const struct dw_json_string *name = &event->name;
	size_t from = 0, to = name->length;
	bool communicates = host_begins(name, "nccl:") || host_begins(name, "gloo:");

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (host_begins(name, known[i].begin)) {
			struct dw_json_string rest = host_part(name, strlen(known[i].begin), name->length);

			return chrome_op_of(chrome, known[i].category, chrome_text_plain(chrome, known[i].name),
			                    chrome_text_of(chrome, &rest), 0, 0, 0);
		}
	while (from < to && (name->at[from] == '#' || name->at[from] == ' '))
		from++;
	while (to > from && (name->at[to - 1] == '#' || name->at[to - 1] == ' '))
		to--;
	for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
		if (to - from == strlen(phases[i]) && memcmp(name->at + from, phases[i], to - from) == 0)
			return chrome_op_of(chrome, DWELL_CATEGORY_PHASE, chrome_text_plain(chrome, phases[i]),
			                    from ? chrome_text_of(chrome, name) : 0, 0, 0, 0);
	return chrome_op_of(chrome, communicates ? DWELL_CATEGORY_COMMUNICATION : DWELL_CATEGORY_ZONE,
	                    chrome_text_of(chrome, name), 0, chrome_shapes_of(chrome, event), 0, 0);
}

/* The number in "ProfilerStep#12" or "ProfilerStep*"; false: the name is no step's. */
static bool host_step_number(const struct dw_json_string *name, uint64_t *number)
{
	size_t at = sizeof STEP_NAME - 1;

	*number = 0;
	if (!host_begins(name, STEP_NAME) || name->length == at || name->length - at > 18)
		return false;
	for (; at < name->length; at++) {
		if (!isdigit((unsigned char)name->at[at]))
			return false;
		*number = *number * 10 + (uint64_t)(name->at[at] - '0');
	}
	return true;
}

/*
 * "nn.Module: Conv2d_3" is a call of a module, the fourth of its class. Its name is a path below
 * the module around it. "train.py(12): step" is a function; "<built-in method ...>" one without a
 * file.
 */
static uint32_t host_python_op(struct chrome *chrome, const struct dw_json_string *name)
{
	static const char module[] = "nn.Module: ";
	struct dw_json_string first, second;
	const char *colon, *open;
	uint64_t line = 0;

	if (host_begins(name, module)) {
		size_t end = name->length;

		while (end > sizeof module && isdigit((unsigned char)name->at[end - 1]))
			end--;
		if (end == name->length || name->at[end - 1] != '_')
			end = name->length + 1;
		first = host_part(name, sizeof module - 1, name->length);
		second = host_part(name, sizeof module - 1, end - 1);
		return chrome_op_of(chrome, DWELL_CATEGORY_LAYER, chrome_text_of(chrome, &first),
		                    chrome_text_of(chrome, &second), 0, 0, 0);
	}
	colon = memmem(name->at, name->length, "): ", 3);
	open = colon ? memrchr(name->at, '(', (size_t)(colon - name->at)) : NULL;
	if (!open || open == name->at || colon == open + 1 || colon - open > 10)
		return host_op(chrome, DWELL_CATEGORY_FUNCTION, name);
	for (const char *at = open + 1; at < colon; at++) {
		if (!isdigit((unsigned char)*at))
			return host_op(chrome, DWELL_CATEGORY_FUNCTION, name);
		line = line * 10 + (uint64_t)(*at - '0');
	}
	first = host_part(name, 0, (size_t)(open - name->at));
	second = host_part(name, (size_t)(colon + 3 - name->at), name->length);
	return chrome_op_of(chrome, DWELL_CATEGORY_FUNCTION, chrome_text_of(chrome, &second), 0, 0,
	                    chrome_text_of(chrome, &first), line < UINT32_MAX ? (uint32_t)line : 0);
}

/* The operator of a node of an older ONNX Runtime, which has no `op_name`: "Conv" of "/block/Conv_12". */
static struct dw_json_string host_operator_of_node(const struct dw_json_string *node)
{
	const char *slash = memrchr(node->at, '/', node->length);
	size_t from = slash ? (size_t)(slash + 1 - node->at) : 0, to = node->length, end = to;

	while (end > from && isdigit((unsigned char)node->at[end - 1]))
		end--;
	if (end < to && end > from + 1 && node->at[end - 1] == '_')
		to = end - 1;
	return from < to ? host_part(node, from, to) : *node;
}

/*
 * ONNX Runtime: "/fc1/MatMul_kernel_time" is a node, whose operator is an argument. Older versions
 * also have "_fence_before" and "_fence_after". A run of the model is a step. The profiler stores an
 * event when it ends, so nodes without a run behind them belong to a run whose end is missing.
 */
static void host_put_node(struct chrome *chrome, const struct chrome_event *event,
                          struct dw_sort_event *item)
{
	static const char suffix[] = "_kernel_time";
	const struct chrome_value *op = &event->values[CHROME_OP_NAME];
	struct dw_json_string node = event->name, name;

	chrome->runtime_events++;
	chrome->nodes_after_run++;
	if (chrome_has(event, CHROME_OP_NAME) && op->kind != CHROME_TEXT && !event->wrong_type)
		chrome_count(chrome, &chrome->wrong);
	if (node.length <= strlen(suffix) || memcmp(node.at + node.length - strlen(suffix), suffix, strlen(suffix)) != 0 ||
	    (chrome_has(event, CHROME_OP_NAME) && op->kind != CHROME_TEXT)) {
		item->op = host_op(chrome, DWELL_CATEGORY_ZONE, &event->name);
		return;
	}
	node.length -= (uint32_t)strlen(suffix);
	name = chrome_has(event, CHROME_OP_NAME) ? op->text : host_operator_of_node(&node);
	item->op = chrome_op_of(chrome, DWELL_CATEGORY_OPERATOR, chrome_text_of(chrome, &name),
	                        chrome_text_of(chrome, &node), chrome_shapes_of(chrome, event), 0, 0);
}

static void host_put_session(struct chrome *chrome, const struct chrome_event *event,
                             struct dw_sort_event *item)
{
	chrome->runtime_events++;
	item->op = host_op(chrome, DWELL_CATEGORY_ZONE, &event->name);
	if (!DW_JSON_IS(&event->name, "model_run"))
		return;
	chrome->nodes_after_run = 0;
	if (event->length_ns) {
		item->kind = CHROME_STEP;
		item->value = chrome->runs++;
	}
}

static void host_put_range(struct chrome *chrome, const struct chrome_event *event)
{
	struct dw_sort_event item = { .length_ns = (uint64_t)event->length_ns, .kind = CHROME_RANGE };

	switch (event->category) {
	case CHROME_IS_OPERATOR: host_put_operator(chrome, event, &item); return;
	case CHROME_IS_ANNOTATION:
		if (host_step_number(&event->name, &item.value) && event->length_ns)
			item.kind = CHROME_STEP;
		else
			item.value = 0;
		item.op = item.kind == CHROME_STEP ? host_op(chrome, DWELL_CATEGORY_ZONE, &event->name)
		                                   : host_annotation_op(chrome, event);
		break;
	case CHROME_IS_PYTHON: item.op = host_python_op(chrome, &event->name); break;
	case CHROME_IS_RUNTIME:
		item.kind = CHROME_CALL;
		item.value = chrome_unsigned(event, CHROME_CORRELATION, 0);
		item.op = host_op(chrome, DWELL_CATEGORY_RUNTIME, &event->name);
		chrome->devices.hip |= host_begins(&event->name, "hip");
		if (chrome->graphs)
			chrome_graphs_count(chrome, event);
		break;
	case CHROME_IS_NODE: host_put_node(chrome, event, &item); break;
	case CHROME_IS_SESSION: host_put_session(chrome, event, &item); break;
	case CHROME_IS_COMMUNICATION:
		item.op = host_op(chrome, DWELL_CATEGORY_COMMUNICATION, &event->name);
		break;
	case CHROME_IS_OVERHEAD: item.op = host_op(chrome, DWELL_CATEGORY_PROFILER, &event->name); break;
	default:
		item.op = host_op(chrome, DWELL_CATEGORY_ZONE, &event->name);
		if (event->args.length > 2)
			item.more = chrome_json_of(chrome, &event->args);
	}
	host_add(chrome, event, &item);
}

void chrome_take_range(struct chrome *chrome, const struct chrome_event *event)
{
	host_put_range(chrome, event);
}

/* ---- events that are no ranges ------------------------------------------------------------------ */

/* "[memory]": an allocation, or with a negative number of bytes a free. */
static void host_put_memory(struct chrome *chrome, const struct chrome_event *event)
{
	int64_t bytes = chrome_integer(event, CHROME_MEMORY_BYTES, 0);
	int64_t type = chrome_integer(event, CHROME_DEVICE_TYPE, 0);
	int64_t index = chrome_integer(event, CHROME_DEVICE_ID, 0);
	struct dw_sort_event item = { .value = chrome_unsigned(event, CHROME_ADDRESS, 0) };
	char device[32] = "cpu";

	if (type)
		snprintf(device, sizeof device, "%s:%d", type == 1 ? "cuda" : "device", (int)(index & 0xffff));
	item.kind = bytes < 0 ? CHROME_FREE : CHROME_ALLOC;
	item.more = (uint64_t)bytes;
	item.op = chrome_op_of(chrome, DWELL_CATEGORY_ALLOCATION, chrome_text_plain(chrome, "other"),
	                       chrome_text_plain(chrome, device), 0, 0, 0);
	host_add(chrome, event, &item);
}

static void host_put_instant(struct chrome *chrome, const struct chrome_event *event)
{
	struct dw_sort_event item = { .kind = CHROME_MARK };

	if (DW_JSON_IS(&event->name, "[memory]") && chrome_has(event, CHROME_ADDRESS)) {
		host_put_memory(chrome, event);
		return;
	}
	if (DW_JSON_IS(&event->name, "Record Window End") || host_begins(&event->name, "Iteration Start: "))
		return; /* Kineto's own marks belong to no thread */
	item.op = host_op(chrome, DWELL_CATEGORY_MARK, &event->name);
	host_add(chrome, event, &item);
}

/* The next number of the members of `args`. False: there is none. */
static bool host_next_number(struct dw_json *json, const char **at, struct dw_json_string *member, double *value)
{
	struct dw_json_number number;

	while (*at && **at == '"') {
		bool is_number;

		*at = dw_json_read_string(json, *at, member);
		if (!*at)
			return false;
		*at = dw_json_space(dw_json_space(*at) + 1); /* behind the colon */
		is_number = (**at >= '0' && **at <= '9') || (**at == '-' && isdigit((unsigned char)(*at)[1]));
		*at = is_number ? dw_json_read_number(json, *at, &number) : dw_json_skip(json, *at);
		if (*at && *(*at = dw_json_space(*at)) == ',')
			*at = dw_json_space(*at + 1);
		if (is_number) {
			*value = dw_json_double(&number);
			return true;
		}
	}
	return false;
}

static void host_put_counters(struct chrome *chrome, const struct chrome_event *event)
{
	struct dw_json json = { .end = chrome->json.end, .last = true, .lenient = true };
	const char *first = event->args.length ? dw_json_space(event->args.at + 1) : "}", *at = first;
	struct dw_json_string member;
	unsigned members = 0;
	double value;

	while (host_next_number(&json, &at, &member, &value))
		members++;
	for (at = first; host_next_number(&json, &at, &member, &value);) {
		struct dw_sort_event item = { .kind = CHROME_COUNTER };

		memcpy(&item.value, &value, sizeof value);
		item.op = chrome_counter_op(chrome, event, &member, members);
		host_add(chrome, event, &item);
	}
}

static void host_put_handle(struct chrome *chrome, const struct chrome_event *event, uint32_t kind,
                            uint32_t category)
{
	struct dw_sort_event item = { .kind = kind };
	uint64_t key = chrome_key_of(chrome, &event->id);

	item.op = host_op(chrome, category, &event->name);
	item.value = chrome_hash(key, event->cat.at, event->cat.length);
	host_add(chrome, event, &item);
}

void chrome_put_async(struct chrome *chrome, const struct chrome_event *event, uint32_t kind, const struct dw_json_string *name,
                      const char *detail, uint64_t handle, uint32_t count)
{
	struct dw_sort_event item = { .kind = kind, .value = handle, .more = count };

	item.op = chrome_op_of(chrome, DWELL_CATEGORY_ZONE, chrome_text_of(chrome, name), detail ? chrome_text_plain(chrome, detail) : 0,
	                       0, 0, 0);
	host_add(chrome, event, &item);
}

static void host_put_flow(struct chrome *chrome, const struct chrome_event *event)
{
	if (event->category == CHROME_IS_LAUNCH_FLOW || event->category == CHROME_IS_BACKWARD_FLOW)
		return;
	if (event->category == CHROME_IS_LAUNCH_NUMBER) {
		struct dw_sort_event item = { .kind = CHROME_LAUNCHED, .value = chrome_unsigned(event, CHROME_CORRELATION, 0) };

		host_add(chrome, event, &item);
		return;
	}
	if (event->phase != 's')
		host_put_handle(chrome, event, CHROME_FLOW_IN, DWELL_CATEGORY_FLOW);
	if (event->phase != 'f')
		host_put_handle(chrome, event, CHROME_FLOW_OUT, DWELL_CATEGORY_FLOW);
}

static void host_put_open(struct chrome *chrome, const struct chrome_event *event)
{
	struct dw_sort_event item = { .kind = event->phase == 'B' ? CHROME_BEGIN : CHROME_END };

	item.extra = chrome_text_of(chrome, &event->name);
	if (item.kind == CHROME_BEGIN) {
		if (item.extra)
			chrome->names.texts[item.extra - 1].begins = true;
		item.op = event->category == CHROME_IS_PYTHON ? host_python_op(chrome, &event->name)
		          : host_op(chrome, event->category == CHROME_IS_OPERATOR ? DWELL_CATEGORY_OPERATOR
		                                                                  : DWELL_CATEGORY_ZONE,
		                    &event->name);
		if (event->args.length > 2)
			item.more = chrome_json_of(chrome, &event->args);
	}
	host_add(chrome, event, &item);
}

/* ---- all ---------------------------------------------------------------------------------------- */

/* Counts an event of an unknown phase, and keeps the phase for the note. */
static void host_count_phase(struct chrome *chrome, char phase)
{
	size_t used = strlen(chrome->phases);
	char one[4] = { '?', '\0' };

	if (phase > ' ' && phase < 0x7f)
		one[0] = phase;
	if (!strstr(chrome->phases, one) && used + 4 < sizeof chrome->phases)
		snprintf(chrome->phases + used, sizeof chrome->phases - used, "%s%s", used ? " " : "", one);
	chrome_count(chrome, &chrome->unknown_phase);
}

static void host_take_phase(struct chrome *chrome, const struct chrome_event *event)
{
	switch (event->phase) {
	case 'X':
		if (event->category == CHROME_IS_SPAN)
			return;
		if ((event->category >= CHROME_IS_KERNEL && event->category <= CHROME_IS_DEVICE_ANNOTATION) ||
		    event->category == CHROME_IS_GRAPH)
			chrome_take_device(chrome, event);
		else
			host_put_range(chrome, event);
		return;
	case 'B': case 'E': host_put_open(chrome, event); return;
	case 'i': case 'I': case 'R': case 'n': host_put_instant(chrome, event); return;
	case 'C': host_put_counters(chrome, event); return;
	case 's': case 't': case 'f': host_put_flow(chrome, event); return;
	case 'b': case 'S':
		host_put_handle(chrome, event, CHROME_ASYNC_BEGIN, DWELL_CATEGORY_ZONE);
		return;
	case 'e': case 'F':
		host_put_handle(chrome, event, CHROME_ASYNC_END, DWELL_CATEGORY_ZONE);
		return;
	case 'c': chrome_take_clock_mark(chrome, event); return;
	default: host_count_phase(chrome, event->phase);
	}
}

void chrome_take_event(struct chrome *chrome, const struct chrome_event *event)
{
	bool timeless = !event->has_start && event->phase != 'M'; /* no time, no number, or one that is out of range */

	if (!event->phase && timeless && !event->wrong_type && !event->name.length && !event->args.length)
		return; /* an empty object, with which some lists begin so that each event has a comma before it */
	chrome->events++;
	if (timeless)
		chrome_count(chrome, &chrome->timeless);
	else if (event->wrong_type)
		chrome_count(chrome, &chrome->wrong);
	if (event->negative_length)
		chrome_count(chrome, &chrome->negative);
	if (event->has_stack)
		chrome_count(chrome, &chrome->stacks);
	if (event->phase == 'X' && !event->has_length && !event->wrong_type && !timeless)
		chrome_count(chrome, &chrome->endless);
	if (event->phase == 'M')
		chrome_take_metadata(chrome, event);
	else if (!timeless)
		host_take_phase(chrome, event);
}
