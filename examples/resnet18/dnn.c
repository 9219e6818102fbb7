/*
 * dnn.c - the calls of oneDNN that are not layers: engine, stream, thread count, memory layouts and
 * the error check. Used by every op_*.c.
 */
#include "dnn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Debian's oneDNN uses GNU OpenMP. These two prototypes are sufficient; clang's -fopenmp would load
 * a second runtime into the process.
 */
void omp_set_num_threads(int count);
int omp_get_max_threads(void);

void die(const char *format, ...)
{
	va_list args;

	fputs("resnet18: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void dnn_check(dnnl_status_t status, const char *what)
{
	if (status == dnnl_out_of_memory)
		die("oneDNN: %s: out of memory; try a smaller --batch", what);
	if (status != dnnl_success)
		die("oneDNN: %s: status %d; ONEDNN_VERBOSE=1 shows the call before", what, (int)status);
}

/* Must be called before any primitive is created: oneDNN then fixes how it splits the work. */
void dnn_init(struct dnn *dnn, int threads)
{
	if (threads > 0)
		omp_set_num_threads(threads);
	dnn_check(dnnl_engine_create(&dnn->engine, dnnl_cpu, 0), "engine");
	dnn_check(dnnl_stream_create(&dnn->stream, dnn->engine, dnnl_stream_default_flags), "stream");
	dnn_check(dnnl_primitive_attr_create(&dnn->attributes), "attributes");
	dnn_check(dnnl_primitive_attr_set_scratchpad_mode(dnn->attributes, dnnl_scratchpad_mode_user),
			  "scratchpad mode");
}

void dnn_reset(struct dnn *dnn)
{
	dnnl_primitive_attr_destroy(dnn->attributes);
	dnnl_stream_destroy(dnn->stream);
	dnnl_engine_destroy(dnn->engine);
}

int dnn_thread_count(void)
{
	return omp_get_max_threads();
}

dnnl_memory_desc_t dnn_layout(int dim_count, const dnnl_dim_t *dims, dnnl_format_tag_t tag)
{
	dnnl_memory_desc_t layout;

	dnn_check(dnnl_memory_desc_init_by_tag(&layout, dim_count, dims, dnnl_f32, tag), "layout");
	return layout;
}

dnnl_memory_desc_t dnn_plain_layout(const dnnl_memory_desc_t *like)
{
	static const dnnl_format_tag_t by_dim_count[] = { dnnl_format_tag_undef, dnnl_a, dnnl_ab,
													  dnnl_abc, dnnl_abcd };

	return dnn_layout(like->ndims, like->dims, by_dim_count[like->ndims]);
}

dnnl_memory_desc_t dnn_any_layout(const dnnl_memory_desc_t *like)
{
	return dnn_layout(like->ndims, like->dims, dnnl_format_tag_any);
}

dnnl_primitive_desc_t dnn_describe(const struct dnn *dnn, const_dnnl_op_desc_t desc,
								   const_dnnl_primitive_desc_t forward_hint)
{
	dnnl_primitive_desc_t kernel;

	dnn_check(dnnl_primitive_desc_create(&kernel, desc, dnn->attributes, dnn->engine, forward_hint),
			  "no kernel for this layer");
	return kernel;
}

dnnl_memory_desc_t dnn_wanted_layout(const_dnnl_primitive_desc_t kernel, int argument)
{
	return *dnnl_primitive_desc_query_md(kernel, dnnl_query_exec_arg_md, argument);
}
