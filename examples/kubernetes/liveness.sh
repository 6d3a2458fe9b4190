#!/bin/bash
# A liveness probe: fails if the ranks of this pod hang (liveness.yaml). First it copies the rank files with their newest records, which are in the
# container's /dev/shm. Whatever else is wrong (no rank files yet, no Node), the pod counts as alive.

folder=$(cat "${STARTED:-/tmp/nccl-trace-dir}" 2> /dev/null) || exit 0
verdict=$(nccl-trace inspect "$folder" --quiet --fail-on "${FAIL_ON:-hung}" 2> /dev/null)
[ $? = 5 ] || exit 0
echo "$verdict" # becomes the text of the pod's event "Unhealthy"
[ -d "$folder.hung" ] || nccl-trace snapshot --quiet "$folder" -o "$folder.hung" > /dev/null
exit 1
