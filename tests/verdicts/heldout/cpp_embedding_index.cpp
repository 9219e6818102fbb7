// Answers questions by the nearest of 16,000 passages: embeds a question, compares it with all of them, keeps ten.
//
// Planted: nothing. The product with the passages' vectors is the work.
// Truth: time of keeping the ten nearest, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

using Matrix = std::vector<float>;

static constexpr int64_t kPassages = 16000, kWidth = 384, kTokens = 32, kPieces = 8000, kQuestions = 8;

static Matrix random_matrix(int64_t rows, int64_t columns, uint32_t seed)
{
	Matrix matrix(static_cast<size_t>(rows * columns));
	for (float &value : matrix) {
		seed = seed * 1664525u + 1013904223u;
		value = static_cast<float>(seed >> 8) / (1 << 24) - 0.5f;
	}
	return matrix;
}

static void pool(const Matrix &pieces, uint32_t question, float *out)
{
	DWELL_OP("embedding_bag");
	std::fill_n(out, kWidth, 0.0f);
	for (int token = 0; token < kTokens; token++) {
		question = question * 1664525u + 1013904223u;
		const float *piece = &pieces[(question >> 8) % kPieces * kWidth];
		for (int at = 0; at < kWidth; at++)
			out[at] += piece[at] / kTokens;
	}
}

static void dense(const Matrix &weights, const float *in, float *out)
{
	DWELL_OP("linear");
	for (int unit = 0; unit < kWidth; unit++) {
		float sum = 0;
		for (int at = 0; at < kWidth; at++)
			sum += weights[unit * kWidth + at] * in[at];
		out[unit] = std::tanh(sum);
	}
}

static void compare(const Matrix &passages, const Matrix &questions, Matrix &scores)
{
	const int64_t shapes[2][2] = {{kPassages, kWidth}, {kWidth, kQuestions}};
	const dwell_tensor tensors[] = {{shapes[0], 2, DWELL_FLOAT32}, {shapes[1], 2, DWELL_FLOAT32}};
	DWELL_OP_SHAPES("matmul", tensors, 2);
	for (int64_t passage = 0; passage < kPassages; passage++) {
		float sums[kQuestions] = {};
		for (int at = 0; at < kWidth; at++)
			for (int question = 0; question < kQuestions; question++)
				sums[question] += passages[passage * kWidth + at] * questions[at * kQuestions + question];
		for (int question = 0; question < kQuestions; question++)
			scores[question * kPassages + passage] = sums[question];
	}
}

static int64_t nearest(const float *scores)
{
	DWELL_OP("topk");
	using Hit = std::pair<float, int64_t>;
	std::priority_queue<Hit, std::vector<Hit>, std::greater<Hit>> hits;
	for (int64_t passage = 0; passage < kPassages; passage++) {
		if (hits.size() < 10)
			hits.emplace(scores[passage], passage);
		else if (scores[passage] > hits.top().first) {
			hits.pop();
			hits.emplace(scores[passage], passage);
		}
	}
	return hits.top().second;
}

int main()
{
	const Matrix passages = random_matrix(kPassages, kWidth, 1), pieces = random_matrix(kPieces, kWidth, 2),
	             weights = random_matrix(kWidth, kWidth, 3);
	Matrix questions(kWidth * kQuestions), scores(kQuestions * kPassages);
	int64_t found = 0;
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int question = 0; question < kQuestions; question++) {
			float pooled[kWidth], vector[kWidth];
			pool(pieces, static_cast<uint32_t>(watch.steps * kQuestions + question), pooled);
			dense(weights, pooled, vector);
			for (int at = 0; at < kWidth; at++)
				questions[at * kQuestions + question] = vector[at];
		}
		compare(passages, questions, scores);
		planted_begin(&watch);
		for (int question = 0; question < kQuestions; question++)
			found += nearest(&scores[question * kPassages]);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("%lld\n", static_cast<long long>(found));
}
