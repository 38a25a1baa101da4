"""Programs that print, cut and count text. They are the filters of pipelines."""

import re

from safety.commands.grammar import Parsed
from safety.commands.languages.awk import awk_is_endless, check_awk
from safety.commands.languages.escapes import refuse_computed_escapes, refuse_escapes
from safety.commands.languages.jq import check_jq, check_yq, jq_is_endless
from safety.commands.languages.sed import check_sed, quits_early, sed_is_endless
from safety.commands.policy import Table, reads, with_names
from safety.commands.refusal import Refused

_COUNT = r"=/[+-]?\d+[A-Za-z]*/"
_SIZE = r"=/\d+[A-Za-z]*/"
_COMMON = "--help --version"
_GREP = """
    -[abcEFGhHiIlLnoPqrRsTUvVwxyzZ] -e=- -f=@ -m=/\\d+/ -A=/\\d+/ -B=/\\d+/ -C=/\\d+/ -d= -D=
    --regexp=- --file=@ --max-count=/\\d+/ --after-context= --before-context= --context=
    --binary-files= --devices= --directories= --color=? --colour=? --include= --exclude=
    --exclude-dir= --exclude-from=@ --label= --ignore-case --no-ignore-case --invert-match
    --word-regexp --line-regexp --count --files-with-matches --files-without-match --only-matching
    --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number
    --initial-tab --null --text --recursive --dereference-recursive --extended-regexp
    --fixed-strings --basic-regexp --perl-regexp --line-buffered --null-data
"""
_RG = """
    -[acFhHiIlLnNopPqsSUuvwx0] -e=- -f=@ -A= -B= -C= -g= -m= -M= -t= -T= -d= -r= -E= -j= --type=
    --type-not= --glob= --iglob= --max-count= --max-depth= --max-columns= --max-filesize=
    --context= --after-context= --before-context= --regexp=- --file=@ --json --files --stats
    --sort= --sortr= --color= --heading --no-heading --hidden --no-ignore --multiline --pcre2
    --smart-case --ignore-case --fixed-strings --word-regexp --line-regexp --count --count-matches
    --files-with-matches --files-without-match --only-matching --invert-match --line-number
    --no-line-number --with-filename --no-filename --follow --text --trim --replace= --no-config
    --quiet --no-messages --encoding= --passthru --vimgrep --column --null
"""
_SORT = """
    -[bdfghiMnRrVcCmsuz] -k= -t= -S= --key= --field-separator= --buffer-size= --sort=
    --batch-size= --parallel= --check=? --ignore-leading-blanks
    --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort
    --month-sort --random-sort --reverse --version-sort --merge --stable --unique
    --zero-terminated --debug
"""
_JQ = """
    -[cCeMnrRsSaj] --arg== --argjson== --indent= --tab --stream --seq --exit-status --compact-output
    --raw-output --raw-input --slurp --null-input --sort-keys --color-output --monochrome-output
    --join-output --ascii-output --unbuffered
"""
_SUMS = """
    -[bctwz] --check --tag --text --binary --quiet --status --ignore-missing --strict --warn --zero
"""


def _takes_few(parsed: Parsed) -> bool:
    """`head` ends its input early, unless it was told to leave out the end (`-n -5`)."""
    given = parsed.values("-n", "-c", "--lines", "--bytes")
    return not any(value.startswith("-") for value in given)


def _has_maximum(parsed: Parsed) -> bool:
    return parsed.has("-m", "--max-count")


def _check_awk(parsed: Parsed) -> None:
    if any(word.startswith("/inet") for word in parsed.words[1:]):
        raise Refused("awk would take a connection for a file")
    check_awk(parsed.words[0])
    values = [word for word in parsed.words[1:] if "=" in word]
    refuse_computed_escapes((*parsed.values("-v", "--assign"), *values))


def _awk_is_endless(parsed: Parsed) -> bool:
    return awk_is_endless(parsed.words[0])


def _scripts(parsed: Parsed) -> tuple[str, ...]:
    return parsed.values("-e", "--expression") or parsed.words[:1]


def _check_sed(parsed: Parsed) -> None:
    scripts = _scripts(parsed)
    if not scripts:
        raise Refused("sed lacks a script")
    for script in scripts:
        check_sed(script)


def _quits(parsed: Parsed) -> bool:
    return any(quits_early(script) for script in _scripts(parsed))


def _sed_is_endless(parsed: Parsed) -> bool:
    return any(sed_is_endless(script) for script in _scripts(parsed))


def _check_jq(parsed: Parsed) -> None:
    check_jq(parsed.words[0] if parsed.words else ".")
    refuse_escapes((*parsed.values("--arg", "--argjson"), *parsed.words[:1]))


def _jq_is_endless(parsed: Parsed) -> bool:
    return jq_is_endless(parsed.words[0] if parsed.words else ".")


def _check_yq(parsed: Parsed) -> None:
    for word in parsed.words:
        check_yq(word)
    refuse_escapes(parsed.words)


def _check_tr(parsed: Parsed) -> None:
    # What it prints, not what it looks for.
    refuse_escapes(parsed.words[1:])
    if any(re.search(r"\\[0-7]+-|-\\[0-7]", word) for word in parsed.words[1:]):
        raise Refused("a range of characters by their numbers can hold what steers a terminal")


def _check_unpack(parsed: Parsed) -> None:
    if parsed.has("-c", "--stdout", "--to-stdout"):
        return
    if not parsed.has("-t", "-l", "--test", "--list"):
        raise Refused("it would replace the file; give -c, -l or -t")
    # Of several modes some programs take the last one.
    if parsed.has("-d", "--decompress", "--uncompress"):
        raise Refused("it is told to test or list and to unpack, which would replace the file")


def _check_strings(parsed: Parsed) -> None:
    if any(word.startswith("@") for word in parsed.words):
        raise Refused("its arguments would be read from a file")


TEXT: Table = {
    "cat": reads(
        f"""-[AbeEnstTuv] --number --number-nonblank --show-all --show-ends --show-nonprinting
        --show-tabs --squeeze-blank {_COMMON}""",
        files_from=0,
        is_filter=True,
    ),
    "tac": reads(
        f"-[br] -s= --separator= --before --regex {_COMMON}", files_from=0, is_filter=True
    ),
    "head": reads(
        f"-[qvz] -n{_COUNT} -c{_COUNT} --lines{_COUNT} --bytes{_COUNT} --quiet --silent --verbose "
        f"--zero-terminated {_COMMON}",
        numbers=True,
        files_from=0,
        is_filter=True,
        stops_after=_takes_few,
    ),
    "tail": reads(
        f"-[fFqvz] -n{_COUNT} -c{_COUNT} -s= --lines{_COUNT} --bytes{_COUNT} --follow=? --pid= "
        f"--retry --sleep-interval= --quiet --silent --verbose --zero-terminated {_COMMON}",
        numbers=True,
        files_from=0,
        is_filter=True,
        endless="-f -F --follow",
    ),
    **with_names(
        "grep egrep fgrep zgrep zegrep zfgrep",
        reads(
            f"{_GREP} {_COMMON}",
            numbers=True,
            files_from=1,
            pattern_options="-e -f --regexp --file",
            word=r"[^\n]*",
            recursive="-r -R --recursive --dereference-recursive -d --directories",
            name_patterns="--include",
            is_filter=True,
            stops_after=_has_maximum,
        ),
    ),
    "rg": reads(
        f"{_RG} {_COMMON}",
        numbers=False,
        files_from=1,
        pattern_options="-e -f --regexp --file --files",
        name_patterns="-g --glob --iglob",
        recursive=True,
        is_filter=True,
    ),
    "sort": reads(f"{_SORT} {_COMMON}", files_from=0, is_filter=True),
    # The second word is written to.
    "uniq": reads(
        f"""-[cdDiuz] -f= -s= -w= --count --repeated --unique --all-repeated=? --group=?
        --ignore-case --skip-fields= --skip-chars= --check-chars= --zero-terminated {_COMMON}""",
        words=(0, 1),
        mixes=False,
        files_from=0,
        is_filter=True,
    ),
    "cut": reads(
        f"""-[nsz] -b= -c= -d=- -f=- --complement --bytes= --characters= --delimiter=- --fields=-
        --output-delimiter=- --only-delimited --zero-terminated {_COMMON}""",
        files_from=0,
        is_filter=True,
    ),
    "paste": reads(
        f"-[sz] -d=- --delimiters=- --serial --zero-terminated {_COMMON}",
        formats="-d --delimiters",
        files_from=0,
        is_filter=True,
    ),
    "join": reads(
        f"-[iz] -a= -e= -j= -o= -t= -v= -1= -2= --header --check-order --nocheck-order {_COMMON}",
        words=(2, 2),
        files_from=0,
        is_filter=True,
    ),
    "comm": reads(
        f"-[123z] --check-order --nocheck-order --total --output-delimiter= {_COMMON}",
        words=(2, 2),
        files_from=0,
        is_filter=True,
    ),
    "tr": reads(
        f"-[cCdst] --complement --delete --squeeze-repeats --truncate-set1 {_COMMON}",
        words=(1, 2),
        mixes=False,
        is_filter=True,
        check=_check_tr,
    ),
    "wc": reads(
        f"""-[clLmw] --bytes --chars --lines --words --max-line-length --files0-from=@ --total=
        {_COMMON}""",
        files_from=0,
        is_filter=True,
    ),
    "nl": reads(
        f"-p -b= -d= -f= -h= -i= -l= -n= -s= -v= -w= {_COMMON}", files_from=0, is_filter=True
    ),
    "fold": reads(
        f"-[bs] -w= --bytes --spaces --width= {_COMMON}", numbers=True, files_from=0, is_filter=True
    ),
    "fmt": reads(f"-[cstu] -w= -p= -g= {_COMMON}", numbers=True, files_from=0, is_filter=True),
    **with_names(
        "expand unexpand",
        reads(f"-[ai] -t= --tabs= --initial --all {_COMMON}", files_from=0, is_filter=True),
    ),
    "column": reads(
        """-[tenxJLdr] -s= -c= -o= -N= -R= -H= -O= -T= --table --separator=
        --output-separator= --table-columns= --json --help""",
        files_from=0,
        is_filter=True,
    ),
    "rev": reads(_COMMON, files_from=0, is_filter=True),
    "tsort": reads(_COMMON, words=(0, 1), files_from=0, is_filter=True),
    "shuf": reads(
        "-[rz] -n= -i= --head-count= --input-range= --repeat",
        words=(0, 1),
        endless="-r --repeat",
        ends="-n --head-count",
        files_from=0,
        is_filter=True,
    ),
    "od": reads(
        f"-[abcdfilosvx] -w=? -A= -j{_SIZE} -N{_SIZE} -t= --address-radix= --skip-bytes= "
        f"--read-bytes= "
        f"--format= --output-duplicates --width=? {_COMMON}",
        files_from=0,
        is_filter=True,
        stops_after=lambda parsed: parsed.has("-N", "--read-bytes"),
    ),
    # Its options are read by their beginning, and its second word is written to.
    "xxd": reads(
        f"-a -b -e -i -u -p -E -c{_SIZE} -g{_SIZE} -l{_SIZE} -s{_COUNT}",
        clusters=False,
        words=(0, 1),
        mixes=False,
        dashes=False,
        files_from=0,
        is_filter=True,
        stops_after=lambda parsed: parsed.has("-l"),
    ),
    **with_names(
        "hexdump hd",
        reads(
            f"-[bcCdovx] -n{_SIZE} -s{_SIZE} -e=",
            formats="-e",
            files_from=0,
            is_filter=True,
            stops_after=lambda parsed: parsed.has("-n"),
        ),
    ),
    "strings": reads(
        f"-[afow] -n= -t= -e= --bytes= --radix= --encoding= --all {_COMMON}",
        numbers=True,
        files_from=0,
        check=_check_strings,
        is_filter=True,
    ),
    "readelf": reads("-[adhlnrsSVW] --wide --all", words=(1, 5), files_from=0),
    "nm": reads("-[aDgnpruCS] --dynamic --defined-only", words=(1, 5), files_from=0),
    "objdump": reads("-[fhpTtx]", words=(1, 5), files_from=0),
    **with_names(
        "base64 base32",
        reads(
            f"-[di] -w= --decode --ignore-garbage --wrap= {_COMMON}",
            words=(0, 1),
            files_from=0,
            is_filter=True,
        ),
    ),
    **with_names(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum",
        reads(f"{_SUMS} {_COMMON}", files_from=0, is_filter=True),
    ),
    **with_names(
        "cksum sum", reads(f"-[rs] -a= --algorithm= {_COMMON}", files_from=0, is_filter=True)
    ),
    "shasum": reads("-[bctU0] -a=/\\d+/ --check --algorithm=/\\d+/", files_from=0, is_filter=True),
    "cmp": reads(
        f"-[bls] -n= -i= --print-bytes --verbose --quiet --silent --bytes= --ignore-initial= "
        f"{_COMMON}",
        words=(1, 4),
        files_from=0,
        is_filter=True,
    ),
    "diff": reads(
        f"""-[abBcdeEiHlnNpqrstTuwyZ] -U= -C= -I= -x= -F= -W= -X=@ --brief --report-identical-files
        --recursive --unified=? --context=? --side-by-side --ignore-case --ignore-all-space
        --ignore-space-change --ignore-blank-lines --ignore-trailing-space --suppress-common-lines
        --color=? --exclude= --label= --width= --new-file --text --strip-trailing-cr --minimal
        --no-dereference {_COMMON}""",
        words=(2, 2),
        files_from=0,
        # Of two directories it compares the files, also without an option.
        recursive=True,
        is_filter=True,
    ),
    "jq": reads(
        f"{_JQ} {_COMMON}",
        files_from=1,
        is_filter=True,
        check=_check_jq,
        is_endless=_jq_is_endless,
    ),
    "yq": reads(
        "-[rCMNPye] -o= -p= --output-format= --input-format= --raw-output --prettyPrint --no-doc",
        words=(0, 20),
        files_from=1,
        is_filter=True,
        check=_check_yq,
    ),
    **with_names(
        "awk gawk mawk nawk",
        reads(
            "-F=- -v= --field-separator=- --assign=",
            words=(1, 1000),
            files_from=1,
            mixes=False,
            is_filter=True,
            is_conditional=True,
            check=_check_awk,
            is_endless=_awk_is_endless,
        ),
    ),
    "sed": reads(
        """-[nErsuz] -e=- -l= --expression=- --quiet --silent --regexp-extended --separate
        --unbuffered --null-data --posix --sandbox""",
        files_from=1,
        pattern_options="-e --expression",
        mixes=False,
        is_filter=True,
        is_conditional=True,
        check=_check_sed,
        is_endless=_sed_is_endless,
        stops_after=_quits,
    ),
    **with_names("zcat bzcat xzcat zstdcat lz4cat", reads("-[fqv]", files_from=0, is_filter=True)),
    **with_names(
        "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd",
        reads(
            """-[cdltvqn] --stdout --to-stdout --decompress --uncompress --list --test --verbose
            --quiet""",
            files_from=0,
            is_filter=True,
            check=_check_unpack,
        ),
    ),
    "numfmt": reads(
        "-d= --to= --from= --field= --format= --suffix= --padding= --header=? --round= --grouping",
        is_filter=True,
    ),
}
