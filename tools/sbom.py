# SPDX-License-Identifier: Apache-2.0
"""python3 tools/sbom.py VERSION FOLDER - prints what the files of a release in FOLDER are made of.

The document is SPDX 2.3 as JSON. It lists rocesim, the libraries that its build links with their Debian
versions, and each file with its checksum. It is the same for the same release.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

# Debian packages of the libraries that the programs link (cmake/rocesim-packages.cmake).
LINKED = {
    "libc6": "LGPL-2.1-or-later",
    "libpcap0.8": "BSD-3-Clause",
    "libexpat1": "MIT",
    "zlib1g": "Zlib",
    "libfyaml0": "MIT",
    "libjansson4": "MIT",
    "libmetis5": "Apache-2.0",
    "libopenmpi3": "BSD-3-Clause",
    "libmicrohttpd12": "LGPL-2.1-or-later",
    "libsqlite3-0": "blessing",
    "libsodium23": "ISC",
}


def debian_version(package: str) -> str | None:
    done = subprocess.run(
        ["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, check=False
    )
    return done.stdout or None


def package(name: str, version: str, licence: str, purl: str) -> dict:
    return {
        "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        ],
    }


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: python3 tools/sbom.py VERSION FOLDER", file=sys.stderr)
        return 2
    version, folder = sys.argv[1], Path(sys.argv[2])
    packages = [package("rocesim", version, "Apache-2.0", f"pkg:generic/rocesim@{version}")]
    for name, licence in LINKED.items():
        found = debian_version(name)
        if found:
            packages.append(package(name, found, licence, f"pkg:deb/debian/{name}@{found}"))
    files = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or name.endswith((".gpg", "InRelease", ".spdx.json", "SHA256SUMS")):
            continue
        data = path.read_bytes()
        files.append(
            {
                "SPDXID": f"SPDXRef-File-{len(files) + 1}",
                "fileName": f"./{name}",
                "checksums": [
                    {"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()},
                ],
                "licenseConcluded": "NOASSERTION",
                "copyrightText": "NOASSERTION",
            }
        )
    whole = hashlib.sha256("".join(f["checksums"][1]["checksumValue"] for f in files).encode()).hexdigest()
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))
    relations = [
        {
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": "SPDXRef-rocesim",
        }
    ]
    for one in packages[1:]:
        relations.append(
            {
                "spdxElementId": "SPDXRef-rocesim",
                "relationshipType": "DYNAMIC_LINK",
                "relatedSpdxElement": one["SPDXID"],
            }
        )
    for file in files:
        relations.append(
            {
                "spdxElementId": file["SPDXID"],
                "relationshipType": "GENERATED_FROM",
                "relatedSpdxElement": "SPDXRef-rocesim",
            }
        )
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"rocesim-{version}",
        "documentNamespace": f"https://rocesim.example/spdx/rocesim-{version}-{whole[:16]}",
        "creationInfo": {"created": created, "creators": [f"Tool: rocesim-{version}-tools-sbom"]},
        "packages": packages,
        "files": files,
        "relationships": relations,
    }
    print(json.dumps(document, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
