import json
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import tokenizers
from tokenizers import models

from zydaflow.errors import InputError
from zydaflow.recipe import TokenizerSpec
from zydaflow.tokens import load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a tokenizer of several tokens that could end documents."""
    words = ["[UNK]", "a", "</s>", "<eos>", "<|im_end|>", "<|endoftext|>"]
    tokenizer = tokenizers.Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(words[2:])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def end(spec: str | TokenizerSpec | Path) -> str:
    return load(str(spec) if isinstance(spec, Path) else spec).end_of_text_token


def test_end_of_text_is_the_named_one_else_the_configured_one_else_a_known_one(folder: Path) -> None:
    assert end(folder) == end(folder / "tokenizer.json") == "<|endoftext|>"
    (folder / "special_tokens_map.json").write_text(json.dumps({"eos_token": {"content": "<eos>", "lstrip": False}}))
    assert end(folder) == end(folder / "tokenizer.json") == "<eos>"
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>"}))
    assert end(folder) == "<|im_end|>"
    assert end(TokenizerSpec(path=str(folder), end_of_text="</s>")) == "</s>"
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": None}))
    assert end(folder) == "<eos>"


def test_a_file_of_another_name_ignores_what_lies_beside_it(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>"}))
    shutil.copy(folder / "tokenizer.json", folder / "other.json")
    assert end(folder / "other.json") == "<|endoftext|>"


def test_a_token_that_the_vocabulary_has_not(folder: Path) -> None:
    with pytest.raises(InputError, match=r"has no token '<stop>'.*tokenizer: \{path:, end_of_text:\}"):
        load(TokenizerSpec(path=str(folder), end_of_text="<stop>"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<configured>"}))
    with pytest.raises(InputError, match="has no token '<configured>'"):
        load(str(folder))


def test_no_token_ends_documents(tmp_path: Path) -> None:
    tokenizer = tokenizers.Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    tokenizer.save(str(tmp_path / "t.json"))
    with pytest.raises(InputError, match=r"t\.json names no end-of-text.*tokenizer: \{path:, end_of_text:\}"):
        load(str(tmp_path / "t.json"))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "[" * 100_000, "{}", '{"model": {}}', '{"version": "1.0", "model": {"type": "X"}}']
)
def test_what_is_no_tokenizer(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(InputError, match=r"tokenizer\.json is no tokenizer\.json"):
        load(str(tmp_path))


def test_files_and_folders_that_hold_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no tokenizer\.json in .*save_pretrained"):
        load(str(tmp_path))
    for missing in (f"{tmp_path}/missing/tokenizer.json", f"{tmp_path}/missing", "./missing", "~/missing", "a/b/c"):
        with pytest.raises(InputError) as caught:
            load(missing)
        message = f"the tokenizer {missing}: no such file or folder, and this is no name on a hub"
        assert str(caught.value) == message


def in_new_process(name: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Loads a hub name; the hub's settings are read once, when its library is imported."""
    program = f"""
import os
os.environ.update({environment!r})
from zydaflow.errors import InputError
from zydaflow.tokens import load
try:
    print(load({name!r}).end_of_text_token)
except InputError as error:
    raise SystemExit(f"InputError: {{error}}")
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


def test_a_hub_that_cannot_be_reached(tmp_path: Path) -> None:
    done = in_new_process("owner/name", HF_HOME=str(tmp_path), HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="0")
    assert done.returncode == 1
    assert done.stderr.startswith("InputError: the tokenizer owner/name is no file or folder here")
    for setting in ("HF_HOME", "HF_ENDPOINT", "HF_HUB_OFFLINE"):
        assert setting in done.stderr


def test_a_hub_name_comes_from_the_hub_and_then_from_its_cache(folder: Path, tmp_path: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>"}))
    files = ["tokenizer.json", "tokenizer_config.json"]
    commit = "c" * 40

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rsplit("/", 1)[1]
            if self.path.startswith("/api/models/owner/name/revision"):
                body = json.dumps(
                    {"id": "owner/name", "sha": commit, "siblings": [{"rfilename": f} for f in files]}
                ).encode()
            elif self.path.startswith("/api/models/owner/name/tree"):
                body = json.dumps([{"type": "file", "path": f, "oid": "0" * 40, "size": 1} for f in files]).encode()
            else:
                body = (folder / name).read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{name}"')
            self.send_header("X-Repo-Commit", commit)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}
    try:
        done = in_new_process("owner/name", **settings, HF_HUB_OFFLINE="0")
        assert (done.stdout.strip(), done.returncode) == ("<|im_end|>", 0), done.stderr
    finally:
        server.shutdown()
        server.server_close()
    assert in_new_process("owner/name", **settings, HF_HUB_OFFLINE="1").stdout.strip() == "<|im_end|>"
