// Energies and forces of clusters of argon and krypton by a neural network potential: radial and angular symmetry functions of each
// atom, a network for each element, forces by differences of the network's slopes. One thread, inference.
//
// Clean: nothing is planted; each step has the same number of atoms and neighbours.
// Truth: nothing comes near a cause, 0.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr int kAtoms = 40, kRadial = 10, kAngular = 6, kFunctions = kRadial + kAngular, kUnits = 40;

using Point = std::array<double, 3>;

struct Net {
	double in[kUnits][kFunctions], mid[kUnits][kUnits], out[kUnits];

	double energy(const double *g, double *slope) const
	{
		double one[kUnits], two[kUnits], back[kUnits] = {}, sum = 0;
		for (int u = 0; u < kUnits; ++u) {
			double x = 0;
			for (int f = 0; f < kFunctions; ++f)
				x += in[u][f] * g[f];
			one[u] = std::tanh(x);
		}
		for (int u = 0; u < kUnits; ++u) {
			double x = 0;
			for (int i = 0; i < kUnits; ++i)
				x += mid[u][i] * one[i];
			two[u] = std::tanh(x);
			sum += out[u] * two[u];
			for (int i = 0; i < kUnits; ++i)
				back[i] += out[u] * (1 - two[u] * two[u]) * mid[u][i];
		}
		for (int f = 0; f < kFunctions; ++f) {
			slope[f] = 0;
			for (int u = 0; u < kUnits; ++u)
				slope[f] += back[u] * (1 - one[u] * one[u]) * in[u][f];
		}
		return sum;
	}
};

double distance(const Point &a, const Point &b)
{
	const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
	return std::sqrt(x * x + y * y + z * z);
}

class Cluster {
public:
	explicit Cluster(std::mt19937 &random)
	{
		std::uniform_real_distribution<double> jitter(-0.15, 0.15);
		for (int a = 0; a < kAtoms; ++a)
			at_[a] = {a % 4 + jitter(random), a / 4 % 4 + jitter(random), a / 16 + jitter(random)};
	}

	double energy(const Net &argon, const Net &krypton, std::array<double, kAtoms> &pull)
	{
		measure();
		double sum = 0;
		for (int a = 0; a < kAtoms; ++a)
			describe(a);
		DWELL_ZONE("networks");
		for (int a = 0; a < kAtoms; ++a) {
			double slope[kFunctions];
			sum += (a % 2 ? krypton : argon).energy(functions_[a], slope);
			pull[a] = 0;
			for (int f = 0; f < kRadial; ++f)
				pull[a] -= slope[f] * functions_[a][f] * 2 * (0.5 + 0.3 * f);
		}
		return sum;
	}

private:
	void measure()
	{
		DWELL_ZONE("distances");
		for (int a = 0; a < kAtoms; ++a)
			for (int b = 0; b < kAtoms; ++b) {
				far_[a][b] = distance(at_[a], at_[b]);
				fade_[a][b] = a == b ? 0 : 0.5 * (1 + std::cos(M_PI * far_[a][b] / 6.5));
			}
	}

	void describe(int a)
	{
		DWELL_ZONE("symmetry functions");
		double *g = functions_[a];
		for (int f = 0; f < kFunctions; ++f)
			g[f] = 0;
		for (int b = 0; b < kAtoms; ++b)
			for (int f = 0; f < kRadial; ++f)
				g[f] += std::exp(-(0.1 + 0.05 * f) * far_[a][b] * far_[a][b]) * fade_[a][b];
		for (int b = 0; b < kAtoms; ++b)
			for (int c = 0; c < b; ++c) {
				if (b == a || c == a)
					continue;
				const double ab = far_[a][b], ac = far_[a][c], bc = far_[b][c];
				const double cosine = (ab * ab + ac * ac - bc * bc) / (2 * ab * ac), both = fade_[a][b] * fade_[a][c];
				double power = 1 + cosine;
				for (int f = 0; f < kAngular; ++f) {
					g[kRadial + f] += power * both / 64;
					power *= 0.5 * (1 + cosine) + 0.1;
				}
			}
	}

	Point at_[kAtoms];
	double far_[kAtoms][kAtoms], fade_[kAtoms][kAtoms], functions_[kAtoms][kFunctions];
};

} // namespace

int main()
{
	std::mt19937 random(47);
	std::normal_distribution<double> normal(0, 1);
	Net nets[2];
	for (Net &net : nets)
		for (int u = 0; u < kUnits; ++u) {
			for (double &w : net.in[u])
				w = normal(random) / 6;
			for (double &w : net.mid[u])
				w = normal(random) / 6;
			net.out[u] = normal(random) / 6;
		}
	std::vector<Cluster> clusters;
	for (int c = 0; c < 16; ++c)
		clusters.emplace_back(random);
	std::array<double, kAtoms> pull{};
	double sum = 0, most = 0;
	watch clock{};

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		for (int c = 0; c < 4; ++c) {
			sum += clusters[(clock.steps * 4 + c) % 16].energy(nets[0], nets[1], pull);
			for (double p : pull)
				most = std::fmax(most, std::fabs(p));
		}
	}
	watch_tell(&clock);
	std::printf("energy %.4f, most %.4f\n", sum / clock.steps / 4, most);
}
