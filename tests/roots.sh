# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034
#
# What tests/host/prepare and tests/kernel/prepare share: a Debian of this machine's release as a folder, which is made once
# and changed by nobody, and the project's packages. Sourced after scripts/lib.sh.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/blkin
# What a server's installation has at the least, and a systemd can boot from.
packages_root=dbus,iproute2,systemd,systemd-sysv

# The mirror, and all else that this machine knows of fetching packages, is its own affair: the hosts get it as it is.
copy_apt_settings() {
	local root=$1
	rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d
	(cd / && tar -cf - --ignore-failed-read etc/apt/sources.list etc/apt/sources.list.d etc/apt/auth.conf.d \
		etc/apt/trusted.gpg.d etc/apt/keyrings usr/share/keyrings 2>/dev/null) | tar -xf - -C "$root"
	apt-config dump Acquire | sed 's/^Acquire "";$//' >"$root/etc/apt/apt.conf.d/50acquire"
}

# in_root ROOT COMMAND...: runs a command within, and with this machine's way to the network.
in_root() {
	local root=$1
	shift
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

make_root() {
	local root=$1 mirror
	mirror=$(debian_mirror)
	say "making a Debian for tests, once"
	rm -rf "$root" "$root.part"
	quietly debootstrap --variant=minbase --include="$packages_root" "$(debian_codename)" "$root.part" "$mirror" ||
		die "cannot make a Debian (debootstrap)"
	copy_apt_settings "$root.part"
	quietly in_root "$root.part" apt-get -q update || die "cannot fetch Debian's package lists (apt-get update)"
	rm -rf "$root.part"/var/cache/apt/archives/*.deb "$root.part"/var/log/* "$root.part/etc/hostname"
	rm -f "$root.part/etc/machine-id" "$root.part/var/lib/dbus/machine-id" "$root.part/etc/resolv.conf"
	mv "$root.part" "$root"
}

# Puts the path of that Debian into $root, which others may be changing the cache of: holds a lock until the shell ends.
# Another list of packages, or another way to fetch them, is another Debian.
find_root() {
	mkdir -p "$cache"
	root=$cache/host-$({
		declare -f make_root copy_apt_settings
		echo "$packages_root"
		apt-get indextargets
	} | sha256sum | cut -c 1-16)
	exec {lock}<"$cache"
	flock "$lock"
	[ -d "$root" ] || make_root "$root"
}

# build_packages FOLDER: the packages, and in programs/ the sample and test programs, from this checkout.
build_packages() {
	local folder=$1 tree=$1/tree
	say "building the packages"
	rm -rf "$folder"/tree "$folder"/*.deb "$folder"/*.changes "$folder"/*.buildinfo "$folder/programs"
	copy_sources "$tree"
	(cd "$tree" && PATH=/usr/sbin:/usr/bin:/sbin:/bin DEB_BUILD_OPTIONS="parallel=$(nproc)" \
		quietly dpkg-buildpackage -us -uc -b) || die "cannot build the packages (dpkg-buildpackage -us -uc -b)"
	mkdir "$folder/programs"
	find "$tree"/obj-*/examples "$tree"/obj-*/tests/live/programs -maxdepth 1 -type f -perm -u+x \
		-exec cp -t "$folder/programs" {} +
	rm -rf "$tree"
}
