// Tells moths by the pattern of their wings: product quantization of patches and a wide linear head, with momentum.
//
// Planted: each 20th step writes all weights as text with nine digits through an output stream.
// Truth: time of this writing, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int patches = 48, dims = 12, words = 32, moths = 70, batch = 16;
constexpr int wide = patches * words;

struct Head {
	std::vector<float> weight = std::vector<float>(static_cast<size_t>(moths) * wide);
	std::vector<float> velocity = std::vector<float>(static_cast<size_t>(moths) * wide, 1e-3f);
};

std::vector<float> words_of_book(static_cast<size_t>(patches) * words * dims);

// Soft assignment of each patch to the words of its own codebook.
void encode(const float *wing, float *code)
{
	for (int p = 0; p < patches; p++) {
		float sum = 0;
		for (int w = 0; w < words; w++) {
			const float *word = &words_of_book[(static_cast<size_t>(p) * words + w) * dims];
			float distance = 0;
			for (int d = 0; d < dims; d++)
				distance += (wing[p * dims + d] - word[d]) * (wing[p * dims + d] - word[d]);
			sum += code[p * words + w] = 1 / (0.1f + distance);
		}
		for (int w = 0; w < words; w++)
			code[p * words + w] /= sum;
	}
}

float learn(Head &head, const float *code, int moth)
{
	float said[moths], highest = -1e30f, sum = 0;

	for (int m = 0; m < moths; m++) {
		const float *w = &head.weight[static_cast<size_t>(m) * wide];
		said[m] = 0;
		for (int k = 0; k < wide; k++)
			said[m] += w[k] * code[k];
		highest = std::fmax(highest, said[m]);
	}
	for (float &s : said)
		sum += s = std::exp(s - highest);
	for (int m = 0; m < moths; m++) {
		float *w = &head.weight[static_cast<size_t>(m) * wide];
		float *v = &head.velocity[static_cast<size_t>(m) * wide];
		const float wrong = said[m] / sum - static_cast<float>(m == moth);
		for (int k = 0; k < wide; k++) {
			v[k] = 0.9f * v[k] + wrong * code[k];
			w[k] -= 0.01f * v[k];
		}
	}
	return -std::log(said[moth] / sum + 1e-6f);
}

void keep(const Head &head, const std::string &path)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save weights");
	std::ofstream file(path, std::ios::trunc);
	file << std::setprecision(9);
	for (int m = 0; m < moths; m++) {
		for (int k = 0; k < wide; k++)
			file << head.weight[static_cast<size_t>(m) * wide + k] << ' ';
		file << '\n';
	}
}

}  // namespace

int main()
{
	watch watch;
	Head head;
	std::mt19937 random(9);
	std::normal_distribution<float> scale;
	std::vector<float> wings(static_cast<size_t>(200) * patches * dims), code(wide);
	float loss = 0;
	char path[] = "/tmp/moth_wings_XXXXXX";

	const int file = mkstemp(path);
	if (file < 0)
		return 1;
	close(file);
	for (float &w : words_of_book)
		w = scale(random);
	for (float &w : head.weight)
		w = 0.01f * scale(random);
	for (float &w : wings)
		w = scale(random);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loss = 0;
		for (int b = 0; b < batch; b++) {
			const int which = static_cast<int>(random() % 200);
			{
				DWELL_ZONE("encode");
				encode(&wings[static_cast<size_t>(which) * patches * dims], code.data());
			}
			DWELL_ZONE("head");
			loss += learn(head, code.data(), which % moths);
		}
		if (watch.steps % 20 == 19) {
			planted_begin(&watch);
			keep(head, path);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	unlink(path);
	std::printf("loss %.4f\n", static_cast<double>(loss / batch));
}
