/* SPDX-License-Identifier: BSD-2-Clause */
/* The C++ class: spans that finish with their scope, also when an exception leaves it. */
#include <check.h>
#include <cstdlib>
#include <stdexcept>

#include <blkin/span.hpp>

#include "fake_provider.h"
#include "run.h"

static const blkin_endpoint here = {"10.0.0.1", 6800, "svc"};

START_TEST(test_scope_and_tags)
{
	{
		blkin::Span span(BLKIN_CLIENT, "read", &here);

		ck_assert(static_cast<bool>(span));
		span.tag("s", "text")
			.tag("string", std::string("more"))
			.tag("i", -5)
			.tag("u", 5u)
			.tag("l", INT64_MIN);
		span.tag("d", 0.5).tag("f", 0.25f).tag("b", true).tag("c", static_cast<unsigned char>(7));
		ck_assert_int_eq(fake_spans, 0);
	}
	ck_assert_int_eq(fake_spans, 1);
	ck_assert_str_eq(fake_data, "s=text\nstring=more\n#ii=-5\n#iu=5\n#il=-9223372036854775808\n#dd=0.5\n#"
				    "df=0.25\n#bb=true\n#ic=7\n");
}
END_TEST

START_TEST(test_children_and_halves)
{
	blkin::Span root(BLKIN_CLIENT, "root", &here);
	const blkin_context context = *root.context();

	{
		blkin::Span child("child", &here, root);
	}
	ck_assert_uint_eq(fake_record.parent_id, context.span_id);
	{
		blkin::Span server = blkin::Span::join("server", &here, root.context());
	}
	ck_assert_uint_eq(fake_record.span_id, context.span_id);
	root.finish();
	root.finish();
	ck_assert_int_eq(fake_spans, 3);
}
END_TEST

START_TEST(test_exception)
{
	try {
		blkin::Span span(BLKIN_ERR, BLKIN_LOCAL, "fails", &here);
		throw std::runtime_error("no");
	} catch (const std::runtime_error &) {
		blkin::Span inside(BLKIN_LOCAL, "while handling", &here);
	}
	ck_assert_int_eq(fake_spans, 2);
	ck_assert_str_eq(fake_data, "");
	try {
		blkin::Span span(BLKIN_LOCAL, "fails", &here);
		span.error("disk full");
		throw std::runtime_error("no");
	} catch (const std::runtime_error &) {
		ck_assert_str_eq(fake_data, "error=disk full\n");
	}
	try {
		blkin::Span span(BLKIN_LOCAL, "fails", &here);
		throw std::runtime_error("no");
	} catch (const std::runtime_error &) {
		ck_assert_str_eq(fake_data, "error=exception\n");
	}
	try {
		blkin::Span span(BLKIN_LOCAL, "fails", &here);
		span.tag("error", "disk full").tag(nullptr, "value");
		throw std::runtime_error("no");
	} catch (const std::runtime_error &) {
		ck_assert_str_eq(fake_data, "error=disk full\n");
	}
}
END_TEST

int main()
{
	TCase *tests = tcase_create("span");

	tcase_add_checked_fixture(tests, fake_install, nullptr);
	tcase_add_test(tests, test_scope_and_tags);
	tcase_add_test(tests, test_children_and_halves);
	tcase_add_test(tests, test_exception);
	return run_cases("client_cpp", tests);
}
