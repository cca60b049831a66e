"""Messages: EML and MHTML through the standard library, MSG through olefile; their attachments by their own parsers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import policy
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from functools import partial
from io import BytesIO
from itertools import islice

import olefile

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import EML, MSG, RTF
from graphrag.parsers.html import parse_html
from graphrag.parsers.inner_files import InnerFile, InnerFiles, as_warnings
from graphrag.parsers.office import parse_office
from graphrag.parsers.text import TextBuilder, clean, decode, holds_words

_LEVEL = 1  # of the subject among the headings; of attachments one more
_MOST_PEOPLE = 100  # of a field; a list of recipients may be longer than the message
_MOST_PARTS = 2_000
_LONGEST_FIELD = 20_000  # characters
_LONGEST_SUBJECT = 1_000
_IDS = re.compile(r"<[^<>\s]{1,250}>")
_MARKS = re.compile(rb"(?is)<style.{0,100000}?</style|<[^>]*>|&\w+;")  # of HTML, which are no words
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})


@dataclass(slots=True)
class _Mail:
    """A message, however its file is made."""

    subject: str = ""
    sender: str = ""
    recipients: dict[str, list[str]] = field(default_factory=dict)  # by To and Cc
    date: datetime | None = None
    ids: dict[str, list[str]] = field(default_factory=dict)  # message_id, in_reply_to, references
    bodies: list[ParsedText] = field(default_factory=list)
    attachments: list[InnerFile] = field(default_factory=list)


def parse_mail(data: bytes, *, inner: InnerFiles) -> ParsedText:
    """Raises UnreadableDocument: too_large, nested, encrypted or empty."""
    return _parse_message(BytesParser(policy=policy.compat32).parsebytes(data), inner)


def _parse_message(message: Message, inner: InnerFiles) -> ParsedText:
    mail = _Mail(
        subject=_field(message, "subject"),
        sender=next(iter(_people(message, "from")), ""),
        recipients={name: people for name in ("To", "Cc") if (people := _people(message, name))},
        date=_date(_field(message, "date")),
        ids={
            name.replace("-", "_"): ids
            for name in ("message-id", "in-reply-to", "references")
            if (ids := _IDS.findall(_field(message, name)))
        },
    )
    if sum(1 for _ in message.walk()) > _MOST_PARTS:
        raise UnreadableDocument(f"the message has more than {_MOST_PARTS:,} parts", reason="too_large")
    _add_parts(message, mail, inner)
    return _write(mail, EML, inner)


def _raw(message: Message, name: str) -> list[str]:
    """Return header fields; bytes in them, which no standard allows, as UTF-8 or Western."""
    fields = (str(value)[:_LONGEST_FIELD] for key, value in message.raw_items() if key.lower() == name.lower())
    return [_decoded(value.encode("utf-8", "surrogateescape"), "utf-8") for value in fields]


def _decoded(raw: bytes, charset: str) -> str:
    try:
        return raw.decode(charset)
    except (LookupError, UnicodeDecodeError):
        return raw.decode("cp1252", errors="replace")


def _field(message: Message, name: str) -> str:
    return _unencoded(next(iter(_raw(message, name)), ""))


def _unencoded(text: str) -> str:
    """Decode what [RFC 2047] encodes."""
    try:
        return " ".join(str(make_header(decode_header(text))).split())
    except (MessageError, LookupError, ValueError):
        return " ".join(text.split())


def _people(message: Message, name: str) -> list[str]:
    raw = _raw(message, name)
    found = [pair for pair in getaddresses(raw) if any(pair)] or [(value, "") for value in raw]
    return [_person(_unencoded(person), address) for person, address in found[:_MOST_PEOPLE]]


def _person(name: str, address: str) -> str:
    name, address = clean(name), clean(address)
    return f"{name} <{address}>" if name and address and name != address else name or address


def _date(written: str) -> datetime | None:
    try:
        return parsedate_to_datetime(written)
    except ValueError:
        return None


def _add_parts(message: Message, mail: _Mail, inner: InnerFiles) -> None:
    """Read the parts of a message; of several alternatives the last with HTML, else the first."""
    if message.get_content_type() in _ENCRYPTED and message.get_param("smime-type") != "signed-data":
        raise UnreadableDocument("the message is encrypted: save it decrypted", reason="encrypted")
    children = message.get_payload() if message.get_content_maintype() == "multipart" else None
    if not isinstance(children, list):
        _add_part(message, mail, inner)
        return
    parts = list(children)
    if message.get_content_type() == "multipart/alternative":
        parts = [*filter(_has_html, reversed(parts)), *parts][:1]
    for part in parts:
        _add_parts(part, mail, inner)


def _has_html(message: Message) -> bool:
    return any(
        part.get_content_type() == "text/html" and holds_words(_MARKS.sub(b" ", _content(part)).decode("latin-1"))
        for part in message.walk()
    )


def _add_part(part: Message, mail: _Mail, inner: InnerFiles) -> None:
    kind, disposition = part.get_content_type(), part.get_content_disposition()
    name = _unencoded(part.get_filename() or "")
    if kind in _SIGNATURES or (kind.startswith("image/") and part.get("content-id") and disposition != "attachment"):
        return  # a picture in the text: a logo
    if kind == "message/rfc822" and isinstance(message := next(iter(part.get_payload()), None), Message):
        name = name or f"{_field(message, 'subject') or 'message'}.eml"
        mail.attachments.append(InnerFile(name, partial(_parse_message, message, inner)))
    elif disposition == "attachment" or name or not kind.startswith("text/"):
        mail.attachments.append(inner.file(name or kind.replace("/", "."), partial(_content, part)))
    elif content := _content(part).strip():
        charset = part.get_content_charset()
        mail.bodies.append(_body(content, charset, inner.limits, is_html=kind == "text/html"))


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _body(content: bytes, charset: str | None, limits: ParsingLimits, *, is_html: bool) -> ParsedText:
    if not is_html:
        return ParsedText(clean(decode(content, limits=limits, declared=charset)), EML)
    try:
        return parse_html(content, limits=limits, declared=charset)
    except UnreadableDocument as exc:
        if exc.details["reason"] != "empty":
            raise
        return ParsedText("", EML)


def _write(mail: _Mail, media_type: str, inner: InnerFiles) -> ParsedText:
    """Return a message as text: its subject as a heading, its fields, its body, and its attachments below."""
    builder = TextBuilder(inner.limits.characters)
    subject = clean(mail.subject)[:_LONGEST_SUBJECT]
    builder.add(subject, level=_LEVEL)
    date = mail.date.isoformat(" ", "minutes") if mail.date else ""
    fields = {"From": [mail.sender], **mail.recipients, "Date": [date]}
    builder.add("\n".join(f"{name}: {', '.join(values)}" for name, values in fields.items() if any(values)))
    for body in mail.bodies:
        builder.include(body, level=_LEVEL)
    end_of_body, refused = builder.length, list[UnreadableDocument]()
    try:
        refused = inner.add(mail.attachments, builder, level=_LEVEL + 1) if mail.attachments else []
    except UnreadableDocument as exc:
        if exc.details["reason"] != "nested":
            raise
        refused = [exc]
    has_words = bool(subject) or any(holds_words(body.text) for body in mail.bodies)
    if not has_words and builder.length == end_of_body:
        raise refused[0] if refused else UnreadableDocument("the message holds no text", reason="empty")
    people = {name.lower(): values for name, values in mail.recipients.items()}
    message = {"from": mail.sender, **people, "date": mail.date and mail.date.isoformat(), **mail.ids}
    return builder.parsed(
        media_type,
        title=subject,
        authors=(mail.sender.partition(" <")[0],),
        warnings=as_warnings(refused),
        metadata={"message": {name: value for name, value in message.items() if value}},
    )


# [MS-OXMSG] 2.1: streams and storages of the properties that are read. [MS-OXPROPS] names these.
_SUBJECT, _BODY, _HTML_BODY, _RTF_BODY = 0x0037, 0x1000, 0x1013, 0x1009
_SENDER_NAME, _SENDER, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_MESSAGE_ID, _IN_REPLY_TO, _REFERENCES = 0x1035, 0x1042, 0x1039
_SUBMITTED, _DELIVERED, _CODE_PAGE, _RECIPIENT_TYPE = 0x0039, 0x0E06, 0x3FFD, 0x0C15
_NAME, _ADDRESS, _SMTP = 0x3001, 0x3003, 0x39FE
_ATTACHED, _LONG_NAME, _SHORT_NAME = 0x3701, 0x3707, 0x3704
_HEADER_SIZES = {"": 32, "__recip": 8, "__attac": 8}  # of a properties stream; 24 of an embedded message
_EMBEDDED = "__substg1.0_3701000D"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Storage:
    """A storage of an MSG file, with properties: the message, a recipient, an attachment."""

    ole: "olefile.OleFileIO[str]"
    path: tuple[str, ...] = ()

    def storages(self, prefix: str) -> Iterator["_Storage"]:
        depth = len(self.path)
        names = {
            tuple(entry[: depth + 1])
            for entry in self.ole.listdir(streams=False, storages=True)
            if tuple(entry[:depth]) == self.path and len(entry) > depth and entry[depth].startswith(prefix)
        }
        yield from (_Storage(self.ole, path) for path in sorted(names))

    def binary(self, number: int, kind: int = 0x0102) -> bytes | None:
        path = [*self.path, f"__substg1.0_{number:04X}{kind:04X}"]
        if self.ole.get_type(path) != olefile.STGTY_STREAM:
            return None
        with self.ole.openstream(path) as stream:
            return stream.read()

    def text(self, *numbers: int) -> str:
        """Return the first of these that is there."""
        for number in numbers:
            if (wide := self.binary(number, 0x001F)) is not None:
                return wide.decode("utf-16-le", errors="replace").rstrip("\0")
            if (narrow := self.binary(number, 0x001E)) is not None:
                return _decoded(narrow, f"cp{_Storage(self.ole).number(_CODE_PAGE) or 1252}").rstrip("\0")
        return ""

    def number(self, number: int) -> int | None:
        """Return a property of fixed size."""
        with self.ole.openstream([*self.path, "__properties_version1.0"]) as stream:
            properties = stream.read()
        last = self.path[-1] if self.path else ""
        for place in range(24 if last == _EMBEDDED else _HEADER_SIZES[last[:7]], len(properties) - 15, 16):
            if int.from_bytes(properties[place + 2 : place + 4], "little") == number:
                return int.from_bytes(properties[place + 8 : place + 16], "little")
        return None


def parse_msg(data: bytes, *, inner: InnerFiles) -> ParsedText:
    """Raises UnreadableDocument: too_large, nested or empty; and whatever olefile raises of a damaged file."""
    with olefile.OleFileIO(BytesIO(data)) as ole:
        return _parse_storage(_Storage(ole), inner)


def _parse_storage(storage: _Storage, inner: InnerFiles) -> ParsedText:
    time = storage.number(_SUBMITTED) or storage.number(_DELIVERED)
    ids = {"message_id": _MESSAGE_ID, "in_reply_to": _IN_REPLY_TO, "references": _REFERENCES}
    mail = _Mail(
        subject=storage.text(_SUBJECT),
        sender=_person(storage.text(_SENDER_NAME), storage.text(_SENDER_SMTP, _SENDER)),
        date=_EPOCH + timedelta(microseconds=time // 10) if time else None,
        ids={name: found for name, number in ids.items() if (found := _IDS.findall(storage.text(number)))},
        bodies=list(_msg_bodies(storage, inner.limits)),
    )
    for recipient in islice(storage.storages("__recip_version1.0_"), _MOST_PEOPLE):
        field_name = "Cc" if recipient.number(_RECIPIENT_TYPE) == 2 else "To"  # 3 is Bcc, which the sender's copy has
        person = _person(recipient.text(_NAME), recipient.text(_SMTP, _ADDRESS))
        mail.recipients.setdefault(field_name, []).append(person)
    attachments = list(storage.storages("__attach_version1.0_"))
    inner.check(len(attachments))
    for attachment in attachments:
        name = attachment.text(_LONG_NAME, _SHORT_NAME, _NAME) or "attachment"
        for message in attachment.storages(_EMBEDDED):
            mail.attachments.append(InnerFile(f"{clean(name)}.msg", partial(_parse_storage, message, inner)))
        if (content := attachment.binary(_ATTACHED)) is not None:
            mail.attachments.append(inner.file(name, partial(bytes, content)))
    return _write(mail, MSG, inner)


def _msg_bodies(storage: _Storage, limits: ParsingLimits) -> Iterator[ParsedText]:
    """Yield the message's body: HTML before plain text before RTF."""
    html = storage.binary(_HTML_BODY) or storage.text(_HTML_BODY).encode()
    if html and (body := _body(html, None, limits, is_html=True)).text:
        yield body
    elif plain := clean(storage.text(_BODY)):
        yield ParsedText(plain, MSG)
    elif rtf := storage.binary(_RTF_BODY):
        yield parse_office(_unpacked_rtf(rtf, limits.archive_entry_bytes), media_type=RTF, limits=limits)


# [MS-OXRTFCP] 2.1.3.1.2: what every dictionary begins with.
_RTF_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    + b"\r\n"
    + rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_RTF_COMPRESSED = 0x75465A4C
_WINDOW = 4096


def _unpacked_rtf(packed: bytes, most: int) -> bytes:
    """Unpack compressed RTF: bytes of flags, each before eight letters or references. [MS-OXRTFCP] 3.1.4."""
    size, kind = int.from_bytes(packed[4:8], "little"), int.from_bytes(packed[8:12], "little")
    if kind != _RTF_COMPRESSED:
        return packed[16 : 16 + size]
    text, place = bytearray(_RTF_DICTIONARY), 16
    before = len(text)
    while place < len(packed) and len(text) < most:
        flags = packed[place]
        place += 1
        for bit in range(8):
            if not flags >> bit & 1:
                text += packed[place : place + 1]
                place += 1
                continue
            reference = int.from_bytes(packed[place : place + 2], "big")
            place += 2
            offset, length = reference >> 4, (reference & 0xF) + 2
            start = len(text) - ((len(text) - offset) % _WINDOW or _WINDOW)
            if offset == len(text) % _WINDOW or start < 0:
                return bytes(text[before:])
            for at in range(start, start + length):
                text.append(text[at])
    return bytes(text[before:])
