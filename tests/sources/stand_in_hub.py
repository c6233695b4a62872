"""A stand-in for the Hugging Face Hub on 127.0.0.1: the few answers that resolving and reading a dataset needs.

usage: stand_in_hub.py FOLDER BUSY: serves FOLDER/OWNER/NAME as datasets and prints its port. The first BUSY requests
for a file whose name begins with "busy" are answered with 429 (/busy tells how many are left); a file whose name begins
with "gone" is listed, but is not there when it is asked for.
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
        url = urlsplit(self.path)
        parts = unquote(url.path).strip("/").split("/")
        if parts == ["busy"]:
            return self.answer_json(Hub.busy)
        is_api = parts[0] == "api"
        owner, name, *rest = [*parts[2 if is_api else 1 :], "", ""]
        repo = self.root / owner / name
        if not (owner and name and repo.is_dir()):
            return self.answer_error(404, "RepoNotFound")
        if is_api:
            return self.answer_api(repo, [part for part in rest if part], "recursive=true" in url.query.lower())
        return self.answer_file(repo, rest[1], "/".join(part for part in rest[2:] if part))

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer_error(404, "EntryNotFound")

    def answer_api(self, repo: Path, parts: list[str], recursive: bool) -> None:
        if len(parts) > 1 and parts[1] not in REVISIONS:
            self.answer_error(404, "RevisionNotFound")
        elif parts and parts[0] == "tree":
            folder = repo / "/".join(parts[2:])
            paths = sorted(folder.rglob("*") if recursive else folder.iterdir()) if folder.is_dir() else []
            self.answer_json([self.entry(repo, path) for path in paths])
        else:
            self.answer_json({"id": "/".join(repo.parts[-2:]), "sha": COMMIT, "siblings": [], "tags": []})

    def entry(self, repo: Path, path: Path) -> dict[str, object]:
        kind = "directory" if path.is_dir() else "file"
        name = path.relative_to(repo).as_posix()
        return {"type": kind, "path": name, "size": path.stat().st_size, "oid": f"oid-of-{name}"}

    def answer_file(self, repo: Path, revision: str, name: str) -> None:
        path = repo / name
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
    Hub.root, Hub.busy = Path(sys.argv[1]), int(sys.argv[2])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    print(server.server_port, flush=True)
    server.serve_forever()
