"""Key files and signatures: what holds, for which purpose, and which files are refused."""

import os
import pickle
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ed448, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as some

from equipoise.errors import InvalidParameter, KeyRefused, OutputRefused
from equipoise.keys import PrivateKey, fingerprint, new_key, private_key, public_key, sign, verify
from equipoise.keys.files import LARGEST_KEY_FILE
from equipoise.keys.signatures import is_weak, statement

PURPOSE = "application/vnd.equipoise.test.v1+json"
PASSPHRASE = "a rather long sentence"  # noqa: S105  (of keys that live as long as a test)


@pytest.fixture
def path(tmp_path) -> Path:
    new_key(tmp_path / "owner.key")
    return tmp_path / "owner.key"


def test_a_signature_holds_for_its_key_purpose_and_message_and_for_nothing_else(path, tmp_path):
    other = new_key(tmp_path / "other.key")
    public = public_key(path.with_name("owner.key.pub"))
    signature = sign(private_key(path), PURPOSE, b"message")
    assert verify(public, PURPOSE, b"message", signature)
    assert not verify(other, PURPOSE, b"message", signature)
    assert not verify(public, PURPOSE.replace("v1", "v2"), b"message", signature)
    assert not verify(public, PURPOSE, b"message ", signature)
    for place in (0, 31, 32, 63):
        forged = bytearray(signature)
        forged[place] ^= 1
        assert not verify(public, PURPOSE, b"message", bytes(forged))
    for odd in (b"", signature[:-1], signature + b"\0"):
        assert not verify(public, PURPOSE, b"message", odd)
    for odd in (b"", public[:-1], public + b"\0"):
        assert not verify(odd, PURPOSE, b"message", signature)


@given(some.tuples(some.text(), some.binary()), some.tuples(some.text(), some.binary()))
def test_no_two_statements_are_the_same_bytes(first, second):
    assert (statement(*first) == statement(*second)) is (first == second)


def test_a_purpose_and_a_message_cannot_trade_letters():
    for between in ("", "0 ", "1 "):
        assert statement("a", f"b {between}c".encode()) != statement(f"a {between}b", b"c")


@pytest.mark.parametrize("purpose", ["", " ", "two words", "größe", "a\nb"])
def test_a_purpose_that_people_cannot_read_is_refused(path, purpose):
    with pytest.raises(InvalidParameter, match="media type"):
        sign(private_key(path), purpose, b"message")


def test_a_point_for_which_anybody_can_sign_is_no_key(tmp_path):
    # Of order 1: R = B^0 and s = 0 satisfy the equation for every message.
    weak, signature = bytes([1] + 31 * [0]), bytes([1] + 63 * [0])
    Ed25519PublicKey.from_public_bytes(weak).verify(signature, statement(PURPOSE, b"anything"))
    assert is_weak(weak)
    assert not verify(weak, PURPOSE, b"anything", signature)
    file = tmp_path / "weak.pub"
    pem = form.PublicFormat.SubjectPublicKeyInfo
    file.write_bytes(Ed25519PublicKey.from_public_bytes(weak).public_bytes(form.Encoding.PEM, pem))
    with pytest.raises(KeyRefused, match="anybody can sign"):
        public_key(file)


def test_every_point_of_small_order_is_weak_however_it_is_written():
    prime, eighth = 2**255 - 19, bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
    root = int.from_bytes(eighth, "little")
    ordinates = {0, 1, prime - 1, root, prime - root, prime, prime + 1}
    for y in ordinates:
        for sign_of_x in (0, 1):
            assert is_weak((y | sign_of_x << 255).to_bytes(32, "little"))
    assert not is_weak(bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))


def test_a_fingerprint_can_be_read_out_and_tells_keys_apart(path, tmp_path):
    mine, other = public_key(path.with_name("owner.key.pub")), new_key(tmp_path / "other.key")
    assert fingerprint(mine) != fingerprint(other)
    groups = fingerprint(mine).split("-")
    assert [len(group) for group in groups] == [4] * 5
    assert set("".join(groups)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")


def test_a_new_key_is_for_its_owner_alone_whatever_the_mask(tmp_path):
    former = os.umask(0)
    try:
        new_key(tmp_path / "owner.key")
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "owner.key").stat().st_mode) == 0o600
    assert private_key(tmp_path / "owner.key").public == public_key(tmp_path / "owner.key.pub")


@pytest.mark.parametrize("taken", ["owner.key", "owner.key.pub"])
def test_an_existing_file_is_kept_and_no_half_pair_is_left(tmp_path, taken):
    (tmp_path / taken).write_text("kept")
    with pytest.raises(OutputRefused, match="exists"):
        new_key(tmp_path / "owner.key")
    assert [file.name for file in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "kept"


def test_a_key_is_not_written_through_a_link(tmp_path):
    (tmp_path / "owner.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputRefused, match="exists"):
        new_key(tmp_path / "owner.key")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OutputRefused, match="No such file"):
        new_key(tmp_path / "none" / "owner.key")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777, 0o610])
def test_a_private_key_that_others_can_use_is_refused_with_what_to_do(path, mode):
    path.chmod(mode)
    with pytest.raises(KeyRefused, match=f"mode {mode:o}.*chmod 600 .*owner.key"):
        private_key(path)
    path.chmod(0o600)
    private_key(path)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o702])
def test_a_private_key_in_a_folder_that_others_can_write_is_refused_with_what_to_do(path, mode):
    path.parent.chmod(mode)
    with pytest.raises(KeyRefused, match=f"mode {mode:o}.*chmod go-w {path.parent}"):
        private_key(path)
    with pytest.raises(KeyRefused, match="chmod go-w"):
        new_key(path.with_name("other.key"))
    assert not path.with_name("other.key").exists()
    public_key(path.with_name("owner.key.pub"))  # is compared by its fingerprint
    # Nobody replaces files of others where the folder is sticky.
    path.parent.chmod(mode | 0o1000)
    private_key(path)
    path.parent.chmod(0o755)
    private_key(path)


def test_a_private_key_of_somebody_else_is_refused(path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(KeyRefused, match="this is user 4711"):
        private_key(path)


def test_an_encrypted_key_opens_with_its_passphrase_alone_and_no_error_repeats_one(tmp_path):
    public = new_key(tmp_path / "owner.key", PASSPHRASE)
    assert b"ENCRYPTED" in (tmp_path / "owner.key").read_bytes()
    assert private_key(tmp_path / "owner.key", lambda: PASSPHRASE).public == public
    with pytest.raises(KeyRefused, match="does not open") as caught:
        private_key(tmp_path / "owner.key", lambda: "another long sentence")
    assert "sentence" not in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(KeyRefused, match="EQUIPOISE_KEY_PASSPHRASE"):
        private_key(tmp_path / "owner.key")


@pytest.mark.parametrize("passphrase", ["", "short", "fifteen letters"])
def test_a_short_passphrase_is_refused_and_not_repeated(tmp_path, passphrase):
    with pytest.raises(InvalidParameter, match="at least 16") as caught:
        new_key(tmp_path / "owner.key", passphrase)
    assert not passphrase or passphrase not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_plain_key_asks_for_no_passphrase(path):
    def never() -> str:
        raise AssertionError("it was asked")

    private_key(path, never)


def test_a_private_key_shows_its_fingerprint_and_is_never_pickled(path):
    key = private_key(path)
    assert repr(key) == f"PrivateKey({fingerprint(key.public)})"
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(key)


def private_pem(key) -> bytes:
    return key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())


def public_pem(key) -> bytes:
    return key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


OTHERS = {"RSA": rsa.generate_private_key(65537, 2048), "Ed448": ed448.Ed448PrivateKey.generate()}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_key_of_another_kind_is_refused(tmp_path, kind):
    file = tmp_path / "key"
    file.touch(0o600)
    file.write_bytes(private_pem(OTHERS[kind]))
    with pytest.raises(KeyRefused, match=f"another kind .*{kind}"):
        private_key(file)
    file.write_bytes(public_pem(OTHERS[kind]))
    with pytest.raises(KeyRefused, match=f"another kind .*{kind}"):
        public_key(file)


def spoiled(kind: str, content: bytes) -> bytes:
    """Return what is no key any more."""
    return {
        "empty": b"",
        "truncated": content[: len(content) // 2],
        "huge": content + b"\n" * LARGEST_KEY_FILE,
        "two keys": content + content,
        "no text": bytes(range(256)),
        "damaged": content.replace(b"MC", b"MD", 1),
        "other words": b"-----BEGIN CERTIFICATE-----\nMC4=\n-----END CERTIFICATE-----\n",
    }[kind]


@pytest.mark.parametrize("kind", ["empty", "truncated", "huge", "two keys", "no text", "damaged", "other words"])
@pytest.mark.parametrize("reader", [private_key, public_key])
def test_a_file_that_holds_no_key_is_refused(path, kind, reader):
    file = path if reader is private_key else path.with_name("owner.key.pub")
    file.write_bytes(spoiled(kind, file.read_bytes()))
    with pytest.raises(KeyRefused) as caught:
        reader(file)
    assert caught.value.remedy


@pytest.mark.parametrize("kind", ["missing", "folder", "device", "pipe", "link", "loop", "dangling", "kernel", "long"])
@pytest.mark.parametrize("reader", [private_key, public_key])
def test_what_is_no_plain_file_is_refused_unread(path, tmp_path, kind, reader):
    file = tmp_path / "file"
    places = {"device": Path("/dev/zero"), "kernel": Path("/proc/self/mem"), "long": tmp_path / ("x" * 5000)}
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file, 0o600)
    elif kind in {"link", "loop", "dangling"}:
        file.symlink_to({"link": path, "loop": file, "dangling": tmp_path / "nothing"}[kind])
    with pytest.raises(KeyRefused):
        reader(places.get(kind, file))


def test_a_nul_in_a_path_is_refused(tmp_path):
    with pytest.raises(KeyRefused, match="no file has"):
        private_key(Path("a\0b"))
    with pytest.raises(OutputRefused, match="no file has"):
        new_key(Path("a\0b"))


def test_a_public_key_is_no_private_one_and_the_other_way_round(path):
    with pytest.raises(KeyRefused, match="found: a private key"):
        public_key(path)
    file = path.with_name("owner.key.pub")
    file.chmod(0o600)
    with pytest.raises(KeyRefused, match="found: a public key"):
        private_key(file)


def test_only_what_was_read_from_a_file_signs(path):
    assert isinstance(private_key(path), PrivateKey)
    assert private_key(path).public == public_key(path.with_name("owner.key.pub"))


def test_verification_needs_one_file_that_imports_nothing_of_ours():
    text = (Path(__file__).parents[2] / "src/equipoise/keys/signatures.py").read_text()
    assert "equipoise" not in [word for line in text.splitlines() for word in line.split() if "import" in line]
    assert "from equipoise" not in text
    assert "from ." not in text
