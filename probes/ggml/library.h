/*
 * The copies of ggml in this process, found at run time: the function that a caller would have called, the
 * functions of the same copy that the probe calls, and where ggml keeps what it has no function for.
 *
 * A process may hold several copies, such as Python with two packages that bring their own. Each caller gets the
 * functions of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <dwell/probe.h>

#define DWG_API __attribute__((visibility("default")))

/* Types of ggml, which the probe knows by address only. */
struct ggml_tensor;
struct ggml_cgraph;
typedef bool dwg_abort(void *data);
typedef void dwg_set_abort(void *backend, dwg_abort *callback, void *data);

/* A function of ggml that the probe records. */
struct dwg_function {
	const char *name;
	bool has_status; /* it returns a number that is negative if it fails; others return a pointer or nothing */
	void *real; /* atomic: what every caller gets; NULL: not looked up, or callers get different ones */
	struct {
		const void *caller; /* atomic; written last */
		void *real;
	} near[8];
};

/* X(result, name, parameters): functions of ggml that the probe calls. Old versions lack some. */
#define DWG_CALLS(X)                                                                     \
	X(int, ggml_graph_n_nodes, (struct ggml_cgraph * graph))                             \
	X(struct ggml_tensor *, ggml_graph_node, (struct ggml_cgraph * graph, int i))        \
	X(const char *, ggml_get_name, (const struct ggml_tensor *tensor))                   \
	X(const char *, ggml_op_desc, (const struct ggml_tensor *tensor))                    \
	X(size_t, ggml_nbytes, (const struct ggml_tensor *tensor))                           \
	X(const char *, ggml_type_name, (int type))                                          \
	X(const char *, ggml_backend_name, (void *backend))                                  \
	X(void *, ggml_backend_get_device, (void *backend))                                  \
	X(void *, ggml_backend_dev_backend_reg, (void *device))                              \
	X(void *, ggml_backend_reg_get_proc_address, (void *registry, const char *name))     \
	X(const char *, ggml_version, (void))                                                \
	X(void *, ggml_init, (struct dwg_init how))                                          \
	X(void, ggml_free, (void *context))                                                  \
	X(size_t, ggml_tensor_overhead, (void))                                              \
	X(struct ggml_tensor *, ggml_new_tensor_2d, (void *context, int type, int64_t, int64_t)) \
	X(struct ggml_tensor *, ggml_mul_mat, (void *context, struct ggml_tensor *, struct ggml_tensor *))

struct dwg_init {
	size_t bytes;
	void *memory;
	bool no_data;
};

/* Which nodes of a graph the processor's backend computes one by one; see nodes.c. */
enum { DWG_ALL = 1, DWG_NOT_EMPTY = 2, DWG_FUSED = 4 };

struct dwg_library {
#define DWG_MEMBER(result, name, parameters) result(*name) parameters;
	DWG_CALLS(DWG_MEMBER)
#undef DWG_MEMBER
	bool has_graphs;  /* it has the functions that read a graph */
	bool has_offsets; /* these were found */
	uint32_t type_at, sizes_at, sources_at;
	uint32_t rules;   /* atomic: those that no graph has contradicted */
};

/* The function that code at this address would have called. If there is none, says so and returns one that fails. */
void *dwg_find(struct dwg_function *function, const void *caller);
/* The copy that has this function, or NULL: the table is full. */
struct dwg_library *dwg_library_of(const void *real);

static inline void *dwg_real(struct dwg_function *function, const void *caller)
{
	/* Acquire: pairs with the release in dwg_find(). */
	void *real = __atomic_load_n(&function->real, __ATOMIC_ACQUIRE);

	return DWELL_LIKELY(real != NULL) ? real : dwg_find(function, caller);
}

static inline int dwg_type(const struct dwg_library *ggml, const struct ggml_tensor *tensor)
{
	int32_t type;

	memcpy(&type, (const char *)tensor + ggml->type_at, sizeof type);
	return type;
}

/* The four sizes of a tensor, innermost first. */
static inline const int64_t *dwg_sizes(const struct dwg_library *ggml, const struct ggml_tensor *tensor)
{
	return (const void *)((const char *)tensor + ggml->sizes_at);
}

static inline const struct ggml_tensor *dwg_source(const struct dwg_library *ggml, const struct ggml_tensor *tensor,
                                                   unsigned i)
{
	const void *source;

	memcpy(&source, (const char *)tensor + ggml->sources_at + i * sizeof source, sizeof source);
	return source;
}
