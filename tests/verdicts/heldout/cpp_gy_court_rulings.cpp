// Sorts rulings of a court by the field of law: embeddings of words, two hidden layers, twelve fields, trained on small batches.
//
// Planted: the audit trail that the court demands opens its file, appends a line and closes it for each ruling and for each instance.
// Truth: time in AuditTrail::note(), of the loop.
#include "clock.h"

#include <dwell/probe.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int Words = 4000, Length = 80, Embedding = 64, Hidden = 128, Fields = 12, Docket = 32;

struct Ruling {
	std::array<int, Length> words;
	int field;
};

class AuditTrail {
public:
	AuditTrail() : path_("audit-" + std::to_string(getpid()) + ".txt") {}
	~AuditTrail() { std::remove(path_.c_str()); }

	void note(int step, const char *instance, const Ruling &ruling, const std::array<float, Fields> &odds) const
	{
		std::ofstream file(path_, std::ios::app);
		file << "step " << std::setw(7) << step << " instance " << instance << " field " << ruling.field << " first " << ruling.words[0];
		for (const float odd : odds)
			file << ' ' << std::fixed << std::setprecision(4) << odd;
		file << std::endl;
	}

private:
	std::string path_;
};

struct Dense {
	int in, out;
	std::vector<float> weight, slope;

	Dense(int in, int out, std::mt19937 &random) : in(in), out(out), weight(in * out), slope(in * out)
	{
		std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(in)));
		std::generate(weight.begin(), weight.end(), [&] { return normal(random); });
	}
	void forward(const float *x, float *y) const
	{
		for (int o = 0; o < out; o++) {
			float sum = 0;
			for (int i = 0; i < in; i++)
				sum += weight[o * in + i] * x[i];
			y[o] = sum;
		}
	}
	void backward(const float *x, const float *dy, float *dx)
	{
		std::fill(dx, dx + in, 0.0f);
		for (int o = 0; o < out; o++)
			for (int i = 0; i < in; i++) {
				slope[o * in + i] += dy[o] * x[i];
				dx[i] += dy[o] * weight[o * in + i];
			}
	}
	void descend(float rate)
	{
		for (size_t i = 0; i < weight.size(); i++) {
			weight[i] -= rate * slope[i];
			slope[i] = 0;
		}
	}
};

class Clerk {
public:
	explicit Clerk(std::mt19937 &random)
	    : table_(Words * Embedding), first_(Embedding, Hidden, random), second_(Hidden, Hidden, random), last_(Hidden, Fields, random)
	{
		std::normal_distribution<float> normal(0, 0.3f);
		std::generate(table_.begin(), table_.end(), [&] { return normal(random); });
	}

	std::array<float, Fields> read(const Ruling &ruling)
	{
		std::fill(mean_, mean_ + Embedding, 0.0f);
		for (const int word : ruling.words)
			for (int e = 0; e < Embedding; e++)
				mean_[e] += table_[word * Embedding + e] / Length;
		first_.forward(mean_, one_);
		squash(one_);
		second_.forward(one_, two_);
		squash(two_);
		std::array<float, Fields> odds;
		last_.forward(two_, odds.data());
		const float top = *std::max_element(odds.begin(), odds.end());
		float total = 0;
		for (float &odd : odds)
			total += odd = std::exp(odd - top);
		for (float &odd : odds)
			odd /= total;
		return odds;
	}

	void correct(const Ruling &ruling, std::array<float, Fields> odds)
	{
		float back_two[Hidden], back_one[Hidden], back_mean[Embedding];
		odds[ruling.field] -= 1;
		last_.backward(two_, odds.data(), back_two);
		bend(two_, back_two);
		second_.backward(one_, back_two, back_one);
		bend(one_, back_one);
		first_.backward(mean_, back_one, back_mean);
		for (const int word : ruling.words)
			for (int e = 0; e < Embedding; e++)
				table_[word * Embedding + e] -= 0.02f * back_mean[e] / Length;
	}

	void descend()
	{
		for (Dense *layer : {&first_, &second_, &last_})
			layer->descend(0.02f / Docket);
	}

private:
	static void squash(float *x) { std::transform(x, x + Hidden, x, [](float v) { return v / (1 + std::fabs(v)); }); }
	static void bend(const float *y, float *d)
	{
		for (int h = 0; h < Hidden; h++)
			d[h] *= (1 - std::fabs(y[h])) * (1 - std::fabs(y[h]));
	}

	std::vector<float> table_;
	Dense first_, second_, last_;
	float mean_[Embedding], one_[Hidden], two_[Hidden];
};

} // namespace

int main()
{
	std::mt19937 random(41);
	std::vector<Ruling> rulings(1024);
	for (Ruling &ruling : rulings) {
		ruling.field = static_cast<int>(random() % Fields);
		for (int &word : ruling.words)
			word = static_cast<int>(random() % 3 ? random() % Words : ruling.field * 40 + random() % 40);
	}
	Clerk clerk(random);
	const AuditTrail trail;
	watch watch;
	float right = 0;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6.3) {
		DWELL_STEP();
		right = 0;
		for (int n = 0; n < Docket; n++) {
			const Ruling &ruling = rulings[(watch.steps * Docket + n) % rulings.size()];
			std::array<float, Fields> odds;
			{
				DWELL_ZONE("read");
				odds = clerk.read(ruling);
			}
			{
				DWELL_ZONE("correct");
				clerk.correct(ruling, odds);
			}
			right += odds[ruling.field] / Docket;
			planted_begin(&watch);
			trail.note(watch.steps, "regional", ruling, odds);
			trail.note(watch.steps, "appeal", ruling, odds);
			planted_end(&watch);
		}
		DWELL_ZONE("descend");
		clerk.descend();
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("probability of the right field %.3f\n", static_cast<double>(right));
	return 0;
}
