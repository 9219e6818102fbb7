/*
 * Two towers, one for pictures and one for their titles, each in a thread of its own.
 *
 * Planted: the tower of pictures needs nearly twice as long, and the loop joins its thread.
 * Truth: time of joining, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <functional>
#include <thread>
#include <vector>

static const int kSeconds = 5, kBatch = 96;

class Tower {
public:
	Tower(int inputs, int outputs)
	    : inputs_(inputs), outputs_(outputs), weights_(inputs * outputs, 0.01f),
	      in_(kBatch * inputs, 0.5f), out_(kBatch * outputs)
	{
	}
	void forward()
	{
		DWELL_OP("tower");
		for (int at = 0; at < kBatch; at++)
			for (int o = 0; o < outputs_; o++) {
				float sum = 0;
				for (int i = 0; i < inputs_; i++)
					sum += in_[at * inputs_ + i] * weights_[o * inputs_ + i];
				out_[at * outputs_ + o] = sum;
			}
	}
	void backward(const std::vector<float> &other)
	{
		DWELL_OP("tower, backward");
		for (int at = 0; at < kBatch; at++)
			for (int o = 0; o < outputs_; o++) {
				const float error = out_[at * outputs_ + o] - other[at * outputs_ + o];
				for (int i = 0; i < inputs_; i++)
					weights_[o * inputs_ + i] -= 1e-8f * error * in_[at * inputs_ + i];
			}
	}
	const std::vector<float> &out() const
	{
		return out_;
	}

private:
	int inputs_, outputs_;
	std::vector<float> weights_, in_, out_;
};

int main()
{
	Tower pictures(448, 64), titles(256, 64);
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		std::thread there(&Tower::forward, &pictures);
		titles.forward();
		planted_begin(&watch);
		there.join();
		planted_end(&watch);
		std::thread back(&Tower::backward, &pictures, std::cref(titles.out()));
		titles.backward(pictures.out());
		planted_begin(&watch);
		back.join();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
