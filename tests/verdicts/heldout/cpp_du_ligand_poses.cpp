// Which pose a ligand takes in a pocket: each near pair of atoms gives radial features, a small network makes an energy of them, and the
// sum ranks poses. Trained so that the true pose lies below the others.
//
// Planted: each pair's features are kept for the way back as a shared object of its own with a vector of its own, hung into a tree by atom, and freed one by one.
// Truth: time of making, hanging up and freeing these objects, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int Radial = 16, Hidden = 24, Ligand = 24, Pocket = 160, Poses = 6;
constexpr float Near = 0.42f;

struct Atom {
	float x, y, z;
};

struct Contact {
	float distance;
	std::vector<float> radial;
	std::vector<float> hidden;
};

using Contacts = std::map<int, std::vector<std::shared_ptr<Contact>>>;

class Scorer {
public:
	explicit Scorer(std::mt19937 &dice)
	{
		std::normal_distribution<float> normal(0, 0.3f);
		for (auto &row : in_)
			for (float &w : row)
				w = normal(dice);
		for (float &w : out_)
			w = normal(dice);
	}
	std::array<float, Radial> radial(float distance) const
	{
		std::array<float, Radial> r{};
		for (int k = 0; k < Radial; k++) {
			const float d = (distance - Near * static_cast<float>(k) / Radial) * 12;
			r[k] = std::exp(-d * d);
		}
		return r;
	}
	float energy(const std::array<float, Radial> &radial, std::array<float, Hidden> &hidden) const
	{
		float sum = 0;
		for (int h = 0; h < Hidden; h++) {
			float x = 0;
			for (int k = 0; k < Radial; k++)
				x += in_[h][k] * radial[k];
			hidden[h] = x / (1 + std::fabs(x));
			sum += out_[h] * hidden[h];
		}
		return sum;
	}
	void learn(const Contact &contact, float slope)
	{
		for (int h = 0; h < Hidden; h++) {
			const float rest = 1 - std::fabs(contact.hidden[h]), g = slope * out_[h] * rest * rest;
			out_[h] -= slope * contact.hidden[h];
			for (int k = 0; k < Radial; k++)
				in_[h][k] -= g * contact.radial[k];
		}
	}

private:
	std::array<std::array<float, Radial>, Hidden> in_;
	std::array<float, Hidden> out_;
};

class Docking {
public:
	explicit Docking(watch &clock) : clock_(clock), scorer_(dice_)
	{
		for (Atom &a : pocket_)
			a = {place_(dice_), place_(dice_), place_(dice_)};
		for (auto &pose : poses_)
			for (Atom &a : pose)
				a = {place_(dice_), place_(dice_), place_(dice_)};
	}
	float step()
	{
		std::array<float, Poses> energies{};
		std::array<Contacts, Poses> kept;
		{
			DWELL_ZONE("score");
			for (int p = 0; p < Poses; p++)
				energies[p] = score(poses_[p], kept[p]);
		}
		DWELL_ZONE("learn");
		for (int p = 0; p < Poses; p++) {
			const float slope = (p == 0 ? 1e-6f : -1e-6f / (Poses - 1));
			for (const auto &atom : kept[p])
				for (const auto &contact : atom.second)
					scorer_.learn(*contact, slope);
		}
		planted_begin(&clock_);
		for (Contacts &contacts : kept)
			contacts.clear();
		planted_end(&clock_);
		return energies[0];
	}

private:
	float score(const std::array<Atom, Ligand> &pose, Contacts &kept)
	{
		float sum = 0;
		for (int l = 0; l < Ligand; l++) {
			count_ = 0;
			for (const Atom &a : pocket_) {
				const float x = a.x - pose[l].x, y = a.y - pose[l].y, z = a.z - pose[l].z;
				const float distance = std::sqrt(x * x + y * y + z * z);
				if (distance >= Near)
					continue;
				distance_[count_] = distance;
				radial_[count_] = scorer_.radial(distance);
				sum += scorer_.energy(radial_[count_], hidden_[count_]);
				count_++;
			}
			planted_begin(&clock_);
			for (int c = 0; c < count_; c++) {
				auto contact = std::make_shared<Contact>();
				contact->distance = distance_[c];
				for (const float r : radial_[c])
					contact->radial.push_back(r);
				for (const float h : hidden_[c])
					contact->hidden.push_back(h);
				kept[l].push_back(contact);
			}
			planted_end(&clock_);
		}
		return sum;
	}

	watch &clock_;
	std::mt19937 dice_{77};
	std::uniform_real_distribution<float> place_{0, 1};
	Scorer scorer_;
	std::array<Atom, Pocket> pocket_;
	std::array<std::array<Atom, Ligand>, Poses> poses_;
	int count_ = 0;
	std::array<float, Pocket> distance_;
	std::array<std::array<float, Radial>, Pocket> radial_;
	std::array<std::array<float, Hidden>, Pocket> hidden_;
};

} // namespace

int main()
{
	watch watch;
	Docking docking(watch);
	float energy = 0;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6.2) {
		DWELL_STEP();
		energy = docking.step();
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("energy %.4f\n", static_cast<double>(energy));
	return 0;
}
