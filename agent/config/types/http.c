/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = http`: Zipkin's own, version 1 or 2. */
#include "config/check.h"
#include "config/keys.h"
#include "config/outputtype.h"

static const struct output_advice keys_meant[] = {{"|brokers|", "write `server`"}, {0}};

static const struct output_port ports[] = {
	{9410, "which is usually Zipkin's Scribe port: that takes `type = scribe`"},
	{4317, "which is usually OTLP's gRPC port; `type = otlp` goes to its HTTP port, usually 4318"},
	{4318, "which is usually OTLP's HTTP port: that takes `type = otlp`"},
	{0},
};

static void settle(const struct config *config, struct output_config *output)
{
	(void)config;
	output_type_default(output, "server", "127.0.0.1:9411");
	if (output->format == CONFIG_FORMAT_JSON2)
		output_type_default(output, "path", "/api/v2/spans");
}

static int check(const struct config *config, const struct output_config *output)
{
	const struct rule rules[] = {
		{output->format == CONFIG_FORMAT_OTLP, {"format", "type"},
			"`format = otlp` is for `type = kafka`; over HTTP, set `type = otlp` instead,"},
		{output->format == CONFIG_FORMAT_OTLP_JSON, {"format", "type"},
			"`format = otlp-json` is for `type = file`"},
		{output->takes != CONFIG_TAKES_SPANS, {"takes", "type"},
			"`type = http` takes spans only, as that is all that Zipkin takes; for events and "
			"messages set another type"},
	};

	(void)config;
	return check_rules(output, rules, G_N_ELEMENTS(rules));
}

/* The path is that of Zipkin's other version. */
static char *note(const struct output_config *output)
{
	const bool thrift = output->format == CONFIG_FORMAT_THRIFT;

	if (!g_str_has_suffix(output->path, thrift ? "/api/v2/spans" : "/api/v1/spans"))
		return NULL;
	return g_strdup_printf("sends %s to `path = %s`: Zipkin takes its version 1 (`format = thrift`) at "
			       "/api/v1/spans, and its version 2 (`format = json2`) at /api/v2/spans",
		thrift ? "Thrift" : "JSON", output->path);
}

static void reword(GString *remedy, const struct output_config *output, enum kind kind)
{
	(void)kind;
	g_string_replace(remedy, REMEDY_PATH,
		output->format == CONFIG_FORMAT_JSON2 ? "Zipkin: /api/v2/spans" : "Zipkin: /api/v1/spans", 0);
}

const struct output_type output_type_http = {
	.name = "http",
	.also = "|zipkin|https|",
	.takes = CONFIG_TAKES_SPANS,
	.keys = KEYS_ANY | KEYS_DELIVERS | KEYS_CONNECTS | KEYS_SERVERS | KEYS_POSTS | KEYS_FORMATS |
		KEYS_COMPRESSES,
	.formats = 1u << CONFIG_FORMAT_THRIFT | 1u << CONFIG_FORMAT_JSON2,
	.place = "server",
	.port = "9411",
	.settle = settle,
	.check = check,
	.keys_meant = keys_meant,
	.ports = ports,
	.schemes = "|http|https|",
	.note = note,
	.port_words = "its HTTP port (Zipkin: 9411)",
	.reword = reword,
};
