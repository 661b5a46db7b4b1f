"""The page of a dataset in a real Chromium, opened from a file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from viewed_rows import (
    HOSTILE,
    HOSTILE_ID,
    SAMPLES,
    hostile_row,
    sample_rows,
    write_gpu_run,
    write_harvested,
    write_rows,
)

from synth.dataset.stored import Row, stored_rows
from synth.page.page import view

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    *("--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
]
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}

if CHROMIUM is None and not os.environ.get("PAIRSMITH_NEED_BROWSER"):
    pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed", allow_module_level=True)

Viewed = tuple[Path, list[tuple[str, Row]]]


@pytest.fixture(scope="module")
def viewed(tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    """The page of the samples, a harvested row, a hostile one and GPU runs; and its rows."""
    folder = tmp_path_factory.mktemp("view")
    out = folder / "mixed"
    shutil.copytree(SAMPLES, out)
    write_harvested(folder / "harvested", folder)
    harvested = [row for _, row in stored_rows(folder / "harvested")]
    write_rows(out / "train/shard-00001.parquet", [*harvested, hostile_row()])
    first, second, *_ = sample_rows()
    write_gpu_run(out, {first["id"]: "passed", second["id"]: "wrong_value"})
    return view(out, quiet=True).file, list(stored_rows(out))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None, f"PAIRSMITH_NEED_BROWSER is set and none of {NAMES} is installed"
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    flags = FLAGS + (["--no-sandbox"] if root else [])
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


def opened(browser: Browser, file: Path, hash_: str = "", **context: Any) -> Iterator[Page]:
    """The page, ready; when the test is over nothing may have been loaded or complained about."""
    made = browser.new_context(**{"viewport": DESK, **context})
    page = made.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url.split("#")[0]))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(5000)
    page.goto(file.as_uri() + hash_)
    page.wait_for_selector("body[data-ready]")
    yield page
    assert set(requests) == {file.as_uri()}
    assert complaints == []
    made.close()


@pytest.fixture(scope="module")
def desk_page(browser: Browser, viewed: Viewed) -> Iterator[Page]:
    yield from opened(browser, viewed[0], reduced_motion="reduce")


@pytest.fixture
def desk(desk_page: Page) -> Page:
    """The page on a desk, with nothing asked for and the first row open."""
    desk_page.evaluate("location.hash = ''")
    desk_page.evaluate("document.activeElement.blur()")
    expect(desk_page.locator("#count")).to_have_text("32 matches")
    return desk_page


@pytest.fixture(scope="module")
def phone(browser: Browser, viewed: Viewed) -> Iterator[Page]:
    context = {"viewport": PHONE, "has_touch": True, "color_scheme": "dark"}
    yield from opened(browser, viewed[0], **context)


def shown_count(page: Page) -> int:
    return int(page.locator("#count").inner_text().split()[0])


def tick(page: Page, facet: str, value: str) -> None:
    fold = page.locator(f"[data-facet={facet}]")
    fold.locator("summary").click()
    box = f"input[value={json.dumps(value)}]"
    said = int(fold.locator("label", has=page.locator(box)).locator(".n").inner_text())
    if facet != "evidence" and fold.locator("input:checked").count():
        said += shown_count(page)
    fold.locator(box).check()
    assert shown_count(page) == said == page.locator("#rows li").count()
    page.keyboard.press("Escape")


def value_of(facet: str, split: str, row: Row) -> str:
    level = "none" if row["level"] is None else str(row["level"])
    adjoint = row["checks"]["adjoint"] or "not measured"
    every = {"category": row["category"], "level": level, "split": split, "adjoint": adjoint}
    return str(every[facet])


@pytest.mark.parametrize("facet", ["category", "level", "split", "adjoint"])
def test_each_filter_finds_its_rows(desk: Page, viewed: Viewed, facet: str) -> None:
    values = [value_of(facet, split, row) for split, row in viewed[1]]
    for value in {values[0], values[-1]}:
        tick(desk, facet, value)
        assert shown_count(desk) == values.count(value)
        desk.click("#clear")
    assert shown_count(desk) == 32


@pytest.mark.parametrize(
    ("evidence", "count"),
    [("compiled", 31), ("run", 30), ("plain", 30), ("gpu", 1), ("gpu_failed", 1)],
)
def test_evidence_filters(desk: Page, evidence: str, count: int) -> None:
    tick(desk, "evidence", evidence)
    assert shown_count(desk) == count


def test_a_row_must_have_all_evidence_that_is_ticked(desk: Page) -> None:
    for evidence, count in (("plain", 30), ("gpu", 1), ("gpu_failed", 0)):
        tick(desk, "evidence", evidence)
        assert shown_count(desk) == count


def test_filters_join_and_live_in_the_address(desk: Page, viewed: Viewed, browser: Browser) -> None:
    wanted = [
        row["id"]
        for split, row in viewed[1]
        if split == "train" and row["level"] in (1, 4) and row["checks"]["adjoint"] == "agrees"
    ]
    for value in ("1", "4"):
        tick(desk, "level", value)
    tick(desk, "split", "train")
    tick(desk, "evidence", "adjoint")
    assert shown_count(desk) == len(wanted) > 1
    desk.keyboard.press("j")
    address = desk.url.partition("#")[2]
    assert address == f"level=1&level=4&evidence=adjoint&split=train&row={wanted[0]}" or (
        address.endswith(f"row={wanted[1]}")
    )
    for page in opened(browser, viewed[0], f"#{address}"):
        assert shown_count(page) == len(wanted)
        expect(page.locator(".meta code")).to_have_text(address.rpartition("=")[2])
        expect(page.locator("[data-facet=level] .chosen")).to_have_text("2")


def test_search_looks_in_every_text(desk: Page, viewed: Viewed) -> None:
    def wanted(*words: str) -> int:
        names = ("id", "kernel_name", "idiom", "description", "category", "python", "cuda_plain")
        names += ("cuda_helpers", "cuda_forward")
        texts = ["\n".join(row[name] or "" for name in names).lower() for _, row in viewed[1]]
        return sum(all(word in text for word in words) for text in texts)

    first = viewed[1][0][1]
    searches = [first["id"], first["kernel_name"], first["idiom"], "wp::atomic_add", "sqrtf("]
    for text in searches:
        desk.fill("#q", text)
        expect(desk.locator("#count")).to_contain_text(f"{wanted(text)} match")
        assert 0 < shown_count(desk) < 32
    desk.fill("#q", 'WP.TID() "int n"')
    expect(desk.locator("#count")).to_contain_text(f"{wanted('wp.tid()', 'int n')} match")
    desk.fill("#q", "no such words anywhere")
    expect(desk.locator("#none")).to_be_visible()
    expect(desk.locator("#count")).to_have_text("0 matches")
    assert desk.locator("#count").get_attribute("aria-live") == "polite"


def test_keyboard(desk: Page, viewed: Viewed) -> None:
    names = [row["kernel_name"] for _, row in viewed[1]]
    head = desk.locator("h2")
    expect(head).to_have_text(names[0])
    for key, at in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("k", 0), ("j", 1)):
        desk.keyboard.press(key)
        expect(head).to_have_text(names[at])
        expect(desk.locator("#rows [aria-current]")).to_contain_text(names[at])
    desk.keyboard.press("/")
    expect(desk.locator("#q")).to_be_focused()
    desk.keyboard.type("jk")
    assert desk.input_value("#q") == "jk"
    desk.fill("#q", "")
    desk.keyboard.press("Escape")
    expect(desk.locator("#rows [aria-current]")).to_be_focused()
    desk.keyboard.press("Enter")
    expect(head).to_be_focused()
    desk.keyboard.press("w")
    assert (
        desk.evaluate("getComputedStyle(document.querySelector('.line')).whiteSpace") == "pre-wrap"
    )
    desk.keyboard.press("w")


def go_to(page: Page, row: Row) -> None:
    page.evaluate("id => { location.hash = new URLSearchParams({ row: id }) }", row["id"])
    expect(page.locator(".meta code")).to_have_text(row["id"])


def marked(page: Page, pane: str) -> list[int]:
    lines = page.locator(f"#pane-{pane} .mapped").evaluate_all(
        "all => all.map(l => l.dataset.line)"
    )
    return [int(line) for line in lines]


def long_row(viewed: Viewed) -> Row:
    return max(
        (row for _, row in viewed[1]), key=lambda r: len(r["cuda_helpers"] + r["cuda_forward"])
    )


def in_sight(page: Page, pane: str, line: int) -> bool:
    script = """([pane, line]) => {
        const box = document.querySelector(`#pane-${pane} pre`);
        const at = box.querySelector(`[data-line="${line}"]`).getBoundingClientRect();
        const { top, bottom } = box.getBoundingClientRect();
        return at.top >= top && at.bottom <= bottom;
    }"""
    return bool(page.evaluate(script, [pane, line]))


def comes_in_sight(page: Page, pane: str) -> bool:
    """Whether a marked line is scrolled to, within as long as a busy machine may take."""
    for _ in range(30):
        if any(in_sight(page, pane, number) for number in marked(page, pane)):
            return True
        page.wait_for_timeout(200)
    return False


def test_lines_map_both_ways(desk: Page, viewed: Viewed) -> None:
    row = long_row(viewed)
    go_to(desk, row)
    offset = row["cuda_helpers"].count("\n")
    pairs = list(zip(row["line_map_python"], row["line_map_cuda"], strict=True))
    python, cuda = pairs[-1]
    assert not in_sight(desk, "warp", cuda + offset)
    desk.hover(f"#pane-python [data-line='{python}']")
    assert marked(desk, "python") == [python]
    starts = {c + offset for p, c in pairs if p == python}
    others = {c + offset for p, c in pairs if p != python}
    assert starts <= set(marked(desk, "warp"))
    assert not others & set(marked(desk, "warp"))
    assert any(in_sight(desk, "warp", line) for line in starts)
    python, cuda = pairs[0]
    desk.locator("#pane-python pre").evaluate("box => { box.scrollTop = 1e6 }")
    desk.hover(f"#pane-warp [data-line='{cuda + offset}']")
    assert marked(desk, "python") == [python]
    assert cuda + offset in marked(desk, "warp")
    assert in_sight(desk, "python", python)
    text = desk.locator(f"#pane-warp [data-line='{cuda + offset}']").inner_text()
    assert text == row["cuda_forward"].splitlines()[cuda - 1]


def test_lines_map_from_the_keyboard(desk: Page, viewed: Viewed) -> None:
    row = viewed[1][0][1]
    # Where the mouse was left it would mark lines too.
    desk.mouse.move(0, 0)
    go_to(desk, row)
    desk.focus("#pane-python .has-map[tabindex='0']")
    first = row["line_map_python"][0]
    assert marked(desk, "python") == [first]
    desk.keyboard.press("ArrowDown")
    assert marked(desk, "python") == [sorted(set(row["line_map_python"]))[1]]
    expect(desk.locator(".meta code")).to_have_text(row["id"])


def test_texts_are_those_of_the_row(desk: Page, viewed: Viewed) -> None:
    rows = [row for _, row in viewed[1] if row["cuda_plain"] is not None]
    for row in rows[::7]:
        go_to(desk, row)
        texts = {"python": row["python"], "plain": row["cuda_plain"]}
        texts["warp"] = row["cuda_helpers"] + row["cuda_forward"]
        for pane, text in texts.items():
            lines = desk.locator(f"#pane-{pane} .line").all_text_contents()
            assert lines == text.rstrip("\n").split("\n")
    desk.click("summary:has-text('Reference')")
    expect(desk.locator("details.fold[open] pre")).to_contain_text(
        row["reference"].partition("def ")[2].partition("(")[0]
    )


def test_facts(desk: Page, viewed: Viewed) -> None:
    generated = [row for _, row in viewed[1] if row["category"] in known(viewed)]
    for row in generated[::5]:
        go_to(desk, row)
        facts = desk.locator(".columns")
        for arg in row["args"]:
            for text in (arg["name"], arg["dtype"], arg["init"], arg["low"] or ""):
                expect(facts).to_contain_text(text)
            if arg["role"] in ("out", "inout"):
                kind = "exact" if arg["rtol"] is None else "rtol "
                expect(facts).to_contain_text(f"{arg['name']}: {kind}")
        for text in (*row["checks"]["shapes"], *row["ops"], str(row["input_seed"])):
            expect(facts).to_contain_text(text)
        for span in row["regime"]:
            expect(facts).to_contain_text(f"{span['low']:,} … {span['high']:,}")
        expect(facts).to_contain_text(f"style: {json.loads(row['schedule'])['style']}")


def test_copy(desk: Page, viewed: Viewed) -> None:
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    desk.click("#pane-python .copy")
    expect(desk.locator("#pane-python .copy")).to_have_text("Copied")
    assert desk.evaluate("navigator.clipboard.readText()") == viewed[1][0][1]["python"]


def test_null_is_said(desk: Page, viewed: Viewed) -> None:
    harvested, hostile = [row for _, row in viewed[1] if row["category"] not in known(viewed)]
    go_to(desk, harvested)
    expect(desk.locator("#pane-plain")).to_contain_text("This row has none")
    expect(desk.locator(".badges")).to_contain_text("plain CUDA on the host not measured")
    expect(desk.locator(".folds")).to_contain_text("Reference (plain Python): this row has none")
    expect(desk.locator(".facts", has_text="Provenance")).to_contain_text("doubling")
    go_to(desk, hostile)
    expect(desk.locator(".facts", has_text="Evidence")).to_contain_text("nan")
    assert desk.locator(".badge.unknown").count() == 5


def known(viewed: Viewed) -> set[str]:
    return {row["category"] for _, row in viewed[1] if row["checks"]["run_plain"] is not None}


def test_hostile_row_is_text(desk: Page) -> None:
    desk.fill("#q", "broken out")
    expect(desk.locator("#count")).to_have_text("1 match")
    desk.keyboard.press("Escape")
    desk.keyboard.press("j")
    expect(desk.locator("h2")).to_have_text(HOSTILE)
    expect(desk.locator(".meta code")).to_have_text(HOSTILE_ID)
    for summary in desk.locator(".fold summary").all():
        summary.click()
    assert desk.locator("img, main script").count() == 0
    assert desk.title() == "mixed · pairsmith"
    address = desk.evaluate("new URLSearchParams(location.hash.slice(1)).get('row')")
    assert address == HOSTILE_ID


def test_nothing_can_be_loaded(browser: Browser, viewed: Viewed) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(viewed[0].as_uri())
    page.wait_for_selector("body[data-ready]")
    script = """() => new Promise((done) => {
        const seen = [];
        addEventListener("securitypolicyviolation", (event) => {
            seen.push(event.effectiveDirective);
            if (seen.length === 2) done(seen.sort());
        });
        fetch("http://127.0.0.1:9/").catch(() => {});
        document.body.append(Object.assign(new Image(), { src: "http://127.0.0.1:9/x.png" }));
    })"""
    assert page.evaluate(script) == ["connect-src", "img-src"]
    context.close()


def test_an_old_browser_is_told(browser: Browser, viewed: Viewed) -> None:
    context = browser.new_context()
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(viewed[0].as_uri())
    expect(page.locator("#trouble")).to_contain_text("it has no DecompressionStream")
    context.close()


def test_a_damaged_row_says_so(browser: Browser, tmp_path: Path) -> None:
    row = {**sample_rows()[0], "schedule": "{"}
    write_rows(tmp_path / "out/train/shard-00000.parquet", [row])
    context = browser.new_context()
    page = context.new_page()
    page.goto(view(tmp_path / "out", quiet=True).file.as_uri())
    expect(page.locator("#detail")).to_contain_text(f"Row {row['id']} cannot be shown: ")
    context.close()


def no_sideways_scroll(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth")) and not any(
        page.locator("#list, #detail").evaluate_all(
            "all => all.map((box) => box.scrollWidth > box.clientWidth)"
        )
    )


def test_phone(phone: Page, viewed: Viewed) -> None:
    row = viewed[1][1][1]
    expect(phone.locator("#detail")).to_be_hidden()
    assert no_sideways_scroll(phone)
    for control in ("#q", "#show-facets"):
        box = phone.locator(control).bounding_box()
        assert box is not None
        assert box["y"] > PHONE["height"] / 2
        assert box["height"] >= 44
    phone.tap("#rows li:nth-child(2) button")
    expect(phone.locator("h2")).to_have_text(row["kernel_name"])
    expect(phone.locator("#list")).to_be_hidden()
    assert no_sideways_scroll(phone)
    expect(phone.locator("#pane-python")).to_be_visible()
    expect(phone.locator("#pane-warp")).to_be_hidden()
    line = row["line_map_python"][-1]
    phone.tap(f"#pane-python [data-line='{line}']")
    phone.tap("#tab-warp")
    expect(phone.locator("#pane-python")).to_be_hidden()
    expect(phone.locator("#tab-warp")).to_have_attribute("aria-selected", "true")
    assert comes_in_sight(phone, "warp")
    phone.tap("#next")
    expect(phone.locator("h2")).to_have_text(viewed[1][2][1]["kernel_name"])
    phone.tap("#back")
    expect(phone.locator("#list")).to_be_visible()
    phone.tap("#rows li:nth-child(2) button")
    phone.go_back()
    expect(phone.locator("#list")).to_be_visible()
    phone.tap("#show-facets")
    assert no_sideways_scroll(phone)
    phone.tap("#show-facets")


def test_every_row_fits_a_phone(phone: Page, viewed: Viewed) -> None:
    for _, row in viewed[1][::3] + viewed[1][-12:]:
        go_to(phone, row)
        assert no_sideways_scroll(phone), row["id"]


def test_light_and_dark(desk: Page, phone: Page) -> None:
    script = "getComputedStyle(document.body).backgroundColor"
    assert desk.evaluate(script) == "rgb(245, 245, 242)"
    assert phone.evaluate(script) == "rgb(18, 21, 24)"
