import time

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zydaflow.errors import InputError, RecipeError
from zydaflow.signals import SIGNALS, Resources, fingerprint
from zydaflow.signals.urls import NAMES, measure_urls

LISTS = {
    "domains": "\ufeff# adult sites\nbad.com\n\n*.Worse.org \n.dot.net\nhttp://www.www.net/page\nco.uk\n",
    "urls": "ok.com/bad/\nhttps://www.OK.com/q?x=1#f\n",
    "words": "bet\nübel\n",
    "substrings": "mega-win\n",
    "soft_words": "bet\ncasino\nluck\n",
}
# url: domain, domains, urls, words, substrings, soft words
CASES = {
    "https://bad.com": ("bad.com", 1, 0, 0, 0, 0),
    "HTTP://User:pw@A.b.BAD.com:80/x": ("a.b.bad.com", 1, 0, 0, 0, 0),
    "bad.com./x": ("bad.com", 1, 0, 0, 0, 0),
    "bad.com:8080": ("bad.com", 1, 0, 0, 0, 0),
    "//bad.com?q": ("bad.com", 1, 0, 0, 0, 0),
    "notbad.com": ("notbad.com", 0, 0, 0, 0, 0),
    "bad.com.example": ("bad.com.example", 0, 0, 0, 0, 0),
    "x.y/bad.com": ("x.y", 0, 0, 0, 0, 0),
    "http://x.y/http://bad.com": ("x.y", 0, 0, 0, 0, 0),
    "worse.org": ("worse.org", 1, 0, 0, 0, 0),
    "a.dot.net": ("a.dot.net", 1, 0, 0, 0, 0),
    "www.net": ("www.net", 1, 0, 0, 0, 0),
    "https://www.www.net": ("www.net", 1, 0, 0, 0, 0),
    "https://a.co.uk": ("a.co.uk", 1, 0, 0, 0, 0),
    "http://[2001:DB8::1]:80/": ("[2001:db8::1]", 0, 0, 0, 0, 0),
    "https://www.ok.com/bad": ("ok.com", 0, 1, 0, 0, 0),
    "http://u@ok.com/BAD///#top": ("ok.com", 0, 1, 0, 0, 0),
    "ok.com/bad/2": ("ok.com", 0, 0, 0, 0, 0),
    "ok.com/q?x=1": ("ok.com", 0, 1, 0, 0, 0),
    "https://alphabet.com": ("alphabet.com", 0, 0, 0, 0, 0),
    "https://a.b/bet-Bet?bet": ("a.b", 0, 0, 1, 0, 1),
    "https://a.b/Übel": ("a.b", 0, 0, 1, 0, 0),
    "https://a.b/#bet": ("a.b", 0, 0, 0, 0, 0),
    "https://me.ga/w_i-n": ("me.ga", 0, 0, 0, 1, 0),
    "https://omegawinner.com/megawin": ("omegawinner.com", 0, 0, 0, 2, 0),
    "https://casino.luck/casino": ("casino.luck", 0, 0, 0, 0, 2),
    " https://a.b \n": ("a.b", 0, 0, 0, 0, 0),
    "no url at all": (None, 0, 0, 0, 0, 0),
    "https://": (None, 0, 0, 0, 0, 0),
    "a." * 126 + "a": ("a." * 126 + "a", 0, 0, 0, 0, 0),
    "a." * 127 + "a": (None, 0, 0, 0, 0, 0),
    "": (None,) * 6,
    " \u3000": (None,) * 6,
    None: (None,) * 6,
}


def write(folder, **lists):
    for name, content in lists.items():
        (folder / name).write_text(content, encoding="utf-8")
    return Resources(url_lists=tuple((str(folder / name),) if name in lists else () for name in LISTS))


@pytest.fixture
def resources(tmp_path):
    return write(tmp_path, **LISTS)


def test_by_hand(resources):
    found = pa.table(measure_urls(NAMES, pa.array(list(CASES), pa.string()), resources))
    assert {url: tuple(row.values()) for url, row in zip(CASES, found.to_pylist(), strict=True)} == CASES


def test_only_what_is_asked_for_is_measured(tmp_path):
    urls = pa.array(["https://a.b"])
    assert list(measure_urls(["url.domain"], urls, Resources(url_lists=(("/none",),) * 5))) == ["url.domain"]
    assert measure_urls([], urls, Resources()) == {}
    assert measure_urls(["url.list_counts.words"], urls, Resources())["url.list_counts.words"].to_pylist() == [0]


def test_several_files_are_one_list(tmp_path):
    (tmp_path / "one").write_text("a.b")
    (tmp_path / "two").write_text("c.d\r\n")
    resources = Resources(url_lists=((str(tmp_path / "one"), str(tmp_path / "two")), (), (), (), ()))
    found = measure_urls(["url.list_counts.domains"], pa.array(["a.b", "c.d", "e.f"]), resources)
    assert found["url.list_counts.domains"].to_pylist() == [1, 1, 0]


@given(st.lists(st.text() | st.none(), max_size=6))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_anything_may_stand_for_a_url(tmp_path_factory, urls):
    resources = write(tmp_path_factory.mktemp("lists"), **LISTS)
    found = measure_urls(NAMES, pa.array(urls, pa.string()), resources)
    for name in NAMES:
        assert found[name].type == SIGNALS[name].type
        assert len(found[name]) == len(urls)


def test_a_long_url_takes_no_time(resources):
    long = pa.array(["a." * 500_000, "https://a.b/" + "bet/" * 250_000, "https://" + "/" * 10**6])
    measure_urls(NAMES, long, resources)
    start = time.perf_counter()
    assert measure_urls(NAMES, long, resources)["url.list_counts.words"].to_pylist() == [0, 1, 0]
    assert time.perf_counter() - start < 5  # a second and a half for a pass over each is ample


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"words": "mega-win\n"}, "url_lists.words: mega-win is not one word of letters and digits; see substrings"),
        ({"domains": "# none\n\n"}, "has no entry"),
        ({"substrings": "--\n"}, "has no entry"),
    ],
)
def test_lists_that_cannot_be_used(tmp_path, lists, message):
    with pytest.raises(InputError) as raised:
        measure_urls(NAMES, pa.array(["a.b"]), write(tmp_path, **lists))
    assert message in str(raised.value)


def test_files_that_are_no_lists(tmp_path):
    (tmp_path / "latin").write_bytes("übel".encode("latin-1"))
    for path in (tmp_path / "latin", tmp_path / "missing"):
        with pytest.raises(InputError, match=f"url_lists.urls: {path}: cannot be read"):
            measure_urls(NAMES, pa.array(["a.b"]), Resources(url_lists=((), (str(path),), (), (), ())))


def test_the_fingerprint_follows_the_lists_that_are_used(tmp_path):
    resources = write(tmp_path, **LISTS)
    words = fingerprint(["url.list_counts.words"], resources)
    both = fingerprint(["url.list_counts.words", "url.list_counts.urls"], resources)
    write(tmp_path, urls="other.com/longer\n")
    assert fingerprint(["url.list_counts.words"], resources) == words
    assert fingerprint(["url.list_counts.words", "url.list_counts.urls"], resources) != both
    assert "urls" not in fingerprint(["n_words"], resources)


def test_an_unknown_signal_is_named():
    with pytest.raises(RecipeError, match=r"no signal 'url.domian'; did you mean url.domain\?"):
        SIGNALS["url.domian"]
