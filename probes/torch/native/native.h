/*
 * The PyTorch probe of a process without Python, libdwell-torch.so.
 *
 *   attach       finds PyTorch's library and attaches the parts
 *   loop         steps and phases, from PyTorch's functions that the program calls
 *   collectives  collectives of ranks, and waits for other ranks
 *   ../abi/work_native.c  runs the operators with which PyTorch is examined
 *   ../abi/entries.c      lets loop.c watch these calls
 *   ../abi/modules.c      the names of modules
 *
 * It shares ../core.h and ../loop_threads.h with the probe for Python.
 */
#pragma once

#include <dwell/probe.h>

#include "../groups.h"

/* abi/work_native.c: finds the functions of PyTorch that dwp_abi_work() calls. Call it first. */
void dwp_native_prepare_work(void *library);

/* What the program calls. */
enum native_call {
	NATIVE_OPTIMIZER_MADE, /* a group of parameters is added to an optimizer: its first one makes it */
	NATIVE_STEP,           /* step() of an optimizer */
	NATIVE_ZERO_GRAD,      /* of an optimizer or a module */
	NATIVE_BACKWARD,       /* autograd's engine runs */
	NATIVE_LAYER,          /* forward() of a module of torch::nn */
	NATIVE_MODEL,          /* parameters() or train() of a module */
	NATIVE_METHOD,         /* a method of a TorchScript module, or a model that AOTInductor compiled */
	NATIVE_BATCH,          /* a DataLoader asks for the indices of a batch */
	NATIVE_WAIT,           /* the program itself waits on a condition variable */
	NATIVE_SAVE,
	NATIVE_LOAD,
	NATIVE_GRAD_MODE,      /* the program itself enables or disables gradients */
	NATIVE_STORE_MADE,     /* a store whose keys have a prefix */
	NATIVE_GROUP_MADE,     /* a group of ranks */
	NATIVE_COLLECTIVE,     /* starts one, or communication of two ranks */
	NATIVE_WORK_WAIT,      /* waits for one */
	NATIVE_REDUCE,         /* the reducer of DistributedDataParallel starts the collective of a bucket of gradients */
	NATIVE_REDUCED,        /* it waits for all of them */
};

/* One call, for the functions below. */
struct native_seen {
	enum native_call call;
	const void *self;   /* the object; NULL: a function */
	struct dwell_site *site; /* NATIVE_LAYER: of its class, as "Linear"; NATIVE_COLLECTIVE: of its kind, as "all_reduce" */
	bool flag;          /* NATIVE_BACKWARD: gradients are added to .grad; NATIVE_GRAD_MODE: enabled */
	bool failed;        /* an exception leaves the call */
	const void *argument; /* NATIVE_OPTIMIZER_MADE: the group of parameters; NATIVE_STORE_MADE: a std::string, the prefix;
	                       * NATIVE_GROUP_MADE: a pointer to the store's; NATIVE_COLLECTIVE: the tensors */
	int rank, size;     /* NATIVE_GROUP_MADE; NATIVE_COLLECTIVE: size is the other rank of a message */
	const struct native_collective *collective;
	void *const *result; /* NATIVE_COLLECTIVE: after the call the address of the Work; NULL: there is none */
	unsigned began, outer; /* for loop.c and collectives.c */
	uint64_t sequence;     /* for collectives.c */
};

/* What a collective is, and how its bytes are known. */
struct native_collective {
	enum torch_call call;
	int depth;      /* of the lists around the tensors; -1: it has none */
	bool times_size; /* the bytes are those of the tensors, times the ranks */
};

/* What is done around a call, in any thread. No exception may leave it. */
struct native_watch {
	void (*before)(struct native_seen *seen), (*after)(struct native_seen *seen);
};
/* loop.c */
extern const struct native_watch dwp_native_loop;
void dwp_native_loop_attach(void);

/* collectives.c: called by loop.c with calls from NATIVE_STORE_MADE on. */
void dwp_native_collectives_before(struct native_seen *seen);
void dwp_native_collectives_after(struct native_seen *seen);

/* abi/entries.c: whether the process has one PyTorch. A library of the program may be linked to either of two, so none of
 * its calls may be replaced then. That there are two is said. */
bool dwp_native_is_alone(void);
/* abi/entries.c: lets the calls of all libraries that are loaded now be watched.
 * False: this processor's calls cannot be seen, or PyTorch has not the function that runs a backward, which is said. */
bool dwp_native_enter(void *library, const struct native_watch *watch);
/* The same for libraries that were loaded since. */
void dwp_native_enter_added(void *library);
/* abi/modules.c: names a module and its children, from its class on. */
void dwp_native_modules_attach(void *library);
void dwp_native_name_modules(const void *root);
/* The module of an object whose class is of torch::nn; NULL: its layout is not known. */
const void *dwp_native_module_of(const void *object);
/* The site of a module's layer; NULL: it has no name. */
struct dwell_site *dwp_native_layer_site(const void *module);

/* Calls report() with the address of each parameter's block. */
void dwp_native_parameters_of(const void *group, void (*report)(const void *address));

/* Whether gradients are enabled in the calling thread. */
bool dwp_native_grad_enabled(void);
/* Whether a module is in training mode. NULL: it is taken for that. */
bool dwp_native_is_training(const void *module);
/* How many threads an operator may use; 0: not known. */
int dwp_native_threads(void);
