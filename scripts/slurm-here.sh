#!/bin/bash
# A Slurm of two nodes on this machine, for tests: munge, slurmctld and two slurmd, of Debian's slurm-wlm and munge.
#
#   scripts/slurm-here.sh start FOLDER PORT    waits until both nodes are idle; prints what to export
#   scripts/slurm-here.sh stop FOLDER          ends what it started, by its pids
#
# $EPILOG is run on a node when a job ends there, $TASK_PROLOG before each task. All its files are in FOLDER. It uses the ports PORT to PORT+2 of 127.0.0.1. Only root can start it.

set -euo pipefail
what=$1 folder=$(realpath -m "$2") port=${3:-0}
conf=$folder/slurm.conf

start() {
  mkdir -p "$folder"/{munge,state,spool,log}
  chmod 0700 "$folder/munge"
  head -c 128 /dev/urandom > "$folder/munge/key"
  chmod 0400 "$folder/munge/key"
  cat > "$conf" << END
ClusterName=here
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=15
KillWait=5
MailProg=/bin/true
${EPILOG:+Epilog=$EPILOG}
${TASK_PROLOG:+TaskProlog=$TASK_PROLOG}
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/%n
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=4
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=4
PartitionName=all Nodes=ALL Default=YES State=UP
END
  export SLURM_CONF=$conf
  munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/log/munged" --seed-file="$folder/munge/seed"
  slurmctld -c -f "$conf"
  for node in n1 n2; do slurmd -N $node -f "$conf"; done
  for _ in $(seq 300); do
    if [ "$(sinfo -h -N -o %T 2> /dev/null | grep -c idle)" = 2 ]; then
      echo "export SLURM_CONF=$conf"
      return
    fi
    sleep 0.1
  done
  tail -n 5 "$folder"/log/* >&2
  stop
  exit 1
}

stop() {
  for name in n1 n2 slurmctld munged; do
    pid=$(cat "$folder/$name.pid" 2> /dev/null) || continue
    kill "$pid" 2> /dev/null || continue
    for _ in $(seq 50); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2> /dev/null || true
  done
}

"$what"
