"""Run the notebooks whose paths come in lines, each in a kernel of its own, and say each path.

What `jupyter execute` does, begun once for all. Kernels are forks of a process that has imported
`warm`: that takes longer than a short lab.

    cd tests; python -c "import offline; offline.main()" SECONDS    # for each cell
"""

import multiprocessing.process
import os
import sys
from multiprocessing.context import ForkServerProcess

import nbformat
from jupyter_client.provisioning import LocalProvisioner
from nbclient import NotebookClient


class Kernel(ForkServerProcess):
    """A kernel, with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, arguments, folder):
        super().__init__()
        self.arguments, self.folder = arguments, folder

    def run(self):
        os.chdir(self.folder)
        multiprocessing.process.ORIGINAL_DIR = self.folder  # where processes look for modules
        sys.path[0] = ""  # not the folder of the tests
        from ipykernel.kernelapp import IPKernelApp

        IPKernelApp.launch_instance(self.arguments)

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()

    def send_signal(self, number):
        os.kill(self.pid, number)


async def launch_kernel(provisioner, command, *, cwd, **options):
    """Fork, in place of running `command`: python -m ipykernel_launcher -f FILE."""
    arguments = [*command[command.index("-f") :], "--log-level=CRITICAL"]
    provisioner.process = Kernel(arguments, cwd)
    provisioner.process.start()
    return provisioner.connection_info


def main():
    multiprocessing.set_forkserver_preload(["warm", __name__])
    LocalProvisioner.launch_kernel = launch_kernel
    limit = int(float(sys.argv[1]))
    for line in sys.stdin:
        path = line.strip()
        notebook = nbformat.read(path, as_version=4)
        where = {"metadata": {"path": os.path.dirname(path)}}
        NotebookClient(notebook, timeout=limit, allow_errors=True, resources=where).execute()
        nbformat.write(notebook, path)
        print(path, flush=True)
