/*
 * Chooses grasps: candidates of a pose are checked by inverse kinematics, and a network rates those that remain.
 *
 * Planted: a pose out of reach is an exception, and most poses are out of reach.
 * Truth: time from throwing to catching, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const int kCandidates = 1500, kFeatures = 12, kUnits = 160, kRated = 60;

struct watch watch_of_loop;

struct Pose { float x, y, z, turn; };
struct Joints { float at[4]; };

class Unreachable : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
};

float elbow(float distance)
{
	const float upper = 0.42f, lower = 0.36f;
	const float cosine = (distance * distance - upper * upper - lower * lower) / (2 * upper * lower);
	if (cosine > 1 || cosine < -1) {
		planted_begin(&watch_of_loop);
		throw Unreachable("no elbow for a distance of " + std::to_string(distance) + " m");
	}
	return std::acos(cosine);
}

Joints solve(const Pose &pose)
{
	std::vector<float> chain(4);
	chain[0] = std::atan2(pose.y, pose.x);
	chain[2] = elbow(std::sqrt(pose.x * pose.x + pose.y * pose.y + pose.z * pose.z));
	chain[1] = std::asin(pose.z / 2) + chain[2] / 2;
	chain[3] = pose.turn - chain[0];
	return {{chain[0], chain[1], chain[2], chain[3]}};
}

class Rater {
public:
	explicit Rater(std::mt19937 &random) : first_(kUnits * kFeatures), second_(kUnits * kUnits), last_(kUnits)
	{
		std::normal_distribution<float> normal(0, 0.1f);
		for (auto *weights : {&first_, &second_, &last_})
			for (float &weight : *weights)
				weight = normal(random);
	}
	float rate(const Pose &pose, const Joints &joints) const
	{
		const float features[kFeatures] = {pose.x, pose.y, pose.z, pose.turn, joints.at[0], joints.at[1], joints.at[2], joints.at[3],
		                                   std::sin(joints.at[0]), std::cos(joints.at[0]), std::sin(joints.at[1]), std::cos(joints.at[1])};
		float one[kUnits], two[kUnits], rating[1];
		layer(first_, features, kFeatures, one, kUnits);
		layer(second_, one, kUnits, two, kUnits);
		layer(last_, two, kUnits, rating, 1);
		return rating[0];
	}

private:
	static void layer(const std::vector<float> &weights, const float *in, int ins, float *out, int outs)
	{
		for (int o = 0; o < outs; o++) {
			float sum = 0;
			for (int i = 0; i < ins; i++)
				sum += weights[o * ins + i] * in[i];
			out[o] = std::tanh(sum);
		}
	}
	std::vector<float> first_, second_, last_;
};

} // namespace

int main()
{
	std::mt19937 random(12);
	std::uniform_real_distribution<float> place(-1, 1);
	Rater rater(random);
	std::vector<Pose> poses(kCandidates);
	double best_of_all = 0;
	watch_begin(&watch_of_loop);
	for (; watch_seconds(&watch_of_loop) < 6; watch_of_loop.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("propose poses");
			for (Pose &pose : poses)
				pose = {place(random), place(random), place(random), 3 * place(random)};
		}
		std::vector<std::pair<Pose, Joints>> reachable;
		{
			DWELL_ZONE("inverse kinematics");
			for (const Pose &pose : poses)
				try {
					reachable.emplace_back(pose, solve(pose));
				} catch (const Unreachable &) {
					planted_end(&watch_of_loop);
				}
		}
		{
			DWELL_ZONE("rate grasps");
			float best = -1;
			for (size_t at = 0; at < reachable.size() && at < kRated; at++)
				best = std::max(best, rater.rate(reachable[at].first, reachable[at].second));
			best_of_all += best;
		}
	}
	watch_tell(&watch_of_loop);
	fprintf(stderr, "mean of the best %.4f\n", best_of_all / watch_of_loop.steps);
}
