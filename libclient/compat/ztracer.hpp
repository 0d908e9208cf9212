/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin's ztracer.hpp, for C++ programs that were written against it, C++11 and later: the classes of
 * ceph/blkin (Endpoint, Trace) and those of BlkKin of 2014 (ZTraceEndpoint, ZTrace, held by shared pointers)
 * in one.
 *
 * The included C calls are ceph/blkin's. With -DBLKIN_CLASSIC_2014, or after <blkin-front.h>, they are those
 * of 2014, without Endpoint and Trace, which 2014 did not have.
 *
 * The shared pointers are Boost's if Boost is installed, as in 2014, otherwise the standard library's.
 */
#ifndef BLKIN_COMPAT_ZTRACER_HPP_
#define BLKIN_COMPAT_ZTRACER_HPP_

#include <cstring>
#include <sstream>
#include <string>

#if defined(__has_include)
#if __has_include(<boost/smart_ptr.hpp>)
#include <boost/smart_ptr.hpp>
#define BLKIN_SHARED_PTR_ boost::shared_ptr
#endif
#endif
#ifndef BLKIN_SHARED_PTR_
#include <memory>
#define BLKIN_SHARED_PTR_ std::shared_ptr
#endif

#include "zipkin_c.h"

/* Programs of 2014 rely on these. */
using std::ostringstream;
using std::string;

namespace ZTracer
{
using std::string;

/** ztrace_init - nothing needs to be initialised; for programs that call it */
static inline int ztrace_init()
{
	return blkin_init();
}

#ifndef BLKIN_FRONT_H_

const char *const CLIENT_SEND = "cs";
const char *const CLIENT_RECV = "cr";
const char *const SERVER_SEND = "ss";
const char *const SERVER_RECV = "sr";
const char *const WIRE_SEND = "ws";
const char *const WIRE_RECV = "wr";
const char *const CLIENT_SEND_FRAGMENT = "csf";
const char *const CLIENT_RECV_FRAGMENT = "crf";
const char *const SERVER_SEND_FRAGMENT = "ssf";
const char *const SERVER_RECV_FRAGMENT = "srf";

/**
 * Endpoint - a service and its address
 *
 * It borrows the strings that it is made of, and owns those that copy_ip, copy_name and copy_address_from
 * copy.
 */
class Endpoint : private blkin_endpoint
{
      private:
	string own_ip_, own_name_;

	friend class Trace;

	/* After own_ip_ and own_name_ were copied: points to them if @from points to its own. */
	void follow(const Endpoint &from)
	{
		ip = from.ip == from.own_ip_.c_str() ? own_ip_.c_str() : from.ip;
		port = from.port;
		name = from.name == from.own_name_.c_str() ? own_name_.c_str() : from.name;
	}

      public:
	Endpoint(const char *service) : blkin_endpoint(), own_ip_(), own_name_()
	{
		blkin_init_endpoint(this, "0.0.0.0", 0, service);
	}
	Endpoint(const char *address, int port_number, const char *service)
	    : blkin_endpoint(), own_ip_(), own_name_()
	{
		blkin_init_endpoint(this, address, static_cast<int16_t>(port_number), service);
	}
	Endpoint(const Endpoint &from) : blkin_endpoint(), own_ip_(from.own_ip_), own_name_(from.own_name_)
	{
		follow(from);
	}
	const Endpoint &operator=(const Endpoint &from)
	{
		if (this != &from) {
			own_ip_ = from.own_ip_;
			own_name_ = from.own_name_;
			follow(from);
		}
		return *this;
	}

	void copy_ip(const string &address)
	{
		own_ip_ = address;
		ip = own_ip_.c_str();
	}
	void copy_name(const string &service)
	{
		own_name_ = service;
		name = own_name_.c_str();
	}
	/** copy_address_from - copy the address and port of @from, which may be destroyed */
	void copy_address_from(const Endpoint *from)
	{
		copy_ip(from->ip);
		port = from->port;
	}
	/** share_address_from - the same, borrowed: @from must outlive this */
	void share_address_from(const Endpoint *from)
	{
		ip = from->ip;
		port = from->port;
	}
	void set_port(int port_number)
	{
		port = static_cast<int16_t>(port_number);
	}
};

/**
 * Trace - the span that annotations are recorded for
 *
 * It is not valid, and records nothing, if it was made without arguments or its trace is not sampled. It
 * borrows its name, or owns it after copy_name, and borrows its endpoint.
 */
class Trace : private blkin_trace
{
      private:
	string own_name_;

	void clear()
	{
		name = NULL;
		info.trace_id = info.span_id = info.parent_span_id = 0;
		endpoint = NULL;
	}

	static const blkin_endpoint *where(const Endpoint *place)
	{
		return place;
	}

	/*
	 * A parent that was never begun is ignored, and a trace begins here; children of an unsampled parent
	 * are not sampled.
	 */
	int begin(const char *span, const Endpoint *place, const Trace *parent)
	{
		if (parent && (parent->valid() || parent->name))
			return blkin_init_child(this, parent, where(place), span);
		return blkin_init_new_trace(this, span, where(place));
	}

	void follow(const Trace &from)
	{
		name = from.name == from.own_name_.c_str() ? own_name_.c_str() : from.name;
		info = from.info;
		endpoint = from.endpoint;
	}

      public:
	Trace() : blkin_trace(), own_name_()
	{
		clear();
	}
	Trace(const char *span, const Endpoint *place, const Trace *parent = NULL)
	    : blkin_trace(), own_name_()
	{
		clear();
		begin(span, place, parent);
	}
	/** with the ids @ids, or (@child) as a child of the span that has them */
	Trace(const char *span, const Endpoint *place, const blkin_trace_info *ids, bool child = false)
	    : blkin_trace(), own_name_()
	{
		clear();
		if (child) {
			blkin_init_child_info(this, ids, where(place), span);
		} else {
			name = span;
			endpoint = where(place);
			set_info(ids);
		}
	}
	Trace(const Trace &from) : blkin_trace(), own_name_(from.own_name_)
	{
		follow(from);
	}
	const Trace &operator=(const Trace &from)
	{
		if (this != &from) {
			own_name_ = from.own_name_;
			follow(from);
		}
		return *this;
	}

	/** valid - whether annotations are recorded */
	bool valid() const
	{
		return info.trace_id != 0;
	}
	operator bool() const
	{
		return valid();
	}

	/** init - begin again; returns like the C calls */
	int init(const char *span, const Endpoint *place, const Trace *parent = NULL)
	{
		return begin(span, place, parent);
	}
	int init(const char *span, const Endpoint *place, const blkin_trace_info *ids, bool child = false)
	{
		if (child)
			return blkin_init_child_info(this, ids, where(place), span);
		return blkin_set_trace_properties(this, ids, span, where(place));
	}

	void copy_name(const string &span)
	{
		own_name_ = span;
		name = own_name_.c_str();
	}

	const blkin_trace_info *get_info() const
	{
		return &info;
	}
	void set_info(const blkin_trace_info *ids)
	{
		blkin_set_trace_info(this, ids);
	}

	void keyval(const char *key, const char *val) const
	{
		keyval(key, val, NULL);
	}
	void keyval(const char *key, int64_t val) const
	{
		keyval(key, val, NULL);
	}
	void keyval(const char *key, const char *val, const Endpoint *place) const
	{
		if (valid())
			BLKIN_KEYVAL_STRING(this, where(place), key, val);
	}
	void keyval(const char *key, int64_t val, const Endpoint *place) const
	{
		if (valid())
			BLKIN_KEYVAL_INTEGER(this, where(place), key, val);
	}

	void event(const char *what) const
	{
		event(what, NULL);
	}
	void event(const char *what, const Endpoint *place) const
	{
		if (valid())
			BLKIN_TIMESTAMP(this, where(place), what);
	}
};

#endif /* BLKIN_FRONT_H_ */

/* From here on: 2014. */

/** to_cstr - a copy of @s; the caller deletes it with delete[] */
static inline char *to_cstr(string &s)
{
	char *copy = new char[s.size() + 1];

	std::memcpy(copy, s.c_str(), s.size() + 1);
	return copy;
}

/** ostr_to_cstr - the same of a stream's text */
static inline char *ostr_to_cstr(std::ostringstream &stream)
{
	string text = stream.str();

	return to_cstr(text);
}

class ZTraceEndpoint;
class ZTrace;

typedef BLKIN_SHARED_PTR_<ZTraceEndpoint> ZTraceEndpointRef;
typedef BLKIN_SHARED_PTR_<ZTrace> ZTraceRef;

/** ZTraceEndpoint - a service and its address; owns its strings */
class ZTraceEndpoint
{
      private:
	string ip_, name_;
	struct blkin_endpoint endpoint_;

      protected:
	struct blkin_endpoint *get_blkin_ep()
	{
		return &endpoint_;
	}
	friend class ZTrace;

      public:
	ZTraceEndpoint(string ip, int port, string name) : ip_(ip), name_(name), endpoint_()
	{
		blkin_init_endpoint(&endpoint_, &ip_[0], static_cast<int16_t>(port), &name_[0]);
	}
	ZTraceEndpoint(const ZTraceEndpoint &) = delete;
	ZTraceEndpoint &operator=(const ZTraceEndpoint &) = delete;
};

/**
 * ZTrace - the span that annotations are recorded for; owns its name, and shares its endpoint
 *
 * Without an endpoint, or as a child of an invalid trace, it records nothing.
 */
class ZTrace
{
      private:
	ZTraceEndpointRef place_;
	string name_;
	struct blkin_trace trace_;

	static struct blkin_endpoint *where(const ZTraceEndpointRef &place)
	{
		return place ? place->get_blkin_ep() : NULL;
	}
	static struct blkin_trace_info *ids_of(const ZTraceRef &trace)
	{
		return trace ? &trace->trace_.info : NULL;
	}

      protected:
	struct blkin_trace *get_blkin_trace()
	{
		return &trace_;
	}

      public:
	ZTrace(string name, ZTraceEndpointRef place) : place_(place), name_(name), trace_()
	{
		blkin_init_new_trace(&trace_, &name_[0], where(place_));
	}
	/** a child of @parent, where the parent is */
	ZTrace(string name, ZTraceRef parent)
	    : place_(parent ? parent->place_ : ZTraceEndpointRef()), name_(name), trace_()
	{
		blkin_init_child_info(&trace_, ids_of(parent), where(place_), &name_[0]);
	}
	ZTrace(string name, ZTraceRef parent, ZTraceEndpointRef place) : place_(place), name_(name), trace_()
	{
		blkin_init_child_info(&trace_, ids_of(parent), where(place_), &name_[0]);
	}
	/** with the ids @ids, or (@child) as a child of the span that has them */
	ZTrace(string name, ZTraceEndpointRef place, struct blkin_trace_info *ids, bool child = false)
	    : place_(place), name_(name), trace_()
	{
		if (blkin_init_child_info(&trace_, ids, where(place_), &name_[0]) != 0 && !child)
			blkin_init_new_trace(&trace_, &name_[0], where(place_));
		if (!child)
			set_trace_info(ids);
	}
	ZTrace(const ZTrace &) = delete;
	ZTrace &operator=(const ZTrace &) = delete;

	ZTraceEndpointRef get_endpoint()
	{
		return place_;
	}
	int get_trace_info(struct blkin_trace_info *ids)
	{
		return blkin_get_trace_info(&trace_, ids);
	}
	int set_trace_info(struct blkin_trace_info *ids)
	{
		return blkin_set_trace_info(&trace_, ids);
	}

	int keyval(string key, string val)
	{
		return keyval(key, val, place_);
	}
	int keyval(string key, string val, ZTraceEndpointRef place)
	{
		BLKIN_KEYVAL(&trace_, where(place), &key[0], &val[0]);
		return 0;
	}
	int event(string what)
	{
		return event(what, place_);
	}
	int event(string what, ZTraceEndpointRef place)
	{
		BLKIN_TIMESTAMP(&trace_, where(place), &what[0]);
		return 0;
	}
};

static inline ZTraceEndpointRef create_ZTraceEndpoint(string ip, int port, string name)
{
	return ZTraceEndpointRef(new ZTraceEndpoint(ip, port, name));
}

static inline ZTraceRef create_ZTrace(string name, ZTraceEndpointRef place)
{
	return ZTraceRef(new ZTrace(name, place));
}

static inline ZTraceRef create_ZTrace(string name, ZTraceRef parent)
{
	return ZTraceRef(new ZTrace(name, parent));
}

static inline ZTraceRef create_ZTrace(string name, ZTraceRef parent, ZTraceEndpointRef place)
{
	return ZTraceRef(new ZTrace(name, parent, place));
}

static inline ZTraceRef create_ZTrace(
	string name, ZTraceEndpointRef place, struct blkin_trace_info *ids, bool child = false)
{
	return ZTraceRef(new ZTrace(name, place, ids, child));
}
} // namespace ZTracer

#undef BLKIN_SHARED_PTR_

#endif
