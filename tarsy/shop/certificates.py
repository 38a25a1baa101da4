"""The shop's own authority and the certificates that it gives out."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tarsy.shop.layout import HOST, Layout, write_whole

_PEM = serialization.Encoding.PEM


def make_authority(layout: Layout) -> None:
    """Make the authority anew."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("The shop's authority")
    builder = _builder(name, name, key.public_key(), timedelta(days=3650)).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    certificate = builder.sign(key, hashes.SHA256())
    write_whole(_key_file(layout), _key_text(key), mode=0o600)
    write_whole(layout.authority, certificate.public_bytes(_PEM).decode())


def issue_certificate(layout: Layout, lasting: timedelta) -> None:
    """Give the web service a certificate and a key, in one file."""
    authority = x509.load_pem_x509_certificate(layout.authority.read_bytes())
    loaded = serialization.load_pem_private_key(_key_file(layout).read_bytes(), password=None)
    assert isinstance(loaded, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    address = x509.IPAddress(ipaddress.ip_address(HOST))
    certificate = (
        _builder(_name("shop-web"), authority.subject, key.public_key(), lasting)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(loaded.public_key()), critical=False
        )
        .sign(loaded, hashes.SHA256())
    )
    text = certificate.public_bytes(_PEM).decode() + _key_text(key)
    write_whole(layout.certificate, text, mode=0o600)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lasting: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + lasting)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _key_file(layout: Layout) -> Path:
    return layout.authority.with_name("authority.key")


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    plain = serialization.NoEncryption()
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, plain).decode()
