"""Leads the process group that every server of one lab joins, and ends it.

Standard input is the lab's life: when its other end closes, be it that the lab
stops or that the process that started it was killed, the whole group is killed
and the lab's directory removed. Standard output closes when that is done.
"""
import os
import shutil
import signal
import sys
import time

directory = sys.argv[1]
leader = os.getpid()
if os.fork():
    # The leader only lends its number to the group.
    os.close(0)
    os.close(1)
    while True:
        signal.pause()

os.setsid()  # out of the group, to outlive it
os.write(1, b"ready\n")
while os.read(0, 4096):
    pass
try:
    os.killpg(leader, signal.SIGKILL)
except ProcessLookupError:
    pass
for _ in range(100):  # a killed server may still be writing
    shutil.rmtree(directory, ignore_errors=True)
    if not os.path.exists(directory):
        break
    time.sleep(0.05)
