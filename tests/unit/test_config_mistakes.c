/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration: one clear line for each mistake. */
#include "config_rig.h"
#include "run.h"

#define TWENTY "abcdefghijklmnopqrst"
#define HUNDRED TWENTY TWENTY TWENTY TWENTY TWENTY

START_TEST(test_mistakes)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[output]\nservr = a:1\n",
			"test: F:2: unknown key `servr` in [output]; did you mean `server`?\n"},
		{"[agent]\nserver = a:1\n",
			"test: F:2: unknown key `server` in [agent]; it belongs in [output]\n"},
		{"[input]\nscribe = 127.0.0.1:9410\n",
			"test: F:2: `server` is the agent's own `scribe` in "
			"[input], so its spans would come back for ever: name another server in [output]\n"},
		{"[input]\nscribe = 0.0.0.0:1463\n[output]\nserver = a:1463, localhost:1463\n",
			"test: F:4: `server` is the agent's own `scribe` in "
			"[input], so its spans would come back for ever: name another server in [output]\n"},
		{"[input]\notlp_http = 127.0.0.1:4318\n",
			"test: F:2: unknown key `otlp_http` in [input]; did you mean `otlp`?\n"},
		{"[input]\ngrpc = 127.0.0.1:4317\n",
			"test: F:2: unknown key `grpc` in [input]; did you mean `otlp-grpc`?\n"},
		{"[input]\nhttp = 127.0.0.1:4318\n",
			"test: F:2: unknown key `http` in [input]; did you mean `otlp`?\n"},
		{"[input]\notlp = 4318\n",
			"test: F:2: `otlp = 4318` is not valid: it must be ADDRESS:PORT, usually "
			"127.0.0.1:1463 in `scribe`, 127.0.0.1:4318 in `otlp`, 127.0.0.1:4317 in "
			"`otlp-grpc`; the absolute path of a socket, of 107 characters at most; or empty\n"},
		{"[input]\notlp = 127.0.0.1:4318\notlp-grpc = 127.0.0.1:4318\n",
			"test: F:3: `otlp-grpc` is where `otlp` in [input] listens, too: choose another "
			"port, "
			"in [input]\n"},
		{"[input]\notlp = 127.0.0.1:9412\n",
			"test: F:2: `otlp` is where `http` in [agent] listens, too: choose another port, in "
			"[input]\n"},
		{"[agent]\nxyzzyplugh = 1\n", "test: F:2: unknown key `xyzzyplugh` in [agent]; "
					      "blkin-agent.conf(5) lists the keys\n"},
		{"[outputs]\nserver = a:1\n",
			"test: F:1: unknown section [outputs]; did you mean [output]?\n"},
		{"[outptu zipkin2]\n",
			"test: F:1: unknown section [outptu zipkin2]; did you mean [output NAME]?\n"},
		{"[output:zipkin2]\n",
			"test: F:1: unknown section [output:zipkin2]; did you mean [output NAME]?\n"},
		{"[agent one]\n", "test: F:1: unknown section [agent one]; did you mean [agent]?\n"},
		{"[output ]\n[output\t]\n", "test: F:1: the output has no name: write [output NAME], or "
					    "[output] without a space\n"
					    "test: F:2: the output has no name: write [output NAME], or "
					    "[output] without a space\n"},
		{"[output a b]\nservr = a:1\n", "test: F:1: `a b` cannot be an output's name: it has "
						"letters, digits, `_` and `-` only\n"},
		{"[output \"a\"]\n", "test: F:1: `\"a\"` cannot be an output's name: it has letters, "
				     "digits, `_` and `-` only\n"},
		{"[output a.b]\n", "test: F:1: `a.b` cannot be an output's name: it has letters, digits, "
				   "`_` and `-` only\n"},
		{"[output abcdefghijklmnopqrstuvwxyzABCDEFG]\n",
			"test: F:1: an output's name has 32 characters at most: "
			"`abcdefghijklmnopqrstuvwxyzABCDEFG` has 33\n"},
		{"[output default]\nserver = a:1\n",
			"test: F:1: the output `default` is the section [output]: write that\n"},
		{"[output zipkin2]\nservr = a:1\n",
			"test: F:2: unknown key `servr` in [output zipkin2]; did you mean `server`?\n"},
		{"[output zipkin2]\nmax-size = 1G\n",
			"test: F:2: unknown key `max-size` in [output zipkin2]; it belongs in [spool]\n"},
		{"[output zipkin2]\nserver = a:1\n[output]\nserver = b:1\n[output zipkin2]\nserver = "
		 "c:1\n",
			"test: F:6: `server` is already set on line 2\n"},
		{"[output zipkin2]\ntakes = spans, logs\n",
			"test: F:2: `takes = spans, logs` is not valid: it must be spans, events or "
			"messages, or several, separated by commas\n"},
		{"[output zipkin2]\ntakes =\n", "test: F:2: `takes = ` is not valid: it must be spans, "
						"events or messages, or several, "
						"separated by commas\n"},
		{"[output zipkin2]\ntype = http\ntakes = spans, events\n",
			"test: F:3: `type = http` takes spans only, as that is all that Zipkin takes; for "
			"events and messages set another type in [output zipkin2]\n"},
		{"[output a]\nretry-min = 10s\n[output b]\nretry-min = 10s\ntls-key = /k\n",
			"test: F:2: `retry-min` is larger than `retry-max` in [output a]\n"
			"test: F:4: `retry-min` is larger than `retry-max` in [output b]\n"
			"test: F:5: `tls-certificate` and `tls-key` go together in [output b]\n"
			"test: F:5: TLS files need `tls = yes` in [output b]\n"},
		{"[spool]\nmax-size = 2M\n[output a]\nbatch-size = 256K\n[output b]\n",
			"test: F:2: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output]\n"
			"test: F:2: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output b]\n"},
		{"[output a]\nspool-size = 1M\n", "test: F:2: `spool-size` must be 0 (no spool), or at least "
						  "1M and eight times `batch-size` in [output a]\n"},
		{"[output]\nspool-size = 4M\nbatch-size = 1M\n",
			"test: F:3: `spool-size` must be 0 (no spool), or at least 1M and eight times "
			"`batch-size` in [output]\n"},
		{"[session]\nrelay-live-port = 0\n",
			"test: F:2: the relay's ports must either all be 0, or none of them, in [session]\n"},
		{"[session]\nrelay-live-port = 0\nrelay-data-port = 0\nrelay-control-port = 0\n",
			"test: F:4: `keep = yes` needs a relay daemon that outlives the agent: its ports "
			"cannot be 0 in [session]\n"},
		{"[something-else]\n",
			"test: F:1: unknown section [something-else]; blkin-agent.conf(5) lists them\n"},
		{"server = a:1\n", "test: F:1: `server` is set before the first [section]\n"},
		{"[output]\n\nserver\n",
			"test: F:3: this is neither a [section], nor `key = value`, nor a # comment\n"},
		{"[thresholds]\nsvc/GET /a/[id] = 20ms\n",
			"test: F:2: what is before `=` has no `[` and no `]`; in [thresholds], `?` stands "
			"for one of them\n"},
		{"[thresholds]\nsvc/GET /a/[en]/b = 20ms\n",
			"test: F:2: what is before `=` has no `[` and no `]`; in [thresholds], `?` stands "
			"for one of them\n"},
		{"[output]\nserver = ${BLKIN_TEST_UNSET}:1\n",
			"test: F:2: the value of `server`: the environment has no variable "
			"`BLKIN_TEST_UNSET`: set it, or write ${BLKIN_TEST_UNSET:-DEFAULT}\n"},
		{"[output]\nserver = ${A:1\n", "test: F:2: the value of `server`: `${A:1` has no closing "
					       "brace; ${ itself is written $${\n"},
		{"[output]\nserver = ${A B}:1\n",
			"test: F:2: the value of `server`: `${A B}` is not a variable: write ${NAME} or "
			"${NAME:-DEFAULT}; ${ itself is written $${\n"},
		{"[output]\nserver = ${BLKIN_TEST_CONTROL}:1\n",
			"test: F:2: the value of `server`: the variable `BLKIN_TEST_CONTROL` of the "
			"environment is not UTF-8 text\n"},
		{"[output]\nwindow = ${BLKIN_TEST_WORDS}\n", "test: F:2: `window = many words` is not valid: "
							     "it must be a whole number from 1 to 1000\n"},
		{"[output]\nserver = dev:9410 # prod\n",
			"test: F:2: `server = dev:9410 # prod` is not valid: it must be HOST:PORT, such as "
			"127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas; a "
			"comment is a line of its own\n"},
		{"[agent]\nstop-timeout = \"5s\"\n",
			"test: F:2: `stop-timeout = \"5s\"` is not valid: it must be a time from 0ms to "
			"10min, with its unit: us, ms, s, min or h; a value has no quotes around it\n"},
		{"[agent]\nlog-level = debug\n",
			"test: F:2: `log-level = debug` is not valid: it must be error, warning or info\n"},
		{"[output\n", "test: F:1: a section is written [name], on a line of its own\n"},
		{"[output]\nserver = localhost\n",
			"test: F:2: `server = localhost` is not valid: it must be HOST:PORT, such as "
			"127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas\n"},
		{"[output]\nserver = h:99999\n",
			"test: F:2: `server = h:99999` is not valid: it must be HOST:PORT, such as "
			"127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas\n"},
		{"[output]\nserver = a:1, b:2, a:1\n",
			"test: F:2: `server = a:1, b:2, a:1` is not valid: it must be HOST:PORT, such as "
			"127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas\n"},
		{"[output]\nserver = http://a:9411/api/v1/spans\n",
			"test: F:2: `server = http://a:9411/api/v1/spans` is a URL: write `type = http`, "
			"`server = a:9411`, `path = /api/v1/spans`\n"},
		{"[output]\ntype = otlp\nserver = https://a/v1/traces\n",
			"test: F:3: `server = https://a/v1/traces` is a URL: write `server = a:443`, "
			"`path = /v1/traces` and `tls = yes`\n"},
		{"[output]\nserver = http://a, b:1\n", "test: F:2: `server = http://a, b:1` is a URL: write "
						       "`type = http`, `server = a:80`\n"},
		{"[output]\ntype = zipkin\n",
			"test: F:2: `type = zipkin` is not valid: it must be scribe, http, otlp, "
			"file, kafka or none; did you mean `http`?\n"},
		{"[output]\ntype = OTLP\n",
			"test: F:2: `type = OTLP` is not valid: it must be scribe, http, otlp, "
			"file, kafka or none; did you mean `otlp`?\n"},
		{"[output]\ntype = off\n",
			"test: F:2: `type = off` is not valid: it must be scribe, http, otlp, "
			"file, kafka or none; did you mean `none`?\n"},
		{"[output]\ntype = http\ncompression = gz\n", "test: F:3: `compression = gz` is not valid: "
							      "it must be gzip, zstd or none; did you mean "
							      "`gzip`?\n"},
		{"[output]\ntype = http\nformat = v2\n", "test: F:3: `format = v2` is not valid: it must be "
							 "thrift or json2; did you mean `json2`?\n"},
		{"[output]\ntags = a=1,,b=2\n",
			"test: F:2: `tags = a=1,,b=2` is not valid: a comma has no tag before or after it\n"},
		{"[output]\ntags = a=1,\n",
			"test: F:2: `tags = a=1,` is not valid: a comma has no tag before or after it\n"},
		{"[output]\ntags = a=1, host.name=x\ntype = otlp\n",
			"test: F:2: `tags` cannot set `host.name` in OTLP, where the agent sets it: choose "
			"another key, in [output]\n"},
		{"[output b]\ntype = kafka\nbrokers = b:1\nformat = otlp\ntags = service.name=x\n",
			"test: F:5: `tags` cannot set `service.name` in OTLP, where the agent sets it: "
			"choose another key, in [output b]\n"},
		{"[output]\ntype = pulsar\n", "test: F:2: `type = pulsar` is not valid: it must be scribe, "
					      "http, otlp, file, kafka or none\n"},
		{"[output]\ntype = http\nformat = otlp\n",
			"test: F:3: `format = otlp` is for `type = kafka`; over HTTP, set `type = otlp` "
			"instead, in [output]\n"},
		{"[output]\ntype = kafka\nsasl = plain\nsasl-user = u\n",
			"test: F:4: `sasl` needs `sasl-user` and `sasl-password-file` in [output]\n"},
		{"[output]\ntype = kafka\nsasl-user = u\nsasl-password-file = /f\n",
			"test: F:4: `sasl-user` and `sasl-password-file` need `sasl` in [output]\n"},
		{"[output]\ntype = kafka\ntopic = ..\n",
			"test: F:3: `topic` must have 249 characters at most, and be neither `.` nor `..`, "
			"as Kafka takes no other, in [output]\n"},
		{"[output]\ntype = kafka\ntopic = " HUNDRED HUNDRED HUNDRED "\n",
			"test: F:3: `topic` must have 249 characters at most, and be neither `.` nor `..`, "
			"as Kafka takes no other, in [output]\n"},
		{"[output]\ntype = http\ncompression = 1\n",
			"test: F:3: `compression = 1` is not valid: it must be gzip, zstd or none\n"},
		{"[output]\ntags = a\n", "test: F:2: `tags = a` is not valid at `a`: it must be KEY=VALUE, "
					 "several separated by commas\n"},
		{"[output]\ntags = a=1, b c=2\n",
			"test: F:2: `tags = a=1, b c=2` is not valid at ` b c=2`: a key has 1 to 64 letters, "
			"digits, `_`, `.`, `-` and `/`\n"},
		{"[output]\ntags = a=1,a=2\n",
			"test: F:2: `tags = a=1,a=2` is not valid at `a=2`: its key is set twice\n"},
		{"[output]\ntags = sa=1\n", "test: F:2: `tags = sa=1` is not valid at `sa=1`: Zipkin uses "
					    "`lc`, `sa`, `ca` and `ma` itself\n"},
		{"[output]\ntags = a=\n",
			"test: F:2: `tags = a=` is not valid at `a=`: a value has 1 to 256 ASCII characters, "
			"without commas, quotes, backslashes and control characters\n"},
		{"[output]\ndrop-tags = a,,b\n", "test: F:2: `drop-tags = a,,b` is not valid: a comma has no "
						 "glob before or after it\n"},
		{"[output]\nredact = user.*,\n", "test: F:2: `redact = user.*,` is not valid: a comma has no "
						 "glob before or after it\n"},
		{"[output]\nredact = user.?\n", "test: F:2: `redact = user.?` is not valid at `user.?`: the "
						"only wildcard is `*`, which stands for any characters\n"},
		{"[output]\ndrop-tags = a b\n",
			"test: F:2: `drop-tags = a b` is not valid at `a b`: a key here has no blanks, "
			"quotes, "
			"backslashes, semicolons and `=`; several are separated by commas\n"},
		{"[output]\ndrop-tags = a:b\n", "test: F:2: `drop-tags = a:b` is not valid at `a:b`: it is a "
						"key, or a glob of keys; OLD:NEW is for `rename-tags`\n"},
		{"[output]\nredact = a, b, a\n",
			"test: F:2: `redact = a, b, a` is not valid at `a`: it is there twice\n"},
		{"[output]\ndrop-tags = " HUNDRED HUNDRED HUNDRED "\n",
			"test: F:2: `drop-tags = " TWENTY TWENTY TWENTY
			"abcd...` is not valid at `" TWENTY TWENTY TWENTY TWENTY
			"`: it has more than 255 characters\n"},
		{"[output]\nrename-tags = a\n",
			"test: F:2: `rename-tags = a` is not valid at `a`: it must be OLD:NEW, the key that "
			"tags "
			"have and the one that they get, several separated by commas\n"},
		{"[output]\nrename-tags = a:\n",
			"test: F:2: `rename-tags = a:` is not valid at `a:`: there is "
			"no new key behind the colon\n"},
		{"[output]\nrename-tags = :a\n",
			"test: F:2: `rename-tags = :a` is not valid at `:a`: there is "
			"no old key before the colon\n"},
		{"[output]\nrename-tags = a*:b\n", "test: F:2: `rename-tags = a*:b` is not valid at `a*:b`: "
						   "a tag is renamed by its whole "
						   "key, so there are no wildcards here\n"},
		{"[output]\nrename-tags = a:a\n",
			"test: F:2: `rename-tags = a:a` is not valid at `a:a`: both keys are the same\n"},
		{"[output]\nrename-tags = a:b, a:c\n", "test: F:2: `rename-tags = a:b, a:c` is not valid at "
						       "`a:b`: its old key is renamed twice\n"},
		{"[output]\nrename-tags = a:b, b:c\n",
			"test: F:2: `rename-tags = a:b, b:c` is not valid at `a:b`: its new key is itself "
			"renamed: write what the tag is to be called in the end\n"},
		{"[output]\nrename-tags = a:sa\n", "test: F:2: `rename-tags = a:sa` is not valid at `a:sa`: "
						   "Zipkin uses `lc`, `sa`, `ca` and `ma` itself\n"},
		{"[output]\nrename-tags = a:b:c\n", "test: F:2: `rename-tags = a:b:c` is not valid at "
						    "`a:b:c`: a key has 1 to 64 letters, "
						    "digits, `_`, `.`, `-` and `/`\n"},
		{"[output]\nrename-tags = error:a\n",
			"test: F:2: `rename-tags = error:a` is not valid at `error:a`: `error` says that a "
			"span "
			"has failed: it cannot be renamed, and no other tag can become it\n"},
		{"[output]\nredact = user.id, a\ndrop-tags = user.*\nkeep = 1/2\n",
			"test: F:3: `redact` has `user.id`, but `drop-tags` leaves out `user.id` by its "
			"`user.*`: take one of both away, in [output]\n"},
		{"[output b]\nserver = b:1\nrename-tags = a:user.a\ndrop-tags = user.*\nredact = x\n",
			"test: F:4: `rename-tags` has `a:user.a`, but `drop-tags` leaves out `user.a` by its "
			"`user.*`: take one of both away, in [output b]\n"},
		{"[output b]\nserver = b:1\nredact = a\ntakes = events\n",
			"test: F:4: `drop-tags`, `rename-tags` and `redact` are for tags of spans, and "
			"`takes` "
			"has no spans, while events and messages are sent as they are: take these keys away, "
			"in "
			"[output b]\n"},
		{"[output]\nkeep = 10\n",
			"test: F:2: `keep = 10` is not valid: it must be a share of the traces, such as 1/1 "
			"(all) or 1/10, or auto\n"},
		{"[output]\nkeep = 1/0\n",
			"test: F:2: `keep = 1/0` is out of range: it can be 1/1 to 1/1000000, or auto\n"},
		{"[output]\nkeep = 1/ 5\n", "test: F:2: `keep = 1/ 5` is not valid: it must be a share of "
					    "the traces, such as 1/1 "
					    "(all) or 1/10, or auto\n"},
		{"[output]\ntls = true\n", "test: F:2: `tls = true` is not valid: it must be no or yes; did "
					   "you mean `yes`?\n"},
		{"[output]\npath = spans\n", "test: F:2: `path = spans` is not valid: it must be a path of "
					     "a URL, such as /api/v1/spans\n"},
		{"[output]\npath = /a b\n", "test: F:2: `path = /a b` is not valid: it must be a path of a "
					    "URL, such as /api/v1/spans\n"},
		{"[output]\ntls = yes\ntls-certificate = /a\n",
			"test: F:3: `tls-certificate` and `tls-key` go together in [output]\n"},
		{"[output]\ntls-ca = /a\n", "test: F:2: TLS files need `tls = yes` in [output]\n"},
		{"[output]\nwindow = many\n", "test: F:2: `window = many` is not valid: it must be a whole "
					      "number from 1 to 1000\n"},
		{"[output]\nwindow = 0\n", "test: F:2: `window = 0` is out of range: it can be 1 to 1000\n"},
		{"[spans]\nmax-pending = 2G\n",
			"test: F:2: `max-pending = 2G` is out of range: it can be 64K to 1G\n"},
		{"[output]\nwindow = -1\n",
			"test: F:2: `window = -1` is not valid: it must be a whole number from 1 to 1000\n"},
		{"[output]\ntimeout = 5\n", "test: F:2: `timeout = 5` is not valid: it must be a time from "
					    "10ms to 10min, with its unit: us, ms, s, min or h\n"},
		{"[output]\ntimeout = 1us\n",
			"test: F:2: `timeout = 1us` is out of range: it can be 10ms to 10min\n"},
		{"[session]\nmemory = 99999999999999999999G\n",
			"test: F:2: `memory = 99999999999999999999G` is not valid: it must be a size from 1M "
			"to 64G, in bytes, or with K, M or G\n"},
		{"[session]\nlevel = chatty\n",
			"test: F:2: `level = chatty` is not valid: it must be emerg, alert, crit, "
			"err, warning, notice, info or debug\n"},
		{"[session]\nname = a/b\n", "test: F:2: `name = a/b` is not valid: it must be a name of "
					    "letters, digits, `_`, `.` and `-`\n"},
		{"[session]\nname = a\nname = b\n", "test: F:3: `name` is already set on line 2\n"},
		{"[agent]\nsocket = /a\xff\n", "test: F:2: this is not UTF-8 text: byte 0xff\n"},
		{"[agent]\n\nsocket = /a\x01\n", "test: F:3: this is not UTF-8 text: byte 0x01\n"},
		{"[agent]\nsocket = /a\\nb\n", "test: F:2: `socket = /a?b` is not valid: it must be text "
					       "without control characters\n"},
		{"[agent]\nsocket = /a\\q\n",
			"test: F:2: the value of `socket` has an unknown escape: a backslash is "
			"written \\\\\n"},
		{"[session]\nreader-memory = 32M\n[spans]\nmax-pending = 17M\n",
			"test: F:4: `reader-memory` must be at least twice `max-pending` of [spans], in "
			"[session]\n"},
		{"[output]\nretry-min = 10s\nretry-max = 1s\n",
			"test: F:3: `retry-min` is larger than `retry-max` in [output]\n"},
		{"[output]\nbatch-size = 1M\nqueue-size = 1M\n",
			"test: F:3: `queue-size` must hold at least two batches: twice `batch-size` in "
			"[output]\n"},
		{"[output]\nbatch-size = 4K\n[spool]\nmax-size = 1023K\n",
			"test: F:4: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output]\n"},
		{"[output]\nbatch-size = 256K\n[spool]\nmax-size = 2047K\n",
			"test: F:4: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output]\n"},
		{"[output]\nretry-max = 1ms\nretry-min = 1s\n",
			"test: F:3: `retry-min` is larger than `retry-max` in [output]\n"},
		{"[output]\nwindow = 0\nservr = x\n",
			"test: F:2: `window = 0` is out of range: it can be 1 to 1000\n"
			"test: F:3: unknown key `servr` in [output]; did you mean `server`?\n"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_refused(cases[i].text, cases[i].message);
}
END_TEST

/* What people write who know other programs, and what they are told. */
START_TEST(test_habits)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[output]\ntags = cluster=eu1 # my tag\n",
			"test: F:2: `tags = cluster=eu1 # my tag` is not valid at `cluster=eu1 # my tag`: a "
			"value cannot have ` #` in it; a comment is a line of its own\n"},
		{"[output]\ntags = cluster=eu1; rack=r7\n",
			"test: F:2: `tags = cluster=eu1; rack=r7` is not valid at `cluster=eu1; rack=r7`: "
			"tags are separated by commas, not by semicolons\n"},
		{"[output]\ntype = http\nheaders-file = /etc/blkin/token # secret\n",
			"test: F:3: `headers-file = /etc/blkin/token # secret` is not valid: it must be the "
			"absolute path of a file; a comment is a line of its own\n"},
		{"[output]\ntype = http\nheaders-file = \"/etc/blkin/token\"\n",
			"test: F:3: `headers-file = \"/etc/blkin/token\"` is not valid: it must be the "
			"absolute path of a file; a value has no quotes around it\n"},
		{"[output]\ntype = http\nheaders-file = token\n",
			"test: F:3: `headers-file = token` is not valid: it must be the absolute path of a "
			"file\n"},
		{"[agent]\nsocket = \"/run/x\"\n",
			"test: F:2: `socket = \"/run/x\"` is not valid; a value has no quotes around it\n"},
		{"[output]\nserver = http://a:9411/api/v2/spans\ntype = http\n",
			"test: F:2: `server = http://a:9411/api/v2/spans` is a URL: write `server = a:9411`, "
			"`path = /api/v2/spans`\n"},
		{"[output]\nserver = https://a:9411/api/v2/spans\ntype = scribe\n",
			"test: F:2: `server = https://a:9411/api/v2/spans` is a URL: write `server = a:9411` "
			"and `tls = yes`; a collector that takes HTTP has `type = http`\n"},
		{"[output]\nserver = http://a:4318/v1/traces\n",
			"test: F:2: `server = http://a:4318/v1/traces` is a URL: write `type = otlp`, "
			"`server = a:4318`, `path = /v1/traces`\n"},
		{"[output]\nserver = grpc://a:4317\ntype = otlp\n",
			"test: F:2: `server = grpc://a:4317` is a URL, and OTLP over gRPC is not supported: "
			"use the port for HTTP, usually 4318: write `server = a:4318`\n"},
		{"[output]\nserver = grpc://[::1]:4317\n",
			"test: F:2: `server = grpc://[::1]:4317` is a URL, and OTLP over gRPC is not "
			"supported: use the port for HTTP, usually 4318: write `type = otlp`, `server = "
			"[::1]:4318`\n"},
		{"[output]\nserver = scribe://a:9410\n",
			"test: F:2: `server = scribe://a:9410` is a URL: write `server = a:9410`\n"},
		{"[output]\nserver = kafka://a\n", "test: F:2: `server = kafka://a` is a URL: write `type = "
						   "kafka`, `brokers = a:9092`\n"},
		{"[output]\ntype = kafka\nbrokers = SASL_SSL://a:9093,b:1\n",
			"test: F:3: `brokers = SASL_SSL://a:9093,b:1` is a URL: write `brokers = a:9093` and "
			"`tls = yes`\n"},
		{"[output]\ntype = kafka\nbrokers = a\n",
			"test: F:3: `brokers = a` is not valid: it must be HOST:PORT, such as 127.0.0.1:9092 "
			"or [::1]:9092, or up to 8 different ones, separated by commas\n"},
		{"[output]\ntype = kafka\nserver = a:9092\n",
			"test: F:3: `server` is for type scribe, http or otlp, but the type is kafka; write "
			"`brokers`, in [output]\n"},
		{"[output]\ntype = kafka\nserver = kafka://a:9092\n",
			"test: F:3: `server = kafka://a:9092` is for type scribe, http or otlp, but the type "
			"is kafka; write `brokers`\n"},
		{"[output]\ntype = otlp\nformat = json\n",
			"test: F:3: `format = json` is for type http, file or kafka, but the type is otlp\n"},
		{"[output]\ntype = http\nformat = json\n", "test: F:3: `format = json` is not valid: it must "
							   "be thrift or json2; did you mean `json2`?\n"},
		{"[output]\ntype = file\nformat = json\n", "test: F:3: `format = json` is not valid: it must "
							   "be json2 or otlp-json; did you mean `json2`?\n"},
		{"[output]\ntype = kafka\nformat = protobuf\n",
			"test: F:3: `format = protobuf` is not valid: it must be thrift, json2 or otlp\n"},
		{"[output]\nformat = json\ntype = otlp\n",
			"test: F:2: `format = json` is for type http, file or kafka, but the type is otlp\n"},
		{"[output]\nsample = 1/10\ntls-verify = no\ntoken = a\nhost = a\nport = 9\nurl = x\nSERVER = "
		 "a:1\nbootstrap.servers = a:1\ninsecure_skip_verify = yes\n",
			"test: F:2: unknown key `sample` in [output]; did you mean `keep`?\n"
			"test: F:3: unknown key `tls-verify` in [output]; the server's certificate is always "
			"verified: see `tls-ca`\n"
			"test: F:4: unknown key `token` in [output]; write it into a file, and name that in "
			"`headers-file`\n"
			"test: F:5: unknown key `host` in [output]; write `server = HOST:PORT`\n"
			"test: F:6: unknown key `port` in [output]; write `server = HOST:PORT`\n"
			"test: F:7: unknown key `url` in [output]; write `server = HOST:PORT`\n"
			"test: F:8: unknown key `SERVER` in [output]; keys are lowercase: write `server`\n"
			"test: F:9: unknown key `bootstrap.servers` in [output]; did you mean `brokers`?\n"
			"test: F:10: unknown key `insecure_skip_verify` in [output]; the server's "
			"certificate is always verified: see `tls-ca`\n"},
		{"[output]\ntype = kafka\nhost = a\nbootstrap.servers = a:1\nusername = x\n",
			"test: F:3: unknown key `host` in [output]; write `brokers = HOST:PORT`\n"
			"test: F:4: unknown key `bootstrap.servers` in [output]; did you mean `brokers`?\n"
			"test: F:5: unknown key `username` in [output]; did you mean `sasl-user`?\n"},
		{"[session]\nlevel = warn\n",
			"test: F:2: `level = warn` is not valid: it must be emerg, alert, crit, err, "
			"warning, notice, info or debug; did you mean `warning`?\n"},
		{"[session]\nlevel = ERROR\n",
			"test: F:2: `level = ERROR` is not valid: it must be emerg, alert, crit, err, "
			"warning, notice, info or debug; did you mean `err`?\n"},
		{"[agent]\nlog-level = warn\n", "test: F:2: `log-level = warn` is not valid: it must be "
						"error, warning or info; did you mean `warning`?\n"},
		{"[session]\nlevel = warn # a\n",
			"test: F:2: `level = warn # a` is not valid: it must be emerg, alert, crit, err, "
			"warning, notice, info or debug; a comment is a line of its own\n"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_refused(cases[i].text, cases[i].message);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("read");

	log_init("test");
	setenv("BLKIN_TEST_CONTROL", "a\nb", 1);
	setenv("BLKIN_TEST_WORDS", "many words", 1);
	unsetenv("BLKIN_TEST_UNSET");
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, test_mistakes);
	tcase_add_test(tests, test_habits);
	return run_cases("mistakes", tests);
}
