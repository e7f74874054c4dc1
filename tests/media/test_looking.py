"""Accepted and refused files, under any name."""

import io

import pytest
from PIL import Image

from dynabench.media import file_formats
from dynabench.media.file_formats import UploadLimits, UploadRefused
from tests.media import files

LIMITS = UploadLimits(size=2**20, pixels=1_000_000, seconds=10)


@pytest.mark.parametrize(("form", "type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")])
def test_a_picture_is_written_anew_with_its_size(form, type):
    stored, facts = file_formats.check_upload(files.picture(form), "image", LIMITS)
    assert (facts.type, facts.width, facts.height, facts.size) == (type, 12, 8, len(stored))
    assert Image.open(io.BytesIO(stored)).format == form


def test_metadata_and_what_is_appended_are_gone():
    exif = Image.Exif()
    exif[0x010E] = "where I live"
    sent = files.picture("JPEG", exif=exif) + files.HTML
    assert b"where I live" in sent
    stored, _ = file_formats.check_upload(sent, "image", LIMITS)
    assert b"where I live" not in stored
    assert b"script" not in stored


def test_a_picture_that_lies_on_its_side_is_turned():
    exif = Image.Exif()
    exif[0x0112] = 6
    _, facts = file_formats.check_upload(files.picture("JPEG", exif=exif), "image", LIMITS)
    assert (facts.width, facts.height) == (8, 12)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (files.SVG, "not a readable PNG"),
        (files.HTML, "not a readable PNG"),
        (b"GIF89a" + b"\0" * 40, "not a readable PNG"),
        (b"", "empty"),
        (files.picture()[:45], "not a readable PNG"),
        (b"\x89PNG\r\n\x1a\n" + files.HTML, "not a readable PNG"),
        (files.bomb(), "far more than 1,000,000 pixels"),
        (files.bomb(3_000, 3_000), "3,000 x 3,000"),
        (files.bomb(900, 900), "not a readable PNG"),
        (files.bomb(20_000, 2), "20,000 x 2"),
        (files.moving(), "animated"),
        (files.sound(), "not a readable PNG"),
    ],
    ids=["svg", "html", "gif", "empty", "cut", "polyglot", "bomb", "large", "corrupt", "long", "moving", "sound"],
)
def test_what_is_no_honest_picture_is_refused(sent, message):
    with pytest.raises(UploadRefused, match=message):
        file_formats.check_upload(sent, "image", LIMITS)


def test_sounds_are_told_with_their_length():
    assert file_formats.check_upload(files.sound(2), "audio", LIMITS)[1].seconds == pytest.approx(2, abs=0.01)
    facts = file_formats.check_upload(files.recording(3), "audio", LIMITS)[1]
    assert facts.type == "audio/webm"
    assert facts.seconds == pytest.approx(2.75)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (files.HTML, "not a readable WAV"),
        (files.sound(20), "20 s; the limit is 10 s"),
        (files.recording(12), "12 s; the limit is 10 s"),
        (files.recording(2, track=1), "not a readable WAV"),
        (files.recording(2)[:70], "not a readable WAV"),
        (b"RIFF\0\0\0\0WAVE" + b"\xff" * 50, "not a readable WAV"),
        (b"ID3" + files.HTML, "not a readable WAV"),
    ],
    ids=["html", "long", "long recording", "film", "cut", "wav", "mp3"],
)
def test_what_is_no_honest_sound_is_refused(sent, message):
    with pytest.raises(UploadRefused, match=message):
        file_formats.check_upload(sent, "audio", LIMITS)


def test_elements_without_end_do_not_hold_up():
    assert file_formats.webm_seconds(b"\x1a\x45\xdf\xa3\x84webm" + b"\x18\x53\x80\x67\xff" * 100) is None


def test_other_files_are_taken_by_a_list():
    limits = UploadLimits(2**20, types=("application/pdf", "text/plain"))
    assert file_formats.check_upload(b"%PDF-1.7 ...", "file", limits)[1].type == "application/pdf"
    assert file_formats.check_upload("a,b\n1,ä\n".encode(), "file", limits)[1].type == "text/plain"
    for sent in (b"PK\x03\x04zip", b"\x7fELF", files.picture(), b"text with \x00"):
        with pytest.raises(UploadRefused):
            file_formats.check_upload(sent, "file", limits)
