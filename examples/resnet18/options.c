/*
 * options.c - parses the command line into struct options, or ends the program with a message that
 * contains the option and its valid values. Called once, by main.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
	"usage: resnet18 [options]\n"
	"Trains ResNet-18 to read handwritten digits, on the CPU with oneDNN.\n"
	"\n"
	"  --data DIR            MNIST's four IDX files (default: 1797 digits that come along)\n"
	"  --epochs N            passes over the training images (default 5)\n"
	"  --batch N             images a step (default 50)\n"
	"  --max-steps N         end after N steps (default: no limit)\n"
	"  --optimizer NAME      sgd or rmsprop (default sgd)\n"
	"  --lr X                learning rate (default 0.02; rmsprop 0.005)\n"
	"  --momentum X          momentum, below 1 (default 0.9; rmsprop 0)\n"
	"  --seed N              of the weights and the order of the images (default 1)\n"
	"  --no-shuffle          take the images in the file's order\n"
	"  --threads N           of the kernels (default: OpenMP's choice)\n"
	"  --ranks N             train in N processes, each with a part of every batch (default 1)\n"
	"  --prefetch N          batches the loader may be ahead (default 4)\n"
	"  --loader-delay-ms N   make the loader this much slower a batch (default 0)\n"
	"  --load-weights FILE   begin with these weights\n"
	"  --save-weights FILE   write the weights at the end\n"
	"  --dump FILE           write the losses, the first step's gradients and the weights\n"
	"  --times               print what events and handlers took, as PyTorch-Ignite does\n"
	"  --profiler NAME       simple, advanced, operators or xla: report the fit's actions by\n"
	"                        Lightning's names, as its profilers do\n"
	"  --graph               buffer the first iteration's operations, replay them\n"
	"  --verbosity N         print at the end what iterations took, as SINGA does: 1 forward and\n"
	"                        backward, 2 each operation, 3 the distributed ones (default 0)\n"
	"  --skip-iteration N    of those, leave out the first N (default 5)\n"
	"  --sync-norm           with ranks: normalize by the statistics of the whole batch\n"
	"  --frozen-norm         normalize by the running statistics that --load-weights brought\n"
	"  --action-names V      2.2 (default) or 1.6: the names of that version\n"
	"  --help                this text\n";

enum {
	OPT_DATA = 256,
	OPT_EPOCHS,
	OPT_BATCH,
	OPT_MAX_STEPS,
	OPT_OPTIMIZER,
	OPT_LR,
	OPT_MOMENTUM,
	OPT_SEED,
	OPT_NO_SHUFFLE,
	OPT_THREADS,
	OPT_PREFETCH,
	OPT_LOADER_DELAY,
	OPT_LOAD,
	OPT_SAVE,
	OPT_DUMP,
	OPT_TIMES,
	OPT_PROFILER,
	OPT_RANKS,
	OPT_GRAPH,
	OPT_VERBOSITY,
	OPT_SKIP_ITERATION,
	OPT_FROZEN_NORM,
	OPT_ACTION_NAMES,
	OPT_SYNC_NORM,
	OPT_HELP
};

static const struct option long_options[] = {
	{ "data", required_argument, NULL, OPT_DATA },
	{ "epochs", required_argument, NULL, OPT_EPOCHS },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "max-steps", required_argument, NULL, OPT_MAX_STEPS },
	{ "optimizer", required_argument, NULL, OPT_OPTIMIZER },
	{ "lr", required_argument, NULL, OPT_LR },
	{ "momentum", required_argument, NULL, OPT_MOMENTUM },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "no-shuffle", no_argument, NULL, OPT_NO_SHUFFLE },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "prefetch", required_argument, NULL, OPT_PREFETCH },
	{ "loader-delay-ms", required_argument, NULL, OPT_LOADER_DELAY },
	{ "load-weights", required_argument, NULL, OPT_LOAD },
	{ "save-weights", required_argument, NULL, OPT_SAVE },
	{ "dump", required_argument, NULL, OPT_DUMP },
	{ "times", no_argument, NULL, OPT_TIMES },
	{ "profiler", required_argument, NULL, OPT_PROFILER },
	{ "ranks", required_argument, NULL, OPT_RANKS },
	{ "graph", no_argument, NULL, OPT_GRAPH },
	{ "verbosity", required_argument, NULL, OPT_VERBOSITY },
	{ "skip-iteration", required_argument, NULL, OPT_SKIP_ITERATION },
	{ "frozen-norm", no_argument, NULL, OPT_FROZEN_NORM },
	{ "action-names", required_argument, NULL, OPT_ACTION_NAMES },
	{ "sync-norm", no_argument, NULL, OPT_SYNC_NORM },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static void options_usage_error(void) __attribute__((noreturn));

static void options_usage_error(void)
{
	fputs("resnet18: --help lists the options\n", stderr);
	exit(2);
}

static long long options_whole_number(const char *option, const char *text, long long low, long long high)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || errno || value < low || value > high) {
		fprintf(stderr, "resnet18: --%s takes a whole number from %lld to %lld, not '%s'\n", option,
				low, high, text);
		options_usage_error();
	}
	return value;
}

static float options_decimal(const char *option, const char *text, float low, float high)
{
	char *end;
	float value = strtof(text, &end);

	if (end == text || *end || !isfinite(value) || value < low || value >= high) {
		fprintf(stderr, "resnet18: --%s takes a number from %g to below %g, not '%s'\n", option,
				(double)low, (double)high, text);
		options_usage_error();
	}
	return value;
}

static enum optimizer_kind options_optimizer_kind(const char *text)
{
	if (strcmp(text, "sgd") == 0)
		return OPTIMIZER_SGD;
	if (strcmp(text, "rmsprop") == 0)
		return OPTIMIZER_RMSPROP;
	fprintf(stderr, "resnet18: --optimizer takes sgd or rmsprop, not '%s'\n", text);
	options_usage_error();
}

static bool options_has_old_names(const char *text)
{
	if (strcmp(text, "1.6") != 0 && strcmp(text, "2.2") != 0) {
		fprintf(stderr, "resnet18: --action-names takes 2.2 or 1.6, not '%s'\n", text);
		options_usage_error();
	}
	return text[0] == '1';
}

static void options_take_path(struct options *options, int option)
{
	switch (option) {
	case OPT_DATA:
		options->data_folder = optarg;
		break;
	case OPT_LOAD:
		options->load_weights = optarg;
		break;
	case OPT_SAVE:
		options->save_weights = optarg;
		break;
	case OPT_DUMP:
		options->dump = optarg;
		break;
	default: /* getopt has printed the error */
		options_usage_error();
	}
}

static void take_option(struct options *options, int option, const char *name)
{
	switch (option) {
	case OPT_EPOCHS:
		options->epochs = (int)options_whole_number(name, optarg, 1, 1000000);
		break;
	case OPT_BATCH:
		options->batch_size = (int)options_whole_number(name, optarg, 1, 4096);
		break;
	case OPT_MAX_STEPS:
		options->max_steps = (int)options_whole_number(name, optarg, 1, 1000000000);
		break;
	case OPT_OPTIMIZER:
		options->optimizer.kind = options_optimizer_kind(optarg);
		break;
	case OPT_LR:
		options->optimizer.learning_rate = options_decimal(name, optarg, 0, 1000);
		break;
	case OPT_MOMENTUM:
		options->optimizer.momentum = options_decimal(name, optarg, 0, 1);
		break;
	case OPT_SEED:
		options->seed = (uint64_t)options_whole_number(name, optarg, 0, INT64_MAX);
		break;
	case OPT_NO_SHUFFLE:
		options->shuffle = false;
		break;
	case OPT_THREADS:
		options->threads = (int)options_whole_number(name, optarg, 1, 1024);
		break;
	case OPT_PREFETCH:
		options->prefetch = (int)options_whole_number(name, optarg, 1, 1024);
		break;
	case OPT_LOADER_DELAY:
		options->loader_delay_ms = (int)options_whole_number(name, optarg, 0, 60000);
		break;
	case OPT_RANKS:
		options->ranks = (int)options_whole_number(name, optarg, 1, 64);
		break;
	case OPT_GRAPH:
		options->graph = true;
		break;
	case OPT_VERBOSITY:
		options->verbosity = (int)options_whole_number(name, optarg, 0, 3);
		break;
	case OPT_SKIP_ITERATION:
		options->skip_iteration = (int)options_whole_number(name, optarg, 0, 1000000000);
		break;
	case OPT_FROZEN_NORM:
		options->frozen_norm = true;
		break;
	case OPT_SYNC_NORM:
		options->sync_norm = true;
		break;
	case OPT_TIMES:
		options->times = true;
		break;
	case OPT_PROFILER:
		options->profiler = optarg;
		break;
	case OPT_ACTION_NAMES:
		options->old_names = options_has_old_names(optarg);
		break;
	case OPT_HELP:
		fputs(help_text, stdout);
		exit(0);
	default:
		options_take_path(options, option);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	int option, index = 0;
	bool sgd;

	*options = (struct options){ .epochs = 5,
								 .batch_size = 50,
								 .prefetch = 4,
								 .ranks = 1,
								 .skip_iteration = 5,
								 .shuffle = true,
								 .seed = 1,
								 .optimizer = { OPTIMIZER_SGD, -1, -1 } };
	while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1)
		take_option(options, option, long_options[index].name);
	if (optind < argc) {
		fprintf(stderr, "resnet18: '%s' is not an option\n", argv[optind]);
		options_usage_error();
	}
	if (options->batch_size % options->ranks) {
		fprintf(stderr, "resnet18: --ranks %d does not divide --batch %d\n", options->ranks,
				options->batch_size);
		options_usage_error();
	}
	if (options->sync_norm && options->frozen_norm) {
		fputs("resnet18: --sync-norm and --frozen-norm exclude each other\n", stderr);
		options_usage_error();
	}
	sgd = options->optimizer.kind == OPTIMIZER_SGD;
	if (options->optimizer.learning_rate < 0)
		options->optimizer.learning_rate = sgd ? 0.02f : 0.005f;
	if (options->optimizer.momentum < 0)
		options->optimizer.momentum = sgd ? 0.9f : 0;
}
