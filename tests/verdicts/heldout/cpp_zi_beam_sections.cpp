// Predicts how far the frames of a building sag: each frame is a list of members with a steel section, a network over members is
// pooled over the frame and trained by hand-written gradients. One thread.
//
// Planted: the catalogue of sections, a text of constant content, is parsed anew for each step in place of once.
// Truth: time of parsing the catalogue, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Section {
	double height = 0, width = 0, web = 0, flange = 0, area = 0, inertia = 0;
};

struct Member {
	std::string section;
	float length, angle, load;
};

struct Frame {
	std::vector<Member> members;
	float sag;
};

using Catalogue = std::map<std::string, Section>;

constexpr int kInputs = 9, kUnits = 96, kMembers = 28, kFrames = 8;

std::string write_catalogue(std::mt19937 &random)
{
	std::ostringstream text;
	std::uniform_real_distribution<double> size(80, 600);

	text.precision(9);
	for (const char *family : {"IPE", "HEA", "HEB", "UPN"})
		for (int number = 0; number < 220; ++number) {
			const double h = size(random), b = size(random) / 2, s = h / 40, t = b / 20;
			text << family << number << ' ' << h << ' ' << b << ' ' << s << ' ' << t << ' ' << 2 * b * t + h * s << ' '
			     << h * h * b * t << '\n';
		}
	return text.str();
}

Catalogue read_catalogue(const std::string &text)
{
	Catalogue catalogue;
	std::istringstream lines(text);
	std::string line, name;

	while (std::getline(lines, line)) {
		std::istringstream fields(line);
		Section section;
		fields >> name >> section.height >> section.width >> section.web >> section.flange >> section.area >> section.inertia;
		catalogue[name] = section;
	}
	return catalogue;
}

class Sagging {
public:
	explicit Sagging(std::mt19937 &random) : in_(kUnits * kInputs), mid_(kUnits * kUnits), out_(kUnits)
	{
		std::normal_distribution<float> normal(0, 1);
		for (float &w : in_)
			w = normal(random) / 3;
		for (float &w : mid_)
			w = normal(random) / 10;
		for (float &w : out_)
			w = normal(random) / 10;
	}

	float train(const std::vector<std::vector<float>> &rows, float sag)
	{
		std::vector<float> one(rows.size() * kUnits), two(rows.size() * kUnits);
		float sum = 0;
		{
			DWELL_ZONE("forward");
			for (size_t m = 0; m < rows.size(); ++m) {
				for (int u = 0; u < kUnits; ++u) {
					float x = 0;
					for (int i = 0; i < kInputs; ++i)
						x += in_[u * kInputs + i] * rows[m][i];
					one[m * kUnits + u] = std::tanh(x);
				}
				for (int u = 0; u < kUnits; ++u) {
					float x = 0;
					for (int i = 0; i < kUnits; ++i)
						x += mid_[u * kUnits + i] * one[m * kUnits + i];
					two[m * kUnits + u] = std::tanh(x);
					sum += out_[u] * two[m * kUnits + u];
				}
			}
		}
		const float error = sum / static_cast<float>(rows.size()) - sag;
		DWELL_ZONE("backward");
		for (size_t m = 0; m < rows.size(); ++m)
			for (int u = 0; u < kUnits; ++u) {
				const float t = two[m * kUnits + u], d = 1e-5f * error * out_[u] * (1 - t * t);
				out_[u] -= 1e-5f * error * t;
				for (int i = 0; i < kUnits; ++i)
					mid_[u * kUnits + i] -= d * one[m * kUnits + i];
			}
		return error * error;
	}

private:
	std::vector<float> in_, mid_, out_;
};

std::vector<std::vector<float>> tabulate(const Frame &frame, const Catalogue &catalogue)
{
	std::vector<std::vector<float>> rows;
	for (const Member &member : frame.members) {
		const Section &s = catalogue.at(member.section);
		rows.push_back({static_cast<float>(s.height / 600), static_cast<float>(s.width / 300), static_cast<float>(s.web / 15),
		                static_cast<float>(s.flange / 15), static_cast<float>(s.area / 2e4), static_cast<float>(std::log(s.inertia) / 25),
		                member.length, member.angle, member.load});
	}
	return rows;
}

} // namespace

int main()
{
	std::mt19937 random(83);
	const std::string text = write_catalogue(random);
	std::vector<Frame> frames(kFrames);
	for (Frame &frame : frames) {
		for (int m = 0; m < kMembers; ++m)
			frame.members.push_back({(m % 2 ? "IPE" : "HEB") + std::to_string(random() % 220), 0.3f + static_cast<float>(random() % 7) / 10,
			                         static_cast<float>(random() % 4) / 4, static_cast<float>(random() % 10) / 10});
		frame.sag = static_cast<float>(random() % 100) / 100;
	}
	Sagging sagging(random);
	watch clock{};
	float loss = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		std::vector<std::vector<std::vector<float>>> batch;
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "frames");
			planted_begin(&clock);
			const Catalogue catalogue = read_catalogue(text);
			planted_end(&clock);
			for (const Frame &frame : frames)
				batch.push_back(tabulate(frame, catalogue));
		}
		loss = 0;
		for (int f = 0; f < kFrames; ++f)
			loss += sagging.train(batch[f], frames[f].sag) / kFrames;
	}
	watch_tell(&clock);
	std::printf("loss %.5f\n", loss);
}
