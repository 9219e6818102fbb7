/* What a stack of calls says that a thread does: where Python, its own modules, installed packages and native code call each other. */
#include "made_steps.h"

#define MOST 8u

/* A frame: of Python, if its file is code of Python, or of a native library. The innermost first. */
struct frame {
	const char *file, *function;
};

#define SCRIPT "/srv/train.py"
#define STDLIB(file) "/usr/lib/python3.11/" file
#define PACKAGE(file) "/usr/lib/python3.11/site-packages/" file
#define PYTHON "/usr/lib/libpython3.11.so.1.0"
#define NUMPY "/py/numpy/_multiarray_umath.so"
#define TORCH "/py/torch/lib/libtorch_python.so"
#define LIBC "/usr/lib/libc.so.6"
#define TOP { PYTHON, "Py_RunMain" }

struct stack {
	struct frame frames[MOST];
	enum dw_activity activity;
};

static uint32_t encode_frame(const struct frame *frame)
{
	bool python = strstr(frame->file, ".py") != NULL;

	return python ? dw_encode_frame(&made.process, frame->function, frame->file, 7)
	              : dw_encode_frame_in(&made.process, frame->file, frame->function);
}

/* The id of the innermost frame, and of the stack of its callers. */
static uint32_t encode_stack(const struct stack *stack, uint32_t *callers)
{
	uint32_t ids[MOST], count = 0;

	while (count < MOST && stack->frames[count].file) {
		ids[count] = encode_frame(&stack->frames[count]);
		count++;
	}
	*callers = dw_encode_stack(&made.process, ids + 1, count - 1);
	return ids[0];
}

static const char *child_cpu_ns; /* NULL: the process has no child */

static void add_child(void)
{
	struct dw_encode_process child;

	dw_encode_process_init(&child, &made.encode, made.process.id)->pid = 4711;
	dw_encode_meta(&child, DW_KEY_PROCESS_CPU_NS, child_cpu_ns, true);
}

/* 20 steps of 20 ms, of which the first half is in this stack, and the second one in the script itself. */
static const struct dw_account *account_of_stack(const struct stack *stack, bool waits)
{
	static const struct stack script = { { { SCRIPT, "train" }, TOP }, DW_ACTIVITY_INTERPRETER };
	uint32_t callers, of_script, frame, own;

	begin_run(DW_PROCESS_PYTHON, 0);
	if (child_cpu_ns)
		add_child();
	frame = encode_stack(stack, &callers);
	own = encode_stack(&script, &of_script);
	for (unsigned step = 0; step < 20; step++) {
		begin_step();
		for (unsigned t = 0; t < 10 && !waits; t++)
			dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, frame, callers, 1);
		now_ms += 10;
		if (waits)
			dw_encode_wait(&made.stream, now_ms * MS - MS / 2, frame, callers, 10);
		for (unsigned t = 0; t < 10; t++)
			dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, own, of_script, 1);
		now_ms += 10;
		kernel.run_ms += waits ? 10 : 20;
		kernel.wait_ms += waits ? 10 : 0;
		end_step();
	}
	return account();
}

static void check_stacks(const struct stack *stacks, size_t count, bool waits)
{
	for (size_t i = 0; i < count; i++) {
		const struct dw_account *of = account_of_stack(&stacks[i], waits);
		enum dw_account_state state = waits ? DW_ACCOUNT_WAITS : DW_ACCOUNT_RUNS;
		double ms;

		REQUIRE(of);
		ms = ms_of(of, -1, (int)state, (int)stacks[i].activity);
		ms -= stacks[i].activity == DW_ACTIVITY_INTERPRETER ? 200 : 0;
		if (fabs(ms - 200) > 2)
			CHECK_FAIL("%s in %s: %g ms of 200 are %s", stacks[i].frames[0].function, stacks[i].frames[0].file, ms,
			           dw_activity_name(stacks[i].activity));
		made_close(&made);
	}
}

/* Python is what the interpreter does for the program's own code, and for Python's modules that it calls. */
TEST(python_is_code_of_the_program_and_not_of_libraries)
{
	static const struct stack stacks[] = {
		{ { { PYTHON, "PyNumber_Add" }, { SCRIPT, "sum_up" }, TOP }, DW_ACTIVITY_INTERPRETER },
		{ { { PYTHON, "PyObject_GetAttr" }, { STDLIB("statistics.py"), "mean" }, { SCRIPT, "sum_up" }, TOP }, DW_ACTIVITY_INTERPRETER },
		{ { { PYTHON, "PyObject_GetAttr" }, { PACKAGE("torch/nn/module.py"), "Module._call_impl" }, { SCRIPT, "train" }, TOP },
		  DW_ACTIVITY_PACKAGE },
		{ { { PACKAGE("torch/optim/adam.py"), "Adam.step" }, { SCRIPT, "train" }, TOP }, DW_ACTIVITY_PACKAGE },
		{ { { STDLIB("functools.py"), "wrap" }, { PACKAGE("pandas/frame.py"), "iterrows" }, { SCRIPT, "train" }, TOP }, DW_ACTIVITY_PACKAGE },
		{ { { PYTHON, "dict_get" }, { SCRIPT, "collate" }, { PACKAGE("torch/utils/data/fetch.py"), "fetch" }, { SCRIPT, "train" }, TOP },
		  DW_ACTIVITY_INTERPRETER },
	};

	check_stacks(stacks, sizeof stacks / sizeof *stacks, false);
}

TEST(native_code_of_libraries_is_not_python)
{
	static const struct stack stacks[] = {
		{ { { NUMPY, "DOUBLE_add_AVX2" }, { NUMPY, "reduce_loop" }, { PACKAGE("numpy/_methods.py"), "_sum" }, { SCRIPT, "lloyd" }, TOP },
		  DW_ACTIVITY_ALGEBRA },
		{ { { NUMPY, "mapiter_set" }, { NUMPY, "array_assign_subscript" }, { SCRIPT, "lloyd" }, TOP }, DW_ACTIVITY_PACKAGE },
		{ { { TORCH, "THPVariable_linear" }, { PYTHON, "cfunction_call" }, { PACKAGE("torch/nn/linear.py"), "Linear.forward" },
		    { SCRIPT, "train" }, TOP },
		  DW_ACTIVITY_UNKNOWN },
	};

	check_stacks(stacks, sizeof stacks / sizeof *stacks, false);
}

/* The native frames could not be read: what ran is not known. */
TEST(a_stack_of_python_alone_is_not_python)
{
	static const struct stack stacks[] = {
		{ { { SCRIPT, "simulate" }, { SCRIPT, "train" } }, DW_ACTIVITY_UNKNOWN },
		{ { { PACKAGE("torch/nn/lstm.py"), "LSTM.forward" }, { SCRIPT, "train" } }, DW_ACTIVITY_UNKNOWN },
	};

	check_stacks(stacks, sizeof stacks / sizeof *stacks, false);
}

TEST(libraries_do_what_their_rows_say)
{
	static const struct stack stacks[] = {
		{ { { "/usr/lib/libsqlite3.so.0", "sqlite3VdbeExec" }, { "/usr/lib/libsqlite3.so.0", "sqlite3_step" },
		    { PYTHON, "_pysqlite_query_execute" }, { SCRIPT, "by_customer" }, TOP },
		  DW_ACTIVITY_QUERIES },
		{ { { PYTHON, "PyObject_GetAttr" }, { STDLIB("traceback.py"), "extract" },
		    { TORCH, "torch::autograd::PyAnomalyMetadata::store_stack()" }, { TORCH, "THPVariable_linear" },
		    { PACKAGE("torch/nn/linear.py"), "Linear.forward" }, { SCRIPT, "train" }, TOP },
		  DW_ACTIVITY_CHECKS },
		{ { { PYTHON, "float_dealloc" }, { NUMPY, "clear_object_strided_loop" }, { NUMPY, "PyArray_ClearArray" }, { PYTHON, "_Py_Dealloc" },
		    { SCRIPT, "pay_zones" }, TOP },
		  DW_ACTIVITY_OBJECTS },
		{ { { "/srv/scene.so", "std::_Sp_counted_base::_M_release" }, { "/srv/scene.so", "closest" }, { SCRIPT, "train" }, TOP },
		  DW_ACTIVITY_COUNTS },
		{ { { LIBC, "free" }, { "/srv/scene.so", "std::_Sp_counted_base::_M_release" }, { "/srv/scene.so", "closest" }, { SCRIPT, "train" },
		    TOP },
		  DW_ACTIVITY_FREES },
		{ { { LIBC, "libc.so.6+0x8dc50" }, { "/srv/queue.so", "__gthread_mutex_unlock" }, { "/srv/queue.so", "send" }, { SCRIPT, "train" },
		    TOP },
		  DW_ACTIVITY_LOCK },
		{ { { "/usr/lib/libgcc_s.so.1", "_Unwind_Find_FDE" }, { "/usr/lib/libgcc_s.so.1", "_Unwind_RaiseException" },
		    { "/usr/lib/libstdc++.so.6", "__cxa_throw" }, { "/srv/parse.so", "number" }, { SCRIPT, "train" }, TOP },
		  DW_ACTIVITY_THROWS },
	};

	check_stacks(stacks, sizeof stacks / sizeof *stacks, false);
}

/* What the program's innermost function calls has a name that people call: not one that a library keeps for itself, nor that of
 * the interpreter's functions. Its kind is in no list. */
TEST(the_function_that_the_program_calls_is_known)
{
	static const struct {
		struct stack stack;
		const char *callee;
	} calls[] = {
		{ { { { PYTHON, "dict_get" }, { STDLIB("copy.py"), "_deepcopy_dict" }, { STDLIB("copy.py"), "deepcopy" }, { SCRIPT, "settings" }, TOP },
		    DW_ACTIVITY_COPIES }, "copy.deepcopy" },
		{ { { { STDLIB("re/_parser.py"), "parse" }, { STDLIB("re/_compiler.py"), "compile" }, { STDLIB("re/__init__.py"), "compile" },
		      { SCRIPT, "route_of" }, TOP },
		    DW_ACTIVITY_COMPILES }, "re.compile" },
		{ { { { STDLIB("random.py"), "Random.choices" }, { SCRIPT, "batch" }, TOP }, DW_ACTIVITY_RANDOM }, "Random.choices" },
		{ { { { PYTHON, "list_insert" }, { SCRIPT, "put" }, TOP }, DW_ACTIVITY_INTERPRETER }, "" },
		{ { { { NUMPY, "array_stddev" }, { SCRIPT, "put" }, TOP }, DW_ACTIVITY_PACKAGE }, "" }, /* is array.std() there */
		{ { { { NUMPY, "array_sort" }, { PACKAGE("numpy/core/fromnumeric.py"), "sort" }, { SCRIPT, "put" }, TOP }, DW_ACTIVITY_PACKAGE },
		  "fromnumeric.sort" },
		{ { { { PACKAGE("torch/nn/module.py"), "Module._call_impl" }, { SCRIPT, "train" }, TOP }, DW_ACTIVITY_PACKAGE }, "" },
		{ { { { TORCH, "THPVariable_linear" }, { SCRIPT, "train" }, TOP }, DW_ACTIVITY_UNKNOWN }, "" },
		{ { { { LIBC, "libc.so.6+0x5c400" }, { LIBC, "snprintf" }, { "/srv/rows.so", "put" }, { SCRIPT, "train" }, TOP },
		    DW_ACTIVITY_TEXT }, "snprintf" },
		{ { { { "/srv/rows.so", "std::__introsort_loop<int*>(int*)" }, { "/srv/rows.so", "void std::sort<int*>(int*, int*)" },
		      { "/srv/rows.so", "order" }, { SCRIPT, "train" }, TOP }, DW_ACTIVITY_OWN }, "std::sort" },
		{ { { { "/srv/rows.so", "operator[]" }, { "/srv/rows.so", "order" }, { SCRIPT, "train" }, TOP }, DW_ACTIVITY_OWN }, "" },
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		const struct dw_account *of = account_of_stack(&calls[i].stack, false);
		struct dw_account_select select = dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL);
		struct dw_account_sum sum;
		char text[80];

		REQUIRE(of);
		if (calls[i].stack.activity != DW_ACTIVITY_INTERPRETER)
			select = dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL & ~DW_ACTIVITY_SET(INTERPRETER));
		sum = dw_account_sum(of, &select);
		CHECK_STR(dw_account_callee(&sum, text), calls[i].callee);
		made_close(&made);
	}
}

/* Of a stripped program no function has a name. Its time is its own, and not that of what started it. */
TEST(code_of_a_stripped_program_is_its_own)
{
	static const struct stack stripped[] = {
		{ { { "/srv/engine", "engine+0x1149" }, { "/srv/engine", "engine+0x1182" }, { LIBC, "__libc_start_call_main" }, { "/srv/engine", "_start" } },
		  DW_ACTIVITY_OWN },
		{ { { "memfd:packed (deleted)", "memfd:packed (deleted)+0x1149" }, { LIBC, "__libc_start_main" } }, DW_ACTIVITY_OWN },
		{ { { LIBC, "malloc" }, { "/srv/engine", "engine+0x1149" }, { LIBC, "__libc_start_call_main" } }, DW_ACTIVITY_ALLOCATES },
	};

	check_stacks(stripped, sizeof stripped / sizeof *stripped, false);
}

#define WORKER { STDLIB("multiprocessing/process.py"), "BaseProcess._bootstrap" }, { STDLIB("multiprocessing/popen_fork.py"), "Popen._launch" }

/* Objects that are passed to another process are pickled, whatever carries them. */
TEST(what_passes_between_processes_is_pickled)
{
	static const struct stack stacks[] = {
		{ { { PYTHON, "save_dict" }, { PYTHON, "_pickle_Pickler_dump" }, { STDLIB("multiprocessing/reduction.py"), "ForkingPickler.dumps" },
		    { STDLIB("multiprocessing/connection.py"), "_ConnectionBase.send" }, { STDLIB("multiprocessing/pool.py"), "Pool._handle_tasks" }, TOP },
		  DW_ACTIVITY_PICKLES },
		{ { { PYTHON, "load_build" }, { PYTHON, "_pickle_loads" }, { STDLIB("multiprocessing/queues.py"), "SimpleQueue.get" }, WORKER,
		    { SCRIPT, "run" }, TOP },
		  DW_ACTIVITY_PICKLES },
		{ { { LIBC, "read" }, { PYTHON, "os_read" }, { STDLIB("multiprocessing/queues.py"), "SimpleQueue.get" }, WORKER, { SCRIPT, "run" }, TOP },
		  DW_ACTIVITY_PICKLES },
		{ { { PYTHON, "PyNumber_Add" }, { SCRIPT, "simulate" }, { STDLIB("multiprocessing/pool.py"), "worker" }, WORKER, { SCRIPT, "run" }, TOP },
		  DW_ACTIVITY_INTERPRETER },
	};

	check_stacks(stacks, sizeof stacks / sizeof *stacks, false);
}

/* A comprehension is code of the function that it is in, and who calls a function is another one. */
TEST(a_place_is_a_function_and_its_caller_another_one)
{
	static const struct stack stacks[] = {
		{ { { SCRIPT, "Side.depth.<locals>.<listcomp>.<locals>.<genexpr>" }, { SCRIPT, "Side.depth.<locals>.<listcomp>" },
		    { SCRIPT, "Side.depth" }, { SCRIPT, "snapshot" }, { SCRIPT, "<module>" }, TOP },
		  DW_ACTIVITY_INTERPRETER },
		{ { { SCRIPT, "Side.depth" }, { SCRIPT, "Side.depth" }, { SCRIPT, "snapshot" }, { SCRIPT, "<module>" }, TOP },
		  DW_ACTIVITY_INTERPRETER },
		{ { { PYTHON, "PyNumber_Add" }, { SCRIPT, "Side.depth.<locals>.<dictcomp>" }, { SCRIPT, "snapshot" }, TOP }, DW_ACTIVITY_INTERPRETER },
	};

	for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
		const struct dw_account *of = account_of_stack(&stacks[i], false);
		bool found = false;

		REQUIRE(of);
		for (size_t c = 0; c < of->count; c++)
			for (size_t p = 0; p < of->cells[c].place_count; p++) {
				const struct dw_account_place *place = &of->cells[c].places[p];

				CHECK(!strchr(place->function->name, '<') || strcmp(place->function->name, "<module>") == 0);
				if (strcmp(place->function->name, "Side.depth") != 0)
					continue;
				found = true;
				CHECK_NEAR(place->self_ns, place->ns, 1);
				REQUIRE(place->caller);
				CHECK_STR(place->caller->name, "snapshot");
			}
		CHECK(found);
		made_close(&made);
	}
}

/* The innermost function says how a thread waits; the functions that called it, for what. */
TEST(a_wait_is_for_what_its_callers_wait_for)
{
	static const struct stack stacks[] = {
		{ { { LIBC, "sem_wait" }, { PYTHON, "lock_PyThread_acquire_lock" }, { SCRIPT, "Metrics.record" }, TOP }, DW_ACTIVITY_LOCK },
		{ { { LIBC, "sem_wait" }, { PYTHON, "lock_PyThread_acquire_lock" }, { STDLIB("threading.py"), "Condition.wait" },
		    { STDLIB("queue.py"), "Queue.get" }, { SCRIPT, "take" }, TOP },
		  DW_ACTIVITY_THREAD },
		{ { { LIBC, "poll" }, { PYTHON, "select_poll_poll" }, { STDLIB("subprocess.py"), "Popen._communicate" },
		    { STDLIB("subprocess.py"), "run" }, { SCRIPT, "sign" }, TOP },
		  DW_ACTIVITY_CHILD },
		{ { { LIBC, "read" }, { STDLIB("subprocess.py"), "Popen._execute_child" }, { SCRIPT, "sign" }, TOP }, DW_ACTIVITY_CHILD },
		{ { { LIBC, "poll" }, { PYTHON, "select_poll_poll" }, { STDLIB("selectors.py"), "PollSelector.select" }, { SCRIPT, "serve" }, TOP },
		  DW_ACTIVITY_SOCKET },
		/* A worker of a pool waits for its parent; what the parent called when it forked the worker is not the worker's. */
		{ { { LIBC, "read" }, { PYTHON, "os_read" }, { STDLIB("multiprocessing/queues.py"), "SimpleQueue.get" }, WORKER, { SCRIPT, "run" }, TOP },
		  DW_ACTIVITY_CHILD },
		{ { { LIBC, "sem_wait" }, { PYTHON, "lock_PyThread_acquire_lock" }, { SCRIPT, "Metrics.record" }, WORKER, { SCRIPT, "run" }, TOP },
		  DW_ACTIVITY_LOCK },
	};

	check_stacks(stacks, sizeof stacks / sizeof *stacks, true);
}

#define POOL { STDLIB("threading.py"), "Condition.wait" }, { STDLIB("multiprocessing/pool.py"), "ApplyResult.wait" }, { SCRIPT, "pack" }, TOP

/* A pool's thread ends the wait, which itself waits for the pool's processes. Code of an installed library has threads of its own. */
TEST(a_wait_for_a_pool_of_processes_is_one_for_these)
{
	static const struct stack by_child = { { { LIBC, "sem_wait" }, { PYTHON, "lock_PyThread_acquire_lock" }, POOL }, DW_ACTIVITY_CHILD };
	static const struct stack by_thread = { { { LIBC, "sem_wait" }, { PYTHON, "lock_PyThread_acquire_lock" }, POOL }, DW_ACTIVITY_THREAD };
	static const struct stack of_torch = { { { LIBC, "pthread_cond_wait" }, { TORCH, "torch::autograd::Engine::execute" },
		                                     { PACKAGE("torch/autograd/graph.py"), "_engine_run_backward" }, { SCRIPT, "pack" }, TOP },
		                                   DW_ACTIVITY_THREAD };

	check_stacks(&by_thread, 1, true);
	child_cpu_ns = "150000000";
	check_stacks(&by_child, 1, true);
	check_stacks(&of_torch, 1, true);
	child_cpu_ns = "0";
	check_stacks(&by_thread, 1, true);
	child_cpu_ns = NULL;
}

CHECK_MAIN
