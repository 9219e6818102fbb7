/*
 * What the probe asks PyTorch's objects.
 *
 * Everything that the probe assumes about PyTorch's memory, about the mangled names of its
 * functions and about how C++ calls and returns lies in this folder. The rest of the probe
 * includes this header and sees no offset. Nothing links to PyTorch: functions are found by name
 * in the process, and where fields lie is found at run time with tensors that the probe knows, so
 * that one build serves PyTorch from 1.13 on.
 *
 * Each question stands alone. Its answer is found when PyTorch is attached, and verified by itself with
 * other values than it was found with (check.c). What fails is not recorded: one line on standard
 * error and the fact torch.lacks name it, and all else is recorded.
 *
 *   question   asked of                            found by                        verified with
 *   operators  RecordFunction's callbacks          symbols; fields are fixed       an operator's two calls
 *   names      RecordFunction, FunctionSchema      search: the known name          a name kept elsewhere
 *   sequences  RecordFunction                      search: a known number          a forward and its backward
 *   threads    RecordFunction                      search: a known thread          a forward and its backward
 *   shapes     RecordFunction, IValue, TensorImpl  search: known sizes and types   tensors of 3 and 6 dimensions
 *   script     jit::currentCallstack()             search: a known call            (the search)
 *   states     RecordFunctionTLS                   its fields are fixed            a known change
 *   allocator  libc10's procedure linkage table    symbols                         the slot
 *   reducer    libtorch's procedure linkage table  symbols                         the slot
 *
 * The build option torch_abi=disabled leaves out what reads PyTorch's memory: names, sequences, threads,
 * shapes, script and states (absent.h takes the place of inline.h). The rest needs functions only.
 *
 * All were verified with PyTorch 1.13.1, 2.6.0 and 2.13.0 (README.md).
 *
 * Functions are called under the interpreter's lock and when PyTorch is attached, unless they say
 * otherwise.
 */
#ifndef DWP_TORCH_ABI_H
#define DWP_TORCH_ABI_H

#include "../../python/python.h"

/* Finds PyTorch's libraries and the answers to all questions, except for script. Before other
 * threads use PyTorch. `version`: PyTorch's, for messages. False: operators cannot be recorded at
 * all. */
bool dwp_abi_attach(PyObject *torch, const char *version);

/* ---- operators ---------------------------------------------------------------------------- */

/* Kinds of RecordFunction. Each has a callback of its own, so that no object has to be read to
 * know its kind. */
enum torch_scope { TORCH_FUNCTION = 0, TORCH_BACKWARD = 1, TORCH_SCRIPT = 2, TORCH_USER = 7 };
#define TORCH_ALL_SCOPES 0x3ffu

/*
 * What PyTorch calls at the beginning of an operator returns a std::unique_ptr, an object that is
 * made where the caller says. On x86-64 the caller passes that place like a first argument and
 * expects it back; on aarch64 it passes it in x8, which C cannot name. Ours is always empty.
 * TORCH_START(name, body) defines such a function, `name`, which calls body(). The caller defines
 * body() below it.
 */
typedef void torch_start(void);
typedef void torch_end(const char *function, void *context);
#if defined(__x86_64__)
#define TORCH_HAS_CALLBACKS 1
#define TORCH_START(name, body)                              \
	static void body(const char *function);                  \
	static void **name(void **context, const char *function) \
	{                                                        \
		*context = NULL;                                     \
		body(function);                                      \
		return context;                                      \
	}
#elif defined(__aarch64__)
#define TORCH_HAS_CALLBACKS 1
#define TORCH_START(name, body)                                                            \
	__attribute__((used)) static void body(const char *function) __asm__("dwell_" #body); \
	void name(void) __asm__("dwell_" #name);                                               \
	__asm__(".text\n.p2align 2\n.globl dwell_" #name "\n.hidden dwell_" #name "\n"          \
	        ".type dwell_" #name ", %function\ndwell_" #name ":\n"                           \
	        "\thint #34 // bti c\n\tstr xzr, [x8]\n\tb dwell_" #body "\n"                   \
	        ".size dwell_" #name ", . - dwell_" #name "\n");
#else
#define TORCH_HAS_CALLBACKS 0
#define TORCH_START(name, body)             \
	static void body(const char *function); \
	static void (*const name)(const char *function) = body;
#endif

/* at::RecordFunctionCallback: the same in every version from 1.13 on. */
struct torch_callback {
	torch_start *start;
	torch_end *end;
	double probability;
	uint8_t scopes[10];
	uint8_t needs_inputs, needs_outputs, needs_ids;
};

/* PyTorch's functions; constant after attach. */
struct dwp_abi_functions {
	uint64_t (*add)(struct torch_callback callback); /* NULL: operators are not recorded */
	void (*remove)(uint64_t handle);
	const char *(*name)(const void *function);
	uint64_t (*next_sequence)(void);
};
extern struct dwp_abi_functions dwp_abi_functions;

/* Whether operators can be recorded. */
static inline bool dwp_abi_has_operators(void)
{
	return dwp_abi_functions.add != NULL;
}
/* From now on PyTorch calls `start` and `end` around what is of the given kinds, 1 << enum
 * torch_scope each, in every thread and mostly without the interpreter's lock. `start` is made by
 * TORCH_START. `inputs`: dwp_abi_inputs() is going to be asked. Returns what removes the callback. */
uint64_t dwp_abi_add_callback(torch_start *start, torch_end *end, unsigned scopes, bool inputs);
void dwp_abi_remove_callback(uint64_t handle);

/* ---- of an operator: in a callback, in any thread, without a lock ------------------------------ */

/* The name of the operator's schema and its length. The text never moves. NULL: the operator has a
 * name of its own, or schemas are not known; ask dwp_abi_name(). */
static inline const char *dwp_abi_static_name(const char *function, size_t *length);
/* The name. It may be gone when the operator has ended. */
static inline const char *dwp_abi_name(const char *function)
{
	return dwp_abi_functions.name(function);
}

/* The number that joins a forward operator to its backward; DWP_ABI_NO_SEQUENCE: not known. */
#define DWP_ABI_NO_SEQUENCE UINT64_MAX
static inline bool dwp_abi_has_sequences(void);
static inline uint64_t dwp_abi_sequence(const char *function);
/* Whether the calling thread has made nodes of the graph since it was at that number. */
static inline bool dwp_abi_made_node(uint64_t sequence);

/* PyTorch counts its threads from 1. Of an operator, the number of the thread that runs it; of a
 * backward, also that of its forward, 0: it has none. */
static inline bool dwp_abi_has_threads(void);
static inline uint64_t dwp_abi_thread(const char *function);
static inline uint64_t dwp_abi_forward_thread(const char *function);

/* The tensors among the inputs in their places; the sizes point into PyTorch's tensors. Returns the
 * number of inputs, at most TORCH_MOST_TENSORS. Only if the callback was added with `inputs`. */
#define TORCH_MOST_TENSORS 64u
static inline bool dwp_abi_has_inputs(void);
unsigned dwp_abi_inputs(const char *function, struct dwell_tensor tensors[TORCH_MOST_TENSORS]);
/* A hash of the same and `seed`; 0: a tensor has so many dimensions that they lie elsewhere. */
static inline uint64_t dwp_abi_hash_inputs(const char *function, uint64_t seed);

/* ---- TorchScript ----------------------------------------------------------------------------- */

/* Finds out how PyTorch returns a script's calls; only the first call does something. */
void dwp_abi_find_script(void);
/* The script functions that the calling thread is in as frame ids, innermost first. Returns how
 * many, at most `capacity`. In any thread, without a lock. */
unsigned dwp_abi_script_frames(uint32_t *ids, unsigned capacity);

/* ---- functions that PyTorch calls --------------------------------------------------------------- */

/* While `skip` is set, PyTorch's changes of a thread's callbacks are skipped where they change
 * nothing; set it only while callbacks are added. */
void dwp_abi_skip_states(bool skip);

struct torch_allocator {
	void *(*alloc)(size_t bytes); /* may throw */
	void (*free)(void *address);
};
/* PyTorch calls `ours` in place of its allocator of the CPU, which is stored in `real`. The
 * replacement stays. */
void dwp_abi_replace_allocator(const struct torch_allocator *ours, struct torch_allocator *real);

/* The same for what DistributedDataParallel calls at the end of a backward. It may throw. */
void dwp_abi_replace_finalize_backward(void (*ours)(void *reducer), void (**real)(void *reducer));

#ifdef DWP_TORCH_ABI
#include "inline.h"
#else
#include "absent.h"
#endif

#endif
