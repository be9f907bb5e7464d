"""Neutron from an empty database to serving: neutron-db-manage, then neutron-server.

Neutron's modules are loaded once, while others start; the migration runs in a
child. Standard input says when the database is there. Descriptor 3 is the
socket to serve on, so that no port has to be guessed.
"""
import os
import sys

from neutron.cmd.eventlet import server  # first: it makes Python's library green
from neutron.db.migration import cli
from neutron import wsgi
import eventlet.green.socket

configuration = sys.argv[1]
sys.stdin.readline()
pid = os.fork()
if pid == 0:
    sys.argv = ["neutron-db-manage", "--config-file", configuration, "upgrade", "heads"]
    failed = cli.main()
    sys.stdout.flush()
    os._exit(1 if failed else 0)
if os.waitpid(pid, 0)[1] != 0:
    sys.exit("neutron-db-manage failed")

wsgi.Server._get_socket = lambda *_, **__: eventlet.green.socket.socket(fileno=3)
sys.argv = ["neutron-server", "--config-file", configuration]
server.main()
