/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PVPERF_JSON_H
#define PVPERF_JSON_H

#include <json-c/json.h>

/* Prints it, and gives it back. */
void json_print(struct json_object *o);

/* Prints an object with why the command failed, see failure(). Returns the exit status. */
int json_failure(void);

/* NULL where the text is empty. */
struct json_object *json_text(const char *text);

#endif /* PVPERF_JSON_H */
