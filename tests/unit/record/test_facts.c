/* What is stored of a command line: everything but what looks like a secret. */
#include "check.h"

#include "record/facts.c"

/* Arguments separated by blanks here, as one line. */
static const char *redacted(const char *arguments)
{
	static char line[2048];
	char copy[2048];
	size_t length = strlen(arguments) + 1;

	memcpy(copy, arguments, length);
	for (size_t i = 0; i < length; i++)
		if (copy[i] == ' ')
			copy[i] = '\0';
	redact(copy, length, line, sizeof line);
	return line;
}

TEST(ordinary_arguments_are_stored)
{
	CHECK_STR(redacted("train --epochs 3 --lr=0.1 data"), "train --epochs 3 --lr=0.1 data");
	CHECK_STR(redacted("train"), "train");
	CHECK_STR(redacted("a  b"), "a  b");
}

TEST(values_of_secrets_are_not)
{
	CHECK_STR(redacted("train --token=abc x"), "train --token=[redacted] x");
	CHECK_STR(redacted("train --token abc x"), "train --token [redacted] x");
	CHECK_STR(redacted("env HF_TOKEN=abc train"), "env HF_TOKEN=[redacted] train");
	CHECK_STR(redacted("train --db-password abc"), "train --db-password [redacted]");
	CHECK_STR(redacted("train --WandB-API-Key=abc"), "train --WandB-API-Key=[redacted]");
	CHECK_STR(redacted("train api_key=abc client_secret=d"),
	          "train api_key=[redacted] client_secret=[redacted]");
	CHECK_STR(redacted("x --auth a --private-key b"), "x --auth [redacted] --private-key [redacted]");
}

TEST(a_flag_that_follows_a_secret_is_no_value)
{
	CHECK_STR(redacted("train --use-token --epochs 3"), "train --use-token --epochs 3");
}

TEST(credentials_in_addresses)
{
	CHECK_STR(redacted("get https://me:pw@host/path"), "get https://[redacted]@host/path");
	CHECK_STR(redacted("get https://host/path"), "get https://host/path");
}

TEST(short_lines_are_cut_and_ended)
{
	char line[16];

	redact("0123456789\0abcdefghij", 22, line, sizeof line);
	CHECK_STR(line, "0123456789 abcd");
}

TEST(keys_of_facts)
{
	CHECK(names_a_secret("WANDB_API_KEY", 13));
	CHECK(names_a_secret("Password", 8));
	CHECK(!names_a_secret("batch size", 10));
}

CHECK_MAIN
