# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154
#
# What quickstart and check share: Debian packages, the build, and output. Sourced, with $top set.

packages_build=(g++ gcc libbabeltrace2-dev libc6-dev libevent-dev libglib2.0-dev libisal-dev liblttng-ctl-dev liblttng-ust-dev
	libnghttp2-dev librdkafka-dev libssl-dev libsqlite3-dev libsystemd-dev libzstd-dev meson ninja-build pkg-config)
packages_run=(iproute2 lttng-tools python3 util-linux)
packages_host=(ansible-core apt-utils build-essential debhelper debootstrap dpkg-dev gnupg lintian systemd-container)
packages_kernel=(build-essential debhelper debootstrap dpkg-dev e2fsprogs openssh-client qemu-system-x86)
packages_zipkin=(maven default-jre-headless socat)
packages_browser=(chromium python3-websocket)
packages_kafka=(default-jre-headless maven openssl python3-confluent-kafka)
zipkin_artifact=io.zipkin:zipkin-server:3.6.1:jar:exec
# what finds faults in pages for people who see, hear or move little
axe_version=4.14.1

say() {
	printf '%s\n' "-- $*"
}

die() {
	printf '%s\n' "${0##*/}: $*" >&2
	exit 1
}

# Runs a command, and shows what it printed only if it fails.
quietly() {
	local log code=0
	log=$(mktemp)
	("$@") >"$log" 2>&1 </dev/null || code=$? # in a shell of its own, so that a trap of this one is heard
	[ "$code" -eq 0 ] || tail -n 40 "$log" >&2
	rm -f "$log"
	return "$code"
}

# Runs a command that tells on a terminal how far it is; elsewhere quietly.
with_progress() {
	if [ -t 1 ]; then
		"$@" </dev/null
	else
		quietly "$@"
	fi
}

# At Ctrl-C a script says so, rather than that what it was waiting for failed; the log of that goes.
end_at_interrupt() {
	trap 'rm -f "${log-}"; echo; say interrupted; exit 130' INT
}
end_at_interrupt

# copy_sources FOLDER: the sources as they stand, without what builds left in them. Not of ".", as tar fails on a folder
# that changes, which this one does when a build beside it makes its own.
copy_sources() {
	mkdir -p "$1"
	(cd "$top" && find . -mindepth 1 -maxdepth 1 ! -name 'build*' ! -name 'obj-*' ! -name .git -print0 |
		tar --null -T - -cf -) | tar -xf - -C "$1"
}

installed() {
	dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

debian_codename() {
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# Prints the address of a mirror of Debian's packages that apt knows here.
debian_mirror() {
	local mirror
	# shellcheck disable=SC2016 # apt-get expands it
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $(debian_codename)" | head -n 1)
	[ -n "$mirror" ] || die "apt knows no source of Debian's packages here"
	echo "$mirror"
}

# Installs those of the packages that are missing. Waits for other package installations that are running.
install_packages() {
	local package lock missing=()
	command -v dpkg-query >/dev/null || die "this is not Debian: install what doc/internals.md lists by other means, and build with meson"
	exec {lock}</etc/debian_version
	flock "$lock"
	for package in "$@"; do
		installed "$package" || missing+=("$package")
	done
	if [ "${#missing[@]}" -gt 0 ]; then
		say "installing ${missing[*]}"
		[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
			die "packages are missing and there is no sudo: as root, run apt-get install ${missing[*]}"
		quietly as_root apt-get -q -y -o DPkg::Lock::Timeout=300 update ||
			die "cannot fetch Debian's package lists (apt-get update)"
		quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
			--no-install-recommends install "${missing[@]}" || die "cannot install ${missing[*]} (apt-get install)"
	fi
	exec {lock}<&-
}

# Only one process at a time may use the build folders of this checkout; the lock ends with the shell, or unlock_checkout.
lock_checkout() {
	exec {checkout_lock}<"$top/meson.build"
	flock -n "$checkout_lock" && return
	say "waiting for another run in this checkout"
	flock "$checkout_lock"
}

unlock_checkout() {
	exec {checkout_lock}<&-
}

# build FOLDER [MESON OPTION...]: builds in that folder of the checkout.
build() {
	local folder=$top/$1
	shift
	if [ -e "$folder/build.ninja" ]; then
		say "building in ${folder#"$top/"}/"
	else
		say "building in ${folder#"$top/"}/ (this takes some minutes the first time)"
		rm -rf "$folder"/meson-* # of a setup that was interrupted; what was fetched stays
		PATH=/usr/bin:/bin quietly meson setup "$folder" "$top" "$@" || die "cannot set up the build (meson setup)"
	fi
	PATH=/usr/bin:/bin with_progress ninja -C "$folder" || die "cannot build (ninja -C $folder)"
}

# build_go FOLDER SUITE PROGRAM WHAT: builds tests/SUITE in the build folder, by Go, and puts the program's path into $go_built.
build_go() {
	local folder=$top/$1/$2 sources=$top/tests/$2 program=$3 what=$4
	go_built=$folder/$program
	command -v go >/dev/null || die "$what is built by Go 1.26 or later, which is not here: install it, and put it into PATH"
	if [ ! -e "$go_built" ] || [ "$sources/go.mod" -nt "$go_built" ] || [ "$sources/main.go" -nt "$go_built" ]; then
		say "building $what, which takes some minutes"
		mkdir -p "$folder"
		cp "$sources/go.mod" "$sources/main.go" "$folder"
		quietly env -C "$folder" GOFLAGS='-mod=mod -buildvcs=false' go build -o "$program" . || die "cannot build $what (go build, in $folder)"
	fi
}

# Maven's first complaint in the file $1, without what is before the cause and behind it.
complaint_of_maven() {
	sed -n '/^\[ERROR\] /{s///;s/ -> \[Help.*//;s/.*\(Could not [a-z]* artifact\)/\1/;s/[. ]*$//;p;q}' "$1" | cut -c 1-300
}

# Puts the Zipkin server's jar into the build folder $1, and its path into $zipkin_jar.
fetch_zipkin() {
	local folder=$top/$1/zipkin log why
	if ! compgen -G "$folder/*.jar" >/dev/null; then
		say "fetching Zipkin ($zipkin_artifact) through Maven"
		rm -rf "$folder" "$folder.part"
		log=$(mktemp)
		if ! MAVEN_OPTS=-XX:-UsePerfData mvn -q -B dependency:copy -Dartifact="$zipkin_artifact" \
			-DoutputDirectory="$folder.part" >"$log" 2>&1 </dev/null; then
			why=$(complaint_of_maven "$log")
			rm -f "$log"
			die "cannot fetch Zipkin from Maven Central, or from a mirror in ~/.m2/settings.xml: ${why:-Maven does not say why}"
		fi
		rm -f "$log"
		mkdir -p "${folder%/*}"
		mv "$folder.part" "$folder"
	fi
	zipkin_jar=$(compgen -G "$folder/*.jar")
}

# Puts axe-core, which finds what keeps people from using a page, into the build folder $1, and its path into $axe_js.
fetch_axe() {
	local folder=$top/$1/axe
	axe_js=$folder/package/axe.min.js
	command -v npm >/dev/null || die "axe-core is fetched by npm, which is not here: install it, and put it into PATH"
	if [ ! -e "$axe_js" ]; then
		say "fetching axe-core ($axe_version) through npm"
		rm -rf "$folder"
		mkdir -p "$folder"
		quietly env -C "$folder" npm pack --silent "axe-core@$axe_version" ||
			die "cannot fetch axe-core (npm pack axe-core@$axe_version)"
		tar -xzf "$folder"/axe-core-*.tgz -C "$folder" package/axe.min.js
	fi
}

# Puts Apache Kafka's jars, those of tests/kafka/pom.xml, into the build folder $1, and that folder's path into $kafka_jars.
fetch_kafka() {
	local pom=$top/tests/kafka/pom.xml
	kafka_jars=$top/$1/kafka
	if [ ! -d "$kafka_jars" ] || [ "$pom" -nt "$kafka_jars" ]; then
		say "fetching Apache Kafka through Maven"
		rm -rf "$kafka_jars" "$kafka_jars.part"
		MAVEN_OPTS=-XX:-UsePerfData quietly mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$kafka_jars.part" ||
			die "cannot fetch Apache Kafka (mvn -f $pom dependency:copy-dependencies)"
		mv "$kafka_jars.part" "$kafka_jars"
	fi
}

# Puts Debian's Prometheus into the build folder $1, and its programs' folder into $prometheus. It is not installed, as it would
# start as a service.
fetch_prometheus() {
	local part=$top/$1/prometheus.part
	local -a packages=(prometheus)
	prometheus=$top/$1/prometheus/usr/bin
	[ ! -x "$prometheus/promtool" ] || return 0
	say "fetching Prometheus"
	rm -rf "$part" "$top/$1/prometheus"
	mkdir -p "$part/debs"
	# promtool has a package of its own in Debian 13
	! apt-cache show promtool >/dev/null 2>&1 || packages+=(promtool)
	(cd "$part/debs" && quietly apt-get -q -oAPT::Sandbox::User="$(id -un)" download "${packages[@]}") ||
		die "cannot fetch Prometheus (apt-get download ${packages[*]})"
	find "$part/debs" -name '*.deb' -exec dpkg-deb -x {} "$part" \;
	rm -rf "$part/debs"
	mv "$part" "$top/$1/prometheus"
}
