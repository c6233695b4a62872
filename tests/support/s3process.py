"""An S3 server of its own: prints its URL, then serves until its standard input is closed."""

import logging
import sys

from moto.server import ThreadedMotoServer

if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    print("http://{}:{}".format(*server.get_host_and_port()), flush=True)
    sys.stdin.read()  # whoever started it is gone, however that happened
    server.stop()
