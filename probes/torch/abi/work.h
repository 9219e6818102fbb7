/*
 * Operators whose inputs are known, which layout.c, check.c and script.c watch.
 *
 * In Python the lines of work_python.c run them; in a program of C++ alone work_native.c calls them.
 * Each works on what the one before made, in the calling thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum dwp_abi_work {
	DWP_ABI_WORK_NEG,      /* aten::neg of the tensor, without gradients */
	DWP_ABI_WORK_RAISE,    /* aten::exp seven times, of a new scalar that requires gradients */
	DWP_ABI_WORK_EXP,      /* aten::exp of that scalar */
	DWP_ABI_WORK_BACKWARD, /* the gradient of the result */
	DWP_ABI_WORK_INTEGERS, /* aten::all and aten::flip of the tensor, with the integers below, without gradients */
	DWP_ABI_WORK_CHECK,    /* the operators that check.c names, and the backward of aten::sin */
	DWP_ABI_WORK_COST,     /* some operators and their backward, of the scalar of DWP_ABI_WORK_RAISE */
	DWP_ABI_WORK_SCRIPT,   /* a TorchScript function named DWP_ABI_SCRIPT_NAME, which calls aten::neg */
};
#define DWP_ABI_SCRIPT_NAME "dwp_where"
/* Of DWP_ABI_WORK_INTEGERS: all(tensor, 2, true) and flip(tensor, {1, 2, 0}). */
#define DWP_ABI_ALL_AXIS 2
#define DWP_ABI_FLIP_AXES \
	{ \
		1, 2, 0 \
	}

/* False: nothing can be run. Otherwise call dwp_abi_work_end() when the work is done. */
bool dwp_abi_work_begin(void);
void dwp_abi_work_end(void);
/* Makes a tensor of zeros with three dimensions, of a type that layout.c uses. */
bool dwp_abi_make_tensor(const int64_t sizes[3], uint16_t dtype);
/* Where the elements of that tensor of type DWELL_FLOAT64 are; 0: not known. */
uintptr_t dwp_abi_tensor_elements(void);
/* False: it failed or is not possible here. */
bool dwp_abi_work(enum dwp_abi_work work);
