"""A stand-in for the Hugging Face Hub on 127.0.0.1: the few answers that resolving and reading a dataset needs.

usage: stand_in_hub.py FOLDER [BUSY]: serves FOLDER as the dataset owner/data and prints its port. The first BUSY requests
for a file whose name begins with "busy" are answered with 429; a file whose name begins with "gone" is listed, but is not
there when it is asked for.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REVISIONS = ("main", "v1", COMMIT)


class Hub(BaseHTTPRequestHandler):
    root: Path
    busy: int
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path.startswith("/api/datasets/owner/data"):
            self.answer_api(path.removeprefix("/api/datasets/owner/data").strip("/").split("/"))
        elif path.startswith("/datasets/owner/data/resolve/"):
            revision, name = path.removeprefix("/datasets/owner/data/resolve/").split("/", 1)
            self.answer_file(revision, name)
        else:
            self.answer_error(404, "RepoNotFound")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer_error(404, "EntryNotFound")

    def answer_api(self, parts: list[str]) -> None:
        if len(parts) > 1 and parts[1] not in REVISIONS:
            self.answer_error(404, "RevisionNotFound")
        elif parts[0] == "tree":
            folder = self.root / "/".join(parts[2:])
            entries = sorted(folder.iterdir()) if folder.is_dir() else []
            self.answer_json([self.entry(path) for path in entries])
        else:
            self.answer_json({"id": "owner/data", "sha": COMMIT, "siblings": [], "tags": []})

    def entry(self, path: Path) -> dict[str, object]:
        kind = "directory" if path.is_dir() else "file"
        name = path.relative_to(self.root).as_posix()
        return {"type": kind, "path": name, "size": path.stat().st_size, "oid": f"oid-of-{name}"}

    def answer_file(self, revision: str, name: str) -> None:
        path = self.root / name
        if revision not in REVISIONS:
            self.answer_error(404, "RevisionNotFound")
        elif not path.is_file() or path.name.startswith("gone"):
            self.answer_error(404, "EntryNotFound")
        elif path.name.startswith("busy") and Hub.busy > 0:
            Hub.busy -= 1
            self.answer(429, b"slow down", {"Retry-After": "0"})
        else:
            data = path.read_bytes()
            headers = {"ETag": f'"{len(data)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
            wanted = self.headers.get("Range")
            if wanted is None:
                self.answer(200, data, headers)
            else:
                start, stop = wanted.removeprefix("bytes=").split("-")
                self.answer(206, data[int(start) : int(stop) + 1 if stop else None], headers)

    def answer_json(self, value: object) -> None:
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def answer_error(self, status: int, code: str) -> None:
        self.answer(status, b"{}", {"X-Error-Code": code})

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        sys.stderr.write(f"{self.command} {self.path} {args[1:]}\n")


if __name__ == "__main__":
    Hub.root, Hub.busy = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    print(server.server_port, flush=True)
    server.serve_forever()
