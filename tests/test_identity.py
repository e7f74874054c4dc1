"""Icons, the manifest, pictures of shared links, and files for search engines."""

import io
import re
from xml.etree import ElementTree

from PIL import Image

from dynabench.site.identity import pictures
from dynabench.site.identity.pictures import LinkFigure


def test_a_picture_is_a_png_of_the_size_that_sites_ask_for_whatever_its_texts_are():
    figure = LinkFigure("58.3", 'a & b <c> "d"', 0.583, 0.5, 0.62, people=0.9)
    svg = pictures.draw_link_picture("Names & <places> " * 9, "Is it? " * 90, figure)
    texts = [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[-2:] == ['a & b <c> "d"', "people"]
    assert len(texts) == 1 + 2 + 2 + 3, "name, two lines of title, two of text, number, label, people"
    picture = Image.open(io.BytesIO(pictures.render_png(svg)))
    assert (picture.format, picture.size) == ("PNG", (pictures.WIDTH, pictures.HEIGHT))


def test_every_icon_of_the_manifest_and_of_old_names_is_there(client):
    manifest = client.get("/manifest.webmanifest")
    assert manifest.headers["content-type"].startswith("application/manifest+json")
    for icon in manifest.json()["icons"]:
        answer = client.get(icon["src"])
        assert answer.headers["content-type"].startswith(icon["type"])
        if icon["type"] == "image/png":
            assert Image.open(io.BytesIO(answer.content)).size == tuple(map(int, icon["sizes"].split("x")))
    assert Image.open(io.BytesIO(client.get("/favicon.ico").content)).format == "ICO"
    assert client.get("/icon-7.png").status_code == 404


def test_a_page_names_its_picture_by_an_address_that_answers(client):
    page = client.get("/models").text
    (address,) = re.findall(r'property="og:image" content="http://testserver(/[^"]+)"', page)
    assert client.get(address).headers["content-type"] == "image/png"
    assert client.get("/social/tasks/none.png").status_code == 404
    assert client.get("/social/models/none.png").status_code in (404, 503)


def test_search_engines_are_led_to_pages_and_kept_from_the_interface_of_programs(client):
    robots = client.get("/robots.txt").text
    assert "Disallow: /api/" in robots
    (address,) = re.findall(r"Sitemap: http://testserver(\S+)", robots)
    places = [
        place.text for place in ElementTree.fromstring(client.get(address).text).iter() if place.tag.endswith("loc")
    ]
    assert "http://testserver/leaderboards" in places
    for place in places:
        assert client.get(place.removeprefix("http://testserver")).status_code == 200, place
