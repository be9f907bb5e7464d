"""Keystone from an empty database to serving, in one process.

Keystone's modules are loaded once; each step of keystone-manage then runs in a
child. Standard input says when the database is there. Descriptor 3 is the
socket to serve on.
"""
import os
import socketserver
import sys
import wsgiref.simple_server

from keystone.cmd import cli
from keystone.server import wsgi

configuration, account, group, url, password, region = sys.argv[1:]


def manage(*command):
    pid = os.fork()
    if pid == 0:
        sys.argv = ["keystone-manage", "--config-file", configuration, *command]
        code = cli.main(argv=sys.argv)
        sys.stdout.flush()
        os._exit(code or 0)
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit("keystone-manage " + command[0] + " failed")


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    """One thread a request: keystone-wsgi-public serves one after the other."""

    daemon_threads = True

    def server_bind(self):
        self.server_name, self.server_port = self.socket.getsockname()
        self.setup_environ()

    def server_activate(self):
        pass  # it listens already


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def address_string(self):
        return self.client_address[0]


sys.stdin.readline()
manage("db_sync")
for keys in "fernet_setup", "credential_setup":
    manage(keys, "--keystone-user", account, "--keystone-group", group)
manage(
    "bootstrap", "--bootstrap-password", password, "--bootstrap-region-id", region,
    "--bootstrap-public-url", url, "--bootstrap-internal-url", url, "--bootstrap-admin-url", url,
)

os.environ["OS_KEYSTONE_CONFIG_FILES"] = configuration
sys.argv[1:] = []
application = wsgi.initialize_public_application()
server = Server(("127.0.0.1", 0), Handler, bind_and_activate=False)
server.socket.close()
server.socket = socketserver.socket.socket(fileno=3)
server.server_bind()
server.set_app(application)
server.serve_forever()
