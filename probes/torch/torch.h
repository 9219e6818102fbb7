/*
 * The PyTorch probe and its parts.
 *
 *   torch      attaching when torch has been imported; the gate
 *   layout     where things lie inside this PyTorch's objects, found by looking
 *   operators  ranges of operators from RecordFunction, in every thread
 *   shapes     of an operator's inputs
 *   script     where in TorchScript an operator was called
 *   states     what PyTorch does in vain for callbacks, left out
 *   cost       what a recorded operator and a recorded layer cost
 *   redirect   another function in place of one that PyTorch calls
 *   memory     allocations and frees, from where libc10 calls its allocator
 *   layers     calls of nn.Module, by their path in the model
 *   parameters what a module has of its own
 *   blocks     which allocations are parameters, which an optimizer's state
 *   loop       steps and phases, from what a training loop calls
 *   steps_state  where steps begin and end, a state machine without Python
 *   collectives  waits for other ranks
 *   data       batches and samples, checkpoints
 *   collectives  waits for other ranks
 *   step_on    what the user says makes a step
 *
 * Nothing links to PyTorch: functions are found by name in the process, and what has
 * no function is found at run time with tensors that we know (layout.c), so that one
 * build serves PyTorch from 1.13 on. While the gate is closed no callback stands in
 * PyTorch.
 */
#ifndef DWP_TORCH_H
#define DWP_TORCH_H

#include "../python/python.h"

void dwp_torch_attach(PyObject *torch);

/* ---- layout ------------------------------------------------------------------------ */

/*
 * What PyTorch calls at a function's start returns a std::unique_ptr, an object that is
 * made where the caller says. x86-64 tells the place as if it were a first argument and
 * wants it back; aarch64 tells it in x8, which C cannot name. Ours is always empty.
 * TORCH_START(name, body) is such a function, `name`, that calls body(), defined below it.
 */
typedef void torch_start(void);
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

/* at::RecordFunctionCallback: alike in every version from 1.13 on. */
struct torch_callback {
	torch_start *start;
	void (*end)(const char *function, void *context);
	double probability;
	uint8_t scopes[10];
	uint8_t needs_inputs, needs_outputs, needs_ids;
};

/* What a RecordFunction is. Each kind has a callback of its own, so that nothing has to be read
 * from an object to know it. */
enum torch_scope { TORCH_FUNCTION = 0, TORCH_BACKWARD = 1, TORCH_SCRIPT = 2, TORCH_USER = 7 };

/* Offsets in bytes; 0: not known, and what needs it is not recorded. */
struct torch_layout {
	uint64_t (*add)(struct torch_callback callback);
	void (*remove)(uint64_t handle);
	const char *(*name)(const void *function);
	uint64_t (*next_sequence)(void);
	const void *undefined_tensor;
	uint32_t sequence, forward_thread, inputs; /* of a RecordFunction */
	uint32_t schema;                           /* of a RecordFunction that has one */
	uint32_t sizes, dtype;                     /* of a TensorImpl */
};

extern struct torch_layout dwp_torch_layout;

/* Copies memory of this process that may not be there; zeros for what is not. How much was. */
size_t dwp_torch_read(void *to, const void *from, size_t bytes);

/* False: there is not even a name to be had. `library`: whose libraries have it. */
bool dwp_torch_find_layout(PyObject *torch, void *library);
/* Runs a few lines of Python to look at something; false: it was not to be had. `names` are
 * theirs, new ones know `torch`; they hold what the lines made until they are released. */
PyObject *dwp_torch_names(PyObject *torch);
bool dwp_torch_run(PyObject *names, const char *code);

/* A RecordFunction has a variant: a name of its own, or the operator's schema, which begins
 * with its name: as a pointer and a length, where `schema` is known. */
#define TORCH_HAS_SCHEMA(function, offset) ((function)[(offset) + 32] == 1)
/* The number of the thread that runs it, where StepCallbacks has it; right if forward_thread
 * was found, which was compared with it. */
#define TORCH_THIS_THREAD 88u
#define TORCH_WORD(object, offset) (*(const uint64_t *)(const void *)((object) + (offset)))
#define TORCH_POINTER(object, offset) (*(const char *const *)(const void *)((object) + (offset)))

/* ---- operators, memory, layers, loop ------------------------------------------------- */

/* Callbacks stand in PyTorch exactly while operators are wanted; called where the gate
 * may have changed. */
void dwp_operators_follow_gate(void);

/* shapes.c: what each thread remembers; zeroed. The id of an operator with its inputs' shapes, 0:
 * no session; and the shapes themselves, which point into PyTorch's tensors. */
struct torch_shapes {
	uint64_t hash;
	uint32_t id;
};
#define TORCH_SHAPES 1024u
#define TORCH_MOST_TENSORS 64u
uint32_t dwp_shapes_id(struct torch_shapes *known, const char *function, const struct dwell_site *site);
unsigned dwp_shapes_of(const char *function, struct dwell_tensor tensors[TORCH_MOST_TENSORS]);

/* script.c: finds out how PyTorch tells it, at the first call; then the script functions that
 * the thread is in as frame ids, innermost first, at most `room`: how many. */
void dwp_script_attach(PyObject *torch, void *library);
void dwp_script_find(void);
unsigned dwp_script_frames(uint32_t *ids, unsigned room);

/* redirect.c: the pointer by which the library `handle` calls a function, NULL: there is none;
 * and another function in its place. */
void **dwp_redirect_slot(void *handle, const char *function);
bool dwp_redirect(void **slot, void *to);

/* states.c: what PyTorch does for callbacks at each node of a backward is left out, where it
 * changes nothing, while our callbacks stand in it. */
void dwp_states_attach(void *library, void *cpu);
void dwp_states_leave_out(bool leave);

/* cost.c: what a recorded operator and a recorded layer cost, stored with the trace; before
 * anything is recorded or hooked. */
void dwp_cost_measure(PyObject *torch);

void dwp_memory_attach(void *c10);
void dwp_layers_attach(PyObject *torch);
/* Its id, with its class and, by its first path, its own parameters (parameters.c); 0: no
 * session. */
uint32_t dwp_layer_id(PyObject *module, const char *path, bool first);
/* blocks.c: a module's own parameters and buffers; an optimizer's parameters, its state. */
void dwp_blocks_of_module(PyObject *module);
void dwp_blocks_of_groups(PyObject *optimizer);
void dwp_blocks_of_state(PyObject *optimizer);
void dwp_blocks_of_first_step(PyObject *optimizer);
void dwp_loop_attach(PyObject *torch);
void dwp_data_attach(PyObject *torch);
/* `cpu`: the library that has PyTorch's operators, or NULL. */
void dwp_collectives_attach(PyObject *torch, void *cpu);

/* From layers to loop: a module is called that no other module called; the phase's range, which
 * the end wants back. `failed`: an exception leaves it. */
unsigned dwp_loop_forward(PyObject *module, bool has_parameters);
void dwp_loop_forward_end(unsigned began, bool failed);

/* From data to loop: a batch is asked for, a loader's iterator, something is saved or loaded. */
void dwp_loop_batch(void);
void dwp_loop_data(void);
void dwp_loop_checkpoint(void);

/* ---- step_on, and what it asks of loop ------------------------------------------------ */

/* Whether the user named what makes a step; then nothing else does. */
bool dwp_step_on_given(void);
/* Whether it is the name of this class, or this path of a module. */
bool dwp_step_on_is(const char *text);
/* A name that would do: the first dozen are stored, for who named another. */
void dwp_step_on_could(const char *text);
/* What the user named is there; `called`: it begins or ends a step. */
void dwp_step_on_seen(bool called);
/* Hooks the function of that name, if there is one by now. */
void dwp_step_on_look(void);

/* A call of the function, or of a module, that the user named begins or has returned. */
void dwp_loop_function(bool begins);
void dwp_loop_module(bool begins);

#endif
