"""What `cat` masks is readable behind no proven command, whatever it makes of the text."""

import base64
import json
import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from masking import Placeholders, build_default_masker
from safety.commands import Screen, Withheld, prove, run_proven

KEY_LINES = "\n".join(
    base64.b64encode(random.Random(number).randbytes(48)).decode() for number in range(6)
)
FILES = {
    "app.env": "DB_HOST=db-1\nDB_PASSWORD=Hunter2-Secret-99x\nPORT=5432\n",
    "app.yaml": "database:\n  host: db-1\n  password: Hunter2-Secret-99x\nport: 5432\n",
    "app.json": json.dumps({"host": "db-1", "password": "Hunter2-Secret-99x", "port": 5432}) + "\n",
    "pretty.json": json.dumps({"db": {"host": "a", "apiKey": "zK8qv4Tn2LpW9xRb"}}, indent=2) + "\n",
    "app.ini": "[database]\nhost = db-1\npassword = Hunter2-Secret-99x\n",
    "pod.yaml": "env:\n  - name: DB_PASSWORD\n    value: Hunter2-Secret-99x\n"
    "  - name: A\n    value: b\n",
    "manifest.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n"
    f"  password: {base64.b64encode(b'Hunter2-Qui7kite-99x').decode()}\n",
    "service.txt": f"-----BEGIN PRIVATE KEY-----\n{KEY_LINES}\n-----END PRIVATE KEY-----\n",
    "url.properties": "db.url=postgres://app:Hunter2-Secret-99x@db-1:5432/shop\nport=1\n",
    "shell.txt": "mysql -u root -pHunter2-Secret-99x shop\nexit\n",
    "words.txt": "mysql\0--user=root\0--password\0Hunter2-Secret-99x\0shop\0",
}
SHAPES = """
    cat F | cut -c11-
    cut -c3- F
    cut -c5-30 F
    cut -b4-20 F
    cut -d= -f2 F
    cut -d: -f2- F
    cut -d: -f2 F | cut -c3-
    awk '{print $2}' F
    awk -F= '{print $2}' F
    awk -F: '{print $NF}' F
    awk '{print substr($0,8)}' F
    awk '{print toupper($0)}' F
    awk '{print length($0)}' F
    awk 'BEGIN{RS="="}{print}' F
    awk '{gsub(/[^=:]*[=:]/,"");print}' F
    awk 'NR==2' F
    awk '/assw/' F
    awk '{for(i=length($0);i>0;i--) printf "%s",substr($0,i,1); print ""}' F
    gawk '{print tolower($0)}' F
    sed -n 's/.*[=:] *//p' F
    sed 's/./& /g' F
    sed 's/assw//' F
    sed -n '2p' F
    sed -n '2,3p' F
    sed 'y/abcdefghij/klmnopqrst/' F
    sed -e 's/[a-z]*=//' -e 's/"//g' F
    grep -o '[^=: ]*$' F
    grep -oP '(?<=[=:]).*' F
    grep -oE '.{4}' F
    grep -o . F
    grep -ob '[A-Z0-9].*' F
    grep -h ue F
    grep -A1 name F
    grep -v host F
    grep -n Hunter2 F
    grep -c Hunter2-Secret F
    grep -zo 'H.*' F
    grep -rho 'H[^ ]*' D
    grep -rh value: D
    grep -r Hunter D
    head -c 40 F
    head -c 18 F
    head -n 3 F
    head -3 F | cut -c3-
    tail -c 20 F
    tail -c 9 F
    tail -n 2 F
    tail -n +2 F | head -c 30
    tail -1 F
    tac F
    tac -s = F
    rev F
    rev F | rev | cut -c4-
    xxd F
    xxd -p F
    xxd -b F
    xxd -u -c 7 F
    xxd -s 12 F
    xxd -i F
    od -c F
    od -An -tx1 F
    od -An -tu1 F
    od -An -td1 -v F
    od -b F
    od -a F
    hexdump -C F
    hexdump F
    hexdump -c F
    base64 F
    base64 -w0 F
    base32 F
    gzip -c F | base64
    xz -c F | xxd -p
    tr a-y b-z < F
    tr a-zA-Z n-za-mN-ZA-M < F
    tr -d '\\n' < F
    tr = ' ' < F | cut -c5-
    tr -d '[:punct:]' < F
    tr -s '[:alnum:]' < F
    tr '[:lower:]' '[:upper:]' < F
    tr '\\0' '\\n' < F
    tr -c '[:alnum:]' ' ' < F
    tr -cd '[:digit:]' < F
    paste -sd, F
    paste -d' ' F F
    paste F | cut -f1
    fold -w1 F
    fold -w 7 F
    fmt -w 5 F
    column -t F
    column -s= -t F
    expand F
    unexpand -a F
    nl F
    nl -ba F | awk '{print $3}'
    sort F
    sort -t= -k2 F
    sort -u F | rev
    uniq -s 4 F
    uniq -c F
    shuf F
    shuf -n 2 F
    strings -n 2 F
    strings -n 10 F
    join F F
    comm -12 F F
    comm --output-delimiter=x F /dev/null
    cmp -l F /etc/hostname
    cmp -bl F /etc/hostname
    diff F /dev/null
    diff -y F /dev/null
    diff -W 20 -y F /etc/hostname
    jq -r .password F
    jq -r '.. | strings' F
    jq -R . F
    jq -Rr '.[6:]' F
    jq -Rr 'explode | tostring' F
    jq -Rr '@base64' F
    jq -Rs 'split("=")' F
    jq -r '.password | ascii_downcase' F
    jq -c . F
    yq .password F
    yq -r '.database.password' F
    zgrep -o 'H.*' F
    zcat F.gz | cut -c8-
    zcat F.gz | xxd -p
    zgrep -oh '[H-Z].*' F.gz
    gzip -dc F.gz | tr a-z b-za
    wc F
    md5sum F
    cat F | wc -c
    cat F | head -2 | tail -1 | cut -c 4-
    cat F F | awk '{print $2}'
    cat F | tr -d '\\n' | fold -w 8
    cat F | base64 | base64 -d | cut -c6-
    cat < F | cut -c6-
    cut -c6- < F
    cat -A F
    cat -n F | cut -c12-
    timeout 5 cut -c4- F
    nice cut -c4- F
    stdbuf -o0 rev F
    time cut -c4- F
    echo x && cut -c4- F
    test -f F && head -c 30 F
    for i in 1 2; do cut -c4- F; done
    if grep -q a F; then cut -c4- F; fi
    cut -c4- F 2>&1
    cut -c4- /nowhere F
    cat F | xargs -n1 echo
    cat F | xargs -n1 echo | cut -c4-
    find D -type f | xargs grep -h value
    find D -type f | xargs grep -oh 'H.*'
    find D -type f | xargs tail -n 1
    find D -type f | xargs head -c 40
    printf 'x' | cat - F | cut -c3-
    numfmt --field=9 < F
"""
LINES = [line.strip() for line in SHAPES.strip().splitlines()]
assert len(LINES) >= 80


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files, each in a directory of its own, plain and packed."""
    import gzip

    root = tmp_path_factory.mktemp("read")
    for name, text in FILES.items():
        place = root / name.replace(".", "_")
        place.mkdir()
        (place / "f").write_text(text)
        (root / "packed").mkdir(exist_ok=True)
        (root / "packed" / f"{place.name}.gz").write_bytes(gzip.compress(text.encode()))
    return root


def _fill(shape: str, folder: Path, name: str) -> str:
    place = folder / name.replace(".", "_")
    packed = str(folder / "packed" / place.name)
    shape = re.sub(r"\bF\.gz(?!\w)", f"{packed}.gz", shape)
    shape = re.sub(r"\bF(?!\w)(?!=)(?<!-F)", str(place / "f"), shape)
    return re.sub(r"\bD(?!\w)", str(place), shape)


async def run_screened(command: str) -> str | None:
    """What a reader gets to see; None where it is withheld or not run at all."""
    proof = prove(command)
    if proof.script is None:
        return None
    screen = Screen(build_default_masker(Placeholders(after=1000)))
    try:
        finished = await run_proven(proof.script, seconds=20, max_bytes=60_000, screen=screen)
    except Withheld:
        return None
    text = (finished.stdout + finished.stderr).decode("utf-8", "replace")
    return build_default_masker().mask(text).text


def _secrets(name: str) -> list[str]:
    return list(build_default_masker().find_secrets(FILES[name].replace("\0", " ")))


def _readings(output: str) -> list[str]:
    """The output in every way in which somebody could read it back."""
    bare = re.sub(r"(?m)^[0-9a-f]{6,8}:? |  .{1,16}$|\|.*\|$", "", output)
    hexadecimal = re.sub(r"[^0-9a-f]", "", re.sub(r"0x", "", bare.lower()))
    texts = [output, output[::-1], "\n".join(line[::-1] for line in output.splitlines())]
    texts += [re.sub(r"\s", "", text) for text in texts]
    texts += [re.sub(r"(?m)^\s*[0-9:]+\s*", "", text).replace("\n", "") for text in texts[:1]]
    for codes in (hexadecimal, hexadecimal[1:]):
        texts.append(bytes.fromhex(codes[: len(codes) // 2 * 2]).decode("latin-1"))
    for base in (8, 10):
        numbers = re.findall(r"\b[0-9]{1,3}\b", output)
        texts.append(
            "".join(chr(int(n, base)) for n in numbers if not (base == 8 and set(n) & set("89")))
        )
    packed = re.sub(r"\s", "", output)
    for decode in (base64.b64decode, base64.b32decode):
        for text in (packed, *output.split()):
            try:
                texts.append(decode(text + "=" * (-len(text) % 8)).decode("latin-1"))
            except ValueError:
                continue
    shifted = str.maketrans(
        string.ascii_letters,
        "".join(a[13:] + a[:13] for a in (string.ascii_lowercase, string.ascii_uppercase)),
    )
    back = str.maketrans(string.ascii_lowercase[1:], string.ascii_lowercase[:-1])
    texts += [texts[0].translate(shifted), texts[0].translate(back)]
    return [re.sub(r"\[MASKED:\w+#\d+\]", "", text).lower() for text in texts]


def _pieces(secret: str, name: str) -> set[str]:
    """Five characters in a row of a secret that stand nowhere else in its file."""
    rest = FILES[name].replace(secret, " ").lower()
    pieces = {secret[i : i + 5].lower() for i in range(len(secret) - 4)}
    return {piece for piece in pieces if piece not in rest and re.search(r"\w{3}", piece)}


def find_leaks(output: str, name: str) -> list[str]:
    readings = _readings(output)
    return [
        piece
        for secret in _secrets(name)
        for piece in _pieces(secret, name)
        if any(piece in reading for reading in readings)
    ]


@pytest.mark.parametrize("name", FILES)
async def test_no_piece_of_what_cat_masks_is_readable_behind_any_shape(folder, name):
    assert _secrets(name)

    leaks = {}
    for shape in LINES:
        command = _fill(shape, folder, name)
        output = await run_screened(command)
        if output is not None and (found := find_leaks(output, name)):
            leaks[shape] = (found[:3], output[:200])

    assert leaks == {}


async def test_nearly_all_shapes_run_and_are_not_just_withheld(folder):
    outputs = {shape: await run_screened(_fill(shape, folder, "app.env")) for shape in LINES}

    assert [shape for shape, output in outputs.items() if output is None] == [
        "grep -rho 'H[^ ]*' D",
        "find D -type f | xargs grep -oh 'H.*'",
        "find D -type f | xargs head -c 40",
    ]


async def test_without_secrets_every_shape_prints_what_the_program_prints(tmp_path):
    (tmp_path / "f").write_text("host=db-1\nport=5432\n")

    for shape in LINES:
        proof = prove(shape.replace("D ", f"{tmp_path} ").replace(" F", f" {tmp_path}/f"))
        if proof.script is None or "shuf" in shape or ".gz" in shape:
            continue
        plain = await run_proven(proof.script, seconds=20, max_bytes=60_000)
        screen = Screen(build_default_masker())
        assert await run_proven(proof.script, seconds=20, max_bytes=60_000, screen=screen) == plain


STAGES = [
    stage
    for stage in (re.sub(r" (?:< )?F\b.*", "", shape) for shape in LINES if " F" in shape)
    if prove(f"cat /srv/x | {stage}").may_run
]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(sorted(FILES)),
    first=st.sampled_from([shape for shape in LINES if " F" in shape and "D" not in shape]),
    rest=st.lists(st.sampled_from(STAGES), max_size=3),
)
@pytest.mark.asyncio
async def test_no_piece_is_readable_behind_random_pipelines(folder, name, first, rest):
    command = " | ".join((_fill(first, folder, name), *rest))

    output = await run_screened(command)

    assert output is None or find_leaks(output, name) == []
