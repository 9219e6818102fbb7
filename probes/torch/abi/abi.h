/*
 * What the probe reads from PyTorch's objects, and how it calls and replaces PyTorch's functions.
 *
 * This folder holds everything that the probe assumes about PyTorch's memory, about the mangled
 * names of its functions and about how C++ calls and returns. The rest of the probe includes this
 * header and uses no offset of a field. Nothing links to PyTorch: the probe looks functions up by
 * name in the process, and searches for the offsets of fields at run time with tensors whose values
 * it knows. So one build serves PyTorch from 1.13 on.
 *
 * The table lists the questions. They do not depend on each other. When PyTorch is attached, the
 * answer to each question is found, and then verified with values other than those that it was
 * found with (check.c). If that fails, what needs the answer is not recorded, or recording takes
 * longer; all else is recorded. The key torch.lacks of the trace says what is missing. If something
 * is not recorded, one line on standard error says so.
 *
 *   question   read from                  found by                verified with
 *   operators  RecordFunction callbacks   symbols; fixed fields   the two calls of an operator
 *   names      RecordFunction,            search: a known name    short, long and own names
 *              FunctionSchema
 *   sequences  RecordFunction             search: a known number  a forward and its backward
 *   threads    RecordFunction             search: a known thread  a forward and its backward
 *   shapes     RecordFunction, IValue,    search: known sizes     tensors of 3 and 6 dimensions
 *              TensorImpl                 and types
 *   integers   IValue, ListImpl           search: known values    other values and lists
 *   elements   TensorImpl, StorageImpl    search: a known address tensors with elements and without
 *   script     jit::currentCallstack()    search: a known call    (the search itself)
 *   states     RecordFunctionTLS          fixed fields            a known change
 *   allocator  linkage table of libc10    symbols                 the slot is found
 *   devices'   linkage tables of libc10_cuda symbols               the slot is found
 *     allocator  and the like
 *   reducer    linkage table of libtorch  symbols                 the slot is found
 *   calls      linkage tables of all      symbols                 a backward's slot is found
 *              libraries, in C++ alone
 *
 * The build option torch_abi=disabled leaves out the questions that read PyTorch's memory: names,
 * sequences, threads, shapes, integers, elements, script and states. absent.h then takes the place of inline.h. The
 * other questions need only functions of PyTorch.
 *
 * All answers were verified with PyTorch 1.13.1, 2.6.0 and 2.13.0 (README.md).
 *
 * The caller calls these functions while it attaches PyTorch, in Python with the interpreter's lock,
 * unless a comment says otherwise.
 */
#pragma once

#include <dwell/probe.h>

#include "work.h"

/* Finds PyTorch's libraries and the answers to all questions, except for `script`. Call it before
 * other threads use PyTorch. `library` is a handle of dlopen() (work.h): this library, or one that it
 * needs, defines PyTorch's functions. NULL: there is none. `version` is PyTorch's version, for messages.
 * Returns false if operators cannot be recorded at all. */
bool dwp_abi_attach(void *library, const char *version);

/* ---- operators ---------------------------------------------------------------------------- */

/* Kinds of RecordFunction, with PyTorch's numbers. The probe adds one callback for each kind. So it
 * knows the kind without reading an object. */
enum torch_scope { TORCH_FUNCTION = 0, TORCH_BACKWARD = 1, TORCH_SCRIPT = 2, TORCH_USER = 7 };
#define TORCH_ALL_SCOPES 0x3ffu

/*
 * The callback that PyTorch calls at the beginning of an operator returns a std::unique_ptr. C++
 * returns such an object in memory whose address the caller passes. On x86-64 this address is a
 * hidden first argument and also the return value. On aarch64 it is in register x8, which C cannot
 * name. The probe always returns an empty pointer.
 *
 * TORCH_START(name, body) defines such a function, `name`, which calls body(). The user of the
 * macro defines body() below it.
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

/* at::RecordFunctionCallback. Its layout is the same in every version from 1.13 on. */
struct torch_callback {
	torch_start *start;
	torch_end *end;
	double probability;
	uint8_t scopes[10];
	uint8_t needs_inputs, needs_outputs, needs_ids;
};

/* Pointers to PyTorch's functions. They do not change after dwp_abi_attach(). */
struct dwp_abi_functions {
	uint64_t (*add)(struct torch_callback callback); /* NULL: operators are not recorded */
	void (*remove)(uint64_t handle);
	const char *(*name)(const void *function);
	uint64_t (*next_sequence)(void);
	bool (*grad_enabled)(void); /* may be NULL */
	size_t (*inputs)(const void *function); /* as many as the schema has; may be NULL */
};
extern struct dwp_abi_functions dwp_abi_functions;

/* Whether operators can be recorded. */
static inline bool dwp_abi_has_operators(void)
{
	return dwp_abi_functions.add != NULL;
}
/* From now on PyTorch calls `start` and `end` at the begin and end of each operator of the given
 * kinds, in every thread and mostly without the interpreter's lock. `scopes` is a sum of 1 << enum
 * torch_scope. `start` is defined by TORCH_START. `inputs` must be true if the callback reads the
 * operator's inputs. Returns the handle for dwp_abi_remove_callback(). */
uint64_t dwp_abi_add_callback(torch_start *start, torch_end *end, unsigned scopes, bool inputs);
void dwp_abi_remove_callback(uint64_t handle);

/* ---- about an operator: called in a callback, in any thread, without a lock -------------------- */

/* `function` is the RecordFunction that PyTorch passes to the callback. */

/* The name in the operator's schema, and its length in bytes. The text is never moved or freed.
 * NULL: the operator has a name of its own, or the schema's place is not known. Then use
 * dwp_abi_name(). */
static inline const char *dwp_abi_static_name(const char *function, size_t *length);
/* The operator's name. It may be freed when the operator has ended. */
static inline const char *dwp_abi_name(const char *function)
{
	return dwp_abi_functions.name(function);
}

/* The sequence number, which links a forward operator to its backward; DWP_ABI_NO_SEQUENCE if it is
 * not known. */
#define DWP_ABI_NO_SEQUENCE UINT64_MAX
static inline bool dwp_abi_has_sequences(void);
static inline uint64_t dwp_abi_sequence(const char *function);
/* Whether the calling thread has added nodes to the autograd graph since its next sequence number
 * was `sequence`. */
static inline bool dwp_abi_made_node(uint64_t sequence);

/* PyTorch numbers its threads from 1. dwp_abi_thread() is the number of the thread that runs the
 * operator. dwp_abi_forward_thread() is the number of the thread that ran the forward operator of
 * this backward; 0 if the operator is no backward. Call both only if dwp_abi_has_threads(). */
static inline bool dwp_abi_has_threads(void);
static inline uint64_t dwp_abi_thread(const char *function);
static inline uint64_t dwp_abi_forward_thread(const char *function);

/* Stores each input that is a tensor at the index of the input; with `integers` also those that are integers, truth
 * values or lists of such. Sizes point into PyTorch's tensors or to `integers`.
 * Returns the number of inputs, at most TORCH_MOST_TENSORS. Call it only if dwp_abi_has_inputs()
 * and the callback was added with `inputs`. */
#define TORCH_MOST_TENSORS 64u
#define TORCH_MOST_INTEGERS 64u
static inline bool dwp_abi_has_inputs(void);
unsigned dwp_abi_inputs(const char *function, struct dwell_tensor tensors[TORCH_MOST_TENSORS],
                        int64_t integers[TORCH_MOST_INTEGERS]);
/* A hash of these inputs and of `seed`. 0: a tensor has so many dimensions that its sizes are not
 * stored in the tensor itself. */
static inline uint64_t dwp_abi_hash_inputs(const char *function, uint64_t seed, bool integers);

/* ---- TorchScript ----------------------------------------------------------------------------- */

/* Finds out how PyTorch returns the calls that a script is in. Only the first call has an
 * effect. */
void dwp_abi_find_script(void);
/* Stores the frame ids of the script functions that the calling thread is in, innermost first.
 * Returns their number, at most `capacity`. May be called in any thread, without a lock. */
unsigned dwp_abi_script_frames(uint32_t *ids, unsigned capacity);

/* ---- functions that PyTorch calls --------------------------------------------------------------- */

/* While `skip` is true, PyTorch's call that sets a thread's callback state returns at once if the
 * state would not change (states.c). Set it only while the probe's callbacks are registered. */
void dwp_abi_skip_states(bool skip);

struct torch_allocator {
	void *(*alloc)(size_t bytes); /* may throw */
	void (*free)(void *address);
};
/* Makes PyTorch call `ours` instead of its allocator for the CPU, and stores PyTorch's functions in
 * `real`. The replacement cannot be undone. */
void dwp_abi_replace_allocator(const struct torch_allocator *ours, struct torch_allocator *real);

/* c10::Device: c10::DeviceType and the device's index. C and C++ pass it in the same way. */
struct torch_device {
	int8_t type, index;
};
/* What an allocator of a device calls for each block: `bytes` is negative for a free. `allocated` and
 * `reserved` are the allocator's sums of the device afterwards. */
typedef void torch_report_memory(void *address, int64_t bytes, size_t allocated, size_t reserved,
                                 struct torch_device device);
/* Makes the allocators of devices call `ours` instead of PyTorch's function, which is stored in `real`.
 * Nothing happens if PyTorch has loaded no such allocator. The replacement cannot be undone. */
void dwp_abi_replace_report_memory(torch_report_memory *ours, torch_report_memory **real);
/* The same for what such an allocator calls before it throws: `bytes` could not be allocated. */
typedef void torch_report_failure(int64_t bytes, size_t allocated, size_t reserved, struct torch_device device);
void dwp_abi_replace_report_failure(torch_report_failure *ours, torch_report_failure **real);

/* Functions of DistributedDataParallel's reducer, which may throw: the one that it calls at the end
 * of a backward, and the one that starts to reduce the gradients of a bucket. */
struct dwp_abi_reducer {
	void (*finalize_backward)(void *reducer);
	void (*all_reduce_bucket)(void *reducer, void *bucket);
};
/* The same for these functions. */
void dwp_abi_replace_reducer(const struct dwp_abi_reducer *ours, struct dwp_abi_reducer *real);
/* The bytes of a bucket's gradients; 0 if they cannot be read. */
uint64_t dwp_abi_bucket_bytes(const void *bucket);
/* The bytes of a tensor of C++ (depth 0), of all in a std::vector (1), or in a vector of such vectors (2); 0: not known. */
uint64_t dwp_abi_tensors_bytes(const void *object, unsigned depth);

#ifdef DWP_TORCH_ABI
#include "inline.h"
#else
#include "absent.h"
#endif
