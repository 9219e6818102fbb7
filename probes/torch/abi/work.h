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
	DWP_ABI_WORK_CHECK,    /* the operators that check.c names, and the backward of aten::sin */
	DWP_ABI_WORK_COST,     /* some operators and their backward, of the scalar of DWP_ABI_WORK_RAISE */
	DWP_ABI_WORK_SCRIPT,   /* a TorchScript function named DWP_ABI_SCRIPT_NAME, which calls aten::neg */
};
#define DWP_ABI_SCRIPT_NAME "dwp_where"

/* False: nothing can be run. Otherwise call dwp_abi_work_end() when the work is done. */
bool dwp_abi_work_begin(void);
void dwp_abi_work_end(void);
/* Makes a tensor of zeros with three dimensions, of a type that layout.c uses. */
bool dwp_abi_make_tensor(const int64_t sizes[3], uint16_t dtype);
/* False: it failed or is not possible here. */
bool dwp_abi_work(enum dwp_abi_work work);
