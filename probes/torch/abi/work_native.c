/*
 * Runs the operators of work.h through functions that libtorch_cpu exports, in a program of C++ alone.
 *
 * A C++ function that returns a tensor gets the place of the result from its caller. C does the same for a
 * structure of more than 16 bytes, on every processor, so that `struct result` stands for a tensor; only
 * its first word is written. An optional that has no value is passed as 0. Where std::optional took the
 * place of c10::optional, a function has another mangled name.
 *
 * A tensor is freed by a function of PyTorch that is made for C, which versions before 2.1 do not have. There
 * the tensors stay: about forty kilobytes in a process.
 */
#include "abi.h"

#include <dlfcn.h>
#include <dwell/probe.h>
#include <stddef.h>

#include "../native/native.h"

struct result {
	void *tensor, *unused[2];
};
struct list { /* std::vector */
	const void *first, *last, *capacity;
};
typedef struct result operator_of_one(void *const *tensor);

#define GRAD "_ZN5torch8autograd4gradERKSt6vectorIN2at6TensorESaIS3_EES7_S7_"
#define EMPTY "_ZN2at6detail9empty_cpuEN3c108ArrayRefIlEENS1_10ScalarTypeEb"
#define CUMSUM "_ZN2at4_ops6cumsum4callERKNS_6TensorEl"

static struct {
	operator_of_one *neg, *exp, *sin, *bitwise_not, *logical_not;
	struct result (*cumsum)(void *const *tensor, int64_t axis, unsigned dtype);
	struct result (*all)(void *const *tensor, int64_t axis, unsigned keep);
	struct result (*flip)(void *const *tensor, const int64_t *axes, size_t count);
	const void *(*elements)(void *const *tensor); /* of type DWELL_FLOAT64 */
	struct result (*empty)(const int64_t *sizes, size_t count, unsigned dtype, unsigned pinned, unsigned format);
	void *(*zero)(void **tensor);
	int (*is_inference)(void *const *tensor);
	void (*require_grad)(void *tensor, bool required);
	struct list (*grad)(const struct list *outputs, const struct list *inputs, const struct list *gradients,
	                    unsigned retain, unsigned create, unsigned unused);
	int (*delete)(void *holder); /* of a tensor, made by new(); NULL: there is none */
	void *(*new)(size_t bytes);
	void (*release)(void *memory);
	void (*set_grad)(bool enabled);
} calls;

static void *leaf, *output, *zeros; /* tensors; NULL: none */

/* ---- functions ------------------------------------------------------------------------------ */

static bool work_find(void *library, void *to, const char *name, const char *other_name)
{
	void *found = dlsym(library, name);

	if (!found && other_name)
		found = dlsym(library, other_name);
	*(void **)to = found;
	return found != NULL;
}

static bool work_find_all(void *library)
{
	return work_find(library, &calls.neg, "_ZN2at4_ops3neg4callERKNS_6TensorE", NULL) &&
	       work_find(library, &calls.exp, "_ZN2at4_ops3exp4callERKNS_6TensorE", NULL) &&
	       work_find(library, &calls.sin, "_ZN2at4_ops3sin4callERKNS_6TensorE", NULL) &&
	       work_find(library, &calls.bitwise_not, "_ZN2at4_ops11bitwise_not4callERKNS_6TensorE", NULL) &&
	       work_find(library, &calls.logical_not, "_ZN2at4_ops11logical_not4callERKNS_6TensorE", NULL) &&
	       work_find(library, &calls.zero, "_ZN2at4_ops5zero_4callERNS_6TensorE", NULL) &&
	       work_find(library, &calls.is_inference, "_ZN2at4_ops12is_inference4callERKNS_6TensorE", NULL) &&
	       work_find(library, &calls.cumsum, CUMSUM "St8optionalIN3c1010ScalarTypeEE",
	                 CUMSUM "N3c108optionalINS5_10ScalarTypeEEE") &&
	       work_find(library, &calls.empty, EMPTY "St8optionalINS1_12MemoryFormatEE",
	                 EMPTY "NS1_8optionalINS1_12MemoryFormatEEE") &&
	       work_find(library, &calls.require_grad, "_ZN3c1010TensorImpl17set_requires_gradEb", NULL) &&
	       work_find(library, &calls.grad, GRAD "St8optionalIbEbb", GRAD "N3c108optionalIbEEbb") &&
	       work_find(library, &calls.set_grad, "_ZN3c108GradMode11set_enabledEb", NULL);
}

/* Functions without which only integers and elements are not found. */
static void work_find_more(void *library)
{
	if (!work_find(library, &calls.all, "_ZN2at4_ops7all_dim4callERKNS_6TensorElb", NULL) ||
	    !work_find(library, &calls.flip, "_ZN2at4_ops4flip4callERKNS_6TensorEN3c108ArrayRefIlEE", NULL) ||
	    !work_find(library, &calls.elements, "_ZNK2at10TensorBase8data_ptrIdEEPT_v", NULL))
		calls.flip = NULL;
}

void dwp_native_prepare_work(void *library)
{
	work_find_more(library);
	if (!work_find_all(library))
		calls.neg = NULL;
	/* The program may have an allocator of its own, which PyTorch then uses. */
	if (!work_find(RTLD_DEFAULT, &calls.new, "_Znwm", NULL) || !work_find(RTLD_DEFAULT, &calls.release, "_ZdlPv", NULL) ||
	    !work_find(library, &calls.delete, "aoti_torch_delete_tensor_object", NULL))
		calls.delete = NULL;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

static void work_free(void **tensor)
{
	void **holder = *tensor && calls.delete ? calls.new(sizeof *holder) : NULL;

	if (holder) {
		*holder = *tensor;
		calls.delete(holder);
	}
	*tensor = NULL;
}

static void *work_make(const int64_t *sizes, size_t dimensions, uint16_t dtype)
{
	void *tensor = calls.empty(sizes, dimensions, dtype, 0, 0).tensor;

	calls.zero(&tensor);
	return tensor;
}

/* A scalar that requires gradients. NULL: not possible in inference mode, where such a call would throw. */
static void *work_make_leaf(void)
{
	void *tensor = work_make(NULL, 0, DWELL_FLOAT32);

	if (calls.is_inference(&tensor) & 1) {
		work_free(&tensor);
		return NULL;
	}
	calls.require_grad(tensor, true);
	return tensor;
}

static void work_backward(void)
{
	const struct list outputs = { &output, &output + 1, &output + 1 }, inputs = { &leaf, &leaf + 1, &leaf + 1 },
	                  none = { NULL, NULL, NULL };

	const struct list gradients = calls.grad(&outputs, &inputs, &none, 0, 0, 0);
	void *gradient = *(void *const *)gradients.first;

	work_free(&gradient);
	if (calls.delete)
		calls.release((void *)(uintptr_t)gradients.first);
	work_free(&output);
}

static void work_on(operator_of_one *operator, void *tensor)
{
	void *made = operator(&tensor).tensor;

	work_free(&made);
	work_free(&tensor);
}

/* Calls aten::all or aten::flip, and frees the result. */
static void work_all(void *tensor, int64_t axis, bool keep)
{
	void *made = calls.all(&tensor, axis, keep).tensor;

	work_free(&made);
}

static void work_flip(void *tensor, const int64_t *axes, size_t count)
{
	void *made = calls.flip(&tensor, axes, count).tensor;

	work_free(&made);
}

static void work_integers(void *tensor)
{
	static const int64_t axes[] = DWP_ABI_FLIP_AXES;

	if (!calls.flip)
		return;
	calls.set_grad(false);
	work_all(tensor, DWP_ABI_ALL_AXIS, true);
	work_flip(tensor, axes, 3);
	calls.set_grad(true);
}

static void work_check_integers(void)
{
	static const int64_t plain[] = { 7, 1, 3 }, empty[] = { 7, 0, 3 }, axes[] = { 2, 0 };
	void *tensor;

	if (!calls.flip)
		return;
	tensor = work_make(plain, 3, DWELL_FLOAT64);
	work_all(tensor, 1, false);
	work_free(&tensor);
	tensor = work_make(empty, 3, DWELL_FLOAT64);
	work_flip(tensor, axes, 2);
	work_free(&tensor);
}

static void work_check(void)
{
	static const int64_t plain[] = { 7, 1, 3 }, deep[] = { 2, 1, 1, 3, 1, 5 };
	void *wide, *sums;

	calls.set_grad(false);
	work_check_integers();
	work_on(calls.bitwise_not, work_make(plain, 3, DWELL_INT16));
	work_on(calls.logical_not, work_make(deep, 6, DWELL_BFLOAT16));
	wide = work_make(plain, 3, DWELL_FLOAT64);
	sums = calls.cumsum(&wide, 2, 0).tensor;
	work_free(&sums);
	work_free(&wide);
	calls.set_grad(true);
	leaf = work_make_leaf();
	if (leaf) {
		output = calls.sin(&leaf).tensor;
		work_backward();
	}
}

/* ---- work.h --------------------------------------------------------------------------------------- */

static bool had_grad;

bool dwp_abi_work_begin(void)
{
	if (!calls.neg || !dwp_abi_functions.grad_enabled)
		return false;
	had_grad = dwp_abi_functions.grad_enabled();
	calls.set_grad(true);
	return true;
}

void dwp_abi_work_end(void)
{
	calls.set_grad(had_grad);
	work_free(&leaf);
	work_free(&zeros);
}

bool dwp_abi_make_tensor(const int64_t sizes[3], uint16_t dtype)
{
	zeros = work_make(sizes, 3, dtype);
	return true;
}

uintptr_t dwp_abi_tensor_elements(void)
{
	return zeros && calls.flip ? (uintptr_t)calls.elements(&zeros) : 0;
}

bool dwp_abi_work(enum dwp_abi_work work)
{
	switch (work) {
	case DWP_ABI_WORK_NEG:
		calls.set_grad(false);
		work_on(calls.neg, zeros);
		zeros = NULL;
		calls.set_grad(true);
		break;
	case DWP_ABI_WORK_RAISE:
		leaf = work_make_leaf();
		for (int i = 0; leaf && i < 7; i++) {
			output = calls.exp(&leaf).tensor;
			work_free(&output);
		}
		return leaf != NULL;
	case DWP_ABI_WORK_EXP: output = calls.exp(&leaf).tensor; break;
	case DWP_ABI_WORK_BACKWARD: work_backward(); break;
	case DWP_ABI_WORK_INTEGERS: work_integers(zeros); break;
	case DWP_ABI_WORK_CHECK: work_check(); break;
	case DWP_ABI_WORK_COST:
		for (int i = 0; i < 2; i++) {
			output = calls.exp(&leaf).tensor;
			work_backward();
		}
		break;
	case DWP_ABI_WORK_SCRIPT: return false;
	}
	return true;
}
