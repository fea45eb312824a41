"""Which files a patch touches, in every place where models put patches."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.sources.patches import (
    PatchedFile,
    joined,
    patched_files,
    script_patches,
    shell_patches,
    unified_diff_files,
)

PATCH = """*** Begin Patch
*** Add File: notes/new file.md
+# Notes
+*** Delete File: not/this.md
*** Update File: src/app.py
@@ def main():
-    old()
+    new()
*** Update File: src/old_name.py
*** Move to: src/new_name.py
@@
-a
+b
*** Delete File: gone.txt
*** End Patch"""

FILES = [
    PatchedFile("notes/new file.md", "add"),
    PatchedFile("src/app.py", "update"),
    PatchedFile("src/new_name.py", "move"),
    PatchedFile("gone.txt", "delete"),
]


def files_of(patches: list[object]) -> list[PatchedFile]:
    return [file for patch in patches for file in patched_files(patch.text)]  # type: ignore[attr-defined]


def test_every_header_of_a_patch_gives_a_file_and_added_lines_give_none() -> None:
    assert patched_files(PATCH) == FILES
    assert patched_files(PATCH.replace("\n", "\r\n")) == FILES


def test_headers_outside_of_a_patch_count_for_nothing() -> None:
    assert patched_files("*** Add File: a.py\n+x") == []
    assert patched_files(PATCH + "\n*** Add File: after.py") == FILES
    assert patched_files("*** Begin Patch\n*** End Patch\n") == []


def test_two_patches_in_one_text_are_both_read() -> None:
    second = "*** Begin Patch\n*** Add File: b.py\n+x\n*** End Patch"
    assert patched_files(f"{PATCH}\n{second}") == [*FILES, PatchedFile("b.py", "add")]


def test_a_patch_whose_end_is_missing_is_read_as_far_as_it_goes() -> None:
    assert patched_files(PATCH.removesuffix("\n*** End Patch")) == FILES


@pytest.mark.parametrize(
    "command",
    [
        ["apply_patch", PATCH],
        ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"],
        ["bash", "-lc", f"apply_patch << EOF\n{PATCH}\nEOF\n"],
        ["bash", "-lc", f"cat <<'X' | apply_patch\n{PATCH}\nX"],
        ["/bin/zsh", "-c", f"set -e; applypatch <<PATCH\n{PATCH}\nPATCH\nls"],
        f"apply_patch '{PATCH}'",
        f'apply_patch "{PATCH}"',
        f"echo start\napply_patch <<'EOF'\n{PATCH}\nEOF",
    ],
)
def test_a_command_that_runs_apply_patch_gives_its_patch(command: str | list[str]) -> None:
    assert files_of(list(shell_patches(command))) == FILES


@pytest.mark.parametrize(
    "command",
    [
        f"cat <<'EOF' > example.txt\n{PATCH}\nEOF",
        ["grep", "-rn", "*** Begin Patch"],
        "apply_patch --help",
        [],
        [1, None],
    ],
)
def test_a_command_that_only_mentions_a_patch_gives_none(command: str | list[object]) -> None:
    assert shell_patches(command) == []


@pytest.mark.parametrize(
    ("before", "folder"), [("cd sub/dir && ", "sub/dir"), ('cd "a b" && ', "a b"), ("cd x\n", "x")]
)
def test_a_change_of_folder_before_the_patch_is_told(before: str, folder: str) -> None:
    (patch,) = shell_patches(f"{before}apply_patch <<'EOF'\n{PATCH}\nEOF")
    assert patch.folder == folder
    assert patched_files(patch.text) == FILES


@pytest.mark.parametrize(
    "script",
    [
        f"const patch = {json.dumps(PATCH)};\ntext(await tools.apply_patch(patch));",
        f"await tools.apply_patch(`{PATCH}\n`)",
        "await tools.apply_patch('" + PATCH.replace("\n", "\\n") + "')",
        "apply_patch(String.raw`" + PATCH + "`)",
        "tools.apply_patch([" + ", ".join(json.dumps(line) for line in PATCH.split("\n")) + '].join("\\n"))',
        "tools.apply_patch(" + " +\n ".join(json.dumps(line + "\n") for line in PATCH.split("\n")) + ")",
        "tools.exec_command({cmd: " + json.dumps(f"apply_patch <<'EOF'\n{PATCH}\nEOF") + "})",
        f"// it's a comment\nconst other = 'x';\nawait tools.apply_patch({json.dumps(PATCH)})",
    ],
)
def test_a_string_in_a_script_gives_its_patch(script: str) -> None:
    assert files_of(list(script_patches(script))) == FILES


def test_escapes_in_a_script_are_undone() -> None:
    script = r'apply_patch("*** Begin Patch\n*** Add File: caf\u00e9 \u{1F600} \x41 \"q\".md\n+x\n*** End Patch")'
    (patch,) = script_patches(script)
    assert patched_files(patch.text) == [PatchedFile('café 😀 A "q".md', "add")]


def test_a_script_that_applies_nothing_gives_no_patch() -> None:
    assert script_patches(f"text({json.dumps(PATCH)})") == []


DIFF = """diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,2 @@
--- a sql comment
 x
--- /dev/null
+++ b/new.md\t2025-01-01
@@ -0,0 +1 @@
+x
--- a/old.txt
+++ /dev/null
diff --git a/one.py b/two.py
rename from one.py
rename to two.py
--- a/one.py
+++ b/two.py
"""


def test_a_unified_diff_gives_its_files() -> None:
    assert patched_files(DIFF) == [
        PatchedFile("src/app.py", "update"),
        PatchedFile("new.md", "add"),
        PatchedFile("old.txt", "delete"),
        PatchedFile("two.py", "move"),
    ]
    assert unified_diff_files("--- only this\n") == []


@pytest.mark.parametrize(
    ("folder", "path", "expected"),
    [
        ("/home/mara/w", "src/a.py", "/home/mara/w/src/a.py"),
        ("/home/mara/w", "../b.py", "/home/mara/b.py"),
        ("/home/mara/w", "/etc/x", "/etc/x"),
        (None, "a.py", "a.py"),
        ("", "a.py", "a.py"),
        ("C:\\work", "src\\a.py", "C:\\work\\src\\a.py"),
        ("C:\\work", "D:\\x.py", "D:\\x.py"),
        ("/home/mara/w", "C:\\x.py", "C:\\x.py"),
    ],
)
def test_a_relative_path_is_joined_to_the_folder(folder: str | None, path: str, expected: str) -> None:
    assert joined(folder, path) == expected


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=12).map(str.strip)
PATHS = st.lists(NAMES.filter(bool), min_size=1, max_size=4, unique=True)


@given(PATHS)
def test_paths_of_any_spelling_come_back_out_of_every_place(paths: list[str]) -> None:
    text = "*** Begin Patch\n" + "".join(f"*** Add File: {path}\n+x\n" for path in paths) + "*** End Patch"
    expected = [PatchedFile(path, "add") for path in paths]
    assert patched_files(text) == expected
    assert files_of(list(shell_patches(["bash", "-lc", f"apply_patch <<'E_O_F'\n{text}\nE_O_F"]))) == expected
    assert files_of(list(script_patches(f"tools.apply_patch({json.dumps(text)})"))) == expected


@given(st.text(alphabet="*\n +-@'\"`\\<EOFapply_tch&;cd /BeginPUdFl:|{}x", max_size=200))
def test_no_text_makes_reading_a_patch_fail(noise: str) -> None:
    for text in (
        noise,
        f"apply_patch '*** Begin Patch{noise}",
        f"`*** Begin Patch{noise}*** Begin Patch\n`apply_patch",
    ):
        patched_files(text)
        shell_patches(text)
        script_patches(text)
        unified_diff_files(text)
