#!/bin/bash
# Fetches source archives of Debian into a folder, and checks their sha256. Those that are there already are kept.
#
#   fetch-source.sh <folder> <sources.sha256> [package...]     all archives of the list, or those of these packages
#   FERMATA_BUILD_DL=dir        take archives from there before trying to fetch
#   FERMATA_BUILD_MIRROR=url    the Debian mirror; else the one that this machine's apt uses
#
# Needs apt and no root: lists and settings are its own, those of the machine are left alone, and what is installed there
# makes no difference.
set -euo pipefail
folder=$1 list=$2
shift 2
fail() { echo "fetch-source.sh: $*" >&2; exit 1; }

use_apt() { # makes the options of an apt of our own, once
  [ -z "${options:-}" ] || return 0
  command -v apt-get >/dev/null || fail "there is no apt-get; put the archives into a folder and name that in FERMATA_BUILD_DL"
  local mirror=${FERMATA_BUILD_MIRROR:-}
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '/\/debian\/$/ && !found++')
  [ -n "$mirror" ] || fail "this machine's apt knows no Debian mirror; name one in FERMATA_BUILD_MIRROR, or a folder with the archives in FERMATA_BUILD_DL"
  apt=$(mktemp -d)
  trap 'rm -rf "$apt"' EXIT
  mkdir -p "$apt/lists/partial"
  # QuickJS-ng is newer in backports.
  for suite in trixie trixie-backports; do echo "deb-src $mirror $suite main"; done >"$apt/sources.list"
  options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  apt-get "${options[@]}" update >&2
}

mkdir -p "$folder"
while read -r hash file package; do
  if [ $# -gt 0 ] && [[ " $* " != *" $package "* ]]; then continue; fi
  if [ ! -e "$folder/$file" ] && [ -n "${FERMATA_BUILD_DL:-}" ] && [ -e "$FERMATA_BUILD_DL/$file" ]; then cp "$FERMATA_BUILD_DL/$file" "$folder/"; fi
  if [ ! -e "$folder/$file" ]; then
    use_apt
    # Fails as a whole when one of its files is gone from the mirror, although the upstream archive did arrive.
    (cd "$folder" && apt-get "${options[@]}" source --download-only "$package" >&2) || true
  fi
  [ -e "$folder/$file" ] || fail "$file of the Debian source package $package could not be fetched; put it into a folder and name that in FERMATA_BUILD_DL"
  echo "$hash  $folder/$file" | sha256sum --check --quiet
done <"$list"
