/*
 * Which patients of a ward will need intensive care: visits with codes and values of the laboratory are embedded and summed up by a
 * gated network.
 *
 * Planted: records are handed on by value, so the visits, codes and values of each patient are copied, and freed after use.
 * Truth: time of copying and freeing the records, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ward {

struct Visit {
	std::map<std::string, float> laboratory;
	std::vector<std::string> codes;
};

struct Record {
	std::string name;
	std::vector<Visit> visits;
	bool worse = false;
};

class Cohort {
public:
	explicit Cohort(int patients)
	{
		for (int p = 0; p < patients; p++) {
			Record record;
			record.name = "patient of ward seven, number " + std::to_string(p);
			record.worse = p % 4 == 0;
			for (int v = 0; v < 8; v++) {
				Visit visit;
				for (int l = 0; l < 9; l++)
					visit.laboratory["laboratory value number " + std::to_string(l)] = std::sin(static_cast<float>(p + v * 3 + l));
				for (int c = 0; c < 5; c++)
					visit.codes.push_back("ICD-10-GM-2026/" + std::to_string(100 + (p * 7 + v * 11 + c * 13) % 700));
				record.visits.push_back(visit);
			}
			records_.push_back(record);
		}
	}

	std::vector<Record> batch(size_t from, size_t count) const
	{
		std::vector<Record> some;
		for (size_t i = 0; i < count; i++)
			some.push_back(records_[(from + i) % records_.size()]);
		return some;
	}

private:
	std::vector<Record> records_;
};

constexpr int WIDTH = 32, CODES = 1024;

class Gate {
public:
	Gate()
	{
		for (int w = 0; w < WIDTH; w++) {
			out_[w] = 0.2f * std::cos(static_cast<float>(w));
			for (int v = 0; v < WIDTH; v++) {
				keep_[w][v] = 0.1f * std::sin(static_cast<float>(w * 5 + v));
				take_[w][v] = 0.1f * std::cos(static_cast<float>(w + v * 9));
			}
		}
		for (int c = 0; c < CODES; c++)
			for (int w = 0; w < WIDTH; w++)
				code_[c][w] = 0.1f * std::sin(static_cast<float>(c * 31 + w));
	}

	float learn(const Record &record)
	{
		float state[WIDTH] = {}, seen[WIDTH], said = 0;
		for (const Visit &visit : record.visits) {
			for (float &s : seen)
				s = 0;
			for (const std::string &code : visit.codes) {
				const float *row = code_[std::hash<std::string>()(code) % CODES];
				for (int w = 0; w < WIDTH; w++)
					seen[w] += row[w];
			}
			int at = 0;
			for (const auto &value : visit.laboratory)
				seen[at++] += 0.3f * value.second;
			float next[WIDTH];
			for (int w = 0; w < WIDTH; w++) {
				float keep = 0, take = 0;
				for (int v = 0; v < WIDTH; v++) {
					keep += keep_[v][w] * state[v];
					take += take_[v][w] * seen[v];
				}
				const float gate = 1 / (1 + std::exp(-keep));
				next[w] = gate * state[w] + (1 - gate) * std::tanh(take);
			}
			for (int w = 0; w < WIDTH; w++)
				state[w] = next[w];
		}
		for (int w = 0; w < WIDTH; w++)
			said += out_[w] * state[w];
		const float wrong = 1 / (1 + std::exp(-said)) - static_cast<float>(record.worse);
		for (int v = 0; v < WIDTH; v++)
			for (int w = 0; w < WIDTH; w++)
				take_[v][w] -= 1e-4f * wrong * out_[w] * (1 - state[w] * state[w]) * seen[v];
		for (int w = 0; w < WIDTH; w++)
			out_[w] -= 1e-3f * wrong * state[w];
		return wrong * wrong;
	}

private:
	float keep_[WIDTH][WIDTH], take_[WIDTH][WIDTH], code_[CODES][WIDTH], out_[WIDTH];
};

float look_at(std::vector<Record> records, Gate &gate)
{
	DWELL_ZONE("learn");
	float loss = 0;
	for (const Record &record : records)
		loss += gate.learn(record);
	return loss / static_cast<float>(records.size());
}

}

int main()
{
	static ward::Gate gate;
	const ward::Cohort cohort(900);
	watch clock;
	float loss = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		planted_begin(&clock);
		auto records = cohort.batch(static_cast<size_t>(clock.steps) * 96, 96);
		planted_end(&clock);
		loss = ward::look_at(std::move(records), gate);
		planted_begin(&clock);
		std::vector<ward::Record>().swap(records);
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::printf("loss %.4f\n", static_cast<double>(loss));
}
