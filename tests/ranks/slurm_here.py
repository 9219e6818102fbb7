"""A Slurm of two simulated nodes on this machine, for tests: its own key, ports, folders and host names.

Needs root and Debian's packages slurm-wlm and munge. All daemons are child processes and end with `stop()`.
"""
import os
import shutil
import socket
import subprocess
import time

CONFIGURATION = """
ClusterName=dwell
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool-%n
StateSaveLocation={folder}/state
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
# No control groups: containers may have none.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=20
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=16
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=16
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODES = ("node1", "node2")


def missing():
    """Why there can be no Slurm here, or None."""
    for program in ("munged", "slurmctld", "slurmd", "srun", "unshare"):
        if not shutil.which(program):
            return "Slurm is not installed: Debian's packages slurm-wlm, munge"
    if os.getuid():
        return "Slurm's daemons need root"
    if subprocess.run(["unshare", "--uts", "hostname", "node9"], capture_output=True, check=False).returncode:
        return "no host names of its own can be made here (unshare --uts)"
    return None


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        os.chmod(folder, 0o755)  # munge refuses a socket that others cannot reach
        self.environment = {**os.environ, "SLURM_CONF": os.path.join(folder, "slurm.conf")}

    def write(self, name, text, mode=0o644):
        with open(os.path.join(self.folder, name), "wb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            file.write(text)

    def start(self):
        """Starts the daemons, and waits until both nodes take jobs. False if they do not within a minute."""
        folder = self.folder
        self.write("munge.key", os.urandom(1024), 0o400)
        self.write("slurm.conf", CONFIGURATION.format(folder=folder, host=socket.gethostname().split(".")[0], ports=free_ports(3)).encode())
        self.write("cgroup.conf", b"CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            os.mkdir(os.path.join(folder, name))
        self.daemon("munged", "--foreground", "--force", "--num-threads=2", *(
            f"--{option}={folder}/munge.{end}" for option, end in (
                ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
        self.wait(lambda: os.path.exists(f"{folder}/munge.socket"))
        self.daemon("slurmctld", "-D", "-i")
        for node in NODES:
            self.daemon("unshare", "--uts", "sh", "-c", f"hostname {node}; exec slurmd -D -N {node}")
        return self.wait(lambda: self.output("sinfo", "-h", "-o", "%D %t").split() == ["2", "idle"])

    def daemon(self, *command):
        with open(os.path.join(self.folder, "daemons.log"), "ab") as log:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    @staticmethod
    def wait(found, seconds=60):
        until = time.monotonic() + seconds
        while not found():
            if time.monotonic() > until:
                return False
            time.sleep(.1)
        return True

    def output(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=60).stdout

    def submit(self, folder, script, *words, **variables):
        """The number of a job whose output is in FOLDER/NUMBER.out."""
        done = subprocess.run(["sbatch", "--parsable", "-o", "%j.out", script, *words], cwd=folder, capture_output=True, text=True,
                              env={**self.environment, **variables}, check=False, timeout=60)
        if done.returncode:
            raise AssertionError(done.stderr)
        return int(done.stdout)

    def has_ended(self, job):
        return not self.output("squeue", "-h", "-j", str(job), "-o", "%i").strip()

    def log(self):
        with open(os.path.join(self.folder, "daemons.log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-3000:]

    def stop(self):
        self.output("scancel", "--state=RUNNING", "--full", "--signal=KILL", "-u", "root")
        self.output("scancel", "-u", "root")
        self.wait(lambda: not self.output("squeue", "-h").strip(), 30)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
