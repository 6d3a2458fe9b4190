#!/bin/bash
# Runs the lines of a Dockerfile without Docker, to test them: each stage on an overlay over this machine's system, which takes the place of the
# base images (Debian with Node.js). The last stage has no compiler. Then runs a command in it:
#
#   scripts/dockerfile-here.sh DOCKERFILE COMMAND...
#
# It knows FROM, RUN, WORKDIR, and COPY of all or of another stage. Nothing stays. Needs root.

set -euo pipefail
[ "${NCCL_TRACE_IN_NAMESPACE:-}" = 1 ] || NCCL_TRACE_IN_NAMESPACE=1 exec unshare --mount "$0" "$@"
file=$1
shift
context=$PWD
mount -t tmpfs none /mnt
declare -A roots
root='' count=0

stage() {
  count=$((count + 1))
  local layers=/mnt/$count
  mkdir -p $layers/{upper,work,root}
  mount -t overlay overlay -o lowerdir=/,upperdir=$layers/upper,workdir=$layers/work $layers/root
  root=$layers/root workdir=/
  for inside in proc dev sys; do mount --rbind /$inside "$root/$inside"; done
  rm -f "$root"/usr/local/bin/nccl-trace
  mount -t tmpfs none "$root/tmp"
  [ -z "${1:-}" ] || roots[$1]=$root
}

# Without our own settings, as in a container. Others may say how the registries are reached.
inside() {
  # shellcheck disable=SC2046
  env $(compgen -e | grep '^NCCL_' | sed 's/^/--unset=/') PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$root" env --chdir="$workdir" "$@"
}

last=$(grep -n '^FROM ' "$file" | tail -n 1 | cut -d : -f 1) number=0
while read -r line; do
  number=$((number + 1))
  echo "> $line"
  set -f
  # shellcheck disable=SC2086
  set -- $line -- "$@"
  set +f
  case $line in
    '' | '#'*) ;;
    'FROM '*' AS '*) stage "$4" ;;
    'FROM '*) stage ;;
    'WORKDIR '*) workdir=$2 && mkdir -p "$root$workdir" ;;
    'COPY . .') git -C "$context" ls-files -z --cached --others --exclude-standard --deduplicate | tar -C "$context" --null --ignore-failed-read -cT - | tar -C "$root$workdir" -x ;;
    'COPY --from='*) cp -a "${roots[${2#--from=}]}$3/." "$root$4" ;;
    'RUN '*) inside sh -c "${line#RUN }" < /dev/null ;;
    *) echo "unknown: $line" >&2 && exit 1 ;;
  esac
  if [ $number = "$last" ]; then rm -f "$root"/usr/bin/{cc,c++,gcc,g++,clang,clang++,make}*; fi
  while [ "$1" != -- ]; do shift; done
  shift
done < "$file"
inside "$@"
