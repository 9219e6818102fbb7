/* Command lines are stored without the parts that look like a secret. */
#include "check.h"

#include "record/metadata.c"

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
	dw_metadata_redact(copy, length, line, sizeof line);
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

/* One argument that may hold blanks. */
static const char *redacted_one(const char *argument)
{
	static char line[2048];

	dw_metadata_redact(argument, strlen(argument) + 1, line, sizeof line);
	return line;
}

TEST(headers)
{
	CHECK_STR(redacted_one("Authorization: Bearer S3CR3T-A=="), "Authorization: Bearer [redacted]");
	CHECK_STR(redacted_one("authorization:token S3CR3T"), "authorization:token [redacted]");
	CHECK_STR(redacted_one("X-Api-Key: S3CR3T"), "X-Api-Key: [redacted]");
	CHECK_STR(redacted_one("Cookie: id=S3CR3T"), "Cookie: [redacted]");
	CHECK_STR(redacted_one("--header=Authorization: Basic S3CR3T"),
	          "--header=Authorization: Basic [redacted]");
	CHECK_STR(redacted_one("Accept: text/html"), "Accept: text/html");
}

TEST(members_of_objects)
{
	CHECK_STR(redacted_one("{\"token\":\"S3CR3T\"}"), "{\"token\":\"[redacted]\"}");
	CHECK_STR(redacted_one("{\"a\": 1, \"password\" : \"S3\\\"CR3T\", \"b\": 2}"),
	          "{\"a\": 1, \"password\" : \"[redacted]\", \"b\": 2}");
	CHECK_STR(redacted_one("{'secret': 'S3CR3T', 'key': 'S3CR3T'}"),
	          "{'secret': '[redacted]', 'key': '[redacted]'}");
	CHECK_STR(redacted_one("{token: S3CR3T, lr: 0.1}"), "{token: [redacted], lr: 0.1}");
	CHECK_STR(redacted_one("{\"monkey\": 3, \"keyboard\": 4}"),
	          "{\"monkey\": 3, \"keyboard\": 4}");
}

TEST(queries)
{
	CHECK_STR(redacted_one("https://host/path?token=S3CR3T&n=3"),
	          "https://host/path?token=[redacted]&n=3");
	CHECK_STR(redacted_one("https://host/a@b"), "https://host/a@b");
	CHECK_STR(redacted_one("https://me:S3CR3T@host/?key=S3CR3T"),
	          "https://[redacted]@host/?key=[redacted]");
}

TEST(passwords_that_stick_to_their_option)
{
	CHECK_STR(redacted("mysql -u root -pS3CR3T shop"), "mysql -u root -p[redacted] shop");
	CHECK_STR(redacted("/usr/bin/sshpass -pS3CR3T ssh host"),
	          "/usr/bin/sshpass -p[redacted] ssh host");
	CHECK_STR(redacted("server -p8080"), "server -p8080");
}

TEST(words_that_look_like_secrets)
{
	CHECK_STR(redacted("train --tokenizer gpt2 --keys=3"), "train --tokenizer gpt2 --keys=3");
	CHECK_STR(redacted("train --tokenizer=gpt2"), "train --tokenizer=gpt2");
	CHECK_STR(redacted("get --key S3CR3T"), "get --key [redacted]");
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

	dw_metadata_redact("0123456789\0abcdefghij", 22, line, sizeof line);
	CHECK_STR(line, "0123456789 abcd");
}

TEST(keys_of_facts)
{
	CHECK(metadata_names_a_secret("WANDB_API_KEY", 13));
	CHECK(metadata_names_a_secret("Password", 8));
	CHECK(!metadata_names_a_secret("batch size", 10));
}

CHECK_MAIN
