// Learns where a small telescope points from the stars that it sees: each star is a row of a table of 65,536 of them with 48 numbers,
// a picture is the mean of 300 rows, a linear layer says the place. Momentum by Adam's second moment; a batch of pictures is a step.
//
// Planted: the table is saved, and brought to the disk, whenever the smoothed error is the lowest so far or five steps have gone by.
// Truth: time of saving, as a share of the loop; one file at the end of the night would do.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t kStars = 65536, kWidth = 48, kSeen = 300, kPictures = 96;

struct Table {
	std::vector<float> rows = std::vector<float>(kStars * kWidth), second = std::vector<float>(kStars * kWidth, 1e-4f);
	float place[2][kWidth];

	Table()
	{
		for (std::size_t i = 0; i < rows.size(); i++)
			rows[i] = 0.2f * std::sin(static_cast<float>(i % 7919));
		for (std::size_t w = 0; w < kWidth; w++) {
			place[0][w] = std::sin(static_cast<float>(w));
			place[1][w] = std::cos(static_cast<float>(w));
		}
	}
};

class Night {
public:
	explicit Night(std::string path) : path_(std::move(path)) {}
	~Night() { std::remove(path_.c_str()); }

	void remember(const Table &table, float error)
	{
		smooth_ = smooth_ < 0 ? error : 0.9f * smooth_ + 0.1f * error;
		since_++;
		if (smooth_ >= 0.98f * lowest_ && since_ < 5)
			return;
		lowest_ = std::min(lowest_, smooth_);
		since_ = 0;
		save(table);
	}

private:
	void save(const Table &table) const
	{
		DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
		const std::string fresh = path_ + ".new";
		std::FILE *file = std::fopen(fresh.c_str(), "wb");
		if (!file)
			return;
		std::fwrite(table.rows.data(), sizeof(float), table.rows.size(), file);
		std::fwrite(table.place, sizeof table.place, 1, file);
		std::fflush(file);
		fsync(fileno(file));
		std::fclose(file);
		std::rename(fresh.c_str(), path_.c_str());
	}

	std::string path_;
	float smooth_ = -1, lowest_ = 1e9f;
	int since_ = 0;
};

struct Picture {
	std::uint32_t stars[kSeen];
	float mean[kWidth], error[2];
};

void expose(std::vector<Picture> *pictures, std::uint32_t night)
{
	DWELL_ZONE("expose");
	std::uint32_t random = night * 2654435761u + 1;
	for (Picture &picture : *pictures)
		for (std::uint32_t &star : picture.stars) {
			random = random * 1664525u + 1013904223u;
			star = (random >> 10) % kStars;
		}
}

float forward(const Table &table, std::vector<Picture> *pictures)
{
	DWELL_ZONE("forward");
	float error = 0;
	for (Picture &picture : *pictures) {
		std::fill_n(picture.mean, kWidth, 0.0f);
		for (const std::uint32_t star : picture.stars)
			for (std::size_t w = 0; w < kWidth; w++)
				picture.mean[w] += table.rows[star * kWidth + w] / kSeen;
		for (int axis = 0; axis < 2; axis++) {
			const float truth = static_cast<float>(picture.stars[0] >> (8 * axis) & 255) / 256.0f;
			float said = 0.5f;
			for (std::size_t w = 0; w < kWidth; w++)
				said += table.place[axis][w] * std::tanh(picture.mean[w]);
			picture.error[axis] = said - truth;
			error += picture.error[axis] * picture.error[axis];
		}
	}
	return error / kPictures;
}

void learn(Table *table, const std::vector<Picture> &pictures)
{
	DWELL_ZONE("learn");
	for (const Picture &picture : pictures) {
		float slope[kWidth];
		for (std::size_t w = 0; w < kWidth; w++) {
			const float bent = std::tanh(picture.mean[w]);
			slope[w] = (picture.error[0] * table->place[0][w] + picture.error[1] * table->place[1][w]) * (1 - bent * bent) + 1e-3f;
		}
		for (const std::uint32_t star : picture.stars)
			for (std::size_t w = 0; w < kWidth; w++) {
				float &second = table->second[star * kWidth + w];
				second = 0.99f * second + 0.01f * slope[w] * slope[w];
				table->rows[star * kWidth + w] -= 1e-4f * slope[w] / (std::sqrt(second) + 1e-4f);
			}
	}
}

}  // namespace

int main()
{
	Table table;
	Night night("telescope-" + std::to_string(getpid()));
	std::vector<Picture> pictures(kPictures);
	watch watch;
	float error = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		expose(&pictures, static_cast<std::uint32_t>(watch.steps));
		error = forward(table, &pictures);
		learn(&table, pictures);
		planted_begin(&watch);
		night.remember(table, error);
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::printf("error %.5f\n", static_cast<double>(error));
}
