/*
 * A scoring network on oneDNN in C++: two inner products, the slope of the loss, and their
 * gradients.
 *
 * Planted: nothing. Primitives and memory are made once; weights keep their layout.
 * Truth: time of a step outside the primitives, as a share of the loop.
 */
#include <dwell/probe.h>

#include <chrono>
#include <cstdio>
#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

using dnnl::memory;

namespace
{

constexpr memory::dim BATCH = 256, INPUTS = 512, HIDDEN = 384;
constexpr double SECONDS = 3;

double now_s()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
	    .count();
}

struct Multiply {
	dnnl::matmul primitive;
	std::unordered_map<int, memory> arguments;

	Multiply(const dnnl::engine &engine, const memory &left, const memory &right,
	         const memory &product)
		: primitive(make(engine, left.get_desc(), right.get_desc(), product.get_desc())), arguments{
			  { DNNL_ARG_SRC, left }, { DNNL_ARG_WEIGHTS, right }, { DNNL_ARG_DST, product }
		  }
	{
	}

	template <typename Descriptor>
	static dnnl::matmul make(const dnnl::engine &engine, const Descriptor &left,
	                         const Descriptor &right, const Descriptor &product)
	{
#if DNNL_VERSION_MAJOR >= 3
		return dnnl::matmul(dnnl::matmul::primitive_desc(engine, left, right, product));
#else
		return dnnl::matmul(
			dnnl::matmul::primitive_desc(dnnl::matmul::desc(left, right, product), engine));
#endif
	}

	void run(dnnl::stream &stream)
	{
		primitive.execute(stream, arguments);
		stream.wait();
	}
};

memory make(const dnnl::engine &engine, memory::dim rows, memory::dim columns,
            memory::format_tag layout, float *values)
{
	return memory({ { rows, columns }, memory::data_type::f32, layout }, engine, values);
}

void descend(std::vector<float> &weights, const std::vector<float> &slopes)
{
	DWELL_OP("sgd");
	for (size_t each = 0; each < weights.size(); each++)
		weights[each] -= 1e-6f * slopes[each];
}

} // namespace

int main()
{
	const auto plain = memory::format_tag::ab, turned = memory::format_tag::ba;
	dnnl::engine engine(dnnl::engine::kind::cpu, 0);
	dnnl::stream stream(engine);
	std::vector<float> input(BATCH * INPUTS, 0.5f), first(INPUTS * HIDDEN, 0.01f),
		hidden(BATCH * HIDDEN), second(HIDDEN * HIDDEN, 0.02f), output(BATCH * HIDDEN),
		second_slope(HIDDEN * HIDDEN), hidden_slope(BATCH * HIDDEN), first_slope(INPUTS * HIDDEN);
	auto at = [&](std::vector<float> &values, memory::dim rows, memory::dim columns,
	              memory::format_tag layout) {
		return make(engine, rows, columns, layout, values.data());
	};
	Multiply up(engine, at(input, BATCH, INPUTS, plain), at(first, INPUTS, HIDDEN, plain),
	            at(hidden, BATCH, HIDDEN, plain));
	Multiply across(engine, at(hidden, BATCH, HIDDEN, plain), at(second, HIDDEN, HIDDEN, plain),
	                at(output, BATCH, HIDDEN, plain));
	Multiply second_back(engine, at(hidden, HIDDEN, BATCH, turned),
	                     at(output, BATCH, HIDDEN, plain), at(second_slope, HIDDEN, HIDDEN, plain));
	Multiply hidden_back(engine, at(output, BATCH, HIDDEN, plain),
	                     at(second, HIDDEN, HIDDEN, turned),
	                     at(hidden_slope, BATCH, HIDDEN, plain));
	Multiply first_back(engine, at(input, INPUTS, BATCH, turned),
	                    at(hidden_slope, BATCH, HIDDEN, plain),
	                    at(first_slope, INPUTS, HIDDEN, plain));
	double inside_s = 0, began = now_s(), loop_s;
	int steps = 0;

	for (; now_s() - began < SECONDS; steps++) {
		DWELL_STEP();
		double start = now_s();
		{
			DWELL_ZONE("forward");
			for (int repeat = 0; repeat < 3; repeat++) {
				up.run(stream);
				across.run(stream);
			}
		}
		{
			DWELL_ZONE("backward");
			for (int repeat = 0; repeat < 3; repeat++) {
				second_back.run(stream);
				hidden_back.run(stream);
				first_back.run(stream);
			}
		}
		{
			DWELL_ZONE("optimizer");
			descend(second, second_slope);
			descend(first, first_slope);
		}
		inside_s += now_s() - start;
	}
	loop_s = now_s() - began;
	std::printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	            1 - inside_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
