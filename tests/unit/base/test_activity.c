/* What functions, libraries and operators do: the lists of activity.def. */
#include "check.h"

#include <string.h>

#include "base/code/activity.h"

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define ENGINE "/srv/engine"
#define IS(module, name, activity) CHECK_STR(dw_activity_name(dw_activity_of(module, name, false)), dw_activity_name(DW_ACTIVITY_##activity))
#define IS_OWN(name) CHECK_STR(dw_activity_name(dw_activity_of(ENGINE, name, true)), "own")

/* ---- the program's own functions ------------------------------------------------------------------ */

TEST(a_programs_own_function_does_what_its_samples_show)
{
	static const char *const names[] = {
		"freeze_layers", "free_from_median", "memory_bank", "learn_rate", "memset_rows", "memcpy_rows", "read_config_table", "logits",
		"print_free_energy", "write_weights", "open_valve", "close_contact", "wait_for_helper", "poll_sensors", "sleep_stage", "join_tables",
		"random_forest", "lock_in_amplifier", "barrier_height", "send_gradients", "system_matrix", "textures", "Pool::free", "Lock.acquire",
		"Logger.info", "gc_collect_points", "FLOAT_add", "simd_dot", "backward", "grad", "select.best", "_free_list", "__step_all", "brk_fit",
		"cuda_train_step", "cut_trees", "hip_joint", "cudart",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		IS_OWN(names[i]);
}

/* Whatever the table has for libraries: a program may have a function of that name. */
TEST(no_row_for_code_of_others_says_anything_of_the_program)
{
	enum { OTHERS, RESERVED };
	static const struct { const char *name; int kind; } rows[] = {
#define ACTIVITY(role, kind, name, activity) { name, kind },
#include "base/code/activity.def"
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[80];

		snprintf(name, sizeof name, "%s", rows[i].name);
		for (char *at = name; *at; at++)
			*at = *at == '*' || *at == '?' ? 'x' : *at == '^' ? 'X' : *at;
		if (rows[i].kind == OTHERS)
			IS_OWN(name);
		else
			CHECK(dw_activity_of(ENGINE, name, true) != DW_ACTIVITY_OWN);
	}
}

/* Of the rows that count in any code, a program may have functions of few names. */
TEST(few_names_count_in_the_program)
{
	static const struct { const char *name; bool reserved; } rows[] = {
#define OTHERS false
#define RESERVED true
#define ACTIVITY(role, kind, name, activity) { name, kind },
#include "base/code/activity.def"
	};
	unsigned may = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		may += rows[i].reserved && rows[i].name[0] != '_' && rows[i].name[0] != '<' && !strstr(rows[i].name, "::") &&
		       !strstr(rows[i].name, "operator ");
	CHECK_EQ(may, 4); /* main, and those that begin like names of CUDA */
}

TEST(the_table_is_small)
{
	static const char rows[] = {
#define LIBRARY(file, role, activity) 'l',
#define HEADER(begin, role) 'h',
#define ACTIVITY(role, kind, name, activity) 'a',
#define OPERATOR(pattern, family) 'o',
#define RANGES(pattern, framework) 'r',
#include "base/code/activity.def"
	};

	CHECK_RANGE(sizeof rows, 1, 250);
}

/* ---- the C library ---------------------------------------------------------------------------------- */

TEST(functions_of_the_c_library)
{
	IS(LIBC, "malloc", ALLOCATES);
	IS(LIBC, "_int_malloc", ALLOCATES);
	IS(LIBC, "__libc_calloc", ALLOCATES);
	IS(LIBC, "posix_memalign", ALLOCATES);
	IS(LIBC, "cfree@GLIBC_2.2.5", FREES);
	IS(LIBC, "_int_free_merge_chunk", FREES);
	IS(LIBC, "__munmap", RETURNS);
	IS(LIBC, "__memcpy_avx_unaligned_erms", COPIES);
	IS(LIBC, "memset", CLEARS);
	IS(LIBC, "snprintf", TEXT);
	IS(LIBC, "__vfprintf_internal", TEXT);
	IS(LIBC, "____strtod_l_internal", TEXT);
	IS(LIBC, "__printf_chk", TEXT);
	IS(LIBC, "fprintf", TEXT);
	IS(LIBC, "_IO_fwrite", FILE);
	IS(LIBC, "__isoc99_fscanf", TEXT);
	IS(LIBC, "open64", FILE);
	IS(LIBC, "__close_nocancel", FILE);
	IS(LIBC, "fdatasync", DISK);
	IS(LIBC, "__pread64_chk", DESCRIPTOR);
	IS(LIBC, "preadv64", DESCRIPTOR);
	IS(LIBC, "__poll_chk", SOCKET);
	IS(LIBC, "epoll_wait", SOCKET);
	IS(LIBC, "___pthread_mutex_lock", LOCK);
	IS(LIBC, "pthread_rwlock_unlock", LOCK);
	IS(LIBC, "pthread_spin_lock", SPIN);
	IS(LIBC, "pthread_barrier_wait", BARRIER);
	IS(LIBC, "pthread_cond_timedwait", THREAD);
	IS(LIBC, "pthread_timedjoin_np", THREAD);
	IS(LIBC, "waitpid", CHILD);
	IS(LIBC, "sched_yield", SPIN);
	IS(LIBC, "clock_nanosleep", SLEEP);
	IS(LIBC, "start_thread", STARTS);
	IS(LIBC, "qsort", UNKNOWN);
	IS(LIBC, "read_encoded_value", UNKNOWN);
	IS(LIBC, "free_mem", UNKNOWN);
	IS(LIBC, "libc.so.6+0x97364", UNKNOWN);
	IS("/usr/lib/libm.so.6", "__expf_fma", ALGEBRA);
	IS("/usr/lib/libtcmalloc.so.4", "tc_malloc", ALLOCATES);
	IS("/usr/lib/libtcmalloc.so.4", "free", FREES);
	IS(NULL, "pthread_join", THREAD); /* a wait, whose function has no module */
}

/* The program contains the C library: names that C reserves say what they do. */
TEST(a_program_that_was_linked_statically)
{
	CHECK_EQ(dw_activity_of(ENGINE, "_int_malloc", true), DW_ACTIVITY_ALLOCATES);
	CHECK_EQ(dw_activity_of(ENGINE, "__libc_free", true), DW_ACTIVITY_FREES);
	CHECK_EQ(dw_activity_of(ENGINE, "__memmove_evex_unaligned", true), DW_ACTIVITY_COPIES);
	CHECK_EQ(dw_activity_of(ENGINE, "operator new(unsigned long)", true), DW_ACTIVITY_ALLOCATES);
}

/* ---- other libraries --------------------------------------------------------------------------------- */

TEST(libraries_have_roles)
{
	static const struct { const char *module; enum dw_library_role role; bool own; } modules[] = {
		{ LIBC, DW_LIBRARY_SYSTEM, false },
		{ "/lib/libc-2.31.so", DW_LIBRARY_SYSTEM, false },
		{ "[kernel]", DW_LIBRARY_KERNEL, false },
		{ "/usr/lib/libgomp-a34b3233.so.1", DW_LIBRARY_TEAM, false },
		{ "/usr/lib/libiomp5.so", DW_LIBRARY_TEAM, false },
		{ "/usr/lib/libompi.so", DW_LIBRARY_PACKAGE, true },
		{ "/usr/lib/libjemalloc.so.2", DW_LIBRARY_ALLOCATOR, false },
		{ "/usr/lib/libscipy_openblas64_-32a4.so", DW_LIBRARY_ALGEBRA, true },
		{ "/usr/lib/libcurl.so.4", DW_LIBRARY_PACKAGE, true },
		{ "/srv/lib/libzmq.so.5", DW_LIBRARY_OWN, true },
		{ "/py/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", DW_LIBRARY_ARRAY, true },
		{ "/usr/lib/python3.11/threading.py", DW_LIBRARY_INTERPRETER, true },
		{ "<frozen importlib._bootstrap>", DW_LIBRARY_INTERPRETER, true },
		{ "/venv/lib/python3.11/site-packages/sklearn/base.py", DW_LIBRARY_PACKAGE, true },
		{ "/srv/torch/train.py", DW_LIBRARY_OWN, true },
		{ ENGINE, DW_LIBRARY_OWN, true },
		{ NULL, DW_LIBRARY_OWN, true },
	};

	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		CHECK_EQ(dw_library_role_of(modules[i].module), modules[i].role);
		CHECK_EQ(dw_code_is_own(modules[i].role, "compute", NULL), modules[i].own);
		CHECK(!dw_code_is_own(modules[i].role, "std::vector<int>::push_back(int const&)", NULL));
		CHECK(!dw_code_is_own(modules[i].role, "_M_bucket_index", "/usr/include/c++/12/bits/hashtable_policy.h"));
		CHECK_EQ(dw_code_is_own(modules[i].role, "read_rows", "/srv/rows/include/rows.h"), modules[i].own);
		CHECK(!dw_code_is_own(modules[i].role, "std::pair<int*, bool> std::__copy<int (*)(int)>::go<int*>(int*)", NULL));
	}
}

#define IS_OF_HEADER(name, activity) \
	CHECK_EQ(dw_activity_of_code(dw_library_of_function(dw_library_of(ENGINE), name, NULL), name, false), DW_ACTIVITY_##activity)

TEST(functions_of_headers_that_the_compiler_brings)
{
	static const char hashtable[] = "/usr/include/c++/12/bits/hashtable_policy.h", algorithms[] = "/opt/gcc/include/c++/14/bits/stl_algobase.h";
	struct dw_library own = dw_library_of(ENGINE);
	struct dw_library table = dw_library_of_function(own, "_M_bucket_index", hashtable);
	struct dw_library algorithm = dw_library_of_function(own, "std::__fill_a1", algorithms);
	struct dw_library of_rust = dw_library_of_function(own, "core::cmp::max", "/rustc/59807616/library/core/src/cmp.rs");

	CHECK_EQ(dw_activity_of_code(table, "_M_bucket_index", false), DW_ACTIVITY_LOOK_UP);
	CHECK_EQ(dw_activity_of_code(algorithm, "std::__fill_a1", false), DW_ACTIVITY_CLEARS);
	CHECK_EQ(dw_activity_of_code(algorithm, "std::__copy_move_a1", false), DW_ACTIVITY_COPIES);
	CHECK_EQ(dw_activity_of_code(algorithm, "std::max", false), DW_ACTIVITY_UNKNOWN);
	CHECK_EQ(dw_activity_of_code(algorithm, "void std::vector<int>::_M_fill_insert<int>(int)", false), DW_ACTIVITY_CLEARS);
	CHECK_EQ(dw_activity_of_code(algorithm, "std::vector<copy_t, put_t>::size() const", false), DW_ACTIVITY_UNKNOWN);
	CHECK_EQ(dw_activity_of_code(of_rust, "core::cmp::max", false), DW_ACTIVITY_UNKNOWN);
	IS_OF_HEADER("std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()", COUNTS);
	IS_OF_HEADER("__gthread_mutex_unlock", LOCK);
	IS_OF_HEADER("std::condition_variable::wait(std::unique_lock<std::mutex>&)", UNKNOWN);
	/* What a library counts it does for its work. */
	IS("/py/torch/lib/libtorch_cpu.so", "std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()", UNKNOWN);
	CHECK_EQ(dw_library_of_function(own, "fill_rows", "/srv/rows.cpp").role, DW_LIBRARY_OWN);
	CHECK_EQ(dw_activity_of_code(own, "fill_rows", true), DW_ACTIVITY_OWN);
}

TEST(functions_of_python)
{
	static const char numpy[] = "/py/_multiarray_umath.cpython-311-x86_64-linux-gnu.so";

	IS(numpy, "FLOAT_add", ALGEBRA);
	IS(numpy, "_aligned_strided_to_contig_size8", ALGEBRA);
	IS(numpy, "quicksort_float", ALGEBRA);
	IS(numpy, "PyArray_NewFromDescr", PACKAGE);
	IS(numpy, "OBJECT_greater", OBJECTS);
	IS(numpy, "PyUFunc_OO_O", OBJECTS);
	IS(numpy, "PyUFunc_d_d", PACKAGE);
	IS(numpy, "clear_object_strided_loop", OBJECTS);
	IS(numpy, "npy_ObjectClip", OBJECTS);
	IS(numpy, "npy_discover_dtype_from_pyobject", PACKAGE);
	IS("/usr/lib/libpython3.11.so.1.0", "_Py_Dealloc", INTERPRETER);
	IS("/usr/lib/libpython3.11.so.1.0", "_PyEval_EvalFrameDefault", INTERPRETER);
	IS("/usr/lib/libpython3.11.so.1.0", "gc_collect_main", COLLECTOR);
	IS("/usr/lib/libpython3.11.so.1.0", "sre_ucs1_match", MATCHES);
	IS("/usr/lib/python3.11/re/_compiler.py", "compile", COMPILES);
	IS("/usr/lib/python3.9/sre_compile.py", "_optimize_charset", COMPILES);
	IS("/usr/lib/python3.11/re/__init__.py", "search", INTERPRETER);
	IS(DW_MODULE_CPYTHON, "posix.fsync", DISK);
	IS(DW_MODULE_CPYTHON, "posix.read", FILE);
	IS(DW_MODULE_CPYTHON, "posix.fork", INTERPRETER);
	IS(DW_MODULE_CPYTHON, "BufferedReader.readinto", FILE);
	IS(DW_MODULE_CPYTHON, "_thread.lock.acquire", LOCK);
	IS(DW_MODULE_CPYTHON, "_thread.RLock.__enter__", LOCK);
	IS(DW_MODULE_CPYTHON, "_queue.SimpleQueue.get", INTERPRETER);
	IS(DW_MODULE_CPYTHON, "SimpleQueue.get", THREAD);
	IS(DW_MODULE_CPYTHON, "BasicBlock.forward", INTERPRETER);
	IS(DW_MODULE_CPYTHON, "Logger.info", LOGS);
	IS(DW_MODULE_CPYTHON, "Logger.isEnabledFor", LOGS);
	IS("/venv/site-packages/torch/autograd/__init__.py", "backward", ALGEBRA);
}

/* ---- operators ---------------------------------------------------------------------------------------- */

TEST(operators_have_families)
{
	static const struct { const char *name; enum dw_operator_family family; } operators[] = {
		{ "aten::addmm", DW_OPERATOR_PRODUCT }, { "aten::convolution_backward", DW_OPERATOR_PRODUCT },
		{ "Conv", DW_OPERATOR_PRODUCT }, { "aten::convert_element_type", DW_OPERATOR_CONVERSION },
		{ "aten::_scaled_dot_product_flash_attention_for_cpu", DW_OPERATOR_PRODUCT },
		{ "aten::lstm", DW_OPERATOR_RECURRENT }, { "aten::lstm_cell", DW_OPERATOR_PRODUCT },
		{ "aten::rnn_relu", DW_OPERATOR_RECURRENT }, { "aten::rnn_relu_cell", DW_OPERATOR_PRODUCT },
		{ "aten::linear", DW_OPERATOR_PRODUCT }, { "aten::upsample_bilinear2d", DW_OPERATOR_OTHER },
		{ "aten::add_", DW_OPERATOR_ELEMENTWISE }, { "aten::gelu_backward", DW_OPERATOR_ELEMENTWISE },
		{ "aten::relu_", DW_OPERATOR_ELEMENTWISE }, { "aten::silu", DW_OPERATOR_ELEMENTWISE }, { "aten::sqrt", DW_OPERATOR_ELEMENTWISE },
		{ "aten::addcdiv_", DW_OPERATOR_ELEMENTWISE }, { "aten::native_dropout", DW_OPERATOR_ELEMENTWISE },
		{ "aten::linalg_qr", DW_OPERATOR_DECOMPOSITION }, { "aten::linalg_lu_factor_ex", DW_OPERATOR_DECOMPOSITION },
		{ "aten::linalg_inv_ex", DW_OPERATOR_DECOMPOSITION }, { "aten::logdet", DW_OPERATOR_DECOMPOSITION },
		{ "aten::_linalg_eigh", DW_OPERATOR_DECOMPOSITION },
		/* parts of words: "lu_", "qr", "det", "eig" */
		{ "aten::_prelu_kernel", DW_OPERATOR_OTHER }, { "aten::rsqrt", DW_OPERATOR_OTHER },
		{ "aten::detach", DW_OPERATOR_OTHER }, { "aten::_weight_norm", DW_OPERATOR_OTHER },
		{ "aten::argsort", DW_OPERATOR_ORDER }, { "aten::_unique2", DW_OPERATOR_ORDER },
		{ "aten::item", DW_OPERATOR_SYNC }, { "aten::is_nonzero", DW_OPERATOR_SYNC },
		{ "cudaDeviceSynchronize", DW_OPERATOR_SYNC },
		{ "aten::copy_", DW_OPERATOR_COPY }, { "aten::contiguous", DW_OPERATOR_LAYOUT },
		{ "aten::transpose", DW_OPERATOR_VIEW }, { "Transpose", DW_OPERATOR_LAYOUT },
		{ "aten::empty_strided", DW_OPERATOR_EMPTY }, { "aten::resize_", DW_OPERATOR_EMPTY },
		{ "aten::_fused_adamw_", DW_OPERATOR_FUSED }, { "aten::_fused_rms_norm", DW_OPERATOR_OTHER },
		{ "aten::_foreach_add_", DW_OPERATOR_FOREACH },
		{ "Torch-Compiled Region: 0/1", DW_OPERATOR_COMPILED },
	};

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (dw_operator_family_of(operators[i].name) != operators[i].family)
			CHECK_FAIL("%s is of family %d, not %d", operators[i].name, (int)dw_operator_family_of(operators[i].name),
			           (int)operators[i].family);
}

TEST(imports_and_compilers)
{
	static const char *const packages[][2] = {
		{ "/usr/lib/python3/dist-packages/torch/nn/__init__.py", "torch" },
		{ "/opt/venv/lib/python3.12/site-packages/six.py", "six" },
		{ "/usr/lib/python3.11/json/decoder.py", "json" },
		{ "/usr/lib/python3.11/random.py", "random" },
		{ "<frozen os>", "os" },
		{ "<frozen importlib._bootstrap>", "importlib" },
		{ "/srv/train.py", NULL },
		{ "<string>", NULL },
		{ "/opt/site-packages/", NULL },
		{ "", NULL },
	};

	IS("<frozen importlib._bootstrap>", "_find_and_load", IMPORTS);
	IS("<frozen importlib._bootstrap>", "_find_and_load_unlocked", IMPORTS);
	IS("/srv/plugins.py", "_find_and_load", UNKNOWN); /* the program may have one, too */
	IS("/opt/venv/lib/python3.12/site-packages/torch/_dynamo/convert_frame.py", "_compile", COMPILES);
	IS("/opt/venv/lib/python3.12/site-packages/jax/_src/compiler.py", "compile_or_get_cached", COMPILES);
	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
		size_t length = 0;
		const char *found = dw_package_of(packages[i][0], &length), *wanted = packages[i][1];

		if (!found != !wanted || (wanted && (strlen(wanted) != length || memcmp(found, wanted, length) != 0)))
			CHECK_FAIL("%s is of package %.*s", packages[i][0], found ? (int)length : 4, found ? found : "none");
	}
}

TEST(what_is_in_place_of_frames_has_no_name)
{
	CHECK(dw_code_is_nameless("[jit]"));
	CHECK(dw_code_is_nameless("[frames left out]"));
	CHECK(!dw_code_is_nameless("main"));
}

TEST(ranges_show_a_framework)
{
	CHECK_EQ(dw_known_framework_of("aten::mm"), DW_KNOWN_PYTORCH);
	CHECK_EQ(dw_known_framework_of("[Strategy]SingleDeviceStrategy.training_step"), DW_KNOWN_LIGHTNING);
	CHECK_EQ(dw_known_framework_of("XlaModule jit_step"), DW_KNOWN_JAX);
	CHECK_EQ(dw_known_framework_of("forward"), DW_KNOWN_NONE);
}

TEST(waits_of_the_interpreter_for_its_own_lock)
{
	static const char python[] = "/usr/bin/python3.11";

	CHECK_EQ(dw_activity_of_wait(NULL, "pthread_cond_timedwait", python), DW_ACTIVITY_GIL);
	CHECK_EQ(dw_activity_of_wait(NULL, "pthread_mutex_lock", "/opt/lib/libpython3.13.so.1.0"), DW_ACTIVITY_GIL);
	CHECK_EQ(dw_activity_of_wait(NULL, "sem_wait", python), DW_ACTIVITY_THREAD); /* lock.acquire() */
	CHECK_EQ(dw_activity_of_wait(NULL, "pthread_join", python), DW_ACTIVITY_THREAD);
	CHECK_EQ(dw_activity_of_wait(NULL, "pthread_cond_wait", ENGINE), DW_ACTIVITY_THREAD);
	CHECK_EQ(dw_activity_of_wait(NULL, "pthread_mutex_lock", NULL), DW_ACTIVITY_LOCK);
}

TEST(libraries_have_the_names_that_people_use)
{
	static const char *const names[][2] = {
		{ "/py/lib/python3.11/site-packages/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "numpy" },
		{ "/usr/lib/python3/dist-packages/six.py", "six" },
		{ "/usr/lib/x86_64-linux-gnu/libm.so.6", "libm" },
		{ "libavcodec", "libavcodec" },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char text[64];

		CHECK_STR(dw_library_name(names[i][0], text), names[i][1]);
	}
}

CHECK_MAIN
