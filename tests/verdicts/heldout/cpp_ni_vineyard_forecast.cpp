// Sugar of grapes from the weather of a vineyard's stations: a small recurrent network over 24 readings of each row of vines.
//
// Planted: between the stage that reads the stations and the network lies an "interface": each batch is written as JSON
// and parsed again in the same process, in each step.
// Truth: time of writing and parsing, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kReadings = 24, kSensors = 9, kState = 48, kBatch = 16;

struct Json {
	enum Kind { kNumber, kList, kObject } kind = kNumber;
	double number = 0;
	std::vector<std::shared_ptr<Json>> list;
	std::map<std::string, std::shared_ptr<Json>> object;
};

class Parser {
public:
	explicit Parser(const std::string &text) : at_(text.c_str()) {}
	std::shared_ptr<Json> value()
	{
		auto made = std::make_shared<Json>();
		skip();
		if (*at_ == '[') {
			made->kind = Json::kList;
			for (at_++; skip() != ']';) {
				made->list.push_back(value());
				comma();
			}
			at_++;
		} else if (*at_ == '{') {
			made->kind = Json::kObject;
			for (at_++; skip() != '}';) {
				std::string key;
				for (at_++; *at_ != '"'; at_++)
					key += *at_;
				at_++;
				skip();
				at_++;  // the colon
				made->object[key] = value();
				comma();
			}
			at_++;
		} else {
			char *end;
			made->number = std::strtod(at_, &end);
			at_ = end;
		}
		return made;
	}

private:
	char skip()
	{
		while (*at_ == ' ')
			at_++;
		return *at_;
	}
	void comma()
	{
		if (skip() == ',')
			at_++;
	}
	const char *at_;
};

struct Row {
	float readings[kReadings][kSensors];
	float sugar;
};

std::vector<Row> read_stations(std::mt19937 &dice)
{
	std::normal_distribution<float> normal;
	std::vector<Row> rows(kBatch);
	for (Row &row : rows) {
		float sum = 0;
		for (auto &reading : row.readings)
			for (float &value : reading)
				sum += value = normal(dice);
		row.sugar = std::tanh(sum * 0.05f);
	}
	return rows;
}

std::string write(const std::vector<Row> &rows)
{
	std::string text = "{\"rows\": [";
	for (const Row &row : rows) {
		text += "{\"sugar\": " + std::to_string(row.sugar) + ", \"readings\": [";
		for (const auto &reading : row.readings) {
			text += "[";
			for (float value : reading)
				text += std::to_string(value) + ", ";
			text += "], ";
		}
		text += "]}, ";
	}
	return text + "]}";
}

std::vector<Row> parse(const std::string &text)
{
	std::vector<Row> rows;
	const auto root = Parser(text).value();
	for (const auto &item : root->object.at("rows")->list) {
		Row row;
		row.sugar = static_cast<float>(item->object.at("sugar")->number);
		for (int t = 0; t < kReadings; t++)
			for (int s = 0; s < kSensors; s++)
				row.readings[t][s] = static_cast<float>(item->object.at("readings")->list[t]->list[s]->number);
		rows.push_back(row);
	}
	return rows;
}

class Vines {
public:
	explicit Vines(std::mt19937 &dice)
	{
		std::normal_distribution<float> normal(0, 0.1f);
		for (auto &row : enter)
			for (float &w : row)
				w = normal(dice);
		for (auto &row : again)
			for (float &w : row)
				w = normal(dice);
		for (float &w : leave)
			w = normal(dice);
	}
	float train(const Row &row)
	{
		float h[kReadings + 1][kState] = {}, back[kState], before[kState];
		for (int t = 0; t < kReadings; t++)
			for (int s = 0; s < kState; s++) {
				float sum = 0;
				for (int i = 0; i < kSensors; i++)
					sum += enter[s][i] * row.readings[t][i];
				for (int k = 0; k < kState; k++)
					sum += again[s][k] * h[t][k];
				h[t + 1][s] = std::tanh(sum);
			}
		float miss = -row.sugar;
		for (int s = 0; s < kState; s++)
			miss += leave[s] * h[kReadings][s];
		for (int s = 0; s < kState; s++) {
			back[s] = miss * leave[s];
			leave[s] -= 0.002f * miss * h[kReadings][s];
		}
		for (int t = kReadings; t > 0; t--) {
			for (float &b : before)
				b = 0;
			for (int s = 0; s < kState; s++) {
				const float slope = back[s] * (1 - h[t][s] * h[t][s]);
				for (int k = 0; k < kState; k++) {
					before[k] += slope * again[s][k];
					again_g[s][k] += slope * h[t - 1][k];
				}
				for (int i = 0; i < kSensors; i++)
					enter_g[s][i] += slope * row.readings[t - 1][i];
			}
			for (int s = 0; s < kState; s++)
				back[s] = before[s] + 1e-6f;
		}
		return miss * miss;
	}
	void update()
	{
		for (int s = 0; s < kState; s++) {
			for (int k = 0; k < kState; k++) {
				again[s][k] -= 0.002f * again_g[s][k];
				again_g[s][k] = 0;
			}
			for (int i = 0; i < kSensors; i++) {
				enter[s][i] -= 0.002f * enter_g[s][i];
				enter_g[s][i] = 0;
			}
		}
	}

private:
	float enter[kState][kSensors], again[kState][kState], leave[kState];
	float enter_g[kState][kSensors] = {}, again_g[kState][kState] = {};
};

}  // namespace

int main()
{
	std::mt19937 dice(4);
	Vines vines(dice);
	watch clock;
	float loss = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		std::vector<Row> batch;
		{
			DWELL_ZONE("intake");
			const std::vector<Row> rows = read_stations(dice);
			planted_begin(&clock);
			batch = parse(write(rows));
			planted_end(&clock);
		}
		{
			DWELL_ZONE("vines");
			for (const Row &row : batch)
				loss = 0.99f * loss + 0.01f * vines.train(row);
		}
		DWELL_ZONE("update");
		vines.update();
	}
	watch_tell(&clock);
	std::printf("loss %g\n", static_cast<double>(loss));
}
