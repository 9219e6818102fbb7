/*
 * What is done, in words for people: one list for the parts of a run and for what is done in a call. Words of a run tell waits from
 * code of libraries, and words of a call tell apart what is done with memory. Rows that have the same words are one kind.
 */
#pragma once

#include "account/account.h"

/* activities, words of a part of a run, words of what a call does (NULL: of a call it is not said) */
#define DW_ACCOUNT_KINDS(X, DOES)                                                                          \
	X(DOES(IMPORTS), "importing", NULL)                                                                \
	X(DOES(COMPILES), "compiling", NULL)                                                               \
	X(DOES(STARTS), "loading libraries", "its own code")                                               \
	X(DW_ACTIVITIES_OF_FILES, "reading and writing files", "files, pipes or sockets")                  \
	X(DOES(SOCKET) | DOES(DELAYED), "waiting for answers", "files, pipes or sockets")                  \
	X(DW_ACTIVITIES_OF_THREADS, "waiting for threads", "locks, and waits for threads")                 \
	X(DOES(BEGINS), "beginning threads", "beginning threads")                                          \
	X(DOES(CHILD), "waiting for child processes", NULL)                                                \
	X(DOES(SLEEP), "sleeping", NULL)                                                                   \
	X(DW_ACTIVITIES_OF_MEMORY, "getting and copying memory", "allocating and freeing memory")          \
	X(DW_ACTIVITIES_OF_COPIES, "getting and copying memory", "copying and clearing memory")            \
	X(DOES(RETURNS) | DOES(FAULT), "getting and copying memory", "getting memory from the system and returning it") \
	X(DOES(TEXT) | DOES(LOGS), "making and reading text", "making and reading text")                   \
	X(DOES(ALGEBRA), "algebra", "algebra")                                                             \
	X(DOES(DEVICE), "the device", NULL)                                                                \
	X(DOES(COMPRESSION), "compression", "compression")                                                 \
	X(DOES(MATCHES), "regular expressions", "regular expressions")                                     \
	X(DOES(RANDOM), "random numbers", "random numbers")                                                \
	X(DOES(LOOK_UP), "look-ups", "look-ups")                                                           \
	X(DOES(INTERPRETER), "Python", NULL)                                                               \
	X(DOES(PACKAGE), "Python of libraries", "its own code")                                            \
	X(DOES(QUERIES), "database queries", "database queries")                                           \
	X(DOES(THROWS), "exceptions", "exceptions")                                                        \
	X(DOES(PICKLES), "passing objects", NULL)                                                          \
	X(DOES(COUNTS), "reference counts", "reference counts")                                            \
	X(DOES(OBJECTS), "Python's objects in arrays", NULL)                                               \
	X(DOES(CHECKS), "checks for debugging", NULL)                                                      \
	X(DOES(COLLECTOR), "garbage collection", NULL)                                                     \
	X(DOES(OWN), "its own code", "its own code")                                                       \
	X(DOES(UNKNOWN), "code of libraries", "its own code")                                              \
	X(DOES(SPIN), "spinning", NULL)
#define DW_ACCOUNT_KIND_PLUS_ONE(...) +1
enum { DW_ACCOUNT_KIND_COUNT = 0 DW_ACCOUNT_KINDS(DW_ACCOUNT_KIND_PLUS_ONE, ) };

enum dw_account_words { DW_ACCOUNT_OF_RUN, DW_ACCOUNT_OF_CALL };

/* The words of a row, and the activities of all rows with these words; NULL if an earlier row has them, or there are none. */
const char *dw_account_kind_words(size_t row, enum dw_account_words of, dw_activity_set *activities);
