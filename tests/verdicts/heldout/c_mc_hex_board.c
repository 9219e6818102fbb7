/*
 * Plays Hex against itself: a search tree of 40 positions a move, each judged by a small convolutional network. A second
 * thread shows the state of the game to whoever asks.
 *
 * Decoy: nodes from malloc() that are freed move by move, a lock shared with a thread that sleeps, a flushed line a move, a short nap and the board in a file, all of a moment.
 * Truth: time of all these, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 11, FIELDS = SIDE * SIDE, PADDED = SIDE + 2, PLANES = 3, MAPS = 16, SEARCHES = 40 };

struct node {
	struct node **children;
	float *prior;
	float worth;
	int visits, field;
};

static float first[MAPS][PLANES][3][3], second[MAPS][MAPS][3][3], policy[MAPS], value[MAPS];
static float planes[PLANES][PADDED][PADDED], maps[MAPS][PADDED][PADDED], deep[MAPS][SIDE][SIDE];

static pthread_mutex_t shown_lock = PTHREAD_MUTEX_INITIALIZER;
static signed char shown[FIELDS];
static atomic_bool over;
static struct watch watch;

static void *show(void *nothing)
{
	static int stones;

	while (!over) {
		pthread_mutex_lock(&shown_lock);
		for (int f = 0; f < FIELDS; f++)
			stones += shown[f] != 0;
		pthread_mutex_unlock(&shown_lock);
		usleep(50000);
	}
	return stones < 0 ? &stones : nothing;
}

/* How good the board is for `player`, and a prior for each field. */
static float judge(const signed char *board, int player, float *prior)
{
	DWELL_ZONE("judge");
	float worth = 0, sum = 0;

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			const int stone = board[y * SIDE + x];
			planes[0][y + 1][x + 1] = stone == player;
			planes[1][y + 1][x + 1] = stone == -player;
			planes[2][y + 1][x + 1] = 1;
		}
	for (int m = 0; m < MAPS; m++)
		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++) {
				float s = 0.01f;
				for (int p = 0; p < PLANES; p++)
					for (int dy = 0; dy < 3; dy++)
						for (int dx = 0; dx < 3; dx++)
							s += first[m][p][dy][dx] * planes[p][y + dy][x + dx];
				maps[m][y + 1][x + 1] = s > 0 ? s : 0;
			}
	for (int m = 0; m < MAPS; m++)
		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++) {
				float s = 0;
				for (int p = 0; p < MAPS; p++)
					for (int dy = 0; dy < 3; dy++)
						for (int dx = 0; dx < 3; dx++)
							s += second[m][p][dy][dx] * maps[p][y + dy][x + dx];
				deep[m][y][x] = s > 0 ? s : 0;
				worth += value[m] * deep[m][y][x] / FIELDS;
			}
	for (int f = 0; f < FIELDS; f++) {
		float s = 0;
		for (int m = 0; m < MAPS; m++)
			s += policy[m] * deep[m][f / SIDE][f % SIDE];
		sum += prior[f] = board[f] ? 0 : expf(s);
	}
	for (int f = 0; f < FIELDS; f++)
		prior[f] /= sum;
	return tanhf(worth);
}

static struct node *grow(int field)
{
	planted_begin(&watch);
	struct node *node = calloc(1, sizeof *node);

	node->children = calloc(FIELDS, sizeof(struct node *));
	node->prior = malloc(FIELDS * sizeof(float));
	node->field = field;
	planted_end(&watch);
	return node;
}

static void fell(struct node *node)
{
	for (int f = 0; f < FIELDS; f++)
		if (node->children[f])
			fell(node->children[f]);
	free(node->children);
	free(node->prior);
	free(node);
}

static int choose(const struct node *node, const signed char *board)
{
	float best = -1e9f;
	int field = 0;

	for (int f = 0; f < FIELDS; f++) {
		const struct node *child = node->children[f];
		const float q = child ? -child->worth / (float)child->visits : 0;
		const float u = q + 1.5f * node->prior[f] * sqrtf((float)node->visits + 1) / (1 + (child ? (float)child->visits : 0));

		if (!board[f] && u > best) {
			best = u;
			field = f;
		}
	}
	return field;
}

static float search(struct node *node, signed char *board, int player)
{
	const int field = choose(node, board);
	float worth;

	board[field] = (signed char)player;
	if (!node->children[field]) {
		node->children[field] = grow(field);
		worth = judge(board, -player, node->children[field]->prior);
		node->children[field]->worth = worth;
		node->children[field]->visits = 1;
	} else {
		worth = search(node->children[field], board, -player);
	}
	node->visits++;
	node->worth -= worth;
	return -worth;
}

static void report(FILE *diary, const signed char *board, int move, int field)
{
	planted_begin(&watch);
	pthread_mutex_lock(&shown_lock);
	memcpy(shown, board, sizeof shown);
	pthread_mutex_unlock(&shown_lock);
	fprintf(diary, "move %d: %c%d\n", move, 'a' + field % SIDE, field / SIDE + 1);
	fflush(diary);
	if (move % 20 == 19) {
		FILE *save = tmpfile();

		usleep(300);
		if (save) {
			fwrite(board, 1, FIELDS, save);
			fclose(save);
		}
	}
	planted_end(&watch);
}

int main(void)
{
	signed char board[FIELDS] = { 0 }, tried[FIELDS];
	FILE *diary = tmpfile();
	pthread_t shower;

	srand(17);
	for (size_t i = 0; i < sizeof first / sizeof(float); i++)
		((float *)first)[i] = 0.6f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (size_t i = 0; i < sizeof second / sizeof(float); i++)
		((float *)second)[i] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int m = 0; m < MAPS; m++) {
		policy[m] = (float)rand() / (float)RAND_MAX - 0.5f;
		value[m] = (float)rand() / (float)RAND_MAX - 0.5f;
	}
	if (!diary || pthread_create(&shower, NULL, show, NULL))
		return 1;
	watch_begin(&watch);
	for (int move = 0, player = 1; watch_seconds(&watch) < 6; watch.steps++, player = -player) {
		DWELL_STEP();
		struct node *root = grow(-1);
		int field = 0;

		judge(board, player, root->prior);
		for (int s = 0; s < SEARCHES; s++) {
			memcpy(tried, board, sizeof tried);
			search(root, tried, player);
		}
		for (int f = 0, most = 0; f < FIELDS; f++)
			if (root->children[f] && root->children[f]->visits > most) {
				most = root->children[f]->visits;
				field = f;
			}
		board[field] = (signed char)player;
		planted_begin(&watch);
		fell(root);
		planted_end(&watch);
		report(diary, board, move, field);
		if (++move == 60) {
			memset(board, 0, sizeof board);
			move = 0;
		}
	}
	watch_tell(&watch);
	over = true;
	pthread_join(shower, NULL);
	fclose(diary);
	return 0;
}
