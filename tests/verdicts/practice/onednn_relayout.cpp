/*
 * A filter bank on oneDNN in C++ whose signals come in rows of channels.
 *
 * Planted: each step reorders its signals to the layout of planes for the convolution, and the
 * result back. Truth: time of the reorders, of the loop.
 */
#include <dwell/probe.h>

#include <chrono>
#include <cstdio>
#include <dnnl.hpp>
#include <vector>

using dnnl::memory;

namespace
{

constexpr memory::dim BATCH = 16, CHANNELS = 24, SIDE = 56;
constexpr double SECONDS = 3;

double now_s()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
	    .count();
}

template <typename Descriptor>
dnnl::convolution_forward make(const dnnl::engine &engine, const Descriptor &source,
                               const Descriptor &weights, const Descriptor &target)
{
	const auto kind = dnnl::prop_kind::forward_inference;
	const auto algorithm = dnnl::algorithm::convolution_direct;
	const memory::dims one{ 1, 1 };
#if DNNL_VERSION_MAJOR >= 3
	return dnnl::convolution_forward(
		{ engine, kind, algorithm, source, weights, target, one, one, one });
#else
	return dnnl::convolution_forward(
		{ { kind, algorithm, source, weights, target, one, one, one }, engine });
#endif
}

double reorder(memory &from, memory &to, dnnl::stream &stream)
{
	double began = now_s();

	dnnl::reorder(from, to).execute(stream, from, to);
	stream.wait();
	return now_s() - began;
}

void descend(std::vector<float> &weights, const std::vector<float> &answers)
{
	DWELL_OP("update");
	for (size_t each = 0; each < weights.size(); each++)
		weights[each] -= 1e-6f * answers[each];
}

} // namespace

int main()
{
	using tag = memory::format_tag;
	const auto type = memory::data_type::f32;
	const memory::dims signal{ BATCH, CHANNELS, SIDE, SIDE }, filter{ CHANNELS, CHANNELS, 3, 3 };
	dnnl::engine engine(dnnl::engine::kind::cpu, 0);
	dnnl::stream stream(engine);
	std::vector<float> values(BATCH * CHANNELS * SIDE * SIDE, 0.3f), answers(values.size()),
		planes(values.size()), results(values.size()), weights(CHANNELS * CHANNELS * 9, 0.01f);
	memory rows({ signal, type, tag::nhwc }, engine, values.data()),
		back({ signal, type, tag::nhwc }, engine, answers.data());
	memory source({ signal, type, tag::nchw }, engine, planes.data()),
		target({ signal, type, tag::nchw }, engine, results.data());
	memory filters({ filter, type, tag::oihw }, engine, weights.data());
	dnnl::convolution_forward convolution =
		make(engine, source.get_desc(), filters.get_desc(), target.get_desc());
	double reorders_s = 0, began = now_s(), loop_s;
	int steps = 0;

	for (; now_s() - began < SECONDS; steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			reorders_s += reorder(rows, source, stream);
			convolution.execute(stream, { { DNNL_ARG_SRC, source },
			                              { DNNL_ARG_WEIGHTS, filters },
			                              { DNNL_ARG_DST, target } });
			stream.wait();
			reorders_s += reorder(target, back, stream);
		}
		{
			DWELL_ZONE("optimizer");
			descend(weights, answers);
		}
	}
	loop_s = now_s() - began;
	std::printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	            reorders_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
