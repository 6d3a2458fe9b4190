#!/bin/bash
# A Slurm of two nodes on this machine, for tests: munge, slurmctld and two slurmd, of Debian's slurm-wlm and munge.
#
#   scripts/slurm-here.sh check                       says what is missing, if anything is
#   scripts/slurm-here.sh start FOLDER PORT           waits until both nodes are idle
#   scripts/slurm-here.sh on FOLDER NODE COMMAND...   runs a command on a node: login, n1, n2
#   scripts/slurm-here.sh stop FOLDER                 ends all jobs, and what it started, by its pids
#
# It also stops when the process that started it has ended. Only one can run on a machine: start waits for two minutes.
# Each node has a mount namespace and a host name of its own: /local (FOLDER/local/NODE) and /dev/shm are disks of the node, /shared
# (FOLDER/shared) is the same on all. All other files are the machine's. $EPILOG is run on a node when a job ends there, $TASK_PROLOG before each
# task. All of Slurm's files are in FOLDER. It uses the ports PORT to PORT+2 of 127.0.0.1. Only root can start it.

set -euo pipefail
what=$1

check() {
  [ "$(id -u)" = 0 ] || { echo "it needs root"; exit 1; }
  for program in munged slurmctld slurmd srun; do
    command -v $program > /dev/null || { echo "it needs the packages slurm-wlm and munge"; exit 1; }
  done
  unshare --mount --uts mount -t tmpfs none /mnt 2> /dev/null || { echo "it needs to mount file systems"; exit 1; }
}

# Runs a command in the namespaces of a new node.
node() {
  local name=$1
  shift
  mkdir -p "$folder/local/$name" "$folder/shared"
  printf '127.0.0.1 localhost login n1 n2\n' > "$folder/hosts"
  unshare --mount --uts bash -euc '
    hostname "$1"
    mount --bind "$2/local/$1" /local
    mount --bind "$2/shared" /shared
    mount --bind "$2/hosts" /etc/hosts
    mount -t tmpfs none /dev/shm
    shift 2
    exec "$@"' - "$name" "$folder" "$@"
}

start() {
  local port=$3
  exec 9< / # held by `watch`
  flock --timeout 120 9 || { echo "another one is running" >&2; exit 1; }
  mkdir -p "$folder"/{munge,state,spool,log}
  # What they hide on the machine is hidden on the nodes alone.
  for point in /local /shared; do [ -d $point ] || { mkdir $point && echo $point >> "$folder/points"; }; done
  chmod 0700 "$folder/munge"
  head -c 128 /dev/urandom > "$folder/munge/key"
  chmod 0400 "$folder/munge/key"
  cat > "$conf" << END
ClusterName=here
SlurmctldHost=login(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
ReturnToService=2
SlurmdTimeout=15
KillWait=2
MailProg=/bin/true
${EPILOG:+Epilog=$EPILOG}
${TASK_PROLOG:+TaskProlog=$TASK_PROLOG}
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/login.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/%n
NodeName=n1 NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=8
NodeName=n2 NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=8
PartitionName=all Nodes=ALL Default=YES State=UP
END
  export SLURM_CONF=$conf
  munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/log/munged" --seed-file="$folder/munge/seed" 9<&-
  node login slurmctld -c -f "$conf" 9<&-
  for name in n1 n2; do node $name slurmd -N $name -f "$conf" 9<&-; done
  setsid "$0" watch "$folder" $PPID < /dev/null &> /dev/null &
  for _ in $(seq 300); do
    [ "$(sinfo -h -N -o %T 2> /dev/null | grep -c idle)" = 2 ] && return
    sleep 0.1
  done
  tail -n 5 "$folder"/log/* >&2
  stop
  exit 1
}

watch() {
  while kill -0 "$3" && [ -e "$conf" ]; do sleep 1; done
  stop
}

on() {
  local name=$3
  shift 3
  SLURM_CONF=$conf exec nsenter --mount --uts --target "$(cat "$folder/$name.pid")" --wd="$PWD" -- "$@"
}

stop() {
  [ -e "$conf" ] || return 0
  export SLURM_CONF=$conf
  timeout 5 scancel --user="$(id -un)" || true
  for _ in $(seq 100); do
    [ -n "$(timeout 5 squeue --noheader 2> /dev/null)" ] || break
    sleep 0.1
  done
  for name in n1 n2 login munged; do
    pid=$(cat "$folder/$name.pid" 2> /dev/null) || continue
    kill "$pid" 2> /dev/null || continue
    for _ in $(seq 50); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2> /dev/null || true
  done
  [ ! -e "$folder/points" ] || xargs rmdir < "$folder/points"
  rm "$conf"
}

PATH=$PATH:/usr/sbin
folder=$(realpath -m "${2:-.}") conf=$folder/slurm.conf
"$what" "$@"
