# SPDX-License-Identifier: Apache-2.0
"""python3 tools/wheel.py BUILD FOLDER - makes a Python wheel with the program inside.

BUILD is a build folder of this tree whose component `program` is installed into the wheel, beside
the package python/rocesim. Libraries that glibc does not have come along, in rocesim/libs, with
their licences. The same build gives the same bytes: the files have the time SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

# Libraries that every Linux with this glibc has.
SYSTEM = re.compile(r"^(lib(c|m|dl|pthread|rt|resolv)\.so|ld-linux|linux-vdso)")
ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = ("share/man", "share/bash-completion", "share/zsh", "share/doc")


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program: Path) -> dict[str, Path]:
    """Returns the libraries of the program by their names, but for those of the system."""
    found = {}
    for line in output("ldd", str(program)).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match and not SYSTEM.match(match[1]):
            found[match[1]] = Path(match[2])
    return found


def glibc(files: list[Path]) -> tuple[int, int]:
    """Returns the newest version of glibc that the files need."""
    versions = [(2, 17)]
    for file in files:
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", str(file))):
            versions.append((int(version[0]), int(version[1])))
    return max(versions)


def licence(library: Path) -> tuple[str, Path] | None:
    """Returns the Debian package of a library, and the file of its licence."""
    path = str(library.resolve())
    for name in (path, path.removeprefix("/usr")):  # packages name files from before /lib was /usr/lib
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            package = done.stdout.split(":")[0]
            text = Path("/usr/share/doc") / package / "copyright"
            return (package, text) if text.exists() else None
    return None


def files_of(build: Path, stage: Path) -> dict[str, Path]:
    """Returns the files of the wheel by their names in it."""
    subprocess.run(
        ["cmake", "--install", str(build), "--component", "program", "--strip", "--prefix", str(stage)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    names = {}
    for path in sorted((ROOT / "python" / "rocesim").rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            names[f"rocesim/{path.relative_to(ROOT / 'python' / 'rocesim')}"] = path
    for path in sorted(stage.rglob("*")):
        inside = str(path.relative_to(stage))
        if path.is_file() and not inside.startswith(LEFT_OUT):
            names[f"rocesim/{inside}"] = path
    for name, path in libraries(stage / "bin" / "rocesim").items():
        names[f"rocesim/libs/{name}"] = path.resolve()
    return names


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: python3 tools/wheel.py BUILD FOLDER", file=sys.stderr)
        return 2
    build, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315619200))[:6]
    stage = Path(tempfile.mkdtemp(prefix="rocesim-wheel-"))
    try:
        names = files_of(build, stage)
        binary = [path for path in names.values() if path.read_bytes()[:4] == b"\x7fELF"]
        major, minor = glibc(binary)
        tag = f"py3-none-manylinux_{major}_{minor}_{os.uname().machine}"
        info = f"rocesim-{version}.dist-info"
        contents = {name: path.read_bytes() for name, path in names.items()}
        for path in (path for name, path in names.items() if name.startswith("rocesim/libs/")):
            found = licence(path)
            if found:
                contents[f"{info}/licenses/{found[0]}.copyright"] = found[1].read_bytes()
        contents[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
        project = (ROOT / "python" / "pyproject.toml").read_text()
        summary = re.search(r'^description = "(.*)"', project, re.M)[1]
        contents[f"{info}/METADATA"] = (
            f"Metadata-Version: 2.1\nName: rocesim\nVersion: {version}\nSummary: {summary}\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\n"
            "Provides-Extra: frames\nRequires-Dist: pandas>=1.5; extra == 'frames'\n"
            "Provides-Extra: figures\nRequires-Dist: matplotlib>=3.6; extra == 'figures'\n"
        ).encode()
        contents[f"{info}/WHEEL"] = (
            f"Wheel-Version: 1.0\nGenerator: rocesim {version}\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ).encode()
        contents[f"{info}/entry_points.txt"] = b"[console_scripts]\nrocesim = rocesim.program:main\n"
        record = f"{info}/RECORD"
        lines = [record_line(name, data) for name, data in sorted(contents.items())]
        contents[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()
        folder.mkdir(parents=True, exist_ok=True)
        wheel = folder / f"rocesim-{version}-{tag}.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(contents):
                entry = zipfile.ZipInfo(name, moment)
                executable = name in names and os.access(names[name], os.X_OK)
                entry.external_attr = (0o100755 if executable else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, contents[name])
        print(wheel)
    finally:
        shutil.rmtree(stage)
    return 0


if __name__ == "__main__":
    sys.exit(main())
