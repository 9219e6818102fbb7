// Draws charts of sea ice from satellites' cells: a mixer of cells and channels, inference only, each operator by hand.
//
// Planted: the norm computes the mean of its group anew for each element, and the deviation with a mean of its own.
// Truth: time of the norm, of the loop; a norm that computes both once would take a fiftieth of that.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ice {

struct Tensor {
	int rows, columns;
	std::vector<float> values;

	Tensor(int r, int c) : rows(r), columns(c), values(static_cast<size_t>(r) * c) {}
	float *row(int r) { return values.data() + static_cast<size_t>(r) * columns; }
	const float *row(int r) const { return values.data() + static_cast<size_t>(r) * columns; }
};

watch chart_clock;

float mean(const float *group, int size)
{
	float sum = 0;
	for (int i = 0; i < size; i++)
		sum += group[i];
	return sum / size;
}

float deviation(const float *group, int size)
{
	const float middle = mean(group, size);
	float sum = 0;
	for (int i = 0; i < size; i++)
		sum += (group[i] - middle) * (group[i] - middle);
	return std::sqrt(sum / size + 1e-5f);
}

class Operator {
public:
	virtual ~Operator() = default;
	virtual void apply(const Tensor &in, Tensor &out) const = 0;
};

class GroupNorm : public Operator {
public:
	explicit GroupNorm(int size) : size_(size) {}
	void apply(const Tensor &in, Tensor &out) const override
	{
		DWELL_OP("group_norm");
		planted_begin(&chart_clock);
		for (int r = 0; r < in.rows; r++)
			for (int c = 0; c < in.columns; c++) {
				const float *group = in.row(r) + c / size_ * size_;
				out.row(r)[c] = (in.row(r)[c] - mean(group, size_)) / deviation(group, size_);
			}
		planted_end(&chart_clock);
	}

private:
	int size_;
};

// Over channels; `over_cells`: over cells.
class Linear : public Operator {
public:
	Linear(int from, int to, bool over_cells) : weights_(from, to), over_cells_(over_cells)
	{
		for (size_t i = 0; i < weights_.values.size(); i++)
			weights_.values[i] = std::sin(static_cast<float>(i * 7919 % 10007)) / std::sqrt(static_cast<float>(from));
	}
	void apply(const Tensor &in, Tensor &out) const override
	{
		if (over_cells_)
			cells(in, out);
		else
			channels(in, out);
	}

private:
	void channels(const Tensor &in, Tensor &out) const
	{
		DWELL_OP("mix_channels");
		for (int r = 0; r < in.rows; r++) {
			float *to = out.row(r);
			std::fill(to, to + out.columns, 0.f);
			for (int k = 0; k < in.columns; k++)
				add(to, weights_.row(k), in.row(r)[k], out.columns);
		}
	}
	void cells(const Tensor &in, Tensor &out) const
	{
		DWELL_OP("mix_cells");
		for (int r = 0; r < out.rows; r++) {
			float *to = out.row(r);
			std::fill(to, to + out.columns, 0.f);
			for (int k = 0; k < in.rows; k++)
				add(to, in.row(k), weights_.row(k)[r], out.columns);
		}
	}
	static void add(float *__restrict to, const float *__restrict from, float times, int count)
	{
		for (int i = 0; i < count; i++)
			to[i] += times * from[i];
	}
	Tensor weights_;
	bool over_cells_;
};

class Swish : public Operator {
public:
	void apply(const Tensor &in, Tensor &out) const override
	{
		DWELL_OP("swish");
		for (size_t i = 0; i < in.values.size(); i++)
			out.values[i] = in.values[i] / (1 + std::exp(-in.values[i]));
	}
};

class Mixer {
public:
	static constexpr int kCells = 144, kChannels = 96;

	explicit Mixer(int blocks)
	{
		for (int b = 0; b < blocks; b++) {
			operators_.push_back(std::make_unique<GroupNorm>(48));
			operators_.push_back(std::make_unique<Linear>(kCells, kCells, true));
			operators_.push_back(std::make_unique<Swish>());
			operators_.push_back(std::make_unique<GroupNorm>(48));
			operators_.push_back(std::make_unique<Linear>(kChannels, kChannels, false));
			operators_.push_back(std::make_unique<Linear>(kChannels, kChannels, false));
		}
	}
	const Tensor &operator()(const Tensor &cells)
	{
		ping_.values = cells.values;
		for (const auto &op : operators_) {
			op->apply(ping_, pong_);
			std::swap(ping_, pong_);
		}
		return ping_;
	}

private:
	std::vector<std::unique_ptr<Operator>> operators_;
	Tensor ping_{kCells, kChannels}, pong_{kCells, kChannels};
};

}  // namespace ice

int main()
{
	ice::Mixer mixer(3);
	std::vector<ice::Tensor> orbit(12, ice::Tensor(ice::Mixer::kCells, ice::Mixer::kChannels));
	double covered = 0;

	for (size_t o = 0; o < orbit.size(); o++)
		for (size_t i = 0; i < orbit[o].values.size(); i++)
			orbit[o].values[i] = std::sin(static_cast<float>(i * (o + 3) % 977)) + 0.01f * static_cast<float>(i % 96);
	watch_begin(&ice::chart_clock);
	for (; watch_seconds(&ice::chart_clock) < 6; ice::chart_clock.steps++) {
		DWELL_STEP();
		const ice::Tensor &chart = mixer(orbit[ice::chart_clock.steps % orbit.size()]);
		for (int c = 0; c < chart.rows; c++)
			covered += chart.row(c)[0] > 0;
	}
	watch_tell(&ice::chart_clock);
	std::fprintf(stderr, "%g cells\n", covered);
}
