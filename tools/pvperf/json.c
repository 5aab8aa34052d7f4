// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include "command.h"
#include "failure.h"
#include "json.h"

void json_print(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

int json_failure(void)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "error", json_object_new_string(failure_why));
	json_print(o);
	return EXIT_PROBLEM;
}

struct json_object *json_text(const char *text)
{
	return *text ? json_object_new_string(text) : NULL;
}
