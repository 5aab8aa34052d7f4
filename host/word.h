/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_HOST_WORD_H
#define _PVPERF_HOST_WORD_H

/*
 * The words of a policy as text. Pure: the command uses this file, too, and it is tested in
 * userspace.
 */

#include "policy.h"

/* Long enough for any message of parsing. */
#define PVPERF_WHY	192

/**
 * struct pvperf_word_kind - a word
 * @name: as written
 * @values: the names of the values from 0 on, ends with a NULL; NULL: it is a number
 * @min: the least number
 * @max: the greatest
 */
struct pvperf_word_kind {
	const char *name;
	const char *const *values;
	__u32 min, max;
};

extern const struct pvperf_word_kind pvperf_words[PVPERF_WORDS];

/**
 * pvperf_word_find() - which word is it?
 * @name: its name, or the beginning of a text
 * @len: how long the name is
 *
 * Return: enum pvperf_word; PVPERF_WORDS: there is none of this name.
 */
enum pvperf_word pvperf_word_find(const char *name, unsigned int len);

/**
 * pvperf_word_parse() - a word's value
 * @word: the word
 * @text: as written
 * @value: the result
 * @why: gets a sentence if the text makes no sense; of PVPERF_WHY bytes
 *
 * Return: false if it makes none.
 */
bool pvperf_word_parse(enum pvperf_word word, const char *text, __u32 *value, char *why);

/**
 * pvperf_word_number() - a decimal number, with nothing behind it
 * @text: as written
 * @value: the result
 *
 * Return: false if it is none, or above 2^32 - 1.
 */
bool pvperf_word_number(const char *text, __u32 *value);

/**
 * pvperf_word_print() - "NAME=VALUE"
 * @word: the word
 * @value: its value
 * @text: the result
 * @size: of @text
 *
 * Return: its length.
 */
int pvperf_word_print(enum pvperf_word word, __u32 value, char *text, unsigned int size);

#endif /* _PVPERF_HOST_WORD_H */
