/*
 * describe.h: the families, one of them, or one of its variants, in words and as JSON.
 */
#ifndef LOCKSTEP_ZOO_DESCRIBE_H
#define LOCKSTEP_ZOO_DESCRIBE_H

#include "zoo/zoo.h"

#include <jansson.h>
#include <stdio.h>

void zoo_print_families(FILE *out);
json_t *zoo_families_json(void);
void zoo_print_family(FILE *out, const struct zoo_family *family);
json_t *zoo_family_json(const struct zoo_family *family);
json_t *zoo_variant_json(const struct zoo_family *family, const struct zoo_variant *variant);

#endif
