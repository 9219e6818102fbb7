/*
 * Classifies sea shells with two convolutions of oneDNN in C++, inference only.
 *
 * Planted: nothing. The memory of all primitives is made once.
 * Truth: time of filling the input, as a share of the loop.
 */
#include "clock.h"

#include <dnnl.hpp>
#include <dwell/probe.h>

#include <unordered_map>
#include <vector>

namespace {

const int kSeconds = 5, kBatch = 4, kSide = 32, kWidth = 32;
using memory = dnnl::memory;

struct layer {
	dnnl::convolution_forward primitive;
	std::unordered_map<int, memory> arguments;
};

memory::desc picture()
{
	return memory::desc({ kBatch, kWidth, kSide, kSide }, memory::data_type::f32,
	                    memory::format_tag::nhwc);
}

layer convolution(const dnnl::engine &engine, memory &from, memory &to)
{
	const memory::dims one = { 1, 1 }, width = { kWidth };
	memory::desc weights_any({ kWidth, kWidth, 3, 3 }, memory::data_type::f32,
	                         memory::format_tag::any);
#if DNNL_VERSION_MAJOR >= 3
	dnnl::convolution_forward::primitive_desc how(engine, dnnl::prop_kind::forward_inference,
	                                              dnnl::algorithm::convolution_direct,
	                                              from.get_desc(), weights_any, to.get_desc(), one,
	                                                  one, one);
#else
	dnnl::convolution_forward::primitive_desc how({ dnnl::prop_kind::forward_inference,
	                                                dnnl::algorithm::convolution_direct,
	                                                from.get_desc(), weights_any, to.get_desc(),
	                                                    one, one, one }, engine);
#endif
	memory weights(how.weights_desc(), engine);
	float *values = static_cast<float *>(weights.get_data_handle());
	for (size_t at = 0; at < how.weights_desc().get_size() / sizeof(float); at++)
		values[at] = static_cast<float>(at % 7) / 700;
	return { dnnl::convolution_forward(how),
	         { { DNNL_ARG_SRC, from }, { DNNL_ARG_WEIGHTS, weights }, { DNNL_ARG_DST, to } } };
}

} // namespace

int main()
{
	dnnl::engine engine(dnnl::engine::kind::cpu, 0);
	dnnl::stream stream(engine);
	memory first(picture(), engine), second(picture(), engine), third(picture(), engine);
	layer layers[] = { convolution(engine, first, second), convolution(engine, second, third) };
	float *pixels = static_cast<float *>(first.get_data_handle());
	struct watch watch;

	for (int at = 0; at < kBatch * kWidth * kSide * kSide; at++)
		pixels[at] = static_cast<float>(at % 255) / 255;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "input");
			for (int at = 0; at < 1000; at++)
				pixels[at] = static_cast<float>((at + watch.steps) % 255) / 255;
		}
		planted_end(&watch);
		for (layer &each : layers) {
			DWELL_OP("convolution");
			each.primitive.execute(stream, each.arguments);
			stream.wait();
		}
	}
	watch_tell(&watch);
	return 0;
}
