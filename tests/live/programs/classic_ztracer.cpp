// SPDX-License-Identifier: BSD-2-Clause
/* All of ztracer.hpp: the classes of ceph/blkin, and those of 2014; with -DBLKIN_CLASSIC_2014 those only. */
#include <ztracer.hpp>

#include <cstring>

#include "classic_check.h"

#ifndef BLKIN_CLASSIC_2014

static bool same(const blkin_trace_info *one, const blkin_trace_info *other)
{
	return std::memcmp(one, other, sizeof(*one)) == 0;
}

static void endpoints()
{
	ZTracer::Endpoint plain("service"), full("10.8.0.1", 40000, "service"), copy(plain);

	full.copy_ip(std::string("10.8.0.") + "2");
	full.copy_name(std::string("a name that is ") + "too long for the string itself");
	full.set_port(50000);
	copy = full;
	plain.copy_address_from(&full);
	plain.share_address_from(&copy);
	ZTracer::Endpoint nowhere(nullptr, 0, nullptr);
	plain.copy_address_from(&nowhere);
}

static void children(const ZTracer::Endpoint &here)
{
	ZTracer::Trace none, root("root", &here), child("child", &here, &root),
		orphan("orphan", &here, &none);
	blkin_trace_info unsampled = {0, 7, 0}, nothing = {0, 0, 0};
	ZTracer::Trace left_out("left out", &here, &unsampled), follower("follower", nullptr, &left_out);
	ZTracer::Trace joined("joined", &here, root.get_info()), under("under", &here, root.get_info(), true);

	CHECK(!none.valid() && root.valid() && root);
	CHECK(child.get_info()->trace_id == root.get_info()->trace_id);
	CHECK(child.get_info()->parent_span_id == root.get_info()->span_id);
	CHECK(orphan.valid() && orphan.get_info()->trace_id != root.get_info()->trace_id);
	CHECK(!left_out.valid() && !follower.valid() && follower.get_info()->parent_span_id == 7);
	ZTracer::Trace unknown("not sampled elsewhere", &here, &nothing);
	CHECK(!unknown.valid() && !ZTracer::Trace("follower", &here, &unknown).valid());
	CHECK(same(joined.get_info(), root.get_info()));
	CHECK(under.get_info()->parent_span_id == root.get_info()->span_id);

	CHECK(none.init("again", &here) == 0 && none.valid());
	CHECK(none.init("again", nullptr, &root) == 0);
	CHECK(none.get_info()->parent_span_id == root.get_info()->span_id);
	CHECK(none.init("again", &here, root.get_info()) == 0 && same(none.get_info(), root.get_info()));
	CHECK(none.init("again", &here, root.get_info(), true) == 0);
	CHECK(none.init("again", nullptr, root.get_info(), true) < 0);
	none.set_info(under.get_info());
	CHECK(same(none.get_info(), under.get_info()));
}

static void annotations(const ZTracer::Endpoint &here)
{
	ZTracer::Trace root("root", &here), none, nowhere("nowhere", nullptr);

	root.copy_name(std::string("a name that is ") + "too long for the string itself");
	const ZTracer::Trace copy(root);
	none = copy;
	copy.event("event");
	copy.event("event", &here);
	copy.event(ZTracer::CLIENT_SEND);
	none.keyval("key", "val");
	none.keyval("key", static_cast<int64_t>(1));
	none.keyval("key", 1, &here);
	none.keyval("key", "val", &here);
	nowhere.event("nowhere");
}

static void constants()
{
	using namespace ZTracer;

	CHECK(!std::strcmp(ZTracer::CLIENT_RECV, "cr") && !std::strcmp(ZTracer::SERVER_SEND, ::SERVER_SEND));
	CHECK(!std::strcmp(ZTracer::SERVER_RECV, "sr") && !std::strcmp(ZTracer::WIRE_SEND, "ws"));
	CHECK(!std::strcmp(ZTracer::WIRE_RECV, "wr") && !std::strcmp(ZTracer::CLIENT_SEND_FRAGMENT, "csf"));
	CHECK(!std::strcmp(ZTracer::CLIENT_RECV_FRAGMENT, "crf"));
	CHECK(!std::strcmp(ZTracer::SERVER_SEND_FRAGMENT, "ssf"));
	CHECK(!std::strcmp(ZTracer::SERVER_RECV_FRAGMENT, "srf"));
	CHECK(sizeof(Endpoint) > 0);
}

static void classes_of_ceph()
{
	ZTracer::Endpoint here("10.8.0.1", 4713, "ztracer");

	endpoints();
	children(here);
	annotations(here);
	constants();
}

#else

static void classes_of_ceph()
{
	struct blkin_trace trace;
	char name[] = "C of 2014";

	CHECK(blkin_init_new_trace(&trace, name, NULL) == 0 && trace.trace_endpoint == NULL);
}

#endif

static void classes_of_2014()
{
	ZTracer::ZTraceEndpointRef here = ZTracer::create_ZTraceEndpoint("10.8.0.2", 40001, "z"), nowhere;
	ZTracer::ZTraceRef root = ZTracer::create_ZTrace("root", here), none;
	ZTracer::ZTraceRef child = ZTracer::create_ZTrace("child", root);
	ZTracer::ZTraceRef elsewhere = ZTracer::create_ZTrace("child", root, here);
	struct blkin_trace_info ids, other;

	CHECK(root->get_trace_info(&ids) == 0 && ids.trace_id && !ids.parent_span_id);
	CHECK(child->get_trace_info(&other) == 0 && other.trace_id == ids.trace_id);
	CHECK(other.parent_span_id == ids.span_id && child->get_endpoint() == here);
	CHECK(elsewhere->get_trace_info(&other) == 0 && other.parent_span_id == ids.span_id);
	CHECK(ZTracer::create_ZTrace("joined", here, &ids)->get_trace_info(&other) == 0);
	CHECK(other.span_id == ids.span_id);
	CHECK(ZTracer::create_ZTrace("under", here, &ids, true)->get_trace_info(&other) == 0);
	CHECK(other.parent_span_id == ids.span_id);
	CHECK(child->set_trace_info(&ids) == 0);
	CHECK(root->event("event") == 0 && root->event("event", here) == 0);
	CHECK(root->keyval("key", "val") == 0 && root->keyval("key", "val", here) == 0);

	/* what 2014 did not survive */
	ZTracer::ZTraceRef lost = ZTracer::create_ZTrace("lost", nowhere);
	CHECK(lost->event("nowhere") == 0 && lost->event("here", here) == 0);
	CHECK(ZTracer::create_ZTrace("lost", none)->event("no parent") == 0);
	CHECK(ZTracer::create_ZTrace("lost", nowhere, &ids)->event("here", here) == 0);
}

static void all()
{
	string text = "text";
	ostringstream stream;
	char *copy = ZTracer::to_cstr(text);

	CHECK(ZTracer::ztrace_init() == 0);
	CHECK(text == copy);
	delete[] copy;
	stream << "number " << 1;
	copy = ZTracer::ostr_to_cstr(stream);
	CHECK(std::strcmp(copy, "number 1") == 0);
	delete[] copy;
	classes_of_ceph();
	classes_of_2014();
}

CLASSIC_MAIN
