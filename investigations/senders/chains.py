"""Whether a certificate that signs for Amazon SNS was given by an authority that we trust.

At the address that a message names lies the certificate alone. Who gave it is fetched from the
authority of Amazon, once a day, and believed only as far as a root of ours vouches for it.
"""

import re
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache

import httpx
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import DNSName, NameOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from investigations.runbooks.addresses import Address, Unavailable
from investigations.senders.proofs import Refused

Fetch = Callable[[Address], bytes]
"""The body at an address; raises Unavailable."""

_SMALLEST_KEY = 2048
_MOST_IN_FILE = 5
_MOST_DEEP = 3
_AUTHORITY = "www.amazontrust.com"
_NO_NAMES = (
    x509.ExtensionNotFound, x509.DuplicateExtension, x509.UnsupportedGeneralNameType, ValueError,
)  # fmt: skip
"""What is raised of a certificate that names nobody, or in a way that cannot be read."""
_NAME_OF_ISSUER = re.compile(r"Amazon [A-Za-z0-9 ]{1,60}", re.ASCII)


def read_key(
    pem: bytes, moment: datetime, names: Iterable[str], fetch: Fetch, roots: Store
) -> RSAPublicKey:
    """The key of a certificate for one of these names, which holds at the moment.

    Raises Refused, and Unavailable where its issuer cannot be fetched.
    """
    try:
        leaf, *others = x509.load_pem_x509_certificates(pem)[:_MOST_IN_FILE]
        key = leaf.public_key()
    except (ValueError, UnsupportedAlgorithm):
        raise Refused("certificate", "the certificate of Amazon cannot be read") from None
    if not leaf.not_valid_before_utc <= moment <= leaf.not_valid_after_utc:
        raise Refused("certificate", "the certificate of Amazon does not hold now")
    if not isinstance(key, RSAPublicKey) or key.key_size < _SMALLEST_KEY:
        raise Refused("certificate", "the certificate of Amazon has no RSA key of 2,048 bits")
    name = _find_name(leaf, names)
    _verify(leaf, others or _fetch_issuer(leaf, fetch), name, moment, roots)
    return key


@cache
def public_roots() -> Store:
    """Those that this process trusts wherever it fetches something: of `SSL_CERT_FILE`, else the
    usual ones."""
    return Store(list(_readable(httpx.create_ssl_context())))


def _readable(context: ssl.SSLContext) -> Iterator[x509.Certificate]:
    """Without those whose form is not what the standard says; nobody signs for Amazon with them.

    The usual fault, a serial number of 0, is looked for beforehand: to read such a certificate
    warns, and how this process is warned is not ours to change while other threads run.
    """
    told = context.get_ca_certs()
    for facts, der in zip(told, context.get_ca_certs(binary_form=True), strict=True):
        if int(str(facts["serialNumber"]), 16) <= 0:
            continue
        try:
            yield x509.load_der_x509_certificate(der)
        except (ValueError, Warning):
            continue


def _find_name(leaf: x509.Certificate, names: Iterable[str]) -> str:
    try:
        told = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        own = set(told.get_values_for_type(DNSName))
    except _NO_NAMES:
        own = set()
    name = next((each for each in names if each in own), "")
    if not name:
        raise Refused("certificate", "the certificate is none of Amazon SNS in this region")
    return name


def _fetch_issuer(leaf: x509.Certificate, fetch: Fetch) -> Sequence[x509.Certificate]:
    """None of an issuer that is no authority of Amazon; a root of ours may have given it."""
    named = leaf.issuer.get_attributes_for_oid(NameOID.COMMON_NAME)
    name = str(named[0].value) if named else ""
    if not _NAME_OF_ISSUER.fullmatch(name):
        return []
    pem = fetch(Address(_AUTHORITY, f"/repository/{name.replace(' ', '-')}.pem"))
    try:
        return x509.load_pem_x509_certificates(pem)[:_MOST_IN_FILE]
    except ValueError:
        raise Unavailable("has an issuer whose own certificate cannot be read") from None


def _verify(
    leaf: x509.Certificate,
    others: Sequence[x509.Certificate],
    name: str,
    moment: datetime,
    roots: Store,
) -> None:
    policy = PolicyBuilder().store(roots).time(moment).max_chain_depth(_MOST_DEEP)
    try:
        policy.build_server_verifier(DNSName(name)).verify(leaf, list(others))
    except VerificationError:
        told = "the certificate was given by nobody that is trusted here"
        raise Refused("certificate", told) from None
